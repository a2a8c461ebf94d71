"""Estimates the probability that a passage answers a question, with a logistic model.

    likelihood = 1 / (1 + exp(-(constant + coverage * best coverage + likeness * best likeness
                              - chunks * ln(chunks searched) - behind * score behind the best)))

The best coverage is the largest share of the question that one passage contains. The likeness is
the cosine as a z-score: its distance, in standard deviations, from the mean cosine of the nearest
passages of questions without an answer (``embedding/cards.py``). For a model without these figures,
words alone decide. A larger collection yields more chance hits, hence the number of chunks. The
constants are fitted over several collections by ``bench/studies/confidence_fit.py``; see
docs/SPEC.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.search.core.lexical import Candidate

CONFIDENT = 0.27
"""The minimum likelihood of the best hit for a confident answer."""
_LEAST_SHOWN = 0.01
_DECIMALS = 2
"""Of a likelihood, wherever it is shown: none reads as confident that is not."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The constants of the logistic model."""

    constant: float
    coverage: float
    likeness: float
    chunks: float
    behind: float


BOTH = Calibration(-0.08, 2.58, 0.30, 0.30, 17.9)
WORDS = Calibration(-0.07, 3.93, 0.0, 0.30, 16.5)
VECTORS = Calibration(0.14, 0.0, 0.47, 0.18, 17.9)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best values among the candidates; ``likeness`` is None if no cosine can be judged."""

    coverage: float
    likeness: float | None
    chunks: int

    @property
    def calibration(self) -> Calibration:
        """The constants for the values that are known."""
        if self.likeness is None:
            return WORDS
        return BOTH if self.coverage else VECTORS

    def likelihood(self, behind: float) -> float:
        """The likelihood that a passage answers whose score is ``behind`` below the best."""
        model = self.calibration
        logit = (
            model.constant
            + model.coverage * self.coverage
            + model.likeness * (self.likeness or 0.0)
            - model.chunks * math.log(max(self.chunks, 1))
            - model.behind * behind
        )
        likelihood = 1 / (1 + math.exp(-max(logit, -500.0)))
        return max(round(likelihood, _DECIMALS), _LEAST_SHOWN)

    @property
    def is_confident(self) -> bool:
        """Whether the best passage is likely enough to answer."""
        return self.likelihood(0.0) >= CONFIDENT


NO_EVIDENCE = Evidence(0.0, None, 0)


def evidence(coverages: Sequence[float], candidates: Sequence[Candidate], chunks: int) -> Evidence:
    """The best coverage and likeness of the candidates, out of ``chunks`` searched."""
    known = [one.likeness for one in candidates if one.likeness is not None]
    return Evidence(max(coverages, default=0.0), max(known, default=None), chunks)
