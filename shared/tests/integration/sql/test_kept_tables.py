"""Materialized tables outlive their server, and servers side by side leave each other's alone."""

import json
import os
import time
from dataclasses import replace

import duckdb
import pytest

from mdvec.sql.process.kept_tables import KeptTables
from mdvec.sql.process.messages import Data, ParquetTable, QueryLimits
from mdvec.sql.process.query_process import QueryProcess

LIMITS = QueryLimits(seconds=5.0, memory_mb=1024, export_bytes=2**24)
MAX_TABLES = 3


class Server:
    """What a server has for its queries."""

    def __init__(self, folder, data):
        self.data = data
        kept = KeptTables(folder / "exports", folder / "v.sqlite", MAX_TABLES)
        self.process = QueryProcess(folder / "exports", LIMITS, lambda: self.data, kept)
        self.make = self.process.materialize

    def value(self, source):
        return self.process.rows(source, max_rows=1).rows[0][0]

    def names(self):
        self.process.tables()
        return [table.name for table in self.process.materialized()]


@pytest.fixture
def start(tmp_path):
    """Starts servers over one table, ``runs``; ends those still running."""
    path, started = tmp_path / "runs.parquet", []
    duckdb.execute(f"COPY (SELECT 1 AS i) TO '{path}'")
    status = path.stat()
    table = ParquetTable("runs", path, status.st_size, status.st_mtime_ns)

    def make(data=None, folder=tmp_path):
        given = Data((table,), tmp_path / "none.sqlite", ()) if data is None else data
        started.append(Server(folder, given))
        return started[-1]

    yield make
    for server in started:
        server.process.close()


def files(tmp_path):
    found = (tmp_path / "exports").glob("table_*")
    return sorted(json.loads(path.read_bytes())["name"] for path in found)


def test_tables_survive_a_restart_until_they_expire(start, tmp_path):
    first = start()
    first.make("kept", "SELECT i + 1 AS j FROM runs", ttl_seconds=60)
    first.make("also", "SELECT j + 1 AS k FROM kept", ttl_seconds=50)
    first.make("brief", "SELECT 1 AS a", ttl_seconds=1)
    (told,) = (table for table in first.process.materialized() if table.name == "kept")
    first.process.close()
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "exports").glob("table_*")}
    assert modes == {0o600}
    for path in (tmp_path / "exports").glob("table_*"):
        if b'"brief"' in path.read_bytes():
            os.utime(path, (1, 1))

    second = start()
    assert second.names() == ["kept", "also"]
    assert second.process.materialized()[0] == told
    assert (second.value("kept"), second.value("also")) == (2, 3)
    assert second.process.take_warnings() == []
    assert files(tmp_path) == ["also", "kept"]
    second.process.drop("also")
    second.process.close()

    third = start(replace(first.data, parquet=(replace(first.data.parquet[0], mtime_ns=7),)))
    assert third.names() == ["kept"]
    assert third.process.take_warnings() == ["the data have changed; made again from them: kept"]
    third.process.close()
    assert start(replace(first.data, parquet=())).names() == []
    assert files(tmp_path) == []  # without its source it is lost for good


def test_servers_at_once_delete_no_table_of_each_other(start, tmp_path):
    one = start()
    one.make("mine", "SELECT 1 AS a", ttl_seconds=60)
    other = start()
    assert other.names() == ["mine"]
    other.make("mine", "SELECT 2 AS a", replace=True, ttl_seconds=60)
    other.process.drop("mine")
    assert files(tmp_path) == ["mine"]
    for name in ("b", "c", "d"):
        other.make(name, "SELECT 3 AS a", ttl_seconds=60)
    assert one.value("mine") == 1
    one.process.close()
    other.process.close()
    assert start().names() == ["b", "c", "d"]  # no more than the setting says


def test_of_two_tables_with_one_name_the_newer_is_there_after_a_restart(start, tmp_path):
    one = start()
    one.make("mine", "SELECT 1 AS a", ttl_seconds=60)
    other = start()
    other.make("Mine", "SELECT 2 AS a", replace=True, ttl_seconds=60)
    assert files(tmp_path) == ["Mine", "mine"]
    for server in (one, other):
        server.process.close()
    assert start().value("mine") == 2
    assert files(tmp_path) == ["Mine"]


