"""Parses the name of a statement file: its period, and the number of a repeated download."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
_COPY = re.compile(r"(?P<stem>.+?) ?\((?P<number>[0-9]{1,4})\)\Z", re.DOTALL)
_PERIOD = re.compile(
    r"(?:.*[^0-9])?(\d{4}-\d{2}-\d{2})_(\d{4}-\d{2}-\d{2})\Z", re.ASCII | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class StatementName:
    """The parts of a file's name.

    ``stem`` is its path without number and extension; ``number`` is the n of "name (n).csv", or
    0. ``first`` and ``last`` are the days of the period in the name, as YYYY-MM-DD, or "". A name
    that continues after the period counts as having none: the file is an excerpt, or edited.
    """

    stem: str
    number: int
    first: str
    last: str

    @property
    def has_period(self) -> bool:
        """Whether the name contains the period that the file covers."""
        return bool(self.first)


@lru_cache(maxsize=4096)
def statement_name(path: str) -> StatementName:
    """Parses a file's path."""
    stem = _ENDING.sub("", unicodedata.normalize("NFKC", path)).strip()
    number = 0
    copy = _COPY.fullmatch(stem)
    if copy is not None:
        stem, number = copy["stem"], int(copy["number"])
    return StatementName(stem, number, *_period(stem))


def _period(stem: str) -> tuple[str, str]:
    match = _PERIOD.fullmatch(stem.rpartition("/")[2])
    if match is None:
        return "", ""
    try:
        first, last = (date.fromisoformat(day) for day in match.groups())
    except ValueError:
        return "", ""
    return ("", "") if first > last else (first.isoformat(), last.isoformat())
