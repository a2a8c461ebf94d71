"""Chooses between two readings of a question: its asides as background, or as what it is about."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.search.core.fusion import SearchMode
from mdvec.search.ranking import Pool, Ranking

WHOLE_ODDS = 0.6
"""The share of the other reading's odds that is enough for the one that leaves nothing aside.

Less than 1, since more words are harder to find in one passage. Chosen over questions with and
without background; see docs/SPEC.md.
"""
STATED_ODDS = 4.0
"""The same for a question that states its topic (印刷について) where it asks."""


OTHER_ODDS = 1.3
"""How often the first reading's odds another sentence needs if none asks."""


def likelier(pools: Sequence[Pool], mode: SearchMode) -> tuple[int, Ranking]:
    """The place of the likeliest of a question's readings, and its ranking.

    ``pools`` are in the order of ``text.questions.readings``. The passages tell: how likely the
    first of each reading answers it.
    """
    rankings = [pool.ranked(mode) for pool in pools]
    odds = [_odds(ranking) / _least(pools, place) for place, ranking in enumerate(rankings)]
    place = odds.index(max(odds))
    return place, rankings[place]


def _least(pools: Sequence[Pool], place: int) -> float:
    """How often the odds of the first reading this one needs to be taken."""
    if place == 0:
        return 1.0
    if not pools[place].query.is_whole:
        return OTHER_ODDS
    return STATED_ODDS if pools[0].query.states_topic else WHOLE_ODDS


def _odds(ranking: Ranking) -> float:
    """The odds that the first passage answers; none if there is no passage."""
    likelihood = ranking.evidence.likelihood(0.0) if ranking.chunks else 0.0
    return likelihood / max(1 - likelihood, 1e-9)
