"""Decides which rows that vanished from their statements leave the sums, or need consent.

So do many rows to which a file gives other values that may be an old copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

MAX_AT_ONCE = 20
MAX_PERCENT = 20


def decide(
    gone: Mapping[str, tuple[str, str | None]],
    rows_by_month: Mapping[str, int],
    *,
    accepted: bool,
) -> dict[str, str]:
    """The state of each vanished row, by identity: ``removed``, ``asked`` or ``kept``.

    ``gone`` has each row's day and its state so far, if any; ``rows_by_month`` counts the rows of
    each month (YYYY-MM) that were not removed before. A row that the user kept stays ``kept``, and
    one that is ``asked`` waits until all are accepted. New ones are ``asked`` if more than 20 rows,
    and more than 20 %, of a month would leave at once.
    """
    leaving = Counter(day[:7] for day, before in gone.values() if before in (None, "asked"))
    return {
        identity: _decide_one(
            before,
            asked=before == "asked" or are_many(leaving[day[:7]], rows_by_month.get(day[:7], 0)),
            accepted=accepted,
        )
        for identity, (day, before) in gone.items()
    }


def _decide_one(before: str | None, *, asked: bool, accepted: bool) -> str:
    if before in ("kept", "removed"):
        return before
    return "asked" if asked and not accepted else "removed"


def are_many(leaving: int, of_month: int) -> bool:
    """Whether so many of a month's rows change at once that the user is asked."""
    return leaving > MAX_AT_ONCE and 100 * leaving > MAX_PERCENT * of_month
