"""A DuckDB connection that can open the given files and nothing else."""

import os
import signal
import threading

import duckdb
import pytest

from mdvec.datasets.interfaces.connection import export_scan, parquet_scan, safe_connection


@pytest.fixture
def folder(tmp_path):
    for name in ("mine", "other"):
        duckdb.execute(f"COPY (SELECT 1 AS n) TO '{tmp_path / name}.parquet'")
    return tmp_path


def test_it_reads_the_given_files_and_writes_only_to_its_folder(folder):
    (folder / "copies").mkdir()
    mine = folder / "mine.parquet"
    with safe_connection([mine], writes_to=folder / "copies") as connection:
        assert connection.execute(f"SELECT * FROM {parquet_scan(mine)}").fetchall() == [(1,)]
        connection.execute(f"COPY (SELECT 1) TO '{folder}/copies/new.parquet'")
        for refused in (
            f"SELECT * FROM '{folder}/other.parquet'",
            f"SELECT * FROM '{folder}/*.parquet'",
            f"COPY (SELECT 1) TO '{folder}/new.parquet'",
            f"ATTACH '{folder}/new.duckdb'",
            "SET enable_external_access = true",
            "INSTALL httpfs",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(refused)
    assert sorted(path.name for path in folder.iterdir()) == [
        "copies", "mine.parquet", "other.parquet",
    ]  # fmt: skip


def endless():
    with safe_connection([]) as connection:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        connection.execute("SELECT count(*) FROM range(10000000) a, range(10000000) b").fetchall()


@pytest.fixture
def stops():
    """Makes SIGUSR1 raise KeyboardInterrupt, so that Ctrl-C can be tested."""
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("time", range(3))
def test_a_stop_by_the_user_is_a_keyboard_interrupt_whichever_thread_works(stops, time):
    with pytest.raises(KeyboardInterrupt):
        endless()


def test_other_signals_and_the_wakeup_descriptor_are_unchanged(stops):
    signal.signal(signal.SIGUSR1, lambda *_: None)
    place = signal.set_wakeup_fd(-1)
    try:
        with safe_connection([]) as connection:
            other = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGUSR1))
            other.start()
            rows = connection.execute("SELECT count(*) FROM range(30000000)").fetchall()
            other.join()
        assert rows == [(30_000_000,)]
        assert signal.set_wakeup_fd(-1) == -1
    finally:
        signal.set_wakeup_fd(place)


def test_an_export_with_a_cell_of_megabytes_is_read(folder):
    file = folder / "long.csv"
    rows = "SELECT repeat('x', 3000000) AS text, 1 AS n UNION ALL SELECT NULL, 2"
    duckdb.execute(f"COPY ({rows}) TO '{file}' (FORMAT csv, HEADER true)")
    for columns in (("text", "n"), None):
        with safe_connection([file]) as connection:
            read = f"SELECT length(text), n FROM {export_scan(file, columns)} ORDER BY n"
            assert connection.execute(read).fetchall() == [(3_000_000, "1"), (None, "2")]
