"""Ranges of months, also over New Year, against an independent rule."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.dates.months import Month, MonthRange
from mdvec.household.core.periods import InvalidDates, resolve_period

NOW = 2025
LEDGER = MonthRange(Month(2020, 1), Month(2025, 12))
FORMS = ("{}月から{}月", "{}月〜{}月", "{}月 から {}月まで", "{}月..{}月", "{}-{}月")


def meant(a, b, asking):
    """The latest range from month a to the next month b that has begun."""
    counted = [
        (start, next(end for end in range(start, start + 12) if end % 12 == b - 1))
        for start in range((NOW - 2) * 12, (NOW + 2) * 12)
        if start % 12 == a - 1 and start <= NOW * 12 + asking - 1
    ]
    start, end = counted[-1]
    return MonthRange(Month(start // 12, start % 12 + 1), Month(end // 12, end % 12 + 1))


def months_of(today, **asked):
    """The months that a call means; None if it is refused."""
    try:
        period = resolve_period(today, LEDGER, **asked)
    except InvalidDates:
        return None
    assert period.months.in_words in period.understood
    return period.months


@each("asking", range(1, 13))
def test_every_range_of_months_is_the_latest_that_has_begun_or_asked_about_over_new_year(asking):
    today = date(NOW, asking, 10)
    for a in range(1, 13):
        for b in range(1, 13):
            wanted = meant(a, b, asking)
            if b < a and wanted.last > Month(NOW, asking):  # the one before may be meant, too
                wanted = None
            form = FORMS[(a + b + asking) % len(FORMS)]
            asked = (
                {"period": form.format(a, b)},
                {"start_month": f"{a}月", "end_month": f"{b:02d}月"},
            )
            for each_form in asked:
                assert months_of(today, **each_form) == wanted, (a, b)


@given(st.integers(2020, 2025), *[st.integers(1, 12)] * 3)
def test_one_end_that_has_its_year_gives_the_other_the_nearest_that_keeps_the_order(
    year, a, b, asking
):
    today = date(NOW, asking, 1)
    begun, ended = Month(year, a), Month(year, b)
    onward = MonthRange(begun, next(begun.plus(n) for n in range(12) if begun.plus(n).month == b))
    back = MonthRange(next(ended.plus(-n) for n in range(12) if ended.plus(-n).month == a), ended)
    for start, end, wanted in (
        (begun.in_words, f"{b}月", onward), (str(begun), f"{b}月", onward),
        (f"{a}月", ended.in_words, back),
    ):  # fmt: skip
        ends = months_of(today, start_month=start, end_month=end)
        assert ends == months_of(today, period=f"{start}から{end}") == wanted
