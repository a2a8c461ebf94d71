"""The result of a benchmark: rows of a table, or the reason why it was skipped."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table; ``met`` is None if there is no bar.

    The short page leaves out a ``minor`` row whose bar is met.
    """

    what: str
    measured: str
    bar: str = ""
    met: bool | None = None
    minor: bool = False

    @property
    def verdict(self) -> str:
        """``met`` as a word."""
        return {True: "yes", False: "NO", None: ""}[self.met]


class Skipped(Exception):
    """A benchmark cannot run here; the message says what is missing and where to get it."""


def median(values: Sequence[float]) -> float:
    """The median, which a busy moment of the machine does not change."""
    return statistics.median(values)


def spread(values: Sequence[float], unit: str, scale: float = 1.0) -> str:
    """The median with the lowest and the highest value, as text."""
    middle, low, high = (scale * value for value in (median(values), min(values), max(values)))
    return f"{_shown(middle)} {unit} ({_shown(low)} to {_shown(high)})"


def _shown(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
