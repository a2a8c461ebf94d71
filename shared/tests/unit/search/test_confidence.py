"""How likely an answer is, by what a question found."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdvec.search.core.fusion import Evidence, Scored, evidence
from mdvec.search.core.lexical import INSIDE_WEIGHT, Candidate, CorpusStatistics
from mdvec.search.notes import unsure
from mdvec.text.questions import QuestionTerms


def likely(
    coverage: float, likeness: float | None, chunks: int = 1_000, behind: float = 0.0
) -> float:
    return Evidence(coverage, likeness, chunks).likelihood(behind)


def test_words_and_likeness_make_an_answer_likely_and_a_large_collection_less():
    assert likely(0.9, 3.0) > likely(0.4, 3.0) > likely(0.1, 0.0)
    assert likely(0.4, 3.0) > likely(0.4, 0.0)
    assert likely(0.4, 1.0, 100) > likely(0.4, 1.0, 100_000)
    assert Evidence(0.4, 1.0, 1_000, named=1.0).likelihood(0.0) > likely(0.4, 1.0)


def test_the_first_two_candidates_are_what_counts():
    first = [
        (
            Candidate({"水": counts}, 10, 0.3, "m", 1.0, likeness=likeness),
            Scored(0.5, 0.5, 0.5, 1.0, 1.0, 1.0, named, 0.0),
        )
        for likeness, counts, named in ((None, (0, 1, 0, 0), 0.5), (2.0, (0, 0, 0, 1), 0.0))
    ]
    query, statistics = QuestionTerms(("水",)), CorpusStatistics(30, {"水": 1})
    assert evidence(query, statistics, first) == Evidence(1.0, 2.0, 30, named=0.5)
    assert evidence(query, statistics, first[:1]) == Evidence(0.8, None, 30, named=0.5)
    assert evidence(query, statistics, []) == Evidence(None, None, 30)


def test_a_term_inside_another_word_is_hardly_evidence():
    inside = Candidate({"水": (0, 0, 0, 1)}, 10, 0.3, "m", 1.0, inside=lambda: frozenset({"水"}))
    first = [(inside, Scored(0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 0.0, 0.0))]
    found = evidence(QuestionTerms(("水",)), CorpusStatistics(30, {"水": 1}), first)
    assert found.coverage == INSIDE_WEIGHT


def test_a_name_that_occurs_nowhere_leaves_no_answer_likely():
    assert not Evidence(1.0, 9.0, 10, ("useFooBar",)).is_confident


def test_words_that_a_text_in_another_language_lacks_are_no_evidence_against_an_answer():
    near, far = (Evidence(0.05, likeness, 1_000, is_foreign=True) for likeness in (4.0, 0.5))
    assert near.is_confident
    assert not far.is_confident
    assert not replace(near, is_foreign=False).is_confident
    assert "another language" in unsure(far)
    assert "nothing here" in unsure(replace(far, absent=("Spark",)))
    assert "nothing here" in unsure(replace(far, is_foreign=False))
    assert not replace(near, absent=("Spark",)).is_confident
    assert replace(near, coverage=0.9).likelihood(0.1) == likely(0.9, 4.0, behind=0.1)


@pytest.mark.parametrize(
    ("letters", "english", "is_foreign"),
    [
        (("start", "a", "thread"), 10, True),
        (("start", "a", "thread"), 60, False),
        (("thread",), 10, False),
        ((), 10, False),
    ],
)
def test_several_words_in_letters_are_foreign_where_most_texts_are_not_english(
    letters, english, is_foreign
):
    query = QuestionTerms(("thread",), letters=letters)
    assert evidence(query, CorpusStatistics(200, {"the": english}), []).is_foreign == is_foreign


@given(st.floats(0, 1), st.none() | st.floats(-1e6, 1e6), st.integers(0, 10**9), st.floats(0, 1))
def test_a_likelihood_is_a_share_and_falls_with_the_distance_from_the_best(
    coverage, likeness, chunks, behind
):
    found = Evidence(coverage, likeness, chunks)
    assert 0 < found.likelihood(behind) <= found.likelihood(0.0) <= 1
