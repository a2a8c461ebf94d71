"""An answer names the sources that it comes from, and no other."""

from pathlib import Path

from table_of_cases import each

from mdvec.sql.service import RequestedData
from mdvec.sync.freshness import Freshness

RUNS = Freshness("my-runs", Path("runs"), kind="dataset")
HOUSEHOLD = Freshness("kakeibo", Path("明細"), kind="household")


@each(
    ("sql", "of_runs", "of_household"),
    [
        ("FROM my_runs__走", True, False),
        ('SELECT * FROM "MY_RUNS"', True, False),
        ("my_runs", True, False),
        ("FROM my_runs_2__a", False, False),
        ("FROM not_my_runs__a", False, False),
        ("FROM Transactions t JOIN my_runs__a USING (day)", True, True),
        ("SELECT 1", False, False),
    ],
)
def test_a_query_asks_for_the_sources_whose_tables_it_names(sql, of_runs, of_household):
    asked = RequestedData(sql)
    assert (asked.concerns(RUNS, ()), asked.concerns(HOUSEHOLD, ())) == (of_runs, of_household)


def test_a_materialized_table_may_come_from_any_source():
    assert RequestedData("FROM kept").concerns(RUNS, ["other", "kept"])
    assert not RequestedData("FROM kept").concerns(RUNS, ["other"])


def test_a_call_without_sql_asks_for_its_tool_or_for_everything():
    assert RequestedData().concerns(HOUSEHOLD, ())
    assert RequestedData(None, "my-runs").concerns(RUNS, ())
    assert not RequestedData(None, "my-runs").concerns(HOUSEHOLD, ())
    assert RequestedData("SELECT 1", "my-runs").concerns(RUNS, ())
