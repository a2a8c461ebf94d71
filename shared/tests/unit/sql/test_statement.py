"""Which statements are allowed, checked on their syntax trees."""

import json

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.sql.core import vocabulary
from mdvec.sql.core.refusals import QueryRefused, UnknownTable, unknown_table
from mdvec.sql.core.statement import MAX_SQL_CHARACTERS, check, clean, find_table, with_source
from mdvec.text.one_line import identifier, literal

KNOWN = ["runs", "transactions", "家計"]


@pytest.fixture(scope="module")
def tree():
    connection = duckdb.connect()

    def serialized(sql):
        return connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()[0]

    yield serialized
    connection.close()


@each(
    ("sql", "tables"),
    [
        ("SELECT 1", set()),
        ("SELECT * FROM runs", {"runs"}),
        ("FROM RUNS", {"runs"}),
        ('TABLE "Runs"', {"runs"}),
        ("SELECT * FROM main.runs", {"runs"}),
        ("SELECT * FROM memory.main.runs", {"runs"}),
        ("SELECT * FROM 家計", {"家計"}),
        ("SELECT * FROM runs WHERE a IN (SELECT a FROM transactions)", {"runs", "transactions"}),
        ("WITH x AS (FROM runs) SELECT * FROM x", {"runs"}),
        ("WITH runs AS (SELECT 1) SELECT * FROM runs", set()),
        ("WITH runs AS (FROM runs) SELECT * FROM runs", {"runs"}),
        ("WITH runs AS (SELECT 1) SELECT * FROM runs, main.runs", {"runs"}),
        ("SELECT * FROM (WITH a AS (SELECT 1) FROM a), runs", {"runs"}),
        ("DESCRIBE runs", {"runs"}),
        ("SUMMARIZE SELECT * FROM runs", {"runs"}),
        ("PIVOT runs ON a IN (1, 2) USING sum(b)", {"runs"}),
    ],
)
def test_a_query_reads_the_tables_that_it_names(tree, sql, tables):
    assert check(tree(sql), KNOWN, sql) == tables


@each(
    "sql",
    [
        "SELECT * FROM nope", "SELECT * FROM 'runs.parquet'", 'SELECT * FROM "../runs"',
        "SELECT * FROM other.runs", "SELECT * FROM memory.runs",
        "SELECT * FROM information_schema.tables", "SELECT * FROM duckdb_tables",
        "SELECT * FROM sqlite_master", "SELECT * FROM recurring.runs",
        # A name of WITH is known where it is visible, and nowhere else.
        "WITH a AS (FROM b), b AS (SELECT 1) FROM a",
        "WITH a AS (FROM a) FROM a",
        "WITH RECURSIVE a AS (FROM a) FROM a",
        "WITH RECURSIVE a AS (FROM a UNION SELECT 1) FROM a",
        "SELECT * FROM (WITH a AS (SELECT 1) FROM a), a",
        "SELECT * FROM a, (WITH a AS (SELECT 1) FROM a)",
        "WITH x AS (WITH a AS (SELECT 1) FROM a) SELECT * FROM x, a",
        "SELECT (WITH a AS (SELECT 1) SELECT * FROM a) FROM a",
        "WITH a AS (SELECT 1) FROM main.a",
        "WITH RECURSIVE a AS (SELECT 1 UNION SELECT 2 FROM a) FROM recurring.a",
    ],
)  # fmt: skip
def test_a_table_that_is_not_known_is_refused_with_the_names_of_those_that_are(tree, sql):
    with pytest.raises(UnknownTable, match=r"the tables are: runs, transactions, 家計"):
        check(tree(sql), KNOWN, sql)


@each("name", ["/etc/passwd", "a.csv", "..\\x", "s3://b/k", "x.parquet"])
def test_a_cte_name_is_never_a_file(tree, name):
    sql = f"WITH {identifier(name)} AS (SELECT 1) SELECT * FROM {identifier(name)}"
    with pytest.raises(QueryRefused, match="a WITH clause cannot be named"):
        check(tree(sql), KNOWN, sql)


