"""Normalises a phrase for a period: half-width, no spaces, digits, one spelling a word."""

from __future__ import annotations

import re
import unicodedata

from mdvec.dates.english import with_japanese_words

_DIGITS = {kanji: str(digit) for digit, kanji in enumerate("〇一二三四五六七八九")} | {"零": "0"}
_SPELLINGS = (
    ("四半期", "q"), ("一昨々日", "さきおととい"), ("一昨昨日", "さきおととい"),
    ("一昨年", "おととし"), ("一昨日", "おととい"), ("昨々日", "おととい"), ("きのう", "昨日"),
    ("元年", "1年"), ("昨年末", "昨年年末"), ("去年末", "去年年末"), ("今年末", "今年年末"),
    ("ゴールデンウィーク", "gw"), ("ゴールデンウイーク", "gw"),
    ("三が日", "正月三日間"), ("三ヶ日", "正月三日間"), ("正月三日間", "さんがにち"),
    ("ひと月", "1か月"), ("ふた月", "2か月"), ("今ごろ", "今頃"), ("いまごろ", "今頃"),
    ("いままで", "今まで"), ("前々", "先々"), ("前前", "先々"), ("先先", "先々"),
    ("’", "'"), ("‘", "'"), ("′", "'"),
)  # fmt: skip
_WEEKDAY = re.compile(r"\([月火水木金土日](?:曜日?)?\)")
_DAYS_OF_MONTHS = re.compile(r"\([0-9/]+[〜~][0-9/]+\)$")
"""What our own answers write after months that do not start on the 1st."""
_WHOLE_OF_IT = re.compile(r"(?<=[年月度])1(?:年|か月)間?$")
"""去年1年間, 先月1か月."""
_ENDING = re.compile(r"(?:分|(?<!今)頃|ごろ|(?<=[月週年日])中|(?<=月)度|いっぱい|は|[。、?!])+$")


def normalised(said: str) -> str:
    """A phrase in the one spelling that the grammar knows; English becomes Japanese."""
    text = " ".join(unicodedata.normalize("NFKC", said).casefold().split())
    for spelling, one in _SPELLINGS:
        text = text.replace(spelling, one)
    if re.search(r"[a-z]", text):
        text = with_japanese_words(text)
    text = re.sub(r"[〇零一二三四五六七八九十]+", _digits, "".join(text.split()))
    text = re.sub(r"(?<=[0-9])[かヵケけ箇個ヶカ]月", "か月", text)
    text = _DAYS_OF_MONTHS.sub("", _WEEKDAY.sub("", text))
    text = _ENDING.sub("", text.replace("この", "").replace("の", "").strip("「」『』"))
    return _WHOLE_OF_IT.sub("", text)


def _digits(match: re.Match[str]) -> str:
    kanji = match[0]
    if split := re.fullmatch(r"([^十]?)十([^十]?)", kanji):
        tens, ones = split.groups()
        return _DIGITS.get(tens, "1") + _DIGITS.get(ones, "0")
    return "".join(_DIGITS.get(sign, sign) for sign in kanji)
