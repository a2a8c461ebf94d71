"""Parses the Japanese words for a single month, year, season, half or quarter."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from mdvec.dates.months import Month, MonthRange


@dataclass(frozen=True, slots=True)
class Yearless:
    """One or more months without a year: 「6月」「夏」「上半期」."""

    month: int
    length: int = 1

    def of(self, year: int) -> MonthRange:
        """These months, beginning in the given year."""
        first = Month(year, self.month)
        return MonthRange(first, first.plus(self.length - 1))

    def latest(self, not_after: Month) -> MonthRange:
        """The latest occurrence that has begun by the given month."""
        year = not_after.year
        return self.of(year if self.month <= not_after.month else year - 1)

    def next(self, not_before: Month) -> MonthRange:
        """The first occurrence that ends in the given month or later."""
        begins = not_before.plus(1 - self.length)
        return self.of(begins.year if self.month >= begins.month else begins.year + 1)


@dataclass(frozen=True, slots=True)
class PeriodContext:
    """What relative phrases refer to: the current month, and the months with data."""

    now: Month
    available: MonthRange


_DIGITS = {kanji: str(digit) for digit, kanji in enumerate("〇一二三四五六七八九")} | {"零": "0"}
_ERAS = {"令和": 2018, "r": 2018, "平成": 1988, "h": 1988, "昭和": 1925, "s": 1925}
_YEARS_AGO = {"今年": 0, "本年": 0, "去年": 1, "昨年": 1, "前年": 1, "おととし": 2}
_MONTHS_AGO = {"今月": 0, "当月": 0, "本月": 0, "先月": 1, "前月": 1} | dict.fromkeys(
    ("先々月", "先先月", "前々月", "前前月"), 2
)
_PARTS = {"春": (3, 3), "夏": (6, 3), "秋": (9, 3), "冬": (12, 3)}
_HALVES = {"上半期": 1, "上期": 1, "前半": 1, "下半期": 7, "下期": 7, "後半": 7}
_LATEST = frozenset({"最新", "最新月", "直近", "直近月"})
_ALL = frozenset({"全期間", "全て", "すべて", "全部"})
_COUNTED = re.compile(r"(?:直近|最近|過去|ここ)?(?:([0-9]{1,3})(か月|年)|(半年))間?")
_AGO = re.compile(r"([0-9]{1,3})か月前")
_YEAR = re.compile(
    r"(?P<year>[0-9]{4})(?P<unit>年度?)?|fy(?P<fiscal>[0-9]{4})"
    r"|(?P<era>令和|平成|昭和|r|h|s)(?P<count>[0-9]{1,2})(?:年度?)?"
    r"|(?P<ago>今年|本年|去年|昨年|前年|おととし)度?"
)


def normalised(said: str) -> str:
    """Normalises a phrase: half-width, no spaces, digits instead of kanji, no particles."""
    text = "".join(unicodedata.normalize("NFKC", said).casefold().split())
    text = text.replace("四半期", "q").replace("一昨年", "おととし").replace("元年", "1年")
    text = re.sub(r"[〇零一二三四五六七八九十]+", _digits, text)
    text = re.sub(r"(?<=[0-9])[かカヵヶケけ箇個]月", "か月", text)
    return re.sub(r"(分|頃|ごろ)$", "", text.replace("この", "").replace("の", ""))


def _digits(match: re.Match[str]) -> str:
    kanji = match[0]
    if split := re.fullmatch(r"([^十]?)十([^十]?)", kanji):
        tens, ones = split.groups()
        return _DIGITS.get(tens, "1") + _DIGITS.get(ones, "0")
    return "".join(_DIGITS.get(sign, sign) for sign in kanji)


def parse_unit(text: str, context: PeriodContext) -> MonthRange | Yearless | None:
    """Parses one period, not a range; None if the text is not one."""
    return _relative(text, context) or _of_a_year(text, context) or _yearless(text)


def year_of_era(era: str, count: int) -> int:
    """The calendar year of an era year: 令和7年 is 2025."""
    return _ERAS[era] + count


def is_counted(text: str) -> bool:
    """Whether a phrase counts back from the last month with data."""
    return text in _LATEST or _COUNTED.fullmatch(text) is not None


def _relative(text: str, context: PeriodContext) -> MonthRange | None:
    available = context.available
    if text in _MONTHS_AGO:
        return _single(context.now.plus(-_MONTHS_AGO[text]))
    if text in _LATEST:
        return _single(available.last)
    if text in _ALL:
        return available
    if match := _AGO.fullmatch(text):
        return _single(context.now.plus(-int(match[1])))
    if match := _COUNTED.fullmatch(text):
        return _counted(match, available.last)
    return None


def _counted(match: re.Match[str], last: Month) -> MonthRange | None:
    count = 6 if match[3] else int(match[1]) * (12 if match[2] == "年" else 1)
    return MonthRange(last.plus(1 - count), last) if count else None


def _of_a_year(text: str, context: PeriodContext) -> MonthRange | None:
    match = _YEAR.match(text)
    if match is None:
        return None
    fiscal = match[0].endswith("度") or bool(match["fiscal"])
    year, rest = _year(match, context.now, fiscal=fiscal), text[match.end() :]
    if not 1900 <= year <= 2199:
        return None
    if not rest:
        first = Month(year, 4 if fiscal else 1)
        return MonthRange(first, first.plus(11))
    if (part := _part(rest, fiscal=fiscal)) is not None:
        late = fiscal and part.month < 4 and rest[0] != "春"
        return part.of(year + 1 if late else year)
    month = _month(rest, year, marked=not match[0][-1].isdigit())
    if month is None:
        return None
    return _single(month.plus(12) if fiscal and month.month < 4 else month)


def _year(match: re.Match[str], now: Month, *, fiscal: bool) -> int:
    if match["ago"]:
        this_year = now.plus(-3).year if fiscal else now.year
        return this_year - _YEARS_AGO[match["ago"]]
    if match["era"]:
        return year_of_era(match["era"], int(match["count"]))
    return int(match["year"] or match["fiscal"])


def _month(text: str, year: int, *, marked: bool) -> Month | None:
    """Parses the month after a year; ``marked`` says that the year ended in 年 or similar."""
    shapes = [r"([0-9]{1,2})月"]
    if not marked:  # 2025-06, 2025/6, 202506
        shapes += [r"[-/.]([0-9]{1,2})月?", r"([0-9]{2})"]
    for shape in shapes:
        if match := re.fullmatch(shape, text):
            return Month(year, int(match[1])) if 1 <= int(match[1]) <= 12 else None
    return None


def _yearless(text: str) -> Yearless | None:
    if match := re.fullmatch(r"([0-9]{1,2})月", text):
        return Yearless(int(match[1])) if 1 <= int(match[1]) <= 12 else None
    return _part(text, fiscal=False)


def _part(text: str, *, fiscal: bool) -> Yearless | None:
    """Parses a season, half or quarter of a year."""
    later = 3 if fiscal else 0
    if text in _PARTS:
        return Yearless(*_PARTS[text])
    if text in _HALVES:
        return Yearless((_HALVES[text] + later - 1) % 12 + 1, 6)
    if match := re.fullmatch(r"第?([1-4])q|q([1-4])", text):
        return Yearless(((int(match[1] or match[2]) - 1) * 3 + later) % 12 + 1, 3)
    return None


def _single(month: Month) -> MonthRange:
    return MonthRange(month, month)
