"""The entries of a chart of amounts by category: their colours, and その他 for the small ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mdvec.charts.chart import CategoryChart
from mdvec.charts.colors import OTHERS_COLOR, colors_of

MAX_OTHERS_PERCENT = 15
"""The largest share that その他 may have of the positive amounts, if more entries fit."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A slice or bar; one that stands for several categories has them as ``members``.

    ``key`` is the category's name as it is, where ``name`` can be drawn.
    """

    name: str
    value: int
    key: str = ""
    color: str = ""
    members: tuple[str, ...] = ()


def entries_of(chart: CategoryChart) -> list[Entry]:
    """An entry for each item, without a color."""
    keys = chart.keys or tuple(name for name, _ in chart.items)
    return [Entry(*item, key) for item, key in zip(chart.items, keys, strict=True)]


def colored(entries: Sequence[Entry], among: Iterable[str] = ()) -> list[Entry]:
    """The entries in the colors of their categories; ``among`` are all that there are."""
    colors = iter(colors_of([entry.key for entry in entries if not entry.members], among))
    return [
        replace(entry, color=OTHERS_COLOR if entry.members else next(colors)) for entry in entries
    ]


def merge_small(
    entries: Sequence[Entry], max_entries: int, min_value: int = 0, room: int = 0
) -> list[Entry]:
    """The largest amounts, at most ``max_entries``, in descending order, and その他 for the rest.

    With ``min_value``, smaller amounts belong to the rest. If the rest is more than
    MAX_OTHERS_PERCENT, more have entries of their own, up to ``room`` entries. A single rest keeps
    its own name.
    """
    ranked = sorted(entries, key=lambda entry: -entry.value)
    count = min(sum(not min_value or entry.value >= min_value for entry in ranked), max_entries)
    whole = sum(max(entry.value, 0) for entry in ranked)
    while count < room and _total(ranked[count:]) * 100 > whole * MAX_OTHERS_PERCENT:
        count += 1
    rest = ranked[count:]
    return ranked[:count] + ([_others(rest)] if len(rest) > 1 else rest)


def _total(entries: Sequence[Entry]) -> int:
    return sum(entry.value for entry in entries)


def _others(rest: Sequence[Entry]) -> Entry:
    members = tuple(entry.name for entry in rest)
    return Entry(f"その他（{len(rest)}項目）", _total(rest), members=members)


def members_note(entries: Sequence[Entry]) -> str:
    """A note that lists the members of the last entry, if it has any."""
    members = entries[-1].members if entries else ()
    return f"{entries[-1].name.split('（')[0]}: {'、'.join(members)}" if members else ""
