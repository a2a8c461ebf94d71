"""A query that does not run, what was said about it, and the tables that it may read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mdvec.datasets.core.columns import Column

_UNREADABLE = re.compile(r"the SQL cannot be read: (.*?) \(at byte (\d+)\)", re.DOTALL)


class Mended(NamedTuple):
    """A changed query, and in a few words what was wrong."""

    sql: str
    why: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A query under repair.

    Args:
        sql: the query.
        message: why it does not run.
        tables: the columns of the known tables.
    """

    sql: str
    message: str
    tables: Mapping[str, Sequence[Column]]

    @property
    def is_unreadable(self) -> bool:
        """Whether its syntax is wrong, so that it has no tree."""
        return "cannot be read" in self.message

    @property
    def position(self) -> int | None:
        """The character at which the parser stopped."""
        found = _UNREADABLE.search(self.message)
        if found is None:
            return None
        return len(self.sql.encode()[: int(found[2]) - 1].decode(errors="ignore"))

    def named_by(self, pattern: str) -> str | None:
        """The name that the message gives, by a pattern with one group."""
        found = re.search(pattern, self.message)
        return None if found is None else found[1]


Repair = Callable[[Draft], Iterator[Mended]]
"""Proposes changes of a draft, the likeliest first; each may still not run."""
