"""Compacting: deleted data is erased from the file, and everything else stays."""

import random
import shutil
import threading

import apsw
import pytest
from collection import Collection

from mdvec.database.connection import DatabaseMissing, open_database, snapshot
from mdvec.database.file import size_on_disk
from mdvec.errors import MdvecError
from mdvec.index.tables import Tables, create_tables
from mdvec.manage import registering
from mdvec.manage.compacting import NoRoom, compact
from mdvec.text.one_line import identifier
from mdvec.tools import only_import_of

SECRET = "zqxjkvw8871secret"
GONE = "(SELECT id FROM vectors_notes WHERE document_id > 30)"


def fill(collection: Collection) -> None:
    words = random.Random(1)
    for number in range(30):
        text = "".join(words.choices("春夏秋冬花鳥風月abc ", k=900))
        collection.write(f"{number:02}.md", f"# 題 {number}\n\n{text}")
    collection.import_("new")


def delete_as_an_old_version_did(collection: Collection) -> None:
    """Import documents with the secret, then delete them without erasing anything.

    The leftovers of an unfinished rebuild contain it too, and so does the log.
    """
    for number in range(20):
        collection.write(f"secret{number}.md", f"# {SECRET}\n\n{f'{SECRET}text 秘密鍵。' * 30}")
    collection.import_()
    for path in collection.folder.glob("secret*"):
        path.unlink()
    kept = collection.database.parent / "kept"
    connection = apsw.Connection(str(collection.database))
    staged = Tables(connection, 1, "notes", 2, staged=True)
    connection.execute("PRAGMA secure_delete = OFF").fetchall()
    with connection:
        connection.execute(f"DELETE FROM fts_1_1 WHERE rowid IN {GONE}")
        for table in ("signatures_1_1", "vectors_notes"):
            connection.execute(f"DELETE FROM {table} WHERE document_id > 30")
        connection.execute("DELETE FROM documents_notes WHERE id > 30")
        create_tables(staged)
        connection.execute(
            f"INSERT INTO {identifier(staged.documents)} "
            "(tool_id, file_path, content_hash, size, mtime_ns, title, content) "
            "VALUES (1, 'a.md', '', 0, 0, '', ?)",
            (f"{SECRET} " * 5_000,),
        )
    kept.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(f"{collection.database}{ending}", kept)
    connection.close()
    for path in kept.iterdir():
        shutil.move(path, collection.database.parent / path.name)
    kept.rmdir()


def holding(collection: Collection, *words: str) -> list[str]:
    """The database's files that contain any of the words."""
    return [
        path.name
        for path in sorted(collection.database.parent.iterdir())
        if any(word.encode() in path.read_bytes() for word in words)
    ]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("old")
    collection = Collection(folder / "notes", folder / "data" / "vectors.sqlite")
    fill(collection)
    delete_as_an_old_version_did(collection)
    return folder


@pytest.fixture
def old(template, tmp_path):
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return Collection(tmp_path / "notes", tmp_path / "data" / "vectors.sqlite", is_new=False)


def test_data_left_readable_by_old_versions_is_erased_and_the_contents_stay(old):
    assert holding(old, SECRET) == ["vectors.sqlite", "vectors.sqlite-wal"]
    contents, answer = old.contents(), old.search("春夏秋冬").results
    before = size_on_disk(old.database)
    done = compact(old.database)
    after = size_on_disk(old.database)
    assert (done.size_before, done.size_after, done.is_complete) == (before, after, True)
    assert done.bytes_given_back == before - after > 100_000
    assert holding(old, SECRET, SECRET[2:], "秘密鍵") == []
    assert (old.contents(), old.search("春夏秋冬").results) == (contents, answer)
    old.check()
    names = [path.name for path in old.database.parent.iterdir()]
    assert names == ["vectors.sqlite"]
    assert compact(old.database).bytes_given_back < 20_000
    assert old.import_().unchanged == 30


def test_the_files_mode_stays(old):
    old.database.chmod(0o640)
    compact(old.database)
    assert old.database.stat().st_mode & 0o777 == 0o640


