"""The tables that there are: read again after each write to the database, their files each time."""

import os
import time

import duckdb
import pytest

from mdvec.database.connection import DatabaseError
from mdvec.files.scanning import ScanRules
from mdvec.importing.options import ChunkingOverrides
from mdvec.importing.report import ImportRequest
from mdvec.manage.registering import add_tool, set_active
from mdvec.manage.tool_import import import_tool
from mdvec.sql.data import DataReader, current_data

LONG_AGO = 1_700_000_000
A_MOMENT_NS = 50_000_000


def embeds_nothing(name):
    raise AssertionError(f"a dataset was to be embedded with {name}")


@pytest.fixture
def database(tmp_path):
    file, database = tmp_path / "words.parquet", tmp_path / "rag.db"
    duckdb.execute(f"COPY (SELECT 'mine' AS word) TO '{file}' (FORMAT parquet)")
    add_tool(database, "words", "words", file, "dataset")
    rules = ScanRules((), (), 10**7)
    import_tool(
        ImportRequest(database, "words", "update", rules, ChunkingOverrides()), embeds_nothing
    )
    return database


def break_unnoticed(database):
    """Overwrite the database, and leave its size and time as they were."""
    before = database.stat()
    database.write_bytes(b"x" * before.st_size)
    os.utime(database, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_database_that_nobody_wrote_is_not_read_again(database):
    os.utime(database, (LONG_AGO, LONG_AGO))
    reader = DataReader(database)
    first = reader.read()
    break_unnoticed(database)
    assert reader.read() == first


def test_after_a_write_that_may_not_be_the_last_of_its_moment_it_is_read_again(database):
    reader, took = DataReader(database), A_MOMENT_NS
    while took >= A_MOMENT_NS:
        now = time.time_ns()
        os.utime(database, ns=(now, now))
        assert reader.read() == current_data(database)
        took = time.time_ns() - now
    break_unnoticed(database)
    with pytest.raises(DatabaseError):
        reader.read()


def test_a_write_is_seen_at_once(database):
    os.utime(database, (LONG_AGO, LONG_AGO))
    reader = DataReader(database)
    assert [table.name for table in reader.read().parquet] == ["words"]
    set_active(database, "words", active=False)
    assert reader.read().parquet == ()


def test_a_changed_file_is_seen_without_a_write(database):
    os.utime(database, (LONG_AGO, LONG_AGO))
    reader = DataReader(database)
    (before,) = reader.read().parquet
    os.utime(before.path, (LONG_AGO, LONG_AGO))
    (after,) = reader.read().parquet
    assert after.mtime_ns == LONG_AGO * 10**9 != before.mtime_ns
    before.path.unlink()
    assert [table.size for table in reader.read().parquet] == [-1]
