"""Data files replaced after their import: links out of the folder are never followed."""

import os
import shutil
import sqlite3
import threading
import time
from contextlib import closing

import duckdb
import pytest
from imported import RULES, import_, imported

from mdvec.database import DatabaseError
from mdvec.files.opening import NotOpened, open_within
from mdvec.sql.core.refusals import QueryError
from mdvec.sql.data import CurrentData
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.process.query_process import QueryProcess
from mdvec.sync.freshness import check_source

IN_SUB = ("a.parquet", "c.parquet", "d.parquet")
CANARY = "4711"  # as long as the word of the files in whose place it comes
NOT_FOLLOWED = "a link out of the source folder, which is not followed"


def write(file, value):
    file.parent.mkdir(parents=True, exist_ok=True)
    duckdb.execute(f"COPY (SELECT '{value}' AS word) TO '{file}' (FORMAT parquet)")


def copied(first, *files, value):
    """Write files of equal bytes."""
    write(first, value)
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(first, file)


class Folder:
    """A dataset in a folder, a folder of secrets beside it, and a query process."""

    def __init__(self, root):
        self.root, self.data, self.database = root, root / "data", root / "rag.db"
        self.secret = root / "secret"
        copied(*(self.data / "sub" / name for name in IN_SUB), value="mine")
        secrets = [self.secret / place / name for name in IN_SUB for place in (".", "sub")]
        copied(*secrets, value=CANARY)
        write(self.data / "b.parquet", "other")
        (self.data / "link.parquet").symlink_to("b.parquet")
        imported(self.database, "d", self.data, "dataset")
        self.process = QueryProcess(
            root / "spool", QueryLimits(5.0, 1024, 2**20), CurrentData(self.database)
        )

    def word(self, table="d__sub_a"):
        return self.process.rows(f"SELECT word FROM {table}", max_rows=1).rows[0][0]

    def told(self):
        return check_source(self.database, "d", RULES).sentence()


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path)
    yield folder
    folder.process.close()


def file_to_link(folder):
    file = folder.data / "sub" / "a.parquet"
    file.unlink()
    file.symlink_to(folder.secret / "a.parquet")


def files_to_links(folder):
    """An absolute one, a relative one and one to a link."""
    (folder.data / "way").symlink_to(folder.secret)
    for name, target in zip(IN_SUB, (folder.secret, "../../secret", "../way"), strict=True):
        file = folder.data / "sub" / name
        file.unlink()
        file.symlink_to(f"{target}/{name}")


def parent_to_link(folder):
    shutil.rmtree(folder.data / "sub")
    (folder.data / "sub").symlink_to(folder.secret)


def source_to_link(folder):
    folder.data.rename(folder.root / "data.old")
    folder.data.symlink_to(folder.secret)


