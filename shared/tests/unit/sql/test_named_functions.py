"""Functions named by a text: checked like calls, and all of them known."""

import itertools

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.sql.core import vocabulary
from mdvec.sql.core.refusals import QueryRefused
from mdvec.sql.core.statement import check
from mdvec.text.one_line import literal

FAMILY = sorted(vocabulary.NAMING_FUNCTIONS)
NOBODY = "no_such_name_4711"


@pytest.fixture(scope="module")
def connection():
    connection = duckdb.connect()
    yield connection
    connection.close()


def judge(connection, sql):
    (tree,) = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    return check(tree, ["runs"], sql)


@each("function", FAMILY)
def test_an_aggregate_named_by_a_literal_is_allowed(connection, function):
    for sql in (
        f"SELECT {function}([1, 2], 'sum')",
        f"SELECT {function}([1, 2], 'SUM')",
        f"SELECT [1, 2].{function}('avg')",
        f"SELECT system.main.{function.upper()}([1, 2], 'quantile_cont', 0.5)",
        f"SELECT list_transform([[1]], lambda x: {function}(x, 'string_agg', '|'))",
    ):
        assert judge(connection, sql) == set()


@each("function", FAMILY)
@each(
    "call",
    [
        "{}([1], 'combine_aggr')", "{}([1], 'Combine_AGGR')", "[1].{}('combine_aggr')",
        "main.{}([1], $$combine_aggr$$)", "{}([1], e'combine\\x5faggr')",
        "{}([1], 'combine' || '_aggr')", "{}([1], chr(115) || 'um')", "{}([1], 'sum'::VARCHAR)",
        "{}([1], (SELECT 'sum'))", "{}([1], CASE WHEN true THEN 'sum' END)",
        "{}([1], function_name := 'combine_aggr')",
        "{}(function_name := 'combine_aggr', list := [1])",
        "{}(list := [1], function_name := 'sum')",
        "{}([1], '\"combine_aggr\"')",
        "{}([1], 'system.main.combine_aggr')", "{}([1], 'combine_aggr ')", "{}([1], 1)",
        "{}([1], NULL)", "{}([1])", "{}()",
        "list_transform([[1]], lambda x: {}(x, 'combine_aggr'))",
        "sum({}([1], 'combine_aggr')) OVER ()",
    ],
)  # fmt: skip
def test_a_denied_or_computed_function_name_is_refused(connection, function, call):
    with pytest.raises(QueryRefused, match=r"combine_aggr\(\) is not allowed|written out"):
        judge(connection, f"SELECT {call.format(function)}")


@settings(max_examples=25, deadline=None)
@given(name=st.sampled_from(sorted(vocabulary.DENIED_FUNCTIONS)), data=st.data())
def test_denied_functions_cannot_be_named_in_any_case(connection, name, data):
    shown = "".join(data.draw(st.sampled_from([sign, sign.upper()])) for sign in name)
    function = data.draw(st.sampled_from(FAMILY))
    with pytest.raises(QueryRefused, match=f"{name}"):
        judge(connection, f"SELECT {function}([1], {literal(shown)})")


def names_something(connection, function):
    """Whether DuckDB looks for something of the name that the function gets as a text."""
    others = ["[1, 2]", "1"]
    for count in (1, 2):
        for place, rest in itertools.product(
            range(count), itertools.product(others, repeat=count - 1)
        ):
            given = [*rest[:place], f"'{NOBODY}'", *rest[place:]]
            try:
                connection.execute(f'SELECT "{function}"({", ".join(given)})').fetchall()
            except duckdb.CatalogException as error:
                if NOBODY in str(error).partition("LINE 1")[0]:
                    return True
            except duckdb.Error:
                continue
    return False


def test_every_function_of_duckdb_that_takes_a_name_is_known(connection):
    found = connection.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN "
        "('scalar', 'aggregate', 'macro') AND regexp_full_match(function_name, '[a-z]\\w*') "
        "AND NOT regexp_matches(function_name, '^(icu_)?collate_') "
        "ORDER BY 1"
    ).fetchall()
    allowed = [name for (name,) in found if vocabulary.why_denied(name) is None]
    assert len(allowed) > 400
    naming = [name for name in allowed if names_something(connection, name)]
    assert naming == FAMILY
