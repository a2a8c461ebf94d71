"""SQL that means harm, through every way in; and ordinary analytics, which must still pass.

One child for all of them. After each attempt the files around are what they were, and the child
(or the one that took its place) answers.
"""

import os
from pathlib import Path

import pytest
from query_subject import CANARY, Subject, parquet, put_secrets
from table_of_cases import each

from mdvec.charts.plot import PLOT_KINDS
from mdvec.sql.core.refusals import (
    QueryError,
    QueryFailed,
    QueryRefused,
    QueryStopped,
    UnknownTable,
)
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared, Questions
from mdvec.text.one_line import identifier, literal


class House:
    """A folder with a table, files that must not change, and a query process."""

    def __init__(self, folder: Path, seconds: float = 60.0) -> None:
        self.folder = folder
        self.runs = folder / "runs.parquet"
        table = parquet(
            self.runs,
            "SELECT i, i % 7 AS kind, i * 0.5 AS pace, TIMESTAMP '2025-06-01' + "
            "to_seconds(i) AS ts, DATE '2025-06-01' + (i // 100)::INTEGER AS day, "
            "'名前' || i AS name FROM range(1000) AS t(i)",
        )
        put_secrets(folder)
        subject = Subject(folder, table, limits=QueryLimits(seconds, 1024, 2**20))
        self.spool, self.process = subject.spool, subject.process

    def state(self):
        return {
            str(path): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and path.name != "lock"  # of a second child's folder
        }

    def answers(self) -> bool:
        return self.process.rows("SELECT 42", max_rows=1).rows == [[42]]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("house"))
    house.process.rows("runs", max_rows=1)
    yield house
    house.process.close()


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """One that gives a query less time than other tests may need on a busy machine."""
    house = House(tmp_path_factory.mktemp("hasty"), seconds=0.6)
    yield house
    house.process.close()


@pytest.fixture
def untouched(house):
    """Check after each test that nothing outside changed and the process responds."""
    before = house.state()
    yield house
    assert house.answers()
    assert house.state() == before


