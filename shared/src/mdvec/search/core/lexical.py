"""The lexical score: how much of a question's information a passage contains, and in which fields.

    (bm25 / best bm25 + 3 * coverage + named + 2 * together) / 7

with Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) and a weight
for each field that a term occurs in. The coverage is the share of the query's information (the
sum of its terms' idf) that the passage contains; information that only other candidates of the
same document contain counts three quarters. ``named`` says how closely a title or heading of the
passage matches the query: 1 if it has exactly the same words; ``together`` is the largest share
that one sentence of the passage contains, counted by terms as spelled. As text in another language
than the question spells them differently, the weight 2 is smaller there, also in the divisor.

The constants were chosen with ``bench/studies/fusion_fit.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from mdvec.text import WORD_MARK, FieldCounts, QuestionTerms, crosses_words, is_letters

FieldWeights = tuple[float, float, float, float]

K1, B = 1.2, 0.75
COVERAGE_WEIGHT = 3.0
NAME_WEIGHT = 1.0
SENTENCE_WEIGHT = 2.0
"""The weight of the best sentence's share, since words in one sentence belong together."""
DOCUMENT_WEIGHT = 0.75
"""The weight of information that only other passages of the document contain."""
CROSSING_WEIGHT = 0.3
LETTERS_WEIGHT = 4.0
EDGE_WEIGHT = 0.5
"""The weight of a pair that extends from a word into the filler (クと in フックとは)."""
NORMAL_FORM_WEIGHT = 2.0
BACKGROUND_WEIGHT = 0.8
"""The weight of a term from sentences that are no question, but may state the subject."""
WRITTEN_WEIGHT = 1.5
"""How much more a name, a number or a date counts than another word of the same frequency.

Of 60 questions with a rare name and ordinary words, the first passage lacked the name in up to 25
with a weight of 1, and in up to 8 with 1.5; users' questions had nDCG@10 .500 and .511."""
SPOKEN_WEIGHT = 0.8
"""The weight of a word in letters that a passage has only in katakana, by its sound."""
INSIDE_WEIGHT = 0.05
"""The weight, as evidence, of a term that a passage has only inside other words.

In the ranking it counts fully: a lower weight measured no better (JSQuAD -.001, headings -.003).
Only for a question of a single word, passages that have the word itself are preferred."""
_FIELD_FREQUENCY: FieldWeights = (1.0, 0.5, 1.0, 1.0)
"""The weight of an occurrence in each field in BM25: title, names, headings and text."""
_FIELD_COVERAGE: FieldWeights = (1.0, 0.8, 1.0, 1.0)
"""The share of a term's information that a passage contains if only that field has the term."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """The question's terms in a name (title, alias or heading), and their share of its terms."""

    terms: frozenset[str]
    share: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage found by either retriever, with what is needed to score it.

    ``terms`` counts the query's terms in each field, ``length`` its characters. ``names`` are the
    matches of its title, aliases and innermost heading; ``document`` is equal for passages of one
    document. Cosines are comparable only within one ``model``; ``trust`` is that model's constant.
    ``likeness`` is the cosine as a z-score among unrelated passages, if their figures are known.
    ``sentences`` are the plain terms of each of its sentences. ``inside`` finds the terms that
    occur only inside other words (ポート in パスポート); few candidates need it. ``spoken`` are
    words in letters that it has only in katakana.
    """

    terms: Mapping[str, FieldCounts]
    length: int
    cosine: float | None
    model: str
    trust: float
    names: tuple[NameMatch, ...] = ()
    document: Hashable = None
    likeness: float | None = None
    sentences: tuple[frozenset[str], ...] = ()
    inside: Callable[[], frozenset[str]] = frozenset
    spoken: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """The number of chunks searched, and of those that contain each term.

    ``frequencies`` has the query's terms, and ``ENGLISH_WORDS`` if the query is foreign prose.
    """

    chunks: int
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """The weighted information of a term.

        A pair that spans two words is rare but not specific, so it counts less. A word in letters
        or in normalised form is a single term, while a word as spelled in Japanese yields several
        pairs, so the single term counts more.
        """
        information = self.information(term)
        if term[0] == WORD_MARK:
            return NORMAL_FORM_WEIGHT * information
        if is_letters(term):
            return LETTERS_WEIGHT * information
        return CROSSING_WEIGHT * information if crosses_words(term) else information

    def information(self, term: str) -> float:
        """The information that a term carries, in nats: the rarer it is, the more."""
        count = self.frequencies.get(term, 0)
        return math.log1p((self.chunks - count + 0.5) / (count + 0.5))


@dataclass(frozen=True, slots=True)
class Lexical:
    """The lexical scores of all candidates, in their order, and their parts.

    ``own`` is the coverage by the passage itself; ``coverage`` includes that by its document.
    ``information`` is that of the query's words in the best passage, in nats; ``misspelt`` is the
    share of the query's information that is in misspelt words.
    """

    scores: list[float]
    bm25: list[float]
    own: list[float]
    coverage: list[float]
    named: list[float]
    information: float
    misspelt: float


def lexical_scores(
    query: QuestionTerms,
    statistics: CorpusStatistics,
    candidates: Sequence[Candidate],
    native: float = 1.0,
) -> Lexical:
    """Score all candidates by their words.

    ``native`` is the share of the text that is in the query's language.
    """
    weights = _weights(query, statistics)
    telling = {
        term: statistics.information(term) * _share(query, term)
        for term in weights
        if (term[0] == WORD_MARK or is_letters(term)) and term not in query.written
    } or weights
    bm25 = _bm25(weights, candidates)
    best = max(bm25, default=0.0) or 1.0
    own = _coverage(weights, candidates)
    coverage = _with_document(weights, candidates, own)
    named = _name_closeness(telling, candidates)
    in_sentences = {term: weights[term] for term in weights if term not in query.written}
    together = _together(in_sentences, candidates)
    in_sentence = SENTENCE_WEIGHT * native
    scores = [
        (score / best + COVERAGE_WEIGHT * covered + NAME_WEIGHT * name + in_sentence * in_one)
        / (1 + COVERAGE_WEIGHT + NAME_WEIGHT + in_sentence)
        for score, covered, name, in_one in zip(bm25, coverage, named, together, strict=True)
    ]
    amid = _only_inside_words(query, candidates)
    scores, own, coverage, named = (
        [INSIDE_WEIGHT * part if at in amid else part for at, part in enumerate(parts)]
        for parts in (scores, own, coverage, named)
    )
    return Lexical(
        scores,
        bm25,
        own,
        coverage,
        named,
        max((_sum(telling, candidate.terms) for candidate in candidates), default=0.0),
        _sum(telling, query.misspelt) / (math.fsum(telling.values()) or 1.0),
    )


def _only_inside_words(query: QuestionTerms, candidates: Sequence[Candidate]) -> frozenset[int]:
    """For a question of one word, the positions of passages that have it only inside other words.

    Empty if no passage has the word itself, and for words in letters, which are only searched
    inside other words if no text has them.
    """
    asked_alone = query.asked_alone
    if not asked_alone:
        return frozenset()
    amid = [not asked_alone.isdisjoint(candidate.inside()) for candidate in candidates]
    has_itself = any(
        not asked_alone.isdisjoint(candidate.terms) and not is_amid
        for candidate, is_amid in zip(candidates, amid, strict=True)
    )
    return frozenset(at for at, is_amid in enumerate(amid) if is_amid and has_itself)


def evident_coverage(
    query: QuestionTerms, statistics: CorpusStatistics, candidate: Candidate
) -> float:
    """The coverage by a passage itself, where terms inside other words hardly count."""
    weights = _weights(query, statistics)
    inside = candidate.inside()
    evident = {
        term: weight * (INSIDE_WEIGHT if term in inside else 1.0)
        for term, weight in weights.items()
    }
    return _covered_weight(evident, candidate) / (math.fsum(weights.values()) or 1.0)


def _weights(query: QuestionTerms, statistics: CorpusStatistics) -> dict[str, float]:
    # A text with signs counts like a pair: with a word's weight, a title that is its last word
    # (useState for React.useState) would come after every mention.
    return {
        term: statistics.information(term)
        if term in query.written
        else statistics.idf(term) * _share(query, term)
        for term in _scored_terms(query, statistics)
    }


def _scored_terms(query: QuestionTerms, statistics: CorpusStatistics) -> list[str]:
    """The terms that the query is scored by.

    A spelling that occurs nowhere is left out if all its words occur, and a text with signs in it.
    If a date occurs, its parts are left out, otherwise the date itself; the same applies to a name
    with a sign (C++). A name with a number (React19) that occurs nowhere is left out if its parts
    occur; otherwise its parts are left out.
    """
    frequencies = statistics.frequencies
    left_out = {
        term
        for term, words in query.words_of.items()
        if not frequencies.get(term) and all(frequencies.get(word) for word in words)
    }
    left_out |= {text for text in query.written if not frequencies.get(text)}
    for date, parts in query.dates.items():
        left_out |= parts if frequencies.get(date) else {date}
    for name, parts in query.numbered.items():
        if not frequencies.get(name):
            left_out |= {name} if all(frequencies.get(part) for part in parts) else parts
    return [term for term in query.all if term not in left_out]


def _share(query: QuestionTerms, term: str) -> float:
    """The share of a term's weight that counts, by its role in the question."""
    share = BACKGROUND_WEIGHT if term in query.background else 1.0
    subject = query.subjects.get(term)
    is_name = subject is not None and subject.kind == "name"
    share *= WRITTEN_WEIGHT if is_name or term in query.dates else 1.0
    return share * EDGE_WEIGHT if term in query.edges else share


