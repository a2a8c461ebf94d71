"""A look at a source says how it differs from the index, without opening a file."""

import os
import shutil
import sys
from dataclasses import replace

import duckdb
import pytest
from collection import RULES, Collection, water_and_rice
from imported import import_
from tiny_embedder import TinyBackend

from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.manage import registering
from mdvec.manage.tool_import import import_tool
from mdvec.sync.freshness import check_source
from mdvec.tools import only_import_of
from mdvec.tools.registry import lock_file

STATEMENT = (
    "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID\n"
    "1,2025/07/01,店,-100,財布,食費,食料品,,0,{}\n"
)


@pytest.fixture
def notes(tmp_path):
    return water_and_rice(tmp_path)


def look(notes):
    return check_source(notes.database, notes.name, RULES)


def numbers(notes):
    found = look(notes)
    return found.added, found.changed, found.deleted


def test_nothing_differs_after_an_import(notes):
    assert numbers(notes) == (0, 0, 0)
    assert look(notes).sentence() == ""
    assert look(notes).files == 2


def test_new_changed_and_deleted_files_are_counted(notes):
    notes.write("新.md", "# 新\n")
    notes.write("水.md", "# 水\n\n九リットル。\n")
    assert look(notes).sentence() == (
        "2 files are newer than the index of notes; reindex imports them"
    )
    (notes.folder / "米.md").unlink()
    assert numbers(notes) == (1, 1, 1)
    assert look(notes).sentence() == (
        "2 files are newer than the index of notes, and 1 was deleted; reindex brings it up to date"
    )
    notes.import_()
    assert numbers(notes) == (0, 0, 0)
    (notes.folder / "新.md").unlink()
    assert look(notes).sentence() == (
        "1 file was deleted since the import of notes; reindex brings it up to date"
    )


def test_a_look_opens_no_file(notes):
    notes.write("新.md", "# 新\n")
    opened = []

    def note(event, arguments):
        if event == "open" and str(notes.folder) in str(arguments[0]):
            opened.append(arguments[0])

    sys.addaudithook(note)
    assert numbers(notes) == (1, 0, 0)
    assert opened == []


def test_a_source_that_is_not_there_is_not_deleted_files(notes):
    notes.folder.rename(notes.folder.with_name("moved"))
    found = look(notes)
    assert (found.deleted, found.is_stale) == (0, False)
    assert found.sentence().startswith(f"the source of notes, {notes.folder}, is not there (is ")
    notes.folder.mkdir()  # the point where a disk is mounted
    assert "has no files now (is its disk not mounted?)" in look(notes).sentence()
    notes.folder.rmdir()
    notes.folder.with_name("moved").rename(notes.folder)
    assert numbers(notes) == (0, 0, 0)


def test_a_folder_that_became_empty_is_kept_until_an_import_is_asked_for(notes):
    notes.write("disk/a.md", "# a\n")
    notes.import_()
    (notes.folder / "disk" / "a.md").rename(notes.folder / "disk" / ".DS_Store")
    found = look(notes)
    assert (found.is_stale, found.emptied) == (False, ("disk/",))
    assert "empty in the source of notes now: disk/ (is a disk not mounted?)" in found.sentence()
    notes.write("水.md", "# 水\n\n九リットル。\n")
    request = replace(notes.request(), is_automatic=True)
    report = import_tool(request, lambda _: Embedder(TinyBackend()))
    assert (report.updated, report.deleted) == (1, 0)
    assert notes.import_().deleted == 1
    assert look(notes).sentence() == ""