def alike(folder):
    """Give the secrets the time of the file in whose place they come; they have its size."""
    before = (folder.data / "sub" / "a.parquet").stat()
    for secret in folder.secret.rglob("*.parquet"):
        assert secret.stat().st_size == before.st_size
        os.utime(secret, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("replace", [files_to_links, parent_to_link, source_to_link])
@pytest.mark.parametrize("asked_before", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_the_target_of_a_link_out_of_the_folder_is_not_served(folder, replace, asked_before):
    if asked_before:
        alike(folder)
        assert folder.word() == "mine"
    replace(folder)
    for table in ("d__sub_a", "d__sub_c", "d__sub_d"):
        with pytest.raises(QueryError, match=f"there is no table '{table}'"):
            folder.word(table)
    warnings = str(folder.process.take_warnings())
    assert "not there: " in warnings
    assert NOT_FOLLOWED in warnings
    assert "mdvec import" in warnings
    assert " deleted" in folder.told()
    assert str(folder.root) not in warnings + folder.told()


def test_a_link_within_the_folder_works_at_the_import_and_after_it(folder):
    assert folder.word("d__link") == "other"
    file = folder.data / "sub" / "a.parquet"
    file.unlink()
    file.symlink_to("../b.parquet")
    assert folder.word() == "other"
    assert folder.process.take_warnings() == []
    assert "1 file is newer than the index of d" in folder.told()
    import_(folder.database, "d")
    assert folder.word() == "other"
    assert folder.told() == ""


def test_a_restored_file_is_served_again_and_a_deleted_one_and_a_pipe_are_named(folder):
    file, pipe = (folder.data / "sub" / name for name in ("a.parquet", "c.parquet"))
    file.rename(folder.root / "kept.parquet")
    file.symlink_to(folder.secret / "a.parquet")
    assert "d__sub_a" not in folder.process.tables()
    file.unlink()
    (folder.root / "kept.parquet").rename(file)
    assert folder.word() == "mine"
    folder.process.take_warnings()
    file.unlink()
    pipe.unlink()
    os.mkfifo(pipe)
    assert folder.word("d__b") == "other"
    warnings = str(folder.process.take_warnings())
    assert "not there: d__sub_a (its file is gone)" in warnings
    assert "d__sub_c (in the place of its file is something else" in warnings


def test_a_link_created_while_the_process_runs_is_not_followed(folder):
    data = CurrentData(folder.database)()
    process = QueryProcess(folder.root / "spool2", QueryLimits(5.0, 1024, 2**20), lambda: data)
    with closing(process):
        assert process.rows("d__sub_a", max_rows=1).rows == [["mine"]]
        file_to_link(folder)
        with pytest.raises(QueryError, match="the file of d__sub_a"):
            process.rows("d__sub_a", max_rows=1)


def test_however_a_file_is_exchanged_only_files_in_the_folder_are_opened(tmp_path):
    folder, outside = tmp_path / "data", tmp_path / "outside"
    for place in (folder / "sub", outside):
        place.mkdir(parents=True)
        (place / "a").write_text(place.name)
    link, kept, stop = folder / "link", folder / "kept", threading.Event()
    link.symlink_to(outside)

    def swap():
        while not stop.is_set():
            (folder / "sub").rename(kept)
            link.rename(folder / "sub")
            (folder / "sub").rename(link)
            kept.rename(folder / "sub")

    swapping = threading.Thread(target=swap)
    swapping.start()
    found = {"opened": 0, "refused": 0}
    try:
        for _ in range(3_000):
            try:
                descriptor = open_within(folder / "sub" / "a", folder)
            except NotOpened:
                found["refused"] += 1
                continue
            found["opened"] += 1
            assert os.read(descriptor, 9) == b"sub"
            os.close(descriptor)
    finally:
        stop.set()
        swapping.join()
    assert found["opened"]
    assert found["refused"]


def test_copies_of_a_database_opened_through_a_link_are_served(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "real")
    (tmp_path / "t.csv").write_text("word\nmine\n")
    database = tmp_path / "way" / "rag.db"
    imported(database, "t", tmp_path / "t.csv", "dataset")
    process = QueryProcess(tmp_path / "spool", QueryLimits(5.0, 1024, 2**20), CurrentData(database))
    with closing(process):
        assert process.rows("t", max_rows=1).rows == [["mine"]]


def test_the_database_is_opened_again_only_where_it_was_written(tmp_path):
    database = tmp_path / "rag.db"
    (tmp_path / "t.csv").write_text("word\nmine\n")
    imported(database, "t", tmp_path / "t.csv", "dataset")
    data = CurrentData(database)
    names = [table.name for table in data().parquet]
    imported(database, "u", tmp_path / "t.csv", "dataset")
    assert [table.name for table in data().parquet] == [*names, "u"] == ["t", "u"]
    hour_ago = time.time_ns() - 3_600 * 10**9
    os.utime(database, ns=(hour_ago, hour_ago))
    before = data()
    database.write_bytes(bytes(database.stat().st_size))
    os.utime(database, ns=(hour_ago, hour_ago))
    assert data() == before
    os.utime(database)
    with pytest.raises(DatabaseError):
        data()


def test_a_database_with_a_log_has_not_changed_because_of_the_log(folder):
    with sqlite3.connect(folder.data / "trips.sqlite") as trips:
        trips.execute("PRAGMA journal_mode = WAL")
        trips.execute("CREATE TABLE t (n INTEGER)")
        trips.execute("INSERT INTO t VALUES (1)")
        trips.commit()
        assert (folder.data / "trips.sqlite-wal").stat().st_size
        import_(folder.database, "d")
        assert folder.told() == ""
        trips.execute("INSERT INTO t VALUES (2)")
        trips.commit()
        assert "1 file is newer than the index of d" in folder.told()
