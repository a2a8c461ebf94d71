"""Notes and tags where rows are shown and searched; months of groups that start on any day."""

from datetime import date

import pytest
from plan_ledger import Bought, fill

from mdvec.household.finding import ListingOptions, RowFilter, find_transactions
from mdvec.household.month import monthly_household
from mdvec.household.notes import note_row

TODAY = date(2025, 8, 1)


def test_a_rows_note_and_tags_are_shown_in_the_month(connection):
    tool = fill(connection, [Bought("2025-06-03", "宿", -30_000), Bought("2025-06-04", "茶", -500)])
    note_row(connection, tool, transaction_id=1, note="母の還暦", tags=["家族旅行"])
    answer = monthly_household(connection, tool, period="2025年6月", today=TODAY)
    assert (
        "- 2025-06-03 宿 -30,000円 食費 > 食料品 カード 「母の還暦」 #家族旅行 [1 A:2]"
        in answer.text
    )
    assert [row.note for row in answer.rows] == ["母の還暦", ""]
    assert [row.tags for row in answer.rows] == [("家族旅行",), ()]


@pytest.mark.parametrize("words", ["旅行", "家族旅行", "還暦", "＃家族旅行", "宿 還暦"])
def test_rows_are_found_by_their_note_and_tags(connection, words):
    tool = fill(connection, [Bought("2025-06-03", "宿", -30_000), Bought("2025-06-04", "茶", -500)])

    def found():
        return find_transactions(
            connection, tool, RowFilter(query=words), ListingOptions(), TODAY
        )  # fmt: skip

    assert found().total_rows == 0
    note_row(connection, tool, transaction_id=1, note="母の還暦", tags=["家族旅行"])
    answer = found()
    assert (answer.total_rows, answer.spending) == (1, 30_000)
    assert "「母の還暦」 #家族旅行" in answer.text
    note_row(connection, tool, transaction_id=1)
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
    tool = fill(connection, [Bought(day, "店", -(2**at)) for at, day in enumerate(days)])
    listing = ListingOptions(group_by="month", month_starts_on=starts_on)
    answer = find_transactions(connection, tool, RowFilter(), listing, TODAY)
    assert {one.name: one.spending for one in answer.groups} == groups
    for name, spending in groups.items():
        month = monthly_household(
            connection, tool, period=name, month_starts_on=starts_on, today=TODAY
        )
        assert month.spending == spending
