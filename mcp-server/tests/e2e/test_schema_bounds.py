"""Values within the bounds of a tool's schema work; values beyond them are refused."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from imported import imported
from mdvec.manage import registering
from table_of_cases import each

SAMPLES = Path(__file__).parents[3] / "docs" / "examples" / "household"
LONG_NAME = "c" * 200
WHOLE = f"SELECT 1 AS {LONG_NAME}, DATE '2025-06-01' AS day"
NEEDED: dict[str, dict[str, object]] = {
    "query": {"query": "SELECT 1 AS a, 2 AS b, 3 AS c"},
    "export": {"query": WHOLE},
    "profile": {"table_or_query": WHOLE},
    "histogram": {"table_or_query": WHOLE, "column": LONG_NAME},
    "materialize": {"name": "kept", "query": WHOLE},
    "runs": {"query": WHOLE},
    "get_monthly_household": {"year": 2024, "month": 6},
    "get_category_trend": {},
    "find_transactions": {},
    "detect_duplicates": {},
    "list_duplicate_candidates": {},
}
BESIDE: dict[str, dict[str, object]] = {
    "graph_type": {"output_format": "image"},
    "query.image_format": {"chart": "bar"},
    "query.mode": {"save_as": "kept"},
}
"""What a parameter, of any tool or of one, has an effect with only."""


@pytest.fixture(scope="module")
def client(tmp_path_factory, connect_here):
    """A server with a household, a dataset and a collection of notes."""
    folder = tmp_path_factory.mktemp("data")
    database = folder / "vectors.sqlite"
    duckdb.execute(f"COPY (SELECT 1 AS n) TO '{folder}/runs.parquet' (FORMAT parquet)")
    imported(database, "kakeibo", SAMPLES, "household")
    imported(database, "runs", folder / "runs.parquet", "dataset")
    registering.add_tool(database, "notes", "メモ", SAMPLES, "markdown")
    folders = {"MDVEC_ANALYTICS_FOLDER": str(folder / "exports")}
    with connect_here(database, home=folder / "home", **folders) as connected:
        yield connected


def properties(client):
    """Each parameter of the tools of ``NEEDED``, with its schema in one piece."""
    for tool in client.portal.call(client.client.list_tools).tools:
        for name, schema in tool.input_schema["properties"].items():
            if tool.name in NEEDED:
                kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
                yield tool.name, name, {**(kinds[0] if len(kinds) == 1 else {}), **schema}


def text(name, length):
    """A valid value of that length for the parameter."""
    if name in {"query", "table_or_query"}:
        return f"{WHOLE} --".ljust(length, "x")
    return "day" if name == "date_column" and length <= 200 else "c" * length


def within_and_beyond(name, schema):
    """Values at the bounds, and just beyond them."""
    step = 1 if schema.get("type") == "integer" else 0.001
    for bound, sign in (("minimum", -1), ("maximum", 1)):
        if bound in schema:
            yield schema[bound], schema[bound] + sign * step
    if "maxLength" in schema:
        yield text(name, schema["maxLength"]), text(name, schema["maxLength"] + 1)
    if "minLength" in schema:
        yield text(name, 3 if "query" not in name and name != "column" else 200), ""
    if "minItems" in schema and schema["minItems"] == schema.get("maxItems"):
        days = ["2025-06-01", "2025-06-30", "2025-07-31"]
        yield days[:2], days[:1]
        yield days[:2], days
    elif "minItems" in schema:
        yield [LONG_NAME], []
    if "enum" in schema:
        for one in schema["enum"]:
            yield one, "another"


def test_the_bounds_in_schemas_are_those_of_the_tools(client):
    found = set()
    for tool, name, schema in properties(client):
        for within, beyond in within_and_beyond(name, schema):
            found.add((tool, name))
            arguments = {**NEEDED[tool], **BESIDE.get(name, {}), **BESIDE.get(f"{tool}.{name}", {})}
            if within == "delete":  # which takes no SQL
                del arguments["query"]
            answer = client.call(tool, {**arguments, name: within})
            assert not answer.is_error, (tool, name, within, answer.content[0].text)
            refused = client.call(tool, {**arguments, name: beyond})
            assert refused.is_error, (tool, name, beyond)
    assert {("runs", "max_output_size"), ("export", "max_rows"), ("histogram", "bins")} <= found
    assert {("list_duplicate_candidates", "limit"), ("get_category_trend", "graph_type")} <= found


def test_a_search_for_transactions_takes_a_hundred_names_of_shops_or_categories(client):
    for number, is_refused in ((100, False), (101, True)):
        asked = {"exclude_shop": [f"店{at}" for at in range(number)]}
        assert client.call("find_transactions", asked).is_error is is_refused


def test_an_answer_stays_within_max_output_size(client):
    queries = [
        "SELECT * FROM transactions",
        f"SELECT {', '.join(f'{n} AS column_with_a_name_{n}' for n in range(60))}",
        "SELECT 9007199254740993 + range AS n FROM range(100)",
        f"SELECT '{'あ' * 900}' AS text",
    ]
    for most in (200, 509, 1_024):
        for query in queries:
            for statistics in (False, True):
                answer = client.call(
                    "runs", {"query": query, "max_output_size": most, "statistics_only": statistics}
                )
                assert not answer.is_error, answer.content[0].text
                assert len(answer.content[0].text.encode()) <= most, (most, query, statistics)


@each(
    ("value", "told"),
    [
        ("9007199254740992", 2**53),
        ("9007199254740993", "9007199254740993"),
        ("-9007199254740993", "-9007199254740993"),
        ("sum(9223372036854775807::BIGINT) * 2", "18446744073709551614"),
        ("12345678901234567.89::DECIMAL(38, 2)", "12345678901234567.89"),
        ("12345678901234567.00::DECIMAL(38, 2)", "12345678901234567"),
        ("0.12345678901234567890::DECIMAL(38, 20)", "0.12345678901234567890"),
        ("1234.56::DECIMAL(38, 2)", 1234.56),
        ("{'a': [9007199254740993, 1], 'b': 12345678901234567.89::DECIMAL(38, 2)}",
         {"a": ["9007199254740993", 1], "b": "12345678901234567.89"}),
        ("'{\"n\": 1e999, \"m\": 1.5}'::JSON", {"n": "1e999", "m": 1.5}),
    ],
)  # fmt: skip
def test_numbers_keep_all_their_digits(client, value, told):
    answer = client.call("runs", {"query": f"SELECT {value} AS v"})
    assert json.loads(answer.content[0].text)["rows"] == [[told]]
    as_javascript_reads = json.loads(answer.content[0].text, parse_int=float)
    assert as_javascript_reads["rows"] == [[told]]


def test_figures_and_edges_keep_all_their_digits(client):
    query = "SELECT unnest([9007199254740993, 9007199254740995]) AS v"
    profile = json.loads(client.call("profile", {"table_or_query": query}).content[0].text)
    assert profile["columns"]["v"]["min"] == "9007199254740993"
    assert profile["columns"]["v"]["max"] == "9007199254740995"
    found = client.call("histogram", {"table_or_query": query, "column": "v", "bins": 3})
    assert json.loads(found.content[0].text)["bins"][0]["min"] == "9007199254740993"
