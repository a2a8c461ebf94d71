"""The months that a ledger covers, ignoring a few rows dated years away from all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mdvec.dates.months import Month, MonthRange

MAX_GAP_MONTHS = 36
"""More months than this between two rows separate two runs of months."""
MAX_ASTRAY_ROWS = 10
"""A run with more rows than this belongs to the ledger, however far away it lies."""


@dataclass(frozen=True, slots=True)
class MonthRun:
    """A run of months with rows at most ``MAX_GAP_MONTHS`` apart, and its number of rows."""

    months: MonthRange
    rows: int

    def is_astray(self, now: Month) -> bool:
        """Whether its dates are probably wrong: only a few rows, and far from today."""
        near = (
            self.months.last.plus(MAX_GAP_MONTHS) >= now
            and self.months.first.plus(-MAX_GAP_MONTHS) <= now
        )
        return self.rows <= MAX_ASTRAY_ROWS and not near


def runs_of(months: Iterable[Month]) -> list[MonthRange]:
    """Groups months, given in order, into runs."""
    found: list[MonthRange] = []
    for month in months:
        if found and month.since(found[-1].last) <= MAX_GAP_MONTHS:
            found[-1] = MonthRange(found[-1].first, month)
        else:
            found.append(MonthRange(month, month))
    return found


def body_of(runs: Sequence[MonthRun], now: Month) -> MonthRange:
    """The months of the ledger without stray runs at either end.

    If all runs are stray, the last that has begun by ``now``, or else the first.
    """
    kept = [run.months for run in runs if not run.is_astray(now)]
    if not kept:
        begun = [run.months for run in runs if run.months.first <= now]
        kept = begun[-1:] or [runs[0].months]
    return MonthRange(kept[0].first, kept[-1].last)


def latest_of(months: Sequence[Month], body: MonthRange, now: Month) -> Month:
    """The last month with rows that has begun by ``now``; if none has, the last of the body."""
    begun = [month for month in months if month in body and month <= now]
    return begun[-1] if begun else body.last
