"""A review of duplicates on a real database: listed pairs, decisions and restorations."""

from dataclasses import replace
from decimal import Decimal

import apsw
import pytest
from review_ledger import EXACT, FILE, add, decide, make_household, marks, pairs

from mdvec.database.connection import open_database
from mdvec.household import Ledger, deciding, review
from mdvec.household.core.pair import CandidateCounts, DetectionOptions, DuplicateDetectionError
from mdvec.household.core.review_wording import Detection, detection_message
from mdvec.household.deciding import InvalidDecision, ReviewDecision, RowNotInCandidate
from mdvec.household.english import in_english
from mdvec.household.interfaces import duplicate_checks
from mdvec.household.interfaces import marks as marks_table
from mdvec.household.review import (
    CheckNotFound,
    DuplicateResolutionError,
    TransactionNotFound,
)


@pytest.fixture
def db(tmp_path):
    with open_database(tmp_path / "vectors.sqlite", "create") as connection:
        yield connection


@pytest.fixture
def tool(db):
    return make_household(db)


@pytest.fixture
def ledger(db, tool):
    return Ledger.undated(db, tool)


@pytest.fixture
def pair(ledger, db, tool):
    """Two rows that are alike, found by a search: check 1."""
    add(db, tool, 2)
    review.detect(ledger, EXACT)


@pytest.fixture
def three(ledger, db, tool):
    """The checks of three rows that are alike, found by a search."""
    add(db, tool, 3)
    review.detect(ledger, EXACT)
    return pairs(db, tool)


def candidates(db, tool, **more):
    """The ids of the rows of each listed candidate."""
    listed = review.list_candidates(Ledger.undated(db, tool), 50, **more).candidates
    return [
        tuple(row.id for row in (one.transaction_1, one.transaction_2, *one.others))
        for one in listed
    ]


def version(db, tool):
    found = db.execute("SELECT version FROM ledger_versions WHERE tool_id = ?", (tool,)).fetchone()
    return found[0] if found else 0


def test_a_search_keeps_its_pairs_for_review(ledger, db, tool):
    for shop in ("スーパー", "書店", "カフェ"):
        add(db, tool, 2, description=shop, amount=-len(shop) * 100)
    found = review.detect(ledger, EXACT)
    assert found.candidates_count == found.new_count == 3
    assert found.message.startswith("3件の重複候補が見つかりました（同じ買い物らしい 3件、")
    assert marks(db) == {}
    assert review.detect(ledger, EXACT).new_count == 0


def test_a_search_without_likely_pairs_offers_a_wider_one(ledger, db, tool):
    add(db, tool, date="2022-01-15")
    assert review.detect(ledger, DetectionOptions(1)).message == (
        "重複候補は見つかりませんでした。"
        "date_tolerance_days を7にすると、日付がもっと離れた組も探せます。"
    )
    add(db, tool, account="カードA", mf_id="a")
    add(db, tool, account="カードA", mf_id="b")
    add(db, tool, account="カードA", mf_id="c", date="2024-01-16")
    found = review.detect(ledger, DetectionOptions(1))
    assert (found.candidates_count, found.likely_count, found.below_threshold_count) == (1, 0, 2)
    assert found.message == (
        "1件の重複候補が見つかりました（同じ買い物らしい 0件、別の買い物らしい 1件）。"
        "list_duplicate_candidates で一覧を確認できます。"
        "date_tolerance_days を7にすると、日付がもっと離れた組も探せます。"
        "ほかに類似度0.5未満の組が2件あります"
        "（min_similarity_score を下げると、似たものはまとめて候補になります）。"
    )
    widest = review.detect(ledger, DetectionOptions(366, min_similarity_score=0))
    assert "date_tolerance_days" not in widest.message
    found = Detection(1, 0, 1, 0, below_threshold_count=2, dropped_count=0, followed_count=0)
    none = CandidateCounts.of([])
    told = detection_message(found, none, least=0, wider_days=0, too_many=False)
    assert "類似度" not in told  # none is below 0
    (one,) = review.list_candidates(ledger).candidates
    assert (one.is_likely, one.reasons) == (
        False,
        ("同じ口座の明細に別の行としてある", "この店は前後45日で3回ある"),
    )


