"""A review of duplicates on a real database: listed pairs, decisions and restorations."""

from dataclasses import replace
from decimal import Decimal

import apsw
import pytest
from review_ledger import EXACT, FILE, add, candidates, decide, make_household, marks, pairs

from mdvec.household import deciding, review
from mdvec.household.core.pair import CandidateCounts, DetectionOptions, DuplicateDetectionError
from mdvec.household.core.review_wording import Detection, detection_message
from mdvec.household.core.wording import InvalidChoice, InvalidPage
from mdvec.household.deciding import ReviewDecision, RowNotInCandidate
from mdvec.household.interfaces import duplicate_checks
from mdvec.household.interfaces import marks as marks_table
from mdvec.household.review import CheckNotFound, TransactionNotFound


@pytest.fixture
def ledger(connection):
    return make_household(connection)


@pytest.fixture
def pair(ledger):
    """Two rows that are alike, found by a search: check 1."""
    add(ledger, 2)
    review.detect(ledger, EXACT)


@pytest.fixture
def three(ledger):
    """The checks of three rows that are alike, found by a search."""
    add(ledger, 3)
    review.detect(ledger, EXACT)
    return pairs(ledger)


def version(ledger):
    return ledger.number("SELECT version FROM ledger_versions WHERE tool_id = ?")


def test_a_search_without_likely_pairs_offers_a_wider_one(ledger):
    add(ledger, date="2022-01-15")
    assert review.detect(ledger, DetectionOptions(1)).message == (
        "重複候補は見つかりませんでした。"
        "date_tolerance_days を7にすると、日付がもっと離れた組も探せます。"
    )
    add(ledger, account="カードA", mf_id="a")
    add(ledger, account="カードA", mf_id="b")
    add(ledger, account="カードA", mf_id="c", date="2024-01-16")
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


def test_a_search_that_was_too_wide_is_taken_back_by_a_narrower_one(ledger):
    add(ledger)
    add(ledger, date="2024-01-16")
    add(ledger, date="2024-01-17")
    review.detect(ledger, DetectionOptions(2))
    assert list(pairs(ledger)) == [(1, 2), (2, 3), (1, 3)]
    decide(ledger, pairs(ledger)[1, 3], "skip")
    assert review.detect(ledger, DetectionOptions(1), [1]).dropped_count == 0
    found = review.detect(ledger, EXACT)
    assert found.dropped_count == 2
    assert "前の検索だけが見つけた未判定の2組は候補から外しました。" in found.message
    assert list(pairs(ledger)) == [(1, 3)]


def test_a_candidate_shows_both_rows_and_how_it_was_found(ledger):
    add(ledger)
    add(ledger, date="2024-01-16", amount=-5020, account="カードA", memo="夕食")
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


def test_duplicate_takes_the_second_row_out_of_the_sums(ledger, pair):
    before = version(ledger)
    answer = decide(ledger, 1, "duplicate")
    assert (answer.success, answer.marked_transaction_id) == (True, 2)
    assert answer.message.startswith(
        "重複として記録しました。取引ID 1 を残し、取引ID 2 を今後の集計から除外しました。"
    )
    assert marks(ledger) == {2: 1}
    assert review.stats(ledger).duplicate_rate == 50.0
    assert [row.id for row in duplicate_checks.compared_rows(ledger) if row.counts] == [1]
    checked = ledger.connection.execute("SELECT duplicate_checked FROM transactions").fetchall()
    assert checked == [(1,), (1,)]
    assert version(ledger) > before


def test_another_decision_moves_the_mark_and_the_same_again_changes_nothing(ledger, pair):
    for decision, marked, words in [
        ("duplicate", {2: 1}, "既に重複として記録されています"),
        ("not_duplicate", {}, "既に重複ではないと記録されています"),
        ("duplicate", {2: 1}, "既に重複として記録されています"),
        ("skip", {}, "既に保留"),
    ]:
        answer = decide(ledger, 1, decision)
        assert ("取引ID 2 のフラグを外しました。" in answer.message) == (not marked)
        assert marks(ledger) == marked
        before = marks(ledger), version(ledger), ledger.connection.total_changes()
        again = decide(ledger, 1, decision)
        assert again.success
        assert words in again.message
        assert (marks(ledger), version(ledger), ledger.connection.total_changes()) == before