def _bm25(weights: Mapping[str, float], candidates: Sequence[Candidate]) -> list[float]:
    mean = sum(candidate.length for candidate in candidates) / max(len(candidates), 1)
    scores = []
    for candidate in candidates:
        normal = K1 * (1 - B + B * candidate.length / (mean or 1.0))
        scores.append(
            sum(
                [
                    weights[term] * (count := _frequency(counts)) * (K1 + 1) / (count + normal)
                    for term, counts in candidate.terms.items()
                    if term in weights
                ]
            )
        )
    return scores


def _coverage(weights: Mapping[str, float], candidates: Sequence[Candidate]) -> list[float]:
    total = math.fsum(weights.values()) or 1.0
    return [_covered_weight(weights, candidate) / total for candidate in candidates]


def _covered_weight(weights: Mapping[str, float], candidate: Candidate) -> float:
    # fsum rounds only once, so no partial sum can exceed the total, whatever the order.
    spoken = candidate.spoken
    return math.fsum(
        [
            weights[term] * _coverage_of(counts) * (SPOKEN_WEIGHT if term in spoken else 1.0)
            for term, counts in candidate.terms.items()
            if term in weights
        ]
    )


def _with_document(
    weights: Mapping[str, float], candidates: Sequence[Candidate], own: Sequence[float]
) -> list[float]:
    """The coverage, including what other candidates of the document contain."""
    total = math.fsum(weights.values()) or 1.0
    of_document: dict[Hashable, set[str]] = {}
    for candidate in candidates:
        of_document.setdefault(candidate.document, set()).update(candidate.terms)
    return [
        min(
            covered
            + DOCUMENT_WEIGHT
            * _sum(weights, of_document[candidate.document] - candidate.terms.keys())
            / total,
            1.0,
        )
        for candidate, covered in zip(candidates, own, strict=True)
    ]


