"""The handler's response to each request, without a child process."""

import json

import duckdb
import pytest
from table_of_cases import each

from mdvec.platform import restrict_files
from mdvec.sql.child.handler import FatalDuckDBError, refusal_of
from mdvec.sql.core.refusals import QueryRefused
from mdvec.text.one_line import identifier

LIMITS = {"seconds": 5.0, "memory_mb": 1024, "export_bytes": 2**20}


TABLES = {"runs": "CREATE TABLE runs AS SELECT range AS i, range % 3 AS kind FROM range(100)"}


def rows(handler, source, sql="SELECT * FROM {source}", max_rows=10, max_bytes=10_000):
    request = {
        "do": "rows", "source": source, "sql": sql, "max_rows": max_rows, "max_bytes": max_bytes,
    }  # fmt: skip
    return json.loads(json.dumps(handler.handle(request)))


@each(
    ("expression", "value"),
    [
        ("1", 1),
        ("NULL", None),
        ("true", True),
        ("1.5::DECIMAL(5, 2)", 1.5),
        ("2.00::DECIMAL(5, 2)", 2),
        ("1234567890123456789012345.00::DECIMAL(38, 2)", 1234567890123456789012345),
        ("0.1::FLOAT", 0.1),
        ("0.1::DOUBLE", 0.1),
        ("'nan'::DOUBLE", "NaN"),
        ("'inf'::DOUBLE", "Infinity"),
        ("'-inf'::FLOAT", "-Infinity"),
        ("1000000000000000000000000::HUGEINT", 10**24),
        ("DATE '2025-06-01'", "2025-06-01"),
        ("DATE 'infinity'", "infinity"),
        ("TIMESTAMP '2025-06-01 10:00:00.5'", "2025-06-01T10:00:00.5"),
        ("TIMESTAMPTZ '2025-06-01 10:00:00+00' AT TIME ZONE 'Asia/Tokyo'", "2025-06-01T19:00:00"),
        ("TIME '10:00'", "10:00:00"),
        ("INTERVAL 90 MINUTE", "01:30:00"),
        ("'家計 🏠'", "家計 🏠"),
        ("'a\"b\\c\nd'", 'a"b\\c\nd'),
        ("repeat('あ', 501)", "あ" * 500 + "… (501 characters)"),
        ("repeat('あ', 500)", "あ" * 500),
        ("'\\x00\\xFF'::BLOB", "<2 bytes>"),
        ("'101'::BIT", "101"),
        ("'a'::ENUM ('a', 'b')", "a"),
        ("'12345678-1234-1234-1234-123456789012'::UUID", "12345678-1234-1234-1234-123456789012"),
        ("[1, NULL, 3]", [1, None, 3]),
        ("[[1], []]", [[1], []]),
        ("{'a': 1, 'b': {'c': DATE '2025-01-01'}}", {"a": 1, "b": {"c": "2025-01-01"}}),
        ("MAP {'k': 1}", {"k": 1}),
        ("array_value(1, 2)", [1, 2]),
        ("'{\"a\": [1, 2.5]}'::JSON", {"a": [1, 2.5]}),
        ("'null'::JSON", None),
        ("union_value(n := 1)", {"n": 1}),
    ],
)  # fmt: skip
def test_values_become_their_json_equivalents(handler, expression, value):
    assert rows(handler, f"SELECT {expression} AS v")["rows"] == [[value]]


def test_a_long_list_is_cut_and_shows_its_length(handler):
    (cell,) = rows(handler, "SELECT range(10000) AS v")["rows"][0]
    assert cell.startswith("[0,1,2,")
    assert cell.endswith("… (48891 characters)")


def test_rows_are_in_order_and_tell_whether_there_are_more(handler):
    found = rows(handler, "SELECT i FROM runs ORDER BY i DESC", max_rows=3)
    assert found == {
        "columns": [["i", "BIGINT"]],
        "rows": [[99], [98], [97]],
        "more": True,
        "reads": ["runs"],
    }
    assert rows(handler, "SELECT 1 AS a", max_rows=1)["more"] is False


