"""Spells names by their sound, so that katakana, kanji and Latin letters can be compared.

Banks write names in capital kana without long vowels (トウキヨウガス), people in kanji (東京ガス),
shops in Latin letters (UNIQLO).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SMALL: Final = str.maketrans(
    "ァィゥェォッャュョヮヵヶヴヂヅヲ", "アイウエオツヤユヨワカケブジズオ"
)
_ROWS: Final = (
    ("", "アイウエオ"),
    ("k", "カキクケコ"),
    ("s", "サシスセソ"),
    ("t", "タチツテト"),
    ("n", "ナニヌネノ"),
    ("h", "ハヒフヘホ"),
    ("m", "マミムメモ"),
    ("r", "ラリルレロ"),
    ("g", "ガギグゲゴ"),
    ("z", "ザジズゼゾ"),
    ("d", "ダヂヅデド"),
    ("b", "バビブベボ"),
    ("p", "パピプペポ"),
)
_ROMAN: Final = {
    kana: consonant + vowel
    for consonant, row in _ROWS
    for kana, vowel in zip(row, "aiueo", strict=True)
} | {"ヤ": "ya", "ユ": "yu", "ヨ": "yo", "ワ": "wa", "ン": "n"}
_LONG_U: Final = re.compile("(?<=[オコソトノホモヨロゴゾドボポウクスツヌフムユルグズブプ])ウ")
_LONG_O: Final = re.compile("(?<=[オコソトノホモヨロゴゾドボポ])オ")
_LONG_I: Final = re.compile("(?<=[エケセテネヘメレゲゼデベペ])イ")
_LATIN: Final = tuple(
    (re.compile(found), put)
    for found, put in (
        ("sch|sh", "s"), ("ch", "t"), ("th", "s"), ("ph", "h"), ("ck", "k"), ("tsu", "tu"),
        ("c(?=[eiy])", "s"), ("(?<=[aeiou])r(?=[^aeiou]|$)", ""), ("[cq]", "k"), ("l", "r"),
        ("v", "b"), ("f", "h"), ("j", "z"), ("x", "ks"),
    )
)  # fmt: skip
_REPEATED: Final = re.compile(r"(.)\1+")
_NOT_CONSONANT: Final = re.compile("[^bdghkmnprstwz]+")


def katakana(text: str) -> str:
    """Hiragana as katakana; other characters stay."""
    return "".join(chr(ord(one) + 0x60) if "ぁ" <= one <= "ゖ" else one for one in text)


def plain_kana(reading: str) -> str:
    """A reading in capital katakana without long vowels, spaces and marks; Latin in lower case.

    東京ガス (トウキョウガス) and トウキヨウガス become トキヨガス.
    """
    text = katakana(unicodedata.normalize("NFKC", reading)).casefold().translate(_SMALL)
    text = "".join(one for one in text if one.isalnum() and one != "ー")
    return _LONG_I.sub("", _LONG_O.sub("", _LONG_U.sub("", text)))


def roman(kana: str) -> str:
    """Plain kana in Latin letters; what is Latin already is respelled as it would be in kana."""
    text = "".join(_ROMAN.get(one, one) for one in kana)
    for found, put in _LATIN:
        text = found.sub(put, text)
    return _REPEATED.sub(r"\1", text)


def consonants(romanised: str) -> str:
    """The consonants of a name, each once in a row: ``nkr`` for UNIQLO and ユニクロ."""
    return _REPEATED.sub(r"\1", _NOT_CONSONANT.sub("", romanised))
