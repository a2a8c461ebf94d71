"""Lists the tables; describes a table's columns, samples, keys, periods, joins and origin."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mdvec.analysis import ExportFolder
from mdvec.datasets import Column, family, has_dates
from mdvec.queries import listed_parameters
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.refusals import QueryError, QueryStopped, named, shortened_name, unknown_table
from mdvec.sql.core.statement import find_table, has_name
from mdvec.sql.data import table_origin
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sql.questions import saved_now
from mdvec.text import counted, identifier, quoted

TableColumns = Mapping[str, Sequence[Column]]
SAMPLES = 3
_SAMPLE_ROWS = 10_000
_COMPARED_VALUES = 20_000
"""Of twice as many distinct values or more, about this many are compared, chosen by their hashes:
the first ones may all be among another column's values, although few others are."""
_SAMPLE_CHARS = 40
_JOINED = {"integer", "category", "date", "timestamp"}
_MAX_COLUMNS = 40
"""How many columns one answer describes; more do not fit."""
_MAX_TYPE = 60
_MAX_COMPARED = 16
_MAX_SECONDS = 2.0
_MAX_JOINS = 8
_MIN_OVERLAP = 0.2
_ROOM_FOR_WARNINGS = 300
_MAX_LISTED_COLUMNS = 30
"""The maximum number of columns listed per table."""
_ROOM_FOR_TABLES = 1_500
"""The bytes that handles leave for tables."""


