"""Finds names similar to a name that does not exist."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache

from mdvec.text.folding import NAME_FORMS, folded
from mdvec.text.loanwords import TO_KATAKANA
from mdvec.text.one_line import some_of

MAX_COMPARED = 100
"""How many letters of each text are compared."""
OTHER_SIGN = "\x7f"
_LEADING_ZEROS = re.compile("(?<![0-9])0+(?=[0-9])")
_SIGNS = tuple(map(chr, range(1, 32)))
_SOUND_MARKS = "\u3099\u309aﾞﾟ"
_MAX_LISTED = 20
_MIN_RATIO = 0.5
"""The minimum similarity, which allows one of two letters to differ: 東点 and 東店."""
_MIN_RATIO_OF_NAMES = 0.6


def nearest_texts(
    text: str, known: Iterable[str], most: int = 3, least: float = _MIN_RATIO
) -> list[str]:
    """The known texts most similar to ``text``, regardless of width, case and kana.

    The same number with other leading zeros comes first, then texts that contain ``text`` or are
    contained in it. Others need a similarity of at least ``least``, from 0 to 1.
    """
    wanted = _key(text)
    unpadded = _LEADING_ZEROS.sub("", wanted)
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    nearness: dict[str, float] = {}
    for other in known if wanted else ():
        key = _key(other)
        matcher.set_seq1(key)
        is_same_number = _LEADING_ZEROS.sub("", key) == unpadded
        is_part = key != "" and (key in wanted or wanted in key)
        if (
            is_same_number
            or is_part
            or (
                matcher.real_quick_ratio() >= least
                and matcher.quick_ratio() >= least
                and matcher.ratio() >= least
            )
        ):
            nearness[other] = 2 * is_same_number + is_part + matcher.ratio()
    return sorted(nearness, key=lambda other: (-nearness[other], other))[:most]


def nearest_or_all(text: str, known: Sequence[str]) -> str:
    """A phrase that lists the names nearest to an unknown one, or else the known names."""
    near = nearest_texts(text, known, least=_MIN_RATIO_OF_NAMES)
    return f"nearest: {', '.join(near)}" if near else f"there are: {some_of(known, _MAX_LISTED)}"


def signs_of(text: str) -> tuple[str, str, str]:
    """Encode a text with one byte per letter, for a coarse comparison in SQL, which compares bytes.

    Returns the letters that are equivalent to letters of this text, the byte for each (the last
    letters have none), and the encoded text. Width, case, kana and marks make no difference. The
    caller must encode other letters beyond ASCII as ``OTHER_SIGN``.
    """
    key = _key(text)
    bases = dict.fromkeys(map(_base, key))
    signs = {base: base for base in bases if base.isascii()}
    signs |= zip((base for base in bases if not base.isascii()), _SIGNS, strict=False)
    signed = {letter: signs.get(_base(letter), OTHER_SIGN) for letter in key}
    forms = signed | {form: signs[base] for base in signs for form in _forms().get(base, "")}
    return (
        "".join(forms) + _SOUND_MARKS,
        "".join(forms.values()),
        "".join(signed[letter] for letter in key),
    )


@cache
def _forms() -> Mapping[str, str]:
    """For each letter, its forms in other width or kana, or with a mark."""
    forms: defaultdict[str, str] = defaultdict(str)
    for form in (*map(chr, (*range(0x3041, 0x3100), *range(0xFF01, 0xFF9E))), *NAME_FORMS):
        forms[_base(_key(form))] += form
    return forms


def _base(letter: str) -> str:
    """A letter without its marks."""
    return unicodedata.normalize("NFD", letter)[:1]


def _key(text: str) -> str:
    return folded(text[:MAX_COMPARED]).translate(TO_KATAKANA)
