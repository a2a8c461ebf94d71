"""A tool gets another name, and nothing is imported again."""

import pytest
from collection import Collection
from filelock import FileLock
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.datasets.interfaces.dataset_tables import dataset_tables
from mdvec.manage import registering
from mdvec.manage.registering import InvalidTool, rename_tool
from mdvec.tools.names import InvalidToolName
from mdvec.tools.registry import ToolExists, ToolNotFound, lock_file


@pytest.fixture
def notes(collection):
    collection.write("water.md", "# 水\n\n水は三日分そなえる。\n")
    collection.import_("new")
    return collection


def renamed(collection, to):
    rename_tool(collection.database, collection.name, to, pytest.fail)
    return Collection(collection.folder, collection.database, to, collection.backend, is_new=False)


def test_a_renamed_tool_is_searched_and_updated_without_embedding_again(notes):
    before = notes.contents()
    embedded = len(notes.backend.embedded)
    other = renamed(notes, "memo-2")
    assert other.contents() == before
    other.check()
    report = other.import_("update")
    assert (report.unchanged, report.added) == (1, 0)
    assert len(notes.backend.embedded) == embedded
    assert other.places("水") == ["water.md"]
    with pytest.raises(ToolNotFound):
        registering.find_tool(notes.database, "notes")


def test_the_tables_of_a_stopped_rebuild_follow_and_are_removed_later(notes):
    with open_database(notes.database, "write") as connection:
        for kind in ("documents", "vectors"):
            connection.execute(f'CREATE TABLE "{kind}_notes@7" (id)')
            connection.execute(f'CREATE TABLE "{kind}_notes-old" (id)')
    renamed(notes, "memo")
    tables = {name for (name,) in notes.rows("SELECT name FROM sqlite_schema")}
    assert {"documents_memo@7", "vectors_memo@7", "documents_notes-old"} <= tables
    assert not {"documents_notes", "documents_notes@7"} & tables


@each("to", ["Notes", "search", "", "日記", "a" * 64])
def test_an_impossible_name_changes_nothing(notes, to):
    before = notes.contents()
    with pytest.raises(InvalidToolName):
        rename_tool(notes.database, "notes", to, pytest.fail)
    assert notes.contents() == before


def test_a_name_that_a_tool_has_changes_nothing(notes, tmp_path):
    registering.add_tool(notes.database, "other", "another", tmp_path, "markdown")
    for taken, error in (("other", ToolExists), ("notes", InvalidToolName)):
        with pytest.raises(error):
            rename_tool(notes.database, "notes", taken, pytest.fail)
    notes.check()
    with pytest.raises(ToolNotFound):
        rename_tool(notes.database, "none", "free", pytest.fail)


def test_a_dataset_is_asked_in_sql_by_its_new_name(tmp_path):
    folder, database = tmp_path / "csv", tmp_path / "vectors.sqlite"
    folder.mkdir()
    (folder / "走った.csv").write_text("day,km\n2025-06-01,5\n", encoding="utf-8")
    registering.add_tool(database, "runs", "runs of a year", folder, "dataset")
    runs = Collection(folder, database, "runs", is_new=False)
    runs.import_("new")
    registering.add_tool(database, "walks", "walks of a year", folder, "dataset")
    with pytest.raises(InvalidToolName):
        rename_tool(database, "runs", "walks__x", pytest.fail)
    rename_tool(database, "runs", "my-runs", pytest.fail)
    with open_database(database, "read") as connection:
        assert [table.name for table in dataset_tables(connection, 1)] == ["my_runs__走った"]
    renamed_runs = Collection(folder, database, "my-runs", is_new=False)
    report = renamed_runs.import_("update")
    assert (report.unchanged, report.failed) == (1, ())


def test_an_import_that_runs_is_waited_for(notes):
    tool = registering.find_tool(notes.database, "notes")
    running = FileLock(lock_file(notes.database, tool))
    running.acquire()
    told = []

    def notice(sentence):
        told.append(sentence)
        running.release()

    rename_tool(notes.database, "notes", "memo", notice)
    assert len(told) == 1
    assert registering.find_tool(notes.database, "memo").id == tool.id


def test_a_tool_that_got_the_name_while_it_waited_keeps_it(notes):
    tool = registering.find_tool(notes.database, "notes")
    running = FileLock(lock_file(notes.database, tool))
    running.acquire()

    def replace_tool(_):
        registering.delete_tool(notes.database, "notes")
        registering.add_tool(notes.database, "notes", "another", notes.folder, "markdown")
        running.release()

    with pytest.raises(ToolNotFound):
        rename_tool(notes.database, "notes", "memo", replace_tool)
    assert registering.find_tool(notes.database, "notes").description == "another"


def test_a_title_is_kept_beside_the_name_and_can_be_taken_away(notes):
    def title():
        return registering.find_tool(notes.database, "notes").title

    assert title() is None
    registering.update_tool(notes.database, "notes", None, None, " 防災の \n 手帳 ")
    assert title() == "防災の 手帳"
    registering.update_tool(notes.database, "notes", "other words", None)
    assert title() == "防災の 手帳"
    for wrong in ("長" * 101, "a\x07b"):
        with pytest.raises(InvalidTool):
            registering.update_tool(notes.database, "notes", None, None, wrong)
    registering.update_tool(notes.database, "notes", None, None, "")
    assert title() is None
