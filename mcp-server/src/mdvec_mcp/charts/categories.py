"""Merges small amounts into one entry, その他."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdvec_mcp.charts.chart import Items
from mdvec_mcp.charts.styles import OTHERS_COLOR, color


@dataclass(frozen=True, slots=True)
class Entry:
    """A slice or bar; one that stands for several categories has them as ``members``."""

    name: str
    value: int
    color: str
    members: tuple[str, ...] = ()


def merge_small(items: Items, max_entries: int, min_value: int = 0) -> list[Entry]:
    """The largest amounts, at most ``max_entries``, in descending order, and その他 for the rest.

    With ``min_value``, smaller amounts belong to the rest. A single rest keeps its own name.
    """
    ranked = sorted(items, key=lambda item: -item[1])
    own = [item for item in ranked if not min_value or item[1] >= min_value][:max_entries]
    entries = [Entry(name, value, color(at)) for at, (name, value) in enumerate(own)]
    if rest := ranked[len(own) :]:
        entries.append(_others(rest))
    return entries


def _others(rest: Sequence[tuple[str, int]]) -> Entry:
    if len(rest) == 1:
        return Entry(*rest[0], OTHERS_COLOR)
    total = sum(value for _, value in rest)
    members = tuple(name for name, _ in rest)
    return Entry(f"その他（{len(rest)}項目）", total, OTHERS_COLOR, members)


def members_note(entries: Sequence[Entry]) -> str:
    """A note that lists the members of the last entry, if it has any."""
    members = entries[-1].members if entries else ()
    return f"{entries[-1].name.split('（')[0]}: {'、'.join(members)}" if members else ""
