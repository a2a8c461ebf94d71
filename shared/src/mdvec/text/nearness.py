"""Finds what may have been meant by a text that nothing is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from mdvec.text.index_terms import folded
from mdvec.text.loanwords import TO_KATAKANA
from mdvec.text.one_line import some_of

_MAX_COMPARED = 100
_MAX_LISTED = 20
_MIN_RATIO = 0.5
"""So that one letter of two may differ: 東点 and 東店."""
_MIN_RATIO_OF_NAMES = 0.6


def nearest_texts(
    text: str, known: Iterable[str], most: int = 3, least: float = _MIN_RATIO
) -> list[str]:
    """The known texts most like another one, whatever their width, case and kana.

    Those that contain it, or that it contains, come first; ``least`` is the ratio of the others.
    """
    wanted = _key(text)
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    nearness: dict[str, float] = {}
    for other in known if wanted else ():
        key = _key(other)
        matcher.set_seq1(key)
        is_part = key != "" and (key in wanted or wanted in key)
        if is_part or (
            matcher.real_quick_ratio() >= least
            and matcher.quick_ratio() >= least
            and matcher.ratio() >= least
        ):
            nearness[other] = is_part + matcher.ratio()
    return sorted(nearness, key=lambda other: (-nearness[other], other))[:most]


def nearest_or_all(text: str, known: Sequence[str]) -> str:
    """What to choose from instead of a name that is not there, for a sentence."""
    near = nearest_texts(text, known, least=_MIN_RATIO_OF_NAMES)
    return f"nearest: {', '.join(near)}" if near else f"there are: {some_of(known, _MAX_LISTED)}"


def _key(text: str) -> str:
    return folded(text[:_MAX_COMPARED]).translate(TO_KATAKANA)
