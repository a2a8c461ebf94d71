"""Fusion: each candidate's words and its embedding into one score.

Both legs bring candidates; every candidate is then scored by both, so that a passage is not
punished for being found by one leg alone. The lexical score is

    (bm25 / best bm25 + 3 * coverage) / 4

with Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) and the
coverage: what share of the query's information (the sum of its terms' idf) the passage holds. The
vector score is the cosine's distance from the candidates' mean in sixths of standard deviations,
taken per model: cosines of two models never meet. Together they are

    (lexical + trust * vector) / (1 + trust)

and ``trust`` follows the query. It has a floor, so that the vectors are never switched off. It
grows with what the best passage misses of the query's words, by a constant of the model; and for a
query of several words without a single CJK character, over text that is not in its language (in
English text nearly every passage has a "the"), it grows with the number of words. The tables
behind the constants are in docs/SPEC.md and docs/benchmarks.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mdvec.text.terms import crosses_words, is_letters

SearchMode = Literal["hybrid", "vector", "lexical"]

_K1, _B = 1.2, 0.75
_COVERAGE = 3.0
_DEVIATIONS = 6.0
_NO_DEVIATION = 1e-6
_CROSSING = 0.3
_LETTERS = 3.0
_FLOOR = 0.3
_FOREIGN_TRUST = 1.6
_FOREIGN_WORDS = 4
ENGLISH_WORDS = ("the", "to", "of")
"""Words that English text has nearly everywhere."""
_WORD = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that one leg or both found, and its cosine with the query.

    ``terms`` says how often each of the query's terms stands in it, ``length`` how many
    characters it has. ``model`` tells which cosines may be compared; ``trust`` is that model's
    constant.
    """

    terms: Mapping[str, int]
    length: int
    cosine: float | None
    model: str
    trust: float


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the indexes know of a query: how many chunks there are, how many have each term.

    ``frequencies`` has the query's terms, and ``ENGLISH_WORDS`` where the query is foreign prose.
    """

    chunks: int
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """The information of a term, in nats; the more, the fewer chunks have it.

        A pair that joins two words is rare without telling much; it counts for less. A word of
        letters is one term, where a Japanese word gives several: it counts for more.
        """
        count = self.frequencies.get(term, 0)
        information = math.log1p((self.chunks - count + 0.5) / (count + 0.5))
        if is_letters(term):
            return _LETTERS * information
        return _CROSSING * information if crosses_words(term) else information


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate's score, 0 to 1, and how it came about.

    ``lexical_weight`` is the share of the lexical score in the whole, 0 to 1.
    """

    score: float
    lexical_weight: float
    lexical: float
    bm25: float
    coverage: float
    vector: float


def fuse(
    query: Sequence[str], knowledge: Knowledge, candidates: Sequence[Candidate], mode: SearchMode
) -> list[Scored]:
    """The scores of all candidates, in their order.

    Args:
        query: the query's different terms.
        knowledge: how frequent they are.
        candidates: from one tool or several.
        mode: ``vector`` and ``lexical`` score by one leg alone.
    """
    weights = {term: knowledge.idf(term) for term in query}
    bm25 = _bm25(weights, candidates)
    best = max(bm25, default=0.0) or 1.0
    # fsum rounds once: in any order all the weights are the whole, and some are never more.
    whole = math.fsum(weights.values()) or 1.0
    coverage = [
        math.fsum(weights[term] for term in candidate.terms) / whole for candidate in candidates
    ]
    lexical = [
        (score / best + _COVERAGE * covered) / (1 + _COVERAGE)
        for score, covered in zip(bm25, coverage, strict=True)
    ]
    vector = _standing_out(candidates)
    missing = 1.0 - max(coverage, default=0.0)
    foreign = _foreign_trust(query, knowledge)
    scored = []
    for place, candidate in enumerate(candidates):
        if mode == "vector" or (mode == "hybrid" and missing == 1.0):
            share, score = 0.0, _alone(candidates, vector, place)
        elif mode == "lexical":
            share, score = 1.0, lexical[place]
        else:
            trust = _FLOOR + candidate.trust * missing + foreign
            share = 1 / (1 + trust)
            score = share * lexical[place] + (1 - share) * vector[place]
        score = _between(0.0, score, 1.0)
        scored.append(
            Scored(score, share, lexical[place], bm25[place], coverage[place], vector[place])
        )
    return scored


def _between(least: float, value: float, most: float) -> float:
    return min(max(value, least), most)


def _bm25(weights: Mapping[str, float], candidates: Sequence[Candidate]) -> list[float]:
    mean = sum(candidate.length for candidate in candidates) / max(len(candidates), 1)
    scores = []
    for candidate in candidates:
        normal = _K1 * (1 - _B + _B * candidate.length / (mean or 1.0))
        scores.append(
            sum(
                weights[term] * count * (_K1 + 1) / (count + normal)
                for term, count in candidate.terms.items()
            )
        )
    return scores


def _standing_out(candidates: Sequence[Candidate]) -> list[float]:
    """How far each cosine stands out of its model's, in sixths of deviations, at most 1."""
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
    if deviation < _NO_DEVIATION:  # equal but for the rounding of float32
        return 0.0
    return _between(-1.0, (cosine - mean) / (deviation * _DEVIATIONS), 1.0)


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _alone(candidates: Sequence[Candidate], vector: Sequence[float], place: int) -> float:
    """The score by vectors alone: the cosine; between models, how far it stands out."""
    cosine = candidates[place].cosine
    if len({candidate.model for candidate in candidates}) == 1 and cosine is not None:
        return cosine
    return 0.5 + vector[place] / 2


def is_foreign_prose(query: Sequence[str]) -> bool:
    """Whether a query is several words of plain letters, none of them CJK."""
    return len(query) > 1 and all(_WORD.fullmatch(term) for term in query)


def _foreign_trust(query: Sequence[str], knowledge: Knowledge) -> float:
    """What the vectors gain where the query's language is not that of the text."""
    if not is_foreign_prose(query):
        return 0.0
    words = len(query)
    english = max(knowledge.frequencies.get(word, 0) for word in ENGLISH_WORDS)
    native = min(1.0, 2 * english / max(knowledge.chunks, 1))
    return _FOREIGN_TRUST * min(words - 1, _FOREIGN_WORDS) * (1 - native)
