"""Periods as people say them."""

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.datasets.core.columns import Column
from mdvec.dates import parse_dated
from mdvec.dates.months import Days, Month, MonthRange
from mdvec.household.core.periods import (
    AmbiguousPeriod,
    InvalidDates,
    InvalidPeriod,
    resolve_period,
)
from mdvec.sql.core.period import within
from mdvec.sql.core.ready import days_of
from mdvec.text import shortened

TODAY = date(2025, 9, 10)
LEDGER = MonthRange(Month(2023, 4), Month(2025, 8))


def months(text):
    """``2025-06`` or ``2025-06..2025-08``."""
    first, _, last = text.partition("..")
    return MonthRange(Month.from_iso(first), Month.from_iso(last or first))


def said(period, today=TODAY):
    return resolve_period(today, LEDGER, period=period)


@each(
    ("period", "meant"),
    [
        ("2025-06", "2025-06"), ("2025年6月", "2025-06"), ("2025年06月", "2025-06"),
        ("2025/06", "2025-06"), ("2025.6", "2025-06"), ("202506", "2025-06"),
        ("２０２５／０６", "2025-06"), (" 2025 年 6 月 ", "2025-06"), ("2025年6月分", "2025-06"),
        ("令和7年6月", "2025-06"), ("R7年6月", "2025-06"),
        ("令和元年5月", "2019-05"), ("平成30年1月", "2018-01"),
        ("昨年12月", "2024-12"), ("去年の12月", "2024-12"), ("一昨年の1月", "2023-01"),
        ("今月", "2025-09"), ("先月", "2025-08"), ("先々月", "2025-07"), ("3か月前", "2025-06"),
        ("最新", "2025-08"), ("6月", "2025-06"), ("六月", "2025-06"), ("十一月", "2024-11"),
        ("二〇二五年六月", "2025-06"), ("㋅", "2025-06"), ("2025年の6月", "2025-06"),
        ("2025年", "2025-01..2025-12"), ("2025", "2025-01..2025-12"),
        ("去年", "2024-01..2024-12"), ("今年", "2025-01..2025-12"),
        ("令和６年", "2024-01..2024-12"),
    ],
)  # fmt: skip
def test_a_month_and_a_year_have_many_names(period, meant):
    assert said(period).months == months(meant)


def test_counting_back_from_data_that_end_before_today_says_so():
    assert said("直近3か月").understood == (
        "「直近3か月」（データのある最後の月まで）を 2025年06月〜2025年08月 と解釈しました"
    )
    assert "データのある最後の月" in said("最新").understood
    assert "データのある" not in said("直近3か月", date(2025, 8, 1)).understood
    assert "データのある" not in said("2025年8月").understood


@each(
    ("period", "meant"),
    [
        ("昨年の春", "2024-03..2024-05"), ("昨年の夏", "2024-06..2024-08"),
        ("2024年秋", "2024-09..2024-11"),
        ("夏", "2025-06..2025-08"), ("冬", "2024-12..2025-02"),
        ("2025年上半期", "2025-01..2025-06"), ("2024年の冬", "2024-12..2025-02"),
        ("2025年下期", "2025-07..2025-12"), ("2025年第1四半期", "2025-01..2025-03"),
        ("2025Q3", "2025-07..2025-09"),
        ("2024年度", "2024-04..2025-03"), ("令和6年度", "2024-04..2025-03"),
        ("今年度", "2025-04..2026-03"), ("昨年度下半期", "2024-10..2025-03"),
        ("2024年度上半期", "2024-04..2024-09"), ("2024年度第４四半期", "2025-01..2025-03"),
        ("2024年度の2月", "2025-02"),
    ],
)  # fmt: skip
def test_seasons_halves_quarters_and_fiscal_years_are_understood(period, meant):
    assert said(period).months == months(meant)


