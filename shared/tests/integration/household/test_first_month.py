"""The first month of a ledger, which begins within it: in sums, changes, means and comparisons."""

from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from itertools import combinations_with_replacement

import pytest
from ledger_folder import line

from mdvec.dates import Month
from mdvec.errors import MdvecError
from mdvec.household.budgeting import budget_status, set_budget
from mdvec.household.comparison import compare_periods
from mdvec.household.english import in_english
from mdvec.household.expense_lists import expense_list, fixed_and_variable_costs
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.habits import find_anomalies, forecast_spending
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.overview import available_months
from mdvec.household.row_filters import RowFilter
from mdvec.household.trend import category_trend

TODAY = date(2025, 9, 5)
STATED = "収入・支出詳細_2025-06-20_2025-08-31.csv"


def of_each_day(folder, name, first, last=date(2025, 8, 31)):
    """A ledger of one purchase a day for 1,000 yen."""
    days = (first + timedelta(n) for n in range((last - first).days + 1))
    rows = [line(str(day), -1000, f"{day:%Y/%m/%d}") for day in days]
    folder.write(name, *rows, saved=date(2025, 9, 1))
    folder.import_()
    return folder.as_of(TODAY)


def test_a_first_month_of_which_days_are_missing_is_marked_wherever_it_counts(folder):
    ledger = of_each_day(folder, STATED, date(2025, 6, 20))
    note = "2025年06月の明細は 2025-06-20 からです"
    trend = category_trend(ledger, category="支出", period="全期間")
    assert "- 2025年06月（途中）: 11,000円" in trend.text
    assert "- 3か月平均（揃っていない月を含む）: 24,333円" in trend.text
    assert "- まる2か月平均: 31,000円" in trend.text
    assert "mean of the 2 complete months: ¥31,000" in in_english(trend.text)
    assert trend.running == (Month(2025, 6),)
    assert note in trend.notes
    without_june = category_trend(ledger, category="支出", period="2025年8月")
    assert "- 3か月平均（揃っていない月を含む）: 24,333円" in without_june.text
    assert (without_june.running, note in without_june.notes) == ((), True)
    compared = compare_periods(ledger, period="2025-07", base="前月")
    assert note in compared.notes
    assert available_months(ledger)[0].may_be_filling
    assert "the rows of 2025-06 begin on 2025-06-20" in in_english(trend.text)


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
        replace(ledger, month_starts_on=starts_on), category="支出", period="全期間"
    )
    assert (Month(2025, 6, starts_on) in trend.running) is is_marked
    assert any("からです" in note for note in trend.notes) is told


DAYS = ["2019-03-10", "2019-03-20", "2019-12-01", "2025-05-20", "2025-06-01", "2025-06-10",
        "2025-06-19", "2025-06-20", "2025-06-30", "2025-07-15", "2025-08-31", "2025-09-10",
        "2031-02-01", "2031-02-03"]  # fmt: skip
FEW_DAYS = ["2019-03-10", "2025-06-10", "2025-06-20", "2025-09-10", "2031-02-03"]
STRAYS = {"2019-03-10": 777, "2031-02-03": 55}
MONTH, COMPARE = monthly_household, compare_periods


@pytest.mark.parametrize(
    ("name", "today", "bounds"),
    [
        pytest.param("明細.csv", date(2019, 1, 1), FEW_DAYS, id="planned"),
        pytest.param(STATED, TODAY, FEW_DAYS, id="past"),
        *(
            pytest.param(name, today, DAYS, marks=pytest.mark.soak)
            for name in ("明細.csv", STATED)
            for today in (date(2019, 1, 1), TODAY)
        ),
    ],
)
def test_every_period_of_days_is_answered_or_refused_in_a_sentence(folder, name, today, bounds):
    strays = [line(day, -yen, day.replace("-", "/")) for day, yen in STRAYS.items()]
    folder.write("手書き.csv", *strays, saved=date(2025, 9, 1))
    ledger = replace(of_each_day(folder, name, date(2025, 6, 20)), today=today)
    households = partial(combined_households, {"一": ledger, "二": ledger})
    for first, last in combinations_with_replacement(bounds, 2):
        asked = f"{first}/{last}"
        for answer in (
            partial(MONTH, ledger), partial(COMPARE, ledger), households,
            partial(COMPARE, ledger, base="2025-06-01/2025-06-10"),
            partial(fixed_and_variable_costs, ledger), partial(expense_list, ledger, "medical"),
        ):  # fmt: skip
            with suppress(MdvecError):
                assert answer(period=asked).text
        with suppress(MdvecError):
            month = MONTH(ledger, period=asked)
            days = [date(2025, 6, 20) + timedelta(n) for n in range(73)]
            shown = [str(day) for day in days if str(month.days.first) <= str(day)]
            spent = 1_000 * sum(day <= str(month.days.last) for day in shown)
            strayed = sum(
                yen for day, yen in STRAYS.items()
                if str(month.days.first) <= day <= str(month.days.last)
            )  # fmt: skip
            assert month.spending == spent + strayed


