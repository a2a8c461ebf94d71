"""Translates DuckDB's exceptions into refusals that name no path of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mdvec_mcp.analytics.core.refusals import (
    QueryError,
    QueryFailed,
    disk_full,
    out_of_memory,
    out_of_room,
    out_of_time,
)

_MAX_MESSAGE = 300
_DISK_FULL = ("No space left", "Disk quota")
_FILE_FULL = ("File too large", "failed to write", "Could not write")


class FatalDuckDBError(Exception):
    """DuckDB cannot continue after this error; the process must be replaced."""


def refusal_of(
    error: Exception,
    *,
    seconds: float,
    memory_mb: int,
    export_bytes: int,
    hidden: Mapping[str, str],
) -> QueryError:
    """The refusal that tells the model about a DuckDB error.

    Its message names the limits, and replaces each path in ``hidden`` by the words given there.

    Raises:
        FatalDuckDBError: the connection cannot be used any more.
    """
    import duckdb

    if isinstance(error, duckdb.InterruptException):
        return out_of_time(seconds)
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError) or "bad_alloc" in str(error):
        return out_of_memory(memory_mb)
    if isinstance(error, duckdb.FatalException | duckdb.InternalException):
        raise FatalDuckDBError from error
    if isinstance(error, duckdb.IOException) and any(sign in str(error) for sign in _DISK_FULL):
        return disk_full()
    if isinstance(error, duckdb.IOException) and any(sign in str(error) for sign in _FILE_FULL):
        return out_of_room(export_bytes)
    if isinstance(error, UnicodeError):
        return QueryFailed("the query contains an invalid character; leave it out")
    return QueryFailed(_sentence(str(error), hidden))


def _sentence(message: str, hidden: Mapping[str, str]) -> str:
    """The first part of DuckDB's message, which says what is wrong."""
    said = re.split(r"\n\s*\n|\nLINE ", message, maxsplit=1)[0]
    for path in sorted(hidden, key=len, reverse=True):
        said = said.replace(path, hidden[path])
    said = " ".join(said.split())
    return said if len(said) <= _MAX_MESSAGE else said[:_MAX_MESSAGE] + "…"
