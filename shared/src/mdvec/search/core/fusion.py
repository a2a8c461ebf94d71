"""Fusion: the lexical and the vector score of each candidate combined into one.

Both retrievers bring candidates; every candidate is then scored by both, so that a passage found
by only one of them is at no disadvantage. The lexical score is

    (bm25 / best bm25 + 3 * coverage + named / 2) / 4.5

with Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), a weight
for each field that a term occurs in; the coverage: the share of the query's information (the sum
of its terms' idf) that the passage contains; and ``named``: how far its title or its heading has
the query's terms and no others.

The vector score is the cosine's distance from the mean of the candidates' cosines, divided by six
standard deviations; mean and deviation are taken per model, since cosines of two models cannot be
compared. Combined they are

    (lexical + trust * vector) / (1 + trust)

where ``trust`` depends on the query. It has a minimum, so that vectors always count. It grows with
the share of the query's information that even the best passage lacks, times a constant of the
model. For a query of several words without any CJK character, over text in another language, it
also grows with the number of words; text is taken as English if nearly every passage has a "the".
The measurements behind the constants are in docs/SPEC.md and docs/benchmarks.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mdvec.text.fields import FieldCounts
from mdvec.text.morphemes import WORD_MARK
from mdvec.text.questions import QuestionTerms
from mdvec.text.terms import crosses_words, is_letters

SearchMode = Literal["hybrid", "vector", "lexical"]

FieldWeights = tuple[float, float, float, float]

_K1, _B = 1.2, 0.75
_COVERAGE_WEIGHT = 3.0
_DEVIATIONS = 6.0
_MIN_DEVIATION = 1e-6
_CROSSING_WEIGHT = 0.3
_WORD_WEIGHT = 3.0
_EDGE_WEIGHT = 0.5
"""What a pair counts that reaches from a word into the filler (クと in フックとは)."""
_NORMAL_FORM_WEIGHT = 2.0
_FIELD_FREQUENCY: FieldWeights = (1.0, 0.5, 1.0, 1.0)
"""What an occurrence in each field counts in BM25: in title, names, headings and text."""
_FIELD_COVERAGE: FieldWeights = (1.0, 0.8, 1.0, 1.0)
"""How much of a term's information a passage contains if only that field has it."""
_NAME_WEIGHT = 0.5
_MIN_TRUST = 0.3
_FOREIGN_TRUST = 1.6
_MAX_FOREIGN_WORDS = 4
ENGLISH_WORDS = ("the", "to", "of")
"""Words that occur in nearly every passage of English text."""
_WORD = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class NameMatch:
    """The question's terms in a title or heading, and their share of all its terms."""

    terms: frozenset[str]
    share: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage found by either retriever, with what is needed to score it.

    ``terms`` counts the query's terms in each of its fields, ``length`` its characters. ``names``
    are its title and its innermost heading. Cosines may be compared only within one ``model``;
    ``trust`` is that model's constant.
    """

    terms: Mapping[str, FieldCounts]
    length: int
    cosine: float | None
    model: str
    trust: float
    names: tuple[NameMatch, ...] = ()


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """The number of chunks searched, and of those that contain each term.

    ``frequencies`` has the query's terms, and ``ENGLISH_WORDS`` if the query is foreign prose.
    """

    chunks: int
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """The weighted information of a term, in nats: the rarer the term, the more.

        A pair that spans two words is rare but says little, so it counts less. A word in letters
        or in its normalised form is one term where its spelling gives several, so it counts more.
        """
        count = self.frequencies.get(term, 0)
        information = math.log1p((self.chunks - count + 0.5) / (count + 0.5))
        if term[0] == WORD_MARK:
            return _NORMAL_FORM_WEIGHT * information
        if is_letters(term):
            return _WORD_WEIGHT * information
        return _CROSSING_WEIGHT * information if crosses_words(term) else information


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's score, 0 to 1, and its components.

    ``lexical_weight`` is the weight of the lexical score in the whole, 0 to 1; ``named`` says how
    far the passage's title or heading is what is asked for, and ``matched`` are the terms found.
    """

    score: float
    lexical_weight: float
    lexical: float
    bm25: float
    coverage: float
    named: float
    vector: float
    matched: tuple[str, ...] = ()


def fuse(
    query: QuestionTerms,
    statistics: CorpusStatistics,
    candidates: Sequence[Candidate],
    mode: SearchMode,
) -> list[Scored]:
    """The scores of all candidates, in their order.

    Args:
        query: the query's terms.
        statistics: of all tools searched.
        candidates: of all tools searched.
        mode: ``vector`` and ``lexical`` use only that score.
    """
    weights = _weights(query, statistics)
    bm25 = _bm25(weights, candidates)
    best = max(bm25, default=0.0) or 1.0
    coverage = _coverage(weights, candidates)
    named = [_named(weights, candidate.names) for candidate in candidates]
    lexical = [
        (score / best + _COVERAGE_WEIGHT * covered + _NAME_WEIGHT * name)
        / (1 + _COVERAGE_WEIGHT + _NAME_WEIGHT)
        for score, covered, name in zip(bm25, coverage, named, strict=True)
    ]
    vector = _standardised_cosines(candidates)
    missing = 1.0 - max(coverage, default=0.0)
    foreign = _foreign_trust(query.letters, statistics)
    scored = []
    for place, candidate in enumerate(candidates):
        if mode == "vector" or (mode == "hybrid" and missing == 1.0):
            share, score = 0.0, _vector_only_score(candidates, vector, place)
        elif mode == "lexical":
            share, score = 1.0, lexical[place]
        else:
            trust = _MIN_TRUST + candidate.trust * missing + foreign
            share = 1 / (1 + trust)
            score = share * lexical[place] + (1 - share) * vector[place]
        score = _clamped(score, 0.0, 1.0)
        scored.append(
            Scored(
                score, share, lexical[place], bm25[place], coverage[place], named[place],
                vector[place], tuple(candidate.terms),
            )
        )  # fmt: skip
    return scored


