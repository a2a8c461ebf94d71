"""Chooses between the readings of a question: which sentence is meant, or all of them."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.search.core.fusion import SearchMode
from mdvec.search.ranking import Pool, Ranking
from mdvec.text.questions import QuestionTerms

WHOLE_ODDS = 0.6
"""How often the odds of its first reading the whole question needs.

Less than once, since more words are harder to find in one passage. Chosen over questions with and
without background, as are the others; see docs/SPEC.md.
"""
ENGLISH_WHOLE_ODDS = 1.0
"""The same for a question in English."""
STATED_WHOLE_ODDS = 2.0
"""The same for one that states its topic where it asks (印刷について)."""
NAMED_COUNTS = 2.0
"""How much each of these grows if the first reading's first passage is named as it asks.

A heading of one common word (設定) is named by many a question, so this alone decides nothing.
"""
OTHER_ODDS = 1.3
"""The same for a sentence or phrase other than those of the first reading."""


def likelier(pools: Sequence[Pool], mode: SearchMode) -> tuple[int, Ranking]:
    """The place of the likeliest of a question's readings, and its ranking.

    ``pools`` are in the order of ``text.questions.readings``. The passages tell: how likely the
    first of each reading answers it, and how closely its title or heading matches what is asked.
    """
    rankings = [pool.ranked(mode) for pool in pools]
    first = pools[0].query
    named = max((one.scored.named for one in rankings[0].chunks[:1]), default=0.0)
    odds = [
        _odds(ranking) / (_least(first, pool.query, named) if place else 1.0)
        for place, (pool, ranking) in enumerate(zip(pools, rankings, strict=True))
    ]
    place = odds.index(max(odds))
    return place, rankings[place]


def _least(first: QuestionTerms, other: QuestionTerms, named: float) -> float:
    """How often the first reading's odds another reading needs."""
    if not other.is_whole:
        return OTHER_ODDS
    if first.states_topic:
        of_whole = STATED_WHOLE_ODDS
    else:
        of_whole = ENGLISH_WHOLE_ODDS if first.is_english else WHOLE_ODDS
    return of_whole * (1 + NAMED_COUNTS * named)


def _odds(ranking: Ranking) -> float:
    """The odds that the first passage answers; none if there is no passage."""
    likelihood = ranking.evidence.likelihood(0.0) if ranking.chunks else 0.0
    return likelihood / max(1 - likelihood, 1e-9)