def test_a_search_that_was_too_wide_is_taken_back_by_a_narrower_one(ledger, db, tool):
    add(db, tool)
    add(db, tool, date="2024-01-16")
    add(db, tool, date="2024-01-17")
    review.detect(ledger, DetectionOptions(2))
    assert list(pairs(db, tool)) == [(1, 2), (2, 3), (1, 3)]
    decide(db, tool, pairs(db, tool)[1, 3], "skip")
    assert review.detect(ledger, DetectionOptions(1), [1]).dropped_count == 0
    found = review.detect(ledger, EXACT)
    assert found.dropped_count == 2
    assert "前の検索だけが見つけた未判定の2組は候補から外しました。" in found.message
    assert list(pairs(db, tool)) == [(1, 3)]


def test_a_candidate_shows_both_rows_and_how_it_was_found(ledger, db, tool):
    add(db, tool)
    add(db, tool, date="2024-01-16", amount=-5020, account="カードA", memo="夕食")
    review.detect(ledger, DetectionOptions(3, Decimal(50), Decimal("1.5")))
    (one,) = review.list_candidates(ledger).candidates
    assert one == review.candidate_detail(ledger, one.check_id)
    assert (one.date_diff_days, one.amount_diff, one.user_decision) == (1, 20, None)
    assert one.is_likely
    assert one.reasons == ("店名が同じ", "一方は手入力かレシート", "金額が違う")
    params = one.detection_params
    assert (params.date_tolerance_days, params.amount_tolerance_abs) == (3, 50.0)
    assert params.amount_tolerance_pct == 1.5
    shown = one.transaction_2
    assert (shown.id, str(shown.date), shown.amount) == (2, "2024-01-16", -5020)
    assert (shown.description, shown.account, shown.memo) == (
        "スーパーマーケット A店",
        "カードA",
        "夕食",
    )
    assert (shown.category_major, shown.category_minor) == ("食費", "食料品")
    assert (shown.source_file, shown.row_number) == (FILE, 3)


def test_duplicate_takes_the_second_row_out_of_the_sums(ledger, db, tool, pair):
    before = version(db, tool)
    answer = decide(db, tool, 1, "duplicate")
    assert (answer.success, answer.marked_transaction_id) == (True, 2)
    assert answer.message.startswith(
        "重複として記録しました。取引ID 1 を残し、取引ID 2 を今後の集計から除外しました。"
    )
    assert marks(db) == {2: 1}
    assert review.stats(ledger).duplicate_rate == 50.0
    assert [row.id for row in duplicate_checks.compared_rows(ledger) if row.counts] == [1]
    checked = db.execute("SELECT duplicate_checked FROM transactions").fetchall()
    assert checked == [(1,), (1,)]
    assert version(db, tool) > before


def test_deciding_the_same_again_changes_nothing(db, tool, pair):
    for decision, words in [
        ("duplicate", "既に重複として記録されています"),
        ("not_duplicate", "既に重複ではないと記録されています"),
        ("skip", "既に保留"),
    ]:
        decide(db, tool, 1, decision)
        before = marks(db), version(db, tool), db.total_changes()
        again = decide(db, tool, 1, decision)
        assert again.success
        assert words in again.message
        assert (marks(db), version(db, tool), db.total_changes()) == before


@pytest.mark.parametrize("decision", ["not_duplicate", "skip"])
def test_another_decision_removes_the_mark(db, tool, pair, decision):
    decide(db, tool, 1, "duplicate")
    answer = decide(db, tool, 1, decision)
    assert "取引ID 2 のフラグを外しました。" in answer.message
    assert (answer.marked_transaction_id, marks(db)) == (None, {})


def test_a_skipped_pair_stays_open_after_the_new_ones(ledger, db, tool):
    add(db, tool)
    add(db, tool)
    add(db, tool, description="スーパーマーケット")
    review.detect(ledger, EXACT)
    assert list(pairs(db, tool)) == [(1, 2), (1, 3), (2, 3)]
    decide(db, tool, 1, "skip")
    assert list(pairs(db, tool)) == [(1, 3), (2, 3), (1, 2)]
    listed = review.list_candidates(ledger).total_count
    assert review.stats(ledger).pending_checks == listed == 1
    assert review.detect(ledger, EXACT).candidates_count == 1