@pytest.mark.parametrize(
    ("kind", "content", "tables"),
    [
        ("dataset", "n\n1\n", ("dataset_files", "dataset_tables")),
        ("household", STATEMENT.format("{}"), ("transactions",)),
    ],
)
def test_imports_that_nobody_asks_for_keep_what_an_emptied_folder_had(
    tmp_path, kind, content, tables
):
    database, folder = tmp_path / "v.sqlite", tmp_path / "source"
    (folder / "disk").mkdir(parents=True)
    for number, path in enumerate(("a.csv", "disk/b.csv")):
        (folder / path).write_text(content.format(number), encoding="utf-8")
    registering.add_tool(database, "tool", "d", folder, kind)
    import_(database, "tool")

    def held():
        with open_database(database, "read") as connection:
            return [connection.execute(f"SELECT count(*) FROM {one}").get for one in tables]

    before = held()
    (folder / "disk" / "b.csv").unlink()
    for second in (1, 2):
        os.utime(folder / "a.csv", (second, second))
        import_(database, "tool", is_automatic=True)
        found = check_source(database, "tool", RULES)
        assert (found.is_stale, found.emptied) == (False, ("disk/",))
    assert held() == before
    import_(database, "tool")
    assert check_source(database, "tool", RULES).emptied == ()


def test_a_file_that_cannot_be_imported_is_not_newer_until_it_changes(notes):
    (notes.folder / "bad.md").write_bytes(b"\0\0\0")
    assert numbers(notes) == (1, 0, 0)
    assert len(notes.import_().failed) == 1
    assert numbers(notes) == (0, 0, 0)
    assert look(notes).sentence() == ""  # a search says what it found, not what there is in all
    (notes.folder / "bad.md").write_bytes(b"\0\0\0\0")
    assert numbers(notes) == (1, 0, 0)
    notes.write("bad.md", "good\n")
    assert not notes.import_().failed
    assert numbers(notes) == (0, 0, 0)


UNREADABLE: set[str] = set()
"""Paths that our hook lets nobody open, as a lock or missing rights would; root may read all."""


def refuse_unreadable(event, arguments):
    if event == "open" and str(arguments[0]) in UNREADABLE:
        raise PermissionError(13, "Permission denied")


@pytest.fixture(scope="module")
def hook():
    sys.addaudithook(refuse_unreadable)  # it cannot be taken away again


@pytest.fixture
def unreadable(hook):
    yield UNREADABLE
    UNREADABLE.clear()


OLDER = "1 file of {} could not be imported as it is now: {}; answers are from its older "


def test_a_file_that_could_not_be_read_is_not_fresh_and_newer_once_it_can_be(notes, unreadable):
    notes.write("水.md", "# 水\n\n九リットル。\n")
    before = look(notes).mark
    unreadable.add(str(notes.folder / "水.md"))
    assert len(notes.import_().failed) == 1
    assert numbers(notes) == (0, 0, 0)
    assert look(notes).sentence().startswith(OLDER.format("notes", "水.md"))
    unreadable.clear()
    assert numbers(notes) == (0, 1, 0)
    assert look(notes).mark != before
    notes.import_()
    assert look(notes).sentence() == ""


def test_a_file_that_became_unusable_is_answered_from_older_content(notes):
    (notes.folder / "水.md").write_bytes(b"\0\0\0")
    notes.import_()
    assert (numbers(notes), look(notes).outdated) == ((0, 0, 0), ("水.md",))


def test_the_rules_of_the_tool_decide_which_files_count(notes):
    notes.write("drafts/a.md", "# a\n")
    notes.write("b.csv", "1,2\n")
    patterns = registering.FilePatterns(RULES, exclude=("drafts/",))
    registering.update_tool(notes.database, "notes", None, None, patterns=patterns)
    assert numbers(notes) == (0, 0, 0)


def test_the_same_differences_have_the_same_mark(notes):
    notes.write("新.md", "# 新\n")
    first = look(notes)
    assert look(notes).mark == first.mark
    os.utime(notes.folder / "新.md", ns=(1, 1))
    assert look(notes).mark != first.mark


def test_a_tool_that_was_never_imported_has_only_new_files(tmp_path):
    notes = Collection(tmp_path / "docs", tmp_path / "v.sqlite")
    notes.write("a.md", "# a\n")
    found = look(notes)
    assert (found.added, found.is_imported) == (1, False)
    shutil.rmtree(notes.folder)
    assert look(notes).sentence().endswith("(is its disk not mounted?); nothing was imported yet")


