"""Chooses between the readings of a question: which sentence is meant, or all of them."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.search.core.fusion import SearchMode
from mdvec.search.ranking import Pool, Ranking
from mdvec.text.questions import QuestionTerms

WHOLE_ODDS = 0.6
"""The odds that the whole question needs, as a share of those of its first reading.

Less than 1, since more words are harder to find in one passage. Chosen over questions with and
without background, as are the others; see docs/SPEC.md.
"""
ENGLISH_WHOLE_ODDS = 1.0
"""The same for a question in English."""
STATED_WHOLE_ODDS = 4.0
"""The same for one that states its topic where it asks (印刷について)."""
OTHER_ODDS = 1.3
"""The same for another sentence, where none asks, and for a phrase that is called the topic."""


def likelier(pools: Sequence[Pool], mode: SearchMode) -> tuple[int, Ranking]:
    """The place of the likeliest of a question's readings, and its ranking.

    ``pools`` are in the order of ``text.questions.readings``. The passages tell: how likely the
    first of each reading answers it.
    """
    rankings = [pool.ranked(mode) for pool in pools]
    first = pools[0].query
    odds = [
        _odds(ranking) / (_least(first, pool.query) if place else 1.0)
        for place, (pool, ranking) in enumerate(zip(pools, rankings, strict=True))
    ]
    place = odds.index(max(odds))
    return place, rankings[place]


def _least(first: QuestionTerms, other: QuestionTerms) -> float:
    """The share of the first reading's odds that another reading needs."""
    if not other.is_whole:
        return OTHER_ODDS
    if first.states_topic:
        return STATED_WHOLE_ODDS
    return ENGLISH_WHOLE_ODDS if first.is_english else WHOLE_ODDS


def _odds(ranking: Ranking) -> float:
    """The odds that the first passage answers; none if there is no passage."""
    likelihood = ranking.evidence.likelihood(0.0) if ranking.chunks else 0.0
    return likelihood / max(1 - likelihood, 1e-9)