@pytest.mark.parametrize("decision", ["duplicate", "not_duplicate"])
def test_a_decided_pair_is_never_asked_about_again(ledger, db, tool, pair, decision):
    decide(db, tool, 1, decision)
    again = review.detect(ledger, DetectionOptions(min_similarity_score=0.5))
    assert (again.candidates_count, pairs(db, tool)) == (0, {})
    assert review.candidate_detail(ledger, 1).user_decision == decision
    assert pairs(db, tool, skip_checked=False) == {(1, 2): 1}
    if decision == "not_duplicate":
        assert "判定済みの1組は除いています" in again.message


def test_an_open_pair_gets_its_newer_score(ledger, db, tool):
    add(db, tool)
    add(db, tool, account="カードA")
    review.detect(ledger, EXACT)
    db.execute("UPDATE transactions SET amount = -5040 WHERE id = 2")
    review.detect(ledger, DetectionOptions(amount_tolerance_pct=Decimal(1)))
    one = review.candidate_detail(ledger, 1)
    assert (one.amount_diff, one.detection_params.amount_tolerance_pct) == (40, 1.0)
    assert one.similarity_score < 1


def test_a_decided_pair_keeps_its_score_and_tolerances(ledger, db, tool, pair):
    decide(db, tool, 1, "not_duplicate")
    before = review.candidate_detail(ledger, 1)
    review.detect(ledger, DetectionOptions(3))
    assert review.candidate_detail(ledger, 1) == before


def test_three_copies_leave_one(db, tool, three):
    decide(db, tool, three[1, 2], "duplicate")
    # 2 is out of the sums, so nobody needs to be asked about it.
    assert pairs(db, tool) == {(1, 3): three[1, 3]}
    chained = decide(db, tool, three[2, 3], "duplicate")
    assert "取引ID 2 も重複のため、残る取引は取引ID 1 です。" in chained.message
    assert marks(db) == {2: 1, 3: 1}
    assert pairs(db, tool) == {}


def test_a_row_marked_by_two_pairs_stays_marked_until_both_are_undone(db, tool, three):
    decide(db, tool, three[1, 3], "duplicate")
    second = decide(db, tool, three[2, 3], "duplicate")
    assert second.message.startswith("重複として記録しました。取引ID 2 を残し、取引ID 3 を")
    assert (second.success, marks(db)) == (True, {3: 1})
    still = decide(db, tool, three[1, 3], "not_duplicate")
    assert "フラグはそのままです" in still.message
    assert marks(db) == {3: 2}
    decide(db, tool, three[2, 3], "not_duplicate")
    assert marks(db) == {}


def test_when_an_original_turns_out_to_be_a_duplicate_its_copies_follow(ledger, db, tool, three):
    decide(db, tool, three[2, 3], "duplicate")
    assert marks(db) == {3: 2}
    decide(db, tool, three[1, 2], "duplicate")
    assert marks(db) == {2: 1, 3: 1}
    deciding.restore(ledger, 2)
    assert marks(db) == {3: 2}


def test_a_restored_row_counts_and_its_pair_is_not_a_duplicate(ledger, db, tool, pair):
    decide(db, tool, 1, "duplicate")
    answer = deciding.restore(ledger, 2)
    assert answer.success
    assert answer.message.startswith("取引ID 2 を復元しました。再び集計に含まれます。")
    assert review.candidate_detail(ledger, 1).user_decision == "not_duplicate"
    assert (marks(db), pairs(db, tool)) == ({}, {})
    assert review.detect(ledger, EXACT).candidates_count == 0
    again = deciding.restore(ledger, 2)
    assert again.success
    assert "マークされていません" in again.message


def test_a_search_frees_rows_that_lost_their_original(ledger, db, tool, three):
    decide(db, tool, three[1, 2], "duplicate")
    db.execute("DELETE FROM transactions WHERE id = 1")
    assert review.detect(ledger, EXACT).candidates_count == 1
    assert (marks(db), list(pairs(db, tool))) == ({}, [(2, 3)])


@pytest.mark.parametrize("column", ["is_target = 0", "is_transfer = 1", "amount = NULL"])
def test_a_pair_with_a_row_that_no_longer_counts_is_not_listed(ledger, db, tool, pair, column):
    db.execute(f"UPDATE transactions SET {column} WHERE id = 1")
    assert (pairs(db, tool), review.stats(ledger).pending_checks) == ({}, 0)
    assert review.detect(ledger, EXACT).candidates_count == 0
    assert pairs(db, tool, skip_checked=False) == {}


