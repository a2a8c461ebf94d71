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
NAMED_COUNTS = 2.0
"""How much the odds of the other reading grow if its first passage is named exactly as it asks.

A heading of one common word (設定) is named by many a question, so this alone decides nothing.
"""


def likelier(pools: Sequence[Pool], mode: SearchMode) -> tuple[int, Ranking]:
    """The place of the likelier of a question's readings, and its ranking.

    ``pools`` are in the order of ``text.questions.readings``. The passages tell: how likely the
    first of each reading answers it, and how closely its title or heading matches what is asked.
    """
    rankings = [pool.ranked(mode) for pool in pools]
    if len(pools) == 1 or not rankings[1].chunks:
        return 0, rankings[0]
    asked, whole = (ranking.evidence.likelihood(0.0) for ranking in rankings)
    named = max((one.scored.named for one in rankings[0].chunks[:1]), default=0.0)
    least = WHOLE_ODDS * (1 + NAMED_COUNTS * named)
    place = int(whole * (1 - asked) > least * asked * (1 - whole))
    return place, rankings[place]