def test_unneeded_copies_of_data_files_are_removed_too(old, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    data = Collection(tmp_path / "data-notes", old.database, name="data", is_new=False)
    registering.add_tool(old.database, "data", "d", tmp_path / "a.csv", "dataset")
    data.import_("new")
    (copy,) = (tmp_path / "data" / "vectors.sqlite.datasets" / "2").iterdir()
    left = [copy.with_name("left.parquet"), copy.parent.with_name("9") / "left.parquet"]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_text(SECRET)
    compact(old.database)
    assert [path.exists() for path in (copy, *left)] == [True, False, False]


@pytest.mark.parametrize("place_without_room", [0, 1])
def test_without_free_space_it_names_the_disk_and_the_size_and_changes_nothing(
    old, monkeypatch, tmp_path, place_without_room
):
    folders = [tmp_path / "temporary", old.database.parent]
    folders[0].mkdir()
    monkeypatch.setenv("SQLITE_TMPDIR", str(folders[0]))
    contents, size = old.contents(), size_on_disk(old.database)
    free = dict.fromkeys(folders, 10**12)
    free[folders[place_without_room]] = 2 * size  # one disk: twice the size, and a little more
    with pytest.raises(NoRoom) as refused:
        compact(old.database, free_bytes=free.__getitem__)
    said = str(refused.value)
    assert str(folders[place_without_room]) in said
    assert f"{2 * size:,} free" in said
    assert "nothing was changed" in said
    assert (old.contents(), size_on_disk(old.database)) == (contents, size)
    assert holding(old, SECRET) != []
    free[folders[place_without_room]] = 2 * size + size // 32 + 2**21
    assert compact(old.database, free_bytes=free.__getitem__).is_complete


def test_a_missing_database_is_refused(tmp_path):
    with pytest.raises(DatabaseMissing):
        compact(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_it_waits_for_a_running_search_which_sees_its_old_state(old):
    with open_database(old.database, "read") as reader, snapshot(reader):
        count = "SELECT count(*) FROM documents_notes"
        assert reader.execute(count).get == 30
        done = []
        worker = threading.Thread(target=lambda: done.append(compact(old.database)))
        worker.start()
        log = old.database.with_name("vectors.sqlite-wal")
        while log.stat().st_size < 100_000 and worker.is_alive():
            assert reader.execute(count).get == 30
    worker.join()
    assert done[0].is_complete
    assert holding(old, SECRET) == []


def test_a_search_that_does_not_end_is_reported_and_the_next_compacting_does_the_rest(old):
    with open_database(old.database, "read") as reader, snapshot(reader):
        assert reader.execute("SELECT count(*) FROM documents_notes").get == 30
        assert not compact(old.database, patience_ms=1).is_complete
        assert reader.execute("SELECT count(*) FROM documents_notes").get == 30
    assert compact(old.database).is_complete
    assert holding(old, SECRET) == []


def test_searches_give_the_same_results_while_the_file_is_rewritten(old):
    wanted = old.places("春夏秋冬")
    stop, answers, errors = threading.Event(), [], []

    def ask() -> None:
        while not stop.is_set():
            try:
                answers.append(old.places("春夏秋冬"))
            except (MdvecError, OSError) as error:
                errors.append(error)

    clients = [threading.Thread(target=ask) for _ in range(3)]
    for client in clients:
        client.start()
    try:
        done = [compact(old.database) for _ in range(2)]
    finally:
        stop.set()
        for client in clients:
            client.join()
    assert errors == []
    assert {tuple(answer) for answer in answers} == {tuple(wanted)}
    assert all(one.is_complete for one in done)
    assert holding(old, SECRET) == []


def test_it_waits_for_imports_and_imports_for_it(old):
    registering.add_tool(old.database, "other", "d", old.folder, "markdown")
    tool = registering.find_tool(old.database, "other")
    said, done = [], []
    waits = threading.Event()

    def tell(sentence: str) -> None:
        said.append(sentence)
        waits.set()

    with only_import_of(old.database, tool, said.append):
        worker = threading.Thread(target=lambda: done.append(compact(old.database, on_notice=tell)))
        worker.start()
        assert waits.wait(60)
        # A tool that is added during the wait is waited for as well.
        registering.add_tool(old.database, "third", "d", old.folder, "markdown")
        assert done == []
    worker.join()
    assert said == ["an import of 'other' (or mdvec compact) is running; waiting for it to end …"]
    assert done[0].is_complete
    assert sorted(path.name for path in old.database.parent.iterdir()) == ["vectors.sqlite"]
