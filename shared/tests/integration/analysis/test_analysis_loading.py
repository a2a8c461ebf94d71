"""Exports written by DuckDB, loaded into polars and pandas by their handle only."""

import sys
from datetime import date, datetime, timedelta

import pandas as pd
import polars as pl
import pytest
from stored_export import exported

from mdvec.analysis import ExportMissing, LibraryMissing, NotAHandle, TooManyRows, safe_load_export

LIBRARIES = pytest.mark.parametrize("library", ["polars", "pandas"])
FORMATS = pytest.mark.parametrize("fmt", ["parquet", "csv"])
SIX = datetime.fromisoformat("2025-06-01 06:00:00")
RUNS = """
    SELECT date '2025-06-01' + (i // 10)::INTEGER AS day,
        timestamp '2025-06-01 06:00:00' + to_seconds(i) AS at,
        i AS n, i / 4 AS pace, nullif('走 "' || i || '", 朝', '走 "3", 朝') AS memo
    FROM range(20) AS t(i)
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "exports"


@FORMATS
def test_polars_has_the_rows_in_their_types(folder, fmt):
    frame = safe_load_export(exported(folder, RUNS, fmt), folder=folder)
    assert isinstance(frame, pl.DataFrame)
    assert frame.shape == (20, 5)
    assert frame.row(3) == (date(2025, 6, 1), SIX + timedelta(seconds=3), 3, 0.75, None)
    assert frame.row(4)[4] == '走 "4", 朝'


@FORMATS
def test_pandas_has_the_rows_in_their_types(folder, fmt):
    frame = safe_load_export(exported(folder, RUNS, fmt), library="pandas", folder=folder)
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == (20, 5)
    row = frame.iloc[4]
    assert (row.day, row["at"]) == (pd.Timestamp("2025-06-01"), pd.Timestamp("2025-06-01 06:00:04"))
    assert (row.n, row.pace, row.memo) == (4, 1.0, '走 "4", 朝')
    assert pd.isna(frame.memo[3])


@FORMATS
def test_pandas_has_times_with_a_zone_without_a_warning(folder, fmt):
    handle = exported(folder, "SELECT TIMESTAMPTZ '2025-06-01 06:00:00+09' AS at, 1 AS n", fmt)
    frame = safe_load_export(handle, library="pandas", folder=folder)
    assert frame["at"][0] == pd.Timestamp("2025-06-01 06:00:00+09")


@LIBRARIES
@FORMATS
def test_an_export_over_max_rows_is_not_loaded(folder, library, fmt):
    handle = exported(folder, "SELECT i FROM range(10001) AS t(i)", fmt)
    with pytest.raises(TooManyRows) as refused:
        safe_load_export(handle, library=library, folder=folder)
    assert str(refused.value) == (
        f"{handle} has 10,001 rows, and max_rows is 10,000; aggregate or filter in the query of "
        "export (GROUP BY, WHERE, date_trunc), or pass a larger max_rows if the code needs "
        "every row"
    )
    assert isinstance(refused.value, ValueError)
    assert len(safe_load_export(handle, 10_001, library=library, folder=folder)) == 10_001


@LIBRARIES
@FORMATS
def test_an_empty_export_has_its_columns(folder, library, fmt):
    handle = exported(folder, RUNS.replace("range(20)", "range(0)"), fmt)
    frame = safe_load_export(handle, library=library, folder=folder)
    assert list(frame.columns) == ["day", "at", "n", "pace", "memo"]
    assert len(frame) == 0


@LIBRARIES
def test_a_csv_with_one_column_of_text_keeps_its_first_row(folder, library):
    handle = exported(folder, "SELECT * FROM (VALUES ('a'), ('b')) AS t(name)", "csv")
    frame = safe_load_export(handle, library=library, folder=folder)
    assert frame["name"].to_list() == ["a", "b"]


def test_a_csv_whose_last_row_is_unlike_the_first_is_read(folder):
    query = "SELECT CASE WHEN i < 9000 THEN i::VARCHAR ELSE 'end' END AS n FROM range(9001) t(i)"
    for library in ("polars", "pandas"):
        frame = safe_load_export(exported(folder, query, "csv"), library=library, folder=folder)
        assert str(frame["n"].to_list()[-1]) == "end"


@LIBRARIES
def test_a_csv_whose_types_are_not_known_is_text(folder, library):
    handle = exported(folder, "SELECT '00123' AS code, 7 AS n, DATE '2025-06-01' AS day", "csv")
    (folder / f"{handle}.types").unlink()
    frame = safe_load_export(handle, library=library, folder=folder)
    assert [frame[name].to_list() for name in ("code", "n", "day")] == [
        ["00123"], ["7"], ["2025-06-01"],
    ]  # fmt: skip


AS_TEXT = {
    "DATE 'infinity'": "infinity",
    "TIMESTAMP '0044-03-15 (BC) 12:00:00'": "0044-03-15 (BC) 12:00:00",
    "'6fe0a8ce-0000-4000-8000-000000000000'::UUID": "6fe0a8ce-0000-4000-8000-000000000000",
    """'{"a": 1.10}'::JSON""": '{"a": 1.10}',
}


@LIBRARIES
@FORMATS
def test_values_without_a_type_in_the_library_become_text(folder, library, fmt):
    values = ", ".join(f"{value} AS v{number}" for number, value in enumerate(AS_TEXT))
    frame = safe_load_export(
        exported(folder, f"SELECT {values}", fmt), library=library, folder=folder
    )
    assert [frame[f"v{number}"].to_list() for number in range(4)] == [[v] for v in AS_TEXT.values()]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.parquet", "runs.parquet", "~/x.parquet"])
def test_a_path_is_refused(folder, path):
    with pytest.raises(NotAHandle):
        safe_load_export(path, folder=folder)


def test_the_folder_of_exports_comes_from_the_settings(folder, monkeypatch):
    monkeypatch.setenv("MDVEC_ANALYTICS_FOLDER", str(folder))
    handle = exported(folder, "SELECT 1 AS a", "parquet")
    assert safe_load_export(handle).rows() == [(1,)]
    monkeypatch.setenv("MDVEC_ANALYTICS_FOLDER", str(folder / "elsewhere"))
    with pytest.raises(ExportMissing):
        safe_load_export(handle)


def test_without_polars_pandas_is_used(folder, monkeypatch):
    handle = exported(folder, "SELECT 1 AS a", "parquet")
    monkeypatch.setitem(sys.modules, "polars", None)
    assert isinstance(safe_load_export(handle, folder=folder), pd.DataFrame)
    with pytest.raises(LibraryMissing, match="polars is not installed; pip install polars"):
        safe_load_export(handle, library="polars", folder=folder)


def test_without_both_the_error_says_how_to_install_one(folder, monkeypatch):
    handle = exported(folder, "SELECT 1 AS a", "parquet")
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(LibraryMissing) as missing:
        safe_load_export(handle, folder=folder)
    assert str(missing.value) == ("neither polars nor pandas is installed; pip install pandas")
    assert isinstance(missing.value, ImportError)


def test_another_library_is_refused(folder):
    handle = exported(folder, "SELECT 1 AS a", "parquet")
    with pytest.raises(LibraryMissing, match="library is 'polars' or 'pandas', not 'dask'"):
        safe_load_export(handle, library="dask", folder=folder)