# What {folder} stands for is a folder that the process has nothing to do with.
REFUSED = [
    # Other statements.
    "ATTACH '{folder}/secret.db'", "ATTACH '{folder}/new.db' AS x", "ATTACH ':memory:' AS x",
    "DETACH memory", "USE memory", "COPY runs TO '{folder}/out.csv'",
    "COPY runs FROM '{folder}/secret.csv'",
    "COPY (SELECT 1) TO '{folder}/runs.parquet' (USE_TMP_FILE false)",
    "EXPORT DATABASE '{folder}/out'", "IMPORT DATABASE '{folder}'", "INSTALL httpfs",
    "FORCE INSTALL httpfs FROM 'http://127.0.0.1:9'", "LOAD '{folder}/secret.txt'",
    "SET lock_configuration = false", "SET GLOBAL enable_external_access = true",
    "RESET enable_external_access", "PRAGMA database_list", "PRAGMA threads = 1",
    "CALL pragma_version()", "CALL enable_logging()", "CREATE TABLE x AS SELECT 1",
    "CREATE OR REPLACE VIEW runs AS SELECT 1", "CREATE MACRO f(x) AS x + 1",
    "CREATE MACRO f() AS TABLE SELECT * FROM read_csv('{folder}/secret.csv')",
    "CREATE SECRET (TYPE s3)", "CREATE TYPE x AS ENUM ('a')", "DROP VIEW runs",
    "ALTER VIEW runs RENAME TO x", "INSERT INTO runs VALUES (1)", "UPDATE runs SET i = 1",
    "DELETE FROM runs", "TRUNCATE runs",
    "MERGE INTO runs USING runs AS r ON true WHEN MATCHED THEN DELETE", "VACUUM", "CHECKPOINT",
    "FORCE CHECKPOINT", "BEGIN", "COMMIT", "PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE p",
    "EXPLAIN ANALYZE SELECT 1", "SHOW TABLES", "SHOW ALL TABLES", "SHOW DATABASES",
    "UPDATE EXTENSIONS", "COMMENT ON TABLE runs IS 'x'",
    # More than one, and what hides one.
    "SELECT 1; DROP VIEW runs", "SELECT 1; SELECT 2", "SELECT 1;; ATTACH '{folder}/new.db'",
    "SELECT 1 -- ; \n; DROP VIEW runs", "SELECT 1 /* ; */ ; /* */ DROP VIEW runs",
    "/* SELECT */ DROP VIEW runs", "-- SELECT 1\nDROP VIEW runs",
    "SELECT 1) TO '{folder}/out.csv'; --", "SELECT 1) TO '{folder}/out.csv' (FORMAT csv",
    "SELECT 1) ; COPY (SELECT 1", "SELECT 1) UNION (SELECT 2", "SELECT 1) AS a, (SELECT 2",
    "SELECT * FROM runs) UNION (SELECT * FROM read_text('{folder}/secret.txt')",
    "SELECT 1 /* never closed", "SELECT 'never closed", "SELECT $$never closed", "", "-- nothing",
    ";",
    # Data-changing parts of a SELECT.
    "WITH x AS (DELETE FROM runs RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO runs VALUES (1) RETURNING *) SELECT * FROM x",
    "WITH x AS (UPDATE runs SET i = 1 RETURNING *) SELECT * FROM x",
    "WITH x AS (COPY (SELECT 1) TO '{folder}/out.csv') SELECT * FROM x",
    "SELECT * FROM (WITH x AS (COPY (SELECT 1) TO '{folder}/out.csv') FROM x)",
    "SELECT (WITH x AS (DELETE FROM runs RETURNING *) SELECT count(*) FROM x)",
    "WITH a AS (WITH x AS (DELETE FROM runs RETURNING *) FROM x) FROM a",
    # Files as tables.
    "FROM '{folder}/secret.csv'", "SELECT * FROM '{folder}/secret.parquet'",
    'SELECT * FROM "{folder}/secret.json"', "SELECT * FROM '{folder}/runs.parquet'",
    "TABLE '{folder}/secret.csv'", "DESCRIBE '{folder}/secret.csv'",
    "SUMMARIZE '{folder}/secret.csv'", "DESCRIBE SELECT * FROM '{folder}/secret.csv'",
    "PIVOT '{folder}/secret.csv' ON word IN ('a') USING count(*)",
    "PIVOT '{folder}/secret.csv' ON word USING count(*)",
    "PIVOT (FROM read_csv('{folder}/secret.csv')) ON word USING count(*)",
    "UNPIVOT '{folder}/secret.csv' ON word",
    "SELECT * FROM runs JOIN '{folder}/secret.csv' ON true",
    "SELECT (SELECT max(word) FROM '{folder}/secret.csv')",
    "SELECT * FROM runs ORDER BY (SELECT 1 FROM '{folder}/secret.csv')",
    "SELECT * FROM runs LIMIT (SELECT 1 FROM '{folder}/secret.csv')",
    "SELECT * FROM runs QUALIFY row_number() OVER () = (SELECT 1 FROM '{folder}/secret.csv')",
    "VALUES ((SELECT word FROM '{folder}/secret.csv'))",
    "SELECT * FROM unnest([(SELECT word FROM '{folder}/secret.csv')])",
    "WITH a AS (FROM b), b AS (FROM '{folder}/secret.csv') FROM a",
    "WITH RECURSIVE \"{folder}/secret.csv\" AS (FROM '{folder}/secret.csv') SELECT 1",
    "SELECT * FROM 'http://127.0.0.1:9/x.csv'",
    "SELECT * FROM 's3://bucket/x.parquet'",
    "SELECT * FROM '/proc/self/environ'",
    "SELECT * FROM '/dev/stdin'",
    # Functions that read files, run texts, or tell about the process.
    "SELECT * FROM read_csv('{folder}/secret.csv')",
    "SELECT * FROM read_csv_auto('{folder}/secret.csv')",
    "SELECT * FROM read_parquet('{folder}/*.parquet')",
    "SELECT * FROM parquet_scan('{folder}/runs.parquet')",
    "SELECT * FROM parquet_metadata('{folder}/runs.parquet')",
    "SELECT * FROM read_json('{folder}/secret.json')",
    "SELECT * FROM read_text('{folder}/secret.txt')",
    "SELECT * FROM read_blob('{folder}/secret.txt')",
    "SELECT * FROM read_duckdb('{folder}/secret.db', table_name = 'words')",
    "SELECT * FROM glob('{folder}/*')", "SELECT * FROM sniff_csv('{folder}/secret.csv')",
    "SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('runs')",
    "SELECT * FROM query_table(['{folder}/secret.csv'])",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 42'))",
    "SELECT json_serialize_plan('SELECT * FROM read_csv(''{folder}/secret.csv'')')",
    "SELECT * FROM histogram('{folder}/secret.csv', word)", "SELECT * FROM pandas_scan(1)",
    "SELECT * FROM arrow_scan(1, 2, 3)", "SELECT * FROM python_map_function(1)",
    "SELECT * FROM seq_scan('runs')", "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_views()", "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM pragma_table_info('runs')", "SELECT * FROM checkpoint()",
    "SELECT * FROM information_schema.tables", "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM system.information_schema.tables", "SELECT * FROM sqlite_master",
    "SELECT * FROM duckdb_tables", "SELECT getenv('PATH')", "SELECT GetEnv('PATH')",
    "SELECT \"getenv\"('PATH')",
    "SELECT 'PATH'.getenv()", "SELECT current_setting('allowed_paths')",
    "SELECT system.main.current_setting('allowed_paths')", "SELECT getvariable('x')",
    "SELECT current_query()", "SELECT nextval('s')", "SELECT setseed(0.5)",
    "SELECT write_log('x')", "SELECT sleep_ms(60000)", "SELECT pg_sleep(60)",
    "SELECT pg_get_viewdef(0)", "SELECT finalize('\\x00'::BLOB)",
    "SELECT list_transform([1], lambda x: getenv('PATH'))",
    "SELECT i FROM runs GROUP BY ALL HAVING getenv('PATH') = ''",
    # Variables of the process, parameters.
    "SELECT * FROM connection", "SELECT * FROM answering", "SELECT * FROM self", "SELECT $1",
    "SELECT ?", "SELECT $secret",
    # Earlier versions, names from elsewhere.
    "SELECT * FROM runs AT (VERSION => 1)",
    "SELECT * FROM other.main.runs",
    "SELECT * FROM temp.runs",
    'SELECT * FROM "memory.main.runs"',
    "PIVOT runs ON kind USING count(*); DROP VIEW runs",
    "PIVOT runs WHERE false) UNION SELECT 1; DROP VIEW runs -- ON kind USING count(*)",
    "PIVOT runs ON kind USING count(getenv('HOME'))",
    # What is no text at all.
    "SELECT 1\x00; DROP VIEW runs",
    "SELECT '\ud800'",
    "\x1b]0;",
]  # fmt: skip
NAMES = [
    "/etc/passwd", "../runs", "runs.parquet", "{folder}/runs.parquet", "'runs'", "runs;", "run s",
    'runs"; DROP VIEW runs; --', "main.runs.x", "*", "?", "runs--", "runs/*", "\u202eruns",
    "ｒｕｎｓ",
]  # fmt: skip


