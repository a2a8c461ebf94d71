"""Brings a phrase for a period to one spelling: widths, numerals, and English as Japanese."""

from __future__ import annotations

import re
import unicodedata

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"\b(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>\d{4})\b"
_DATES = tuple(
    re.compile(form)
    for form in (
        rf"{_MONTH} {_DAY},? {_YEAR}", rf"\b{_DAY} {_MONTH},? {_YEAR}", rf"{_MONTH}[ ,-]+{_YEAR}",
        rf"{_MONTH} {_DAY}", rf"\b{_DAY} {_MONTH}", _MONTH,
    )
)  # fmt: skip
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = {
    "day": "日", "week": "週間", "month": "か月", "year": "年", "weekend": "週末", "quarter": "q",
}  # fmt: skip
_NAMES = {"spring": "春", "summer": "夏", "autumn": "秋", "fall": "秋", "golden week": "gw"}
_WEEKDAYS = {
    "monday": "月", "tuesday": "火", "wednesday": "水", "thursday": "木", "friday": "金",
    "saturday": "土", "sunday": "日",
}  # fmt: skip
_WHEN = {"last": "先", "previous": "前", "this": "今", "next": "来"}
_YEARS = {"last": "昨年", "previous": "前年", "this": "今年", "next": "来年"}
_WORDS = (
    (r"\b(?:the|in|of|for|during) ", ""),
    (r"same month 昨年", "前年同月"), (r"year to date|ytd|this year so far", "年初来"),
    (r"day before yesterday", "おととい"), (r"yesterday", "昨日"), (r"\btoday", "今日"),
    (r"all time", "全期間"), (r"\bfiscal year (?=\d{4})", "fy"),
    (r"\bh1|\bfirst half", "上半期"), (r"\bh2|\bsecond half", "下半期"),
    (r"(q[1-4]|[上下]半期|[春夏秋]|gw) (fy\d{4}|\d{4})$", r"\2\1"),
    (r"^(\d{4}) (?=q[1-4]$)", r"\1年"), (r"^(\d{4})(?=[上下春夏秋q]|gw)", r"\1年"),
    (r"^from (.+) to (.+)$", r"\1から\2"), (r"^(.+) (?:to|through) (.+)$", r"\1から\2"),
    (r"^since (.+)$", r"\1から"), (r"^until (.+)$", r"\1まで"),
)  # fmt: skip
_SPELLINGS = (
    ("一昨年", "おととし"), ("一昨日", "おととい"), ("元年", "1年"), ("前々", "先々"),
    ("四半期", "q"), ("ゴールデンウィーク", "gw"), ("お正月", "正月"), ("この", "ここ"),
)  # fmt: skip
_KANJI = {kanji: str(digit) for digit, kanji in enumerate("〇一二三四五六七八九")}
_OUR_DAYS = re.compile(r"\([0-9/]+[〜~][0-9/]+\)$")
"""What answers write after months that do not start on the 1st."""
_ENDING = re.compile(r"(?:(?<=[年月])分|(?<=[年月週])中|[。?])$")


def normalised(said: str) -> str:
    """A phrase in the one spelling that the grammar knows; English becomes Japanese."""
    text = " ".join(unicodedata.normalize("NFKC", said).casefold().split())
    if re.search(r"[a-z]{2}|q[1-4]|h[12] ", text):
        text = _english(text)
    for spelling, plain in _SPELLINGS:
        text = text.replace(spelling, plain)
    text = re.sub(r"[〇一二三四五六七八九十]+", _digits, "".join(text.split()))
    text = re.sub(r"(?<=[0-9])[かヵケけ箇個ヶカ]月", "か月", text)
    text = _OUR_DAYS.sub("", text.strip("「」"))
    return _ENDING.sub("", text.replace("の", ""))


def _digits(match: re.Match[str]) -> str:
    kanji = match[0]
    if split := re.fullmatch(r"([^十]?)十([^十]?)", kanji):
        tens, ones = split.groups()
        return _KANJI.get(tens, "1") + _KANJI.get(ones, "0")
    return "".join(_KANJI.get(sign, sign) for sign in kanji)


def _english(text: str) -> str:
    for written in _DATES:
        text = written.sub(_date, text)
    for name, japanese in _NAMES.items():
        text = re.sub(rf"\b{name}\b", japanese, text)
    for number, word in enumerate(_NUMBERS, 1):
        text = re.sub(rf"\b{word}(?= (?:day|week|month|year)s?\b)", str(number), text)
    unit = r"(day|week|month|year)s?\b"
    text = re.sub(rf"\b(\d+) {unit} ago", lambda m: f"{m[1]}{_UNITS[m[2]]}前", text)
    text = re.sub(rf"\b(?:last|past) (\d+) {unit}", lambda m: f"直近{m[1]}{_UNITS[m[2]]}", text)
    text = re.sub(rf"\bpast {unit}", lambda m: f"直近1{_UNITS[m[1]]}", text)
    text = re.sub(
        rf"\blast ({'|'.join(_WEEKDAYS)})\b", lambda m: f"前回{_WEEKDAYS[m[1]]}曜日", text
    )
    when = rf"\b({'|'.join(_WHEN)}) "
    text = re.sub(
        rf"{when}(week(?:end)?|month|quarter)\b",
        lambda m: _WHEN[m[1]] + _UNITS[m[2]].replace("か月", "月").removesuffix("間"), text,
    )  # fmt: skip
    text = re.sub(rf"{when}(fiscal )?year\b(?! so)", _year, text)
    for form, japanese in _WORDS:
        text = re.sub(form, japanese, text)
    return text


def _date(match: re.Match[str]) -> str:
    parts = {"day": None, "year": None} | match.groupdict()
    month = _MONTHS.index(match["month"][:3]) + 1
    year = f"{parts['year']}年" if parts["year"] else ""
    return f"{year}{month}月" + (f"{parts['day']}日" if parts["day"] else "")


def _year(match: re.Match[str]) -> str:
    return _YEARS[match[1]] + ("度" if match[2] else "")
