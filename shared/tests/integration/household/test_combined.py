"""Two households in one view, against plain counting of the rows."""

from datetime import date

import pytest
from plan_ledger import Bought, household

from mdvec.household.core.wording import EmptyLedger, InsufficientData
from mdvec.household.deciding import InvalidDecision, KeepInTransfer, RowNotInCandidate, restore
from mdvec.household.english import in_english
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.review import DuplicateResolutionError
from mdvec.household.sharing import decide_shared

TODAY = date(2025, 6, 20)


def households(connection, hers, his):
    """The ledgers of both by name."""
    return {
        name: household(connection, rows, name, today=TODAY)
        for name, rows in (("hers", hers), ("his", his))
    }


HERS = [
    Bought("2025-06-02", "朝市", -3_000),
    Bought("2025-06-25", "給与", 300_000, "収入/給与"),
    Bought("2025-06-09", "振替", -9_999, counts=False),
]
HIS = [
    Bought("2025-05-02", "書店", -700, "教養/本"),
    Bought("2025-06-04", "朝市", -1_000),
    Bought("2025-06-05", "書店", -500, "教養/本"),
]


def test_both_households_and_their_sum(connection):
    both = households(connection, HERS, HIS)
    answer = combined_households(both)
    assert answer.text.splitlines() == [
        "2025年06月の 2つの家計簿です。",
        "- hers: 支出 3,000円、収入 300,000円、収支 +297,000円",
        "- his: 支出 1,500円、収入 0円、収支 -1,500円",
        "- 合計: 支出 4,500円、収入 300,000円、収支 +295,500円",
        "合わせたカテゴリ別の支出:",
        "- 食費: 4,000円（88.9%, 2件）",
        "- 教養: 500円（11.1%, 1件）",
        "※ 両方の家計簿にある同じ買い物は二度数えますが、それらしい組は見つかりませんでした。",
        "※ hers: 2025年06月の明細は 2025-06-02 からです。",
        "※ hers: 2025年06月の明細はまだ揃っていない可能性があります。",
        "※ hers: 予定（今日より後の日付の明細）: 1件、収入 300,000円（上の金額に含みます）。",
        "※ his: 2025年06月の明細はまだ揃っていない可能性があります。",
        "※ 集計に使った明細は 4件、除いた明細は 1件（計算対象外 1件）です。",
    ]
    rows = [row for row in (*HERS, *HIS) if row.day.startswith("2025-06")]
    assert answer.spending == sum(row.yen for row in rows if row.major != "収入")
    assert answer.income == sum(row.yen for row in rows if row.major == "収入")


def test_what_a_household_leaves_out_or_lacks_is_told_as_by_its_own_month(connection):
    rows = [
        *HERS,
        Bought("2025-04-03", "返金", 2_000, "衣服/服"),
        Bought("2025-08-01", "旅行", -80_000),
        Bought("1925-06-03", "朝市", -9),
    ]
    both = households(connection, rows, HIS)
    answer = combined_households(both, period="1900年〜2025年6月")
    alone = monthly_household(both["hers"], period="1900年〜2025年6月")
    assert answer.households[0].spending == alone.spending == 1_000
    (refunded,) = [note for note in alone.notes if note.startswith("支出より入金の多い")]
    others = [note for note in alone.notes if note != refunded]
    starts = (
        "データのある", "明細が 1 件もない", "2025年04月の明細は 2025-04-03", "2025年06月の明細",
        "日付が", "予定", "予定",
    )  # fmt: skip
    assert [note.startswith(start) for note, start in zip(others, starts, strict=True)] == [
        True
    ] * len(starts)
    assert {f"hers: {note}" for note in others} | {refunded} < set(answer.notes)


def test_a_household_without_rows_is_named(connection):
    both = households(connection, HERS, HIS)
    answer = combined_households(both, period="2025年5月")
    assert answer.notes[0] == "hers にはこの期間の明細がありません"
    assert (answer.spending, answer.income) == (700, 0)
    with pytest.raises(InsufficientData):
        combined_households(both, period="2020年5月")
    with pytest.raises(EmptyLedger):
        combined_households({"new": household(connection, [], "new", today=TODAY)})


def test_what_both_households_have_is_told_as_candidates(connection):
    hers = [
        *HERS,
        Bought("2025-06-07", "家具のカグヤ", -48_700, "日用品/家具", "共通カード"),
        Bought("2025-06-11", "PAYPAY*マツヤフーズ", -6_543, "食費/外食", "彼女のカード"),
        Bought("2025-06-15", "振込 ナツ", -50_000, "未分類/未分類", "彼女の銀行"),
    ]
    his = [
        *HIS,
        Bought("2025-06-07", "家具のカグヤ", -48_700, "日用品/家具", "共通カード"),
        Bought("2025-06-10", "松屋", -6_543, "食費/外食", "PayPay"),
        Bought("2025-06-16", "入金", 50_000, "収入/その他入金", "彼の銀行"),
        Bought("2025-06-01", "朝市", -3_300),
    ]
    both = households(connection, hers, his)
    answer = combined_households(both)
    shared = [
        (one.first.household, one.first.amount, one.second.household, one.is_transfer)
        for one in sorted(answer.shared, key=lambda one: one.first.amount)
    ]
    assert shared == [
        ("hers", -50_000, "his", True),
        ("hers", -48_700, "his", False),
        ("hers", -6_543, "his", False),
    ]
    twice = "同じ買い物が両方に入っているらしい組: 2件（合計はどちらの行も数え、最大 55,243円多い）"
    assert twice in answer.text
    furniture = (
        "- 2025-06-07 家具のカグヤ -48,700円（hers、ID 4） と "
        "2025-06-07 家具のカグヤ -48,700円（his、ID 10）: "
        "同じ口座の同じ明細が、両方の家計簿にある"
    )
    assert furniture in answer.text
    moved = "家計簿のあいだの振替らしい組: 1件（合計はどちらの行も数え、最大 50,000円多い）"
    assert moved in answer.text
    # They are candidates: the sums have both rows.
    spent = [one.amount for one in (*hers, *his[1:]) if one.amount < 0 and one.counts]
    assert answer.spending == -sum(spent)
    may = combined_households(both, period="2025年5月")
    assert may.shared == ()


