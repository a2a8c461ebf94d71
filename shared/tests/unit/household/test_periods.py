"""Periods as people say them; what each phrase means is in ``golden/household/periods.tsv``."""

from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mdvec.dates.months import Month, MonthRange
from mdvec.household.core.periods import (
    AmbiguousPeriod,
    InvalidPeriod,
    resolve_period,
    resolve_year_month,
)

TODAY = date(2025, 9, 10)
LEDGER = MonthRange(Month(2023, 4), Month(2025, 8))


def months(text):
    """``2025-06`` or ``2025-06..2025-08``."""
    first, _, last = text.partition("..")
    return MonthRange(Month.from_iso(first), Month.from_iso(last or first))


def said(period, today=TODAY):
    return resolve_period(today, LEDGER, period=period)


@pytest.mark.parametrize(
    ("period", "meant"),
    [
        ("直近3か月", "2025-06..2025-08"), ("直近３ヶ月", "2025-06..2025-08"),
        ("直近三カ月間", "2025-06..2025-08"), ("この3ヵ月", "2025-06..2025-08"),
        ("ここ３箇月", "2025-06..2025-08"), ("過去半年", "2025-03..2025-08"),
        ("最近1年", "2024-09..2025-08"), ("過去１年間", "2024-09..2025-08"),
        ("直近十二か月", "2024-09..2025-08"), ("直近1か月", "2025-08"),
        ("全期間", "2023-04..2025-08"), ("最新", "2025-08"),
        ("6月から", "2025-06..2025-09"), ("2025年5月以降", "2025-05..2025-09"),
        ("2024年1月まで", "2023-04..2024-01"), ("〜2024年1月", "2023-04..2024-01"),
    ],
)  # fmt: skip
def test_what_a_phrase_leaves_open_is_where_the_data_begin_and_end(period, meant):
    assert said(period).months == months(meant)


def test_counting_back_from_data_that_end_before_today_says_so():
    assert said("直近3か月").understood == (
        "「直近3か月」（データのある最後の月まで）を 2025年06月〜2025年08月 と解釈しました"
    )
    assert "データのある最後の月" in said("最新").understood
    assert "データのある" not in said("直近3か月", date(2025, 8, 1)).understood
    assert "データのある" not in said("2025年8月").understood


@pytest.mark.parametrize("period", ["2025年8月〜2025年6月", "2025-08〜2025-06"])
def test_ends_in_the_wrong_order_are_swapped_and_the_answer_says_so(period):
    found = said(period)
    assert found.months == months("2025-06..2025-08")
    assert found.understood == (
        f"「{period}」を 2025年06月〜2025年08月 と解釈しました（順序が逆だったため入れ替えました）"
    )


@pytest.mark.parametrize(
    ("start", "end", "meant"),
    [
        ("2025-06", "2025-07", "2025-06..2025-07"), ("昨年12月", "先月", "2024-12..2025-08"),
        ("2024年11月", "2月", "2024-11..2025-02"), ("2025-07", "2025-06", "2025-06..2025-07"),
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


@pytest.mark.parametrize(
    ("year", "month", "meant"),
    [(2025, 6, "2025-06"), (2024, None, "2024-01..2024-12"), (None, 12, "2024-12")],
)
def test_a_year_and_a_month_may_be_numbers(year, month, meant):
    assert resolve_year_month(TODAY, LEDGER, year, month).months == months(meant)


@pytest.mark.parametrize(("year", "month"), [(2025, 13), (2025, 0), (25, 6), (3, None), (-1, 1)])
def test_numbers_that_are_not_a_month_are_refused(year, month):
    with pytest.raises(InvalidPeriod):
        resolve_year_month(TODAY, LEDGER, year, month)


@pytest.mark.parametrize(
    "period",
    ["2025-13", "2025年0月", "13月", "直近0か月", "31年6月", "ほげ", "月", "-", "〜",
     "2025年6月7月", "令和0年", "令和0年6月", "R00.6.1",
     "第5四半期", "2025-24", "0000-01", "9999年", "一" * 61, "数か月"],
)  # fmt: skip
def test_text_that_is_not_a_period_is_refused_with_examples_and_the_months_with_data(period):
    with pytest.raises(InvalidPeriod) as refused:
        said(period)
    assert "解釈できませんでした" in str(refused.value)
    assert "のように指定してください" in str(refused.value)
    assert "「先月」「直近3か月」「昨年の夏」" in str(refused.value)
    assert "利用できる期間は 2023年04月〜2025年08月 です" in str(refused.value)
    assert len(str(refused.value)) < 300


def test_the_invalid_part_of_a_range_is_named():
    with pytest.raises(InvalidPeriod, match="「2025-13」"):
        resolve_period(TODAY, LEDGER, start_month="2025-06", end_month="2025-13")


def test_a_phrase_and_a_first_month_together_are_refused():
    with pytest.raises(AmbiguousPeriod, match="period、start_month と end_month"):
        resolve_period(TODAY, LEDGER, period="先月", start_month="2025-06")


PIECES = st.sampled_from(
    ["2025", "2024", "年", "度", "月", "日", "6", "１２", "三", "十", "元", "令和", "R", "-", "/",
     ".", "〜", "から", "まで", "以降", "直近", "過去", "か月", "半年", "去年", "先", "々", "今",
     "の", "夏", "週", "と", "除く", "給料日", "土", "曜", "GW", "末", "last",
     "June", "to", "冬", "上半期", "第", "四半期", "前", " ", "この"]
)  # fmt: skip


@settings(max_examples=15)
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


@given(MONTHS, st.integers(0, 400))
def test_months_count_as_the_calendar_does(month, number):
    later = month
    for _ in range(number):
        following = date.fromordinal(later.last_day.toordinal() + 1)
        later = Month.of(following)
    assert month.plus(number) == later
    assert later.plus(-number) == month
    assert later.since(month) == number
    assert list(MonthRange(month, later))[-1] == later
    assert len(list(MonthRange(month, later))) == len(MonthRange(month, later)) == number + 1


def test_there_is_no_thirteenth_month_and_no_range_that_ends_before_it_begins():
    with pytest.raises(ValueError, match="no month 13"):
        Month(2025, 13)
    with pytest.raises(ValueError, match="no month starts on day 32"):
        Month(2025, 6, 32)
    with pytest.raises(ValueError, match="2025-05 is before 2025-06"):
        MonthRange(Month(2025, 6), Month(2025, 5))
