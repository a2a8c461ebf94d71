"""Candidates of the same accounts and reasons: decided at once, listed as one, told once."""

import pytest
from review_ledger import add, candidates, make_household, marks

from mdvec.household import deciding, review
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.deciding import ReviewDecision
from mdvec.household.english import in_english


@pytest.fixture
def ledger(connection):
    return make_household(connection)


def connected_twice(ledger, count=4, categories=("食費/食料品", "食費/食料品")):
    """Purchases of a card that the household connected a second time."""
    for number in range(count):
        for account, category in zip(("カードA", "カードA (新)"), categories, strict=True):
            major, minor = category.split("/")
            add(
                ledger, description=f"店の名前{number}", amount=-1234 + 11 * number,
                account=account, mf_id=f"{account}{number}", date=f"2024-01-{10 + number}",
                category_major=major, category_minor=minor,
            )  # fmt: skip


@pytest.mark.parametrize("one_first", [False, True])
def test_all_purchases_of_the_same_accounts_are_decided_at_once_and_taken_back(ledger, one_first):
    connected_twice(ledger)
    add(ledger, 2, amount=-777)
    review.detect(ledger, DetectionOptions())
    first, *_, last = review.list_candidates(ledger).candidates
    assert {one.alike_count for one in (first, last)} == {0, 3}
    one = first if first.alike_count else last
    keep: int | None = one.transaction_2.id
    if one_first:
        deciding.confirm(ledger, one.check_id, ReviewDecision("duplicate", keep=keep))
        keep = None  # the account that stayed is that of the others, too
    answer = deciding.confirm(
        ledger, one.check_id, ReviewDecision("duplicate", keep=keep, alike=True)
    )
    assert answer.message.startswith(
        "4件の候補を重複として記録し、取引4件（取引ID 1、3、5、7）を今後の集計から除外しました。"
    )
    assert marks(ledger) == {number: number + 1 for number in (1, 3, 5, 7)}
    assert candidates(ledger) == [(9, 10)]
    (other,) = review.list_candidates(ledger).candidates
    deciding.confirm(ledger, other.check_id, ReviewDecision("duplicate"))
    deciding.confirm(ledger, one.check_id, ReviewDecision("skip", alike=True))
    # The other one was decided in the same second, but by another request.
    assert (marks(ledger), len(candidates(ledger))) == ({10: 9}, 4)


@pytest.mark.parametrize("again", ["duplicate", "not_duplicate", "skip", "restore"])
def test_what_was_decided_at_once_is_taken_back_after_one_of_it_was_decided_again(ledger, again):
    connected_twice(ledger)
    review.detect(ledger, DetectionOptions())
    one, other, *_ = review.list_candidates(ledger).candidates
    deciding.confirm(ledger, one.check_id, ReviewDecision("duplicate", alike=True))
    deciding.confirm(ledger, other.check_id, ReviewDecision("not_duplicate"))
    for _ in range(2):
        if again == "restore":
            deciding.restore(ledger, one.transaction_2.id)
        else:
            keep = one.transaction_2.id if again == "duplicate" else None
            deciding.confirm(ledger, one.check_id, ReviewDecision(again, keep=keep))
    back = deciding.confirm(ledger, one.check_id, ReviewDecision("skip", alike=True))
    assert back.message.startswith("3件の候補を保留にしました。")
    # What was decided by itself since then stays decided.
    assert (marks(ledger), len(candidates(ledger))) == ({}, 3)
    deciding.confirm(ledger, other.check_id, ReviewDecision("skip"))
    deciding.confirm(ledger, one.check_id, ReviewDecision("duplicate", alike=True))
    assert len(marks(ledger)) == 4
    deciding.confirm(ledger, other.check_id, ReviewDecision("skip", alike=True))
    assert (marks(ledger), len(candidates(ledger))) == ({}, 4)


@pytest.mark.parametrize("is_alike", [False, True])
def test_a_decision_names_the_categories_that_lose_rows_and_how_to_keep_them(ledger, is_alike):
    connected_twice(ledger, 2, ("未分類/未分類", "住宅/家具"))
    review.detect(ledger, DetectionOptions())
    check = review.list_candidates(ledger).candidates[0].check_id
    done = deciding.confirm(ledger, check, ReviewDecision("duplicate", alike=is_alike))
    lost = (2, 1_234 + 1_223) if is_alike else (1, 1_234)
    keep = done.marked_transaction_ids[0]
    one = "1件ずつ、たとえば " if is_alike else ""
    told = (
        "残した取引のカテゴリは 未分類 > 未分類 なので、次のカテゴリの合計が減ります: "
        f"住宅 > 家具 {lost[1]:,}円（{lost[0]}件）。"
        f"そちらを残すには、{one}check_id={check} keep={keep} で判定し直してください。"
    )
    repeated = deciding.confirm(ledger, check, ReviewDecision("duplicate", alike=is_alike))
    for answer in (done, repeated):
        assert told in answer.message
        assert "残" not in in_english(answer.message)
    kept = deciding.confirm(ledger, check, ReviewDecision("duplicate", keep=keep))
    assert "合計が減ります" not in kept.message
    assert keep not in marks(ledger)


