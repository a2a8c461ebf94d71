"""Answers queries and questions with few rows, and saves questions with parameters."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mdvec import queries
from mdvec.analysis import ExportFormat
from mdvec.charts import Plot, PlotKind, plot_of
from mdvec.household import LEDGER_TABLE
from mdvec.queries import (
    Bound,
    Parameter,
    SavedQuery,
    SavedQueryError,
    SaveMode,
    WrongParameters,
    bound,
    check_single,
    listed_parameters,
)
from mdvec.sizes import MEGABYTE
from mdvec.sql.core.guard import AnswerGuard, JsonAnswer, with_warnings
from mdvec.sql.core.ready import READY, ReadyQuestion, with_lists_as_texts
from mdvec.sql.core.refusals import (
    QueryError,
    QueryRefused,
    QueryStopped,
    ResultTooLarge,
    TooManyRowsToExport,
    UnknownTable,
    shortened_name,
)
from mdvec.sql.core.statement import SELECT_ALL, fold
from mdvec.sql.exporting import Exporter
from mdvec.sql.process.messages import ExportedFile, JsonValue, QueryRows
from mdvec.sql.process.query_process import QueryProcess
from mdvec.tools import offered_name

_MAX_ROW_BYTES = 16 * MEGABYTE
_ONWARDS = "aggregate, or narrow with WHERE"
"""How a model can get the remaining rows of its own SQL."""
_ONWARDS_OF_QUESTION = "narrow the question's values, or aggregate the same in SQL"
_IN_PYTHON = "; all in Python: mdvec.analysis.safe_load_export(handle)"
_NOT_COUNTED = "SELECT kind, count(*) FROM {source} WHERE NOT counted GROUP BY kind ORDER BY kind"
_MAX_KINDS = 9
_MAX_TYPE_SECONDS = 1.0
"""How long ``saved_now`` may determine types."""
_NO_ROW = "the first row does not fit into an answer; select fewer columns"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question that can be run: the statement ``sql`` over ``source``, a table or a SELECT.

    ``bound`` has the parameters of both; with None, parameters are refused. ``notes`` are added to
    the answer's warnings. ``saved_as`` is the name, if it is a saved question.
    """

    source: str
    sql: str = SELECT_ALL
    bound: Bound | None = None
    notes: tuple[str, ...] = ()
    saved_as: str | None = None