def test_statement_files_count_as_documents_do(tmp_path):
    database, folder = tmp_path / "v.sqlite", tmp_path / "明細"
    folder.mkdir()
    registering.add_tool(database, "kakeibo", "家計簿", folder, "household")
    (folder / "が7月.csv").write_text(STATEMENT.format("a"), encoding="utf-8")
    (folder / "株.csv").write_text("銘柄,数\nA,1\n", encoding="utf-8")
    import_(database, "kakeibo")
    assert not check_source(database, "kakeibo", RULES).is_stale
    (folder / "8月.csv").write_text(STATEMENT.format("b"), encoding="utf-8")
    (folder / "が7月.csv").unlink()
    found = check_source(database, "kakeibo", RULES)
    assert (found.added, found.changed, found.deleted) == (1, 0, 1)
    import_(database, "kakeibo")
    assert not check_source(database, "kakeibo", RULES).is_stale


@pytest.mark.parametrize("beside", [True, False], ids=["copies in the source", "copies outside"])
def test_data_files_count_with_the_log_of_a_database(tmp_path, beside):
    folder = tmp_path / "data"
    folder.mkdir()
    database = (folder if beside else tmp_path) / "v.sqlite"
    (folder / "a.csv").write_text("n\n1\n", encoding="utf-8")
    duckdb.execute(f"COPY (SELECT 1 AS n) TO '{folder}/b.parquet' (FORMAT parquet)")
    registering.add_tool(database, "runs", "走った記録", folder, "dataset")
    import_(database, "runs")
    assert not check_source(database, "runs", RULES).is_stale
    (folder / "c.csv").write_text("n\n1\n", encoding="utf-8")
    shutil.copy(folder / "b.parquet", folder / "d.parquet")
    (folder / "a.csv").write_text("n\n1\n2\n", encoding="utf-8")
    found = check_source(database, "runs", RULES)
    assert (found.added, found.changed, found.deleted) == (2, 1, 0)