@dataclass(frozen=True, slots=True)
class TableDescriptions:
    """Lists everything that a query or Python code can name, and describes the tables.

    Args:
        database: has the origins of tables and the saved questions; None for neither.
        guard: the limits of an answer.
    """

    queries: QueryProcess
    exports: ExportFolder
    guard: AnswerGuard
    database: Path | None = None

    def describe(self, name: str, match: str | None = None, start: int = 1) -> JsonAnswer:
        """Describe a table's columns whose names contain ``match``, from number ``start`` on.

        Raises:
            UnknownTable: no table has that name.
            QueryError: it could not be read.
        """
        tables = self.queries.tables()
        table = find_table(name.strip(), list(tables))
        if table is None:  # ``name`` may be a query, for example
            raise unknown_table(name, tables)
        columns = columns_holding(tables[table], match)
        shown = columns[start - 1 : start - 1 + _MAX_COLUMNS]
        answer: JsonAnswer = {"table": table} | self._origin(table)
        warnings: list[str] = []
        entries, facts = self._describe_columns(table, shown, warnings)
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

    def _describe_columns(
        self, table: str, columns: list[Column], warnings: list[str]
    ) -> tuple[list[JsonAnswer], JsonAnswer]:
        """The entries of some columns, and the number of rows."""
        entries: list[JsonAnswer] = [
            {"name": shortened_name(column.name), "type": _short(column.type)} for column in columns
        ]
        if not columns:
            return [], {}
        (sampled,) = self.queries.rows(table, samples_sql(columns), max_rows=1).rows
        keys = [column for column, is_one in zip(columns, sampled[1::2], strict=True) if is_one]
        for entry, samples in zip(entries, sampled[::2], strict=True):
            entry["samples"] = samples or []
        try:
            (row,) = self.queries.rows(table, facts_sql(columns, keys), max_rows=1).rows
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
        tables: TableColumns,
        warnings: list[str],
    ) -> list[JsonAnswer]:
        """The joins whose values overlap, those to a key of the other table first."""
        joins: list[JsonAnswer] = []
        until = time.monotonic() + _MAX_SECONDS
        candidates = joins_by_name(table, columns, tables)
        left = candidates[_MAX_COMPARED:]
        for position, join in enumerate(candidates[:_MAX_COMPARED]):
            if time.monotonic() > until:
                left = candidates[position:]
                break
            if (fits := self._fits(table, join)) is not None:
                joins.append(fits)
        if left:
            others = named(sorted({f"{join.other}.{join.other_column}" for join in left}))
            warnings.append(f"of the same name, but not compared: {others}")
        joins.sort(key=lambda candidate: (not candidate["to_key"], -candidate["overlap"]))
        return joins[:_MAX_JOINS]

    def _fits(self, table: str, join: Join) -> JsonAnswer | None:
        try:
            (row,) = self.queries.rows(overlap_sql(table, join), max_rows=1).rows
        except QueryError:  # a column of a type that cannot be compared, or too many rows
            return None
        values, common, is_key, is_sample = row
        overlap = int(str(common)) / int(str(values)) if values else 0.0
        if overlap < _MIN_OVERLAP:
            return None
        to = f"{join.other}.{shortened_name(join.other_column)}"
        column = shortened_name(join.column)
        fits = {"column": column, "to": to, "overlap": round(overlap, 2), "to_key": bool(is_key)}
        return {**fits, "compared_values": int(str(values))} if is_sample else fits

    def handles(self, match: str | None = None, start: int = 1) -> JsonAnswer:
        """The tables with their columns, from number ``start`` on; the first page also has handles.

        With ``match`` only the tables and columns whose names contain it.

        Raises:
            QueryError: the tables could not be loaded.
        """
        known = self.queries.tables()  # first, since it renews tables whose data have changed
        handles = {} if match is not None or start > 1 else self._handles(known)
        stored = {table.name for table in self.queries.materialized()}
        tables = {
            name: columns
            for name, columns in matching(known, match).items()
            if match is not None or name not in stored
        }
        room = AnswerGuard(self.guard.max_bytes - _ROOM_FOR_WARNINGS, self.guard.max_rows)
        handles = AnswerGuard(room.max_bytes - _ROOM_FOR_TABLES, 0).trim(
            handles, tuple(handles), lambda gone: f"{gone} more handles exist"
        )
        warnings = [*handles.pop("warnings", ()), *self.queries.take_warnings()]
        if start > max(len(tables), 1):
            warnings.append(f"{counted(len(tables), 'table')} here; begin with a lower start")
        elif match is not None and not tables:
            among = counted(len(known), "table")
            warnings.append(f"no name of {among} or of a column holds {quoted(match)}")
        return with_warnings(*self._list_tables(room, tables, handles, start, warnings))

    def _list_tables(
        self,
        room: AnswerGuard,
        tables: Mapping[str, list[str]],
        handles: JsonAnswer,
        start: int,
        warnings: list[str],
    ) -> tuple[JsonAnswer, list[str]]:
        """The answer and its warnings: tables with columns, or only names if there are many."""
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
        """What a query can use by name: saved questions, materialized tables and exports.

        The questions are listed as measures, each with the ``tables`` that its SQL names.
        """
        questions = saved_now(self.queries, self.database) if self.database else ()
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


def _short(kind: str) -> str:
    return kind if len(kind) <= _MAX_TYPE else f"{kind[: _MAX_TYPE - 1]}…"


@dataclass(frozen=True, slots=True)
class Join:
    """A column, and a column of another table that it may be joined with."""

    column: str
    other: str
    other_column: str