@each(
    ("period", "meant"),
    [
        ("2025年6月〜7月", "2025-06..2025-07"), ("2025年6月～2025年7月", "2025-06..2025-07"),
        ("2025年6月から8月まで", "2025-06..2025-08"), ("2025年6-8月", "2025-06..2025-08"),
        ("2025-06~2025-08", "2025-06..2025-08"),


        ("2024年11月〜2月", "2024-11..2025-02"), ("11月から2月", "2024-11..2025-02"),
        ("11月〜2025年2月", "2024-11..2025-02"), ("8月〜2024年2月", "2023-08..2024-02"),
        ("2023〜2024年", "2023-01..2024-12"), ("先月から今月", "2025-08..2025-09"),
        ("6月から", "2025-06..2025-09"), ("2025年5月以降", "2025-05..2025-09"),
        ("2024年1月まで", "2023-04..2024-01"), ("〜2024年1月", "2023-04..2024-01"),
        ("11月から1月", "2024-11..2025-01"), ("8月から12月", "2025-08..2025-12"),
        ("2024年11月から1月", "2024-11..2025-01"), ("冬から春", "2024-12..2025-05"),
        ("昨年から3月まで", "2024-01..2025-03"), ("8月から先月", "2025-08"),
        ("10月から先月", "2024-10..2025-08"), ("今年から6月まで", "2025-01..2025-06"),
        ("今年度から7月まで", "2025-04..2025-07"), ("2025年〜11月", "2025-01..2025-11"),
        ("来月〜2月", "2025-10..2026-02"), ("2025年10月〜3月", "2025-10..2026-03"),
    ],
)  # fmt: skip
def test_a_range_has_two_parts_and_the_second_inherits_its_year(period, meant):
    assert said(period).months == months(meant)


@each(
    ("period", "readings"),
    [
        ("2025年8月〜2025年6月", ["2025年06月〜2025年08月"]),
        ("2025-08〜2025-06", ["2025年06月〜2025年08月"]),
        ("2025-08-03..2025-08-01", ["2025年08月01日〜2025年08月03日"]),
        ("9月から8月", ["2024年09月〜2025年08月", "2025年09月〜2026年08月"]),
        ("8月〜1月", ["2024年08月〜2025年01月", "2025年08月〜2026年01月"]),
        ("秋から春", ["2024年09月〜2025年05月", "2025年09月〜2026年05月"]),
        ("9/5から1/3", ["2024年09月05日〜2025年01月03日", "2025年09月05日〜2026年01月03日"]),
    ],
)  # fmt: skip
def test_a_range_in_the_wrong_order_or_of_either_year_is_asked_about_with_what_it_can_mean(
    period, readings
):
    first, _, last = period.replace("から", "〜").replace("..", "〜").partition("〜")
    for asked in ({"period": period}, {"start_month": first, "end_month": last}):
        with pytest.raises(InvalidDates) as refused:
            resolve_period(TODAY, LEDGER, **asked)
        assert str(refused.value).partition(": ")[2] == "、".join(readings)
    assert [said(reading).in_words for reading in readings] == readings


@each(
    ("start", "end", "meant"),
    [
        ("2025-06", "2025-07", "2025-06..2025-07"), ("昨年12月", "先月", "2024-12..2025-08"),
        ("2024年11月", "2月", "2024-11..2025-02"),
        ("2025-06", None, "2025-06..2025-09"), ("2025-06", " ", "2025-06..2025-09"),
        (None, "2025-06", "2024-07..2025-06"),
    ],
)  # fmt: skip
def test_a_first_and_a_last_month_can_be_given_separately(start, end, meant):
    found = resolve_period(TODAY, LEDGER, start_month=start, end_month=end)
    assert found.months == months(meant)


def test_without_a_period_the_latest_twelve_months_are_taken_or_as_many_as_there_are():
    found = resolve_period(TODAY, LEDGER, period="")
    assert found.months == months("2024-09..2025-08")
    assert "最新の12か月（2024年09月〜2025年08月）" in found.understood
    short = MonthRange(Month(2025, 7), Month(2025, 8))
    assert resolve_period(TODAY, short).months == short


@each(
    ("year", "month", "meant"),
    [(2025, 6, "2025-06"), (2024, None, "2024-01..2024-12"), (None, 12, "2024-12")],
)
def test_a_year_and_a_month_may_be_numbers(year, month, meant):
    assert resolve_period(TODAY, LEDGER, year=year, month=month).months == months(meant)


