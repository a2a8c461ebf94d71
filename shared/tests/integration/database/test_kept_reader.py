"""Connections kept between searches: what is read is always what the file has now."""

import os
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from mdvec.database.connection import (
    DatabaseMissing,
    DatabaseUnusable,
    KeptReader,
    open_database,
    snapshot,
)
from mdvec.database.migrations import LATEST
from mdvec.manage import registering


def names(reader):
    """The names of the tools, and the connection that read them."""
    with reader.connection() as connection:
        return [name for (name,) in connection.execute("SELECT name FROM tools")], connection


@pytest.fixture
def path(tmp_path):
    database = tmp_path / "notes.sqlite"
    registering.add_tool(database, "menu", "毎日の献立", tmp_path, "markdown")
    os.utime(database, (1, 1))  # older than anything that is written below
    return database


def beside(path):
    return {file.name for file in path.parent.iterdir()} - {path.name}


def test_a_connection_is_lent_again_until_something_is_written(path, tmp_path):
    reader = KeptReader(path)
    before, first = names(reader)
    again, second = names(reader)
    assert (before, again) == (["menu"], ["menu"])
    assert second is first
    registering.add_tool(path, "shopping", "買い物の控え", tmp_path, "markdown")
    after, third = names(reader)
    assert after == ["menu", "shopping"]
    assert third is not first
    reader.close()
    assert beside(path) == set()


def test_what_is_deleted_stays_in_no_log_though_a_connection_is_kept(path):
    reader = KeptReader(path)
    names(reader)
    with open_database(path, "write") as connection:
        connection.execute("DELETE FROM tools")
    assert Path(f"{path}-wal").stat().st_size == 0
    with reader.connection() as searching, snapshot(searching):
        searching.execute("SELECT * FROM tools").fetchall()
        writer = apsw.Connection(str(path))  # as another program that leaves a log behind
        writer.execute(f"PRAGMA user_version = {LATEST}")
        writer.execute("CREATE TABLE later (x)")
    assert Path(f"{path}-wal").stat().st_size > 0
    writer.close()
    names(reader)
    reader.close()
    assert beside(path) == set()


def test_a_file_that_was_replaced_is_read_and_left_as_it_is(path, tmp_path):
    reader = KeptReader(path)
    names(reader)
    other = tmp_path / "other.sqlite"
    registering.add_tool(other, "money", "家計のメモ", tmp_path, "markdown")
    content = other.read_bytes()
    other.replace(path)
    assert names(reader)[0] == ["money"]
    reader.close()
    assert path.read_bytes() == content
    path.write_bytes(b"not a database" * 400)
    with pytest.raises(DatabaseUnusable), reader.connection():
        pass
    path.unlink()
    with pytest.raises(DatabaseMissing), reader.connection():
        pass


def test_a_connection_is_not_kept_after_an_error_nor_more_than_two(path):
    reader = KeptReader(path)
    with suppress(ZeroDivisionError), reader.connection() as failed:
        raise ZeroDivisionError
    with reader.connection() as one, reader.connection() as two, reader.connection() as three:
        assert len({one, two, three, failed}) == 4
    kept = {names(reader)[1], names(reader)[1]}
    assert kept <= {one, two, three}
    with pytest.raises(apsw.ConnectionClosedError):
        one.execute("SELECT 1")
