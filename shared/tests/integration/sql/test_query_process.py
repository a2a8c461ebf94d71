"""The life of a query process: queried, stopped, killed, replaced, and gone with its server."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing
from dataclasses import replace

import duckdb
import psutil
import pytest
from query_subject import FOREVER, LIMITS, busy, is_gone, parquet, read

from mdvec.analysis.errors import ExportMissing
from mdvec.sql.core.refusals import (
    QueriesUnavailable,
    QueryFailed,
    QueryRefused,
    QueryStopped,
    TooManyRowsToExport,
    UnknownTable,
)
from mdvec.sql.process import child_process
from mdvec.sql.process.messages import Data, ParquetTable
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sql.process.spool import Spool
from mdvec.sql.process.turns import in_session


def test_a_query_during_which_an_import_replaces_the_file_has_the_new_rows(tmp_path):
    old = Data((parquet(tmp_path / "1.parquet", "SELECT 1 AS i"),), tmp_path / "none.sqlite", ())
    seen = [old]
    process = QueryProcess(tmp_path / "spool", LIMITS, lambda: seen.pop(0) if seen[1:] else seen[0])
    assert process.rows("runs", max_rows=1).rows == [[1]]
    new = replace(old, parquet=(parquet(tmp_path / "2.parquet", "SELECT 2 AS i"),))
    seen[:] = [old, new]  # the import ends just after the query looked
    (tmp_path / "1.parquet").unlink()
    with closing(process):
        assert process.rows("runs", max_rows=1).rows == [[2]]
        with pytest.raises(QueryFailed, match="columns of runs: i"):
            process.rows("SELECT j FROM runs", max_rows=1)


@pytest.mark.parametrize("fmt", ["parquet", "csv"])
def test_an_export_has_every_row_in_order_and_is_private_and_an_empty_one_its_columns(shared, fmt):
    query = "SELECT * FROM runs WHERE i >= {} ORDER BY i DESC"
    exported, empty = (
        shared.process.export(query.format(least), fmt=fmt, max_rows=5000) for least in (0, 9999)
    )
    try:
        assert (exported.rows, empty.rows, exported.path.suffix) == (5000, 0, f".{fmt}")
        assert [column.name for column in exported.columns] == ["i", "name", "pace"]
        assert [row[0] for row in read(exported.path)] == list(range(4999, -1, -1))
        found = duckdb.execute(f"DESCRIBE FROM '{empty.path}'").fetchall()
        assert [row[0] for row in found] == ["i", "name", "pace"]
        assert exported.path.stat().st_mode & 0o777 == 0o600
        assert exported.path.parent.stat().st_mode & 0o777 == 0o700
    finally:
        for made in (exported, empty):
            made.path.unlink()


@pytest.mark.parametrize(
    "source",
    # DuckDB's estimate is over, and under, the limit.
    ["runs", "SELECT unnest(range(5000)) AS i FROM range(1)"],
)
def test_too_many_rows_are_counted_and_leave_no_file(shared, source):
    assert shared.value("SELECT 42") == 42
    before = sorted(shared.spool.rglob("*"))
    with pytest.raises(TooManyRowsToExport, match=r"5,000 rows, more than max_rows=4,999") as error:
        shared.process.export(source, fmt="parquet", max_rows=4999)
    assert error.value.count == 5000
    assert sorted(shared.spool.rglob("*")) == before
    exported = shared.process.export(source, fmt="parquet", max_rows=5000)
    exported.path.unlink()


def test_columns_of_one_name_can_be_exported(shared):
    exported = shared.process.export("SELECT i, i FROM runs", fmt="parquet", max_rows=5000)
    assert len(read(exported.path)[0]) == 2
    exported.path.unlink()


def test_queries_from_many_threads_get_their_own_results(shared):
    answers = {}

    def ask(number):
        answers[number] = shared.value(f"SELECT {number} + count(*) FROM runs")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: number + 5000 for number in range(12)}


def test_a_materialized_table_is_a_table_like_any_other(shared):
    process = shared.process
    assert process.materialize("fast", "SELECT * FROM runs WHERE i < 10").rows == 10
    assert shared.value("SELECT sum(i) FROM FAST") == 45
    assert shared.value("fast", "SELECT count(*) FROM {source}") == 10
    assert process.export("fast", fmt="csv", max_rows=10).rows == 10
    assert list(process.tables()) == ["runs", "fast"]
    assert shared.materialized() == {"fast": 10}
    with pytest.raises(UnknownTable, match=r"'fats'; the tables are: .*; materialized: fast$"):
        process.rows("SELECT * FROM fats", max_rows=1)
    assert process.materialize("Fast", "SELECT max(i) AS a FROM fast").rows == 1
    assert process.take_warnings() == ["Fast was a materialized table already, and is now this one"]
    assert shared.materialized() == {"Fast": 1}
    assert shared.value("fast") == 9


def test_a_stopped_query_leaves_its_process_alive_and_one_without_response_ends_it_alone(
    start_process,
):
    subject = start_process(limits=replace(LIMITS, seconds=0.5))
    subject.process.materialize("kept", "SELECT 7 AS a")
    pid = subject.pid
    with pytest.raises(QueryStopped, match=r"after 0\.5 s"):
        subject.process.rows(FOREVER, max_rows=1)
    assert subject.pid == pid
    assert subject.value("kept") == 7
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(QueryStopped, match=r"after 0\.5 s"):
        subject.value("kept")
    assert is_gone(pid)
    assert subject.value("kept") == 7
    assert subject.pid != pid
    assert subject.process.take_warnings() == []


def test_a_process_that_is_killed_is_replaced_and_a_query_under_way_is_reported(shared):
    assert shared.value("SELECT 42") == 42
    os.kill(shared.pid, signal.SIGKILL)
    psutil.Process(shared.pid).wait(60)
    assert shared.value("SELECT 43") == 43

    def kill():
        busy(shared.pid)
        os.kill(shared.pid, signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    with pytest.raises(QueryStopped, match="broke the process"):
        shared.process.rows(FOREVER, max_rows=1)
    killing.join()
    assert shared.value("SELECT 42") == 42


def test_each_session_has_its_own_names_and_every_session_may_use_a_handle(shared):
    process = shared.process
    handles = {}
    for session, value in (("a", 1), ("b", 2)):
        with in_session(session):
            handles[session] = process.materialize("work", f"SELECT {value} AS n").handle
    assert process.take_warnings() == []
    for session, value in (("a", 1), ("b", 2)):
        with in_session(session):
            assert process.rows("work", max_rows=1).rows == [[value]]
    with in_session("c"):
        with pytest.raises(UnknownTable):
            process.rows("work", max_rows=1)
        plain = handles["a"].removesuffix(".parquet")
        for written in (plain, handles["a"], f'"{handles["a"]}"', f"'{handles['a']}'"):
            assert process.rows(f"SELECT n FROM {written}", max_rows=1).rows == [[1]]
        assert process.rows(plain, max_rows=1).rows == [[1]]
        with pytest.raises(ExportMissing, match="expired"):
            process.rows(f"FROM {plain[:-4]}0000", max_rows=1)


def test_at_most_ten_names_the_oldest_goes_and_its_export_stays(shared):
    process = shared.process
    first = process.materialize("t0", "SELECT 0 AS n").handle
    for number in range(1, 11):
        process.materialize(f"t{number}", f"SELECT {number} AS n")
    assert process.take_warnings() == ["the oldest tables were dropped to make room: t0"]
    assert [table.name for table in process.materialized()] == [f"t{n}" for n in range(1, 11)]
    assert process.rows(first.removesuffix(".parquet"), max_rows=1).rows == [[0]]


def test_a_name_that_expired_is_explained_and_takes_no_room(shared):
    process = shared.process
    with in_session("expiry"):
        short = [process.materialize(name, "SELECT 1 AS n", ttl_seconds=0.5) for name in "ab"]
        while any(table.expires > time.time() for table in short):
            time.sleep(0.01)
        for number in range(9):
            process.materialize(f"t{number}", "SELECT 1 AS n")
        assert "b" not in [table.name for table in process.materialized()]
        with pytest.raises(UnknownTable, match=r"t8; expired, so materialize again: b$"):
            process.rows("SELECT n AS a FROM B", max_rows=1)
        process.materialize("b", "SELECT 2 AS n")
        assert process.rows("b", max_rows=1).rows == [[2]]
        assert process.take_warnings() == []
    with in_session("another"), pytest.raises(UnknownTable, match=r"^((?!expired).)*$"):
        process.rows("b", max_rows=1)


def test_a_table_keeps_its_types_and_its_lifetime(shared):
    process = shared.process
    columns = (
        "SELECT 2::HUGEINT ** 100 AS large, INTERVAL 90 MINUTE AS span, [1::HUGEINT] AS many, "
        "TIME WITH TIME ZONE '10:00:00+09' AS at, 'b'::ENUM('b', 'a') AS grade"
    )
    before = process.columns(columns)
    process.materialize("kept", columns)
    assert process.columns("kept") == before
    assert process.rows("SELECT kept FROM kept", max_rows=1).rows == (
        process.rows(f"SELECT kept FROM ({columns}) AS kept", max_rows=1).rows
    )
    table = process.materialize("short", "SELECT 1 AS n", ttl_seconds=1.5)
    assert process.rows("short", max_rows=1).rows == [[1]]
    while table.expires > time.time():
        time.sleep(0.01)
    with pytest.raises(UnknownTable):
        process.rows("short", max_rows=1)


def test_a_table_from_before_its_data_changed_says_so(start_process, tmp_path):
    old = parquet(tmp_path / "runs.parquet", "SELECT 1 AS i")
    subject = start_process(old)
    kept = subject.process.materialize("kept", "SELECT i + 1 AS j FROM runs")
    handle = kept.handle.removesuffix(".parquet")
    file = subject.process.export(f"SELECT * FROM {handle}", fmt="parquet", max_rows=9)
    export = subject.process._exports.place(file.path, made_from=file.made_from)
    subject.process.materialize("further", "SELECT j + 1 AS k FROM kept")
    subject.process.materialize("other", "SELECT 5 AS x")
    pid = subject.pid
    assert subject.value("runs") == 1
    assert subject.pid == pid
    new = parquet(tmp_path / "new.parquet", "SELECT 2 AS i, 'b' AS s")
    subject.data = replace(subject.data, parquet=(new,))
    assert (subject.value("runs"), subject.value("other")) == (2, 5)
    assert subject.process.take_warnings() == []
    assert (subject.value("kept"), subject.value("further")) == (2, 3)
    kept, further = subject.process.take_warnings()
    assert kept.startswith("kept is from before its data changed; materialize it again")
    assert further.startswith("further is from before")
    subject.value(handle)
    subject.value(f"SELECT j FROM {export.handle}")
    of_kept, of_export = subject.process.take_warnings()
    assert of_kept.startswith(f"{handle.lower()} is from before its data changed; export it again")
    assert of_export.startswith(export.handle.lower().removesuffix(".parquet"))
    subject.data = replace(subject.data, parquet=())
    assert list(subject.process.tables()) == ["kept", "further", "other"]


def test_a_missing_broken_or_deleted_file_is_reported_and_the_rest_works(start_process, tmp_path):
    good = parquet(tmp_path / "runs.parquet", "SELECT 1 AS i")
    gone = ParquetTable("gone", tmp_path / "gone.parquet", 1, 1)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more PAR1")
    broken = ParquetTable("broken", tmp_path / "broken.parquet", 1, 1)
    subject = start_process(good, gone, broken)
    assert list(subject.process.tables()) == ["runs"]
    warnings = subject.process.take_warnings()
    assert "not there: gone (its file is gone)" in warnings[0]
    assert "not there: broken (its file is not a readable Parquet file)" in warnings[1]
    assert str(tmp_path) not in str(warnings)
    assert warnings[0].endswith(": mdvec import -n NAME --mode update --checksum")
    assert subject.value("runs") == 1
    assert subject.process.take_warnings() == []
    for name in ("gone", "broken"):
        with pytest.raises(UnknownTable):
            subject.value(name)
        assert subject.process.take_warnings() == warnings
    (tmp_path / "runs.parquet").unlink()
    with pytest.raises(QueryFailed, match="the file of runs") as error:
        subject.value("runs")
    assert str(tmp_path) not in str(error.value)


def test_exactly_the_given_path_is_opened(start_process, tmp_path):
    places = (
        "it's [1] *.parquet",
        "year=2024/month=06/runs.parquet",
        "走る?/記録 {a,b}.parquet",
        "a\\b.parquet",
    )
    parquet(tmp_path / "it's 1 x.parquet", "SELECT 8 AS i, 1 AS other")
    tables = [
        replace(parquet(tmp_path / place, f"SELECT {number} AS i"), name=f"t{number}")
        for number, place in enumerate(places)
    ]
    subject = start_process(*tables)
    assert subject.process.take_warnings() == []
    columns = {name: [one.name for one in of] for name, of in subject.process.tables().items()}
    assert columns == {f"t{number}": ["i"] for number in range(4)}
    assert [subject.value(f"t{number}") for number in range(4)] == [0, 1, 2, 3]


def test_a_child_over_its_memory_limit_is_killed(shared, monkeypatch):
    assert shared.value("SELECT 42") == 42
    pid, child = shared.pid, shared.process._main
    monkeypatch.setattr(child, "_limits", replace(LIMITS, memory_mb=1))
    # Else the next child would start with this limit, and have it in the tests that follow.
    monkeypatch.setattr(child, "_died", lambda: None)
    with pytest.raises(QueryStopped, match="more memory than the limit of 1 MB"):
        shared.value(FOREVER)
    assert is_gone(pid)


@pytest.mark.parametrize("program", ["exit", "exec sleep 60", "echo no message"])
def test_a_child_that_cannot_start_gives_the_reason(start_process, tmp_path, monkeypatch, program):
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(child_process, "START_SECONDS", 0.2)
    with pytest.raises(QueriesUnavailable, match="did not start"):
        start_process().process.rows("SELECT 1", max_rows=1)


def test_closing_ends_a_query_under_way_and_removes_the_folder(start_process):
    subject = start_process()
    assert subject.value("SELECT 1") == 1
    pid, errors = subject.pid, []

    def ask():
        try:
            subject.process.rows(FOREVER, max_rows=1)
        except QueryStopped as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    busy(pid)
    subject.process.close()
    thread.join(60)
    assert len(errors) == 1
    assert is_gone(pid)
    assert list(subject.spool.iterdir()) == []
    with pytest.raises(QueriesUnavailable):
        subject.process.rows("SELECT 1", max_rows=1)


SERVER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from mdvec.sql.process.messages import Data, QueryLimits
    from mdvec.sql.process.query_process import QueryProcess

    folder = Path(sys.argv[1])
    process = QueryProcess(folder, QueryLimits(600.0, 1024, 1), lambda: Data((), folder / "x", ()))
    process.rows("SELECT 1", max_rows=1)
    print(process._main.pid, flush=True)
    process.rows(sys.argv[2], max_rows=1)
    """
)


