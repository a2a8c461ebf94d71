"""Importing data files: tables with names, columns, rows and periods."""

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from collection import RULES
from source_folder import DataFolder, no_model, problems

from mdvec.datasets.core.columns import Column
from mdvec.datasets.interfaces import dataset_tables
from mdvec.datasets.interfaces.connection import one_path
from mdvec.documents.reading import DocumentPart, ReadingRefused, read_document
from mdvec.files.scanning import SourceMissing
from mdvec.importing.job import Progress, ToolChanged
from mdvec.importing.options import ImportRefused
from mdvec.manage import registering
from mdvec.manage.registering import InvalidTool
from mdvec.manage.tool_import import import_tool
from mdvec.search.answer import Question, SearchRefused, search
from mdvec.sync.freshness import check_source

CHILD = Path(__file__).parents[4] / "tests" / "importing_child.py"
TIMES = "SELECT TIMESTAMP '2025-06-01 05:00' + to_seconds(range) AS t, range AS n FROM range({})"


class Dataset(DataFolder):
    """A folder of data files and its tool."""

    def parquet(self, path, rows=3):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        duckdb.execute(f"COPY ({TIMES.format(rows)}) TO '{file}' (FORMAT parquet)")
        return file

    def duckdb(self, path, *statements):
        with duckdb.connect(self.folder / path) as connection:
            for statement in statements:
                connection.execute(statement)
        return self.folder / path


def counts(report):
    return report.added, report.updated, report.deleted, report.unchanged, len(report.failed)


@pytest.fixture
def runs(tmp_path):
    return Dataset(tmp_path / "runs", tmp_path / "data.sqlite", name="my-runs")


def test_by_checksum_a_file_of_the_same_size_and_time_is_read_again(runs):
    file = runs.folder / "a.csv"
    file.write_text("x\n111\n", "utf-8")
    runs.import_("new")
    state = file.stat()
    file.write_text("x\n222\n", "utf-8")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (counts(runs.import_()), runs.read("my_runs__a")) == ((0, 0, 0, 1, 0), [(111,)])
    import_tool(replace(runs.request("update"), checksum=True), no_model)
    assert runs.read("my_runs__a") == [(222,)]


def test_a_parquet_file_is_recorded_in_its_place(runs):
    file = runs.parquet("June 2025.parquet")
    report = runs.import_("new")
    assert (counts(report), report.model) == ((1, 0, 0, 0, 0), "")
    (table,) = runs.tables().values()
    state = file.stat()
    assert table == dataset_tables.DatasetTable(
        name="my_runs__june_2025",
        origin="June 2025.parquet",
        parquet=file,
        source=file,
        size=state.st_size,
        mtime_ns=state.st_mtime_ns,
        rows=3,
        columns=(Column("t", "TIMESTAMP"), Column("n", "BIGINT")),
        period_column="t",
        first="2025-06-01T05:00:00",
        last="2025-06-01T05:00:02",
    )
    (told,) = report.details.tables
    assert (told.name, told.rows, told.columns) == (table.name, 3, table.columns)
    assert runs.copies == []


