"""Lists the tables, materialized tables and exports that can be used now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.analysis.exports import ExportFolder

from mdvec_mcp.analytics.core.guard import Answer, Guard, with_warnings
from mdvec_mcp.analytics.core.naming import named
from mdvec_mcp.analytics.process.query_process import QueryProcess

_MAX_COLUMNS = 30
"""The maximum number of columns listed per table."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The list of everything that a query or Python can name."""

    queries: QueryProcess
    exports: ExportFolder
    guard: Guard

    def handles(self) -> Answer:
        """The tables with their columns, the materialized tables, and the export handles.

        Raises:
            QueryError: the tables could not be loaded.
        """
        found = self.queries.tables()  # first: this makes tables again whose data have changed
        materialized = self.queries.materialized()
        names = {table.name for table in materialized}
        tables = {
            name: [column.name for column in columns]
            for name, columns in found.items()
            if name not in names
        }
        answer: Answer = {
            "tables": {name: columns[:_MAX_COLUMNS] for name, columns in tables.items()},
            "materialized": [
                {"name": table.name, "rows": table.rows, "expires_at": table.expires_at}
                for table in materialized
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
        wide = [name for name, columns in tables.items() if len(columns) > _MAX_COLUMNS]
        return self._within_guard(answer, wide, self.queries.take_warnings())

    def _within_guard(self, answer: Answer, wide: Sequence[str], warnings: Sequence[str]) -> Answer:
        """The list cut to the guard: first without columns, then without the oldest handles."""
        told = [*warnings]
        if wide:
            told.append(f"of {named(wide)} only {_MAX_COLUMNS} columns are listed; {_find(wide)}")
        if self.guard.fits(full := with_warnings(answer, told)):
            return full
        names = list(answer["tables"])
        brief = {**answer, "tables": names}
        told = [*warnings, *([f"columns are left out; {_find(names)}"] if names else [])]
        return self.guard.trim(
            with_warnings(brief, told),
            ("tables", "materialized", "exports"),
            lambda gone: f"{gone} more exist, but are not listed",
        )


def _find(names: Sequence[str]) -> str:
    """A query that finds the columns of the first of these tables."""
    return (
        f"find them with SELECT column_name FROM (DESCRIBE {names[0]}) WHERE column_name LIKE '%…%'"
    )