def _clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _weights(query: QuestionTerms, statistics: CorpusStatistics) -> dict[str, float]:
    """The weight of each term that the query is scored by.

    A spelling that occurs nowhere counts as missing only if its words occur nowhere either; and
    of a date that occurs, its parts do not count.
    """
    frequencies = statistics.frequencies
    left_out = {
        term
        for term, words in query.words_of.items()
        if not frequencies.get(term) and all(frequencies.get(word) for word in words)
    }
    for date, parts in query.dates.items():
        left_out |= parts if frequencies.get(date) else {date}
    return {
        term: statistics.idf(term) * (_EDGE_WEIGHT if term in query.edges else 1.0)
        for term in query.all
        if term not in left_out
    }


def _bm25(weights: Mapping[str, float], candidates: Sequence[Candidate]) -> list[float]:
    mean = sum(candidate.length for candidate in candidates) / max(len(candidates), 1)
    scores = []
    for candidate in candidates:
        normal = _K1 * (1 - _B + _B * candidate.length / (mean or 1.0))
        scores.append(
            sum(
                weights[term] * count * (_K1 + 1) / (count + normal)
                for term, count in _frequencies(weights, candidate).items()
            )
        )
    return scores


def _frequencies(weights: Mapping[str, float], candidate: Candidate) -> dict[str, float]:
    return {
        term: sum(weight * count for weight, count in zip(_FIELD_FREQUENCY, counts, strict=True))
        for term, counts in candidate.terms.items()
        if term in weights
    }


def _coverage(weights: Mapping[str, float], candidates: Sequence[Candidate]) -> list[float]:
    # fsum rounds only once, so that in any order no part of the weights exceeds the whole.
    total = math.fsum(weights.values()) or 1.0
    return [
        math.fsum(
            weights[term] * _covered(counts)
            for term, counts in candidate.terms.items()
            if term in weights
        )
        / total
        for candidate in candidates
    ]


def _covered(counts: FieldCounts) -> float:
    return max(share for share, count in zip(_FIELD_COVERAGE, counts, strict=True) if count)


def _named(weights: Mapping[str, float], names: Sequence[NameMatch]) -> float:
    """How far a title or a heading is what is asked for: 1 if it has all its terms and no other."""
    total = math.fsum(weights.values()) or 1.0
    return max(
        (
            name.share * math.fsum(weights[term] for term in name.terms if term in weights) / total
            for name in names
        ),
        default=0.0,
    )


def _standardised_cosines(candidates: Sequence[Candidate]) -> list[float]:
    """Each cosine's distance from its model's mean in units of six standard deviations."""
    by_model: dict[str, list[float]] = {}
    for candidate in candidates:
        if candidate.cosine is not None:
            by_model.setdefault(candidate.model, []).append(candidate.cosine)
    scale = {model: _mean_and_deviation(cosines) for model, cosines in by_model.items()}
    return [
        0.0
        if candidate.cosine is None
        else _standardised(candidate.cosine, *scale[candidate.model])
        for candidate in candidates
    ]


def _standardised(cosine: float, mean: float, deviation: float) -> float:
    if deviation < _MIN_DEVIATION:  # equal except for rounding of float32
        return 0.0
    return _clamped((cosine - mean) / (deviation * _DEVIATIONS), -1.0, 1.0)


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _vector_only_score(
    candidates: Sequence[Candidate], vector: Sequence[float], place: int
) -> float:
    """The score without the lexical one: the cosine, standardised if there are several models."""
    cosine = candidates[place].cosine
    if len({candidate.model for candidate in candidates}) == 1 and cosine is not None:
        return cosine
    return 0.5 + vector[place] / 2


def is_foreign_prose(query: Sequence[str]) -> bool:
    """Whether a query consists of several words in a-z."""
    return len(query) > 1 and all(_WORD.fullmatch(term) for term in query)


def _foreign_trust(query: Sequence[str], statistics: CorpusStatistics) -> float:
    """The additional trust in vectors if the text is not in the query's language."""
    if not is_foreign_prose(query):
        return 0.0
    words = len(query)
    english = max(statistics.frequencies.get(word, 0) for word in ENGLISH_WORDS)
    native = min(1.0, 2 * english / max(statistics.chunks, 1))
    return _FOREIGN_TRUST * min(words - 1, _MAX_FOREIGN_WORDS) * (1 - native)