def test_csv_files_and_databases_are_copied_into_a_private_folder(runs):
    (runs.folder / "支出.csv").write_bytes('日付,金額\n2025/06/01,"1,200"\n'.encode("cp932"))
    file = runs.duckdb(
        "store.duckdb",
        "CREATE TABLE runs (few HUGEINT, many HUGEINT, d DATE)",
        f"INSERT INTO runs VALUES (1, {10**30}, DATE '2025-06-01')",
        'CREATE SCHEMA other; CREATE TABLE other."We""ird" ("a\nb" INTEGER)',
        "CREATE VIEW seen AS FROM runs",
    )  # fmt: skip
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    report = runs.import_("new")
    assert counts(report) == (4, 0, 0, 0, 0)
    tables = runs.tables()
    assert {name: table.origin for name, table in tables.items()} == {
        "my_runs__store__other_we_ird": 'store.duckdb#other.We"ird',
        "my_runs__store__runs": "store.duckdb#runs",
        "my_runs__store__seen": "store.duckdb#seen",
        "my_runs__支出": "支出.csv",
    }
    assert runs.read("my_runs__支出")[0][1] == 1200
    assert runs.read("my_runs__store__runs", "few, many, typeof(many)") == [
        (1, 10**30, "DECIMAL(38,0)")
    ]
    assert (
        "many: HUGEINT → DECIMAL(38,0), which keeps it exactly"
        in tables["my_runs__store__runs"].reading
    )
    assert tables["my_runs__store__other_we_ird"].columns == (Column("a\nb", "INTEGER"),)
    assert {table.parquet for table in tables.values()} == set(runs.copies)
    for folder in (runs.copies[0].parent, runs.copies[0].parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_a_single_file_is_a_table_of_the_tools_name(runs, tmp_path):
    registering.update_tool(runs.database, "my-runs", None, runs.parquet("June.parquet"))
    runs.import_("new")
    assert list(runs.tables()) == ["my_runs"]
    link = tmp_path / "link.duckdb"
    link.symlink_to(runs.duckdb("store.duckdb", "CREATE TABLE Laps (n INTEGER)"))
    registering.update_tool(runs.database, "my-runs", None, link)
    report = runs.import_("update")
    assert counts(report) == (1, 0, 1, 0, 0)
    (table,) = runs.tables().values()
    assert (table.name, table.source) == ("my_runs__laps", runs.folder / "store.duckdb")


def test_a_link_is_read_as_what_the_file_is_that_it_leads_to(runs):
    file = runs.parquet("June.parquet", rows=1)
    (runs.folder / "May.csv").symlink_to(file)
    (runs.folder / "plain.csv").write_text("a\n1\n")
    (runs.folder / "July.parquet").symlink_to(runs.folder / "plain.csv")
    runs.import_("new")
    assert runs.tables()["my_runs__may"].parquet == file
    assert runs.content("my_runs__july") == ({"a": "BIGINT"}, [(1,)])


def test_a_path_and_a_name_with_glob_characters_mean_exactly_that_file(runs):
    for folder in ("lap", "pit"):
        runs.parquet(f"{folder}/data.parquet")
    runs.parquet("run1.parquet", rows=1)
    runs.parquet("run[1].parquet", rows=2)
    runs.parquet("r*n?.parquet", rows=5)
    (runs.folder / "c[1].csv").write_text("a\nx\n")
    runs.import_("new")
    assert {table.origin: table.rows for table in runs.tables().values()} == {
        "run1.parquet": 1, "run[1].parquet": 2, "r*n?.parquet": 5, "c[1].csv": 1,
        "lap/data.parquet": 3, "pit/data.parquet": 3,
    }  # fmt: skip
    assert one_path(Path("/a[b]/c*?")) == "/a[[]b]/c[*][?]"


def test_an_update_opens_only_what_changed(runs):
    runs.parquet("a.parquet")
    csv_ = runs.folder / "b.csv"
    csv_.write_text("n\n1\n")
    runs.import_("new")
    (first,) = runs.copies
    seen: list[Progress] = []
    report = runs.import_("update", on_progress=seen.append)
    assert (counts(report), runs.copies, seen) == ((0, 0, 0, 2, 0), [first], [])

    csv_.write_text("n\n1\n2\n")
    report = runs.import_("update")
    assert counts(report) == (0, 1, 0, 1, 0)
    (second,) = runs.copies
    assert second != first
    assert runs.tables()["my_runs__b"].rows == 2

    (runs.folder / "a.parquet").unlink()
    second.unlink()  # a copy that somebody took away is made again
    report = runs.import_("update")
    assert (counts(report), len(runs.copies)) == ((0, 1, 1, 0, 0), 1)


@pytest.mark.parametrize(
    ("names", "damage"),
    [
        (["a.csv"], lambda copy: os.truncate(copy, 60)),
        (["2024.csv", "2025.csv"], lambda copy: copy.write_bytes(bytes(copy.stat().st_size))),
        (["a.csv"], Path.unlink),
    ],
)
def test_an_update_reads_the_files_of_a_lost_copy_again(runs, names, damage):
    for name in names:
        (runs.folder / name).write_text(f"n\n{len(name)}\n")
    runs.import_("new")
    (copy,) = runs.copies
    (table,) = runs.tables()
    rows = runs.read(table)
    damage(copy)
    seen = check_source(runs.database, "my-runs", RULES)
    assert (seen.changed, seen.added, seen.deleted) == (len(names), 0, 0)
    runs.import_("update")
    assert runs.read(table) == rows
    assert not check_source(runs.database, "my-runs", RULES).is_stale


def test_rows_in_a_databases_log_are_a_change(runs):
    file = runs.duckdb("a.duckdb", "CREATE TABLE t (n INTEGER)")
    runs.import_("new")
    writes = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); "
        "c.execute('INSERT INTO t VALUES (1)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", writes, str(file)], check=True)
    assert file.with_name("a.duckdb.wal").exists()
    assert counts(runs.import_("update")) == (0, 1, 0, 0, 0)
    assert runs.read("my_runs__a__t") == [(1,)]


