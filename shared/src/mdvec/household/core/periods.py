"""Parses Japanese periods into months.

A phrase is a month, a year, a season, a half or a quarter (「2025年6月」「令和7年」「昨年の夏」
「2024年度上半期」), a number of months up to the last with data (「直近3か月」), or a range of two
of these joined by から, 〜 or -. Halves and quarters are of the calendar year, or with 年度 of the
fiscal year, which begins in April. A start without a year is the latest that has begun; an end
without a year follows its start, over New Year if necessary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from mdvec.dates.months import Month, MonthRange
from mdvec.dates.spoken import PeriodContext, Yearless, is_counted, normalised, parse_unit
from mdvec.errors import MdvecError
from mdvec.household.core.days import months_of, names_a_day
from mdvec.text.one_line import shortened

DEFAULT_MONTHS = 12
_MAX_LENGTH = 60
_UP_TO_LATEST_DATA = "（データのある最後の月まで）"
_EXAMPLES = (
    "「2025-06」「2025年6月」「令和7年6月」「先月」「直近3か月」「昨年の夏」"
    "「2025年6月〜8月」「2024年度上半期」"
)


class InvalidPeriod(MdvecError):
    """A phrase is not a period; the message gives examples and the months with data."""

    def __init__(self, phrase: str, available: MonthRange) -> None:
        super().__init__(
            f"期間「{shortened(phrase)}」を解釈できませんでした。{_EXAMPLES}のように指定してください。"
            f"利用できる期間は {available.in_words} です。"
        )


class DayInPeriod(InvalidPeriod):
    """A phrase names a day, but sums are monthly; the message names the month to ask for."""

    def __init__(self, phrase: str, months: MonthRange | None, available: MonthRange) -> None:
        instead = _EXAMPLES if months is None else f"「{months.in_words}」"
        MdvecError.__init__(
            self,
            f"期間「{shortened(phrase)}」を解釈できませんでした。日や週の単位では集計できません。"
            f"{instead}のように月で指定してください。その月の明細は日付順に確認できます。"
            f"利用できる期間は {available.in_words} です。",
        )


class AmbiguousPeriod(MdvecError):
    """The period was given in two ways at once, such as a phrase and a first month."""

    def __init__(self) -> None:
        super().__init__(
            "期間の指定が重なっています。period、start_month と end_month、year と month の"
            "どれか一通りで指定してください。"
        )


@dataclass(frozen=True, slots=True)
class Period:
    """A parsed period: its months, and a sentence that tells the user how it was understood.

    There may be no data for these months.
    """

    months: MonthRange
    understood: str


def resolve_period(
    today: date,
    available: MonthRange,
    *,
    period: str | None = None,
    start_month: str | None = None,
    end_month: str | None = None,
) -> Period:
    """Parses a phrase, or a first and a last month in the same notation.

    The default is the latest twelve months of ``available``. A first month alone means up to the
    last month with data; a last month alone means the twelve months up to it. If both have a
    year and are in the wrong order, they are swapped, and ``understood`` says so.

    Raises:
        InvalidPeriod: the text cannot be parsed.
        DayInPeriod: it names a day or a week.
        AmbiguousPeriod: both a phrase and a first or last month were given.
    """
    context = PeriodContext(Month.of(today), available)
    phrase, start, end = _stripped(period), _stripped(start_month), _stripped(end_month)
    if phrase and (start or end):
        raise AmbiguousPeriod
    if start and end:
        return _from_ends(start, end, context)
    if end:
        last = _with_year(_unit(end, context), context).last
        return _period(end, MonthRange(last.plus(1 - DEFAULT_MONTHS), last), "までの12か月")
    if start:
        return _period(
            start, _until_last_data(_with_year(_unit(start, context), context), context), "から"
        )
    if phrase:
        found, swapped = _phrase(phrase, context)
        data_ends_earlier = is_counted(normalised(phrase)) and context.available.last < context.now
        return _period(
            phrase, found, _UP_TO_LATEST_DATA if data_ends_earlier else "", swapped=swapped
        )
    return _latest_months(available)


def resolve_year_month(
    today: date, available: MonthRange, year: int | None, month: int | None
) -> Period:
    """The period of a year, of a month in it, or, without a year, of the latest such month.

    Raises:
        InvalidPeriod: the year or month does not exist.
    """
    if year is not None and not 1000 <= year <= 9999:
        raise InvalidPeriod(f"{year}年", available)
    phrase = ("" if year is None else f"{year}年") + ("" if month is None else f"{month}月")
    return resolve_period(today, available, period=phrase)


def _latest_months(available: MonthRange) -> Period:
    first = max(available.first, available.last.plus(1 - DEFAULT_MONTHS))
    months = MonthRange(first, available.last)
    return Period(
        months,
        f"期間の指定がないため、データのある最新の{len(months)}か月（{months.in_words}）としました",
    )


def _period(phrase: str, months: MonthRange, suffix: str, *, swapped: bool = False) -> Period:
    remark = "（順序が逆だったため入れ替えました）" if swapped else ""
    return Period(
        months, f"「{shortened(phrase)}」{suffix}を {months.in_words} と解釈しました{remark}"
    )


def _stripped(text: str | None) -> str:
    return "" if text is None else text.strip()


def _from_ends(start: str, end: str, context: PeriodContext) -> Period:
    months, swapped = _join(_unit(start, context), _unit(end, context), context)
    return _period(f"{start}〜{end}", months, "", swapped=swapped)


def _unit(phrase: str, context: PeriodContext) -> MonthRange | Yearless:
    found = parse_unit(_plain(phrase, context), context)
    if found is None:
        raise InvalidPeriod(phrase, context.available)
    return found


def _plain(phrase: str, context: PeriodContext) -> str:
    """The normalised phrase; raises InvalidPeriod if it is too long or names a day."""
    if len(phrase) > _MAX_LENGTH:
        raise InvalidPeriod(phrase, context.available)
    text = normalised(phrase)
    if names_a_day(text):
        months = months_of(text)
        meant = None if names_a_day(months) else _months_of_phrase(months, context)
        raise DayInPeriod(phrase, meant and meant[0], context.available)
    return text


def _with_year(found: MonthRange | Yearless, context: PeriodContext) -> MonthRange:
    return found if isinstance(found, MonthRange) else found.latest(context.now)


def _until_last_data(months: MonthRange, context: PeriodContext) -> MonthRange:
    return MonthRange(months.first, max(months.last, context.available.last))


def _from_first_data(months: MonthRange, context: PeriodContext) -> MonthRange:
    return MonthRange(min(months.first, context.available.first), months.last)


def _phrase(phrase: str, context: PeriodContext) -> tuple[MonthRange, bool]:
    """The months of a phrase, and whether its two ends were swapped.

    Raises:
        InvalidPeriod: it cannot be parsed.
    """
    text = _plain(phrase, context)
    if (found := _months_of_phrase(text, context)) is None:
        raise InvalidPeriod(phrase, context.available)
    return found


def _months_of_phrase(text: str, context: PeriodContext) -> tuple[MonthRange, bool] | None:
    if (found := parse_unit(text, context)) is not None:
        return _with_year(found, context), False
    for left, right in _halves(re.sub(r"(まで|までの間|にかけて)$", "", text)):
        first, last = parse_unit(left, context), parse_unit(right, context)
        if first is not None and last is not None:
            return _join(first, last, context)
    months = _open_ended(text, context)
    return None if months is None else (months, False)


def _open_ended(text: str, context: PeriodContext) -> MonthRange | None:
    if match := re.fullmatch(r"(.+?)(?:から|以降|以後|[~〜])", text):
        found = parse_unit(match[1], context)
        return None if found is None else _until_last_data(_with_year(found, context), context)
    if match := re.fullmatch(r"[~〜]?(.+?)(?:まで|以前)?", text):
        found = parse_unit(match[1], context)
        return None if found is None else _from_first_data(_with_year(found, context), context)
    return None


_BETWEEN = re.compile(r"から|より|to|[~〜‐–—―→⇒…−ー-]")


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Splits a range at every possible separator, adding a 月 that the other side implies."""
    for mark in _BETWEEN.finditer(text):
        left, right = text[: mark.start()], text[mark.end() :]
        if re.fullmatch(r"[0-9]{1,2}", right):  # 2025/06-08
            right += "月"
        yield left, right
        if left[-1:].isdigit() and right.endswith("月"):  # 2025年6-8月
            yield left + "月", right


def _join(
    first: MonthRange | Yearless, last: MonthRange | Yearless, context: PeriodContext
) -> tuple[MonthRange, bool]:
    """The range from one end to the other, and whether they had to be swapped.

    Only ends with a year are swapped. A first end without a year is the latest that has begun by
    now, or by the last end if that has a year; a last end without a year is the next one that
    does not end before the first end does.
    """
    if isinstance(first, Yearless):
        first = first.latest(last.first if isinstance(last, MonthRange) else context.now)
    if isinstance(last, Yearless):
        last = last.next(first.last)
    if last.last < first.first:
        return MonthRange(last.first, first.last), True
    return MonthRange(first.first, last.last), False