def said(attempt, house):
    return attempt.replace("{folder}", str(house.folder))


@each("attempt", REFUSED)
def test_a_hostile_statement_is_refused_wherever_sql_is_taken(untouched, attempt):
    process, source = untouched.process, said(attempt, untouched)
    questions = Questions(process, None, None, Path())
    asked = [
        lambda: process.rows(source, "SELECT count(*) FROM {source} AS s", max_rows=10),
        lambda: process.export(source, fmt="csv", max_rows=1_000_000),
        lambda: process.materialize("kept", source),
        lambda: questions.plot(Prepared(source), PLOT_KINDS[0], ""),  # the kind comes later
    ]
    if not source.removeprefix("SELECT ").startswith(("?", "$")):  # a saved question may have these
        asked.append(lambda: process.judged(source))
    for ask in asked:
        with pytest.raises(QueryRefused) as refused:
            ask()
        assert CANARY not in str(refused.value)
        assert len(str(refused.value)) < 400


@each("name", NAMES)
def test_an_unknown_name_is_refused_as_a_source(untouched, name):
    with pytest.raises(QueryRefused):
        untouched.process.rows(said(name, untouched), max_rows=10)


@each(
    "name",
    [
        *NAMES[:-1],
        "", "(SELECT 1)", "1runs", "select", "from",
        "a" * 64,
        "a\nb", "a\x00", "a.b", "é'", "x y",
    ],
)  # fmt: skip
def test_a_name_that_needs_quotes_is_refused_for_a_new_table(untouched, name):
    with pytest.raises(QueryRefused, match="no table can be called"):
        untouched.process.materialize(said(name, untouched), "SELECT 1")


