"""Fusion: the lexical and the vector score in one."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.search.core.fusion import Scored, SearchMode, fuse
from mdvec.search.core.lexical import Candidate, CorpusStatistics, NameMatch
from mdvec.text.index_terms import is_letters
from mdvec.text.questions import QuestionTerms


def passage(
    words: str, cosine: float | None = None, model: str = "m", trust: float = 1.0, length: int = 10
) -> Candidate:
    """A passage with these words of the query in its text, in a document of its own."""
    counts = {word: (0, 0, 0, count) for word, count in Counter(words.split()).items()}
    together = (frozenset(counts),)
    return Candidate(counts, length, cosine, model, trust, document=object(), sentences=together)


def scored(
    query: list[str], statistics: CorpusStatistics, candidates: list[Candidate], mode: SearchMode
) -> list[Scored]:
    """The scores for a query of plain terms alone."""
    letters = tuple(query) if all(map(is_letters, query)) else ()
    return fuse(QuestionTerms(tuple(query), letters=letters), statistics, candidates, mode)


def know(chunks: int = 100, **frequencies: int) -> CorpusStatistics:
    return CorpusStatistics(chunks, frequencies)


def test_the_more_the_words_tell_the_less_the_vectors_count():
    def weight(*words: str) -> float:
        both = [passage(" ".join(words), 0.1), passage(" ".join(words), 0.9)]
        known = know(1_000, **dict.fromkeys(words, 3))
        return scored(list(words), known, both, "hybrid")[0].lexical_weight

    assert weight("水") < weight("水", "米") < weight("水", "米", "電気代")


def test_a_document_far_ahead_by_its_words_leaves_less_to_the_vectors():
    def weight(others: str) -> float:
        found = [passage("水 米", 0.1), passage(others, 0.9)]
        return scored(["水", "米"], know(水=9, 米=9), found, "hybrid")[0].lexical_weight

    assert weight("水 米") < weight("水")
    # Another passage of the same document is no rival.
    document = object()
    same = [replace(passage(words, 0.1), document=document) for words in ("水 米", "水")]
    alone = scored(["水", "米"], know(水=9, 米=9), same, "hybrid")[0].lexical_weight
    assert alone == pytest.approx(weight("水 米"))


def test_a_passage_named_as_what_is_asked_for_is_chosen_by_words():
    named = replace(passage("水", 0.1), names=(NameMatch(frozenset({"水"}), 1.0),))
    found = scored(["水"], know(水=9), [passage("水", 0.9), named], "hybrid")
    assert found[0].lexical_weight == 1.0
    assert found[1].score > found[0].score


def test_what_other_passages_of_the_document_contain_counts_less():
    document = object()
    first, second = (replace(passage(word), document=document) for word in ("水", "米"))
    found = scored(["水", "米"], know(水=3, 米=3), [first, second, passage("水")], "lexical")
    assert [one.own_coverage for one in found] == [0.5, 0.5, 0.5]
    assert [one.coverage for one in found] == [0.875, 0.875, 0.5]
    assert found[0].score > found[2].score


def test_background_counts_less_than_what_is_asked():
    asked = QuestionTerms(("水", "米"), background=frozenset({"米"}))
    found = fuse(asked, know(水=3, 米=3), [passage("水"), passage("米")], "lexical")
    assert [one.own_coverage for one in found] == pytest.approx([1 / 1.8, 0.8 / 1.8])


def test_a_model_is_not_trusted_with_misspelt_words():
    terms, knowledge = ("=名前", "=アクョシン"), know(100, **{"=名前": 50, "=アクョシン": 50})
    found = [passage("=名前 =アクョシン", cosine=0.1), passage("=名前", cosine=0.9)]
    words = dict.fromkeys(terms, "")
    read = QuestionTerms((), words)
    weights = [
        fuse(replace(read, misspelt=frozenset(misspelt)), knowledge, found, "hybrid")[0]
        for misspelt in ((), terms[1:], terms)
    ]
    assert weights[0].lexical_weight < weights[1].lexical_weight < weights[2].lexical_weight == 1


def test_among_passages_with_all_the_words_the_vectors_choose():
    found = scored(["水"], know(水=2), [passage("水", 0.1), passage("水", 0.9)], "hybrid")
    assert found[1].score > found[0].score


def in_fields(title: int = 0, names: int = 0, heading: int = 0, text: int = 0) -> Candidate:
    """A passage with the term 水 so often in each of its fields."""
    return Candidate({"水": (title, names, heading, text)}, 10, None, "m", 1.0)


def test_a_term_in_a_name_alone_covers_less_than_one_in_a_title_a_heading_or_the_text():
    title, names, heading, text = scored(
        ["水"],
        know(水=4),
        [in_fields(title=1), in_fields(names=1), in_fields(heading=1), in_fields(text=1)],
        "lexical",
    )
    assert title.coverage == heading.coverage == text.coverage == 1.0
    assert (names.coverage, names.bm25 < text.bm25) == (0.8, True)


def test_a_title_that_is_what_is_asked_for_is_above_one_that_has_it_among_others():
    whole, half = (
        replace(in_fields(title=1), names=(NameMatch(frozenset({"水"}), share),))
        for share in (1.0, 0.5)
    )
    found = scored(["水", "米"], know(水=4, 米=4), [whole, half, in_fields(title=1)], "lexical")
    assert [one.named for one in found] == [0.5, 0.25, 0.0]
    assert found[0].score > found[1].score > found[2].score


def test_a_word_counts_in_its_normalised_form_and_its_unknown_spelling_is_not_missing():
    asked = QuestionTerms(
        ("打合",), {"=打ち合わせ": "ウチアワセ"}, words_of={"打合": frozenset({"=打ち合わせ"})}
    )
    other = Candidate({"=打ち合わせ": (0, 0, 0, 1)}, 10, None, "m", 1.0)
    (found,) = fuse(asked, CorpusStatistics(100, {"=打ち合わせ": 3}), [other], "lexical")
    assert (found.coverage, found.matched) == (1.0, ("=打ち合わせ",))
    (missing,) = fuse(
        asked, CorpusStatistics(100, {"打合": 1, "=打ち合わせ": 3}), [other], "lexical"
    )
    assert 0.5 < missing.coverage < 1.0


def test_a_pair_at_the_edge_of_the_filler_counts_half():
    asked = QuestionTerms(("水", "水は"), edges=frozenset({"水は"}))
    (found,) = fuse(asked, know(水=3, 水は=3), [passage("水")], "lexical")
    assert found.coverage == pytest.approx(2 / 3)


def test_of_a_date_that_occurs_its_parts_do_not_count():
    asked = QuestionTerms(
        ("2024", "年"), {"=202412": ""}, dates={"=202412": frozenset({"2024", "年"})}
    )
    note = Candidate({"=202412": (0, 1, 0, 0)}, 10, None, "m", 1.0)
    (found,) = fuse(asked, CorpusStatistics(100, {"=202412": 1, "年": 50}), [note], "lexical")
    assert found.coverage == pytest.approx(0.8)
    (unknown,) = fuse(asked, CorpusStatistics(100, {"年": 50}), [passage("年")], "lexical")
    assert unknown.matched == ("年",)


@each("query", [["未知", "知語"], []])
def test_a_query_of_unknown_words_is_answered_by_vectors(query):
    candidates = [passage("", 0.2), passage("", 0.7)]
    hybrid = scored(query, know(水=1, 米=1), candidates, "hybrid")
    assert hybrid == scored(query, know(水=1, 米=1), candidates, "vector")
    assert [one.score for one in hybrid] == [0.2, 0.7]


ENGLISH = ["how", "do", "i", "save", "water"]


def test_an_english_question_over_japanese_text_is_not_ruled_by_its_words():
    candidates = [passage("water save", 0.1), passage("", 0.9)]
    japanese = know(100, water=1, save=1, the=2)
    english = know(100, water=1, save=1, how=60, do=60, i=60, the=90)
    foreign = scored(ENGLISH, japanese, candidates, "hybrid")
    native = scored(ENGLISH, english, candidates, "hybrid")
    assert foreign[0].lexical_weight < 0.25 < native[0].lexical_weight
    assert foreign[1].score > foreign[0].score
    assert native[0].score > native[1].score


def test_over_foreign_text_a_near_passage_is_supported_by_another_of_its_document():
    alone, near, another, far = (passage("water", cosine) for cosine in (0.9, 0.89, 0.8, 0.1))
    another = replace(another, document=near.document)
    candidates = [alone, near, another, far]
    foreign = scored(ENGLISH, know(100, water=1, the=2), candidates, "hybrid")
    native = scored(ENGLISH, know(100, water=1, how=60, the=90), candidates, "hybrid")
    assert foreign[1].score > foreign[0].score > foreign[2].score > foreign[3].score
    assert native[0].score > native[1].score


@each("query", [["usestate"], ["usestate", "を使"], ["e0308", "error"], []])
def test_a_single_name_or_a_mixed_question_is_not_taken_for_a_foreign_language(query):
    (found,) = scored(query, know(usestate=1), [passage(" ".join(query), 0.5)], "hybrid")
    assert found.lexical_weight > 0.5 if query else found.lexical_weight == 0.0


def test_several_models_are_never_compared_by_their_cosines():
    def ranked(shift: float) -> list[float]:
        candidates = [
            *(passage("", cosine, "a") for cosine in (0.1, 0.2, 0.6)),
            *(passage("", cosine + shift, "b") for cosine in (0.2, 0.3, 0.35)),
        ]
        return [one.score for one in scored(["水"], know(), candidates, "vector")]

    assert ranked(0.0) == pytest.approx(ranked(0.5))
    assert max(range(6), key=ranked(0.5).__getitem__) == 2


def test_a_candidate_without_a_cosine_stands_at_the_mean():
    candidates = [passage("水", None), passage("", 0.9), passage("", 0.1)]
    assert scored(["水"], know(水=1), candidates, "vector")[0].vector == 0.0


@each("count", [2, 3, 10, 80])
@each("cosine", [0.1, 0.3, 1 / 3, 0.7, -0.2])
def test_cosines_that_do_not_differ_tell_nothing(count, cosine):
    candidates = [passage("水", cosine * (1 + 1e-9 * place)) for place in range(count)]
    assert {one.vector for one in scored(["水"], know(水=1), candidates, "hybrid")} == {0.0}


@each("mode", ["hybrid", "vector"])
def test_one_passage_far_above_a_hundred_others_has_a_score_of_at_most_one(mode):
    called_so = (NameMatch(frozenset({"水"}), 1.0),)
    best = replace(passage("水", 1 + 1e-7), names=called_so)
    candidates = [best, *(passage("", 0.1) for _ in range(100))]
    first, *others = scored(["水"], know(水=1), candidates, mode)
    assert (first.vector, first.score) == (1.0, 1.0)
    assert all(0 <= one.score < 1 for one in others)


WORDS = ["水", "米", "save", "the", "nowhere", "を使", "使い", "電気代"]
counts = st.integers(0, 1_000_000)


@st.composite
def asked(draw) -> tuple[list[str], CorpusStatistics]:
    """A query, and what an index of any size may know of it."""
    chunks = draw(counts)
    known = {word: draw(st.integers(0, chunks)) for word in WORDS}
    return draw(st.lists(st.sampled_from(WORDS), unique=True)), CorpusStatistics(chunks, known)


passages = st.tuples(
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.none() | st.floats(-1 - 1e-6, 1 + 1e-6),
    st.sampled_from(["a", "b"]),
    st.floats(0, 10),
    st.integers(1, 2_000),
)


@given(
    asked(),
    st.lists(passages, max_size=12),
    st.tuples(passages, st.sampled_from([0, 40, 100])),
    st.sampled_from(["hybrid", "vector", "lexical"]),
)
def test_scores_are_numbers_within_their_bounds_for_any_candidates(question, drawn, same, mode):
    query, knowledge = question
    candidates = [
        passage(" ".join(word for word in words if word in query), *others)
        for words, *others in [*drawn, *[same[0]] * same[1]]
    ]
    found = scored(query, knowledge, candidates, mode)
    assert len(found) == len(candidates)
    for one in found:
        assert one.bm25 >= 0
        assert -1 <= one.vector <= 1
        for value in (one.score, one.lexical_weight, one.lexical, one.own_coverage, one.coverage):
            assert 0 <= value <= 1


@given(asked(), st.randoms(use_true_random=False))
def test_a_passage_with_every_word_covers_the_query_wholly_in_any_order(question, random):
    query, knowledge = question
    found = random.sample(query, len(query))
    whole = scored(query, knowledge, [passage(" ".join(found), 0.5)], "hybrid")
    assert [one.coverage for one in whole] == [1.0 if query else 0.0]


@each(
    ("known", "is_ahead"),
    [
        ({"水": 3, "米": 3, "the": 0}, True),
        ({"water": 3, "save": 3, "the": 0}, False),
        ({"water": 3, "save": 3, "the": 90}, True),
    ],
)
def test_words_of_one_sentence_come_first_where_the_text_is_in_the_language_of_the_question(
    known, is_ahead
):
    one, other, _ = known
    counts = {one: (0, 0, 0, 1), other: (0, 0, 0, 1)}
    apart, together = (
        Candidate(counts, 10, None, "m", 1.0, document=number, sentences=sentences)
        for number, sentences in enumerate(
            [(frozenset({one}), frozenset({other})), (frozenset({one, other}),)]
        )
    )
    first, second = scored([one, other], know(100, **known), [apart, together], "lexical")
    assert (second.score > first.score, second.score >= first.score) == (is_ahead, True)
