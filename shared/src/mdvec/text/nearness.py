"""Finds what may have been meant by a text that nothing is called."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from mdvec.text.index_terms import folded
from mdvec.text.loanwords import TO_KATAKANA

_MAX_COMPARED = 100
_MIN_RATIO = 0.5
"""So that one letter of two may differ: 東点 and 東店."""


def nearest_texts(text: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known texts most like another one, whatever their width, case and kana.

    Those that contain it, or that it contains, come first.
    """
    wanted = _key(text)
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    nearness: dict[str, float] = {}
    for other in known if wanted else ():
        key = _key(other)
        matcher.set_seq1(key)
        is_part = key != "" and (key in wanted or wanted in key)
        if is_part or (
            matcher.real_quick_ratio() >= _MIN_RATIO
            and matcher.quick_ratio() >= _MIN_RATIO
            and matcher.ratio() >= _MIN_RATIO
        ):
            nearness[other] = is_part + matcher.ratio()
    return sorted(nearness, key=lambda other: (-nearness[other], other))[:most]


def _key(text: str) -> str:
    return folded(text[:_MAX_COMPARED]).translate(TO_KATAKANA)
