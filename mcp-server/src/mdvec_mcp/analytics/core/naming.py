"""Lists of names in a sentence, however many there are."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST = 80
"""As much of a name as is told; a handle is shorter."""
_ROOM = 240


def named(names: Sequence[str]) -> str:
    """As many of the names as fit into a sentence, and how many more there are."""
    shown: list[str] = []
    for name in names:
        if shown and sum(map(len, shown)) + len(name) + 2 * len(shown) > _ROOM:
            return f"{', '.join(shown)} and {len(names) - len(shown)} more"
        shown.append(shortened_name(name))
    return ", ".join(shown)


def shortened_name(name: str) -> str:
    """A name that leaves room for others."""
    return name[:_LONGEST]
