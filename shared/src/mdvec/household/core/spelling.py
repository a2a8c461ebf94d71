"""The one form in which names of shops are compared: kana as statements print it, and as spoken."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from mdvec.text import folded

_TO_KATAKANA = {place: place + 0x60 for place in range(0x3041, 0x3097)}
_SMALL = str.maketrans("ァィゥェォッャュョヮ", "アイウエオツヤユヨワ")
_LONE_MARKS = str.maketrans("\u309b\u309c", "\u3099\u309a")
"""Marks that follow their kana as a character of their own, as combining ones."""
_HYPHEN = "[-\u2010-\u2015\u2043\u2212\u2500\u2501]"
_HYPHEN_AFTER_KANA = re.compile(f"(?<=[\u30a1-\u30fa\u30fc]){_HYPHEN}(?![0-9a-z])")
_VOICED = re.compile("[\u3099\u309a]")


@lru_cache(maxsize=65_536)
def plain_text(text: str) -> str:
    """A text without differences of width and case; a voicing mark joins the kana before it."""
    return folded(text.translate(_LONE_MARKS))


@lru_cache(maxsize=65_536)
def kana_forms(text: str) -> tuple[tuple[str, str], ...]:
    """A text as it is compared, each form beside the text that it was made of, sign by sign.

    Hiragana are katakana and small kana large. A hyphen after kana stands for ー or for nothing, so
    there is a form for each.
    """
    plain = plain_text(text).translate(_TO_KATAKANA)
    written = dict.fromkeys(_HYPHEN_AFTER_KANA.sub(put, plain) for put in ("ー", ""))
    return tuple((form.translate(_SMALL), form) for form in written)


def same_kana(reading: str) -> str:
    """A reading in the form that readings are compared in."""
    return kana_forms(reading)[0][0]


@lru_cache(maxsize=65_536)
def unvoiced(form: str) -> str:
    """A form without its voicing marks, as some banks print it: ダイソー is タイソー."""
    return unicodedata.normalize("NFC", _VOICED.sub("", unicodedata.normalize("NFD", form)))
