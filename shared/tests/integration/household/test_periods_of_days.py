"""Sums of days, and of months that do not start on the 1st, against plain counting."""

import random
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_ledger import FLAGS, Row, SmallLedger
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.dates.months import Days, Month, MonthRange
from mdvec.household import Ledger
from mdvec.household.core.wording import InsufficientData
from mdvec.household.interfaces.ledger_sums import months_with_rows
from mdvec.household.overview import available_months

TODAY = date(2025, 7, 20)
"""A Sunday."""
FIRST = date(2023, 12, 20)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """Rows of every day from December 2023 to today, and some planned ones."""
    choice = random.Random(20250720)
    categories = ["食費/外食", "食費/食料品", "住宅/家賃", "収入/給与", "収入/利息", "/"]
    with open_database(tmp_path_factory.mktemp("ledger") / "l.sqlite", "create") as connection:
        ledger = SmallLedger(connection)
        with connection:
            for number in range((TODAY - FIRST).days + 15):
                for _ in range(choice.randrange(1, 4)):
                    ledger.add(
                        Row(
                            str(FIRST + timedelta(days=number)),
                            choice.choice(
                                [None, *(choice.randrange(-9000, 2000) for _ in range(9))]
                            ),
                            choice.choice(categories),
                            choice.choice([None] * 9 + list(FLAGS)),
                        )
                    )
        yield ledger


def came_to(ledger, days, major=None):
    """Spending and income on these days, and how many rows count, counted row by row."""
    rows = [
        row for row in ledger.rows
        if row.counts and days.first <= date.fromisoformat(row.day) <= days.last
        and major in (None, row.major)
    ]  # fmt: skip
    income = sum(row.amount for row in rows if row.major == "収入")
    return income - sum(row.amount for row in rows), income, len(rows)


@each(
    ("said", "first", "last"),
    [
        ("先週", "2025-07-07", "2025-07-13"), ("昨日", "2025-07-19", "2025-07-19"),
        ("1月10日〜1月20日", "2025-01-10", "2025-01-20"), ("先週末", "2025-07-12", "2025-07-13"),
        ("年末年始", "2024-12-29", "2025-01-03"), ("GW", "2025-04-29", "2025-05-06"),
        ("年初来", "2025-01-01", "2025-07-20"), ("2025年7月2日", "2025-07-02", "2025-07-02"),
    ],
)  # fmt: skip
def test_days_are_summed_exactly_and_named(ledger, said, first, last):
    days = Days(date.fromisoformat(first), date.fromisoformat(last))
    answer = ledger.month(TODAY, said)
    spending, income, used = came_to(ledger, days)
    assert (answer.days, answer.spending, answer.income) == (days, spending, income)
    assert answer.counts.used == used
    assert all(first <= str(row.date) <= last for row in answer.rows)
    assert answer.text.startswith(f"{days.in_words}の家計簿です。")
    assert f"「{said}」を {days.in_words} と解釈しました" in answer.understood
    assert ledger.month(TODAY, said, category="食費").spending == came_to(ledger, days, "食費")[0]


def test_a_day_without_rows_is_zero_yen_and_days_beyond_the_ledger_are_refused(ledger):
    with ledger.connection:
        other = SmallLedger(ledger.connection, [Row("2025-07-01", -5, "食費/外食")])
    answer = other.month(TODAY, "2025年7月2日")
    assert (answer.spending, answer.total_rows) == (0, 0)
    assert "2025年07月の明細はまだ揃っていない可能性があります" in answer.notes
    with pytest.raises(InsufficientData, match="（2025年06月01日〜2025年06月10日）"):
        other.month(TODAY, "6月1日〜6月10日")


def test_a_trend_of_days_shows_the_whole_months_around_them_and_says_so(ledger):
    trend = ledger.trend(TODAY, "支出", period="1月10日〜2月20日")
    assert trend.months == MonthRange(Month(2025, 1), Month(2025, 2))
    assert trend.categories[0].total == came_to(ledger, trend.months.days)[0]
    note = "推移は月ごとのため、2025年01月〜2025年02月を月の初めから終わりまで示しました"
    assert note in trend.notes
    assert not any("推移は月ごと" in note for note in ledger.trend(TODAY, period="6月から").notes)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(starts_on=st.integers(1, 31), ago=st.integers(0, 12))
def test_every_month_of_any_start_is_the_sum_of_its_days(ledger, starts_on, ago):
    month = Month.of(TODAY, starts_on).plus(-ago)
    spending, income, used = came_to(ledger, month.days)
    asked = {"starts_on": starts_on}
    answer = ledger.month(TODAY, f"{ago}か月前" if ago else "今月", **asked)
    assert (answer.days, answer.spending, answer.income) == (month.days, spending, income)
    assert answer.counts.used == used
    assert answer.text.startswith(f"{month.in_words}の家計簿です。")
    trend = ledger.trend(TODAY, "支出", period="直近1年", **asked)
    now = MonthRange(Month.of(TODAY, starts_on).plus(-11), Month.of(TODAY, starts_on))
    assert trend.months == now
    assert [(figure.month, figure.amount) for figure in trend.categories[0].months] == [
        (one, came_to(ledger, one.days)[0]) for one in now
    ]


@given(st.integers(1, 31))
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_months_with_rows_are_those_of_their_days_on_any_start(ledger, starts_on):
    days = sorted({date.fromisoformat(row.day) for row in ledger.rows})
    wanted = sorted({Month.of(day, starts_on) for day in days})
    read = Ledger(ledger.connection, ledger.tool_id, TODAY, starts_on)
    assert months_with_rows(read) == wanted
    marks = available_months(read)
    assert [(m.first_day, m.last_day) for m in marks] == [
        (str(month.first_day), str(month.last_day)) for month in wanted
    ]
    assert sum(mark.rows for mark in marks) == len(ledger.rows)


def test_rows_of_the_first_and_last_days_that_exist_are_in_months_of_any_start(ledger):
    with ledger.connection:
        other = SmallLedger(ledger.connection)
        for day in ("0001-01-01", "9999-12-31", "2025-02-28", "2024-02-29", "2025-07-01"):
            other.add(Row(day, -1, "食費/外食"))
    for starts_on in (1, 2, 26, 29, 30, 31):
        asked = {"starts_on": starts_on}
        assert other.month(TODAY, "全期間", **asked).spending == 3
        assert other.trend(TODAY, "食費", period="2025年2月〜3月", **asked).categories[0].total == 1
