"""Formats lists of names for messages, shortened if they are long."""

from __future__ import annotations

from collections.abc import Sequence

_MAX_NAME = 80
"""Maximum characters of one name; handles are shorter."""
_MAX_LIST = 240
"""Maximum characters of all names together."""


def named(names: Sequence[str]) -> str:
    """As many of the first names as fit into a sentence, and the number of the others."""
    shown: list[str] = []
    for name in names:
        if shown and sum(map(len, shown)) + len(name) + 2 * len(shown) > _MAX_LIST:
            return f"{', '.join(shown)} and {len(names) - len(shown)} more"
        shown.append(shortened_name(name))
    return ", ".join(shown)


def shortened_name(name: str) -> str:
    """The beginning of a name."""
    return name[:_MAX_NAME]