def test_rows_stop_at_the_byte_limit(handler):
    found = rows(handler, "SELECT repeat('家', 10) AS s FROM runs", max_bytes=100, max_rows=50)
    assert found["more"] is True
    assert len(found["rows"]) == 2
    assert rows(handler, "SELECT repeat('x', 200)", max_bytes=100)["rows"] == []


def test_columns_of_the_same_name_stay_distinct(handler):
    found = rows(handler, 'SELECT 1 AS a, 2 AS a, 3 AS "A"')
    assert found["rows"] == [[1, 2, 3]]
    assert len({name for name, _ in found["columns"]}) == 3


def test_names_may_be_anything(handler):
    name = 'a "b" {source} \n 名前; --'
    source = f"SELECT 7 AS {identifier(name)}"
    found = rows(handler, source, f"SELECT {identifier(name)} AS x FROM {{source}} AS s")
    assert found["rows"] == [[7]]
    assert rows(handler, source)["columns"] == [[name, "INTEGER"]]


def test_the_columns_of_a_query_are_known_without_running_it(handler):
    source = "SELECT count(*) AS n FROM range(10000000000) a, range(10000000000) b"
    assert handler.handle({"do": "columns", "source": source}) == {
        "columns": [["n", "BIGINT"]],
        "reads": [],
    }


@each("end", [";", " ; ", ";;", "; -- and; more", " -- a; b", "\n;\n/* ; */ ;"])
def test_a_semicolon_at_the_end_makes_no_difference(handler, end):
    assert rows(handler, f"SELECT ';' AS a{end}")["rows"] == [[";"]]


def test_our_statement_may_name_its_source_more_than_once(handler):
    sql = "SELECT (SELECT count(*) FROM {source}) + (SELECT max(i) FROM {source} AS s) AS n"
    assert rows(handler, "runs", sql)["rows"] == [[199]]
    assert rows(handler, "SELECT * FROM runs -- all", sql)["rows"] == [[199]]


@each("name", ["家計", "a1", "_x", "Fast_Runs", "a" * 63])
def test_a_table_may_have_any_name_that_needs_no_quotes(handler, name):
    request = {
        "do": "export", "name": name, "source": "SELECT 1 AS a", "format": "parquet",
        "file": "table.parquet", "max_rows": 10,
    }  # fmt: skip
    assert handler.handle(request)["reads"] == []
    shown = {"named": [[name, "table.parquet", {"a": "INTEGER"}]]}
    read = {"do": "rows", "source": f"SELECT * FROM {name}", "max_rows": 1, "max_bytes": 99}
    assert handler.handle(read | shown)["rows"] == [[1]]
    with pytest.raises(QueryRefused, match="there is no table"):
        handler.handle(read)


def test_an_error_of_duckdb_names_no_path_and_shows_none_of_our_sql(handler):
    with pytest.raises(Exception, match="Binder") as raised:
        rows(handler, "SELECT nope, '/secret/place' FROM runs")
    error = refusal_of(raised.value, hidden={"/secret/place": "the file"}, **LIMITS)
    assert "nope" in str(error)
    assert "LINE" not in str(error)
    other = RuntimeError("in /secret/place/x\n\nmore")
    assert str(refusal_of(other, hidden={"/secret/place": "it"}, **LIMITS)) == "in it/x"


def test_a_fatal_duckdb_error_requires_a_new_process():

    with pytest.raises(FatalDuckDBError):
        refusal_of(duckdb.FatalException("database has been invalidated"), hidden={}, **LIMITS)
    assert "more memory" in str(refusal_of(MemoryError(), hidden={}, **LIMITS))


def test_a_full_disk_and_an_export_over_its_limit_are_told_apart():

    full = duckdb.IOException("Could not write file: No space left on device")
    assert "the disk with the exports is full" in str(refusal_of(full, hidden={}, **LIMITS))
    large = duckdb.IOException("Could not write file: File too large")
    assert "MB, the limit, and no file" in str(refusal_of(large, hidden={}, **LIMITS))


def test_a_system_without_landlock_runs_without_it(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "darwin")
    assert restrict_files([], tmp_path) is False