def test_a_skipped_pair_stays_open_after_the_new_ones(ledger):
    add(ledger)
    add(ledger)
    add(ledger, description="スーパーマーケット")
    review.detect(ledger, EXACT)
    assert list(pairs(ledger)) == [(1, 2), (1, 3), (2, 3)]
    decide(ledger, 1, "skip")
    assert list(pairs(ledger)) == [(1, 3), (2, 3), (1, 2)]
    listed = review.list_candidates(ledger).total_count
    assert review.stats(ledger).pending_checks == listed == 1
    assert review.detect(ledger, EXACT).candidates_count == 1


@pytest.mark.parametrize("decision", ["duplicate", "not_duplicate"])
def test_a_decided_pair_stays_as_it_is_and_is_never_asked_about_again(ledger, pair, decision):
    decide(ledger, 1, decision)
    decided = review.candidate_detail(ledger, 1)
    again = review.detect(ledger, DetectionOptions(3))
    assert (again.candidates_count, pairs(ledger)) == (0, {})
    assert (review.candidate_detail(ledger, 1), decided.user_decision) == (decided, decision)
    assert pairs(ledger, decided=True) == {(1, 2): 1}
    if decision == "not_duplicate":
        assert "判定済みの1組は除いています" in again.message


def test_an_open_pair_gets_its_newer_score(ledger):
    add(ledger)
    add(ledger, account="カードA")
    review.detect(ledger, EXACT)
    ledger.connection.execute("UPDATE transactions SET amount = -5040 WHERE id = 2")
    review.detect(ledger, DetectionOptions(amount_tolerance_pct=Decimal(1)))
    one = review.candidate_detail(ledger, 1)
    assert (one.amount_diff, one.detection_params.amount_tolerance_pct) == (40, 1.0)
    assert one.similarity_score < 1


def test_three_copies_leave_one(ledger, three):
    decide(ledger, three[1, 2], "duplicate")
    # 2 is out of the sums, so nobody needs to be asked about it.
    assert pairs(ledger) == {(1, 3): three[1, 3]}
    chained = decide(ledger, three[2, 3], "duplicate")
    assert "取引ID 2 も重複のため、残る取引は取引ID 1 です。" in chained.message
    assert marks(ledger) == {2: 1, 3: 1}
    assert pairs(ledger) == {}


def test_a_row_marked_by_two_pairs_stays_marked_until_both_are_undone(ledger, three):
    decide(ledger, three[1, 3], "duplicate")
    second = decide(ledger, three[2, 3], "duplicate")
    assert second.message.startswith("重複として記録しました。取引ID 2 を残し、取引ID 3 を")
    assert (second.success, marks(ledger)) == (True, {3: 1})
    still = decide(ledger, three[1, 3], "not_duplicate")
    assert "フラグはそのままです" in still.message
    assert marks(ledger) == {3: 2}
    decide(ledger, three[2, 3], "not_duplicate")
    assert marks(ledger) == {}


def test_a_restored_row_counts_and_its_pair_is_not_a_duplicate(ledger, pair):
    decide(ledger, 1, "duplicate")
    answer = deciding.restore(ledger, 2)
    assert answer.success
    assert answer.message.startswith("取引ID 2 を復元しました。再び集計に含まれます。")
    assert review.candidate_detail(ledger, 1).user_decision == "not_duplicate"
    assert (marks(ledger), pairs(ledger)) == ({}, {})
    assert review.detect(ledger, EXACT).candidates_count == 0
    again = deciding.restore(ledger, 2)
    assert again.success
    assert "マークされていません" in again.message


def test_a_search_frees_rows_that_lost_their_original(ledger, three):
    decide(ledger, three[1, 2], "duplicate")
    ledger.connection.execute("DELETE FROM transactions WHERE id = 1")
    assert review.detect(ledger, EXACT).candidates_count == 1
    assert (marks(ledger), list(pairs(ledger))) == ({}, [(2, 3)])


