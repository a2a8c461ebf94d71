"""Why a query got no answer, in a sentence that says what to do instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mdvec.errors import MdvecError

_SHOWN_TABLES = 20


class QueryError(MdvecError):
    """A query that was not answered; each kind below says why."""


class QueryRefused(QueryError):
    """The text is not one SELECT over the known tables; nothing was run."""


class UnknownTable(QueryRefused):
    """There is no table of that name."""


class BadTableName(QueryRefused):
    """No table can be given that name."""


class QueryFailed(QueryError):
    """DuckDB could not run it: a column that is not there, or text that is no number."""


class QueryStopped(QueryError):
    """It took more time or memory than one query may, or broke the process that ran it."""


class TooManyRows(QueryError):
    """More rows than were allowed; there is no file."""

    def __init__(self, count: int, max_rows: int) -> None:
        self.count = count
        self.max_rows = max_rows
        super().__init__(
            f"the query has {count:,} rows, more than max_rows={max_rows:,}, and nothing was "
            "exported; aggregate or filter in SQL, or raise max_rows"
        )


class ExportTooLarge(QueryError):
    """More bytes than one export may have, or than the disk has room for; there is no file."""


class QueriesUnavailable(QueryError):
    """The process that runs queries could not be started, or is busy with others."""


def unknown_table(name: str, known: Iterable[str], note: str = "") -> UnknownTable:
    """The refusal of a name that no table has, with the names that there are."""
    there = sorted(known)
    shown = ", ".join(there[:_SHOWN_TABLES]) + (", …" if len(there) > _SHOWN_TABLES else "")
    tables = f"the tables are: {shown}" if there else "there are no tables yet"
    file = "" if note or not re.search(r"[/\\.]", name) else " (a query opens no files)"
    return UnknownTable(f"there is no table {shortened(name)!r}{note}{file}; {tables}")


KINDS = {
    kind.__name__: kind
    for kind in (
        QueryError, QueryRefused, UnknownTable, BadTableName, QueryFailed, QueryStopped,
        ExportTooLarge, QueriesUnavailable,
    )
}  # fmt: skip
"""The kinds by name, of those whose sentence is all that they have."""


def shortened(text: str, limit: int = 60) -> str:
    """What a model wrote, fit to stand in a sentence."""
    flat = "".join(sign if sign.isprintable() else " " for sign in text[: limit + 1])
    return flat if len(flat) <= limit else flat[:limit] + "…"
