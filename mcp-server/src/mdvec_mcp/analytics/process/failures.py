"""What DuckDB's errors mean for whoever asked, without the paths of files."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from mdvec_mcp.analytics.core.refusals import (
    ExportTooLarge,
    QueriesUnavailable,
    QueryError,
    QueryFailed,
    QueryStopped,
)

logger = logging.getLogger("mdvec")

_LONGEST = 300
_NO_ROOM = ("No space left", "File too large", "Disk quota", "failed to write", "Could not write")


class Broken(Exception):
    """DuckDB says of itself that it cannot go on; the process has to be replaced."""


def too_long(seconds: float) -> QueryStopped:
    """The query took its whole time."""
    return QueryStopped(
        f"the query was stopped after {seconds:g} s, the limit; filter or aggregate "
        "earlier, ask about a part, or materialize an intermediate result first"
    )


def too_much_memory(memory_mb: int) -> QueryStopped:
    """The query took the memory that there is."""
    return QueryStopped(
        f"the query was stopped because it needs more memory than the limit of {memory_mb:,} MB; "
        "filter or aggregate earlier, select fewer columns, or ask about a part"
    )


def too_large(most_bytes: int) -> ExportTooLarge:
    """The export took its whole room, or the disk's."""
    return ExportTooLarge(
        f"the export was stopped: it is larger than {most_bytes / 2**20:,.0f} MB, the limit, or "
        "the disk is full, and no file was left; aggregate, filter, or select fewer columns"
    )


def broke() -> QueryStopped:
    """The process ended in the middle of the query."""
    return QueryStopped(
        "the query broke the process that ran it, and a new one was started; ask in a simpler way"
    )


def failure_of(
    error: Exception,
    *,
    seconds: float,
    memory_mb: int,
    export_bytes: int,
    hidden: Mapping[str, str],
) -> QueryError:
    """A sentence for an error of DuckDB; ``hidden`` has a word for each path.

    Raises:
        Broken: the connection cannot be used any more.
    """
    import duckdb

    if isinstance(error, duckdb.InterruptException):
        return too_long(seconds)
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError) or "bad_alloc" in str(error):
        return too_much_memory(memory_mb)
    if isinstance(error, duckdb.FatalException | duckdb.InternalException):
        raise Broken from error
    if isinstance(error, duckdb.IOException) and any(sign in str(error) for sign in _NO_ROOM):
        return too_large(export_bytes)
    if isinstance(error, UnicodeError):
        return QueryFailed("the query holds a character that is none; leave it out")
    return QueryFailed(_sentence(str(error), hidden))


def _sentence(message: str, hidden: Mapping[str, str]) -> str:
    """The first part of DuckDB's message, which says what is wrong."""
    said = re.split(r"\n\s*\n|\nLINE ", message, maxsplit=1)[0]
    for path in sorted(hidden, key=len, reverse=True):
        said = said.replace(path, hidden[path])
    said = " ".join(said.split())
    return said if len(said) <= _LONGEST else said[:_LONGEST] + "…"


def not_started(why: str) -> QueriesUnavailable:
    """There is no process to ask; why is for the log."""
    logger.warning("analytics: the query process did not start: %s", why)
    return QueriesUnavailable(
        "the process that runs queries did not start; the server's log says why, and "
        "[analytics] max_memory_mb may be too small for these data"
    )