@pytest.mark.parametrize("column", ["is_target = 0", "is_transfer = 1", "amount = NULL"])
def test_a_pair_with_a_row_that_no_longer_counts_is_not_listed(ledger, pair, column):
    ledger.connection.execute(f"UPDATE transactions SET {column} WHERE id = 1")
    assert (pairs(ledger), review.stats(ledger).pending_checks) == ({}, 0)
    assert review.detect(ledger, EXACT).candidates_count == 0
    assert pairs(ledger, decided=True) == {}


def test_two_households_never_mix(ledger):
    other = make_household(ledger.connection, "other")
    for owner in (ledger, ledger, other, other):
        add(owner)
    review.detect(ledger, EXACT)
    assert list(pairs(ledger)) == [(1, 2)]
    assert pairs(other) == {}
    with pytest.raises(CheckNotFound):
        decide(other, 1, "duplicate")
    with pytest.raises(TransactionNotFound):
        review.detect(other, EXACT, [1])
    decide(ledger, 1, "duplicate")
    with pytest.raises(TransactionNotFound):
        deciding.restore(other, 2)
    assert review.stats(other).marked_duplicates == 0


def test_a_search_of_some_transactions_finds_their_pairs_only(ledger):
    for day in (1, 1, 2, 2):
        add(ledger, date=f"2024-02-0{day}")
    assert review.detect(ledger, EXACT, [4]).candidates_count == 1
    assert list(pairs(ledger)) == [(3, 4)]
    assert review.detect(ledger, EXACT, []).candidates_count == 2  # as if none were stated


def test_unknown_ids_are_named_in_the_error(ledger):
    add(ledger)
    for check_id in (99, -1, 2**70):
        with pytest.raises(CheckNotFound, match="指定された重複候補が見つかりません"):
            review.candidate_detail(ledger, check_id)
        with pytest.raises(CheckNotFound, match="list_duplicate_candidates"):
            decide(ledger, check_id, "duplicate")
    for transaction_id in (99, -(2**70)):
        with pytest.raises(TransactionNotFound, match="指定された取引が見つかりません"):
            deciding.restore(ledger, transaction_id)
        with pytest.raises(TransactionNotFound, match="指定された取引が見つかりません"):
            review.detect(ledger, EXACT, [1, transaction_id])


def test_a_list_has_pages_of_one_to_fifty_candidates(ledger):
    for number in range(60):
        add(ledger, 2, description=f"店の名前{number}", amount=-1001 - number)
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
        with pytest.raises(InvalidChoice, match="1〜50 を指定"):
            review.list_candidates(ledger, limit)
    for page in (0, 3):
        with pytest.raises(InvalidPage, match="1〜2 を指定"):
            review.list_candidates(ledger, 50, page=page)


def test_a_decision_is_written_whole_or_not_at_all(ledger, pair):
    ledger.connection.execute(
        "CREATE TRIGGER no_marks BEFORE UPDATE OF is_duplicate ON transactions "
        "BEGIN SELECT raise(ABORT, 'no'); END"
    )
    with pytest.raises(apsw.ConstraintError):
        decide(ledger, 1, "duplicate")
    assert review.candidate_detail(ledger, 1).user_decision is None
    assert (marks(ledger), review.stats(ledger).pending_checks) == ({}, 1)


def test_a_search_with_too_many_pairs_stores_nothing(ledger):
    with ledger.connection:
        add(ledger, 449)
    with pytest.raises(DuplicateDetectionError, match="多すぎます"):
        review.detect(ledger, EXACT)
    assert review.list_candidates(ledger).total_count == 0


def three_of_one(ledger):
    """A note by hand, the app's row and the card's row of one purchase."""
    add(ledger, description="QBハウス", amount=-1430, account="財布", mf_id="a")
    add(ledger, description="QB HOUSE 田町", amount=-1430, account="PayPay", mf_id="b")
    add(
        ledger, description="PAYPAY*キユ-ビ-ハウス", amount=-1430, account="カードA", mf_id="c",
        date="2024-01-16",
    )  # fmt: skip


