"""The period of a household's answer: a phrase, or a first and a last month, as days and months."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from mdvec.dates import (
    MAX_LENGTH,
    Days,
    MonthRange,
    PeriodContext,
    RecurringDays,
    Spoken,
    fixed,
    joined_days,
    nearest_known,
    normalised,
    parse_end,
    parse_period,
    until_today,
)
from mdvec.errors import MdvecError
from mdvec.text import shortened

DEFAULT_MONTHS = 12
_UP_TO_LATEST_DATA = "（データのある最後の月まで）"
_EXAMPLES = "「先月」「直近3か月」「昨年の夏」「2025年6月〜8月」「1月10日〜1月20日」"
_HALF = re.compile(r"(?P<half>上半期|上期|下半期|下期)$")
_YEARS_AGO = re.compile(r"([0-9]{1,2})年前$")


class InvalidPeriod(MdvecError):
    """A phrase is not a period; the message names the nearest known one and the data's months."""

    def __init__(self, phrase: str, available: MonthRange) -> None:
        near = nearest_known(phrase) if len(phrase) <= MAX_LENGTH else None
        examples, others = (
            (f"「{near}」", f"（ほかの例: {_EXAMPLES}）") if near else (_EXAMPLES, "")
        )
        super().__init__(
            f"期間「{shortened(phrase)}」を解釈できませんでした。{examples}のように指定してください"
            f"{others}。利用できる期間は {available.in_words} です。"
        )


class PaydayUnknown(InvalidPeriod):
    """A phrase names the payday, but months start on the 1st; the message names the setting."""

    def __init__(self) -> None:
        MdvecError.__init__(
            self,
            "給料日がわかりません。設定の [household] month_starts_on に給料日を書くか"
            "（25日なら 25）、「6月25日〜7月24日」のように日付で指定してください。",
        )


class AmbiguousPeriod(MdvecError):
    """The period was given in two ways at once, such as a phrase and a first month."""

    def __init__(self) -> None:
        super().__init__(
            "期間の指定が重なっています。period、start_month と end_month、year と month の"
            "どれか一通りで指定してください。"
        )


@dataclass(frozen=True, slots=True)
class UnderstoodPeriod:
    """A parsed period, and a sentence that tells the user how it was understood.

    ``months`` are all months that contain some of the ``days``. There may be no data for them.
    ``follows_data``: nobody asked for these days; they are the latest that have data.
    """

    days: Days
    months: MonthRange
    understood: str
    follows_data: bool = False

    @property
    def in_words(self) -> str:
        """The period in Japanese: as months where it is whole months, else as days."""
        return span_in_words(self.days, self.months)


def span_in_words(days: Days, months: MonthRange) -> str:
    """Days in Japanese, or as months if they are whole months."""
    return months.in_words if months.days == days else days.in_words


def resolve_period(
    today: date,
    available: MonthRange,
    *,
    period: str | None = None,
    start_month: str | None = None,
    end_month: str | None = None,
) -> UnderstoodPeriod:
    """Parses a phrase, or a first and a last month in the same notation.

    Months start on the day that those of ``available`` do. The default is the latest twelve
    months of ``available``. A first month alone means up to today; a last month alone means the
    twelve months up to it. If both have a year and are in the wrong order, they are swapped, and
    ``understood`` says so, as it does where a phrase can mean something else.

    Raises:
        InvalidPeriod: the text cannot be parsed.
        PaydayUnknown: it names the payday, but months start on the 1st.
        AmbiguousPeriod: both a phrase and a first or last month were given.
    """
    context = PeriodContext(today, available)
    phrase, start, end = _stripped(period), _stripped(start_month), _stripped(end_month)
    if phrase and (start or end):
        raise AmbiguousPeriod
    if phrase:
        return _of_phrase(phrase, context)
    if start and end:
        days, swapped = joined_days(_end(start, context), _end(end, context), context)
        return _period(f"{start}〜{end}", Spoken(days, swapped), context)
    if end:
        last = MonthRange.around(fixed(_end(end, context), context), context.starts_on).last
        months = MonthRange(last.plus(1 - DEFAULT_MONTHS), last)
        return _period(end, Spoken(months.days), context, "までの12か月")
    if start:
        days = until_today(fixed(_end(start, context), context), context)
        return _period(start, Spoken(days), context, "から")
    return _latest_months(available)


def resolve_year_month(
    today: date, available: MonthRange, year: int | None, month: int | None
) -> UnderstoodPeriod:
    """The period of a year, of a month in it, or, without a year, of the latest such month.

    Raises:
        InvalidPeriod: the year or month does not exist.
    """
    if year is not None and not 1000 <= year <= 9999:
        raise InvalidPeriod(f"{year}年", available)
    phrase = ("" if year is None else f"{year}年") + ("" if month is None else f"{month}月")
    return resolve_period(today, available, period=phrase)


def _latest_months(available: MonthRange) -> UnderstoodPeriod:
    first = max(available.first, available.last.plus(1 - DEFAULT_MONTHS))
    months = MonthRange(first, available.last)
    return UnderstoodPeriod(
        months.days,
        months,
        f"期間の指定がないため、データのある最新の{len(months)}か月（{months.in_words}）としました",
        follows_data=True,
    )


def _of_phrase(phrase: str, context: PeriodContext) -> UnderstoodPeriod:
    spoken = parse_period(phrase, context)
    if spoken is None:
        if "給料日" in phrase and context.starts_on == 1:
            raise PaydayUnknown
        raise InvalidPeriod(phrase, context.available)
    ends_early = spoken.counted and context.available.last < context.now
    suffix = _UP_TO_LATEST_DATA if ends_early else ""
    understood = _period(
        phrase, spoken, context, suffix, _otherwise(normalised(phrase), spoken.days)
    )
    return replace(understood, follows_data=ends_early)


def _period(
    phrase: str, spoken: Spoken, context: PeriodContext, suffix: str = "", otherwise: str = ""
) -> UnderstoodPeriod:
    remark = "（順序が逆だったため入れ替えました）" if spoken.swapped else otherwise
    months = MonthRange.around(spoken.days, context.starts_on)
    words = span_in_words(spoken.days, months)
    return UnderstoodPeriod(
        spoken.days, months, f"「{shortened(phrase)}」{suffix}を {words} と解釈しました{remark}"
    )


def _otherwise(text: str, days: Days) -> str:
    """What else a phrase can mean, and how to say that; "" if it can mean only one thing."""
    if (match := _HALF.search(text)) and "度" not in text and "fy" not in text:
        return f"（年度の{match['half']}なら「{days.first.year}年度{match['half']}」）"
    if match := _YEARS_AGO.search(text):
        return f"（その月だけです。1年全体なら「{days.last.year}年」）"
    return ""


def _stripped(text: str | None) -> str:
    return "" if text is None else text.strip()


def _end(phrase: str, context: PeriodContext) -> Days | RecurringDays:
    """One end of a range; raises InvalidPeriod if it cannot be parsed."""
    period = parse_end(phrase, context)
    if period is None:
        raise InvalidPeriod(phrase, context.available)
    return period
