"""Transfers that their statements do not mark, among purchases and refunds."""

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.naming import Aliases, ShopAlias
from mdvec.household.core.pair import LIKELY, ComparedRow
from mdvec.household.core.transfer_pairs import MAX_DAYS, transfer_pairs, unmatched_charges


def row(number, day, amount, account, text="店", category="未分類/未分類"):
    major, _, minor = category.partition("/")
    return ComparedRow(number, date(2025, 6, day), amount, text, major, minor, account, "")


@each(
    ("out", "into"),
    [
        (row(1, 3, -5_000, "銀行", "モバイルSuica チャージ"), row(2, 3, 5_000, "Suica", "入金")),
        (row(1, 6, -30_000, "みらい銀行", "ﾌﾘｺﾐ"), row(2, 9, 30_000, "貯蓄銀行", "タナカ")),
        (row(1, 3, -10_000, "銀行", "ＡＴＭ"), row(2, 3, 10_000, "財布", "")),
        (row(1, 3, -9, "銀行", "x", "現金・カード/電子マネー"), row(2, 4, 9, "アプリ", "y")),
    ],
)
def test_bank_to_bank_and_charges_are_likely_transfers(out, into):
    (pair,) = transfer_pairs([into, out])
    assert ({pair.first, pair.second}, pair.score >= LIKELY) == ({out, into}, True)
    assert pair.reasons[0] == "moved"


@each(
    "into",
    [
        row(2, 4, 3_980, "カード", "ネット通販 返品"),
        row(2, 4, 3_980, "銀行B", "給与 振込", "収入/給与"),
        row(2, 4, 3_980, "カード", "ポイント"),
    ],
)
def test_without_words_or_with_a_refund_a_pair_is_only_possible(into):
    (pair,) = transfer_pairs([row(1, 3, -3_980, "アプリ", "ネット通販"), into])
    assert pair.score < LIKELY


ALIASES = Aliases([ShopAlias("PayPay", ("PayPay", "ペイペイ"))])


@each(
    ("text", "source", "others", "reason"),
    [
        ("ＰａｙＰａｙ", "みらい銀行", [], "each_named"),
        ("PayPay", "みらい銀行", [row(3, 4, -5_000, "貯蓄銀行", "PayPay")], "each_named"),
        ("ﾍﾟｲﾍﾟｲ", "みらい銀行", [], "each_named"),
        ("PAYPAY", "", [], "named_account"),
        ("ペイペイ", "みらい", [], "named_account"),
        ("PAYPAY*居酒屋", "みらい銀行", [], ""),
        ("PayPay", "貯蓄銀行", [], ""),
        ("au PAY", "みらい銀行", [], ""),
        ("PayPay", "みらい銀行", [row(3, 4, -5_000, "みらい銀行", "PayPay")], ""),
        ("PayPay", "みらい銀行", [row(3, 1, 5_000, "PayPay", "みらい銀行")], ""),
        ("ペイペイ", "", [row(3, 4, -5_000, "貯蓄銀行", "PayPay")], ""),
    ],
)
def test_a_marked_charge_is_likely_of_the_only_row_that_names_it(text, source, others, reason):
    rows = [
        one._replace(counts=False, is_filed=True) if one.account == "PayPay" else one
        for one in (
            row(1, 3, -5_000, "みらい銀行", text), row(2, 3, 5_000, "PayPay", source), *others
        )
    ]  # fmt: skip
    pairs = transfer_pairs(rows, charges=unmatched_charges(rows), aliases=ALIASES)
    likely = {pair.ids: pair.reasons for pair in pairs if pair.score >= LIKELY}
    assert likely == ({(1, 2): ("moved", reason)} if reason else {})


@each(
    ("text", "reasons"),
    [
        ("PAYPAY", ["moved", "named_account"]), ("振込 ペイペイ", ["moved", "moving_words"]),
        ("ペイペイ", ["moved", "named_account"]), ("山田商店", None),
    ],
)  # fmt: skip
def test_a_marked_payout_is_a_candidate_with_the_banks_row_that_names_it_or_has_a_word(
    text, reasons
):
    out = row(1, 3, -5_000, "PayPay", "みらい銀行 *****04")
    rows = [out._replace(counts=False, is_filed=True), row(2, 3, 5_000, "みらい銀行", text)]
    pairs = transfer_pairs(rows, charges=unmatched_charges(rows), aliases=ALIASES)
    assert [[*pair.reasons] for pair in pairs if pair.score >= LIKELY] == [reasons] * bool(reasons)


@each(
    "into",
    [
        row(2, 3, 5_000, "銀行", "チャージ"),
        row(2, 3, 5_001, "Suica", "チャージ"),
        row(2, 3, -5_000, "Suica", "チャージ"),
        row(2, 4 + MAX_DAYS, 5_000, "Suica", "チャージ"),
    ],
)
def test_one_account_another_amount_the_same_sign_and_distant_days_are_none(into):
    assert transfer_pairs([row(1, 3, -5_000, "銀行", "チャージ"), into]) == []


def test_each_row_is_in_one_pair_the_likeliest_then_the_nearest():
    rows = [
        row(1, 3, -5_000, "銀行", "チャージ"), row(2, 5, -5_000, "銀行", "チャージ"),
        row(3, 5, 5_000, "Suica", "入金"), row(4, 3, 5_000, "カード", "返金"),
    ]  # fmt: skip
    pairs = [(pair.first.id, pair.second.id, pair.score >= LIKELY) for pair in transfer_pairs(rows)]
    assert pairs == [(2, 3, True), (1, 4, False)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 28), st.sampled_from((-200, -100, 100, 200)), st.sampled_from("ab")
        ),
        max_size=20,
    )
)  # fmt: skip
def test_pairs_are_those_that_every_pair_compared_would_allow(columns):
    rows = [row(number, *one) for number, one in enumerate(columns, 1)]
    pairs = transfer_pairs(rows)
    ids = [one.id for pair in pairs for one in (pair.first, pair.second)]
    assert len(ids) == len(set(ids))
    for pair in pairs:
        assert pair.first.amount + pair.second.amount == 0
        assert pair.first.account != pair.second.account
        assert pair.days <= MAX_DAYS
    left = [one for one in rows if one.id not in ids]
    assert not any(
        a.amount == -b.amount and a.account != b.account
        and abs((a.date - b.date).days) <= MAX_DAYS
        for a in left for b in left
    )  # fmt: skip
