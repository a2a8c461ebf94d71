"""Handles the child's requests on a locked connection, and turns DuckDB's errors into refusals."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from mdvec.datasets import Column
from mdvec.sizes import MEGABYTE
from mdvec.sql.child.copying import copy_to_file, finishers, json_rows_sql
from mdvec.sql.child.loading import columns_of, show
from mdvec.sql.child.parameters import (
    BoundValues,
    expected_rows,
    inferred_types,
    parameter_names,
    sample,
    sample_text,
    values_in,
)
from mdvec.sql.core.advice import advised
from mdvec.sql.core.refusals import (
    QueryError,
    QueryFailed,
    QueryRefused,
    ResultTooLarge,
    out_of_memory,
    out_of_time,
)
from mdvec.sql.core.statement import (
    SELECT_ALL,
    Pivot,
    check,
    clean,
    find_table,
    fold,
    syntax_error_at,
    with_source,
)
from mdvec.sql.core.traps import Trap, traps_in, with_values
from mdvec.sql.process.messages import Message, listed_columns
from mdvec.text import cited, identifier, on_one_line, shortened

_TABLE_NAME = re.compile(r"[^\W\d]\w{0,62}")
_MAX_SEMICOLONS = 20
_SECONDS_FOR_NEAREST = 0.5
"""The time to look for near values for all traps of a query, whose rows wait for this."""
_SECONDS_BETWEEN_STOPS = 0.01
"""Interrupts are repeated, as the first one may come just before a statement begins."""
_QUOTED_WORD = re.compile(r'"(\w+)"')
_SAMPLE = re.compile(rf"{sample_text('')}(\d+)")
_UNPLANNED = (
    "Conversion Error: invalid date field format",
    "Binder Error",
    "Catalog Error",
    "the SQL cannot be read",
)
"""The beginnings of messages about errors in the text of a query, not in data or permissions."""


@dataclass
class RequestHandler:
    """Handles requests over one locked connection.

    Args:
        connection: the connection to a database with all tables.
        tables: the columns of the user's tables by name; no request changes them.
        spool: the folder in which exports are written.
        shown: the folder of the exports that a request names.
    """

    connection: duckdb.DuckDBPyConnection
    tables: dict[str, tuple[Column, ...]]
    spool: Path
    shown: Path
    named: dict[str, tuple[Column, ...]] = field(default_factory=dict)
    values: BoundValues | None = None
    """The values of the current query's parameters; None if it may have no parameters."""
    trees: dict[str, str] = field(default_factory=dict)
    """The cached syntax trees of the current request's SQL."""

    def handle(self, message: Message) -> Message:
        """Handle a request and return the response.

        Raises:
            QueryRefused: the query is not allowed.
            duckdb.Error: the query could not be run.
        """
        methods: dict[str, Callable[[Message], Message]] = {
            "columns": self._columns,
            "rows": self._rows,
            "export": self._export,
            "question": self._question,
        }
        parameters = message.get("parameters")
        self.values = None if parameters is None else values_in(parameters)
        self.trees = {}
        for name in self.named:
            self.connection.execute(f"DROP VIEW {identifier(name)}")
        self.named = {}
        for name, file, types in message.get("named", ()):
            self.named[name] = show(self.connection, name, self.shown / file, types)
        response = methods[message["do"]](message)
        notes = self._notes(message["source"]) if message.get("notes") else []
        return response | ({"notes": notes} if notes else {})

    def advised(self, message: Message, error: QueryError) -> QueryError:
        """The error of a request, with advice if the query cannot be planned."""
        if "source" not in message or not str(error).startswith(_UNPLANNED):
            return error
        sql = clean(message["source"])
        return type(error)(*advised(str(error), sql, self._all_tables, self._can_run))

    def _can_run(self, sql: str) -> bool:
        """Whether a query is allowed and can be planned; it is not run."""
        try:
            query, _ = self._query({"source": sql})
            values = self.values
            if values is not None:
                names = parameter_names(json.loads(self._serialize(query)))
                values = {name: values.get(name) for name in names}
            self._plan_columns(query, values)
        except Exception:  # noqa: BLE001 - DuckDB's errors, or a refusal
            return False
        return True

    @property
    def _all_tables(self) -> dict[str, tuple[Column, ...]]:
        return self.tables | self.named

    def _columns(self, message: Message) -> Message:
        query, reads = self._query(message)
        columns = columns_of(self.connection, query, self.values)
        return {"columns": listed_columns(columns), "reads": sorted(reads)}

    def _question(self, message: Message) -> Message:
        """Check a query with parameters; the response has the query's text and the types."""
        self.values = {}
        query, _ = self._query(message)
        tree = json.loads(self._serialize(query))
        names = parameter_names(tree)
        types = inferred_types(self.connection, query, tree, names)
        self.values = {name: sample(types[name], position) for position, name in enumerate(names)}
        try:
            columns = self._plan_columns(query, self.values)
        except duckdb.Error as error:
            if _SAMPLE.search(str(error)) is None:
                raise
            # Only some texts may be valid here, such as units of date_trunc; so try the given ones.
            arguments = {fold(name): value for name, value in (message.get("given") or {}).items()}
            if not arguments.keys() >= set(names):
                raise QueryRefused(_of_samples(str(error), names)) from error
            self.values = {name: arguments[name] for name in names}
            columns = self._plan_columns(query, self.values)
        return {
            "sql": clean(message["source"]),
            "parameters": [[name, types[name]] for name in names],
            "columns": listed_columns(columns),
        }

    def _plan_columns(self, query: str, values: BoundValues | None) -> tuple[Column, ...]:
        """The columns of a query, which is planned with these values, but not run."""
        columns = columns_of(self.connection, query, values)
        self.connection.execute(f"EXPLAIN {query}", values or None)
        return columns

    def _readably_named(self, query: str) -> tuple[str, tuple[Column, ...]]:
        """A query and its columns, named as written: year(day), not DuckDB's "year"("day")."""
        columns = columns_of(self.connection, query, self.values)
        named = tuple(
            replace(column, name=_QUOTED_WORD.sub(r"\1", column.name))
            if "(" in column.name
            else column
            for column in columns
        )
        if named == columns:
            return query, columns
        names = ", ".join(identifier(column.name) for column in named)
        return f"SELECT * FROM (\n{query}\n) AS t({names})", named

    def _rows(self, message: Message) -> Message:
        query, reads = self._query(message)
        query, columns = self._readably_named(query)
        max_rows: int = message["max_rows"]
        fetched = self.connection.execute(
            json_rows_sql(columns, query, max_rows + 1), self.values or None
        ).fetchmany(max_rows + 1)
        finish = finishers(columns)
        rows: list[list[Any]] = []
        room: int = message["max_bytes"]
        for values in fetched[:max_rows]:
            row = [make(value) for make, value in zip(finish, values, strict=True)]
            room -= len(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()) + 1
            if room < 0:
                break
            rows.append(row)
        return {
            "columns": listed_columns(columns), "rows": rows, "more": len(fetched) > len(rows),
            "reads": sorted(reads),
        }  # fmt: skip

    def _export(self, message: Message) -> Message:
        if message.get("name") is not None:
            self._check_name(message["name"])
        query, reads = self._query(message)
        query, columns = self._readably_named(query)
        max_rows: int = message["max_rows"]
        # Writing counts the rows; they are counted before that only if there may be too many.
        if (
            expected_rows(self.connection, query, self.values) > max_rows
            and (count := self._count(query)) > max_rows
        ):
            return {"rows": count, "columns": []}
        file = self.spool / Path(message["file"]).name
        rows = copy_to_file(self.connection, query, columns, file, message["format"], self.values)
        if rows > max_rows:
            file.unlink()
            return {"rows": rows, "columns": []}
        return {
            "rows": rows, "columns": listed_columns(columns), "reads": sorted(reads),
        }  # fmt: skip

    def _check_name(self, name: str) -> None:
        shown = shortened(name)
        if _TABLE_NAME.fullmatch(name) is None or not self._needs_no_quotes(name):
            raise QueryRefused(
                f"no table can be called {cited(shown)}; use letters, digits and underscores, "
                "begin with a letter, and take no word of SQL"
            )
        if fold(name) in {fold(table) for table in self.tables}:
            raise QueryRefused(f"{cited(shown)} is a table of the user's data; take another name")

    def _needs_no_quotes(self, name: str) -> bool:
        tree = json.loads(self._serialize(f"SELECT {name}.x FROM {name}"))
        if tree["error"] or len(tree["statements"]) != 1:
            return False
        table = tree["statements"][0]["node"]["from_table"]
        return bool(table["type"] == "BASE_TABLE" and table["table_name"] == name)

    def _query(self, message: Message) -> tuple[str, frozenset[str]]:
        """The request's statement with the source put in, and the tables that it reads."""
        statement = message.get("sql", SELECT_ALL)
        query = with_source(statement, self._source(message["source"], statement))
        # The final form is always checked: the whole must be a single SELECT, as its parts must.
        return query, self._check(self._serialize(query), query)

    def _source(self, source: str, statement: str) -> str:
        """A source, which is a table or stands alone as one SELECT, as it can follow FROM.

        Selected unchanged, it is not checked here: the check of the whole walks through all of it.
        """
        text = clean(source)
        table = find_table(text, list(self._all_tables))
        if table is not None:
            return identifier(table)
        if (pivot := Pivot.of_query(text)) is not None:
            given = self._serialize(text)
            if syntax_error_at(json.loads(given)) is not None:
                self._check(given, text)  # raises with the position in the given text
            values = self._fetch(pivot.values_sql, self.values)
            text = pivot.with_values([str(value) for (value,) in values])
        if statement != SELECT_ALL or ";" in text or not self._is_one_select(text):
            tree = self._serialize(text, with_source(statement, f"(\n{text}\n)"))
            self._check(tree, text)
            text = self._without_semicolons(text, tree)
        return f"(\n{text}\n)"

    def _is_one_select(self, text: str) -> bool:
        """Whether a text alone is a complete SELECT, and nothing more; unchecked."""
        try:
            (only,) = self.connection.extract_statements(text)
            return bool(only.type == duckdb.StatementType.SELECT)
        except (duckdb.Error, ValueError):  # a ValueError for a type that Python does not know
            return False

    def _check(self, tree: str, sql: str) -> frozenset[str]:
        return check(tree, list(self._all_tables), sql, takes_parameters=self.values is not None)

    def _fetch(self, sql: str, values: BoundValues | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement, which is first checked like a model's query."""
        self._check(self._serialize(sql), sql)
        return self.connection.execute(sql, values or None).fetchall()

    def _notes(self, source: str) -> list[str]:
        """Warnings about traps in a query, as far as there is time to check."""
        text, notes, time_left = clean(source), [], _SECONDS_FOR_NEAREST
        if find_table(text, list(self._all_tables)) is not None:
            return []
        tree = self._tree(text)
        if self.values:
            tree = with_values(tree, self.values)
        for trap in [] if tree["error"] else traps_in(tree, self._all_tables):
            try:
                if not self._is_harmless(trap):
                    notes.append(trap.note)
                    began = time.monotonic()
                    if trap.among and time_left > 0:
                        among = self._fetched_within(time_left, trap.among)
                        notes[-1] = trap.with_nearest(value for (value,) in among)
                    time_left -= time.monotonic() - began
            except duckdb.InterruptException:
                break
            except (duckdb.Error, QueryError):  # a subquery that cannot run by itself
                continue
        return list(dict.fromkeys(notes))

    def _tree(self, text: str) -> dict[str, Any]:
        """The syntax tree of a source, if possible as it is in that of the whole query."""
        whole = with_source(SELECT_ALL, f"(\n{text}\n)")
        if text not in self.trees and whole in self.trees:
            tree = json.loads(self.trees[whole])
            source = tree["statements"][0]["node"]["from_table"]
            if source["type"] == "SUBQUERY":
                return {**tree, "statements": [source["subquery"]]}
        return {**json.loads(self._serialize(text))}

    def _fetched_within(self, seconds: float, sql: str) -> list[tuple[Any, ...]]:
        """The rows of one of mdvec's own statements; empty if it takes longer."""
        end, done = time.monotonic() + seconds, threading.Event()

        def stop() -> None:
            wait = seconds
            while not done.wait(wait):
                self.connection.interrupt()
                wait = _SECONDS_BETWEEN_STOPS

        stopping = threading.Thread(target=stop)
        stopping.start()
        try:
            return self._fetch(sql)
        except duckdb.InterruptException:
            if time.monotonic() < end:  # the request itself was interrupted
                raise
            return []
        finally:
            done.set()
            stopping.join()  # so that no later statement is interrupted

    def _is_harmless(self, trap: Trap) -> bool:
        if trap.subquery is not None:
            document = json.dumps({"error": False, "statements": [trap.subquery]})
            (sql,) = self.connection.execute(
                "SELECT json_deserialize_sql(?)", [document]
            ).fetchall()
            return not self._fetch(f"SELECT 1 FROM ({sql[0]}) AS q(v) WHERE v IS NULL LIMIT 1")
        return bool(trap.check and self._fetch(trap.check))

    def _without_semicolons(self, text: str, tree: str) -> str:
        """A query without the semicolons at its end, which are not allowed in parentheses."""
        shortest, end = text, len(text)
        for _ in range(_MAX_SEMICOLONS):
            end = text.rfind(";", 0, end)
            if end < 0:
                break
            # The same tree shows that the semicolon ends the query, and is not inside a text.
            if self._serialize(text[:end]) == tree:
                shortest = text[:end]
        return shortest

    def _serialize(self, sql: str, *soon: str) -> str:
        """The syntax tree of SQL; also parses the statements ``soon``, which are needed next."""
        if sql not in self.trees:
            texts = [sql, *soon]
            trees = ", ".join(["json_serialize_sql(?)"] * len(texts))
            row = self.connection.execute(f"SELECT {trees}", texts).fetchone()
            self.trees |= zip(texts, row or (), strict=True)
        return self.trees[sql]

    def _count(self, query: str) -> int:
        row = self.connection.execute(
            f"SELECT count(*) FROM (\n{query}\n)", self.values or None
        ).fetchone()
        return int(row[0]) if row else 0


def _of_samples(message: str, names: Sequence[str]) -> str:
    """The error for a query that cannot be planned with any text as a parameter."""
    sentence = _SAMPLE.sub(lambda match: f"${names[int(match[1])]}", _sentence(message, {}))
    return f"{sentence}; write the value itself into the SQL, as only some can stand there"


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
    """The refusal for a DuckDB error.

    Its message names the limits; each path that is a key of ``hidden`` is replaced by its value.

    Raises:
        FatalDuckDBError: the connection cannot be used any more.
    """
    if isinstance(error, duckdb.InterruptException):
        return out_of_time(seconds)
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError) or "bad_alloc" in str(error):
        return out_of_memory(memory_mb)
    if isinstance(error, duckdb.FatalException | duckdb.InternalException):
        raise FatalDuckDBError from error
    if isinstance(error, duckdb.IOException) and any(sign in str(error) for sign in _DISK_FULL):
        return ResultTooLarge(
            "the disk with the exports is full, and no file was left; the user must free space "
            "there, or name a folder on another disk as [analytics] folder; until then answer "
            "with few rows, which need no file"
        )
    if isinstance(error, duckdb.IOException) and any(sign in str(error) for sign in _FILE_FULL):
        return ResultTooLarge(
            f"the export was stopped: it is larger than {export_bytes / MEGABYTE:,.0f} MB, the "
            "limit, and no file was left; aggregate, filter, or select fewer columns"
        )
    if isinstance(error, UnicodeError):
        return QueryFailed("the query contains an invalid character; leave it out")
    return QueryFailed(_sentence(str(error), hidden))


def _sentence(message: str, hidden: Mapping[str, str]) -> str:
    """The first part of DuckDB's message, without its advice on settings, which cannot be set."""
    # If the query names the table, DuckDB puts a blank line before its list of columns.
    message = message.replace("\n\nCandidate bindings: :", "\nCandidate bindings:")
    sentence = re.split(r"\n\s*\n|\nLINE |, or SET ", message, maxsplit=1)[0]
    for path in sorted(hidden, key=len, reverse=True):
        sentence = sentence.replace(path, hidden[path])
    sentence = on_one_line(sentence)
    return sentence if len(sentence) <= _MAX_MESSAGE else sentence[:_MAX_MESSAGE] + "…"