def compared_name(name: str) -> str:
    """A name for comparison, which ignores case, width, spaces and punctuation."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in folded if sign.isalnum()) or folded


def matching(tables: TableColumns, text: str | None) -> dict[str, list[str]]:
    """The tables whose names contain ``text`` with all columns; others with matching columns."""
    if text is None:
        return {name: [column.name for column in columns] for name, columns in tables.items()}
    matches: dict[str, list[str]] = {}
    for name, columns in tables.items():
        fitting = list(columns) if holds(name, text) else columns_holding(columns, text)
        if fitting or holds(name, text):
            matches[name] = [column.name for column in fitting]
    return matches


def columns_holding(columns: Iterable[Column], text: str | None) -> list[Column]:
    """The columns whose names contain the text; all columns if it is None."""
    return [column for column in columns if text is None or holds(column.name, text)]


def holds(name: str, text: str) -> bool:
    """Whether a name contains a text."""
    return compared_name(text) in compared_name(name)


def can_be_key(column: Column) -> bool:
    """Whether values of the column may identify rows."""
    return family(column) in _JOINED and column.type != "BOOLEAN"


def samples_sql(columns: Sequence[Column]) -> str:
    """SQL: for each column, the most frequent values of the first rows, and if it may be a key."""
    parts = []
    for column in columns:
        name = identifier(column.name)
        text = f"CAST({name} AS VARCHAR)"
        cut = f"if(length({text}) > {_SAMPLE_CHARS}, left({text}, {_SAMPLE_CHARS}) || '…', {text})"
        parts.append(f"approx_top_k({cut}, {SAMPLES})")
        parts.append(f"count(*) = count(DISTINCT {name})" if can_be_key(column) else "false")
    return f"SELECT {', '.join(parts)} FROM (SELECT * FROM {{source}} LIMIT {_SAMPLE_ROWS})"


def facts_sql(columns: Sequence[Column], perhaps_keys: Sequence[Column]) -> str:
    """SQL: the number of rows, the first and last date of date columns, and which are keys."""
    dates = [identifier(column.name) for column in columns if has_dates(column)]
    keys = [identifier(column.name) for column in perhaps_keys]
    parts = [
        "count(*)",
        *(f"{which}({name})" for name in dates for which in ("min", "max")),
        *(f"count(*) = count(DISTINCT {name})" for name in keys),
    ]
    return f"SELECT {', '.join(parts)} FROM {{source}}"


def joins_by_name(table: str, columns: Sequence[Column], tables: TableColumns) -> list[Join]:
    """The joins that names and types suggest, those of columns with the fewest first.

    A name suggests the same name in another table, and ``carrier_id`` the ``id`` of ``carriers``.
    """
    ranked: list[tuple[int, Join]] = []
    for column in filter(can_be_key, columns):
        fitting = [
            Join(column.name, name, other.name)
            for name, others in tables.items()
            if name != table
            for other in others
            if family(other) == family(column) and _are_alike(table, column.name, name, other.name)
        ]
        ranked += [(len(fitting), join) for join in fitting]
    return [join for _, join in sorted(ranked, key=lambda pair: pair[0])]


def overlap_sql(table: str, join: Join) -> str:
    """SQL: compares a column's distinct values with the column of a possible join.

    The row has the number of compared values, how many of them the other column has, whether the
    other column's values are all different, and whether values were left out.
    """
    column, other = identifier(join.column), identifier(join.other_column)
    there = identifier(join.other)
    return (
        f"WITH every AS (SELECT greatest(1, approx_count_distinct({column}) // {_COMPARED_VALUES}) "
        f"AS nth FROM {identifier(table)}), "
        f"compared AS (SELECT DISTINCT {column} AS v FROM {identifier(table)} "
        f"WHERE {column} IS NOT NULL AND hash({column}) % (SELECT nth FROM every) = 0) "
        "SELECT (SELECT count(*) FROM compared), "
        f"(SELECT count(*) FROM compared WHERE v IN (SELECT {other} FROM {there})), "
        f"(SELECT count(*) = count(DISTINCT {other}) FROM {there}), "
        "(SELECT nth > 1 FROM every)"
    )


def _are_alike(table: str, column: str, other: str, other_column: str) -> bool:
    here, there = compared_name(column), compared_name(other_column)
    return (
        here == there
        or here in _foreign_names(other, there)
        or there in _foreign_names(table, here)
    )


def _foreign_names(table: str, column: str) -> set[str]:
    """The likely names of a foreign key to a column: ``carrier_id`` for ``carriers.id``."""
    name = compared_name(table.rpartition("__")[2])
    return {stem + column for stem in (name, re.sub(r"ies$", "y", name), re.sub(r"s$", "", name))}