@dataclass(frozen=True, slots=True)
class Questions:
    """Queries over any table, the saved questions of a database, and the ready-made ones.

    Methods that run a query raise QueryError if it fails; the message names a missing table.
    Results that do not fit into an answer are exported.
    """

    queries: QueryProcess
    exporter: Exporter
    guard: AnswerGuard
    database: Path

    def save(
        self, name: str, sql: str | None, description: str | None, mode: SaveMode,
        how: str = "mode=replace",
    ) -> JsonAnswer:  # fmt: skip
        """Save a question after checking its SQL as if it were run; or delete a question.

        ``how`` says, in the caller's words, how to replace a question of that name.

        Raises:
            QueryError: the SQL is refused; the message has a form that works, if there is one.
            SavedQueryError: the name is taken, reserved, that of a table, or unknown.
            DatabaseError: the database cannot be written.
        """
        if mode == "delete":
            return {"deleted": queries.delete(self.database, name)}
        plain = queries.checked_name(name, READY)
        if self._is_table(plain):
            raise SavedQueryError(f"{plain} is a table; take another name for the question")
        if not sql:
            raise WrongParameters("query is missing: the SELECT to save, with values as $name")
        judged = self.queries.judged(sql)
        summary = " ".join((description or "").split())[: queries.MAX_QUESTION_DESCRIPTION]
        query = SavedQuery(plain, judged.sql, summary, judged.parameters)
        queries.save(self.database, query, replace=mode == "replace", how=how)
        answer: JsonAnswer = {
            "saved": plain,
            "parameters": {parameter.name: parameter.type for parameter in judged.parameters},
            "columns": [shortened_name(column.name) for column in judged.columns],
        }
        return self.guard.trim(
            with_warnings(answer, self.queries.take_warnings()),
            ("columns",),
            lambda gone: f"{gone} more columns",
        )

    def prepare(self, query: str, parameters: Mapping[str, object] | None) -> Prepared:
        """Prepare a query: a SELECT, or the name of a table or question; with values if it has any.

        Raises:
            WrongParameters: the values do not fit.
            SavedQueryError: there are values, but no question has that name; or there are none, and
                both a table and a question have the name.
            QueryError: a ready-made question could not read its table.
        """
        name = queries.plain_name(query)
        question = self._question(query)
        if isinstance(question, ReadyQuestion):
            parameters = parameters and with_lists_as_texts(parameters)
        else:
            check_single(parameters or {})
        if question is None:
            _refuse_call(query, self._question(query.partition("(")[0].strip()))
            if parameters is None:
                return Prepared(query)
            if not queries.is_name(name):
                judged = self.queries.judged(query, _plainly_named(parameters))
                values = bound("this SQL", judged.parameters, parameters)
                return Prepared(judged.sql, SELECT_ALL, values)
            if self._is_table(name):
                raise WrongParameters(
                    f"{name} is a table, which takes no parameters; give them with a SELECT that "
                    "has $name in it, or with a question's name"
                )
        if parameters is None and self._is_table(name):
            raise SavedQueryError(
                f"{name} is a table and a question; for the table write FROM {name}, for the "
                "question give parameters, {} if it has none"
            )
        return self.prepare_saved(name, parameters or {})

    def parameters(self, query: str) -> tuple[Parameter, ...]:
        """The parameters of a SELECT, or of the question of that name.

        Raises:
            QueryError: the SQL is refused.
        """
        if question := self._question(query):
            return question.parameters
        return self.queries.judged(query).parameters if "$" in query else ()

    def _is_table(self, name: str) -> bool:
        return fold(name) in map(fold, self.queries.tables())

    @staticmethod
    def is_name(query: str) -> bool:
        """Whether ``query`` may be the name of a question or a table, rather than SQL."""
        return queries.is_name(queries.plain_name(query))

    def _question(self, query: str) -> SavedQuery | ReadyQuestion | None:
        """The ready-made or saved question with this name; None if there is none."""
        name = queries.plain_name(query)
        if name in READY or not queries.is_name(name):
            return READY.get(name)
        return {known.name: known for known in queries.saved_queries(self.database)}.get(name)

    def answer(self, prepared: Prepared, *, may_export: bool = True) -> JsonAnswer:
        """The first rows of an answer, and how to get more rows.

        Args:
            prepared: what to run.
            may_export: whether all rows may be exported if not all fit; the answer has the handle.

        Raises:
            ExportError: the exported file could not be put in place.
        """
        fetched = self._rows(prepared, prepared.sql, self.guard)
        answer = {**_table(fetched), "total_rows": len(fetched.rows)}
        warnings = self.queries.take_warnings()
        if fetched.more or not self.guard.fits(with_warnings(answer, warnings)):
            rest: JsonAnswer = {}
            if may_export:
                rest, notes = self._rest_of_answer(prepared)
                # The export repeats the same warnings.
                warnings = list(dict.fromkeys([*warnings, *notes]))
            elif fetched.more:
                rest = {"total_rows": self._count(prepared)}
            answer = self._cut(with_warnings(answer | rest, warnings), prepared)
            warnings = answer.get("warnings", [])
        return with_warnings(answer, [*warnings, *prepared.notes])

    def rows(self, prepared: Prepared, guard: AnswerGuard) -> JsonAnswer:
        """The first rows of an answer, with a warning if rows or columns are missing."""
        fetched = self._rows(prepared, prepared.sql, guard)
        export = offered_name("export")

        def left_out(count: int) -> str:
            if count - int(fetched.more) > len(fetched.rows):
                return f"too many columns for an answer; select fewer, or {export} the query"
            if count - int(fetched.more) == len(fetched.rows):
                return f"{_NO_ROW}, or left(x, 100) of a long text, or {export} the query"
            return (
                f"there are more rows than these (at most {guard.max_rows}, within "
                f"{guard.max_bytes:,} bytes); aggregate in SQL, or {export} the query"
            )

        whole = with_warnings(_table(fetched), self.queries.take_warnings())
        answer = guard.trim(whole, ("columns", "rows"), left_out, int(fetched.more))
        return with_warnings(answer, [*answer.get("warnings", ()), *prepared.notes])

    def first_rows(self, prepared: Prepared, max_rows: int) -> JsonAnswer:
        """The first ``max_rows`` rows of an answer, and the exact number of all rows."""
        fetched = self._rows(prepared, prepared.sql, AnswerGuard(_MAX_ROW_BYTES, max_rows))
        total = self._count(prepared) if fetched.more else len(fetched.rows)
        answer: JsonAnswer = {
            "columns": [column.name for column in fetched.columns],
            "types": [column.type for column in fetched.columns],
            "rows": fetched.rows,
            "total_rows": total,
        }
        return with_warnings(answer, [*self.queries.take_warnings(), *prepared.notes])

    def file(self, prepared: Prepared, fmt: ExportFormat, max_rows: int | None) -> ExportedFile:
        """All rows of an answer in a file outside the exports; the caller moves or deletes it."""
        with naming_saved(prepared):
            return self.queries.export(
                prepared.source, prepared.sql, fmt=fmt, parameters=prepared.bound,
                max_rows=max_rows or self.exporter.max_rows,
            )  # fmt: skip

    def plot(self, prepared: Prepared, kind: PlotKind, title: str) -> Plot:
        """The chart of an answer.

        Raises:
            PlotRefused: its columns do not fit the kind of chart.
        """

        def fetch(sql: str, most: int) -> tuple[list[list[JsonValue]], bool]:
            over = sql.replace("{source}", f"({prepared.sql})")
            fetched = self._rows(prepared, over, AnswerGuard(_MAX_ROW_BYTES, most))
            return fetched.rows, fetched.more

        columns = (
            self.queries.columns(prepared.source)
            if prepared.bound is None
            else self._rows(prepared, prepared.sql, AnswerGuard(_MAX_ROW_BYTES, 1)).columns
        )
        return plot_of(columns, fetch, kind, title)

    def _rows(self, prepared: Prepared, sql: str, guard: AnswerGuard) -> QueryRows:
        with naming_saved(prepared):
            return self.queries.rows(
                prepared.source, sql, max_rows=guard.max_rows, max_bytes=guard.max_bytes,
                parameters=prepared.bound,
            )  # fmt: skip

    def _count(self, prepared: Prepared) -> int:
        """The number of all rows."""
        counting = f"SELECT count(*) FROM ({prepared.sql})"
        ((count,),) = self._rows(prepared, counting, AnswerGuard(_MAX_ROW_BYTES, 1)).rows
        return int(str(count))

    def _cut(self, answer: JsonAnswer, prepared: Prepared) -> JsonAnswer:
        """The answer with as many rows as fit, and how to get the others; or with fewer columns."""
        total, in_python = answer["total_rows"], _IN_PYTHON if "handle" in answer else ""
        counted = "more" if total is None else f"{total:,}"
        # The SQL of a question that is run by its name is not in the call.
        is_named = prepared.saved_as is not None or prepared.sql != SELECT_ALL
        onwards = _ONWARDS_OF_QUESTION if is_named else _ONWARDS
        for count in range(len(answer["rows"]), 0, -1):
            more = f"the first {count} of {counted} rows; {onwards}{in_python}"
            cut = {**answer, "rows": answer["rows"][:count], "more": more}
            if self.guard.fits(cut):
                return cut
        return self.guard.trim(
            {**answer, "rows": [], "more": f"{_NO_ROW}{in_python}"},
            ("columns",),
            lambda gone: f"{gone} columns left out",
        )

    def _rest_of_answer(self, prepared: Prepared) -> tuple[JsonAnswer, list[str]]:
        """The exact number of rows, a handle for all of them if they fit a file; and warnings."""
        try:
            with naming_saved(prepared):
                made = self.exporter.write(
                    prepared.source, "parquet", None, prepared.sql, parameters=prepared.bound
                )
        except TooManyRowsToExport as error:
            limit = f"{error.count:,} rows are too many for a file ({error.max_rows:,})"
            return {"total_rows": error.count}, [f"{limit}; aggregate or filter in SQL"]
        except ResultTooLarge as error:
            return {"total_rows": self._count(prepared)}, [str(error)]
        except QueryStopped:
            why = "there was no time to count all rows; filter or aggregate"
            return {"total_rows": None}, [why]
        exported = {"total_rows": made["rows"], "handle": made["handle"]}
        return exported | {"expires_at": made["expires_at"]}, made.get("warnings", [])

    def prepare_saved(self, name: str, parameters: Mapping[str, object]) -> Prepared:
        """A question with the values of its parameters.

        Raises:
            WrongParameters: the values do not fit.
            SavedQueryError: there is no question of that name.
            QueryError: a ready-made question could not read its table.
        """
        if name not in READY:
            query = queries.find_saved(self.database, name, READY)
            prepared = Prepared(query.sql, SELECT_ALL, {}, saved_as=query.name)
            if not (query.parameters or parameters):
                return prepared
            # The stored types may be from an earlier version, or for earlier columns.
            with naming_saved(prepared):
                known = self.queries.judged(query.sql, _plainly_named(parameters)).parameters
            return replace(prepared, bound=bound(query.name, known, parameters))
        question = READY[name]
        values = bound(name, question.parameters, parameters)
        table = str(values["table"][1])
        plan = question.plan(self.queries.columns(table), values)
        (facts,) = self.queries.rows(table, plan.facts, max_rows=1, parameters={}).rows
        notes = [*plan.notes(facts), *self._not_counted(table)]
        return Prepared(table, plan.sql, {}, tuple(notes))

    def _not_counted(self, table: str) -> list[str]:
        """Notes on rows of the ledger that the household's sums leave out; [] for other tables."""
        if fold(table) != LEDGER_TABLE:
            return []
        kinds = self.queries.rows(table, _NOT_COUNTED, max_rows=_MAX_KINDS).rows
        if not kinds:
            return []
        listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds)
        return [
            f"{LEDGER_TABLE} also has rows that the household's sums leave out: {listed}; without "
            f"them: table=SELECT * FROM {LEDGER_TABLE} WHERE counted"
        ]

    def sql_of(self, query: str, parameters: Mapping[str, object] | None) -> str:
        """The SQL of a query or a saved question, or the table of a ready-made question."""
        question = self._question(query)
        if isinstance(question, ReadyQuestion):
            return str((parameters or {}).get("table", ""))
        return query if question is None else question.sql

    def listed(self) -> list[dict[str, str]]:
        """Every question, the saved ones first."""

        def described(name: str, question: SavedQuery | ReadyQuestion) -> dict[str, str]:
            parameters = listed_parameters(question.parameters)
            return {"name": name, "parameters": parameters, "description": question.description}

        saved = saved_now(self.queries, self.database)
        return [
            *({**described(query.name, query), "sql": query.sql} for query in saved),
            *(described(name, question) for name, question in READY.items()),
        ]


