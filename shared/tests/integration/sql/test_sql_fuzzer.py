"""Statements at random through every parameter that takes SQL, a name or a value: none leaks.

Whatever the judge lets pass must be one SELECT to DuckDB itself too, read the known tables alone,
and give the same number of rows in a locked DuckDB. No answer and no error may hold what only
files, settings or the environment know, and the files stay as they are.
"""

import json
import os
import secrets
from random import Random

import duckdb
import pytest
from query_subject import CANARY, Subject, parquet, put_secrets
from sql_grammar import Grammar, Names

from mdvec.errors import MdvecError
from mdvec.manage import registering
from mdvec.settings import AnalyticsSettings
from mdvec.sql.child import loading
from mdvec.sql.core.refusals import QueryFailed, QueryStopped
from mdvec.sql.core.statement import clean, find_table, with_source
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared
from mdvec.text.one_line import literal

SEED = 16
SECONDS = 1.0
TABLES = {
    "runs": "SELECT i, i % 3 AS kind, 's' || i AS name, DATE '2025-06-01' + i::INTEGER AS day "
    "FROM range(40) AS t(i)",
    "名簿": "SELECT i * 2 AS i, 'x' AS 名 FROM range(5) AS t(i)",
}
VARIES = (
    "random", "uuid", "sample", "now", "current", "today", "txid", "timestamp", "ago", "age",
    "approx", "reservoir", "version", "any_value", "row_number", "limit",
)  # fmt: skip
SCANS = {"READ_PARQUET", "PARQUET_SCAN"}
MAKERS = {
    "RANGE", "GENERATE_SERIES", "UNNEST", "JSON_EACH", "JSON_TREE", "REPEAT", "REPEAT_ROW",
}  # fmt: skip


class Oracle:
    """DuckDB itself with the same tables, locked like the child, and without our judge."""

    def __init__(self, tables):
        self.tables, self.connection = tables, None

    def fresh(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = loading.connect(512)
        for table in self.tables:
            source = f"read_parquet({literal(str(table.path))})"
            self.connection.execute(f'CREATE VIEW "{table.name}" AS FROM {source}')
        paths = [table.path for table in self.tables]
        loading.lock(self.connection, paths, (paths[0].parent / "none",), SECONDS)

    def trouble(self, sql):
        """What is wrong with a statement that was let pass; None if nothing is."""
        statements = self.connection.extract_statements(sql)
        kinds = [statement.type.name for statement in statements]
        if kinds not in (["SELECT"], ["SHOW"], ["RELATION"]):
            return f"it is {kinds}"
        plan = dict(self.connection.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall())
        pending = json.loads(plan["physical_plan"])
        while pending:
            node = pending.pop()
            pending += node.get("children", ())
            name, facts = node["name"].strip(), node.get("extra_info", {})
            function = str(facts.get("Function", "")).strip().upper()
            if (function or name) and not self._is_known(name, function):
                return f"it scans {name} {function}"
        return None

    def _is_known(self, name, function):
        reads = "SCAN" in name or "READ" in name or "FUNCTION" in name or bool(function)
        harmless = {"COLUMN_DATA_SCAN", "DUMMY_SCAN", "CTE_SCAN", "DELIM_SCAN", "EMPTY_RESULT"}
        harmless |= {"REC_CTE_SCAN", "CHUNK_SCAN", "EXPRESSION_SCAN", "POSITIONAL_SCAN"}
        return not reads or name in harmless or (function or name) in SCANS | MAKERS


class Target:
    """Files that nobody may read, two tables, and every use case over them."""

    def __init__(self, folder):
        # What only settings and catalogs know: no statement holds this name.
        self.hidden = folder / f"hidden-{secrets.token_hex(8)}"
        self.outside = folder / "outside"
        for made in (self.hidden, self.outside):
            made.mkdir()
        put_secrets(self.outside)
        self.tables = tuple(
            parquet(self.hidden / f"{name}.parquet", sql, name) for name, sql in TABLES.items()
        )
        database, limits = self.hidden / "vectors.sqlite", QueryLimits(SECONDS, 1024, 2**20)
        registering.add_tool(database, "notes", "notes", self.outside, "markdown")
        subject = Subject(self.hidden, *self.tables, limits=limits, database=database)
        self.process = subject.process
        self.all = subject.analytics(AnalyticsSettings(max_query_rows=20))
        self.secrets = (CANARY, self.hidden.name, os.environ.get("HOME", CANARY) + "/")
        self.oracle = Oracle(self.tables)
        self.oracle.fresh()
        self.passed = self.compared = 0

    def names(self):
        files = ("secret.csv", "secret.json", "secret.txt", "secret.parquet", "new.db", "*")
        paths = [str(self.outside / name) for name in files]
        return names_of_duckdb((*paths, "/etc/passwd", "/proc/self/environ", "http://127.0.0.1:9/"))

    def files(self):
        return {
            path.name: (path.stat().st_size, path.stat().st_mtime_ns)
            for path in (*self.outside.iterdir(), *(table.path for table in self.tables))
        }

    def through(self, grammar):
        """One statement or text through one of the ways in; the statement that passed, if any."""
        random = grammar.random
        ways = (
            (60, self._rows), (4, self._export), (4, self._materialize), (4, self._save),
            (4, self._run), (3, self._profile), (2, self._histogram), (2, self._plot),
            (3, self._list), (4, self._describe), (2, self._ready), (2, self._query),
        )  # fmt: skip
        (way,) = random.choices([way for _, way in ways], [share for share, _ in ways])
        sql = grammar.statement()
        try:
            told = way(sql, grammar)
        except MdvecError as error:
            told = str(error)
        text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False, default=str)
        for secret in self.secrets:
            assert secret not in text, (way.__name__, sql, text)

    def _rows(self, sql, _grammar):
        try:
            rows = self.process.rows(sql, max_rows=30).rows
        except (QueryFailed, QueryStopped) as error:
            return str(error)
        self.passed += 1
        self._compare(sql)
        return rows

    def _compare(self, sql):
        text = clean(sql)
        table = find_table(text, list(TABLES))
        text = f'FROM "{table}"' if table else text
        counted = "SELECT count(*) FROM {source}"
        try:
            ours = self.process.rows(sql, counted, max_rows=1).rows[0][0]
        except (QueryFailed, QueryStopped):
            return
        try:
            trouble = self.oracle.trouble(text)
            count = with_source(counted, f"(\n{text.rstrip('; ')}\n)")
            (theirs,) = self.oracle.connection.execute(count).fetchone()
        except duckdb.FatalException:
            self.oracle.fresh()
            return
        except duckdb.Error:  # such as a semicolon before a comment
            return
        assert trouble is None, (sql, trouble)
        if not any(word in text.lower() for word in VARIES):
            self.compared += 1
            assert ours == theirs, sql

    def _query(self, sql, _grammar):
        return self.all.questions.answer(Prepared(sql))

    def _export(self, sql, grammar):
        made = self.all.exporter.export(sql, grammar.random.choice(("csv", "parquet")), 1_000)
        path = self.all.exports.path_of(made["handle"])
        assert CANARY.encode() not in path.read_bytes(), sql
        path.unlink()
        return {key: value for key, value in made.items() if key != "handle"}

    def _materialize(self, sql, grammar):
        name = grammar.random.choice((grammar.text(), "kept", "also"))
        made = self.all.exporter.materialize(name, sql, 60)
        return [made, self.process.rows(name, max_rows=30).rows]

    def _save(self, sql, grammar):
        name = grammar.random.choice((grammar.text(), "kept", "also"))
        made = self.all.questions.save(name, sql, grammar.text(), "replace")
        return [made, self.all.questions.listed()]

    def _run(self, sql, grammar):
        given = {name: grammar.text() for name in ("since", "shop", grammar.text())}
        self.all.questions.save(
            "bound",
            "SELECT name, $since AS a FROM runs WHERE name = $shop OR $since = $shop",
            None,
            "replace",
        )
        grammar.random.choice((given.pop, given.get))(list(given)[2])
        questions = self.all.questions
        found = questions.answer(questions.prepare_saved("bound", given))
        assert found["rows"] == [] or given["since"] == given["shop"]
        return found

    def _ready(self, sql, grammar):
        name = grammar.random.choice(("trend", "compare_periods", "anomalies", "correlations"))
        given = {"table": sql[:2_000], "measure": grammar.text(), "period": grammar.text()}
        more = {"first": grammar.text(), "second": "2025", "by": grammar.text()}
        questions = self.all.questions
        prepared = questions.prepare_saved(name, given if name == "trend" else given | more)
        return questions.answer(prepared)

    def _profile(self, sql, grammar):
        period = (grammar.text(), grammar.text()) if grammar.random.random() < 0.3 else None
        columns = [grammar.text(), "i"] if grammar.random.random() < 0.5 else None
        return self.all.summaries.profile(sql, period, grammar.text(), columns, exact=False)

    def _histogram(self, sql, grammar):
        return self.all.summaries.histogram(sql, grammar.text(), 5, None, None)

    def _plot(self, sql, grammar):
        kind = grammar.random.choice(("bar", "line", "box", "histogram", "heatmap"))
        return repr(self.all.questions.plot(Prepared(sql), kind, grammar.text()[:100]))

    def _list(self, _sql, grammar):
        return self.all.tables.handles(grammar.text(), grammar.random.randint(1, 3))

    def _describe(self, _sql, grammar):
        table = grammar.random.choice((grammar.text(), "runs"))
        return self.all.tables.describe(table, grammar.text(), grammar.random.randint(1, 9))