def test_two_households_never_mix(ledger, db, tool):
    other = make_household(db, "other")
    for owner in (tool, tool, other, other):
        add(db, owner)
    review.detect(ledger, EXACT)
    assert list(pairs(db, tool)) == [(1, 2)]
    assert pairs(db, other) == {}
    with pytest.raises(CheckNotFound):
        decide(db, other, 1, "duplicate")
    with pytest.raises(TransactionNotFound):
        review.detect(Ledger.undated(db, other), EXACT, [1])
    decide(db, tool, 1, "duplicate")
    with pytest.raises(TransactionNotFound):
        deciding.restore(Ledger.undated(db, other), 2)
    assert review.stats(Ledger.undated(db, other)).marked_duplicates == 0


def test_a_search_of_some_transactions_finds_their_pairs_only(ledger, db, tool):
    for day in (1, 1, 2, 2):
        add(db, tool, date=f"2024-02-0{day}")
    assert review.detect(ledger, EXACT, [4]).candidates_count == 1
    assert list(pairs(db, tool)) == [(3, 4)]
    assert review.detect(ledger, EXACT, []).candidates_count == 2  # as if none were stated


def test_unknown_ids_are_named_in_the_error(ledger, db, tool):
    add(db, tool)
    for check_id in (99, -1, 2**70):
        with pytest.raises(CheckNotFound, match="指定された重複候補が見つかりません"):
            review.candidate_detail(ledger, check_id)
        with pytest.raises(CheckNotFound, match="list_duplicate_candidates"):
            decide(db, tool, check_id, "duplicate")
    for transaction_id in (99, -(2**70)):
        with pytest.raises(TransactionNotFound, match="指定された取引が見つかりません"):
            deciding.restore(ledger, transaction_id)
        with pytest.raises(TransactionNotFound, match="指定された取引が見つかりません"):
            review.detect(ledger, EXACT, [1, transaction_id])


def test_an_unknown_decision_changes_nothing(ledger, db, tool, pair):
    with pytest.raises(InvalidDecision, match="判定値が不正です（duplicate/not_duplicate/skip"):
        decide(db, tool, 1, "maybe")
    assert review.candidate_detail(ledger, 1).user_decision is None


def test_a_list_has_pages_of_one_to_fifty_candidates(ledger, db, tool):
    for number in range(60):
        add(db, tool, 2, description=f"店の名前{number}", amount=-1001 - number)
    review.detect(ledger, EXACT)
    listed = review.list_candidates(ledger, 50)
    assert (len(listed.candidates), listed.total_count, listed.next_page) == (50, 60, 2)
    assert listed.message.startswith(
        "未確認の重複候補は60件です（同じ買い物らしい 60件、別の買い物らしい 0件）。1/2ページです。"
    )
    last = review.list_candidates(ledger, 50, page=2)
    assert (len(last.candidates), last.next_page) == (10, None)
    assert {one.check_id for one in (*listed.candidates, *last.candidates)} == set(range(1, 61))
    assert len(review.list_candidates(ledger).candidates) == 10
    for limit in (0, 51, -1):
        with pytest.raises(DuplicateResolutionError, match="limit は1〜50"):
            review.list_candidates(ledger, limit)
    for page in (0, 3):
        with pytest.raises(DuplicateResolutionError, match="page は1〜2"):
            review.list_candidates(ledger, 50, page=page)


def test_a_decision_is_written_whole_or_not_at_all(ledger, db, tool, pair):
    db.execute(
        "CREATE TRIGGER no_marks BEFORE UPDATE OF is_duplicate ON transactions "
        "BEGIN SELECT raise(ABORT, 'no'); END"
    )
    with pytest.raises(apsw.ConstraintError):
        decide(db, tool, 1, "duplicate")
    assert review.candidate_detail(ledger, 1).user_decision is None
    assert (marks(db), review.stats(ledger).pending_checks) == ({}, 1)


