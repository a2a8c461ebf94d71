"""Formats lists of names for messages, and finds the names that an unknown one may mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_MAX_NAME = 80
"""Maximum characters of one name; handles are shorter."""
_MAX_LIST = 240
"""Maximum characters of all names together."""
_MIN_NEARNESS = 0.6


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


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """All known names that are equally near to an unknown one; empty if none is near."""
    nearness = {other: _nearness(_key(name), _key(other)) for other in known}
    nearest = max(nearness.values(), default=0)
    return [other for other, near in nearness.items() if near == nearest >= _MIN_NEARNESS]


def _nearness(one: str, other: str) -> float:
    """2 for equal keys, 1 if one contains the other, else the share of common characters."""
    from difflib import SequenceMatcher  # only where a name is unknown

    if min(len(one.encode()), len(other.encode())) > 2 and (one in other or other in one):
        return 2 if one == other else 1
    return SequenceMatcher(None, one, other).ratio()


def _key(name: str) -> str:
    """The same for names that differ in width, case and separators only."""
    flat = unicodedata.normalize("NFKC", shortened_name(name)).casefold()
    return re.sub(r"[\s_\-.]", "", flat)