def test_unreadable_files_are_reported_and_the_rest_is_imported(runs, tmp_path):
    good = runs.parquet("good.parquet", rows=1000).read_bytes()
    (runs.folder / "cut.parquet").write_bytes(good[: len(good) // 2])
    (runs.folder / "empty.parquet").write_bytes(b"")
    (runs.folder / "text.parquet").write_text("no Parquet at all")
    (runs.folder / "rows.csv").write_text("a,b\n1,2\n3\n")
    (runs.folder / "fake.duckdb").write_bytes(b"no database" * 1000)
    (runs.folder / "notes.md").write_text("# passed over")
    runs.duckdb("none.duckdb")
    (tmp_path / "out.csv").write_text("a\nx\n")
    (runs.folder / "out.csv").symlink_to(tmp_path / "out.csv")
    report = runs.import_("new")
    part = "it is not a complete Parquet file; write it again"
    assert problems(report) == {
        "cut.parquet": part,
        "empty.parquet": part,
        "text.parquet": part,
        "rows.csv": "line 3: the row has 1 cell for 2 columns; it was split at ',': "
        "--delimiter names another, --header-row another line of names",
        "fake.duckdb": "it is not a complete DuckDB database; copy it again",
        "none.duckdb": "it has no tables",
        "out.csv": "the link leads out of the source folder; it was not followed",
    }
    assert list(runs.tables()) == ["my_runs__good"]
    assert problems(runs.import_("update")) == problems(report)


def test_a_file_that_becomes_unreadable_keeps_its_last_copy(runs):
    csv_ = runs.folder / "b.csv"
    csv_.write_text("n\n1\n")
    runs.parquet("a.parquet")
    runs.import_("new")
    csv_.write_text("n\n1,2\n")
    (runs.folder / "a.parquet").write_text("broken")
    report = runs.import_("update")
    assert (counts(report), list(problems(report))) == ((0, 0, 1, 1, 2), ["a.parquet", "b.csv"])
    assert runs.read("my_runs__b") == [(1,)]
    assert counts(runs.import_("replace")) == (0, 0, 0, 1, 2)
    assert runs.read("my_runs__b") == [(1,)]


def test_an_import_of_only_broken_files_leaves_the_tool_unchanged(runs):
    file = runs.parquet("a.parquet")
    runs.import_("new")
    before = runs.tables()
    file.write_text("broken")
    for mode in ("update", "replace"):
        with pytest.raises(ImportRefused, match="not one file could be imported"):
            runs.import_(mode)
    assert runs.tables() == before


def test_a_file_that_changes_while_it_is_read_is_not_imported(runs):
    file = runs.folder / "a.csv"
    file.write_text("n\n1\n")
    report = runs.import_("new", on_progress=lambda _: file.write_text("n\n1\n2\n"))
    assert problems(report) == {"a.csv": "it changed while the import read it; import again"}
    assert counts(runs.import_("new")) == (1, 0, 0, 0, 0)


def test_a_database_open_in_another_program_is_reported(runs):
    file = runs.duckdb("a.duckdb", "CREATE TABLE t (n INTEGER)")
    holds = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holds, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        assert problems(runs.import_("new")) == {
            "a.duckdb": "another program has it open for writing; close it there, then import again"
        }
        other.stdin.close()
    assert counts(runs.import_("new")) == (1, 0, 0, 0, 0)


def test_two_files_with_one_table_name_are_refused_and_the_existing_table_stays(runs):
    runs.parquet("june.parquet")
    runs.import_("new")
    (runs.folder / "June.csv").write_text("n\n1\n")
    report = runs.import_("update")
    assert problems(report) == {
        "June.csv": "its table would be called my_runs__june, as that of june.parquet is; "
        "rename one of them"
    }
    assert runs.tables()["my_runs__june"].origin == "june.parquet"
    (runs.folder / "June.csv").rename(runs.folder / "July.csv")
    assert list(problems(runs.import_("update"))) == []
    assert list(runs.tables()) == ["my_runs__july", "my_runs__june"]


def test_the_copies_of_this_and_another_database_are_not_imported(tmp_path):
    runs = Dataset(tmp_path, tmp_path / "data.sqlite")
    (tmp_path / "a.csv").write_text("n\n1\n")
    assert counts(runs.import_("new")) == (1, 0, 0, 0, 0)
    assert counts(runs.import_("update")) == (0, 0, 0, 1, 0)
    more = Dataset(tmp_path, tmp_path / "more.sqlite")
    assert list(problems(more.import_("new"))) == []
    assert list(more.tables()) == ["notes__a"]
    (tmp_path / "sales.datasets").mkdir()
    (tmp_path / "sales.datasets" / "b.csv").write_text("n\n1\n")
    more.import_("update")
    assert list(more.tables()) == ["notes__a", "notes__sales_datasets_b"]


def test_new_refuses_a_filled_dataset_and_no_mode_empties_one(runs):
    file = runs.parquet("a.parquet")
    runs.import_("new")
    with pytest.raises(ImportRefused, match="has 1 table already; use --mode update"):
        runs.import_("new")
    assert counts(runs.import_("replace")) == (0, 0, 0, 1, 0)
    file.unlink()
    for mode in ("update", "replace"):
        with pytest.raises(ImportRefused, match=r"there is no data file in .* has 1 table;"):
            runs.import_(mode)
    runs.folder.rmdir()
    with pytest.raises(SourceMissing, match="the source folder"):
        runs.import_("update")
    assert list(runs.tables()) == ["my_runs__a"]


def test_a_deleted_source_file_is_reported_missing(runs):
    file = runs.parquet("a.parquet")
    registering.update_tool(runs.database, "my-runs", None, file)
    file.unlink()
    with pytest.raises(SourceMissing, match=r"the source file .*a\.parquet does not exist"):
        runs.import_("new")


def test_deleting_a_tool_removes_its_copies_and_leftovers_go_with_the_next_import(runs):
    (runs.folder / "a.csv").write_text("n\n1\n")
    runs.import_("new")
    other = Dataset(runs.folder, runs.database, name="other")
    (copy,) = runs.copies
    copy.with_name("left.part").write_text("of a killed import")
    left = copy.parent.with_name("99")
    left.mkdir()
    other.import_("new")
    assert not left.exists()
    runs.import_("update")
    assert runs.copies == [copy]
    registering.delete_tool(runs.database, "my-runs")
    assert not copy.parent.exists()
    assert runs.rows("SELECT DISTINCT tool_id FROM dataset_tables") == [(2,)]
    registering.delete_tool(runs.database, "other")
    assert not copy.parent.parent.exists()
    assert (runs.folder / "a.csv").exists()


def test_a_killed_import_leaves_the_old_tables_and_the_next_one_completes_the_work(runs):
    for name in ("a.csv", "b.csv"):
        (runs.folder / name).write_text("n\n1\n")
    runs.import_("new")
    before = runs.tables()
    for name in ("a.csv", "b.csv"):
        (runs.folder / name).write_text("n\n1\n2\n")
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(runs.database), runs.name, "update", ".csv"],
        stdout=subprocess.PIPE,
    ) as child:
        child.stdout.readline()
        child.kill()
    if runs.tables() == before:
        assert runs.read("my_runs__a") == [(1,)]
        assert counts(runs.import_("update")) == (0, 2, 0, 0, 0)
    assert runs.read("my_runs__a") == [(1,), (2,)]
    runs.import_("update")
    assert len(runs.copies) == 2


