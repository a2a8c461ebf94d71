"""A connection to DuckDB that reaches the files it is given, and nothing else."""

import os
import signal
import threading

import duckdb
import pytest

from mdvec.interfaces.duckdb.connection import parquet_scan, safe_connection


@pytest.fixture
def folder(tmp_path):
    for name in ("mine", "other"):
        duckdb.execute(f"COPY (SELECT 1 AS n) TO '{tmp_path / name}.parquet'")
    return tmp_path


def test_it_reads_what_it_is_given_and_writes_where_it_may(folder):
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


def test_a_stop_by_the_user_is_a_keyboard_interrupt():
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            endless()
    finally:
        signal.signal(signal.SIGUSR1, before)