def saved_now(queries_: QueryProcess, database: Path) -> Iterator[SavedQuery]:
    """The saved questions, with the types of their parameters for the current tables.

    After ``_MAX_SECONDS``, and for questions that no longer run, these are the stored types.

    Raises:
        DatabaseError: the database cannot be read.
    """
    until = time.monotonic() + _MAX_TYPE_SECONDS
    for query in queries.saved_queries(database):
        now = query
        if query.parameters and time.monotonic() < until:
            with suppress(QueryError):  # running it reports the reason
                now = replace(query, parameters=queries_.judged(query.sql).parameters)
        yield now


def _refuse_call(query: str, question: SavedQuery | ReadyQuestion | None) -> None:
    """Refuse a call of a question that is written like a function, which is not SQL."""
    if question is not None:
        name = queries.plain_name(query.partition("(")[0].strip())
        raise WrongParameters(
            f"{name} is a question: state its name alone, and its values as parameters; "
            f"it takes: {queries.listed_parameters(question.parameters)}"
        )


def _plainly_named(parameters: Mapping[str, object]) -> dict[str, object]:
    return {name.removeprefix("$"): value for name, value in parameters.items()}


def _table(fetched: QueryRows) -> JsonAnswer:
    names = [shortened_name(column.name) for column in fetched.columns]
    return {"columns": names, "rows": fetched.rows}


@contextmanager
def naming_saved(prepared: Prepared) -> Iterator[None]:
    """Within this context, the error for a missing table names the saved question.

    Raises:
        QueryRefused: the saved question reads a table that no longer exists.
    """
    try:
        yield
    except UnknownTable as error:
        if prepared.saved_as is None:
            raise
        raise QueryRefused(
            f"the saved question {prepared.saved_as} no longer runs: {error}; save it anew with "
            "mode=replace (mdvec query --replace), or bring the table back"
        ) from error
