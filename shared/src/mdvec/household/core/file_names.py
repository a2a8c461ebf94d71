"""What an export's name says: its period, and the number of a repeated download."""

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
    """A file's name.

    ``stem`` is its path without the number and the ending; ``number`` is the n of "name (n).csv",
    0 where there is none. ``first`` and ``last`` are the days of the period in the name, as
    YYYY-MM-DD; "" where it has none. A name that goes on after its period has none: it is an
    excerpt or somebody's own.
    """

    stem: str
    number: int
    first: str
    last: str

    @property
    def has_period(self) -> bool:
        """Whether the name says which days the file covers."""
        return bool(self.first)


@lru_cache(maxsize=4096)
def statement_name(path: str) -> StatementName:
    """What a file's path says."""
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
