"""Fusion: combines the lexical and the vector score of each candidate.

Both retrievers find candidates; every candidate is then scored by both, so that a passage found by
only one of them is at no disadvantage. ``lexical.py`` computes the lexical score. The vector score
is the cosine's distance from the mean of the candidates' cosines, divided by six standard
deviations; mean and deviation are taken per model, since cosines of two models cannot be compared.
The combined score, from which a logistic model estimates the likelihood in a hit, is

    (lexical + trust * vector) / (1 + trust)

where ``trust`` depends on the query. It is lower

- the more information the matched words of the best passage carry: a long question that a passage
  repeats needs no vectors, while a word or two fit many passages equally well,
- the further one document is ahead of all others by words,
- and if a title or heading is exactly what the question asks for.

A model cannot read misspelt words, so trust shrinks with their share of the question. It grows
with the share of the query's information that even the best passage lacks, times a constant of
the model. For a query of several words without CJK characters over text in another language, it
also grows with the number of words, and the vector score of a passage with that of another one of
its document: in another language a cosine alone is less reliable, and two near passages of a
document are rarely a coincidence. Text counts as English by the share of its passages that have the
most frequent of "the", "to" and "of". The constants were chosen with
``bench/studies/fusion_fit.py``, except ``SUPPORT``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Literal

from mdvec.search.core.lexical import (
    Candidate,
    CorpusStatistics,
    Lexical,
    evident_coverage,
    lexical_scores,
)
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
"""The share of the base trust that remains even with the clearest lead."""
NAMED_SHARE = 0.0
"""The share of the base trust that remains if a title or heading equals the question."""
FOREIGN_TRUST = 0.8
SUPPORT = 0.25
"""The share of the vector score of a document's nearest other passage that is added to a passage's.

Adding those of all other passages finds more of the right files, but fewer of the right passages:
for English questions from headings that were removed from Japanese text, nDCG@10 is .353 with the
nearest (.351 with none), .323 with all, and .264 with all and twice the share."""
_MAX_FOREIGN_WORDS = 4
ENGLISH_WORDS = ("the", "to", "of")
"""Words that occur in nearly every passage of English text."""
_WORD = re.compile(r"[a-z_]+")
_ABSENT_SHARE = 0.2
"""The factor on the likelihood if a name in the question occurs nowhere; prevents confidence."""
_MIN_CHUNKS = 200
"""Smaller collections count as having this many chunks, since none was used in the fit."""
_MIN_SHOWN, _MAX_SHOWN = 0.01, 0.99
_DECIMALS = 2
"""The decimals of a shown likelihood; rounding never makes it look confident."""
_MOSTLY = 0.5
"""Below this native share, most text seems to be in another language; it was not fitted."""
FIRST = 2
"""The number of first passages that are used as evidence."""


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
    """The scores of the candidates of all searched tools, in their order, by joint statistics.

    Modes ``vector`` and ``lexical`` use only that score.
    """
    native = _native_share(query.letters, statistics)
    words = lexical_scores(query, statistics, candidates, native)
    vector = _with_support(candidates, _standardised_cosines(candidates), SUPPORT * (1 - native))
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
                _clamp(score, 0.0), share, lexical, words.bm25[position],
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


def _clamp(value: float, low: float) -> float:
    return min(max(value, low), 1.0)


def _standardised_cosines(candidates: Sequence[Candidate]) -> list[float]:
    """Each cosine's distance from its model's mean, in units of six standard deviations."""
    by_model: dict[str, list[float]] = {}
    for candidate in candidates:
        if candidate.cosine is not None:
            by_model.setdefault(candidate.model, []).append(candidate.cosine)
    scale = {model: _mean_and_deviation(cosines) for model, cosines in by_model.items()}
    return [
        0.0 if candidate.cosine is None else _standardise(candidate.cosine, *scale[candidate.model])
        for candidate in candidates
    ]


def _with_support(
    candidates: Sequence[Candidate], vector: Sequence[float], share: float
) -> list[float]:
    """The vector scores, each with a ``share`` of its document's best other score added."""
    if not share:
        return list(vector)
    of_document: dict[Hashable, list[float]] = {}
    for candidate, score in zip(candidates, vector, strict=True):
        of_document.setdefault(candidate.document, []).append(score)
    two_best = {document: nlargest(2, scores) for document, scores in of_document.items()}
    supported = []
    for candidate, score in zip(candidates, vector, strict=True):
        best, *second = two_best[candidate.document]
        other = max(second, default=0.0) if score == best else best
        supported.append(score + share * max(other, 0.0))
    return supported