@each(
    ("sql", "words"),
    [
        ("", "there are 0 statements"),
        ("SELECT 1; SELECT 2", "there are 2 statements"),
        ("WITH x AS (DELETE FROM runs RETURNING *) FROM x", "DELETE changes or writes"),
        ("WITH x AS (INSERT INTO runs VALUES (1) RETURNING *) FROM x", "INSERT changes"),
        ("WITH x AS (UPDATE runs SET a = 1 RETURNING *) FROM x", "UPDATE changes or writes"),
        ("WITH x AS (COPY runs TO 'x.csv') FROM x", "COPY changes or writes"),
        ("DROP TABLE runs", "this is not a SELECT"),
        ("EXPLAIN SELECT 1", "this is not a SELECT"),
        ("SHOW TABLES", "SHOW is not allowed; the tables are"),
        ("SELECT * FROM (SHOW DATABASES)", "SHOW is not allowed"),
        ("SHOW TABLES FROM main", "SHOW is not allowed"),
        ("SELECT $1", "a parameter without a value"),
        ("SELECT ?", "a parameter without a value"),
        ("SELECT DEFAULT", "DEFAULT is not allowed"),
        ("SELECT * FROM runs AT (VERSION => 1)", "no earlier versions"),
        ("PIVOT runs ON a USING sum(b)", "PIVOT inside a query must list its values"),
        (
            "SELECT * FROM (PIVOT runs ON a IN (SELECT 1) USING sum(b))",
            "PIVOT inside a query must list",
        ),
        ("SELECT * FROM read_csv('x')", r"the table function read_csv\(\)"),
        ("SELECT * FROM main.read_csv('x')", r"the table function read_csv\(\)"),
        ("SELECT * FROM QUERY('SELECT 1')", r"the table function query\(\)"),
        ("SELECT getenv('HOME')", r"getenv\(\) is not allowed: it reads environment"),
        ("SELECT CURRENT_SETTING('threads')", r"current_setting\(\) is not allowed"),
        ("SELECT system.main.getvariable('x')", r"getvariable\(\) is not allowed"),
        ("SELECT 'x'.nextval()", r"nextval\(\) is not allowed"),
        ("SELECT sum(1) OVER (ORDER BY sleep_ms(1))", r"sleep_ms\(\) is not allowed"),
        ("SELECT a FROM runs LIMIT (SELECT pg_sleep(1))", r"pg_sleep\(\) is not allowed"),
        ("SELECT list_transform([1], lambda x: setseed(x))", r"setseed\(\) is not allowed"),
        ("SELECT make_type('INTEGER')", r"make_type\(\) is not allowed"),
        ("SELECT index_key('a.b', 'c')", r"index_key\(\) is not allowed"),
        ("SELEKT 1", r"the SQL cannot be read: syntax error [^;]*$"),
    ],
)
def test_statements_other_than_select_are_refused_with_advice(tree, sql, words):
    with pytest.raises(QueryRefused, match=words):
        check(tree(sql), KNOWN, sql)


def test_the_name_of_a_dataset_names_its_tables():
    known = ["x1__a01", "x1__b", "x__a10", "x__a11"]
    for name in ("x1", "X1"):
        assert "; nearest: x1__a01, x1__b; the tables" in str(unknown_table(name, known))


def test_unknown_nodes_of_the_tree_are_refused(tree):
    known = json.loads(tree("SELECT a FROM runs ORDER BY a"))
    changed = [
        (("statements", 0, "node", "type"), "MERGE_NODE"),
        (("statements", 0, "node", "from_table", "type"), "NEW_TABLE"),
        (("statements", 0, "node", "select_list", 0, "class"), "NEW_EXPRESSION"),
        (("statements", 0, "node", "modifiers", 0, "type"), "NEW_MODIFIER"),
    ]
    for path, value in changed:
        new = json.loads(json.dumps(known))
        place = new
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        with pytest.raises(QueryRefused):
            check(json.dumps(new), KNOWN)