def test_purchases_of_one_household_are_no_pair_of_two(connection):
    twice = [Bought("2025-06-07", "家具のカグヤ", -48_700, "日用品/家具", name) for name in "ab"]
    assert combined_households(households(connection, [*HERS, *twice], HIS)).shared == ()


def test_a_decision_about_two_households_changes_their_sum_alone(connection):
    sofa = ("家具のカグヤ", -48_700, "日用品/家具", "共通カード")
    hers = [*HERS, Bought("2025-06-07", *sofa),
            Bought("2025-06-15", "振込 ナツ", -50_000, "未分類/未分類", "彼女の銀行")]  # fmt: skip
    his = [*HIS, Bought("2025-06-07", *sofa),
           Bought("2025-06-16", "入金", 50_000, "収入/その他入金", "彼の銀行")]  # fmt: skip
    both = households(connection, hers, his)

    def seen():
        return combined_households(both)

    def decide(rows, decision, keep=None):
        return decide_shared(both, rows, decision, keep)

    before = seen()
    pairs = {one.is_transfer: (one.first.id, one.second.id) for one in before.shared}
    bought, moved = pairs[False], pairs[True]
    told = decide(bought, "duplicate", keep=bought[1]).message
    assert told.splitlines()[1:] == [
        f"- 2025-06-07 家具のカグヤ -48,700円（his、ID {bought[1]}）",
        f"- 2025-06-07 家具のカグヤ -48,700円（hers、ID {bought[0]}）",
    ]
    assert in_english(told).splitlines()[1].endswith(f"¥48,700 (his, id {bought[1]})")
    decide(moved, "duplicate")
    for row, name in ((moved[0], "hers"), (moved[1], "his"), (bought[0], "hers")):
        other = sum(moved if row in moved else bought) - row
        said = restore(both[name], row).message
        assert f"transaction_ids=[{row}, {other}] と decision=skip を渡してください" in said
        assert f"transaction_ids=[{row}, {other}] and decision=skip" in in_english(said)
    kept = restore(both["his"], bought[1]).message
    assert kept.endswith("マークされていません。変更はありません。")
    after = seen()
    assert (after.counts.total, after.counts.used) == (before.counts.total, before.counts.used - 3)
    assert (after.counts.duplicate, after.counts.transfer) == (1, 2)
    assert "除いた明細は 4件（計算対象外 1件、振替 2件、重複 1件）です" in after.text
    assert (after.spending, after.income) == (
        before.spending - 48_700 - 50_000, before.income - 50_000,
    )  # fmt: skip
    assert after.spending == sum(one.amount for one in after.spending_by_category)
    assert (after.shared, after.households) == ((), before.households)
    assert after.notes[:1] == (
        "判定により、合計だけから除いたもの: 両方にある買い物 1件（支出 48,700円）、"
        "家計簿のあいだの振替 2件（支出 50,000円、収入 50,000円）。各家計簿の金額は変わりません",
    )
    connection.execute("UPDATE transactions SET identity = 'new' WHERE id = ?", (bought[0],))
    assert seen() == after
    # Of a purchase that the kept row's own household does not count, the other row stays.
    connection.execute("UPDATE transactions SET is_target = 0 WHERE id = ?", (bought[1],))
    assert seen().spending == after.spending
    connection.execute("UPDATE transactions SET is_target = 1 WHERE id = ?", (bought[1],))
    decide(bought[::-1], "not_duplicate")
    assert (seen().spending, len(seen().shared)) == (after.spending + 48_700, 0)
    for rows in (bought, moved):
        decide(rows, "skip")
    assert seen() == before


@pytest.mark.parametrize(
    ("rows", "decision", "keep", "error", "said"),
    [((1, 2), "duplicate", None, DuplicateResolutionError, "別々の家計簿の"),
     ((1, 99), "duplicate", None, DuplicateResolutionError, "2件"),
     ((), "duplicate", None, DuplicateResolutionError, "check_id を指定するか"),
     ((1, 5), "same", None, InvalidDecision, "same"),
     ((1, 5), "duplicate", 2, RowNotInCandidate, "keep"),
     ((2, 5), "duplicate", 2, KeepInTransfer, "keep")],
)  # fmt: skip
def test_a_decision_that_means_nothing_is_refused(connection, rows, decision, keep, error, said):
    both = households(connection, HERS, HIS)
    with pytest.raises(error, match=said):
        decide_shared(both, rows, decision, keep)
    assert connection.execute("SELECT count(*) FROM shared_pairs").fetchall() == [(0,)]
