"""Materializes the rows of a query, within a limit on the number of tables."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from mdvec_mcp.analytics.core.guard import JsonAnswer, with_warnings
from mdvec_mcp.analytics.core.naming import named
from mdvec_mcp.analytics.core.statement import fold
from mdvec_mcp.analytics.process.query_process import QueryProcess


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
