"""Fits the two constants of a model to questions whose candidates were found once.

Every second question fits the constants, and the others measure the result.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mdvec.embedding.constants import ModelConstants
from mdvec.manage.calibrating.headless import SectionKey
from mdvec.manage.calibrating.trial_index import FoundPool
from mdvec.search.core.confidence import FIRST, evidence
from mdvec.search.core.fusion import fuse

_TRIED = (0.05, 0.1, 0.2, 0.4, 0.8, 1.2, 1.6, 2.4, 3.6, 5.0)
"""The trusts that are tried, besides the present one."""
_TOP = 10
_MIN_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question: its candidates, and the section that answers; None if none does."""

    found: FoundPool
    answer: SectionKey | None


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """The results of constants on the questions that they were not fitted to.

    ``ndcg`` is nDCG@10 of headings. ``confident`` is the share of headings, and ``misled`` that of
    unanswerable questions, for which an answer says that it is one.
    """

    ndcg: float
    confident: float
    misled: float

    @property
    def judgement(self) -> float:
        """The share of right judgements, where both kinds of questions count the same."""
        return (self.confident + 1 - self.misled) / 2


def fitted_trust(headings: Sequence[JudgedQuestion], present: float) -> float:
    """The trust with the best nDCG@10; the present one if none is better."""
    tried = {trust: ndcg(headings, trust) for trust in (*_TRIED, present)}
    best = max(tried.values())
    return present if tried[present] >= best else max(tried, key=lambda trust: tried[trust])


def fitted_unrelated(unanswerable: Sequence[JudgedQuestion]) -> tuple[float, float] | None:
    """Mean and standard deviation of the nearest passage's cosine; None without any."""
    nearest = [
        max(cosines)
        for one in unanswerable
        if (cosines := [c.cosine for c in one.found.pool.candidates if c.cosine is not None])
    ]
    if not nearest:
        return None
    return statistics.fmean(nearest), max(statistics.pstdev(nearest), _MIN_DEVIATION)


def figures(
    headings: Sequence[JudgedQuestion],
    unanswerable: Sequence[JudgedQuestion],
    constants: ModelConstants,
) -> CalibrationFigures:
    """What the constants reach on these questions."""
    return CalibrationFigures(
        round(ndcg(headings, constants.vector_trust), 4),
        round(_confident_share(headings, constants), 4),
        round(_confident_share(unanswerable, constants), 4),
    )


def ndcg(headings: Sequence[JudgedQuestion], trust: float) -> float:
    """nDCG@10, where a section ranks by its best chunk and one of them is right."""
    gains = [1 / math.log2(1 + rank) for one in headings if (rank := _rank(one, trust)) <= _TOP]
    return sum(gains) / len(headings)


def _rank(asked: JudgedQuestion, trust: float) -> int:
    pool = asked.found.pool
    candidates = [replace(one, trust=trust) for one in pool.candidates]
    scored = fuse(pool.query, pool.statistics, candidates, "hybrid")
    seen: set[SectionKey] = set()
    for place in sorted(range(len(scored)), key=lambda place: -scored[place].score):
        sections = asked.found.sections[place]
        if asked.answer in sections:
            return len(seen) + 1
        seen |= sections
    return len(seen) + _TOP + 1


def _confident_share(asked: Sequence[JudgedQuestion], constants: ModelConstants) -> float:
    return sum(_is_confident(one, constants) for one in asked) / len(asked)


def _is_confident(asked: JudgedQuestion, constants: ModelConstants) -> bool:
    pool = asked.found.pool
    candidates = [
        replace(one, likeness=constants.likeness(one.cosine), trust=constants.vector_trust)
        for one in pool.candidates
    ]
    scored = fuse(pool.query, pool.statistics, candidates, "hybrid")
    order = sorted(range(len(scored)), key=lambda place: -scored[place].score)
    first = [(candidates[place], scored[place].own_coverage) for place in order[:FIRST]]
    return bool(scored) and evidence(first, pool.statistics.chunks).is_confident
