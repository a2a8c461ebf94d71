"""From when to when a ledger goes, without rows whose dates stand alone, years from all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mdvec.household.core.months import Month, MonthRange

FAR = 36
"""So many months without any row part a run of months from the rest."""
FEW = 10
"""A run of more rows than this is a part of the ledger, however far away it lies."""


@dataclass(frozen=True, slots=True)
class Run:
    """Months with rows that lie less than ``FAR`` apart, and how many rows they have."""

    months: MonthRange
    rows: int

    def is_astray(self, now: Month) -> bool:
        """Whether its dates are likely mistakes: a few rows, far from today too."""
        near = self.months.last.plus(FAR) >= now and self.months.first.plus(-FAR) <= now
        return self.rows <= FEW and not near


def runs_of(months: Iterable[Month]) -> list[MonthRange]:
    """Months in order, parted where too many are missing between two."""
    found: list[MonthRange] = []
    for month in months:
        if found and month.since(found[-1].last) <= FAR:
            found[-1] = MonthRange(found[-1].first, month)
        else:
            found.append(MonthRange(month, month))
    return found


def body_of(runs: Sequence[Run], now: Month) -> MonthRange:
    """The months of the ledger proper: what is left when the runs astray at either end are off.

    Where all are, it is the last that has begun by ``now``, or else the first.
    """
    kept = [run.months for run in runs if not run.is_astray(now)]
    if not kept:
        begun = [run.months for run in runs if run.months.first <= now]
        kept = begun[-1:] or [runs[0].months]
    return MonthRange(kept[0].first, kept[-1].last)


def latest_of(months: Sequence[Month], body: MonthRange, now: Month) -> Month:
    """The last month with rows that has begun by ``now``; of a ledger to come its last."""
    begun = [month for month in months if month in body and month <= now]
    return begun[-1] if begun else body.last
