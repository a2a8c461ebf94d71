"""Answers for people: more rows than a model gets, whole files, exact figures."""

import pytest
from query_subject import Subject, parquet

from mdvec.settings import AnalyticsSettings
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared
from mdvec.sql.service import for_people

ROWS = 3_000


@pytest.fixture(scope="module")
def analytics(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    columns = ", ".join(f"i + {n} AS column_{n}" for n in range(60))
    query = f"SELECT {columns} FROM range({ROWS}) AS t(i)"
    table = parquet(folder / "wide.parquet", query, "wide")
    subject = Subject(folder, table, limits=QueryLimits(5.0, 1024, 10**8))
    yield subject.analytics(for_people(AnalyticsSettings()))
    subject.process.close()


def test_as_many_rows_as_asked_for_with_their_exact_number(analytics):
    query = Prepared("SELECT column_0 FROM wide")
    assert analytics.questions.first_rows(query, 500) == {
        "columns": ["column_0"],
        "types": ["BIGINT"],
        "rows": [[i] for i in range(500)],
        "total_rows": ROWS,
    }


def test_every_column_of_a_wide_table_is_profiled(analytics):
    profile = analytics.summaries.profile("wide", None, None, None, exact=False)
    assert len(profile["columns"]) == 60
    assert profile["columns"]["column_59"]["max"] == ROWS + 58
    bins = analytics.summaries.histogram("wide", "column_1", 3, None, None)
    assert [bin_["count"] for bin_ in bins["bins"]] == [1000, 1000, 1000]


def test_a_file_has_all_rows(analytics):
    file = analytics.questions.file(Prepared("wide"), "csv", None)
    assert file.rows == ROWS
    assert len(file.path.read_text("utf-8").splitlines()) == ROWS + 1
    file.path.unlink()
