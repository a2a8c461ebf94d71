"""Deleted data is nowhere in the database's files: not in pages, indexes or logs."""

import random
import shutil
import stat
from pathlib import Path

import pytest
from collection import Collection, check_indexes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mdvec.database.connection import open_database, snapshot
from mdvec.index.tables import Tables
from mdvec.manage import registering
from mdvec.text.index_terms import terms
from mdvec.text.one_line import identifier

SECRET = "zqxjkvw8871secret"


def files(database: Path) -> dict[str, bytes]:
    """The database's files by name."""
    return {
        path.name: path.read_bytes()
        for path in sorted(database.parent.iterdir())
        if path.name.startswith(database.name)
    }


def places(database: Path, *words: str | bytes) -> list[str]:
    """The database's files that contain any of the words."""
    wanted = [word if isinstance(word, bytes) else word.encode() for word in words]
    return [name for name, data in files(database).items() if any(word in data for word in wanted)]


def embeddings(collection: Collection) -> list[bytes]:
    return [bytes(blob) for (blob,) in collection.rows("SELECT embedding FROM vectors_notes")]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    collection = Collection(folder / "notes", folder / "data" / "vectors.sqlite")
    words = random.Random(1)
    for number in range(30):
        text = "\n\n".join(
            f"## 節 {part}\n\n" + "".join(words.choices("春夏秋冬花鳥風月abc ", k=300))
            for part in range(3)
        )
        collection.write(f"{number:02}.md", f"# 題 {number}\n\n{text}")
    collection.write(
        "secret.md", f"# {SECRET}title\n\n## {SECRET}heading\n\n" + f"{SECRET}text 秘密鍵。" * 30
    )
    collection.import_("new")
    return folder


@pytest.fixture
def filled(template, tmp_path):
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    copy = Collection(tmp_path / "notes", tmp_path / "data" / "vectors.sqlite", is_new=False)
    registering.update_tool(copy.database, copy.name, None, copy.folder)
    assert places(copy.database, SECRET) == ["vectors.sqlite"]
    return copy


def gone(collection: Collection, *vectors: bytes) -> bool:
    """Whether neither the secret, nor a term of it, nor its vectors are left."""
    assert terms(f"{SECRET}text") == [f"{SECRET}text"]
    return places(collection.database, SECRET, SECRET[2:], *vectors) == []


def vectors_of_secret(collection: Collection) -> list[bytes]:
    return [
        bytes(blob)
        for (blob,) in collection.rows(
            f"SELECT embedding FROM vectors_notes WHERE chunk_text LIKE '%{SECRET}%'"
        )
    ]


@pytest.mark.parametrize(
    ("now", "mode"), [("# 題\n\n何もない。\n", "update"), (None, "update"), (None, "replace")]
)
def test_a_changed_or_deleted_document_is_erased(filled, now, mode):
    vectors = vectors_of_secret(filled)
    assert vectors
    if now is None:
        (filled.folder / "secret.md").unlink()
    else:
        filled.write("secret.md", now)
    filled.import_(mode)
    assert gone(filled, *vectors)
    filled.check()


def test_a_deleted_tool_is_erased(filled):
    vectors = embeddings(filled)
    registering.delete_tool(filled.database, "notes")
    assert gone(filled, *vectors)
    assert places(filled.database, "春", "題 7") == []


def test_the_update_after_one_stopped_before_erasing_erases(filled):
    filled.write("secret.md", "# 題\n\n何もない。\n")
    (filled.folder / "00.md").unlink()
    with open_database(filled.database, "write") as connection, connection:
        names = Tables(connection, 1, "notes", 1)
        (number,) = next(
            connection.execute("SELECT id FROM documents_notes WHERE file_path = 'secret.md'")
        )
        connection.execute(
            f"DELETE FROM {identifier(names.fts)} WHERE rowid IN "
            "(SELECT id FROM vectors_notes WHERE document_id = ?)",
            (number,),
        )
        connection.execute("DELETE FROM signatures_1_1 WHERE document_id = ?", (number,))
        connection.execute("DELETE FROM vectors_notes WHERE document_id = ?", (number,))
        connection.execute("DELETE FROM documents_notes WHERE id = ?", (number,))
    assert places(filled.database, SECRET) == ["vectors.sqlite"]
    filled.import_()
    assert gone(filled)


def test_a_search_in_the_way_delays_the_erasing_only_until_it_ends(filled):
    (filled.folder / "secret.md").unlink()
    with open_database(filled.database, "read") as reader, snapshot(reader):
        assert reader.execute("SELECT count(*) FROM documents_notes").get == 31
        assert filled.import_().deleted == 1
        assert reader.execute("SELECT count(*) FROM documents_notes").get == 31
    assert gone(filled)


def test_new_files_are_readable_only_by_their_owner(tmp_path):
    database = tmp_path / "new" / "data" / "vectors.sqlite"
    collection = Collection(tmp_path / "notes", database)
    collection.write("a.md", "言葉。")

    def modes() -> set[int]:
        return {stat.S_IMODE(path.stat().st_mode) for path in database.parent.iterdir()}

    seen = []

    def look(_) -> None:
        seen.append((sorted(path.name for path in database.parent.iterdir()), modes()))

    collection.import_("new", on_progress=look)
    names = [f"vectors.sqlite{end}" for end in ("", "-shm", "-wal", ".import-1.lock")]
    assert seen[-1] == (sorted(names), {0o600})
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700


def test_an_existing_file_keeps_its_mode(tmp_path):
    database = tmp_path / "vectors.sqlite"
    database.touch(mode=0o640)
    database.chmod(0o640)
    Collection(tmp_path / "notes", database).import_("new")
    assert stat.S_IMODE(database.stat().st_mode) == 0o640


STEP = st.tuples(st.sampled_from("wdrn"), st.integers(0, 5), st.integers(1, 40))


@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(STEP, min_size=2, max_size=12))
def test_after_any_changes_only_the_current_contents_are_readable(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("any")
    collection = Collection(folder / "notes", folder / "data" / "vectors.sqlite")
    there: dict[str, list[str]] = {}
    once: list[str] = []
    for number, (what, file, size) in enumerate(steps):
        path = f"{file}.md"
        if what == "d":
            (collection.folder / path).unlink(missing_ok=True)
            there.pop(path, None)
        elif what in "wn":
            words = [f"zq{number}x{file}w{word}q" for word in range(size)]
            once += words
            there[path] = words
            filler = "言葉です。" * (size if what == "w" else 300)
            collection.write(path, "\n\n".join(f"# {word}\n\n{word} {filler}" for word in words))
        if there or what != "d":
            collection.import_("replace" if what == "r" else "update")
    if not there:
        return
    now = {word for words in there.values() for word in words}
    collection.import_()
    gone = [word for word in once if word not in now]
    data = b"".join(files(collection.database).values())
    assert [word for word in gone if word.encode() in data] == []
    with open_database(collection.database, "read") as connection:
        tool = registering.find_tool(collection.database, "notes")
        check_indexes(Tables(connection, tool.id, tool.name, tool.generation))