def test_a_search_with_too_many_pairs_stores_nothing(ledger, db, tool):
    with db:
        add(db, tool, 449)
    with pytest.raises(DuplicateDetectionError, match="多すぎます"):
        review.detect(ledger, EXACT)
    assert review.list_candidates(ledger).total_count == 0


def three_of_one(db, tool):
    """A note by hand, the app's row and the card's row of one purchase."""
    add(db, tool, description="QBハウス", amount=-1430, account="財布", mf_id="a")
    add(db, tool, description="QB HOUSE 田町", amount=-1430, account="PayPay", mf_id="b")
    add(
        db, tool, description="PAYPAY*キユ-ビ-ハウス", amount=-1430, account="カードA", mf_id="c",
        date="2024-01-16",
    )  # fmt: skip


def test_three_rows_of_one_purchase_are_one_candidate(ledger, db, tool):
    three_of_one(db, tool)
    assert review.detect(ledger, DetectionOptions()).candidates_count == 1
    assert candidates(db, tool) == [(1, 2, 3)]
    (one,) = review.list_candidates(ledger).candidates
    assert one.reasons[:2] == ("内容がもう一方の口座の店や決済サービスを指している", "店名が同じ")
    answer = deciding.confirm(ledger, one.check_id, ReviewDecision("duplicate", keep=3))
    assert answer.message.startswith(
        "重複として記録しました。取引ID 3 を残し、取引ID 1、2 を今後の集計から除外しました。"
    )
    assert (answer.marked_transaction_ids, marks(db)) == ((1, 2), {1: 3, 2: 3})
    assert candidates(db, tool) == []
    deciding.restore(ledger, 1)
    assert marks(db) == {2: 3}


def test_a_candidate_has_the_score_of_its_best_pair(ledger, db, tool):
    add(db, tool, 4)
    for first, second, score in [(3, 4, 0.9), (1, 2, 0.8), (1, 3, 0.7)]:
        db.execute(
            "INSERT INTO duplicate_checks (tool_id, transaction_id_1, transaction_id_2, "
            "similarity_score, detection_date_tolerance, detection_amount_tolerance_abs, "
            "detection_amount_tolerance_pct) VALUES (?, ?, ?, ?, 4, '0', '10')",
            (tool, first, second, score),
        )
    (one,) = review.list_candidates(ledger).candidates
    assert (one.similarity_score, len(one.others)) == (0.9, 2)


def test_only_some_rows_of_a_candidate_can_be_decided(ledger, db, tool):
    three_of_one(db, tool)
    review.detect(ledger, DetectionOptions())
    deciding.confirm(ledger, 1, ReviewDecision("duplicate", keep=3, rows=(2, 3)))
    assert marks(db) == {2: 3}
    assert candidates(db, tool) == [(1, 3)]
    deciding.confirm(ledger, pairs(db, tool)[1, 3], ReviewDecision("not_duplicate"))
    assert candidates(db, tool) == []


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (ReviewDecision("duplicate", keep=9), "keep には、この候補の取引ID（1、2、3）"),
        (ReviewDecision("duplicate", keep=1, rows=(2, 3)), "keep には、この候補の取引ID（2、3）"),
        (
            ReviewDecision("duplicate", rows=(1, 9)),
            "transaction_ids には、この候補の取引ID（1、2、3）",
        ),
        (ReviewDecision("duplicate", rows=(1,)), "transaction_ids には"),
    ],
)
def test_rows_of_other_candidates_are_refused(ledger, db, tool, choice, words):
    three_of_one(db, tool)
    review.detect(ledger, DetectionOptions())
    with pytest.raises(RowNotInCandidate, match=words):
        deciding.confirm(ledger, 1, choice)
    assert marks(db) == {}


def test_the_user_changes_which_row_stays(ledger, db, tool):
    add(db, tool)
    add(db, tool, account="カードA")
    review.detect(ledger, EXACT)
    deciding.confirm(ledger, 1, ReviewDecision("duplicate", keep=2))
    assert marks(db) == {1: 2}
    deciding.confirm(ledger, 1, ReviewDecision("duplicate", keep=1))
    assert marks(db) == {2: 1}