@pytest.mark.parametrize("name", ["runs", "RUNS"])
def test_the_users_tables_cannot_be_replaced(untouched, name):
    with pytest.raises(QueryRefused, match="the user's data"):
        untouched.process.materialize(name, "SELECT 1")


@each(
    "column",
    [
        'i" FROM read_text(\'/etc/passwd\') --', "{source}", 'i"; DROP VIEW runs; --', "i\n--",
        "*", "i) FROM (SELECT 1", "getenv('PATH')", "\\", "名'前",
    ],
)  # fmt: skip
def test_a_column_name_is_never_run_as_sql(untouched, column):
    sql = f"SELECT {identifier(column)} FROM {{source}} AS s"
    with pytest.raises(QueryFailed, match="not found"):
        untouched.process.rows("SELECT 'a)' AS \"b{source}\" FROM runs", sql, max_rows=1)


@each("text", ["' OR 1 = 1 --", "'); DROP VIEW runs; --", "{source}", "\\'"])
def test_a_text_is_never_run_as_sql(untouched, text):
    sql = f"SELECT count(*) FROM {{source}} AS s WHERE name = {literal(text)}"
    assert untouched.process.rows("runs", sql, max_rows=1).rows == [[0]]


def test_our_own_statement_around_a_source_is_checked_too(untouched):
    for sql in ("DELETE FROM {source}", "SELECT * FROM {source}; SELECT 1", "SELECT getenv('A')"):
        with pytest.raises(QueryRefused):
            untouched.process.rows("runs", sql, max_rows=1)


STOPPED = [
    "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range + b.range = 1",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "SELECT repeat('a', 300000000)",
    "SELECT list(range) FROM range(2000000000)",
    "SELECT string_agg(repeat('x', 100000)) FROM range(100000)",
    "SELECT * FROM range(3000000000) ORDER BY hash(range)",
    "SELECT range(300000000)",
    "SELECT sum(list_sum(range(a.range))) FROM range(100000) a",
]


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(attempt, marks=() if attempt in STOPPED[::6] else pytest.mark.soak)
        for attempt in STOPPED
    ],
)
def test_endless_and_huge_queries_are_stopped_in_time(hasty, attempt):
    before = hasty.state()
    with pytest.raises(QueryStopped, match=r"stopped after 0\.6 s|more memory than the limit"):
        hasty.process.rows(attempt, max_rows=1)
    assert hasty.answers()
    assert hasty.state() == before


def test_a_large_export_is_stopped_and_leaves_no_file(untouched):
    with pytest.raises(QueryError, match="larger than 1 MB"):
        untouched.process.export(
            "SELECT hash(range) AS a, hash(range + 1) AS b FROM range(400000)",
            fmt="csv", max_rows=1_000_000,
        )  # fmt: skip


def test_one_query_cannot_read_the_export_of_another(untouched):
    exported = untouched.process.export("runs", fmt="parquet", max_rows=10_000)
    try:
        work = exported.path.parent.parent / "work" / exported.path.name
        for path in (exported.path, work):
            with pytest.raises(UnknownTable):
                untouched.process.rows(f"SELECT * FROM '{path}'", max_rows=1)
    finally:
        exported.path.unlink()


