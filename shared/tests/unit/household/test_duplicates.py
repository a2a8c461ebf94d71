"""Finds exactly the pairs that may be one purchase, best score first."""

import random
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.household.core.pair import LIKELY, DetectionOptions, DuplicateDetectionError
from mdvec.household.core.pairs import find_pairs
from mdvec.household.core.transaction import Transaction

SHOPS = ("スーパー青木", "スーパー青木 駅前店", "ドラッグ緑", "AOKI MARKET", "")
ACCOUNTS = ("カードA", "銀行B", "")
by_id = attrgetter("id")
CATEGORIES = (("食費", "食料品"), ("食費", "外食"), ("未分類", "未分類"), ("日用品", ""), ("", ""))


def row(number, day="2025-07-31", amount=-5000, **more):
    fields = {
        "id": number,
        "tool_id": 1,
        "date": day if isinstance(day, date) else date.fromisoformat(day),
        "amount": amount,
        "description": "スーパー青木",
        "category_major": "食費",
        "category_minor": "食料品",
        "account": "カードA",
        "memo": "",
        "is_target": True,
        "is_transfer": False,
        "is_duplicate": False,
        "duplicate_of": None,
        "mf_id": "",
        "source_file": "a.csv",
        "row_number": number,
    }
    return Transaction(**{**fields, **more})


def options(days=0, yen="0", percent="0", score=0.5):
    return DetectionOptions(days, Decimal(yen), Decimal(percent), score)


def ids(found):
    return [(pair.first.id, pair.second.id) for pair in found.pairs]


def compared_one_by_one(rows, options):
    """The definition of the tolerances: compares every two rows in exact numbers."""
    counting = [(row.date.toordinal(), row) for row in sorted(rows, key=by_id) if row.counts]
    within = []
    for (day, one), (other_day, other) in combinations(counting, 2):
        if abs(day - other_day) > options.date_tolerance_days:
            continue
        difference = Decimal(abs(one.amount - other.amount))
        mean = Decimal(abs(one.amount) + abs(other.amount)) / 2
        if (one.amount > 0, one.amount < 0) != (other.amount > 0, other.amount < 0):
            continue
        if not options.amount_tolerance_abs and not options.amount_tolerance_pct and difference:
            continue
        if options.amount_tolerance_abs and difference > options.amount_tolerance_abs:
            continue
        if options.amount_tolerance_pct and difference * 100 > options.amount_tolerance_pct * mean:
            continue
        within.append((one.id, other.id))
    return set(within)


def found_all(rows, options):
    """The ids of the candidate pairs, and how many pairs were examined."""
    found = find_pairs(rows, options)
    assert len(set(ids(found))) == len(found.pairs)
    return set(ids(found)), len(found.pairs) + found.below


transactions: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    day=st.integers(0, 12).map(lambda days: date(2024, 12, 25) + timedelta(days)),
    amount=st.none()
    | st.sampled_from([0, -1, 1, -99, -100, -101, 100, -9900, -10000, -10100, 2**60, -(2**60)])
    | st.integers(-300, 300),
    description=st.sampled_from(SHOPS),
    account=st.sampled_from(ACCOUNTS),
    mf_id=st.sampled_from(["", "x", "y", "z"]),
    category=st.sampled_from(CATEGORIES),
    is_target=st.integers(0, 9).map(bool),
    is_transfer=st.integers(1, 10).map(lambda drawn: drawn > 9),
    is_duplicate=st.integers(1, 10).map(lambda drawn: drawn > 9),
)


def ledger(drawn):
    rows = []
    for number, fields in enumerate(drawn, 1):
        major, minor = fields.pop("category")
        rows.append(row(number, **fields, category_major=major, category_minor=minor))
    return rows


@settings(max_examples=40, deadline=None)
@given(
    drawn=st.lists(transactions, max_size=25),
    days=st.integers(0, 8),
    yen=st.sampled_from(["0", "0.5", "1", "100", "200.7"]),
    percent=st.sampled_from(["0", "0.1", "1", "1.005", "33", "199.9", "200", "500"]),
    order=st.randoms(use_true_random=False),
)
def test_all_pairs_within_the_tolerances_are_examined(drawn, days, yen, percent, order):
    rows = ledger(drawn)
    order.shuffle(rows)
    found, examined = found_all(rows, options(days, yen, percent, 0))
    within = compared_one_by_one(rows, options(days, yen, percent, 0))
    assert (found, examined) == (within, len(within))
    for score in (0.19, 0.2, 0.5, 1):
        less = find_pairs(rows, options(days, yen, percent, score))
        assert set(ids(less)) <= within
        assert len(less.pairs) + less.below == len(within)


