"""Typical mistakes in SQL are answered with the right query, which this test then runs."""

import json
import tomllib
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mdvec.errors import MdvecError

from mdvec_mcp.analytics.child import loading, lockdown
from mdvec_mcp.analytics.child.failures import refusal_of
from mdvec_mcp.analytics.child.handler import RequestHandler
from mdvec_mcp.analytics.core.mending.wrapping import unwrapped
from mdvec_mcp.analytics.core.refusals import BadTableName

GOLDEN = tomllib.loads(Path(__file__).with_name("sql_mistakes.toml").read_text("utf-8"))
HELD_OUT = GOLDEN["mistakes"][3::4]
SEEN = [*(one for one in GOLDEN["mistakes"] if one not in HELD_OUT), *GOLDEN["more"]]
LIMITS = {"seconds": 5.0, "memory_mb": 1024, "export_bytes": 2**20}
FIX = "; write: "
TABLES = [
    """CREATE TABLE flights AS SELECT i AS id,
    ['UA', 'AA', 'DL', 'NH', 'JL'][i % 5 + 1] AS carrier,
    ['SFO', 'JFK', 'HND', 'KIX'][i % 4 + 1] AS origin,
    DATE '2025-01-01' + (i * 3 % 365)::INTEGER AS flight_date,
    flight_date + INTERVAL 6 HOUR + INTERVAL (i * 37 % 900) MINUTE AS departed,
    departed + INTERVAL (60 + i % 300 * 9) MINUTE AS arrived,
    (i * 13 % 97)::INTEGER - 20 AS delay,
    CASE WHEN i % 4 > 0 THEN delay - 5 END AS arrival_delay,
    300 + i * 71 % 4000 AS distance,
    round(50 + i * 7.3 % 400, 2)::DOUBLE AS fare,
    i % 11 = 0 AS cancelled,
    CASE WHEN i % 3 = 0 THEN 'late crew' WHEN i % 7 = 0 THEN 'pilot''s rest' END AS reason
    FROM range(300) AS numbers(i)""",
    """CREATE TABLE airlines AS SELECT * FROM (VALUES ('UA', 'United Air'), ('AA', 'American'),
    ('DL', 'Delta Air'), ('NH', 'All Nippon')) AS known(carrier, name)""",
    """CREATE TABLE 売上 AS SELECT DATE '2025-01-01' + (i * 2)::INTEGER AS 日付,
    ['渋谷店', '新宿店', '梅田店'][i % 3 + 1] AS 店舗,
    ['食品', '日用品'][i % 2 + 1] AS カテゴリ, 100 + i * 37 % 5000 AS 金額
    FROM range(70) AS numbers(i)""",
]


@pytest.fixture(scope="module")
def handler(tmp_path_factory):
    spool = tmp_path_factory.mktemp("spool")
    connection = lockdown.connect(1024)
    for statement in TABLES:
        connection.execute(statement)
    tables = {
        name: loading.columns_of(connection, f'SELECT * FROM "{name}"')
        for name in ("airlines", "flights", "売上")
    }
    lockdown.lock(connection, [], spool, 5.0)
    yield RequestHandler(connection, tables, spool)
    connection.close()


def ask(handler, sql):
    """The rows (sorted), and the notes or the error."""
    request = {
        "do": "rows", "source": sql, "sql": "SELECT * FROM {source}", "max_rows": 1000,
        "max_bytes": 1_000_000,
    }  # fmt: skip
    try:
        response = handler.handle(request)
    except MdvecError as error:
        return None, str(handler.mended(request, error))
    except duckdb.Error as error:
        refusal = refusal_of(error, hidden={}, **LIMITS)
        return None, str(handler.mended(request, refusal))
    rows = sorted(json.dumps(row, ensure_ascii=False) for row in response["rows"])
    return rows, "".join(response.get("notes", []))


def fate(handler, mistake):
    """Whether the mistake was understood at once or mended by the fix, or what went wrong."""
    _, wrong, right = mistake
    expected, trouble = ask(handler, right)
    assert expected is not None, f"the golden query itself fails: {trouble}"
    rows, told = ask(handler, wrong)
    if FIX in told:
        fix = told.partition(FIX)[2]
        mended, trouble = ask(handler, fix)
        if mended == expected:
            return "mended", told
        return "wrong fix", told + (trouble if mended is None else "")
    if rows == expected:
        return "understood", told
    return ("no fix", told) if rows is None else ("wrong rows", told)


@pytest.fixture(scope="module", params=[3, pytest.param(1, marks=pytest.mark.soak)])
def fates(request, handler):
    """What became of each mistake, by its kind; of those that are seen, of every third one."""
    asked = [*SEEN[:: request.param], *HELD_OUT]
    return {mistake[0]: fate(handler, mistake) for mistake in asked}


