"""Which rows that are gone from their statements leave the sums, and which are asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

MOST_AT_ONCE = 20
MOST_PERCENT = 20


def decide(
    gone: Mapping[str, tuple[str, str | None]],
    days: Iterable[str],
    *,
    only_ask: bool,
    accepted: bool,
) -> dict[str, str]:
    """What becomes of rows that are gone, by identity: ``removed``, ``asked`` or ``kept``.

    ``gone`` has each row's day and what was decided before, if anything was; ``days`` are those
    of all rows that count or were just found gone. A row that its user kept stays; one that was
    asked about waits until all are accepted. So do rows of a month in which more than 20 at once,
    and more than 20 % of it, would leave.
    """
    leaving = Counter(day[:7] for day, before in gone.values() if before in (None, "asked"))
    of_month = Counter(day[:7] for day in days if day[:7] in leaving)
    return {
        identity: _decided(
            before,
            asked=only_ask or before == "asked" or _are_many(leaving[day[:7]], of_month[day[:7]]),
            accepted=accepted,
        )
        for identity, (day, before) in gone.items()
    }


def _decided(before: str | None, *, asked: bool, accepted: bool) -> str:
    if before in ("kept", "removed"):
        return before
    return "asked" if asked and not accepted else "removed"


def _are_many(leaving: int, of_month: int) -> bool:
    return leaving > MOST_AT_ONCE and 100 * leaving > MOST_PERCENT * of_month