def test_a_tool_deleted_during_its_import_leaves_nothing_behind(runs):
    (runs.folder / "a.csv").write_text("n\n1\n")

    def delete(progress):
        if progress.files_done:
            registering.delete_tool(runs.database, "my-runs")

    with pytest.raises(ToolChanged):
        runs.import_("new", on_progress=delete)
    assert not Path(f"{runs.database}.datasets").exists()


def test_a_search_skips_datasets_and_says_how_to_query_them(runs):
    runs.parquet("a.parquet")
    runs.import_("new")
    everywhere = search(runs.database, Question("速い日"), no_model)
    assert (everywhere.tools, everywhere.results) == ((), ())
    why = "'my-runs' contains tables, not texts; query it in SQL"
    with pytest.raises(SearchRefused, match=why):
        search(runs.database, Question("速い日", ("my-runs",)), no_model)
    with pytest.raises(ReadingRefused, match=why):
        read_document(runs.database, "my-runs", "a.parquet", DocumentPart(), 1000)


def test_a_datasets_source_is_a_data_file_or_a_folder(runs, tmp_path):
    notes = tmp_path / "notes.md"
    notes.write_text("# notes")
    file = runs.parquet("a.PARQUET")
    for source, kind, why in [
        (notes, "dataset", r"notes.md cannot be a dataset; name a file that ends in .parquet"),
        (tmp_path / "none.csv", "dataset", "there is no file or folder"),
        (file, "markdown", "is a file; a tool of the kind 'markdown' needs a folder"),
        (tmp_path / "none", "household", "there is no folder"),
    ]:
        with pytest.raises(InvalidTool, match=why):
            registering.add_tool(runs.database, "other", "d", source, kind)
    with pytest.raises(InvalidTool, match="cannot be a dataset"):
        registering.update_tool(runs.database, "my-runs", None, notes)
    assert registering.add_tool(runs.database, "other", "d", file, "dataset").source == file
    registering.add_tool(runs.database, "my_runs", "d", runs.folder, "markdown")  # has no tables