def test_a_child_does_not_outlive_its_server_even_in_the_middle_of_a_query(tmp_path):
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(tmp_path), FOREVER], stdout=subprocess.PIPE, text=True
    )
    with server:
        pid = int(server.stdout.readline())
        busy(pid)
        server.kill()
        server.wait()
    assert is_gone(pid)
    # What it left is removed by the next.
    (left,) = tmp_path.glob("spool_*")
    (left / "work" / "half.parquet").write_bytes(b"half")
    spool = Spool(tmp_path)
    assert not left.exists()
    other = Spool(tmp_path)
    assert spool.work.is_dir()
    for one in (spool, other):
        one.close()
    assert list(tmp_path.iterdir()) == []


def test_a_deleted_spool_folder_is_created_again(start_process, tmp_path):
    subject = start_process(parquet(tmp_path / "runs.parquet", "SELECT 1 AS a"))
    assert subject.value("runs") == 1
    shutil.rmtree(subject.spool)
    with pytest.raises(UnknownTable):
        subject.value("nothing")
    exported = subject.process.export("runs", fmt="parquet", max_rows=10)
    assert exported.path.is_file()


def test_a_folder_that_cannot_be_created_fails_the_first_query(start_process, tmp_path):
    (tmp_path / "spool").write_text("no folder")
    subject = start_process(parquet(tmp_path / "runs.parquet", "SELECT 1 AS a"))
    with pytest.raises(QueriesUnavailable):
        subject.value("runs")


def test_an_error_proposes_a_form_that_runs_or_the_nearest_names(shared):
    with pytest.raises(QueryRefused) as refused:
        shared.value("SELECT max(i）FROM runs WHERE name＝'r7'")
    form = str(refused.value).partition("; write: ")[2]
    assert form == "SELECT max(i)FROM runs WHERE name='r7'"
    assert shared.value(form) == 7
    with pytest.raises(UnknownTable, match="there is no table 'run'; nearest: runs; the tables"):
        shared.value("SELECT count(*) FROM run")
