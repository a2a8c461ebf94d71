"""Chooses between two readings of a question: its asides as background, or as what it is about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mdvec.search.core.fusion import SearchMode
from mdvec.search.ranking import Pool, Ranking

TOLD_AT = 0.5
"""The share of the asides that the first passage must have if they are what is asked about."""
NEARER_COUNTS = 0.07
"""How much each standard deviation counts by which the nearest passage of the whole is nearer."""
MAX_NEARER = 0.15
"""What that may count at most: a long question is near to something or other.

All were chosen over symptoms and backgrounds around even headings of React; see docs/SPEC.md."""


def likelier(pools: Sequence[Pool], mode: SearchMode) -> tuple[int, Ranking]:
    """The place of the likelier of a question's readings, and its ranking.

    ``pools`` are in the order of ``text.questions.readings``. The second, which counts every
    sentence, is the likelier if a passage has most of what the other leaves aside.
    """
    rankings = [pool.ranked(mode) for pool in pools]
    if len(pools) == 1 or not rankings[1].chunks:
        return 0, rankings[0]
    asked, whole = pools
    aside = asked.query.aside - whole.query.aside
    told = _information(whole, aside.intersection(rankings[1].chunks[0].scored.matched))
    told /= _information(whole, aside) or 1.0
    nearer = NEARER_COUNTS * (_nearest(whole) - _nearest(asked))
    place = int(told + min(nearer, MAX_NEARER) > TOLD_AT)
    return place, rankings[place]


def _information(pool: Pool, terms: Iterable[str]) -> float:
    return math.fsum(pool.statistics.idf(term) for term in terms)


def _nearest(pool: Pool) -> float:
    """The best likeness; 0 if no cosine can be judged."""
    return max((one.likeness for one in pool.candidates if one.likeness is not None), default=0.0)