@pytest.mark.parametrize(
    ("yen", "percent"), [("0", "0"), ("100", "0"), ("0", "1"), ("99", "1"), ("1000", "200")]
)
@pytest.mark.parametrize("count", [400, pytest.param(4_000, marks=pytest.mark.soak)])
def test_of_many_rows_over_new_year_all_pairs_within_the_tolerances_are_examined(
    count, yen, percent
):
    chance = random.Random(4)
    rows = [
        row(
            number,
            date(2023, 12, 26) + timedelta(chance.randrange(count // 40)),
            chance.choice([0, -10_000, -10_100, -10_101, 10_000, -chance.randrange(1, 30) * 100]),
            description=chance.choice(SHOPS),
            account=chance.choice(ACCOUNTS),
            mf_id=chance.choice(["", f"id{number}"]),
            category_major=chance.choice(["食費", "日用品", ""]),
            is_target=chance.random() < 0.9,
        )
        for number in range(1, count + 1)
    ]
    found, examined = found_all(rows, options(3, yen, percent, 0))
    within = compared_one_by_one(rows, options(3, yen, percent))
    assert examined == len(within) > count
    assert found == within


def verdict(one, other, *around):
    """The only pair of two rows, in a ledger with others around."""
    found = find_pairs([one, other, *around], DetectionOptions(min_similarity_score=0))
    wanted = [pair for pair in found.pairs if {pair.first.id, pair.second.id} == {one.id, other.id}]
    return wanted[0] if wanted else None


def is_likely(one, other, *around):
    pair = verdict(one, other, *around)
    return pair is not None and pair.score >= LIKELY


def card(number, day="2025-07-10", amount=-3480, **more):
    return row(number, day, amount, **{"account": "カードA", "mf_id": f"id{number}", **more})


def app(number, day="2025-07-10", amount=-3480, **more):
    more = {"account": "Amazon.co.jp", "description": "デスクライト", **more}
    return card(number, day, amount, **more)


AMAZON = {"description": "AMAZON.CO.JP", "category_major": "未分類"}


def test_an_order_and_its_card_are_one_purchase_though_their_texts_differ():
    pair = verdict(app(1), card(2, "2025-07-13", **AMAZON))
    assert (pair.score >= LIKELY, pair.reasons) == (True, ("named_account",))
    assert not is_likely(app(1), card(2, "2025-07-13", description="ヨドバシカメラ"))


@each(("noted", "printed"), [
    ("ミスド", "ミスタードーナツ"), ("カルディ", "KALDI"), ("成城石井", "セイジョウイシイ"),
    ("イケア", "IKEA"), ("QBハウス", "キユ-ビ-ハウス"), ("ニトリ", "NITORI"), ("松屋", "吉野家"),
])  # fmt: skip
def test_a_rounded_amount_in_cash_is_compared_with_the_card_however_the_name_is_spelled(
    noted, printed
):
    rows = [
        row(1, "2025-07-10", -1300, account="財布", description=noted),
        card(2, amount=-1298, description=printed),
        *(card(n, f"2025-05-{n}", -3000 - n, description=f"店{n}") for n in range(10, 30)),
    ]
    found = [
        {pair.ids: pair.score for pair in find_pairs(
            rows, DetectionOptions(min_similarity_score=least),
        ).pairs if pair.score >= 0.2}
        for least in (0.1, 0.2)
    ]  # fmt: skip
    assert found[0] == found[1]
    assert bool(found[0]) == (noted != "松屋")


def test_points_explain_a_round_difference_and_nothing_else_does():
    around = [app(n, f"2025-06-0{n - 7}", -900 - n) for n in range(8, 12)]
    around += [card(n + 10, f"2025-06-0{n - 7}", -900 - n, **AMAZON) for n in range(8, 12)]
    assert is_likely(app(1), card(2, amount=-3280, **AMAZON), *around)
    assert verdict(app(1), card(2, amount=-3283, **AMAZON)).score < LIKELY


def test_two_rows_of_one_file_whose_balances_follow_each_other_are_two_purchases():
    rows = [row(n, description="振込手数料", amount=-1234) for n in (1, 2)]

    def found(booked):
        (pair,) = find_pairs(rows, DetectionOptions(), booked=booked).pairs
        return pair.score >= LIKELY, "one_account" in pair.reasons

    assert found({1: (7, 900), 2: (7, 800)}) == (False, True)
    for booked in ({}, {1: (7, 900)}, {1: (7, 900), 2: (7, 900)}, {1: (7, 900), 2: (8, 800)}):
        assert found(booked) == (True, False)


def test_a_payment_by_the_month_that_is_charged_twice_is_found():
    months = [card(n, f"2025-0{n}-15", description="配信サービス") for n in range(3, 7)]
    twice = card(1, "2025-07-15", description="配信サービス")
    again = card(2, "2025-07-16", description="配信サービス")
    assert verdict(twice, again, *months).reasons == ("charged_twice",)
    assert is_likely(twice, again, *months)
    often = [card(20 + n, f"2025-07-{n:02}", description="配信サービス") for n in range(1, 9)]
    assert not is_likely(twice, again, *months, *often)
    # What the shop took long ago, or at another price, says nothing against it.
    for day, amount in (("2024-03-20", -990), ("2024-03-28", -1_000), ("2025-01-14", -990)):
        assert is_likely(twice, again, *months, card(8, day, amount, description="配信サービス"))
    dearer = card(8, "2025-06-22", -990, description="配信サービス")
    assert not is_likely(twice, again, *months, dearer)


def test_the_final_amount_of_a_charge_is_found_where_the_shop_is_rarely_visited():
    first, final = card(1, amount=-7000), card(2, "2025-07-12", -6718)
    assert verdict(first, final).reasons == ("final_amount",)
    assert is_likely(first, final)
    visits = [card(n, f"2025-07-{n:02}", -5000 - 13 * n) for n in range(15, 22)]
    assert not is_likely(first, final, *visits)
    assert not is_likely(first, card(2, "2025-07-12", -6718, description="スーパー赤木"))
    # A shop that charges so does it each time: three other charges within half a year say no.
    months = [card(n, f"2025-0{n}-02", -900 * n) for n in (3, 4, 5)]
    assert is_likely(first, final, *months[:1])
    assert not is_likely(first, final, *months)
    by_hand = [replace(one, account="レシート") for one in (first, final)]
    assert not is_likely(*by_hand)


def test_other_names_of_a_shop_show_how_it_charges_too():
    first = card(1, amount=-2_102, description="ライフ 千葉店")
    final = card(2, "2025-07-13", -2_199, description="ライフ 千葉店")
    names = ["ライフ", "ﾗｲﾌ 船橋店", "ＬＩＦＥ", "ライフ　柏店"]
    visits = [card(3 + n, f"2025-0{n + 2}-02", -900 - 400 * n, description=name)
              for n, name in enumerate(names)]  # fmt: skip
    assert is_likely(first, final)
    assert not is_likely(first, final, *visits)
    elsewhere = [replace(one, description="成城石井 千葉店") for one in visits]
    assert is_likely(first, final, *elsewhere)


def test_a_split_bill_is_no_surer_where_nobody_went_to_the_shop_otherwise():
    """An equal share each, or a ticket each, at a place visited once."""
    paid = card(1, "2025-07-10", -4_500, account="楽天カード", description="焼肉 大門")
    again = replace(paid, id=2, account="三井住友カード", mf_id="m2")
    year = [
        card(step + n, date(2024, 7, 1) + timedelta(7 * n), -2_000 - step * n, account=account,
             description=shop)
        for account, shop, step in [("楽天カード", "成城石井", 137), ("PayPay", "ライフ", 291)]
        for n in range(52)
    ]  # fmt: skip
    alone = verdict(paid, again, *year)
    visits = [replace(one, description="焼肉 大門") for one in year]
    assert alone == verdict(paid, again, *visits)
    assert alone.reasons[:2] == ("same_name", "two_payers")


def test_a_note_by_hand_is_the_card_payment_of_the_same_name():
    note = row(1, "2025-07-10", -650, account="財布", description="スーパー青木", mf_id="a")
    assert is_likely(note, card(2, "2025-07-12", -650, description="スーパー青木 駅前店"))
    other = card(2, "2025-07-12", -650, description="書店", category_major="趣味")
    assert not is_likely(note, other)


def test_two_cards_of_a_couple_are_two_purchases_until_the_cards_mirror_each_other():
    one = card(1, amount=-173)
    other = card(2, amount=-173, account="カードB")
    assert verdict(one, other).reasons[:2] == ("same_name", "two_payers")
    assert not is_likely(one, other)
    mirrored = [
        card(10 * n + k, f"2025-07-{20 + n}", -1000 - 11 * n, account=account)
        for n in range(3)
        for k, account in enumerate(("カードA", "カードB"), start=10)
    ]
    assert "mirror" in verdict(one, other, *mirrored).reasons
    assert is_likely(one, other, *mirrored)


def test_each_row_is_one_purchase_with_one_row_of_another_account():
    rows = [
        app(1, "2025-07-10"), app(2, "2025-07-11"),
        card(3, "2025-07-11", **AMAZON), card(4, "2025-07-12", **AMAZON),
    ]  # fmt: skip
    found = find_pairs(rows, DetectionOptions())
    likely = {(one.first.id, one.second.id) for one in found.pairs if one.score >= LIKELY}
    assert likely == {(1, 3), (2, 4)} or likely == {(2, 3), (1, 4)}


def test_nothing_of_equal_day_and_amount_is_hidden():
    rows = [row(1), row(2, account="銀行B", description="バス乗車", category_major="交通費")]
    found = find_pairs(rows, options(score=1))
    assert (ids(found), found.below) == ([(1, 2)], 0)
    assert found.pairs[0].score < LIKELY


def test_amounts_that_people_often_pay_prove_little():
    def note(amount):
        return row(1, amount=amount, account="財布", description="昼")

    def paid(amount):
        return card(2, "2025-07-31", amount, description="書店")

    assert verdict(note(-1000), paid(-1000)).score < verdict(note(-1037), paid(-1037)).score


@each(
    ("options", "words"),
    [
        ({"date_tolerance_days": -1}, "date_tolerance_days は0〜366の日数で"),
        ({"date_tolerance_days": 367}, "date_tolerance_days は0〜366の日数で"),
        ({"amount_tolerance_abs": Decimal("-0.01")}, "amount_tolerance_abs は0以上"),
        ({"amount_tolerance_abs": Decimal("NaN")}, "amount_tolerance_abs は0以上"),
        ({"amount_tolerance_abs": Decimal("1e999999")}, "amount_tolerance_abs は0以上"),
        ({"amount_tolerance_pct": Decimal("Infinity")}, "amount_tolerance_pct は0以上"),
        ({"amount_tolerance_pct": Decimal("sNaN")}, "amount_tolerance_pct は0以上"),
        ({"min_similarity_score": float("nan")}, "min_similarity_score は0〜1の数で"),
        ({"min_similarity_score": 1.01}, "min_similarity_score は0〜1の数で"),
    ],
)
def test_invalid_options_are_refused(options, words):
    with pytest.raises(DuplicateDetectionError, match=words):
        DetectionOptions(**options)


def test_a_day_with_more_pairs_than_are_compared_at_once_loses_none():
    rows = [row(number, amount=-10_000 - number, mf_id=f"id{number}") for number in range(1, 1602)]
    last = row(1602, amount=-10_001, account="銀行B", mf_id="b")
    found = find_pairs([*rows, last], options(percent="20"))
    assert ids(found) == [(1, 1602)]
    assert found.below == 1602 * 1601 // 2 - 1


def test_more_than_max_pairs_are_refused():
    rows = [row(number, mf_id=f"id{number}") for number in range(1, 7748)]
    with pytest.raises(DuplicateDetectionError, match="条件に合う組が多すぎます（30,004,131件"):
        find_pairs(rows, options())
    alike = [row(number) for number in range(1, 449)]
    with pytest.raises(
        DuplicateDetectionError, match=r"多すぎます（100,128件.*min_similarity_score"
    ):
        find_pairs(alike, options())


def test_visits_to_a_shop_are_counted_under_all_its_spellings():
    spellings = ["セブン-イレブン 001", "ｾﾌﾞﾝ-ｲﾚﾌﾞﾝ 017", "セブンｰイレブン"]
    around = [card(3 + n, f"2025-07-0{n + 1}", -100 * n, description=name)
              for n, name in enumerate(spellings)]  # fmt: skip
    one, other = (card(n, description="セブン-イレブン 003") for n in (1, 2))
    assert verdict(one, other, *around).reasons == ("one_account", "visits:5")


def test_two_lists_of_one_account_may_differ_in_an_amount():
    one, other = card(1, amount=-2_000), card(2, amount=-2_010, mf_id="")
    mirrored = [
        card(10 * n + k, f"2025-07-{20 + n}", -1000 * n, mf_id=mf_id, description="書店")
        for n in range(1, 4)
        for k, mf_id in enumerate(("", f"id{n}"))
    ]
    assert not is_likely(one, other)
    assert is_likely(one, other, *mirrored)
