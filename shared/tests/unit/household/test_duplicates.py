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

from mdvec.household.core.pairs import (
    DetectionOptions,
    DuplicateDetectionError,
    find_pairs,
)
from mdvec.household.core.similarity import (
    category_closeness,
    letter_pairs,
    shared_letters,
    weighted,
)
from mdvec.household.core.transaction import Transaction

SHOPS = ("スーパー青木", "スーパー青木 駅前店", "ドラッグ緑", "AOKI MARKET", "")
ACCOUNTS = ("カードA", "銀行B", "")
by_id = attrgetter("id")
CATEGORIES = (("食費", "食料品"), ("食費", "外食"), ("未分類", "未分類"), ("日用品", ""))


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


def options(days=0, yen="0", percent="0", score=0.8):
    return DetectionOptions(days, Decimal(yen), Decimal(percent), score)


def ids(found):
    return [(pair.first.id, pair.second.id) for pair in found.pairs]


def similarity(one, other):
    """The score of two rows that both have an amount, without any of the search's shortcuts."""
    difference = abs((one.amount or 0) - (other.amount or 0))
    larger = max(abs(one.amount or 0), abs(other.amount or 0), 1)
    are_two_lines = (
        bool(one.account and one.mf_id and other.mf_id)
        and one.account == other.account
        and one.mf_id != other.mf_id
    )
    return weighted(
        abs((one.date - other.date).days),
        difference / larger,
        shared_letters(letter_pairs(one.description), letter_pairs(other.description)),
        0.0 if are_two_lines else 1.0,
        category_closeness(
            (one.category_major, one.category_minor), (other.category_major, other.category_minor)
        ),
    )


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
        within.append((one.id, other.id, similarity(one, other)))
    least = options.min_similarity_score - 1e-9
    alike = {pair[:2]: round(pair[2], 4) for pair in within if pair[2] >= least}
    return alike, len(within) - len(alike)


def same(rows, options):
    found = find_pairs(rows, options)
    scores = {(pair.first.id, pair.second.id): pair.score for pair in found.pairs}
    assert len(scores) == len(found.pairs)
    return (scores, found.below), compared_one_by_one(rows, options)


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


@settings(max_examples=75, deadline=None)
@given(
    drawn=st.lists(transactions, max_size=25),
    days=st.integers(0, 8),
    yen=st.sampled_from(["0", "0.5", "1", "100", "200.7"]),
    percent=st.sampled_from(["0", "0.1", "1", "1.005", "33", "199.9", "200", "500"]),
    score=st.sampled_from([0, 0.5, 0.75, 0.8, 0.925, 1]),
    order=st.randoms(use_true_random=False),
)
def test_the_pairs_are_those_of_comparing_every_two_rows(drawn, days, yen, percent, score, order):
    rows = ledger(drawn)
    order.shuffle(rows)
    found, expected = same(rows, options(days, yen, percent, score))
    assert found == expected


@pytest.mark.parametrize("count", [1_500, pytest.param(5_000, marks=pytest.mark.soak)])
def test_the_pairs_of_thousands_of_rows_are_those_of_comparing_every_two(count):
    chance = random.Random(4)
    first = date(2023, 12, 1)
    rows = [
        row(
            number,
            first + timedelta(chance.randrange(count // 40)),
            -chance.choice([chance.randrange(100, 3000), chance.randrange(1, 30) * 100]),
            description=chance.choice(SHOPS),
            account=chance.choice(ACCOUNTS),
            mf_id=chance.choice(["", f"id{number}"]),
            category_major=chance.choice(["食費", "日用品"]),
        )
        for number in range(1, count + 1)
    ]
    found, expected = same(rows, options(3, percent="1"))
    assert found == expected
    assert len(found[0]) > count // 5
    assert found[1] > count // 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2025-07-31", "2025-08-01"),  # a month's edge
        ("2025-12-31", "2026-01-01"),  # a year's edge
        ("2025-08-03", "2025-08-04"),  # a week's edge: Sunday and Monday
        ("2024-02-28", "2024-02-29"),
    ],
)
def test_no_pair_is_lost_at_an_edge_of_the_calendar(one, other):
    rows = [row(1, one), row(2, other, account="銀行B")]
    assert ids(find_pairs(rows, options(1))) == [(1, 2)]
    assert ids(find_pairs(rows, options(0))) == []


@pytest.mark.parametrize(
    ("yen", "percent", "other", "is_found"),
    [
        ("0", "0", -10000, True),
        ("0", "0", -10001, False),
        ("100", "0", -10100, True),
        ("100", "0", -10101, False),
        ("0", "1", -10100, True),  # 100 is less than 1 % of the mean, 10,050
        ("0", "1", -10101, False),  # 101 is more than 1 % of 10,050.5
        ("100", "1", -10100, True),
        ("99", "1", -10100, False),  # both must hold
        ("1000", "0.5", -10100, False),
        ("1000", "200", 10000, False),  # an expense and its refund
    ],
)
def test_tolerances_of_amounts(yen, percent, other, is_found):
    rows = [row(1, amount=-10000), row(2, amount=other, account="銀行B")]
    assert bool(find_pairs(rows, options(0, yen, percent)).pairs) is is_found


