"""The database is moved, replaced or damaged under a running server, which reports it."""

import re
import shutil
import sqlite3

from mdvec.database.connection import open_database
from mdvec.manage import registering

from mdvec_mcp.household.context import NO_HOUSEHOLD


def moved(database):
    database.rename(database.with_name("elsewhere.sqlite"))


def emptied(database):
    database.write_bytes(b"")


def replaced_by_text(database):
    database.write_text("これはデータベースではない。" * 200)


def replaced_by_another_program(database):
    database.unlink()
    other = sqlite3.connect(database)
    other.execute("CREATE TABLE notes (words)")
    other.commit()
    other.close()


def made_by_a_newer_version(database):
    with open_database(database, "write") as connection:
        connection.execute("PRAGMA user_version = 99")


def replaced_by_a_folder(database):
    database.unlink()
    database.mkdir()


def behind_a_dangling_link(database):
    database.unlink()
    database.symlink_to("nowhere")


TROUBLES = [
    (moved, "there is no database file", "ファイルがありません"),
    (emptied, "holds no tools", "ツールが一つもありません"),
    (replaced_by_text, "is not a database", "is not a database"),
    (replaced_by_another_program, "of another program", "of another program"),
    (made_by_a_newer_version, "made by a newer mdvec", "made by a newer mdvec"),
    (replaced_by_a_folder, "is a folder", "is a folder"),
    (behind_a_dangling_link, "there is no database file", "ファイルがありません"),
]
ENGLISH = [
    ("notes", {"query": "水"}),
    ("search", {"query": "水"}),
    ("search", {"query": "水", "tools": ["notes"]}),
    ("list_sources", {}),
    ("get_document", {"tool": "notes", "file_path": "a.md"}),
]
JAPANESE = [("get_monthly_household", {}), ("get_category_trend", {"category": "食費"})]
ANALYTICS = [
    ("list_handles", {}),
    ("export", {"query": "SELECT 1"}),
    ("profile", {"table_or_query": "transactions"}),
    ("numbers", {}),
    ("numbers", {"query": "SELECT count(*) FROM numbers"}),
    ("numbers", {"query": "SELECT 1 AS a", "statistics_only": True}),
]


def restore(database, whole):
    """The database as it was, whatever became of it."""
    if database.is_dir():
        database.rmdir()
    database.unlink(missing_ok=True)
    shutil.copy(whole, database)


def test_every_tool_reports_what_happened_to_the_database(database, connect_here):
    home = database.parent.parent
    registering.add_tool(database, "kakeibo", "家計簿", database.parent / "notes", "household")
    table = database.parent / "numbers.csv"
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    registering.add_tool(database, "numbers", "数表", table, "dataset")
    whole = shutil.copy(database, home / "whole.sqlite")
    with connect_here(database, home=home) as client:
        for change, english, japanese in TROUBLES:
            restore(database, whole)
            assert not client.call("search", {"query": "水"}).is_error
            change(database)
            for name, arguments in ENGLISH:
                answer = client.call(name, arguments)
                assert (change, name, answer.is_error) == (change, name, True)
                assert english in answer.content[0].text
                assert re.search("mdvec (status|tool add)", answer.content[0].text)
                assert "~/own/vectors.sqlite" in answer.content[0].text
                assert str(home) not in answer.content[0].text
            for name, arguments in JAPANESE:
                answer = client.call(name, arguments)
                assert (change, name, answer.is_error) == (change, name, True)
                assert japanese in answer.content[0].text
                assert NO_HOUSEHOLD not in answer.content[0].text
            for name, arguments in ANALYTICS:
                answer = client.call(name, arguments)
                assert (change, name, answer.is_error) == (change, name, True)
                assert english in answer.content[0].text
                assert str(home) not in answer.content[0].text
            resource = client.portal.call(client.client.read_resource, "data://available_months")
            assert japanese in resource.contents[0].text


def test_disabled_tools_are_reported_as_disabled(database, connect_here):
    registering.add_tool(database, "kakeibo", "家計簿", database.parent / "notes", "household")
    with connect_here(database, home=database.parent.parent) as client:
        for tool in registering.list_tools(database, active_only=True):
            registering.set_active(database, tool.name, active=False)
        for name, arguments in (("search", {"query": "水"}), ("get_monthly_household", {})):
            assert "mdvec tool enable" in client.call(name, arguments).content[0].text
