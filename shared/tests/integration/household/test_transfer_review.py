"""Transfers that their statements do not mark, reviewed beside duplicates."""

from datetime import date

import pytest
from plan_ledger import Bought, fill

from mdvec.household import deciding, review
from mdvec.household.core.detection import DetectionOptions
from mdvec.household.interfaces.marks import update_marks
from mdvec.household.month import monthly_household

ROWS = [
    Bought("2025-06-10", "ICカード チャージ", -3_000, "未分類/未分類", "カード"),
    Bought("2025-06-10", "入金", 3_000, "収入/その他入金", "ICカード"),
    Bought("2025-07-10", "ICカード チャージ", -5_000, "未分類/未分類", "カード"),
    Bought("2025-07-11", "入金", 5_000, "収入/その他入金", "ICカード"),
    Bought("2025-06-12", "スーパー", -2_000),
]


@pytest.fixture
def ledger(connection):
    """Two charges of a transit card, each as spending and as income, and a purchase."""
    tool_id = fill(connection, ROWS)
    review.detect(connection, tool_id, DetectionOptions())
    return connection, tool_id


def decide(ledger, check_id, decision, **how):
    connection, tool_id = ledger
    return deciding.confirm(connection, tool_id, check_id, deciding.ReviewDecision(decision, **how))


def sums(ledger, month="2025年6月"):
    found = monthly_household(*ledger, period=month, today=date(2025, 8, 1))
    return found.spending, found.income, found.counts.transfer


def candidates(ledger):
    return review.list_candidates(*ledger).candidates


def test_a_transfer_is_a_candidate_with_its_reasons_and_counts_until_it_is_decided(ledger):
    assert sums(ledger) == (5_000, 3_000, 0)
    first, second = candidates(ledger)
    assert (first.is_transfer, first.is_likely, first.amount_diff) == (True, True, 0)
    assert (second.alike_count, second.date_diff_days) == (1, 1)
    assert "同じ金額が" in first.reasons[0]


def test_both_rows_of_a_decided_transfer_leave_the_sums_and_either_brings_both_back(ledger):
    check_id = candidates(ledger)[0].check_id
    done = decide(ledger, check_id, "duplicate")
    assert done.marked_transaction_ids == (1, 2)
    assert sums(ledger) == (2_000, 0, 2)
    connection, tool_id = ledger
    again = deciding.restore(connection, tool_id, 2)
    assert "取引ID 1" in again.message
    assert sums(ledger) == (5_000, 3_000, 0)
    assert [one.transaction_1.id for one in candidates(ledger)] == [3]


def test_transfers_between_the_same_accounts_are_decided_and_taken_back_together(ledger):
    check_id = candidates(ledger)[0].check_id
    decide(ledger, check_id, "duplicate", alike=True)
    assert (sums(ledger), sums(ledger, "2025年7月")) == ((2_000, 0, 2), (0, 0, 2))
    decide(ledger, check_id, "not_duplicate", alike=True)
    assert (sums(ledger), sums(ledger, "2025年7月")) == ((5_000, 3_000, 0), (5_000, 5_000, 0))


def test_no_row_of_a_transfer_can_be_kept(ledger):
    check_id = candidates(ledger)[0].check_id
    with pytest.raises(deciding.KeepInTransfer):
        decide(ledger, check_id, "duplicate", keep=1)


def test_a_row_counts_again_if_the_other_end_leaves_the_ledger(ledger):
    connection, tool_id = ledger
    check_id = candidates(ledger)[0].check_id
    decide(ledger, check_id, "duplicate")
    connection.execute("UPDATE transactions SET removal = 'removed' WHERE id = 2")
    update_marks(connection, tool_id)
    assert sums(ledger) == (5_000, 0, 0)


def test_the_duplicate_of_a_transfers_end_stays_out_of_the_sums(ledger):
    connection, tool_id = ledger
    connection.execute(
        "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, amount,"
        " description, category_major, category_minor, account, memo, is_target, is_transfer) "
        "SELECT tool_id, 'twice', 'twice', source_file, 99, date, amount, description, "
        "category_major, category_minor, 'アプリ', memo, 1, 0 FROM transactions WHERE id = 1"
    )
    review.detect(connection, tool_id, DetectionOptions())
    (twice,) = [one for one in candidates(ledger) if not one.is_transfer]
    decide(ledger, twice.check_id, "duplicate", keep=1)
    check_id = next(one.check_id for one in candidates(ledger) if one.transaction_2.id == 2)
    decide(ledger, check_id, "duplicate")
    assert sums(ledger) == (2_000, 0, 2)


def test_the_months_answer_tells_once_of_transfers_that_an_import_found(connection):
    tool_id = fill(connection, ROWS)
    review.detect(connection, tool_id, DetectionOptions(), by_user=False)
    assert review.count_news(connection, tool_id) == (0, 2, 0)
    assert "振替らしいのに収入と支出に入っている組が2件" in review.take_news(connection, tool_id)
    assert review.take_news(connection, tool_id) == ""
