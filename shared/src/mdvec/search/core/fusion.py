"""Fusion: combines the lexical and the vector score of each candidate.

Both retrievers find candidates; every candidate is then scored by both, so that a passage found by
only one of them is at no disadvantage. ``lexical.py`` computes the lexical score. The vector score
is the cosine's distance from the mean of the candidates' cosines, divided by six standard
deviations; mean and deviation are taken per model, since cosines of two models cannot be compared.
The combined score, of which ``confidence.py`` makes the likelihood that a hit shows, is

    (lexical + trust * vector) / (1 + trust)

where ``trust`` depends on the query. It is lower

- the more information the matched words of the best passage carry: a long question that a passage
  repeats needs no vectors, while a word or two fit many passages equally well,
- the further the words put one document ahead of all others,
- and if a title or heading is exactly what the question asks for.

A model cannot read misspelt words: it is trusted with the rest of the question alone. Trust grows
with the share of the query's information that even the best passage lacks, times a constant of
the model. For a query of several words without CJK characters over text in another language, it
also grows with the number of words. Text counts as English by the share of its passages that
have the most frequent of "the", "to" and "of". The constants are chosen by
``bench/studies/fusion_fit.py``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mdvec.search.core.lexical import Candidate, CorpusStatistics, Lexical, lexical_scores
from mdvec.text import QuestionTerms

SearchMode = Literal["hybrid", "vector", "lexical"]

DEVIATIONS = 6.0
_MIN_DEVIATION = 1e-6
BASE_TRUST = 1.5
TELLING = 0.4
"""The information in the best passage that halves the base trust; 1 is a word that only one chunk
has."""
CLEAR_LEAD = 0.2
"""A lead in lexical score over all other documents that would reduce the base trust to zero."""
LEAD_SHARE = 0.3
"""The share of the base trust that remains whatever the lead."""
NAMED_SHARE = 0.0
"""The share of the base trust that remains if a title or heading is exactly what is asked for."""
FOREIGN_TRUST = 0.8
_MAX_FOREIGN_WORDS = 4
ENGLISH_WORDS = ("the", "to", "of")
"""Words that occur in nearly every passage of English text."""
_WORD = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's score, 0 to 1, and its components.

    ``lexical_weight`` is the weight of the lexical score, 0 to 1; ``named`` says how well the
    passage's title or heading matches the question, and ``matched`` are the terms found.
    ``coverage`` includes other passages of its document, ``own_coverage`` does not.
    """

    score: float
    lexical_weight: float
    lexical: float
    bm25: float
    own_coverage: float
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
    native = _native_share(query.letters, statistics)
    words = lexical_scores(query, statistics, candidates, native)
    vector = _standardised_cosines(candidates)
    missing = 1.0 - max(words.own, default=0.0)
    base = _base_trust(words, candidates, statistics.chunks)
    base += FOREIGN_TRUST * min(len(query.letters) - 1, _MAX_FOREIGN_WORDS) * (1 - native)
    scored = []
    for position, candidate in enumerate(candidates):
        lexical = words.scores[position]
        if mode == "vector" or (mode == "hybrid" and missing == 1.0):
            share, score = 0.0, _vector_only_score(candidates, vector, position)
        elif mode == "lexical":
            share, score = 1.0, lexical
        else:
            trust = (base + candidate.trust * missing) * (1 - words.misspelt)
            share = 1 / (1 + trust)
            score = share * lexical + (1 - share) * vector[position]
        scored.append(
            Scored(
                _clamped(score, 0.0, 1.0), share, lexical, words.bm25[position],
                words.own[position], words.coverage[position], words.named[position],
                vector[position], tuple(candidate.terms),
            )
        )  # fmt: skip
    return scored


def _base_trust(words: Lexical, candidates: Sequence[Candidate], chunks: int) -> float:
    """The trust in vectors before the missing information is added."""
    if not candidates:
        return 0.0
    lead = 1 - _lead(words.scores, candidates) / CLEAR_LEAD
    named = 1 - (1 - NAMED_SHARE) * max(words.named)
    information = words.information / math.log1p(max(chunks, 1))
    return BASE_TRUST / (1 + information / TELLING) * max(LEAD_SHARE, lead) * max(named, 0)


def _lead(scores: Sequence[float], candidates: Sequence[Candidate]) -> float:
    """The lead of the best score over the best of any other document."""
    best = max(range(len(scores)), key=scores.__getitem__)
    others = (
        score
        for score, candidate in zip(scores, candidates, strict=True)
        if candidate.document != candidates[best].document
    )
    return scores[best] - max(others, default=scores[best])


def _clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _standardised_cosines(candidates: Sequence[Candidate]) -> list[float]:
    """Each cosine's distance from its model's mean, in units of six standard deviations."""
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
    return _clamped((cosine - mean) / (deviation * DEVIATIONS), -1.0, 1.0)


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _vector_only_score(
    candidates: Sequence[Candidate], vector: Sequence[float], position: int
) -> float:
    """The score by vectors alone: the cosine, standardised if there are several models."""
    cosine = candidates[position].cosine
    if len({candidate.model for candidate in candidates}) == 1 and cosine is not None:
        return cosine
    return 0.5 + vector[position] / 2


def is_foreign_prose(query: Sequence[str]) -> bool:
    """Whether a query consists of several words in a-z."""
    return len(query) > 1 and all(_WORD.fullmatch(term) for term in query)


def _native_share(query: Sequence[str], statistics: CorpusStatistics) -> float:
    """How far the text is in the query's language: 1 but for foreign prose."""
    if not is_foreign_prose(query):
        return 1.0
    english = max(statistics.frequencies.get(word, 0) for word in ENGLISH_WORDS)
    return min(1.0, 2 * english / max(statistics.chunks, 1))
