"""Fusion: both legs of a search in one score."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.core.search.fusion import Candidate, Knowledge, fuse


def passage(
    words: str, cosine: float | None = None, model: str = "m", trust: float = 1.0, length: int = 10
) -> Candidate:
    """A passage with these words of the query among its characters."""
    return Candidate(Counter(words.split()), length, cosine, model, trust)


def know(chunks: int = 100, **frequencies: int) -> Knowledge:
    return Knowledge(chunks, frequencies)


def test_the_information_of_a_term_is_that_of_bm25():
    knowledge = know(100, 水=3)
    assert knowledge.idf("水") == pytest.approx(math.log(1 + 97.5 / 3.5))
    assert knowledge.idf("unknown") == pytest.approx(math.log(1 + 100.5 / 0.5))
    assert knowledge.idf("unknown") > knowledge.idf("水") > know(100, 水=99).idf("水") > 0


def test_bm25_and_coverage_are_those_of_the_books():
    query, knowledge = ["水", "米"], know(10, 水=2, 米=5)
    idf = {term: knowledge.idf(term) for term in query}
    first, second = fuse(
        query, knowledge, [passage("水 水", length=40), passage("米", length=20)], "lexical"
    )
    long, short = 1.2 * (0.25 + 0.75 * 4 / 3), 1.2 * (0.25 + 0.75 * 2 / 3)
    assert first.bm25 == pytest.approx(idf["水"] * 2 * 2.2 / (2 + long))
    assert second.bm25 == pytest.approx(idf["米"] * 2.2 / (1 + short))
    assert first.coverage == pytest.approx(idf["水"] / (idf["水"] + idf["米"]))
    assert first.lexical == pytest.approx((1 + 3 * first.coverage) / 4)
    assert second.lexical == pytest.approx((second.bm25 / first.bm25 + 3 * second.coverage) / 4)
    assert (first.score, first.lexical_weight) == (first.lexical, 1.0)


def test_the_vector_score_is_the_distance_from_the_mean_in_sixths_of_deviations():
    found = fuse(
        ["水"], know(水=1), [passage("", 0.9), passage("", 0.5), passage("", 0.1)], "vector"
    )
    deviation = math.sqrt((0.4**2 + 0 + 0.4**2) / 3)
    assert [one.vector for one in found] == pytest.approx(
        [0.4 / (6 * deviation), 0, -0.4 / (6 * deviation)]
    )
    assert [one.score for one in found] == [0.9, 0.5, 0.1]
    assert [one.lexical_weight for one in found] == [0, 0, 0]


def test_a_hybrid_score_trusts_the_vectors_as_far_as_words_are_missing():
    query, knowledge = ["水", "米"], know(10, 水=2, 米=2)
    candidates = [passage("水", 0.3, trust=4.0), passage("", 0.9, trust=4.0)]
    found = fuse(query, knowledge, candidates, "hybrid")
    # The best passage covers half of the query: half of the model's trust counts.
    weight = 1 / (1 + 4.0 * 0.5)
    for one in found:
        assert one.lexical_weight == pytest.approx(weight)
        assert one.score == pytest.approx(weight * one.lexical + (1 - weight) * one.vector)


def test_where_every_word_is_found_the_words_alone_decide():
    found = fuse(
        ["水", "米"], know(水=2, 米=2), [passage("水 米", 0.1), passage("水", 0.9)], "hybrid"
    )
    assert [one.lexical_weight for one in found] == [1.0, 1.0]
    assert found[0].score > found[1].score


@pytest.mark.parametrize("query", [["未知", "知語"], []])
def test_a_query_of_unknown_words_is_answered_by_vectors(query):
    candidates = [passage("", 0.2), passage("", 0.7)]
    hybrid = fuse(query, know(水=1, 米=1), candidates, "hybrid")
    assert hybrid == fuse(query, know(水=1, 米=1), candidates, "vector")
    assert [one.score for one in hybrid] == [0.2, 0.7]


ENGLISH = ["how", "do", "i", "save", "water"]


def test_an_english_question_over_japanese_text_is_not_ruled_by_its_words():
    candidates = [passage("water save", 0.1), passage("", 0.9)]
    japanese = know(100, water=1, save=1, the=2)
    english = know(100, water=1, save=1, how=60, do=60, i=60, the=90)
    foreign = fuse(ENGLISH, japanese, candidates, "hybrid")
    native = fuse(ENGLISH, english, candidates, "hybrid")
    assert foreign[0].lexical_weight < 0.2 < native[0].lexical_weight
    assert foreign[1].score > foreign[0].score
    assert native[0].score > native[1].score


@pytest.mark.parametrize("query", [["usestate"], ["usestate", "を使"], ["e0308", "error"], []])
def test_a_single_name_or_a_mixed_question_is_not_taken_for_a_foreign_language(query):
    found = fuse(query, know(usestate=1), [passage(" ".join(query), 0.5)], "hybrid")
    assert all(one.lexical_weight in (0.0, 1.0) for one in found)


def test_several_models_are_never_compared_by_their_cosines():
    def ranked(shift: float) -> list[float]:
        candidates = [
            *(passage("", cosine, "a") for cosine in (0.1, 0.2, 0.6)),
            *(passage("", cosine + shift, "b") for cosine in (0.2, 0.3, 0.35)),
        ]
        return [one.score for one in fuse(["水"], know(), candidates, "vector")]

    assert ranked(0.0) == pytest.approx(ranked(0.5))
    assert max(range(6), key=ranked(0.5).__getitem__) == 2


def test_a_candidate_without_a_cosine_stands_at_the_mean():
    candidates = [passage("水", None), passage("", 0.9), passage("", 0.1)]
    assert fuse(["水"], know(水=1), candidates, "vector")[0].vector == 0.0


def test_no_candidates_no_scores():
    for mode in ("hybrid", "vector", "lexical"):
        assert fuse(["水"], know(0), [], mode) == []


WORDS = ["水", "米", "save", "the", "nowhere"]
passages = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), max_size=6),
        st.none() | st.floats(-1, 1),
        st.sampled_from(["a", "b"]),
        st.floats(0, 10),
        st.integers(1, 2_000),
    ),
    max_size=12,
)


@given(
    st.lists(st.sampled_from(WORDS), unique=True),
    passages,
    st.sampled_from(["hybrid", "vector", "lexical"]),
)
def test_scores_are_numbers_within_their_bounds_for_any_candidates(query, drawn, mode):
    knowledge = know(20, 水=3, 米=9, save=1, the=15)
    candidates = [
        passage(" ".join(word for word in words if word in query), *others)
        for words, *others in drawn
    ]
    found = fuse(query, knowledge, candidates, mode)
    assert len(found) == len(candidates)
    for one in found:
        assert math.isfinite(one.score)
        assert one.score <= 1 + 1e-9
        assert 0 <= one.lexical_weight <= 1
        assert 0 <= one.lexical <= 1 + 1e-9
        assert 0 <= one.coverage <= 1 + 1e-9
