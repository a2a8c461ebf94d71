"""Answers for a terminal: more rows than a model gets, whole files, exact figures."""

import duckdb
import pytest
from mdvec.analysis.exports import ExportFolder
from mdvec.settings import AnalyticsSettings, ChartSettings
from mdvec.text.one_line import literal

from mdvec_mcp.analytics.process.messages import Data, ParquetTable, QueryLimits
from mdvec_mcp.analytics.process.query_process import QueryProcess
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.terminal import TerminalAnswers, for_terminal

ROWS = 3_000
NO_RANGE = {"date_range": None, "date_column": None}


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    path = folder / "wide.parquet"
    columns = ", ".join(f"i + {n} AS column_{n}" for n in range(60))
    query = f"SELECT {columns} FROM range({ROWS}) AS t(i)"
    duckdb.execute(f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet)")
    status = path.stat()
    table = ParquetTable("wide", path, status.st_size, status.st_mtime_ns)
    data = Data((table,), folder / "none.sqlite", ())
    queries = QueryProcess(folder / "spool", QueryLimits(5.0, 1024, 10**8), lambda: data)
    settings = for_terminal(AnalyticsSettings())
    exports = ExportFolder(folder / "exports", 3_600, 10**9)
    yield TerminalAnswers(Analytics(queries, exports, settings), ChartSettings()).answer
    queries.close()


def test_as_many_rows_as_asked_for_with_their_exact_number(answer):
    found, file = answer({"do": "rows", "query": "SELECT column_0 FROM wide", "max_rows": 500})
    assert file is None
    assert found == {
        "columns": ["column_0"],
        "types": ["BIGINT"],
        "rows": [[i] for i in range(500)],
        "total_rows": ROWS,
    }


def test_every_column_of_a_wide_table_is_profiled(answer):
    found, _ = answer(
        {"do": "profile", "query": "wide", "columns": None, "exact": False, **NO_RANGE}
    )
    assert len(found["columns"]) == 60
    assert found["columns"]["column_59"]["max"] == ROWS + 58
    bins, _ = answer(
        {"do": "histogram", "query": "wide", "column": "column_1", "bins": 3, **NO_RANGE}
    )
    assert [one["count"] for one in bins["bins"]] == [1000, 1000, 1000]


def test_a_file_has_all_rows(answer):
    found, file = answer({"do": "file", "query": "wide", "format": "csv", "max_rows": None})
    assert found["rows"] == ROWS
    assert len(file.read_text("utf-8").splitlines()) == ROWS + 1
    file.unlink()
