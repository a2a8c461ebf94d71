"""Estimates the probability that a passage answers a question, with a logistic model.

    likelihood = 1 / (1 + exp(-(a + b * coverage + c * likeness + d * named
                              - e * ln(chunks searched) - f * score behind the best
                              - g if it is not the best)))       with a to g per mode

The coverage is the share of the question that one of the first two passages contains; what others
contain proves nothing about them, but a second window of the first's section does. The likeness is
the better of their cosines as a z-score: its distance, in standard deviations, from the mean cosine
of the nearest passages of questions without an answer (``embedding/cards.py``). ``named`` says how
closely the title or heading of one of them is what is asked for. For a model without
these figures, words alone decide. A larger collection yields more chance hits, hence the number of
chunks. A name that is asked about and occurs nowhere (``absent``) is evidence enough against an
answer; a noun is not, as people ask in other words than the texts have. The constants are fitted
over several collections by ``bench/studies/confidence_fit.py``; see docs/SPEC.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.search.core.fusion import Scored
from mdvec.search.core.lexical import Candidate, CorpusStatistics, evident_coverage
from mdvec.text import QuestionTerms

_ABSENT_SHARE = 0.2
"""What is left of a likelihood where a name that is asked about occurs nowhere: too little."""
_MIN_CHUNKS = 200
"""Smaller collections count as this many: the constants were fitted on no smaller one."""
_MIN_SHOWN, _MAX_SHOWN = 0.01, 0.99
_DECIMALS = 2
"""The decimals of a likelihood wherever it is shown: rounding makes none look confident."""


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
    """What speaks for the first passages.

    ``coverage`` is None if words were not searched, ``likeness`` if no cosine can be judged.
    ``absent`` are names that the question asks about and nothing that was searched contains;
    ``named`` says how closely a title or heading is what is asked for, 0 to 1.
    """

    coverage: float | None
    likeness: float | None
    chunks: int
    absent: tuple[str, ...] = ()
    named: float = 0.0

    @property
    def constants(self) -> LikelihoodConstants:
        """The constants for the values that are known."""
        if self.likeness is None:
            return WORDS
        return VECTORS if self.coverage is None else BOTH

    def likelihood(self, behind: float) -> float:
        """The likelihood that a passage answers whose score is ``behind`` below the best."""
        model = self.constants
        logit = (
            model.constant
            + model.coverage * (self.coverage or 0.0)
            + model.likeness * (self.likeness or 0.0)
            + model.named * self.named
            - model.chunks * math.log(max(self.chunks, _MIN_CHUNKS))
            - model.behind * behind
            - (model.later if behind > 0 else 0.0)
        )
        likelihood = 1 / (1 + math.exp(-max(logit, -500.0)))
        if self.absent:
            likelihood *= _ABSENT_SHARE
        return min(max(round(likelihood, _DECIMALS), _MIN_SHOWN), _MAX_SHOWN)

    @property
    def is_confident(self) -> bool:
        """Whether the best passage is likely enough to answer."""
        return self.likelihood(0.0) >= self.constants.least


NO_EVIDENCE = Evidence(None, None, 0)
FIRST = 2
"""How many passages the evidence is taken from."""


def evidence(
    query: QuestionTerms,
    statistics: CorpusStatistics,
    first: Sequence[tuple[Candidate, Scored]],
    absent: tuple[str, ...] = (),
) -> Evidence:
    """The evidence for the first candidates and their scores.

    Their coverage is that without terms that they have only inside other words.
    """
    likenesses = [candidate.likeness for candidate, _ in first if candidate.likeness is not None]
    return Evidence(
        max((evident_coverage(query, statistics, one) for one, _ in first), default=None),
        max(likenesses, default=None),
        statistics.chunks,
        absent,
        max((scored.named for _, scored in first), default=0.0),
    )