def test_what_is_not_whole_or_of_another_database_is_never_offered(start, tmp_path):
    one = start()
    one.make("mine", "SELECT 1 AS a", ttl_seconds=60)
    one.process.close()
    (whole,) = (tmp_path / "exports").glob("table_*")
    text, later = whole.read_bytes(), time.time() + 60
    for name, content in (
        (f"table_{'a' * 32}.json.new", text),
        (f"table_{'b' * 32}.json", text[:-20]),
        (f"table_{'c' * 32}.json", text),  # the id within is another one
        (f"table_{'d' * 32}.json", b"[]"),
    ):
        (tmp_path / "exports" / name).write_bytes(content)
        os.utime(tmp_path / "exports" / name, (later, later))
    (tmp_path / "exports" / f"table_{'e' * 32}.json").symlink_to(whole)
    kept = KeptTables(tmp_path / "exports", tmp_path / "v.sqlite", MAX_TABLES)
    assert [table.name for table in kept.load()] == ["mine"]
    kept.close()
    assert KeptTables(tmp_path / "exports", tmp_path / "w.sqlite", MAX_TABLES).load() == []
    assert whole.exists()


WRONG = {
    "made": "now", "name": 7, "source": None, "sql": ["SELECT 1"], "rows": "many",
    "columns": [["a"]], "expires": 1e400, "needs": 5, "stamp": None, "id": 3,
}  # fmt: skip


def test_a_file_that_somebody_changed_is_no_table_and_stops_no_server(start, tmp_path):
    one = start()
    one.make("mine", "SELECT 1 AS a", ttl_seconds=60)
    one.make("other", "SELECT 2 AS a", ttl_seconds=60)
    one.process.close()
    (path,) = (
        path
        for path in (tmp_path / "exports").glob("table_*")
        if json.loads(path.read_bytes())["name"] == "mine"
    )
    whole, status = json.loads(path.read_bytes()), path.stat()
    ours = {"format": 1, "database": str(tmp_path / "v.sqlite")}
    for key, found in {key: whole | {key: wrong} for key, wrong in WRONG.items()}.items():
        path.write_text(json.dumps(ours | found))
        os.utime(path, (status.st_atime, status.st_mtime))
        kept = KeptTables(tmp_path / "exports", tmp_path / "v.sqlite", MAX_TABLES)
        assert [table.name for table in kept.load()] == ["other"], key
        kept.close()
    path.write_text(json.dumps(ours))
    os.utime(path, (status.st_atime, status.st_mtime))
    assert start().names() == ["other"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"source": "SELECT * FROM read_text('{file}')"}, "read_text"),
        ({"source": "COPY (SELECT 1) TO '{file}'"}, "not a SELECT"),
        ({"sql": "SELECT * FROM '{file}' AS s, {source}"}, "no table"),
        ({"sql": "SELECT getenv('HOME') FROM {source}"}, "getenv"),
        ({"sql": "DROP VIEW runs"}, "not a SELECT"),
        ({"name": "runs"}, "the user's data"),
        ({"name": 'x" AS SELECT 1; DROP VIEW runs; --'}, "can be called"),
    ],
)
def test_sql_that_somebody_wrote_into_a_file_is_judged_again(start, tmp_path, changed, said):
    secret = tmp_path / "secret.txt"
    secret.write_text("canary")
    one = start()
    one.make("mine", "SELECT 1 AS a", ttl_seconds=60)
    one.process.close()
    (path,) = (tmp_path / "exports").glob("table_*")
    found, expires = json.loads(path.read_bytes()), path.stat().st_mtime
    put = {key: text.replace("{file}", str(secret)) for key, text in changed.items()}
    path.write_text(json.dumps(found | put))
    os.utime(path, (expires, expires))
    other = start()
    assert other.names() == []
    (told,) = other.process.take_warnings()
    assert said in told
    assert "canary" not in told
    assert other.value("runs") == 1
    assert secret.read_text() == "canary"


def test_a_table_that_cannot_be_kept_says_so_and_works(start, tmp_path):
    one = start(folder=tmp_path / "one")
    one.make("first", "SELECT 1 AS a", ttl_seconds=60)
    one.process._registry.kept.folder = tmp_path / "runs.parquet"  # a full disk says no as well
    one.make("second", "SELECT 2 AS a", ttl_seconds=60)
    (told,) = one.process.take_warnings()
    assert told.startswith("second ends with this server: nothing can be written")
    assert one.value("SELECT a FROM second") == 2
