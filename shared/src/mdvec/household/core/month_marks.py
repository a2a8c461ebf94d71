"""The months of an answer whose figures are incomplete or missing."""

from __future__ import annotations

from dataclasses import dataclass

from mdvec.dates.months import Month


@dataclass(frozen=True, slots=True)
class MonthMarks:
    """Months that are ``running``, so probably incomplete, and months without rows (``empty``)."""

    running: tuple[Month, ...] = ()
    empty: tuple[Month, ...] = ()


UNMARKED = MonthMarks()
