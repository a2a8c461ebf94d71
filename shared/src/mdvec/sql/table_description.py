"""Describes one table: its columns with samples, its keys, periods, joins, and where it is from."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mdvec.analysis import ExportFolder
from mdvec.datasets import Column, has_dates
from mdvec.queries import listed_parameters, saved
from mdvec.sql.core import discovery
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.refusals import (
    QueryError,
    QueryStopped,
    named,
    shortened_name,
    unknown_table,
)
from mdvec.sql.core.statement import find_table, fold, has_name
from mdvec.sql.data import table_origin
from mdvec.sql.process.query_process import QueryProcess

_MAX_COLUMNS = 40
"""Columns that are sampled for one answer; more do not fit into it."""
_MAX_TYPE = 60
_MAX_COMPARED = 16
_MAX_SECONDS = 2.0
_MAX_JOINS = 8
_MIN_OVERLAP = 0.2
_ROOM_FOR_WARNINGS = 300


@dataclass(frozen=True, slots=True)
class TableDescriptions:
    """Descriptions of the tables that SQL can query.

    Args:
        database: knows the files that the tables are from; None knows none.
        guard: the limits of an answer.
    """

    queries: QueryProcess
    database: Path | None
    guard: AnswerGuard

    def describe(self, name: str, match: str | None = None, start: int = 1) -> JsonAnswer:
        """The table's columns from number ``start`` on, those whose names hold ``match``.

        Raises:
            UnknownTable: there is none of that name.
            QueryError: it could not be read.
        """
        tables = self.queries.tables()
        table = find_table(name.strip(), list(tables))
        if table is None:  # a query, say
            raise unknown_table(name, tables)
        columns = discovery.columns_holding(tables[table], match)
        shown = columns[start - 1 : start - 1 + _MAX_COLUMNS]
        answer: JsonAnswer = {"table": table} | self._origin(table)
        warnings: list[str] = []
        entries, facts = self._described(table, shown, warnings)
        answer |= facts
        if start == 1 and (joins := self._joins(table, columns, tables, warnings)):
            answer["joins"] = joins
        answer = with_warnings({**answer, "columns": entries}, warnings)
        room = AnswerGuard(self.guard.max_bytes - _ROOM_FOR_WARNINGS, self.guard.max_rows)
        answer = room.page(answer, "columns", start, len(columns))
        return with_warnings(answer, [*warnings, *self.queries.take_warnings()])

    def _origin(self, table: str) -> JsonAnswer:
        for materialized in self.queries.materialized():
            if materialized.name == table:
                return {"expires_at": materialized.expires_at}
        return {} if self.database is None else table_origin(self.database, table)

    def _described(
        self, table: str, columns: list[Column], warnings: list[str]
    ) -> tuple[list[JsonAnswer], JsonAnswer]:
        """The entries of some columns, and the number of rows."""
        entries: list[JsonAnswer] = [
            {"name": shortened_name(column.name), "type": _short(column.type)} for column in columns
        ]
        if not columns:
            return [], {}
        (sampled,) = self.queries.rows(table, discovery.samples_sql(columns), max_rows=1).rows
        keys = [column for column, is_one in zip(columns, sampled[1::2], strict=True) if is_one]
        for entry, samples in zip(entries, sampled[::2], strict=True):
            entry["samples"] = samples or []
        try:
            (row,) = self.queries.rows(table, discovery.facts_sql(columns, keys), max_rows=1).rows
        except QueryStopped:
            warnings.append("too many rows to count now; profile has their number and periods")
            return entries, {}
        rows, *facts = row
        by_name = dict(zip((column.name for column in columns), entries, strict=True))
        for column in filter(has_dates, columns):
            by_name[column.name]["period"], facts = facts[:2], facts[2:]
        for column, is_key in zip(keys, facts, strict=True):
            if is_key and rows:
                by_name[column.name]["is_key"] = True
        return entries, {"rows": rows}

    def _joins(
        self,
        table: str,
        columns: list[Column],
        tables: discovery.TableColumns,
        warnings: list[str],
    ) -> list[JsonAnswer]:
        """The joins whose values overlap, those with a key of the other table first."""
        joins: list[JsonAnswer] = []
        until = time.monotonic() + _MAX_SECONDS
        thought_of = discovery.joins_by_name(table, columns, tables)
        left = thought_of[_MAX_COMPARED:]
        for position, join in enumerate(thought_of[:_MAX_COMPARED]):
            if time.monotonic() > until:
                left = thought_of[position:]
                break
            if (fits := self._fits(table, join)) is not None:
                joins.append(fits)
        if left:
            others = named(sorted({f"{join.other}.{join.other_column}" for join in left}))
            warnings.append(f"of the same name, but not compared: {others}")
        joins.sort(key=lambda candidate: (not candidate["to_key"], -candidate["overlap"]))
        return joins[:_MAX_JOINS]

    def _fits(self, table: str, join: discovery.Join) -> JsonAnswer | None:
        try:
            (row,) = self.queries.rows(discovery.overlap_sql(table, join), max_rows=1).rows
        except QueryError:  # a column of a type that cannot be compared, or too many rows
            return None
        values, common, is_key = row
        overlap = int(str(common)) / int(str(values)) if values else 0.0
        if overlap < _MIN_OVERLAP:
            return None
        to = f"{join.other}.{shortened_name(join.other_column)}"
        column = shortened_name(join.column)
        return {"column": column, "to": to, "overlap": round(overlap, 2), "to_key": bool(is_key)}


def _short(kind: str) -> str:
    return kind if len(kind) <= _MAX_TYPE else f"{kind[: _MAX_TYPE - 1]}…"


_MAX_LISTED_COLUMNS = 30
"""The maximum number of columns listed per table."""
_ROOM_FOR_TABLES = 1_500
"""Bytes that handles leave to the tables, however many there are."""


@dataclass(frozen=True, slots=True)
class TableListing:
    """The list of everything that a query or Python can name.

    Args:
        database: has the saved questions; None has none.
    """

    queries: QueryProcess
    exports: ExportFolder
    guard: AnswerGuard
    database: Path | None = None

    def handles(self, match: str | None = None, start: int = 1) -> JsonAnswer:
        """The tables from number ``start`` on with columns, and at first what is stored for now.

        With ``match`` only the tables and columns whose names hold it.

        Raises:
            QueryError: the tables could not be loaded.
        """
        known = self.queries.tables()  # first: this makes tables again whose data have changed
        handles = {} if match is not None or start > 1 else self._handles(known)
        stored = {table.name for table in self.queries.materialized()}
        tables = {
            name: columns
            for name, columns in discovery.matching(known, match).items()
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
        wide = [name for name in here if len(tables[name]) > _MAX_LISTED_COLUMNS]
        brief = {
            name: [shortened_name(column) for column in tables[name][:_MAX_LISTED_COLUMNS]]
            for name in here
        }
        whole: JsonAnswer = {"tables": brief, **handles}
        if room.fits(whole):
            if wide:
                warnings.append(
                    f"of {named(wide)} only {_MAX_LISTED_COLUMNS} columns are listed; all of them: "
                    f"table={wide[0]}"
                )
            return room.page(whole, "tables", start, len(tables)), warnings
        paged = room.page({"tables": here, **handles}, "tables", start, len(tables))
        hint = "columns are left out: find some with match=…, or describe one with table=…"
        return paged, [*warnings, hint]

    def _handles(self, tables: Iterable[str]) -> JsonAnswer:
        """The saved questions, as measures over their tables, and what is stored for now."""
        questions = saved.saved_queries(self.database) if self.database else []
        measures = [
            {
                "name": query.name,
                "description": query.description,
                "parameters": listed_parameters(query.parameters),
                "table": ", ".join(name for name in tables if has_name(query.sql, name)),
            }
            for query in questions
        ]
        return ({"measures": measures} if measures else {}) | {
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
    """Materializes tables.

    Args:
        queries: makes and names the tables.
        ttl_seconds: the default lifetime of a table.
    """

    queries: QueryProcess
    ttl_seconds: int

    def materialize(self, name: str, query: str, ttl_seconds: int | None) -> JsonAnswer:
        """Store the rows of a query as a table for later queries of this session.

        Replaces a table of the same name, and counts as the newest.

        Raises:
            QueryError: the query failed, or no table can have that name.
            ExportError: its file could not be put in place.
        """
        ttl = ttl_seconds or self.ttl_seconds
        table = self.queries.materialize(fold(name), query, ttl_seconds=ttl)
        answer = {
            "view": table.name,
            "rows": table.rows,
            "expires_at": table.expires_at,
            "handle": table.handle,
        }
        return with_warnings(answer, self.queries.take_warnings())
