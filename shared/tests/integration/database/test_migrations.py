"""The format: files of every format since 17 become like new ones, and older ones are refused."""

import re

import apsw
import pytest
from old_database import database_of_format_17

from mdvec.database import migrations
from mdvec.database.connection import DatabaseUnusable, open_database
from mdvec.manage import registering

MODES = ("read", "write", "create")
ON_FIRST_USE = {"allowed_endpoints", "model_constants"}
"""Tables of the old database that belong to no format."""


@pytest.fixture
def old(tmp_path):
    return database_of_format_17(tmp_path / "old")


def format_of(database):
    """The format, without opening the database as mdvec does."""
    connection = apsw.Connection(str(database))
    number = migrations.format_of(connection)
    connection.close()
    return number


def schema(connection):
    """The SQL of every table, index and trigger, without comments and free of layout."""
    rows = connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
    return {
        (kind, name): re.sub(r"\s*([(),])\s*", r"\1", " ".join(re.sub("--.*", "", sql).split()))
        for kind, name, table, sql in rows
        if table not in ON_FIRST_USE
    }


def test_a_migrated_database_has_the_schema_of_a_new_one(old, tmp_path):
    for tool in registering.list_tools(old, active_only=False):
        registering.delete_tool(old, tool.name)  # with its own tables
    with open_database(old, "read") as connection:
        migrated = schema(connection)
    with open_database(tmp_path / "new.sqlite", "create") as connection:
        assert schema(connection) == migrated
    assert len([kind for kind, _ in migrated if kind == "trigger"]) == 9


def test_steps_are_numbered_in_their_order():
    numbers = [int(step.__name__[1:4]) for step in migrations.STEPS]
    assert numbers == list(range(migrations.OLDEST + 1, migrations.LATEST + 1))


@pytest.mark.parametrize("mode", MODES)
def test_whoever_opens_an_older_format_first_migrates_it(old, mode):
    assert format_of(old) == migrations.OLDEST
    with open_database(old, mode) as connection:
        assert migrations.format_of(connection) == migrations.LATEST
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert format_of(old) == migrations.LATEST


def test_a_step_that_fails_leaves_the_file_as_it_was(old, monkeypatch):
    def fail(connection):
        connection.execute("DROP TABLE budgets")
        connection.execute("no SQL")

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, fail))
    monkeypatch.setattr(migrations, "LATEST", migrations.LATEST + 1)
    with pytest.raises(Exception, match="syntax error"), open_database(old, "write"):
        pass
    assert format_of(old) == migrations.OLDEST
    connection = apsw.Connection(str(old))
    assert connection.execute("SELECT count(*) FROM budgets").get == 2
    connection.close()


def test_a_format_from_before_the_first_release_is_refused_and_unchanged(old):
    connection = apsw.Connection(str(old))
    connection.execute(f"PRAGMA user_version = {migrations.OLDEST - 1}")
    connection.close()
    before = old.read_bytes()
    for mode in MODES:
        with (
            pytest.raises(DatabaseUnusable, match="keep it if it has decisions"),
            open_database(old, mode),
        ):
            pass
    assert old.read_bytes() == before
    assert [file.name for file in old.parent.glob("vectors.sqlite-*")] == []