def test_a_single_data_file_counts_as_one(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("n\n1\n", encoding="utf-8")
    registering.add_tool(tmp_path / "v.sqlite", "runs", "走った記録", file, "dataset")
    import_(tmp_path / "v.sqlite", "runs")
    file.write_text("n\n1\n2\n", encoding="utf-8")
    assert check_source(tmp_path / "v.sqlite", "runs", RULES).changed == 1
    file.unlink()
    assert "is not there" in check_source(tmp_path / "v.sqlite", "runs", RULES).trouble


@pytest.mark.parametrize(
    ("kind", "is_file", "before", "after"),
    [
        ("dataset", True, "km\n5\n", "km\n5\n6\n"), ("dataset", False, "km\n5\n", "km\n5\n6\n"),
        ("household", False, STATEMENT.format("a"), STATEMENT.format("bb")),
    ],
)  # fmt: skip
def test_a_table_that_could_not_be_read_is_newer_once_it_can_be(
    tmp_path, unreadable, kind, is_file, before, after
):
    database, file = tmp_path / "v.sqlite", tmp_path / "data" / "走.csv"
    file.parent.mkdir()
    file.write_text(before, encoding="utf-8")
    (file.parent / "泳.csv").write_text("m\n5\n", encoding="utf-8")
    registering.add_tool(database, "runs", "走", file if is_file else file.parent, kind)
    import_(database, "runs")
    file.write_text(after, encoding="utf-8")
    unreadable.add(str(file))
    assert len(import_(database, "runs").failed) == 1
    found = check_source(database, "runs", RULES)
    assert (found.is_stale, found.outdated) == (False, ("走.csv",))
    unreadable.clear()
    assert check_source(database, "runs", RULES).changed == 1
    import_(database, "runs")
    lacking = LACKS.format("runs", "泳.csv") if kind == "household" else ""
    assert check_source(database, "runs", RULES).sentence() == lacking


LACKS = "answers from {} lack what could not be imported: {} (list_sources says why)"


def test_a_file_of_a_table_that_was_never_imported_is_named_until_it_is(tmp_path):
    database, folder = tmp_path / "v.sqlite", tmp_path / "data"
    folder.mkdir()
    for month in range(1, 5):
        (folder / f"s_2025-0{month}.csv").write_text(
            "日付,金額\n2025/6/9,1,2,3\n", encoding="utf-8"
        )
    (folder / "s_2025-05.csv").write_text("日付,金額\n2025/5/9,1\n", encoding="utf-8")
    registering.add_tool(database, "s", "売上", folder, "dataset")
    import_(database, "s")
    found = check_source(database, "s", RULES)
    names = "s_2025-01.csv, s_2025-02.csv, s_2025-03.csv and 1 more"
    assert (found.is_stale, found.sentence()) == (False, LACKS.format("s", names))
    for month in range(1, 5):
        (folder / f"s_2025-0{month}.csv").write_text("日付,金額\n2025/6/9,1\n", encoding="utf-8")
    assert check_source(database, "s", RULES).missing == ()
    import_(database, "s")
    assert check_source(database, "s", RULES).sentence() == ""


def test_a_table_of_a_database_and_a_statement_that_were_never_imported_are_named(tmp_path):
    database, folder = tmp_path / "v.sqlite", tmp_path / "data"
    folder.mkdir()
    with duckdb.connect(folder / "a.duckdb") as made:
        made.execute("CREATE TABLE small AS SELECT 1 AS n")
        made.execute("CREATE TABLE large AS SELECT hash(i) AS n FROM range(200_000) t(i)")
    with (folder / "a.duckdb").open("r+b") as damaged:
        damaged.seek((folder / "a.duckdb").stat().st_size - 300_000)
        damaged.write(b"\xff" * 1_000)
    registering.add_tool(database, "d", "数", folder, "dataset")
    import_(database, "d")
    assert check_source(database, "d", RULES).sentence() == LACKS.format("d", '"a.duckdb#large"')
    home = tmp_path / "明細"
    home.mkdir()
    (home / "7月.csv").write_text(STATEMENT.format("a"), encoding="utf-8")
    (home / "株.csv").write_text("銘柄,数\nA,1\n", encoding="utf-8")
    (home / "8月.csv").write_bytes(STATEMENT.format("b").encode() + b"\0\xff\xfe")
    registering.add_tool(database, "kakeibo", "家計簿", home, "household")
    assert [problem.file_path for problem in import_(database, "kakeibo").failed] == ["8月.csv"]
    lacking = LACKS.format("kakeibo", "8月.csv, 株.csv")
    assert check_source(database, "kakeibo", RULES).sentence() == lacking


def test_a_statement_with_rows_that_cannot_be_read_is_named_with_the_first(tmp_path):
    database, folder = tmp_path / "v.sqlite", tmp_path / "明細"
    folder.mkdir()
    unread = STATEMENT.format("b").splitlines()[1].replace("-100", "未定")
    text = f"{STATEMENT.format('a')}{unread}\n{unread}\n"
    (folder / "7月.csv").write_text(text, encoding="utf-8")
    registering.add_tool(database, "kakeibo", "家計簿", folder, "household")
    import_(database, "kakeibo")
    lacking = LACKS.format("kakeibo", '"7月.csv:3"')
    assert check_source(database, "kakeibo", RULES).sentence() == lacking


def test_a_source_that_another_process_is_importing_says_so(notes):
    notes.write("新.md", "# 新\n")
    tool = registering.find_tool(notes.database, "notes")
    with only_import_of(notes.database, tool, lambda _: None):
        told = check_source(notes.database, "notes", RULES).sentence()
    assert told == "1 file is newer than the index of notes; an import is running"
    assert not lock_file(notes.database, tool).exists()
    assert check_source(notes.database, "notes", RULES).sentence().endswith("reindex imports it")
    assert not lock_file(notes.database, tool).exists()