@each(("year", "month"), [(2025, 13), (2025, 0), (25, 6), (3, None), (-1, 1)])
def test_numbers_that_are_not_a_month_are_refused(year, month):
    with pytest.raises(InvalidPeriod):
        resolve_period(TODAY, LEDGER, year=year, month=month)


@each(
    "period",
    ["2025-13", "2025年0月", "13月", "直近0か月", "31年6月", "ほげ", "月", "-", "〜",
     "2025年6月7月", "令和0年", "令和0年6月", "R00.6.1",
     "第5四半期", "2025-24", "0000-01", "2025/6-7/1/2", "1015", "250601", "一" * 61, "数か月"],
)  # fmt: skip
def test_text_that_is_not_a_period_is_refused_with_the_two_dates_to_fill_in(period):
    with pytest.raises(InvalidPeriod) as refused:
        said(period)
    assert str(refused.value) == (
        f'期間「{shortened(period)}」は読めません。初日と最終日を since="YYYY-MM-DD"、'
        'until="YYYY-MM-DD" に入れてください（月なら YYYY-MM）。'
        "利用できる期間は 2023年04月〜2025年08月 です。"
    )


def test_the_invalid_range_is_named():
    with pytest.raises(InvalidPeriod, match="「2025-06〜2025-13」"):
        resolve_period(TODAY, LEDGER, start_month="2025-06", end_month="2025-13")


@each(
    ("since", "until", "starts_on", "first", "last", "is_read"),
    [
        ("2025-06-10", "2025-06-20", 1, "2025-06-10", "2025-06-20", False),
        ("2025-06", "2025-07", 1, "2025-06-01", "2025-07-31", False),
        ("2025-06-10", "2025-07", 1, "2025-06-10", "2025-07-31", False),
        ("2025-06", "2025-06", 26, "2025-05-26", "2025-06-25", True),
        ("2025-06-01", "2025-06-01", 26, "2025-06-01", "2025-06-01", False),
        (" 2025-06 ", "", 1, "2025-06-01", "2025-09-10", True),
        (None, "2024-02", 1, "2023-04-01", "2024-02-29", True),
        ("2025-12", None, 1, "2025-12-01", "2025-12-31", True),
        (None, "2020-02", 1, "2020-02-29", "2020-02-29", True),
    ],
)
def test_stated_dates_are_taken_as_they_are_both_included(
    since, until, starts_on, first, last, is_read
):
    ledger = MonthRange(
        *(Month(one.year, one.month, starts_on) for one in (LEDGER.first, LEDGER.last))
    )
    found = resolve_period(TODAY, ledger, since=since, until=until)
    assert (str(found.days.first), str(found.days.last)) == (first, last)
    assert (found.in_words in found.understood) == bool(found.understood) == is_read


@each(
    ("dates", "sentence"),
    [
        ({"since": "先週"}, "since「先週」は読めません。YYYY-MM-DD か YYYY-MM で指定してください"),
        ({"until": "2025-02-30"}, "until「2025-02-30」は読めません"),
        ({"since": "2025-13"}, "since「2025-13」は読めません"),
        ({"since": "6月"}, "since「6月」は読めません"),
        ({"since": "2025-06から"}, "since「2025-06から」は読めません"),
        ({"until": "2025-06-30T00:00:00"}, "（時刻は付けず、今日から数える言葉は period に）"),
        ({"since": "2025-07", "until": "2025-06"}, "since 2025-07 が until 2025-06 より後です"),
    ],
)
def test_dates_that_are_none_or_in_the_wrong_order_are_refused_in_a_sentence(dates, sentence):
    with pytest.raises(InvalidDates, match=sentence):
        resolve_period(TODAY, LEDGER, **dates)


