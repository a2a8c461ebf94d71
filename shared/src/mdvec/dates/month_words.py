"""The words for months, years, seasons, halves and quarters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from mdvec.dates.months import Days, Month, MonthRange
from mdvec.dates.recurring import RecurringDays, Yearly, yearly_months
from mdvec.dates.yearly_words import yearly_days


@dataclass(frozen=True, slots=True)
class PeriodContext:
    """What relative phrases refer to: today, and the months with data, which all start alike."""

    today: date
    available: MonthRange

    @property
    def starts_on(self) -> int:
        """The day on which months start."""
        return self.available.first.starts_on

    @property
    def now(self) -> Month:
        """The month of today."""
        return Month.of(self.today, self.starts_on)


_ERAS = {"令和": 2018, "r": 2018, "平成": 1988, "h": 1988, "昭和": 1925, "s": 1925}
_YEARS_AGO = {
    "今年": 0, "本年": 0, "当年": 0, "去年": 1, "昨年": 1, "前年": 1, "先年": 1, "おととし": 2,
    "先々年": 2, "来年": -1, "再来年": -2, "昨": 1, "今": 0,
}  # fmt: skip
_MONTHS_AGO = {
    "今月": 0, "当月": 0, "本月": 0, "先月": 1, "前月": 1, "先々月": 2, "来月": -1, "再来月": -2,
}  # fmt: skip
_QUARTERS_AGO = {
    "今q": 0, "当q": 0, "本q": 0, "現q": 0, "前q": 1, "先q": 1, "先々q": 2, "来q": -1, "次q": -1,
}  # fmt: skip
_PARTS = {"春": (3, 3), "夏": (6, 3), "秋": (9, 3), "冬": (12, 3)}
_HALVES = {"上半期": 1, "上期": 1, "前半": 1, "下半期": 7, "下期": 7, "後半": 7}
_LATEST = frozenset({"最新", "最新月", "直近", "直近月"})
_ALL = frozenset({"全期間", "全て", "すべて", "全部", "これまで", "今まで", "現在まで"})
_LENGTH = r"(?P<count>[0-9]{1,3})(?:(?P<unit>か月|年)(?P<half>半)?)|(?P<half_year>半年)"
_COUNTED = re.compile(rf"(?:直近|最近|過去|ここ)?(?:{_LENGTH})間?")
_AGO = re.compile(rf"(?:{_LENGTH})前")
_BACK = r"(?:(?P<back>昨年|去年|前年|おととし|先々年)|(?P<years>[0-9]{1,2})年前)"
_SAME = re.compile(rf"{_BACK}(?P<month>同じ?月|今頃|同時期|{'|'.join(_MONTHS_AGO)})")
_WINTER_ENDS = 2
_NEAR_YEARS = 5
"""「25年」 is the year 2025, 「10年」 are the last ten years: so near is a year of two digits."""
_YEAR = re.compile(
    r"(?P<year>[0-9]{4})(?P<unit>年度?)?|fy'?(?P<fiscal>[0-9]{4}|[0-9]{2})(?:年度?)?"
    r"|(?P<over_12>1[3-9]|[2-9][0-9])(?=/[0-9]{1,2}$)|'(?P<short>[0-9]{2})(?:年度?)?|(?P<two>[0-9]{2})年(?:度|(?!前|半|間))"
    r"|(?P<era>令和|平成|昭和|r|h|s)(?P<count>[1-9][0-9]|0?[1-9])(?:年度?)?"
    r"|(?P<ago>今年|本年|当年|去年|昨年|前年|おととし|先々年|再来年|来年)度?"
    r"|当(?P<this>年度)|本年度|(?P<season>昨|今)(?=[春夏秋冬]$)"
    r"|(?P<back>[0-9]{1,2})年前(?=.)"
)


def parse_months(text: str, context: PeriodContext) -> Days | RecurringDays | None:
    """Parses one period of months, normalised; None if the text is not one."""
    months = _relative(text, context)
    if months is not None:
        return months.days
    return _of_a_year(text, context) or _yearless(text, context.starts_on)


def year_of_era(era: str, count: int) -> int:
    """The calendar year of an era year: 令和7年 is 2025."""
    return _ERAS[era] + count


def is_counted(text: str) -> bool:
    """Whether a phrase counts back from the last month with data."""
    return text in _LATEST or _COUNTED.fullmatch(text) is not None


def months_in(text: str) -> int | None:
    """The months in a length such as 「直近3か月」「半年間」「1年半」; None if it is not one."""
    match = _COUNTED.fullmatch(text)
    return None if match is None else _months_of(match)


def _months_of(match: re.Match[str]) -> int:
    if match["half_year"]:
        return 6
    half = 6 if match["half"] else 0
    return int(match["count"]) * (12 if match["unit"] == "年" else 1) + half


def _relative(text: str, context: PeriodContext) -> MonthRange | None:
    available, now = context.available, context.now
    if text in _MONTHS_AGO:
        return _single(now.plus(-_MONTHS_AGO[text]))
    if text in _QUARTERS_AGO:
        first = now.plus(-((now.month - 1) % 3) - 3 * _QUARTERS_AGO[text])
        return MonthRange(first, first.plus(2))
    if text in _LATEST:
        return _single(available.last)
    if text in _ALL:
        return available
    if match := _SAME.fullmatch(text):
        years = int(match["years"]) if match["years"] else _YEARS_AGO[match["back"]]
        return _single(now.plus(-12 * years - _MONTHS_AGO.get(match["month"], 0)))
    if match := _AGO.fullmatch(text):
        return _single(now.plus(-_months_of(match)))
    if _names_a_near_year(text, now):
        return None
    count = months_in(text)
    return MonthRange(available.last.plus(1 - count), available.last) if count else None


def _names_a_near_year(text: str, now: Month) -> bool:
    match = re.fullmatch(r"([0-9]{2})年", text)
    return match is not None and abs(2000 + int(match[1]) - now.year) <= _NEAR_YEARS


def _of_a_year(text: str, context: PeriodContext) -> Days | None:
    match = _YEAR.match(text)
    if match is None:
        return None
    fiscal = match[0].endswith("度") or bool(match["fiscal"])
    year, rest = _year(match, context.now, fiscal=fiscal), text[match.end() :]
    if year is None:
        return None
    if not rest:
        first = Month(year, 4 if fiscal else 1, context.starts_on)
        return MonthRange(first, first.plus(11)).days
    marked = not match[0][-1].isdigit()
    if (part := _part_of_year(rest, context, fiscal=fiscal, marked=marked)) is None:
        return None
    ago = _YEARS_AGO.get((match["ago"] or match["season"] or "").removesuffix("度"))
    if ago is not None and rest in ("冬", "年末年始") and not fiscal:
        return _over_new_year(part, ago, context)
    late = fiscal and part.month < 4 and rest[0] != "春"
    return part.of(year + 1 if late else year)


def _over_new_year(part: Yearly, years_ago: int, context: PeriodContext) -> Days:
    """The winter or New Year of a relative year: this year's is the latest that has begun.

    Until winter ends, last year's is the one before the current one.
    """
    if years_ago <= 0:
        return part.latest(context.today)
    return part.of(context.now.year - years_ago - (context.now.month <= _WINTER_ENDS))


def _year(match: re.Match[str], now: Month, *, fiscal: bool) -> int | None:
    this_year = now.plus(-3).year if fiscal else now.year
    if ago := match["ago"] or match["season"]:
        return this_year - _YEARS_AGO[ago]
    if match["back"]:
        return this_year - int(match["back"])
    if match[0] in ("当年度", "本年度"):
        return this_year
    if match["era"]:
        year = year_of_era(match["era"], int(match["count"]))
    elif two := match["two"] or match["over_12"]:
        year = 2000 + int(two)
        year = year if year <= now.year + 1 else 0
    else:
        written = match["year"] or match["fiscal"] or match["short"]
        year = int(written) + (2000 if len(written) == 2 else 0)
    return year if 1900 <= year <= 2199 else None


def _part_of_year(
    text: str, context: PeriodContext, *, fiscal: bool, marked: bool
) -> Yearly | None:
    """Parses what follows a year; ``marked`` says that the year ended in 年 or similar."""
    shapes = [r"([0-9]{1,2})月"]
    if not marked:  # 2025-06, 2025/6, 202506
        shapes += [r"[-/.]([0-9]{1,2})月?", r"([0-9]{2})"]
    for shape in shapes:
        if match := re.fullmatch(shape, text):
            month = int(match[1])
            return yearly_months(month, 1, context.starts_on) if 1 <= month <= 12 else None
    text = text if marked else text.lstrip("-/.") if text[1:2] == "q" else text
    return _part(text, context.starts_on, fiscal=fiscal) or yearly_days(text)


def _yearless(text: str, starts_on: int) -> Yearly | None:
    if match := re.fullmatch(r"([0-9]{1,2})月", text):
        return yearly_months(int(match[1]), 1, starts_on) if 1 <= int(match[1]) <= 12 else None
    return _part(text, starts_on, fiscal=False)


def _part(text: str, starts_on: int, *, fiscal: bool) -> Yearly | None:
    """Parses a season, half or quarter of a year."""
    later = 3 if fiscal else 0
    if text in _PARTS:
        return yearly_months(*_PARTS[text], starts_on)
    if text in _HALVES:
        return yearly_months((_HALVES[text] + later - 1) % 12 + 1, 6, starts_on)
    if match := re.fullmatch(r"第?([1-4])q|q([1-4])", text):
        month = ((int(match[1] or match[2]) - 1) * 3 + later) % 12 + 1
        return yearly_months(month, 3, starts_on)
    return None


def _single(month: Month) -> MonthRange:
    return MonthRange(month, month)