def test_three_rows_of_one_purchase_are_one_candidate(ledger):
    three_of_one(ledger)
    assert review.detect(ledger, DetectionOptions()).candidates_count == 1
    assert candidates(ledger) == [(1, 2, 3)]
    (one,) = review.list_candidates(ledger).candidates
    scores = [pair.score for pair in duplicate_checks.open_pairs(ledger)]
    assert one.similarity_score == max(scores) > min(scores)
    assert one.reasons[:2] == ("内容がもう一方の口座の店や決済サービスを指している", "店名が同じ")
    answer = deciding.confirm(ledger, one.check_id, ReviewDecision("duplicate", keep=3))
    assert answer.message.startswith(
        "重複として記録しました。取引ID 3 を残し、取引ID 1、2 を今後の集計から除外しました。"
    )
    assert (answer.marked_transaction_ids, marks(ledger)) == ((1, 2), {1: 3, 2: 3})
    assert candidates(ledger) == []
    deciding.restore(ledger, 1)
    assert marks(ledger) == {2: 3}


def test_only_some_rows_of_a_candidate_can_be_decided(ledger):
    three_of_one(ledger)
    review.detect(ledger, DetectionOptions())
    deciding.confirm(ledger, 1, ReviewDecision("duplicate", keep=3, rows=(2, 3)))
    assert marks(ledger) == {2: 3}
    assert candidates(ledger) == [(1, 3)]
    deciding.confirm(ledger, pairs(ledger)[1, 3], ReviewDecision("not_duplicate"))
    assert candidates(ledger) == []


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
def test_rows_of_other_candidates_are_refused(ledger, choice, words):
    three_of_one(ledger)
    review.detect(ledger, DetectionOptions())
    with pytest.raises(RowNotInCandidate, match=words):
        deciding.confirm(ledger, 1, choice)
    assert marks(ledger) == {}


def test_decisions_that_would_keep_no_row_keep_one(ledger, three):
    for rows, keep in [((1, 2), 1), ((2, 3), 2), ((1, 3), 3)]:
        check = duplicate_checks.get_check(ledger, three[rows])
        with ledger.connection:
            marks_table.record_decision(ledger, check.id, "duplicate", keep)
            marks_table.update_marks(ledger)
    assert len(marks(ledger)) == 2
    assert set(marks(ledger).values()) | set(marks(ledger)) == {1, 2, 3}


def test_every_pair_that_the_tolerances_and_the_score_admit_is_listed(ledger):
    add(ledger, date="2024-01-16", description="ドラッグB", amount=-2_000, account="カードA")
    add(ledger, date="2024-01-18", description="ドラッグB", amount=-2_010, account="PayPay")
    near = DetectionOptions(2, Decimal(10), Decimal(0))
    assert "類似度0.5未満の組が1件あります" in review.detect(ledger, near).message
    found = review.detect(ledger, replace(near, min_similarity_score=0), [1])
    assert (found.candidates_count, found.below_threshold_count) == (1, 0)
    (one,) = review.list_candidates(ledger).candidates
    assert (one.similarity_score < 0.01, one.amount_diff) == (True, 10)


def test_pairs_too_many_to_list_are_not_promised(ledger, monkeypatch):
    for amount in (-1_000, -1_001, -1_002):
        add(ledger, amount=amount, account="カードA", mf_id=str(amount))
    for module in ("review", "core.pairs"):
        monkeypatch.setattr(f"mdvec.household.{module}.MAX_PAIRS", 2)
    assert review.detect(ledger, DetectionOptions(0)).message.endswith(
        "ほかに類似度0.5未満の組が3件あります（min_similarity_score を下げ、"
        "多いので日付や金額の許容誤差も小さくすると候補になります）。"
    )
    with pytest.raises(DuplicateDetectionError, match="多すぎます（3件以上"):
        review.detect(ledger, DetectionOptions(0, min_similarity_score=0))