def _together(weights: Mapping[str, float], candidates: Sequence[Candidate]) -> list[float]:
    """The largest share of the plain terms' information in one sentence of each passage."""
    plain = {term: weight for term, weight in weights.items() if term[0] != WORD_MARK}
    total = math.fsum(plain.values()) or 1.0
    sum_of = cache(partial(_sum, plain))  # many sentences have the same terms
    return [
        min(max(map(sum_of, candidate.sentences), default=0.0) / total, 1.0)
        for candidate in candidates
    ]


def _sum(weights: Mapping[str, float], terms: Iterable[str]) -> float:
    return math.fsum([weights[term] for term in terms if term in weights])


@lru_cache(maxsize=4_096)
def _frequency(counts: FieldCounts) -> float:
    return sum(weight * count for weight, count in zip(_FIELD_FREQUENCY, counts, strict=True))


@lru_cache(maxsize=4_096)
def _coverage_of(counts: FieldCounts) -> float:
    return max(share for share, count in zip(_FIELD_COVERAGE, counts, strict=True) if count)


def _name_closeness(weights: Mapping[str, float], candidates: Sequence[Candidate]) -> list[float]:
    """How closely a name of each matches the question: 1 if it has all the terms and no others."""
    total = math.fsum(weights.values()) or 1.0
    return [
        max([name.share * _sum(weights, name.terms) / total for name in one.names], default=0.0)
        for one in candidates
    ]
