"""The first month of a ledger, which begins within it: in sums, changes, means and comparisons."""

from datetime import date, timedelta

import pytest
from ledger_folder import line

from mdvec.dates import Month
from mdvec.household.comparison import compare_periods
from mdvec.household.english import in_english
from mdvec.household.month import monthly_household
from mdvec.household.overview import available_months
from mdvec.household.trend import category_trend

TODAY = date(2025, 9, 5)
STATED = "収入・支出詳細_2025-06-20_2025-08-31.csv"


def of_each_day(folder, name, first, last=date(2025, 8, 31)):
    """A ledger of one purchase a day for 1,000 yen."""
    days = (first + timedelta(n) for n in range((last - first).days + 1))
    rows = [line(str(day), -1000, f"{day:%Y/%m/%d}") for day in days]
    folder.write(name, *rows, saved=date(2025, 9, 1))
    folder.import_()
    return folder.connection, folder.tool


def test_a_first_month_of_which_days_are_missing_is_marked_wherever_it_counts(folder):
    ledger = of_each_day(folder, STATED, date(2025, 6, 20))
    note = "2025年06月の明細は 2025-06-20 からです"
    trend = category_trend(*ledger, category="支出", period="全期間", today=TODAY)
    assert "- 2025年06月（途中）: 11,000円" in trend.text
    assert "- 3か月平均（途中の月を含む）: 24,333円" in trend.text
    assert trend.running == (Month(2025, 6),)
    assert note in trend.notes
    without_june = category_trend(*ledger, category="支出", period="2025年8月", today=TODAY)
    assert "- 3か月平均（途中の月を含む）: 24,333円" in without_june.text
    assert (without_june.running, note in without_june.notes) == ((), True)
    compared = compare_periods(*ledger, period="2025-07", base="前月", today=TODAY)
    assert note in compared.notes
    assert available_months(ledger[0], ledger[1], TODAY)[0].may_be_filling
    assert "the rows of 2025-06 begin on 2025-06-20" in in_english(trend.text)


def test_a_clipped_period_is_said_to_begin_where_the_data_do(folder):
    ledger = of_each_day(folder, STATED, date(2025, 6, 20))
    month = monthly_household(*ledger, period="2025-05-01/2025-07-10", today=TODAY)
    assert "データのある 2025年06月20日〜2025年07月10日 だけを対象にしました" in month.notes


@pytest.mark.parametrize("period", ["2025-06-20/2025-06-30", "2025年7月", "2025年8月"])
def test_days_that_the_ledger_has_completely_are_not_marked(folder, period):
    ledger = of_each_day(folder, STATED, date(2025, 6, 20))
    month = monthly_household(*ledger, period=period, today=TODAY)
    assert month.running == ()
    assert not any("からです" in note for note in month.notes)


@pytest.mark.parametrize(
    ("name", "first_row", "starts_on", "is_marked", "told"),
    [
        ("収入・支出詳細_2025-06-01_2025-08-31.csv", 20, 1, False, False),
        ("収入・支出詳細_2025-06-02_2025-08-31.csv", 2, 1, True, True),
        ("収入・支出詳細_2025-06-01_2025-08-31.csv", 1, 26, True, True),
        ("明細.csv", 20, 1, True, True),
        ("明細.csv", 8, 1, True, True),
        ("明細.csv", 3, 1, False, True),  # a household may buy nothing for two days
        ("明細.csv", 1, 1, False, False),
    ],
)
def test_the_name_of_a_file_tells_where_it_begins_or_else_its_first_row(
    folder, name, first_row, starts_on, is_marked, told
):
    ledger = of_each_day(folder, name, date(2025, 6, first_row))
    trend = category_trend(
        *ledger, category="支出", period="全期間", month_starts_on=starts_on, today=TODAY
    )
    assert (Month(2025, 6, starts_on) in trend.running) is is_marked
    assert any("からです" in note for note in trend.notes) is told