def test_a_link_that_broke_keeps_its_table(runs):
    file = runs.parquet("a.parquet")
    runs.parquet("b.parquet")
    runs.import_("new")
    file.unlink()
    file.symlink_to(runs.folder / "nowhere")
    report = runs.import_("update")
    assert problems(report) == {"a.parquet": "the link leads nowhere"}
    assert list(runs.tables()) == ["my_runs__a", "my_runs__b"]


LATE = ("late.csv", "late.duckdb", "late.parquet")


@pytest.mark.parametrize("moved", [LATE, ("below",)], ids=["files", "folder"])
def test_a_link_that_takes_a_files_place_during_the_import_is_not_followed(runs, tmp_path, moved):
    elsewhere = Dataset(tmp_path / "elsewhere", tmp_path / "other.db")
    below = "below/" if moved == ("below",) else ""
    for dataset, folder in ((runs, below), (elsewhere, "")):
        dataset.write(f"{folder}late.csv", "secret\n1\n")
        dataset.parquet(f"{folder}late.parquet")
        dataset.duckdb(f"{folder}late.duckdb", "CREATE TABLE t AS SELECT 1 AS secret")
    runs.write("a.csv", "n\n1\n")

    def replace_them(progress):
        for name in moved if progress.files_done == 1 else ():
            if not (runs.folder / name).is_symlink():
                (runs.folder / name).rename(tmp_path / f"moved {name}")
                (runs.folder / name).symlink_to(elsewhere.folder / ("" if below else name))

    reason = "its file has become a link out of the source folder, which is not followed"
    failed = problems(runs.import_("new", on_progress=replace_them))
    assert failed == {f"{below}{name}": reason for name in LATE}
    assert list(runs.tables()) == ["my_runs__a"]


def test_a_wal_linked_from_outside_the_folder_is_not_read(runs, tmp_path):
    runs.duckdb("a.duckdb", "CREATE TABLE t AS SELECT 1 AS n")
    (tmp_path / "theirs.wal").write_bytes(b"theirs")
    (runs.folder / "a.duckdb.wal").symlink_to(tmp_path / "theirs.wal")
    assert "a link out of the source folder" in problems(runs.import_("new"))["a.duckdb"]


def test_a_table_that_can_no_longer_be_copied_keeps_its_copy_and_counts_as_older(runs):
    fill = "CREATE OR REPLACE TABLE {} AS SELECT hash(i + {}) AS n FROM range({}) t(i)"
    file = runs.duckdb("a.duckdb", fill.format("small", 0, 1), fill.format("large", 0, 1))
    runs.import_("new")
    before = runs.tables()
    runs.duckdb("a.duckdb", fill.format("small", 1, 2), fill.format("large", 1, 200_000))
    with file.open("r+b") as damaged:  # a block of the large table
        damaged.seek(file.stat().st_size - 300_000)
        damaged.write(b"\xff" * 1_000)
    for _ in range(2):
        report = runs.import_("update")
        assert [problem.file_path for problem in report.failed] == ["a.duckdb#large"]
        after = runs.tables()
        assert after["my_runs__a__large"] == before["my_runs__a__large"]
        assert after["my_runs__a__large"].parquet.is_file()
        assert after["my_runs__a__small"].rows == 2
        found = check_source(runs.database, "my-runs", RULES)
        assert (found.is_stale, found.outdated) == (False, ("a.duckdb",))
