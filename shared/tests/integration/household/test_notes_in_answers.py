"""Notes and tags where rows are shown and searched; months of groups that start on any day."""

from datetime import date
from functools import partial

import pytest
from ledger_folder import JULY, line
from plan_ledger import Bought, household

from mdvec.household.budgeting import budget_status
from mdvec.household.comparison import compare_periods
from mdvec.household.core.budgets import Budget
from mdvec.household.core.categories import Total
from mdvec.household.expense_lists import expense_list, fixed_and_variable_costs
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.habits import find_anomalies, forecast_spending, list_recurring_payments
from mdvec.household.interfaces import plans
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.notes import note_row
from mdvec.household.row_filters import RowFilter
from mdvec.household.trend import category_trend

TODAY = date(2025, 8, 1)


def test_a_rows_note_and_tags_are_shown_in_the_month(connection):
    ledger = household(
        connection,
        [Bought("2025-06-03", "宿", -30_000), Bought("2025-06-04", "茶", -500)],
        today=TODAY,
    )
    note_row(ledger, transaction_id=1, note="母の還暦", tags=["家族旅行"])
    answer = monthly_household(ledger, period="2025年6月")
    assert (
        "- 2025-06-03 宿 -30,000円 食費 > 食料品 カード 「母の還暦」 #家族旅行 [1 A:2]"
        in answer.text
    )
    assert [row.note for row in answer.rows] == ["母の還暦", ""]
    assert [row.tags for row in answer.rows] == [("家族旅行",), ()]


@pytest.mark.parametrize("words", ["旅行", "家族旅行", "還暦", "＃家族旅行", "宿 還暦"])
def test_rows_are_found_by_their_note_and_tags(connection, words):
    ledger = household(
        connection,
        [Bought("2025-06-03", "宿", -30_000), Bought("2025-06-04", "茶", -500)],
        today=TODAY,
    )

    def found():
        return find_transactions(ledger, RowFilter(query=words), ListingOptions())

    assert found().total_rows == 0
    note_row(ledger, transaction_id=1, note="母の還暦", tags=["家族旅行"])
    answer = found()
    assert (answer.total_rows, answer.spending) == (1, 30_000)
    assert "「母の還暦」 #家族旅行" in answer.text
    note_row(ledger, transaction_id=1)
    assert found().total_rows == 0


@pytest.mark.parametrize(
    ("starts_on", "groups"),
    [
        (1, {"2025-05": 3, "2025-06": 12, "2025-07": 16}),
        (26, {"2025-05": 1, "2025-06": 6, "2025-07": 24}),
        (31, {"2025-05": 1, "2025-06": 6, "2025-07": 24}),
    ],
)
def test_groups_by_month_follow_the_day_on_which_months_start(connection, starts_on, groups):
    days = ("2025-05-25", "2025-05-31", "2025-06-25", "2025-06-30", "2025-07-01")
    rows = [Bought(day, "店", -(2**at)) for at, day in enumerate(days)]
    ledger = household(connection, rows, today=TODAY, month_starts_on=starts_on)
    answer = find_transactions(ledger, RowFilter(), ListingOptions(group_by="month"))
    assert {one.name: one.spending for one in answer.groups} == groups
    for name, spending in groups.items():
        month = monthly_household(ledger, period=name)
        assert month.spending == spending


def test_every_answer_with_figures_has_the_notes_on_the_rows_behind_them(folder):
    """Rows that wait for a decision, rows that could not be read, and rows that two files have."""
    bought = [line(f"m{n}", -1000 - n, f"2025/07/{n:02}", shop=f"病院{n}") for n in range(1, 32)]
    bought = [each.replace("食費,食料品", "健康・医療,医療費") for each in bought]
    folder.write(f"{JULY}.csv", *bought)
    folder.import_()
    folder.write(f"{JULY} (1).csv", *bought[-5:], saved=date(2025, 8, 20))
    folder.write("手書き.csv", line("", "1.5"), saved=date(2025, 8, 1))
    card = '"利用日","利用店名・商品名","利用者","支払方法","利用金額","支払手数料","支払総額"'
    for name, days in (("enavi202507(1111).csv", (3, 10)), ("enavi202508(1111).csv", (10, 20))):
        rows = (f'"2025/07/{day}","店","本人","1回払い","3{day}","0","3{day}"' for day in days)
        folder.put(name, "\r\n".join([card, *rows, ""]), saved=date(2025, 8, 9))
    assert len(folder.import_().asked) == 26
    ledger = folder.as_of(TODAY)
    plans.put_budget(ledger, Budget(Total.SPENDING, "month", 1))
    words = partial(find_transactions, ledger, listing=ListingOptions())
    for answer in (
        monthly_household(ledger, period="2025-07"),
        words(wanted=RowFilter()),
        words(wanted=RowFilter(period="2025-07", rows="all")),
        words(wanted=RowFilter(query="病院|店", category="支出")),
        find_transactions(ledger, RowFilter(), ListingOptions(group_by="week")),
        category_trend(ledger, category="支出"),
        compare_periods(ledger, period="2025-07", base="2025-07"),
        budget_status(ledger),
        fixed_and_variable_costs(ledger),
        expense_list(ledger, "medical"),
        list_recurring_payments(ledger),
        forecast_spending(ledger),
        find_anomalies(ledger),
        combined_households({"kakeibo": ledger}),
    ):
        told = "\n".join(answer.notes)
        assert "を、確認待ちのため集計に含めています" in told, answer
        assert "手書き.csvに読めないか円でない行が 1件あり" in told, answer
        assert "のように 1回だけ数えています" in told, answer
        assert all(note in answer.text for note in answer.notes)
    counted = monthly_household(ledger, category="未分類")
    assert "確認待ち" not in counted.text  # the rows that wait are of another category


def test_a_category_without_rows_in_a_period_says_where_it_has_some(connection):
    rows = [
        Bought("2025-02-03", "電力", -900, "光熱費/電気代"),
        Bought("2025-03-03", "電力", -800, "光熱費/電気代", counts=False),
        *(Bought(f"2025-{month:02}-05", "茶", -500) for month in range(1, 7)),
    ]
    ledger = household(connection, rows, today=TODAY)
    said = "カテゴリ「光熱費 > 電気代」には、この期間に集計に入る明細がありません"

    def told(category, first, last):
        stated = {"since": first, "until": last}
        return {
            tuple(note for note in answer.notes if "この期間に集計に入る明細" in note)
            for answer in (
                monthly_household(ledger, category=category, **stated),
                category_trend(ledger, category=category, **stated),
                compare_periods(ledger, category=category, base="前の期間", **stated),
            )
        }

    assert told("電気代", "2025-05", "2025-05") == {(f"{said}（最後は 2025-02-03）",)}
    assert told("食費", "2025-05", "2025-05") == {()}
    early = monthly_household(ledger, category="電気代", period="2025年1月").notes
    assert f"{said}（最初は 2025-02-03）" in early