def _standardise(cosine: float, mean: float, deviation: float) -> float:
    if deviation < _MIN_DEVIATION:  # equal except for rounding of float32
        return 0.0
    return _clamp((cosine - mean) / (deviation * DEVIATIONS), -1.0)


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
    """The share of the text that is in the query's language; 1 unless it is foreign prose."""
    if not is_foreign_prose(query):
        return 1.0
    english = max(statistics.frequencies.get(word, 0) for word in ENGLISH_WORDS)
    return min(1.0, 2 * english / max(statistics.chunks, 1))


@dataclass(frozen=True, slots=True)
class LikelihoodConstants:
    """The constants of the logistic model.

    ``least`` is the minimum likelihood of the best hit for a confident answer.
    """

    constant: float
    coverage: float
    likeness: float
    named: float
    chunks: float
    behind: float
    later: float = 0.0
    least: float = 0.23


BOTH = LikelihoodConstants(0.64, 3.16, 0.23, 1.58, 0.32, 11.4, later=1.16, least=0.39)
WORDS = LikelihoodConstants(0.26, 6.58, 0.0, 0.0, 0.53, 21.8)
VECTORS = LikelihoodConstants(-0.66, 0.0, 0.41, 0.0, 0.12, 20.8)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that the first passages answer the question.

    ``coverage`` is None if words were not searched, ``likeness`` if no cosine can be judged.
    ``absent`` are names in the question that no searched text contains; ``named`` says how closely
    a title or heading matches the question, 0 to 1. ``is_foreign`` says whether most text seems
    to be in another language than the question: words that it lacks say nothing against an answer.
    """

    coverage: float | None
    likeness: float | None
    chunks: int
    absent: tuple[str, ...] = ()
    named: float = 0.0
    is_foreign: bool = False

    @property
    def constants(self) -> LikelihoodConstants:
        """The constants for the values that are known."""
        if self.likeness is None:
            return WORDS
        return VECTORS if self.coverage is None else BOTH

    def likelihood(self, behind: float) -> float:
        """The likelihood that a passage answers, if its score is ``behind`` below the best."""
        model = self.constants
        of_best = self._logit(model)
        if self.is_foreign and self.likeness is not None:
            of_best = max(of_best, self._logit(VECTORS))
        logit = of_best - model.behind * behind - (model.later if behind > 0 else 0.0)
        likelihood = 1 / (1 + math.exp(-max(logit, -500.0)))
        if self.absent:
            likelihood *= _ABSENT_SHARE
        return min(max(round(likelihood, _DECIMALS), _MIN_SHOWN), _MAX_SHOWN)

    def _logit(self, model: LikelihoodConstants) -> float:
        return (
            model.constant
            + model.coverage * (self.coverage or 0.0)
            + model.likeness * (self.likeness or 0.0)
            + model.named * self.named
            - model.chunks * math.log(max(self.chunks, _MIN_CHUNKS))
        )

    @property
    def is_confident(self) -> bool:
        """Whether the best passage is likely enough to answer."""
        return self.likelihood(0.0) >= self.constants.least


NO_EVIDENCE = Evidence(None, None, 0)


def evidence(
    query: QuestionTerms,
    statistics: CorpusStatistics,
    first: Sequence[tuple[Candidate, Scored]],
    absent: tuple[str, ...] = (),
) -> Evidence:
    """The evidence for the first candidates and their scores.

    Terms that they have only inside other words hardly count for their coverage.
    """
    likenesses = [candidate.likeness for candidate, _ in first if candidate.likeness is not None]
    return Evidence(
        max((evident_coverage(query, statistics, one) for one, _ in first), default=None),
        max(likenesses, default=None),
        statistics.chunks,
        absent,
        max((scored.named for _, scored in first), default=0.0),
        _native_share(query.letters, statistics) < _MOSTLY,
    )
