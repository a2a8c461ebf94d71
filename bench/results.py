"""What a benchmark hands back: rows of a table, or a sentence on why there are none."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: ``met`` is None where there is no bar, only a figure to know."""

    what: str
    measured: str
    bar: str = ""
    met: bool | None = None

    @property
    def verdict(self) -> str:
        """``met`` as a word."""
        return {True: "yes", False: "NO", None: ""}[self.met]


class Skipped(Exception):
    """A benchmark that cannot run here; the message says what is missing and where it is found."""


def median(values: Sequence[float]) -> float:
    """The middle of the values: a busy moment of the machine does not move it."""
    return statistics.median(values)


def spread(values: Sequence[float], unit: str, scale: float = 1.0) -> str:
    """The median of the values with the lowest and the highest, for a reader."""
    middle, low, high = (scale * value for value in (median(values), min(values), max(values)))
    return f"{_shown(middle)} {unit} ({_shown(low)} to {_shown(high)})"


def _shown(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
