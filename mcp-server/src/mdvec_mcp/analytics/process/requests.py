"""Builds the requests to the child and reads its responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdvec.datasets.core.columns import Column
from mdvec.queries.parameters import Bound

from mdvec_mcp.analytics.core.naming import named
from mdvec_mcp.analytics.process.wire import Message


def rows_request(source: str, sql: str, *, max_rows: int, max_bytes: int) -> Message:
    """The request for the first rows of a result."""
    return {
        "do": "rows", "source": source, "sql": sql, "max_rows": max_rows, "max_bytes": max_bytes,
    }  # fmt: skip


def export_request(source: str, sql: str, *, fmt: str, file: str, max_rows: int) -> Message:
    """The request to write a result to a file of the spool."""
    return {
        "do": "export", "source": source, "sql": sql, "format": fmt, "file": file,
        "max_rows": max_rows,
    }  # fmt: skip


def with_parameters(request: Message, parameters: Bound | None) -> Message:
    """The request with the values of the query's parameters, if it may have any."""
    return request if parameters is None else request | {"parameters": parameters}


def materialize_request(name: str, source: str, sql: str, *, replace: bool) -> Message:
    """The request to keep a result as a table."""
    return {"do": "materialize", "name": name, "source": source, "sql": sql, "replace": replace}


def columns_in(listed: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    """The columns that a response lists."""
    return tuple(Column(name, kind) for name, kind in listed)


def missing_tables(reasons: Mapping[str, str]) -> list[str]:
    """The warnings about tables that could not be loaded, one sentence for each reason."""
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names_by_reason.setdefault(reason, []).append(name)
    return [
        f"not there: {named(names)} ({reason}); the user can repair that with: mdvec import"
        for reason, names in names_by_reason.items()
    ]
