"""Transfers that their statements do not mark, among purchases and refunds."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.pair import LIKELY, ComparedRow, DetectionOptions, FoundPairs
from mdvec.household.core.transfer_pairs import (
    MAX_DAYS,
    transfer_pairs,
    unmatched_charges,
    with_transfers,
)


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


@pytest.mark.parametrize(
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


def filed(into):
    """A wallet's charge, which its file marks as a transfer."""
    return into._replace(counts=False, is_filed=True)


@each(
    ("text", "source", "is_likely"),
    [
        ("振込 タナカ", "みらい銀行", True),
        ("ＰａｙＰａｙ", "とおい銀行", True),
        ("振込 タナカ", "とおい銀行", False),
    ],
)
def test_a_wallets_charge_that_may_be_of_another_bank_is_asked_about(text, source, is_likely):
    out, into = row(1, 3, -5_000, "みらい銀行", text), filed(row(2, 3, 5_000, "PayPay", source))
    charges = unmatched_charges([out, into])
    found = with_transfers(FoundPairs((), 0), [out, into], DetectionOptions(), charges=charges)
    assert [pair.score >= LIKELY for pair in found.pairs] == [is_likely]


@each(("text", "shown"), [("チャージ", 1), ("振込 ヤマダ", 1), ("返金 振込", 0), ("ポイント", 0)])
def test_words_of_a_transfer_at_its_incoming_end_alone_are_a_question(text, shown):
    """The outgoing row may be a purchase of the same amount."""
    rows = [row(1, 3, -5_000, "カード", "薬局"), row(2, 4, 5_000, "Suica", text)]
    found = with_transfers(FoundPairs((), 0), rows, DetectionOptions())
    assert len(found.pairs) == shown
    assert all(pair.score < LIKELY for pair in found.pairs)


@each(
    ("text", "account", "source", "is_likely"),
    [
        ("楽天市場", "楽天", "ポイント交換", None), ("PAYPAY*居酒屋", "PayPay", "タナカ", None),
        ("restaurant", "au", "チャージ", False), ("薬局", "Suica", "チャージ カード", True),
        ("ﾓﾊﾞｲﾙSuica", "Suica", "チャージ", True), ("ナナコ", "nanaco", "入金", True),
    ],
)  # fmt: skip
def test_a_name_makes_a_transfer_likely_only_beside_words_of_one_and_as_a_name(
    text, account, source, is_likely
):
    """Purchases name shops and services, too, and a short name is a part of many words."""
    rows = [row(1, 3, -5_000, "カード", text), row(2, 4, 5_000, account, source)]
    found = with_transfers(FoundPairs((), 0), rows, DetectionOptions()).pairs
    assert [pair.score >= LIKELY for pair in found] == ([] if is_likely is None else [is_likely])
    assert ["named_account" in pair.reasons for pair in found] == [is_likely] * len(found)


@each(
    ("text", "account", "is_named"),
    [
        ("イオン 幕張店", "イオン銀行", False), ("イオン 幕張店", "イオンカード", False),
        ("楽天カードサービス", "楽天銀行", False), ("PAYPAY*居酒屋", "PayPay銀行", False),
        ("ソニーギンコウ", "ソニー銀行", True), ("振込みずほ銀行ヤマダ", "みずほ銀行 123", True),
        ("ﾍﾟｲﾍﾟｲｷﾞﾝｺｳ", "PayPay銀行", True), ("楽天カードサービス", "楽天カード（妻）", True),
        ("ペイペイ", "PayPay", True), ("PayPay", "ペイペイ", True), ("auPAY", "au PAY", True),
        ("au PAY チャージ", "auPAY", True), ("au でんき", "au PAY", False),
    ],
)  # fmt: skip
def test_a_bank_or_card_is_named_by_its_whole_name_and_a_service_by_any_spelling(
    text, account, is_named
):
    out, into = row(1, 3, -5_000, "貯蓄", text), row(2, 4, 5_000, account, "振込 タナカ")
    (pair,) = transfer_pairs([out, into])
    assert ("named_account" in pair.reasons) == is_named


def test_a_name_is_a_question_beside_a_category_of_any_money_that_comes_in():
    out = row(1, 3, -5_000, "カード", "PAYPAY*居酒屋", "食費/外食")
    into = row(2, 3, 5_000, "PayPay", "タナカ", "収入/その他入金")
    (pair,) = with_transfers(FoundPairs((), 0), [out, into], DetectionOptions()).pairs
    assert (pair.score < LIKELY, "named_account" in pair.reasons) == (True, False)


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
