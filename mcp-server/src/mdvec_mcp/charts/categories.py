"""Amounts by category: which get a place of their own, and which share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdvec_mcp.charts.chart import Items
from mdvec_mcp.charts.styles import OTHERS_COLOR, color


@dataclass(frozen=True, slots=True)
class Entry:
    """A slice or a bar."""

    name: str
    value: int
    color: str
    members: tuple[str, ...] = ()


def joined(items: Items, most: int, smallest: int = 0) -> list[Entry]:
    """The amounts from large to small: at most ``most`` of at least ``smallest`` if that is given.

    What is left becomes one last entry, その他 with its members, or itself if it is alone.
    """
    ranked = sorted(items, key=lambda item: -item[1])
    own = [item for item in ranked if not smallest or item[1] >= smallest][:most]
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
    """Which categories went into the last entry, その他 or another that stands for several."""
    members = entries[-1].members if entries else ()
    return f"{entries[-1].name.split('（')[0]}: {'、'.join(members)}" if members else ""