def test_an_incomplete_tree_is_refused(tree):
    known = json.loads(tree("SELECT a FROM runs"))
    del known["statements"][0]["node"]["from_table"]["qualified_name"]
    with pytest.raises(QueryRefused, match="unsupported element"):
        check(json.dumps(known), KNOWN)


def test_deep_nesting_is_refused_and_not_a_crash(tree):
    for sql in ("SELECT " + "NOT " * 900 + "true", "SELECT 1" + " + 1" * 900):
        with pytest.raises(QueryRefused, match="nested too deeply"):
            check(tree(sql), KNOWN, sql)


def test_every_function_with_side_effects_is_denied_or_known(tree):
    names = duckdb.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE has_side_effects "
        "AND function_type IN ('scalar', 'aggregate', 'macro')"
    ).fetchall()
    harmless = {
        "current_connection_id", "current_query_id", "current_transaction_id", "error",
        "gen_random_uuid", "random", "uuid", "uuidv4", "uuidv7",
    }  # fmt: skip
    assert {name for (name,) in names if not vocabulary.why_denied(name)} == harmless


def test_every_macro_that_reads_a_table_is_denied():
    # A macro becomes SQL after the query was judged.
    macros = duckdb.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE function_type = 'macro' AND macro_definition ILIKE '%from %'"
    ).fetchall()
    assert macros
    assert [name for (name,) in macros if not vocabulary.why_denied(name)] == []


def test_every_function_whose_name_suggests_outside_access_is_denied_or_known():
    names = duckdb.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE function_type IN ('scalar', 'aggregate') AND regexp_matches(function_name, "
        "'read|write|file|env|setting|variable|query|exec|plan|secret|attach|sql|sleep|lock')"
    ).fetchall()
    allowed = {name for (name,) in names if not vocabulary.why_denied(name)}
    assert allowed == {
        "current_query_id", "json_deserialize_sql", "json_serialize_sql", "parse_filename",
    }  # fmt: skip


def test_a_source_of_one_word_is_a_table_in_any_case_quoted_or_not():
    assert find_table("RUNS", KNOWN) == "runs"
    assert find_table('"Runs"', KNOWN) == "runs"
    assert find_table("家計", KNOWN) == "家計"
    assert find_table("SELECT 1", KNOWN) is None
    for word in ("nope", "../runs", "runs.parquet", "'runs'", '"no such"', "/etc/passwd"):
        with pytest.raises(UnknownTable):
            find_table(word, KNOWN)


def test_only_ascii_letters_ignore_case_as_in_duckdb():
    with pytest.raises(UnknownTable):
        find_table("runſ", KNOWN)  # its upper case is that of s


@each(
    ("source", "words"),
    [
        ("", "there is no SQL"),
        (" \n\t", "there is no SQL"),
        ("SELECT 1\x00; DROP", "control character"),
        ("SELECT '\x1b[2J'", "control character"),
        ("SELECT '\ud800'", "control character"),
        ("SELECT " + "1" * MAX_SQL_CHARACTERS, "more than 20,000"),
    ],
)
def test_invalid_query_texts_are_refused(source, words):
    with pytest.raises(QueryRefused, match=words):
        clean(source)


def test_a_placeholder_inside_quotes_is_not_replaced():
    column, text = 'a{source}"b', "it's {source}"
    statement = f"SELECT {identifier(column)}, {literal(text)} FROM {{source}} AS s"
    assert with_source(statement, "(SELECT 'x')") == (
        f"SELECT {identifier(column)}, {literal(text)} FROM (SELECT 'x') AS s"
    )


@given(st.text(max_size=30), st.text(max_size=30))
def test_quoted_names_and_texts_are_unchanged(name, text):
    name = name.replace("\0", "")
    sql = f"SELECT {literal(text)} AS {identifier(name or 'x')} FROM {{source}}"
    found = duckdb.execute(with_source(sql, "(SELECT 1)"))
    assert found.fetchall() == [(text,)]
    assert [column[0] for column in found.description] == [name or "x"]
