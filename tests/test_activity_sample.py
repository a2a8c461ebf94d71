"""The invented runs: equal for equal seeds, with 22 columns and the features the notebooks need."""

import importlib.util
from pathlib import Path

import duckdb
import pytest

TOOL = Path(__file__).parents[1] / "docs" / "examples" / "analysis" / "activity_sample.py"


@pytest.fixture(scope="module")
def sample():
    spec = importlib.util.spec_from_file_location("activity_sample", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_same_seed_writes_the_same_rows_and_another_others(sample, tmp_path, ending):
    files = [tmp_path / f"{name}.{ending}" for name in ("one", "two", "three")]
    for file, seed in zip(files, (1, 1, 2), strict=True):
        sample.write_runs(file, rows=3_000, activities=2, seed=seed)
    one, two, three = (duckdb.sql(f"SELECT * FROM '{file}'").fetchall() for file in files)
    assert len(one) == 3_000
    assert one == two
    assert one != three


def test_the_columns_are_those_of_a_running_watch(sample, tmp_path):
    sample.write_runs(tmp_path / "runs.parquet", rows=5_400, activities=2)
    rows = duckdb.sql(f"SELECT * FROM '{tmp_path}/runs.parquet'")
    assert rows.columns == list(sample.COLUMNS)
    assert len(rows.columns) == 22
    assert dict(zip(rows.columns, map(str, rows.types), strict=True))["timestamp"] == "TIMESTAMP"
    first = rows.filter("activity_id = 1001")
    assert first.aggregate(
        "count(*), max(elapsed_seconds), min(timestamp)::VARCHAR"
    ).fetchall() == [(2_700, 2_699, "2025-06-01 06:00:00")]
    ((distance, missing),) = first.aggregate("max(distance), count(*) - count(power)").fetchall()
    assert 9_000 < distance < 11_000
    assert 0 < missing < 50


def test_every_second_run_has_a_jump_of_ground_contact(sample, tmp_path):
    sample.write_runs(tmp_path / "runs.csv", rows=4 * 2_700, activities=4)
    jumps = duckdb.sql(f"""
        SELECT activity_id FROM '{tmp_path}/runs.csv'
        GROUP BY activity_id HAVING max(ground_contact_time) - median(ground_contact_time) > 30
        ORDER BY activity_id""")
    assert jumps.fetchall() == [(1001,), (1003,)]


def test_an_unknown_ending_is_refused(sample, tmp_path):
    with pytest.raises(ValueError, match="the ending is"):
        sample.write_runs(tmp_path / "runs.json")