def test_decisions_that_would_keep_no_row_keep_one(ledger, db, three):
    for rows, keep in [((1, 2), 1), ((2, 3), 2), ((1, 3), 3)]:
        check = duplicate_checks.get_check(ledger, three[rows])
        with db:
            marks_table.record_decision(ledger, check.id, "duplicate", keep)
            marks_table.update_marks(ledger)
    assert len(marks(db)) == 2
    assert set(marks(db).values()) | set(marks(db)) == {1, 2, 3}


def connected_twice(db, tool, count=4):
    """Purchases of a card that the household connected a second time."""
    for number in range(count):
        for account in ("カードA", "カードA (新)"):
            add(
                db, tool, description=f"店の名前{number}", amount=-1234 - 11 * number,
                account=account, mf_id=f"{account}{number}", date=f"2024-01-{10 + number}",
            )  # fmt: skip


@pytest.mark.parametrize("one_first", [False, True])
def test_all_purchases_of_the_same_accounts_are_decided_at_once_and_taken_back(
    ledger, db, tool, one_first
):
    connected_twice(db, tool)
    add(db, tool, 2, amount=-777)
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
    assert marks(db) == {number: number + 1 for number in (1, 3, 5, 7)}
    assert candidates(db, tool) == [(9, 10)]
    (other,) = review.list_candidates(ledger).candidates
    deciding.confirm(ledger, other.check_id, ReviewDecision("duplicate"))
    deciding.confirm(ledger, one.check_id, ReviewDecision("skip", alike=True))
    # The other one was decided in the same second, but by another request.
    assert (marks(db), len(candidates(db, tool))) == ({10: 9}, 4)


@pytest.mark.parametrize("is_alike", [False, True])
def test_a_decision_names_the_categories_that_lose_rows_and_how_to_keep_them(db, tool, is_alike):
    for number in range(2):
        for account, major, minor in (
            ("カードA", "未分類", "未分類"),
            ("カードA (新)", "住宅", "家具"),
        ):
            add(
                db, tool, description=f"店の名前{number}", amount=-1_234 - 11 * number,
                account=account, mf_id=f"{account}{number}", date=f"2024-01-{10 + number}",
                category_major=major, category_minor=minor,
            )  # fmt: skip
    ledger = Ledger.undated(db, tool)
    review.detect(ledger, DetectionOptions())
    check = review.list_candidates(ledger).candidates[0].check_id
    done = deciding.confirm(ledger, check, ReviewDecision("duplicate", alike=is_alike))
    lost = (2, 2_479) if is_alike else (1, 1_234 + 11 * (done.marked_transaction_ids == (4,)))
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
    assert keep not in marks(db)


