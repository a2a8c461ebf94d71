"""Materializes the rows of a query, within a limit on the number of tables."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from mdvec_mcp.analytics.core.guard import Answer, warned
from mdvec_mcp.analytics.core.naming import named
from mdvec_mcp.analytics.core.statement import folded
from mdvec_mcp.analytics.process.query_process import QueryProcess


@dataclass(frozen=True, slots=True)
class MaterializedTables:
    """Materializes tables, and drops the oldest where there are too many.

    Args:
        queries: the process that holds the tables.
        max_tables: the oldest table is dropped to make room for the next.
        ttl_seconds: the time to live of a table for which none is given.
    """

    queries: QueryProcess
    max_tables: int
    ttl_seconds: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def materialize(self, name: str, query: str, ttl_seconds: int | None) -> Answer:
        """Keep the rows of a query as a table for later queries.

        A table of that name is replaced, and then counts as the newest.

        Raises:
            QueryError: the query failed, or no table can have that name.
        """
        ttl = ttl_seconds or self.ttl_seconds
        with self._lock:
            table = self.queries.materialize(folded(name), query, replace=True, ttl_seconds=ttl)
            dropped = list(self.queries.expiries())[: -self.max_tables]
            for oldest in dropped:
                self.queries.drop(oldest)
        warnings = self.queries.take_warnings()
        if dropped:
            warnings.append(f"the oldest tables had to go for it: {named(dropped)}")
        answer = {"view": table.name, "rows": table.rows, "expires_at": table.expires_at}
        return warned(answer, warnings)
