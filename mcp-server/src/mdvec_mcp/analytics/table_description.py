"""Describes one table: its columns with samples, its keys, periods, joins, and where it is from."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from mdvec.datasets import Column, has_dates

from mdvec_mcp.analytics.core import discovery
from mdvec_mcp.analytics.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec_mcp.analytics.core.refusals import (
    QueryError,
    QueryStopped,
    named,
    shortened_name,
    unknown_table,
)
from mdvec_mcp.analytics.core.statement import find_table
from mdvec_mcp.analytics.data import table_origin
from mdvec_mcp.analytics.process.query_process import QueryProcess

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
        for kept in self.queries.materialized():
            if kept.name == table:
                return {"expires_at": kept.expires_at}
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
            (found,) = self.queries.rows(table, discovery.facts_sql(columns, keys), max_rows=1).rows
        except QueryStopped:
            warnings.append("too many rows to count now; profile has their number and periods")
            return entries, {}
        rows, *facts = found
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
        found: list[JsonAnswer] = []
        until = time.monotonic() + _MAX_SECONDS
        thought_of = discovery.joins_by_name(table, columns, tables)
        left = thought_of[_MAX_COMPARED:]
        for place, join in enumerate(thought_of[:_MAX_COMPARED]):
            if time.monotonic() > until:
                left = thought_of[place:]
                break
            if (fits := self._fits(table, join)) is not None:
                found.append(fits)
        if left:
            others = named(sorted({f"{join.other}.{join.other_column}" for join in left}))
            warnings.append(f"of the same name, but not compared: {others}")
        found.sort(key=lambda one: (not one["to_key"], -one["overlap"]))
        return found[:_MAX_JOINS]

    def _fits(self, table: str, join: discovery.Join) -> JsonAnswer | None:
        try:
            (found,) = self.queries.rows(discovery.overlap_sql(table, join), max_rows=1).rows
        except QueryError:  # a column of a type that cannot be compared, or too many rows
            return None
        values, common, is_key = found
        overlap = int(str(common)) / int(str(values)) if values else 0.0
        if overlap < _MIN_OVERLAP:
            return None
        to = f"{join.other}.{shortened_name(join.other_column)}"
        column = shortened_name(join.column)
        return {"column": column, "to": to, "overlap": round(overlap, 2), "to_key": bool(is_key)}


def _short(kind: str) -> str:
    return kind if len(kind) <= _MAX_TYPE else f"{kind[: _MAX_TYPE - 1]}…"
