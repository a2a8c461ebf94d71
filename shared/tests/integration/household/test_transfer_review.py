"""Transfers that their statements do not mark, reviewed beside duplicates."""

from datetime import date

import pytest
from plan_ledger import Bought, household

from mdvec.household import deciding, review
from mdvec.household.core.pair import DetectionOptions
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
    ledger = household(connection, ROWS, today=date(2025, 8, 1))
    review.detect(ledger, DetectionOptions())
    return ledger


def decide(ledger, check_id, decision, **how):
    return deciding.confirm(ledger, check_id, deciding.ReviewDecision(decision, **how))


def sums(ledger, month="2025年6月"):
    found = monthly_household(ledger, period=month)
    return found.spending, found.income, found.counts.transfer


def candidates(ledger):
    return review.list_candidates(ledger).candidates


def test_both_rows_of_a_decided_transfer_leave_the_sums_and_either_brings_both_back(ledger):
    check_id = candidates(ledger)[0].check_id
    done = decide(ledger, check_id, "duplicate")
    assert done.marked_transaction_ids == (1, 2)
    assert sums(ledger) == (2_000, 0, 2)
    again = deciding.restore(ledger, 2)
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
    check_id = candidates(ledger)[0].check_id
    decide(ledger, check_id, "duplicate")
    ledger.connection.execute("UPDATE transactions SET removal = 'removed' WHERE id = 2")
    update_marks(ledger)
    assert sums(ledger) == (5_000, 0, 0)


def test_a_decided_transfer_whose_amount_a_later_export_changes_says_that_they_differ(ledger):
    check_id = candidates(ledger)[0].check_id
    decide(ledger, check_id, "duplicate")
    ledger.connection.execute("UPDATE transactions SET amount = -2900 WHERE id = 1")
    shown = review.candidate_detail(ledger, check_id)
    assert (shown.user_decision, shown.amount_diff) == ("duplicate", 100)
    assert shown.reasons[0] == "見つけたときは同じ金額だったが、今は金額が違う"
    assert not any("同じ金額が" in reason for reason in shown.reasons)


def test_the_duplicate_of_a_transfers_end_stays_out_of_the_sums(ledger):
    ledger.connection.execute(
        "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, amount,"
        " description, category_major, category_minor, account, memo, is_target, is_transfer) "
        "SELECT tool_id, 'twice', 'twice', source_file, 99, date, amount, description, "
        "category_major, category_minor, 'アプリ', memo, 1, 0 FROM transactions WHERE id = 1"
    )
    review.detect(ledger, DetectionOptions())
    (twice,) = [one for one in candidates(ledger) if not one.is_transfer]
    decide(ledger, twice.check_id, "duplicate", keep=1)
    check_id = next(one.check_id for one in candidates(ledger) if one.transaction_2.id == 2)
    decide(ledger, check_id, "duplicate")
    assert sums(ledger) == (2_000, 0, 2)


BANK = "日付,摘要,摘要内容,支払い金額,預かり金額,差引残高,メモ"
PAYPAY = "取引日,出金金額(円),入金金額(円),取引内容,取引先,取引方法,取引番号"


@pytest.mark.parametrize("text", ["PayPay チャージ", "ＰａｙＰａｙ"])
def test_a_charge_that_the_wallet_marks_is_in_doubt_until_the_banks_row_is_decided(folder, text):
    """Another payment of the same amount is not taken for it."""
    banks = [("2", "口座振替", "電気", 5_000), ("3", "口座振替", text, 5_000),
             ("20", "口座振替", text, 3_000), ("21", "カード", "米店", 700)]  # fmt: skip
    folder.put(
        "bank.csv",
        "\r\n".join(
            [BANK, *(f"2025/6/{day},{kind},{name},{yen},,," for day, kind, name, yen in banks)]
        ),
    )
    bank = "三菱UFJ銀行"
    wallets = [("03", "-", "5000", "チャージ", bank), ("22", "-", "3000", "チャージ", bank),
               ("21", "-", "700", "チャージ", "ATM"),
               ("23", "5500", "-", "支払い", "薬局")]  # fmt: skip
    folder.put(
        "paypay.csv",
        "\r\n".join([PAYPAY, *(f"2025/06/{day} 09:00:00,{out},{into},{kind},{name},x,9{number}"
                               for number, (day, out, into, kind, name) in enumerate(wallets))]),
    )  # fmt: skip
    folder.import_()
    ledger = folder.as_of(date(2025, 8, 1))
    review.detect(ledger, DetectionOptions())
    june = monthly_household(ledger, period="2025年6月")
    assert june.spending == 19_200
    assert any("振替かもしれない 2件（支出 8,000円）" in note for note in june.notes)
    first, second = (one for one in candidates(ledger) if one.is_transfer)
    assert text in first.transaction_1.description
    assert {row.description for one in (first, second) for row in
            (one.transaction_1, one.transaction_2)} >= {bank}  # fmt: skip
    assert [one.is_likely for one in (first, second)] == [True, True]
    done = decide(ledger, first.check_id, "duplicate", alike=True)
    assert len(done.marked_transaction_ids) == 4
    assert sums(ledger)[:2] == (11_200, 0)
    review.detect(ledger, DetectionOptions())
    assert not any(one.is_transfer for one in candidates(ledger))
    deciding.restore(ledger, done.marked_transaction_ids[0])
    assert sums(ledger)[0] in (14_200, 16_200)
    folder.import_("replace")
    assert sums(ledger)[0] in (14_200, 16_200)


