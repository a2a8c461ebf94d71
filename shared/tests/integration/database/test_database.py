"""The database file: what is refused in one sentence, and what is never lost."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from mdvec.database.connection import (
    DatabaseError,
    DatabaseMissing,
    DatabaseUnusable,
    open_database,
    snapshot,
)
from mdvec.manage import registering

CHILD = Path(__file__).parents[4] / "tests" / "importing_child.py"


def test_reading_and_writing_a_missing_file_create_nothing(tmp_path):
    for mode in ("read", "write"):
        with (
            pytest.raises(DatabaseMissing, match="mdvec tool add"),
            open_database(tmp_path / "none.sqlite", mode),
        ):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["これはデータベースではない。" * 200, "12", "1"])
def test_a_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text, encoding="utf-8")
    before = path.read_bytes()
    for mode in ("read", "write", "create"):
        with pytest.raises(DatabaseUnusable, match="is not a database"), open_database(path, mode):
            pass
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_database(tmp_path):
    path = tmp_path / "new.sqlite"
    path.touch()
    registering.add_tool(path, "notes", "Notes", tmp_path, "markdown")
    assert [tool.name for tool in registering.list_tools(path, active_only=True)] == ["notes"]


def test_an_empty_file_is_a_database_without_tools(tmp_path):
    path = tmp_path / "empty.sqlite"
    path.touch()
    assert registering.list_tools(path, active_only=False) == []


def test_a_reader_leaves_no_log_behind(collection):
    collection.write("a.md", "言葉。" * 20)
    collection.import_("new")
    assert collection.search("言葉").results
    assert [path.name for path in collection.database.parent.iterdir()] == ["vectors.sqlite"]


def test_a_reader_cannot_write(collection):
    with (
        pytest.raises(DatabaseUnusable, match="cannot be written"),
        open_database(collection.database, "read") as connection,
    ):
        connection.execute("DELETE FROM tools")


def test_a_snapshot_sees_one_state_while_another_writes(collection):
    with open_database(collection.database, "read") as connection, snapshot(connection):
        before = connection.execute("SELECT description FROM tools").fetchall()
        registering.update_tool(collection.database, "notes", "something else", None)
        assert connection.execute("SELECT description FROM tools").fetchall() == before
    assert registering.find_tool(collection.database, "notes").description == "something else"


def test_a_disk_that_fills_up_ends_in_one_sentence_and_loses_nothing(collection):
    for number in range(24):
        collection.write(f"{number:03}.md", f"# 節 {number}\n\n" + f"言葉{number}。" * 400)

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, 250_000))

    child = subprocess.run(
        # -B: Python would cut off the bytecode of a module unnoticed.
        [sys.executable, "-B", str(CHILD), str(collection.database), "notes", "new", ".md"],
        preexec_fn=small_disk,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert child.returncode == 1
    assert "mdvec.database.connection.DatabaseFull" in child.stderr.splitlines()[-1]
    collection.check()
    kept = len(collection.rows('SELECT id FROM "documents_notes"'))
    assert 0 < kept < 24
    assert collection.import_("update").added == 24 - kept
    collection.check()


def fill_up(connection):
    pages = connection.execute("PRAGMA page_count").get
    connection.execute("PRAGMA cache_size = 5").fetchall()
    connection.execute(f"PRAGMA max_page_count = {pages + 50}").fetchall()
    with connection:
        connection.execute("CREATE TABLE filler (content)")
        for _ in range(100):
            connection.execute("INSERT INTO filler VALUES (zeroblob(4000))")


def test_a_full_disk_is_reported_although_sqlite_ended_the_transaction(collection):
    with (
        pytest.raises(DatabaseError, match="the disk is full") as raised,
        open_database(collection.database, "write") as connection,
    ):
        fill_up(connection)
    assert "no transaction is active" in str(raised.value.__cause__)
    collection.check()