def names_of_duckdb(files):
    """Every function and pragma that this DuckDB has."""
    found = duckdb.execute(
        "SELECT function_type, function_name, coalesce(min(len(parameters)), 1) AS parameters "
        "FROM duckdb_functions() GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    of = {
        kind: tuple((name, count) for one, name, count in found if one == kind)
        for kind in {kind for kind, _, _ in found}
    }
    named = tuple(name for kind in ("table", "table_macro") for name, _ in of[kind])
    scalars = tuple(
        one
        for kind in ("scalar", "aggregate", "macro")
        for one in of[kind]
        if one[0].isidentifier() and not one[0].startswith("sleep")
    )
    pragmas = tuple(name for name, _ in of["pragma"])
    columns = {"runs": ("i", "kind", "name", "day"), "名簿": ("i", "名")}
    return Names(columns, files, scalars, named, pragmas)


@pytest.mark.parametrize(
    "statements",
    [50, pytest.param(50_000, marks=[pytest.mark.soak, pytest.mark.timeout(3 * 3_600)])],
)
def test_no_statement_at_random_reads_writes_or_reveals_anything(statements, tmp_path, monkeypatch):
    monkeypatch.setenv("MDVEC_FUZZ", CANARY)
    target = Target(tmp_path)
    grammar = Grammar(Random(SEED), target.names())
    before = target.files()
    try:
        for number in range(statements):
            target.through(grammar)
            if number % 500 == 0:
                assert target.files() == before
        assert target.files() == before
        assert target.process.rows("SELECT 42", max_rows=1).rows == [[42]]
        # Most statements are no SQL, or hostile; but enough of them run to mean something.
        assert target.passed > statements // 20
        assert target.compared > statements // 50
    finally:
        target.process.close()