def test_a_purchase_for_other_reasons_is_left_where_all_alike_are_decided(ledger, db, tool):
    """A shared bill of the same two cards, and two orders of which a card has the rows, too."""
    for number in range(2):
        add(db, tool, description=f"品物{number}", amount=-1_234 - 11 * number, account="Amazon",
            mf_id=f"a{number}", date=f"2024-01-{10 + number}")  # fmt: skip
        add(db, tool, description="AMAZON.CO.JP", amount=-1_234 - 11 * number, account="カードA",
            mf_id=f"c{number}", date=f"2024-01-{10 + number}")  # fmt: skip
    for account in ("Amazon", "カードA"):
        add(db, tool, description="焼肉 大門", amount=-41_877, account=account,
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
    assert marks(db) == {2: 1, 4: 3}
    undo = ReviewDecision("skip", alike=True)
    back = deciding.confirm(ledger, sure[0].check_id, undo)
    assert (left in back.message, marks(db)) == (False, {})
    alone = deciding.confirm(ledger, shared.check_id, choice)
    assert alone.message.endswith(
        "同じ口座でも理由や確かさが違う2件の候補は、判定せずに残しました。"
    )


def test_purchases_of_two_accounts_are_alike_however_common_their_amounts(ledger, db, tool):
    for number, amount in enumerate((-1_234, -2_345, -500)):
        for account, name in (("Amazon", "品物"), ("カードA", "AMAZON.CO.JP")):
            add(db, tool, description=name, amount=amount, account=account,
                mf_id=f"{account}{number}", date=f"2024-01-{10 + number}")  # fmt: skip
    for day in range(1, 29):
        add(db, tool, description="喫茶", amount=-500, account="カードA", mf_id=f"t{day}",
            date=f"2024-02-{day:02}")  # fmt: skip
    review.detect(ledger, DetectionOptions())
    listed = review.list_candidates(ledger).candidates
    is_common = ["よくある金額で、偶然同じになりやすい" in one.reasons for one in listed]
    assert (is_common, [one.alike_count for one in listed]) == ([False, False, True], [2, 2, 2])


def test_a_habit_is_one_line_of_the_list_and_closed_at_once(ledger, db, tool):
    for day in range(10, 15):
        for stations in ("入 新宿 出 渋谷", "入 渋谷 出 新宿"):
            add(
                db, tool, description=stations, amount=-178, account="モバイルSuica",
                mf_id=f"{day}{stations}", date=f"2024-01-{day}",
            )  # fmt: skip
    review.detect(ledger, DetectionOptions())
    (one,) = review.list_candidates(ledger).candidates
    assert (one.is_likely, one.alike_count) == (False, 4)
    answer = deciding.confirm(ledger, one.check_id, ReviewDecision("not_duplicate", alike=True))
    assert answer.message.startswith("5件の候補を重複ではないと記録しました。")
    assert review.stats(ledger).confirmed_not_duplicate == 5
    assert review.detect(ledger, DetectionOptions()).candidates_count == 0


def test_an_import_tells_as_many_candidates_as_the_list_has(ledger, db, tool):
    shop = "ヨドバシカメラ"
    for month in range(1, 7):
        for account, text in (("カードA", shop), ("カードB", f"PAYPAY*{shop}"), ("PayPay", shop)):
            add(
                db, tool, description=text, amount=-12_000 - month, account=account,
                mf_id=f"{account}{month}", date=f"2024-{month:02}-10",
            )  # fmt: skip
    review.detect(ledger, DetectionOptions(), by_user=False)
    assert review.count_news(ledger) == (6, 0, 0)
    assert len(review.list_candidates(ledger).candidates) == 6


def test_what_an_import_finds_is_told_once(ledger, db, tool):
    connected_twice(db, tool, 3)
    review.detect(ledger, DetectionOptions(), by_user=False)
    assert review.count_news(ledger) == (3, 0, 0)
    assert "同じ買い物が二度入っているらしい組が3件あります" in review.take_news(ledger)
    assert review.take_news(ledger) == ""
    review.detect(ledger, DetectionOptions(), by_user=False)
    assert review.count_news(ledger) == (0, 0, 0)


def test_an_imports_search_takes_nothing_back(ledger, db, tool):
    add(db, tool)
    add(db, tool, date="2024-01-21")
    review.detect(ledger, DetectionOptions(7))
    assert candidates(db, tool) == [(1, 2)]
    review.detect(ledger, DetectionOptions(), by_user=False)
    assert candidates(db, tool) == [(1, 2)]


def test_every_pair_that_the_tolerances_and_the_score_admit_is_listed(ledger, db, tool):
    add(db, tool, date="2024-01-16", description="ドラッグB", amount=-2_000, account="カードA")
    add(db, tool, date="2024-01-18", description="ドラッグB", amount=-2_010, account="PayPay")
    near = DetectionOptions(2, Decimal(10), Decimal(0))
    assert "類似度0.5未満の組が1件あります" in review.detect(ledger, near).message
    found = review.detect(ledger, replace(near, min_similarity_score=0), [1])
    assert (found.candidates_count, found.below_threshold_count) == (1, 0)
    (one,) = review.list_candidates(ledger).candidates
    assert (one.similarity_score < 0.01, one.amount_diff) == (True, 10)


def test_pairs_too_many_to_list_are_not_promised(ledger, db, tool, monkeypatch):
    for amount in (-1_000, -1_001, -1_002):
        add(db, tool, amount=amount, account="カードA", mf_id=str(amount))
    for module in ("pair", "pairs"):
        monkeypatch.setattr(f"mdvec.household.core.{module}.MAX_PAIRS", 2)
    assert review.detect(ledger, DetectionOptions(0)).message.endswith(
        "ほかに類似度0.5未満の組が3件あります（min_similarity_score を下げ、"
        "多いので日付や金額の許容誤差も小さくすると候補になります）。"
    )
    with pytest.raises(DuplicateDetectionError, match="多すぎます（3件以上"):
        review.detect(ledger, DetectionOptions(0, min_similarity_score=0))