@pytest.mark.parametrize("text", ["PAYPAY", "ﾍﾟｲﾍﾟｲ"])
def test_the_wallets_name_alone_in_a_banks_row_makes_a_candidate_that_tells_why(folder, text):
    folder.put("smbc.csv", "年月日,お引出し,お預入れ,お取り扱い内容,残高,メモ,ラベル\n"
               f'2025/6/2,5000,,"{text}",95000,"",\n2025/6/3,700,,"米店",94300,"",\n')  # fmt: skip
    folder.put("paypay.csv", f"{PAYPAY}\n2025/06/01 09:00:00,-,5000,チャージ,銀行,x,91\n"
               "2025/06/04 09:00:00,700,-,支払い,薬局,x,92\n")  # fmt: skip
    folder.import_()
    ledger = folder.as_of(date(2025, 8, 1))
    review.detect(ledger, DetectionOptions())
    assert sums(ledger)[0] == 6_400
    (transfer,) = (one for one in candidates(ledger) if one.is_transfer)
    assert transfer.reasons[1] == "内容がもう一方の口座の店や決済サービスを指している"
    decide(ledger, transfer.check_id, "duplicate")
    assert sums(ledger)[0] == 1_400


def test_a_charge_whose_two_rows_are_marked_is_no_candidate_with_a_third(connection):
    ledger = household(connection, [*ROWS[:2], Bought("2025-06-10", "ICカード 振込", -3_000)])
    connection.execute("UPDATE transactions SET is_transfer = 1 WHERE id <= 2")
    review.detect(ledger, DetectionOptions())
    assert candidates(ledger) == ()


def test_what_a_bank_and_its_wallet_come_to_before_and_after_both_directions_are_decided(folder):
    """16,000 are charged and 4,000 come back; 11,955 are spent: 27,955 until that is decided.

    The wallet's own rows of both directions are transfers, so only the bank's are in doubt.
    """
    bank = [("01", "PayPay チャージ", "10000", ""), ("09", "PayPay チャージ", "6000", ""),
            ("10", "電気", "5000", ""), ("21", "PayPay 出金", "", "4000")]  # fmt: skip
    folder.put("bank.csv", "\r\n".join(
        [BANK, *(f"2025/6/{day},口座振替,{text},{out},{into},," for day, text, out, into in bank)]
    ))  # fmt: skip
    wallet = [("01", "-", "10000", "チャージ", "三菱UFJ銀行"),
              ("09", "-", "6000", "チャージ", "三菱UFJ銀行"),
              ("12", "4955", "-", "支払い", "薬局"), ("13", "2000", "-", "支払い", "パン屋"),
              ("20", "4000", "-", "出金", "三菱UFJ銀行")]  # fmt: skip
    folder.put("paypay.csv", "\r\n".join([PAYPAY, *(
        f"2025/06/{day} 09:00:00,{out},{into},{kind},{name},x,9{number}"
        for number, (day, out, into, kind, name) in enumerate(wallet)
    )]))  # fmt: skip
    folder.import_()
    ledger = folder.as_of(date(2025, 8, 1))
    review.detect(ledger, DetectionOptions())
    june = monthly_household(ledger, period="2025年6月")
    assert (june.spending, june.income) == (27_955, 4_000)
    assert any(
        "振替かもしれない" in note and "支出 16,000円、収入 4,000円" in note for note in june.notes
    )
    for transfer in candidates(ledger):
        assert transfer.is_transfer
        decide(ledger, transfer.check_id, "duplicate")
    assert sums(ledger) == (11_955, 0, 6)