def test_zero_pairs_only_with_zero():
    rows = [row(1, amount=0), row(2, amount=-1), row(3, amount=1), row(4, amount=0)]
    assert ids(find_pairs(rows, options(0, "100", "500"))) == [(1, 4)]


@pytest.mark.parametrize(
    "change",
    [
        {"is_target": False},
        {"is_transfer": True},
        {"is_duplicate": True, "duplicate_of": 9},
        {"amount": None},
        {"category_major": ""},
    ],
)
def test_a_row_that_does_not_count_makes_no_pair(change):
    plain = [row(1), row(2, account="銀行B")]
    found = find_pairs([plain[0], replace(plain[1], **change)], options())
    assert (found.pairs, found.below) == ((), 0)
    assert len(find_pairs(plain, options()).pairs) == 1


def test_rows_that_are_alike_in_everything_score_one():
    assert find_pairs([row(1), row(2)], options()).pairs[0].score == 1.0


def test_a_purchase_seen_through_two_accounts_is_found_and_two_lines_of_one_account_are_not():
    card = row(1, account="カードA", mf_id="a")
    wallet = row(2, account="電子マネーC", mf_id="b", description="ｽｰﾊﾟｰ 青木")
    second = row(3, account="カードA", mf_id="c")
    found = find_pairs([card, wallet, second], options())
    assert (ids(found), found.below) == ([(1, 2), (2, 3)], 1)
    assert similarity(card, second) == pytest.approx(0.75)
    assert ids(find_pairs([card, second], options(score=0.75))) == [(1, 3)]


def test_a_missing_id_or_account_is_neutral():
    known = row(1, mf_id="a")
    assert similarity(known, row(2)) == pytest.approx(1)
    blank = replace(known, account="")
    assert similarity(blank, replace(blank, id=2, mf_id="b")) == pytest.approx(1)


def test_the_same_amount_on_the_same_day_in_another_shop_is_no_candidate():
    other = row(2, account="銀行B", description="バス乗車")
    found = find_pairs([row(1), other], options())
    assert (found.pairs, found.below) == ((), 1)


def test_spelling_variants_of_a_name_score_alike():
    for one, other in [
        ("ｾﾌﾞﾝ－ｶﾌｪ", "セブン カフェ"),
        ("CAFE〜ＡＢＣ", "cafe～abc"),
        ("カフェ・青", "カフェ青"),
    ]:
        rows = [row(1, description=one), row(2, description=other)]
        assert find_pairs(rows, options()).pairs[0].score == 1.0


def test_greater_differences_score_lower():
    base = row(1)
    days = [similarity(base, replace(base, date=base.date + timedelta(n))) for n in range(5)]
    yen = [similarity(base, replace(base, amount=base.amount - n)) for n in range(0, 200, 40)]
    texts = [
        similarity(base, replace(base, description=text))
        for text in ("スーパー青木", "スーパー青木 駅前店", "スーパー", "", "バス")
    ]
    categories = [
        similarity(base, replace(base, category_major=major, category_minor=minor))
        for major, minor in (
            ("食費", "食料品"),
            ("食費", "外食"),
            ("未分類", "未分類"),
            ("住宅", ""),
        )
    ]
    for scores in (days, yen, texts, categories):
        assert scores == sorted(set(scores), reverse=True)


def test_the_likeliest_pair_comes_first():
    rows = [row(1), row(2, "2025-08-01"), row(3, "2025-08-01")]
    assert ids(find_pairs(rows, options(1))) == [(2, 3), (1, 2), (1, 3)]


def test_a_search_of_some_rows_finds_only_their_pairs():
    rows = [row(1), row(2), row(3)]
    assert ids(find_pairs(rows, options(), only=[3])) == [(1, 3), (2, 3)]
    two_lines = [replace(one, mf_id=str(one.id)) for one in rows]
    assert find_pairs(two_lines, options(), only=[3]).below == 2
    assert find_pairs(rows, options(), only=[]).pairs == ()


def test_a_ledger_without_rows_has_no_pairs():
    assert find_pairs([], options(3, "100", "1")).pairs == ()
    assert find_pairs([row(1)], options()).pairs == ()


@pytest.mark.parametrize(
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
    rows = [row(number, mf_id=f"id{number}") for number in range(1, 1602)]
    found = find_pairs([*rows, row(1602, account="銀行B")], options())
    assert (len(found.pairs), found.below) == (1601, 1601 * 1600 // 2)


def test_more_than_max_pairs_are_refused():
    rows = [row(number, mf_id=f"id{number}") for number in range(1, 7748)]
    with pytest.raises(DuplicateDetectionError, match="条件に合う組が多すぎます（30,004,131件"):
        find_pairs(rows, options())
    alike = [row(number) for number in range(1, 449)]
    with pytest.raises(
        DuplicateDetectionError, match=r"多すぎます（100,128件.*min_similarity_score"
    ):
        find_pairs(alike, options())
