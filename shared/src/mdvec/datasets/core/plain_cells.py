"""Cells that a plain cast reads, as most are: recognized faster than by their kind's own rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

IN_USUAL_YEARS = "strlen({{v}}) = {} AND {{v}} >= '1' AND {{v}} < '3'"
"""SQL: whether a date ``{{v}}`` has so many bytes and is in the years 1000 to 2999."""


@cache
def looks_like(pattern: str) -> Callable[[str], object]:
    """A function that tests whether a whole text matches a kind's pattern."""
    return re.compile(pattern, re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class PlainCells:
    """The cells of one kind whose values a plain cast reads as the kind does.

    Attributes:
        pattern: a regular expression that matches only such cells, untrimmed.
        written: SQL: when a cell ``{v}`` matches the pattern, provided that DuckDB writes its value
            as the same text.
        length: the length of the longest cells that the pattern may be used for.
    """

    pattern: str
    written: str
    length: int = 19

    def match(self, cell: str) -> bool:
        """Whether a cell is one of them."""
        return len(cell) <= self.length and bool(looks_like(self.pattern)(cell))

    def matching(self, cell: str, value: str) -> str:
        """SQL: the same as ``match``, for a cell that is not NULL and its ``value``.

        A cell that is the text of its value needs no regular expression, which takes three times as
        long. Without a value, because its text is another for most cells, all cells need one.
        """
        fits = f"strlen({cell}) <= {self.length} AND regexp_full_match({cell}, '{self.pattern}')"
        if not value:
            return fits
        same = f"{self.written.format(v=cell)} AND CAST({value} AS VARCHAR) = {cell}"
        return f"CASE WHEN {same} THEN true ELSE {fits} END"
