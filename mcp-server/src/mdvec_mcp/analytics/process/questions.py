"""Questions to the query process and what is read of its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.naming import named
from mdvec_mcp.analytics.core.refusals import QueryError
from mdvec_mcp.analytics.process.wire import Message


class Lost(Exception):
    """A child gave no answer, and is no more."""

    def __init__(self, reason: QueryError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def making(name: str, source: str, sql: str, *, replace: bool) -> Message:
    """The question that makes a materialized table."""
    return {"do": "materialize", "name": name, "source": source, "sql": sql, "replace": replace}


def columns_in(found: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    """The columns that an answer lists."""
    return tuple(Column(name, kind) for name, kind in found)


def missing_tables(reasons: Mapping[str, str]) -> list[str]:
    """What to say of tables that are not there, one sentence a reason."""
    told: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        told.setdefault(reason, []).append(name)
    return [
        f"not there: {named(names)} ({reason}); the user can mend that with: mdvec import"
        for reason, names in told.items()
    ]