@each(
    ("form", "first", "last"),
    [
        ("2025/6/3", "2025-06-03", "2025-06-03"), ("20250603", "2025-06-03", "2025-06-03"),
        ("2025-W23", "2025-06-02", "2025-06-08"), ("2025-W23-2", "2025-06-03", "2025-06-03"),
        ("R7.6", "2025-06-01", "2025-06-30"), ("R7.6.3", "2025-06-03", "2025-06-03"),
        ("2025年6月", "2025-06-01", "2025-06-30"), ("2025", "2025-01-01", "2025-12-31"),
        ("2025-Q2", "2025-04-01", "2025-06-30"), ("２０２５-06", "2025-06-01", "2025-06-30"),
        ("2025-06-01/2025-06-15", "2025-06-01", "2025-06-15"),
        ("2025-06-01 - 2025-06-15", "2025-06-01", "2025-06-15"),
        ("2025-06-01\u20132025-06-15", "2025-06-01", "2025-06-15"),
        ("2025-05/2025-06", "2025-05-01", "2025-06-30"),
        ("2025-W23/2025-W24", "2025-06-02", "2025-06-15"),
        ("2025/6/1-2025/6/15", "2025-06-01", "2025-06-15"),
        ("2025/6/1-6/15", "2025-06-01", "2025-06-15"), ("R7.5〜R7.6", "2025-05-01", "2025-06-30"),
    ],
)  # fmt: skip
def test_a_form_with_its_year_means_the_same_days_wherever_days_are_stated(form, first, last):
    days = Days(date.fromisoformat(first), date.fromisoformat(last))
    assert said(form).days == parse_dated(form) == days
    assert resolve_period(TODAY, LEDGER, since=form, until=form).days == days
    assert days_of("first", form) == days
    assert within(Column("at", "DATE"), form, form) == within(Column("at", "DATE"), first, last)


@each("other", [{"period": "先月"}, {"start_month": "2025-01"}])
def test_dates_beside_another_way_of_stating_the_period_are_refused(other):
    with pytest.raises(AmbiguousPeriod, match="since と until、period"):
        resolve_period(TODAY, LEDGER, since="2025-06", **other)


def test_a_phrase_and_a_first_month_together_are_refused():
    with pytest.raises(AmbiguousPeriod, match="period、start_month と end_month"):
        resolve_period(TODAY, LEDGER, period="先月", start_month="2025-06")


PIECES = st.sampled_from(
    ["2025", "2024", "年", "度", "月", "日", "6", "１２", "三", "十", "元", "令和", "R", "-", "/",
     ".", "〜", "から", "まで", "以降", "直近", "過去", "か月", "半年", "去年", "先", "々", "今",
     "の", "夏", "週", "と", "除く", "給料日", "土", "曜", "GW", "末", "last",
     "June", "to", "冬", "上半期", "第", "四半期", "前", " ", "この"]
)  # fmt: skip


@given(
    st.one_of(st.text(), st.lists(PIECES, max_size=9).map("".join)),
    st.dates(date(2000, 1, 1), date(2099, 12, 31)),
)
@example("\ud800年", TODAY)
@example("昨年" * 10, TODAY)
def test_any_text_is_resolved_or_refused(text, today):
    try:
        found = resolve_period(today, LEDGER, period=text)
    except InvalidPeriod:
        return
    assert found.months.first <= found.months.last
    assert found.in_words in found.understood
    assert found.months.days.within(found.days) == found.days


MONTHS = st.builds(Month, st.integers(1990, 2099), st.integers(1, 12))


@given(MONTHS, MONTHS)
def test_a_range_as_it_is_written_is_read_back(one, other):
    wanted = MonthRange(min(one, other), max(one, other))
    assert said(wanted.in_words).months == wanted
    ends = {"start_month": str(wanted.first), "end_month": str(wanted.last)}
    assert resolve_period(TODAY, LEDGER, **ends).months == wanted


def test_there_is_no_thirteenth_month_and_no_range_that_ends_before_it_begins():
    with pytest.raises(ValueError, match="no month 13"):
        Month(2025, 13)
    with pytest.raises(ValueError, match="no month starts on day 32"):
        Month(2025, 6, 32)
    with pytest.raises(ValueError, match="2025-05 is before 2025-06"):
        MonthRange(Month(2025, 6), Month(2025, 5))
