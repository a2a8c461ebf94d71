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
NAMED = 0.4
"""How closely a title or heading at least matches what is asked, if it is that. Other questions
match none by .3; those with a background around a heading by .5 and more."""


def likelier(pools: Sequence[Pool], mode: SearchMode) -> tuple[int, Ranking]:
    """The place of the likelier of a question's readings, and its ranking.

    ``pools`` are in the order of ``text.questions.readings``. If the first names a title or
    heading, that is what is asked about; otherwise the better passages tell.
    """
    rankings = [pool.ranked(mode) for pool in pools]
    if len(pools) == 1 or not rankings[1].chunks:
        return 0, rankings[0]
    asked, whole = (ranking.evidence.likelihood(0.0) for ranking in rankings)
    is_named = any(one.scored.named >= NAMED for one in rankings[0].chunks)
    place = int(not is_named and whole * (1 - asked) > WHOLE_ODDS * asked * (1 - whole))
    return place, rankings[place]