def test_days_before_the_first_row_are_said_to_be_before_it(folder):
    ledger = of_each_day(folder, "明細.csv", date(2025, 6, 20))
    note = "2025年06月の明細は 2025-06-20 からです"
    for period in ("2025-06-01/2025-06-10", "2025-05-20/2025-06-10"):
        month = MONTH(ledger, period=period)
        assert (month.spending, note in month.notes) == (0, True)
        assert not any("データのある" in each for each in month.notes)
    assert note in COMPARE(ledger, period="2025-06-20/2025-06-30").notes


def test_a_stray_row_long_before_the_others_is_still_found_by_its_day(folder):
    folder.write("手書き.csv", line("x", -777, "2019/03/10"))
    ledger = of_each_day(folder, "明細.csv", date(2025, 6, 20))
    month = MONTH(ledger, since="2019-03-10", until="2019-03-10")
    assert (month.spending, [each for each in month.notes if "からです" in each]) == (777, [])


def test_a_month_before_the_rows_of_a_file_is_not_said_to_begin_within_it(folder):
    name = "収入・支出詳細_2025-05-10_2025-08-31.csv"
    ledger = of_each_day(folder, name, date(2025, 6, 2))
    wanted = RowFilter(query="ない", period="2025年5月")
    found = find_transactions(ledger, wanted, ListingOptions())
    assert "この期間の明細は 1件もありません" in found.text
    assert "からです" not in found.text


@pytest.mark.parametrize(
    ("other", "row", "told"),
    [
        ("card_2025-05-16_2025-07-15.csv", ("2025/07/02", "カード"), "明細は 2025-06-20"),
        ("card_2025-06-16_2025-07-15.csv", ("2025/07/02", "カード"), "明細は 2025-06-20"),
        ("card_2025-06-16_2025-07-15.csv", ("2025/06/20", "カード"), "明細は 2025-06-20"),
        (
            "収入・支出詳細_2025-06-16_2025-06-30.csv",
            ("2025/06/20", "財布"),
            "ファイルは 2025-06-16",
        ),
        ("収入・支出詳細_2025-06-01_2025-06-30.csv", ("2025/06/20", "財布"), None),
    ],
)
def test_only_a_file_of_the_first_row_tells_where_its_account_begins(folder, other, row, told):
    day, account = row
    folder.write(f"他/{other}", line("other", -1, day, account=account), saved=date(2025, 9, 1))
    ledger = of_each_day(folder, f"夫/{STATED}", date(2025, 6, 20))
    trend = category_trend(ledger, category="支出", period="全期間")
    assert (Month(2025, 6) in trend.running) is (told is not None)
    notes = [note for note in trend.notes if "からです" in note]
    assert notes == ([f"2025年06月の明細{told.removeprefix('明細')} からです"] if told else [])


@pytest.mark.parametrize("first", [date(2025, 6, 1), date(2025, 6, 20)])
def test_a_yearly_budget_expects_what_the_days_with_rows_tell_and_names_the_first(folder, first):
    ledger = of_each_day(folder, "明細.csv", first)
    set_budget(ledger, category="支出", amount=500_000, per="year")
    year = budget_status(ledger, period="2025年8月")
    spent = 1_000 * (date(2025, 8, 31) - first).days + 1_000
    assert year.statuses[0].expected == spent + 122_000
    note = f"毎年の予算では、明細のない {first} より前を、使った金額にも見込みにも数えていません"
    assert note in year.notes
    assert f"nothing before {first}" in in_english(year.text)


@pytest.mark.parametrize("name", [STATED, "明細.csv"])
def test_the_usual_month_is_not_one_of_which_days_are_stated_to_be_missing(folder, name):
    ledger = of_each_day(folder, name, date(2025, 6, 20), date(2025, 10, 31))
    forecast = forecast_spending(replace(ledger, today=date(2025, 11, 1)))
    usual = 31_000 if name == STATED else 30_500  # else June is one of the four months
    assert {month.other for month in forecast.months[1:]} == {usual}
    unusual = find_anomalies(replace(ledger, today=date(2025, 11, 1)))
    for answer in (forecast, unusual):
        assert "2025年06月の明細は 2025-06-20 からです" in answer.notes