@pytest.mark.parametrize("mistakes", [SEEN, HELD_OUT], ids=["seen", "held out"])
def test_at_least_95_percent_of_the_mistakes_are_answered_with_the_right_query(fates, mistakes):
    found = {kind: fates[kind] for kind, _, _ in mistakes if kind in fates}
    wrong = {kind: one for kind, one in found.items() if one[0] not in {"mended", "understood"}}
    assert len(wrong) <= 0.05 * len(found), wrong


def test_duckdb_does_not_understand_most_of_the_mistakes_itself(fates):
    mended = sum(outcome == "mended" for outcome, _ in fates.values())
    assert mended >= 0.57 * len(fates)


def test_an_answer_says_what_is_wrong_and_where_and_the_corrected_form(handler):
    _, told = ask(handler, "SELECT count(*)\nFROM flights\nWHERE carrier = 「UA」")
    assert told == (
        'Binder Error: Referenced column "「UA」" not found in FROM clause!; a text stands in '
        "straight single quotes: 'text' (line 3, column 17, at '「UA」'); write: "
        "SELECT count(*)\nFROM flights\nWHERE carrier = 'UA'"
    )


def test_a_long_query_is_answered_with_what_changes_within_900_bytes(handler):
    many = ", ".join(f"sum(金額 + {number}) AS 合計{number}" for number in range(70))
    _, told = ask(handler, f"SELECT {many} FROM 売上 WHERE 店舗 = 「渋谷店」")
    assert told.endswith("write: '渋谷店' instead of 「渋谷店」")
    assert len(told.encode()) <= 900


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "「" * 3000,
        "SELECT 'a' = \"" + "é" * 3000,
        "SELECT * FROM " + "家" * 2900,
        "SELECT f." + "x" * 2900 + " FROM flights f",
        'SELECT carrier = "' + "家" * 1200 + '" FROM flights',
        "SELECT " + "delay," * 600 + " FROM fligths",
    ],
    ids=range(6),
)
def test_no_answer_echoes_more_than_900_bytes(handler, sql):
    _, told = ask(handler, sql)
    assert told
    assert len(told.encode()) <= 900


@pytest.mark.parametrize(
    "sql",
    [
        "COPY flights TO 'x.csv'",
        "SELECT getenv('HOME')",
        "SELECT * FROM read_text('/etc/passwd')",
        "ATTACH 'x.db'",
        "SELECT * FROM duckdb_settings()",
        "SELECT current_setting('threads')",
        "INSTALL httpfs",
        "WITH a AS (DELETE FROM flights RETURNING *) SELECT * FROM a",
    ],
)
def test_what_is_not_allowed_gets_no_other_form(handler, sql):
    rows, told = ask(handler, sql)
    assert rows is None
    assert FIX not in told


WORDS = [
    "SELECT", "FROM", "WHERE", "flights", "carrier", "dealy", "=", "'UA'", '"UA"', "「UA」", "(",
    ")", "（", "，", ",", "[delay]", "`id`", "NULL", "TOP 3", "LIMIT 1, 2", "GROUP BY", "count(*)",
    "NVL(delay, 0)", ";", "--", "#", "'", '"', "read_csv('flights.csv')", "getenv('HOME')", "/*",
    "UNION", "WITH a AS", "ORDER BY", "CASE", "ROWNUM", "\\", "\ue000t0\ue001",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
@settings(max_examples=20, deadline=None)
def test_whatever_is_asked_a_proposal_can_be_planned_and_is_short(handler, words):
    _, told = ask(handler, " ".join(words))
    assert len(told.encode()) <= 900
    fix = told.partition(FIX)[2]
    if fix and " instead of " not in fix:
        request = {"do": "columns", "source": fix}
        assert handler.handle(request)["columns"]


def test_a_column_that_nothing_is_like_is_answered_with_those_that_exist(handler):
    _, told = ask(handler, "SELECT a.population FROM airlines a")
    assert told == (
        'Binder Error: Table "a" does not have a column named "population"; '
        "airlines has the columns carrier, name"
    )


def test_a_query_that_fails_by_its_data_gets_no_other_sql(handler):
    _, told = ask(
        handler, "SELECT CAST(reason AS INTEGER), strftime('%Y', flight_date) FROM flights"
    )
    assert "Could not convert" in told
    assert FIX not in told


def test_a_name_that_is_refused_is_no_mistake_of_the_query(handler):
    request = {
        "do": "materialize", "name": "select", "source": "SELECT strftime('%Y', flight_date)",
        "sql": "SELECT * FROM {source}", "replace": False,
    }  # fmt: skip
    with pytest.raises(BadTableName) as refused:
        handler.handle(request)
    assert handler.mended(request, refused.value) is refused.value


def test_one_fence_is_taken_off_and_two_are_not():
    assert unwrapped("```sql\nSELECT 1\n```\n") == "SELECT 1"
    assert unwrapped("SELECT '```'") == "SELECT '```'"
    two = "```\nSELECT 1\n```\n```\nSELECT 2\n```"
    assert unwrapped(two) == two
