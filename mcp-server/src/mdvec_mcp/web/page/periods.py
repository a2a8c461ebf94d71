"""The periods that a view of money links to: those before and after, and some of the ledger's."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.dates.months import MonthRange

_MAX_YEARS = 6


@dataclass(frozen=True, slots=True)
class Periods:
    """Periods in words that the tools understand; "" where the ledger has no months any more."""

    before: str
    after: str
    offered: tuple[str, ...]


def periods_around(shown: MonthRange, known: MonthRange) -> Periods:
    """The periods of the same length beside those shown, and the latest months and years.

    Args:
        shown: the months of a view.
        known: those of the ledger.
    """
    years = range(known.last.year, max(known.first.year, known.last.year - _MAX_YEARS) - 1, -1)
    months = [known.last, *([known.last.plus(-1)] if len(known) > 1 else [])]
    return Periods(
        before=_moved(shown, -len(shown)) if shown.first > known.first else "",
        after=_moved(shown, len(shown)) if shown.last < known.last else "",
        offered=(*map(str, months), *(f"{year}年" for year in years)),
    )


def _moved(months: MonthRange, by: int) -> str:
    first, last = months.first.plus(by), months.last.plus(by)
    return str(first) if first == last else f"{first}〜{last}"