def test_nothing_of_the_servers_environment_reaches_the_child(house, monkeypatch):
    pid = house.process._main.pid
    if not Path(f"/proc/{pid}/environ").exists():
        pytest.skip("the system does not show it")
    environment = dict(
        entry.split("=", 1)
        for entry in Path(f"/proc/{pid}/environ").read_text().split("\0")
        if entry
    )
    assert "PATH" in os.environ
    assert not {"PATH", "USER"} & environment.keys()
    assert environment.get("HOME", "/nonexistent") == "/nonexistent"


ORDINARY = [
    "runs", "RUNS", '"runs"', "FROM runs", "TABLE runs", "VALUES (1, 'a'), (2, 'b')",
    "SELECT * FROM main.runs LIMIT 3", "SELECT count(*), count(DISTINCT kind) FROM runs;",
    "SELECT 1 -- with a comment", "SELECT ';' AS a ; -- and; another",
    "SELECT kind, avg(pace) AS mean FROM runs GROUP BY kind HAVING count(*) > 1 ORDER BY mean DESC",
    "SELECT kind, count(*) FROM runs GROUP BY ALL ORDER BY ALL",
    "SELECT kind, day, sum(pace) FROM runs GROUP BY ROLLUP (kind, day)",
    "SELECT kind, day, sum(pace), grouping(kind) FROM runs GROUP BY CUBE (kind, day)",
    "SELECT GROUPING_ID(kind), count(*) FROM runs GROUP BY GROUPING SETS ((kind), ())",
    "WITH a AS (SELECT * FROM runs WHERE kind = 1), b AS (SELECT avg(pace) m FROM a) FROM b",
    "WITH a AS MATERIALIZED (FROM runs) SELECT count(*) FROM a, a AS again WHERE a.i = again.i",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 10) FROM r",
    "SELECT i, lag(pace, 1, 0) OVER (PARTITION BY kind ORDER BY ts) FROM runs",
    "SELECT ts, avg(pace) OVER (ORDER BY ts ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) FROM runs",
    "SELECT avg(pace) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 5 MINUTE PRECEDING "
    "AND CURRENT ROW) FROM runs",
    "SELECT i, rank() OVER w, ntile(4) OVER w FROM runs WINDOW w AS (ORDER BY pace)",
    "SELECT * FROM runs QUALIFY row_number() OVER (PARTITION BY kind ORDER BY pace DESC) <= 3",
    "SELECT date_trunc('minute', ts) AS m, avg(pace) FROM runs GROUP BY m ORDER BY m",
    "SELECT time_bucket(INTERVAL '30 seconds', ts) AS b, max(pace) FROM runs GROUP BY b",
    "SELECT extract(hour FROM ts), dayname(day), strftime(ts, '%Y-%m') FROM runs",
    "SELECT day - DATE '2025-01-01', ts + INTERVAL 1 DAY, age(ts, ts) FROM runs",
    "SELECT quantile_cont(pace, [0.25, 0.5, 0.75]), median(pace), mode(kind) FROM runs",
    "SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY pace) FROM runs",
    "SELECT corr(pace, i), regr_slope(pace, i), stddev(pace), var_pop(pace) FROM runs",
    "SELECT approx_quantile(pace, 0.5), approx_count_distinct(i), skewness(pace) FROM runs",
    "SELECT sum(pace) FILTER (WHERE kind = 1) AS one, sum(pace) FILTER (kind = 2) FROM runs",
    "SELECT arg_max(name, pace), list(DISTINCT kind), string_agg(name, ',') FROM runs",
    "SELECT histogram(kind) FROM runs",
    "SELECT CASE WHEN pace < 100 THEN '速い' ELSE '遅い' END AS 速さ FROM runs",
    "SELECT a.i FROM runs a JOIN runs b USING (i) LEFT JOIN runs c ON a.i = c.i + 1",
    "SELECT * FROM runs a ASOF JOIN (SELECT ts, i AS j FROM runs WHERE kind = 0) b ON a.ts >= b.ts",
    "SELECT * FROM runs SEMI JOIN (SELECT 3 AS i) USING (i)",
    "SELECT * FROM runs ANTI JOIN (SELECT 3 AS i) USING (i)",
    "SELECT * FROM runs, LATERAL (SELECT pace * 2 AS twice)",
    "SELECT * FROM runs WHERE EXISTS (SELECT 1 FROM runs r WHERE r.i = runs.i + 1)",
    "SELECT (SELECT max(pace) FROM runs) - pace FROM runs WHERE kind = ANY (SELECT 1)",
    "SELECT i FROM runs WHERE i < 3 UNION ALL SELECT i FROM runs WHERE i > 997 ORDER BY i",
    "SELECT i FROM runs INTERSECT SELECT i + 1 FROM runs",
    "SELECT i FROM runs EXCEPT SELECT i + 1 FROM runs",
    "SELECT 1 AS a, 2 AS b UNION BY NAME SELECT 3 AS b, 4 AS c",
    "SELECT * EXCLUDE (name) REPLACE (pace * 60 AS pace) FROM runs",
    "SELECT max(COLUMNS('i|pace')) FROM runs",
    "SELECT COLUMNS(lambda c: c LIKE 'k%') FROM runs",
    "PIVOT runs ON kind IN (1, 2, 3) USING avg(pace) GROUP BY day",
    "PIVOT runs ON kind USING avg(pace) GROUP BY day",
    "UNPIVOT (SELECT i, pace, kind * 1.0 AS k FROM runs) ON pace, k INTO NAME what VALUE n",
    "SUMMARIZE runs",
    "SUMMARIZE SELECT pace FROM runs",
    "DESCRIBE runs",
    "SELECT column_name FROM (DESCRIBE runs) ORDER BY 1",
    "SELECT * FROM generate_series(DATE '2025-01-01', DATE '2025-03-01', INTERVAL 1 MONTH)",
    "SELECT unnest([1, 2, 3]) AS n, unnest({'a': 1, 'b': 2})",
    "SELECT * FROM unnest([1, 2, 3]) WITH ORDINALITY AS t(n, place)",
    "SELECT list_transform([1, 2], lambda x: x + 1), [x * 2 FOR x IN [1, 2] IF x > 1]",
    "SELECT {'a': 1}.a, MAP {'k': 1}['k'], [1, 2, 3][1:2], (1, 2)",
    "SELECT '{\"a\": [1]}'::JSON -> '$.a', json_extract_string('{\"a\": 1}', 'a')",
    "SELECT * FROM json_each('{\"a\": 1}')",
    "SELECT regexp_extract(name, '\\d+'), name LIKE '名前1%', split_part(name, '前', 2) FROM runs",
    "SELECT try_cast(name AS INTEGER), pace::DECIMAL(10, 2), coalesce(NULL, 1) FROM runs",
    "SELECT * FROM runs USING SAMPLE 10 ROWS (reservoir, 42)",
    "SELECT * FROM runs TABLESAMPLE BERNOULLI(50%)",
    "SELECT DISTINCT ON (kind) kind, i FROM runs ORDER BY kind, i DESC LIMIT 2 OFFSET 1",
    "SELECT random() < 2, uuid() IS NOT NULL, current_date, now() IS NOT NULL, version()",
    "SELECT name COLLATE nocase FROM runs ORDER BY name COLLATE nocase LIMIT 1",
    "SELECT CAST('a' AS ENUM ('a', 'b')), 'x'::BLOB, INTERVAL 1 DAY, TIME '12:00'",
    "SELECT runs, struct_pack(a := i) FROM runs",
    "SELECT day, sum(pace) AS s, s / 2 AS half FROM runs GROUP BY day",
]  # fmt: skip


@each("query", ORDINARY)
def test_ordinary_analytics_pass(house, query):
    found = house.process.rows(query, max_rows=5)
    assert found.rows
    assert len(found.rows[0]) == len(found.columns)