def test_a_purchase_for_other_reasons_is_left_where_all_alike_are_decided(ledger):
    """A shared bill of the same two cards, and two orders of which a card has the rows, too."""
    for number in range(2):
        add(ledger, description=f"品物{number}", amount=-1_234 - 11 * number, account="Amazon",
            mf_id=f"a{number}", date=f"2024-01-{10 + number}")  # fmt: skip
        add(ledger, description="AMAZON.CO.JP", amount=-1_234 - 11 * number, account="カードA",
            mf_id=f"c{number}", date=f"2024-01-{10 + number}")  # fmt: skip
    for account in ("Amazon", "カードA"):
        add(ledger, description="焼肉 大門", amount=-41_877, account=account,
            mf_id=f"b{account}", date="2024-01-20")  # fmt: skip
    review.detect(ledger, DetectionOptions())
    listed = review.list_candidates(ledger).candidates
    (shared,) = (each for each in listed if each.transaction_1.amount == -41_877)
    sure = [each for each in listed if each is not shared]
    assert [each.is_likely for each in listed] == [True] * 3
    assert ([each.alike_count for each in sure], shared.alike_count) == ([1, 1], 0)
    choice = ReviewDecision("duplicate", alike=True)
    done = deciding.confirm(ledger, sure[0].check_id, choice)
    assert done.message.startswith("2件の候補を重複として記録し、")
    left = "同じ口座でも理由や確かさが違う1件の候補は、判定せずに残しました。"
    assert done.message.endswith(left)
    assert "1 candidate of the same accounts" in in_english(done.message)
    assert marks(ledger) == {2: 1, 4: 3}
    undo = ReviewDecision("skip", alike=True)
    back = deciding.confirm(ledger, sure[0].check_id, undo)
    assert (left in back.message, marks(ledger)) == (False, {})
    alone = deciding.confirm(ledger, shared.check_id, choice)
    assert alone.message.endswith(
        "同じ口座でも理由や確かさが違う2件の候補は、判定せずに残しました。"
    )


def test_purchases_of_two_accounts_are_alike_however_common_their_amounts(ledger):
    for number, amount in enumerate((-1_234, -2_345, -500)):
        for account, name in (("Amazon", "品物"), ("カードA", "AMAZON.CO.JP")):
            add(ledger, description=name, amount=amount, account=account,
                mf_id=f"{account}{number}", date=f"2024-01-{10 + number}")  # fmt: skip
    for day in range(1, 29):
        add(ledger, description="喫茶", amount=-500, account="カードA", mf_id=f"t{day}",
            date=f"2024-02-{day:02}")  # fmt: skip
    review.detect(ledger, DetectionOptions())
    listed = review.list_candidates(ledger).candidates
    is_common = ["よくある金額で、偶然同じになりやすい" in one.reasons for one in listed]
    assert (is_common, [one.alike_count for one in listed]) == ([False, False, True], [2, 2, 2])


def test_a_habit_is_one_line_of_the_list_and_closed_at_once(ledger):
    for day in range(10, 15):
        for stations in ("入 新宿 出 渋谷", "入 渋谷 出 新宿"):
            add(
                ledger, description=stations, amount=-178, account="モバイルSuica",
                mf_id=f"{day}{stations}", date=f"2024-01-{day}",
            )  # fmt: skip
    review.detect(ledger, DetectionOptions())
    (one,) = review.list_candidates(ledger).candidates
    assert (one.is_likely, one.alike_count) == (False, 4)
    answer = deciding.confirm(ledger, one.check_id, ReviewDecision("not_duplicate", alike=True))
    assert answer.message.startswith("5件の候補を重複ではないと記録しました。")
    assert review.stats(ledger).confirmed_not_duplicate == 5
    assert review.detect(ledger, DetectionOptions()).candidates_count == 0


def test_an_import_tells_once_of_as_many_candidates_as_the_list_has(ledger):
    shop = "ヨドバシカメラ"
    for month in range(1, 7):
        for account, text in (("カードA", shop), ("カードB", f"PAYPAY*{shop}"), ("PayPay", shop)):
            add(
                ledger, description=text, amount=-12_000 - month, account=account,
                mf_id=f"{account}{month}", date=f"2024-{month:02}-10",
            )  # fmt: skip
    review.detect(ledger, DetectionOptions(), by_user=False)
    assert review.count_news(ledger) == (6, 0, 0)
    assert len(review.list_candidates(ledger).candidates) == 6
    assert "同じ買い物が二度入っているらしい組が6件あります" in review.take_news(ledger)
    assert review.take_news(ledger) == ""
    review.detect(ledger, DetectionOptions(), by_user=False)
    assert review.count_news(ledger) == (0, 0, 0)


def test_of_equally_unlikely_candidates_the_largest_amount_is_first(ledger):
    for number, amount in enumerate([-314, -314, -32_780, -32_780, -980, -980]):
        add(ledger, description=f"店{amount}", amount=amount, account="カード", mf_id=f"M{number}")
    review.detect(ledger, DetectionOptions())
    listed = review.list_candidates(ledger).candidates
    assert len({one.similarity_score for one in listed}) == 1
    assert [one.transaction_1.amount for one in listed] == [-32_780, -980, -314]
