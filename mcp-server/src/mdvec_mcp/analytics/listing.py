"""Lists the tables and exports that can be used now, and materializes tables."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from mdvec.analysis import ExportFolder

from mdvec_mcp.analytics.core import discovery
from mdvec_mcp.analytics.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec_mcp.analytics.core.refusals import named, shortened_name
from mdvec_mcp.analytics.core.statement import fold
from mdvec_mcp.analytics.process.query_process import QueryProcess

_MAX_COLUMNS = 30
"""The maximum number of columns listed per table."""
_ROOM_FOR_WARNINGS = 300
_ROOM_FOR_TABLES = 1_500
"""Bytes that handles leave to the tables, however many there are."""


@dataclass(frozen=True, slots=True)
class TableListing:
    """The list of everything that a query or Python can name."""

    queries: QueryProcess
    exports: ExportFolder
    guard: AnswerGuard

    def handles(self, match: str | None = None, start: int = 1) -> JsonAnswer:
        """The tables from number ``start`` on with columns, and at first what is stored for now.

        With ``match`` only the tables and columns whose names hold it.

        Raises:
            QueryError: the tables could not be loaded.
        """
        found = self.queries.tables()  # first: this makes tables again whose data have changed
        handles = {} if match is not None or start > 1 else self._handles()
        stored = {table.name for table in self.queries.materialized()}
        tables = {
            name: columns
            for name, columns in discovery.matching(found, match).items()
            if match is not None or name not in stored
        }
        room = AnswerGuard(self.guard.max_bytes - _ROOM_FOR_WARNINGS, self.guard.max_rows)
        handles = AnswerGuard(room.max_bytes - _ROOM_FOR_TABLES, 0).trim(
            handles, tuple(handles), lambda gone: f"{gone} more handles exist"
        )
        warnings = [*handles.pop("warnings", ()), *self.queries.take_warnings()]
        return with_warnings(*self._listed(room, tables, handles, start, warnings))

    def _listed(
        self,
        room: AnswerGuard,
        tables: Mapping[str, list[str]],
        handles: JsonAnswer,
        start: int,
        warnings: list[str],
    ) -> tuple[JsonAnswer, list[str]]:
        """The answer and its warnings: tables with columns, or names alone where these are many."""
        here = list(tables)[start - 1 :]
        wide = [name for name in here if len(tables[name]) > _MAX_COLUMNS]
        brief = {
            name: [shortened_name(column) for column in tables[name][:_MAX_COLUMNS]]
            for name in here
        }
        whole: JsonAnswer = {"tables": brief, **handles}
        if room.fits(whole):
            if wide:
                warnings.append(
                    f"of {named(wide)} only {_MAX_COLUMNS} columns are listed; all of them: "
                    f"table={wide[0]}"
                )
            return room.page(whole, "tables", start, len(tables)), warnings
        paged = room.page({"tables": here, **handles}, "tables", start, len(tables))
        told = "columns are left out: find some with match=…, or describe one with table=…"
        return paged, [*warnings, told]

    def _handles(self) -> JsonAnswer:
        return {
            "materialized": [
                {"name": table.name, "rows": table.rows, "expires_at": table.expires_at}
                for table in self.queries.materialized()
            ],
            "exports": [
                {
                    "handle": export.handle,
                    "size_mb": export.size_mb,
                    "expires_at": export.expires_at,
                }
                for export in reversed(self.exports.list())
            ],
        }


@dataclass(frozen=True, slots=True)
class MaterializedTables:
    """Materializes tables, and drops the oldest if there are too many.

    Args:
        queries: the process that holds the tables.
        max_tables: the maximum number of tables.
        ttl_seconds: the default lifetime of a table.
    """

    queries: QueryProcess
    max_tables: int
    ttl_seconds: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def materialize(self, name: str, query: str, ttl_seconds: int | None) -> JsonAnswer:
        """Store the rows of a query as a table for later queries.

        Replaces a table of the same name, and counts as the newest.

        Raises:
            QueryError: the query failed, or no table can have that name.
        """
        ttl = ttl_seconds or self.ttl_seconds
        with self._lock:
            table = self.queries.materialize(fold(name), query, replace=True, ttl_seconds=ttl)
            dropped = list(self.queries.expiries())[: -self.max_tables]
            for oldest in dropped:
                self.queries.drop(oldest)
        warnings = self.queries.take_warnings()
        if dropped:
            warnings.append(f"the oldest tables were dropped to make room: {named(dropped)}")
        answer = {"view": table.name, "rows": table.rows, "expires_at": table.expires_at}
        return with_warnings(answer, warnings)
