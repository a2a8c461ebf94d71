"""Rows of future days and of wrong years: neither moves a default, both are reported."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_ledger import FLAGS, Row, SmallLedger

from mdvec.dates.months import Month, MonthRange, runs_of
from mdvec.household import Ledger
from mdvec.household.comparison import compare_periods
from mdvec.household.core.wording import InsufficientData
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.overview import MAX_GAP_MONTHS, available_months, body_of
from mdvec.household.row_filters import RowFilter

TODAY = date(2025, 7, 20)
DEFAULTS = (
    None, "直近3か月", "過去半年", "過去1年間", "最新",
    "全期間", "5月から", "5月まで", "先月", "今月",
)  # fmt: skip


@pytest.fixture
def ledger(connection):
    """Fourteen months to July 2025."""
    months = [Month(2024, 6).plus(n) for n in range(14)]
    rows = [Row(f"{month}-05", -1_000 - n, "食費/外食") for n, month in enumerate(months)]
    return SmallLedger(connection, [*rows, *(Row(f"{m}-15", 9_000, "収入/給与") for m in months)])


def figures(ledger, period, today=TODAY):
    """The figures of answers without a category, without their notes."""
    try:
        month = ledger.month(today, period)
    except InsufficientData as error:
        return str(error)
    trends = [
        ledger.trend(today, category, period=period) for category in ("食費", "収支", "貯蓄率")
    ]
    if period is None:
        trends.append(ledger.summary(today))
    return (
        replace(month, notes=(), text=""),
        [replace(trend, notes=(), text="") for trend in trends],
    )


def test_a_row_of_a_future_month_moves_no_default_and_is_reported(ledger):
    before = [figures(ledger, period) for period in DEFAULTS]
    ledger.add(Row("2025-12-27", -80_000, "住宅/家賃"))
    ledger.add(Row("2026-03-01", 250_000, "収入/給与"))
    ledger.add(Row("2026-03-02", -7, "食費/外食", "振替"))
    assert [figures(ledger, period) for period in DEFAULTS] == before
    planned = (
        "予定（今日より後の日付の明細）: 2件、支出 80,000円、収入 250,000円"
        "（上の金額には含めていません）"
    )
    answers = [
        ledger.month(TODAY), ledger.trend(TODAY, "収支"), ledger.summary(TODAY),
        ledger.month(TODAY, "直近3か月"), ledger.trend(TODAY, period="過去半年"),
    ]  # fmt: skip
    for answer in answers:
        assert answer.months.last == Month(2025, 7)
        assert planned in answer.notes
        assert planned in answer.text
    assert not any("予定" in note for note in ledger.month(TODAY, "先月").notes)
    assert not any("予定" in note for note in ledger.trend(TODAY, "食費").notes)


@pytest.mark.parametrize("income", [0, 700])
def test_planned_rows_that_come_to_nothing_are_shown_in_one_way(ledger, income):
    ledger.add(Row("2025-07-25", -500, "食費/外食"))
    ledger.add(Row("2025-07-25", 500, "食費/外食"))
    if income:
        ledger.add(Row("2025-07-25", income, "収入/給与"))
    rows, amounts = (3, "、収入 700円") if income else (2, "")
    note = f"予定（今日より後の日付の明細）: {rows}件{amounts}（上の金額に含みます）"
    found = find_transactions(
        Ledger(ledger.connection, ledger.tool_id, TODAY), RowFilter(period="今月"), ListingOptions()
    )
    trend = ledger.trend(TODAY, "収支", period="今月")
    for answer in (ledger.month(TODAY, "今月"), trend, found):
        assert note in answer.notes


def test_a_comparison_says_once_whether_planned_rows_are_in_it(ledger):
    ledger.add(Row("2025-07-25", -500, "食費/外食"))
    ledger.add(Row("2025-12-27", -80_000, "住宅/家賃"))
    today = Ledger(ledger.connection, ledger.tool_id, TODAY)
    included = "予定（今日より後の日付の明細）: {}（上の金額に含みます）"
    left_out = "予定（今日より後の日付の明細）: {}（上の金額には含めていません）"
    for period, base, notes in (
        ("2025-12", "2025-06", [included.format("1件、支出 80,000円")]),
        ("2025-12", "2025-07", [included.format("2件、支出 80,500円")]),
        ("2025-07", "2025-06",
         [included.format("1件、支出 500円"), left_out.format("1件、支出 80,000円")]),
        ("2025-06", "2025-05", []),
    ):  # fmt: skip
        answer = compare_periods(today, period=period, base=base)
        assert [note for note in answer.notes if note.startswith("予定")] == notes


def test_future_months_are_answered_on_request_and_marked_as_planned(ledger):
    ledger.add(Row("2025-07-25", -500, "食費/外食"))
    ledger.add(Row("2025-12-27", -80_000, "住宅/家賃"))
    july = ledger.month(TODAY, "今月")
    assert july.spending == 1_513
    assert july.notes[-2:] == (
        "予定（今日より後の日付の明細）: 1件、支出 500円（上の金額に含みます）",
        "予定（今日より後の日付の明細）: 1件、支出 80,000円（上の金額には含めていません）",
    )
    december = ledger.month(TODAY, "2025年12月")
    assert december.spending == 80_000
    assert december.notes == (
        "予定（今日より後の日付の明細）: 1件、支出 80,000円（上の金額に含みます）",
    )
    year = ledger.trend(TODAY, "支出", period="2025年")
    assert year.months == MonthRange(Month(2025, 1), Month(2025, 7))
    planned = "予定（今日より後の日付の明細）: 1件、支出 80,000円（上の金額には含めていません）"
    assert planned in year.notes
    coming = ledger.trend(TODAY, "支出", period="2025年12月")
    assert coming.categories[0].months[-1].amount == 80_000
    autumn = ledger.month(TODAY, "2025年7月から10月")
    assert autumn.months == MonthRange(Month(2025, 7), Month(2025, 7))
    marks = available_months(Ledger(ledger.connection, ledger.tool_id, TODAY))
    assert [(m.year, m.month) for m in marks if m.is_planned] == [(2025, 12)]
    assert len(marks) == 15


def test_a_ledger_that_ended_months_ago_keeps_its_latest_months(ledger):
    today = date(2026, 2, 1)
    ledger.add(Row("2026-05-01", -5, "食費/外食"))
    assert ledger.month(today, "直近3か月").months == MonthRange(Month(2025, 5), Month(2025, 7))
    assert "データのある最新の12か月（2024年08月〜2025年07月）" in ledger.month(today).understood
    with pytest.raises(InsufficientData, match="利用できる期間は 2024年06月〜2025年07月 です"):
        ledger.month(today, "今月")


WRONG = ("0206-06-15", "2015-06-15", "9999-12-31")


@pytest.mark.parametrize(
    "day", [WRONG[0], pytest.param(WRONG[1], marks=pytest.mark.soak), WRONG[2]]
)
def test_a_row_of_a_wrong_year_moves_no_default_and_is_reported(ledger, day):
    before = [figures(ledger, period) for period in DEFAULTS]
    ledger.add(Row(day, -1_200, "食費/外食"))
    assert [figures(ledger, period) for period in DEFAULTS] == before
    named = f"明細 1件は含めていません: {day} 店 -1,200円（明細.csv 29行目）"
    for answer in (ledger.month(TODAY, "全期間"), ledger.trend(TODAY, period="全期間")):
        assert named in answer.text
        assert len(answer.text) < 4_000
    assert len(ledger.trend(TODAY, "食費", period="1900年から2199年").text) < 4_000
    assert len(available_months(Ledger(ledger.connection, ledger.tool_id, TODAY))) == 15


def test_months_of_wrong_years_are_answered_on_request(ledger):
    ledger.add(Row("1926-06-15", -1_200, "食費/外食"))
    ledger.add(Row("2066-06-15", -66, "食費/外食"))
    old = ledger.trend(TODAY, "食費", period="1926年")
    assert [(str(f.month), f.amount) for f in old.categories[0].months] == [("1926-06", 1_200)]
    assert ledger.month(TODAY, "2066年6月").spending == 66
    both = ledger.month(TODAY, "1926年から2066年").notes
    assert any("明細 2件は含めていません: 1926-06-15" in note for note in both)
    marks = available_months(Ledger(ledger.connection, ledger.tool_id, TODAY))
    assert [(m.year, m.is_astray) for m in (marks[0], marks[1], marks[-1])] == [
        (1926, True), (2024, False), (2066, True),
    ]  # fmt: skip


def test_many_rows_far_away_belong_to_the_ledger_and_long_answers_are_cut(connection):
    rows = [Row(f"{1999 + n % 2}-0{n % 9 + 1}-05", -100, "食費/外食") for n in range(30)]
    rows += [Row(f"{year}-03-05", -100, "食費/外食") for year in range(2004, 2026)]
    ledger = SmallLedger(connection, rows)
    every = ledger.month(TODAY, "全期間")
    assert (every.months.first, every.spending) == (Month(1999, 1), 5_200)
    assert len(every.text) < 4_000
    trend = ledger.trend(TODAY, "食費", period="全期間")
    assert trend.months == MonthRange(Month(2015, 4), Month(2025, 3))
    assert trend.notes[0] == (
        "期間が長いため、最後の 120か月（2015年04月〜2025年03月）だけを示しました"
    )


@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(
        st.builds(
            Row,
            st.dates(date(2023, 1, 1), TODAY).map(str),
            st.one_of(st.none(), st.integers(-9_000, 5_000)),
            st.sampled_from(["食費/外食", "住宅/家賃", "収入/給与", "/"]),
            st.sampled_from([None, None, *FLAGS]),
        ),
        min_size=1, max_size=12,
    ),
    others=st.lists(
        st.one_of(
            st.dates(date(2025, 8, 1), date(2027, 6, 30)),
            st.dates(date(1900, 1, 1), date(2018, 12, 31)),
            st.dates(date(2032, 1, 1), date(2150, 1, 1)),
        ),
        min_size=1, max_size=10,
    ),
    today=st.dates(TODAY, date(2025, 7, 31)),
)  # fmt: skip
def test_no_rows_of_other_times_change_a_figure_of_a_default(connection, rows, others, today):
    with connection:
        ledger = SmallLedger(connection, [Row("2025-07-01", -1, "食費/外食"), *rows])
        before = [figures(ledger, period, today) for period in DEFAULTS]
        for day in others:
            ledger.add(Row(str(day), -123, "食費/外食"))
        assert [figures(ledger, period, today) for period in DEFAULTS] == before
        said = ledger.month(today, "全期間").text
    assert len(said) < 6_000
    planned = sum(date(2025, 8, 1) <= day <= date(2027, 6, 30) for day in others)
    astray = sum(day.year < 2019 or day.year > 2031 for day in others)
    assert (f"予定（今日より後の日付の明細）: {planned}件" in said) == (planned > 0)
    assert (f"明細 {astray}件は含めていません" in said) == (astray > 0)


def test_runs_are_parted_by_three_years_and_few_rows_far_from_today_are_astray():
    months = [Month(2010, 1), Month(2013, 1), Month(2016, 2), Month(2025, 7)]
    runs = runs_of(months, MAX_GAP_MONTHS)
    assert [str(run.first) for run in runs] == ["2010-01", "2016-02", "2025-07"]
    few = [(run, 5) for run in runs]
    assert body_of(few, Month(2025, 7)) == runs[2]
    assert body_of(few, Month(2040, 7)) == runs[2]
    assert body_of(few, Month(2000, 7)) == runs[0]
    assert body_of([(runs[0], 11), *few[1:]], Month(2025, 7)).first == Month(2010, 1)
