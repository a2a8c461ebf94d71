"""Imports and searches over both vector engines: the file's signatures, and a real Chroma."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chroma_process import ChromaProcess
from collection import Collection
from tiny_embedder import TinyBackend
from vector_engine import check_engines_agree, client_of, findings, fix, index_of, known_of

from mdvec.database.connection import open_database
from mdvec.embedding.endpoint import EndpointFailure
from mdvec.errors import MdvecError
from mdvec.index.chroma import SEARCH_SECONDS, ChromaServer, Hnsw, check_client_installed, client
from mdvec.index.chroma_collections import MAX_UNSENT, OtherWriter
from mdvec.manage import registering
from mdvec.manage.status import details

SAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "notes"
QUESTIONS = ("バックアップを取る", "household budget", "会議の議事録", "how to search")
ALONE = "notes was searched by words alone: "


@pytest.fixture
def notes(collection, chroma) -> Collection:
    """A few notes, whose vectors Chroma indexes."""
    collection.engine = chroma.address
    for number in range(12):
        collection.write(
            f"{number}.md", f"# 節 {number}\n\n水の話 {number}。\n\n## 米\n\n米と魚。\n"
        )
    collection.import_("new")
    return collection


def test_the_sample_notes_are_found_the_same_whatever_indexes_them(collection, chroma):
    shutil.copytree(SAMPLES, collection.folder, dirs_exist_ok=True)
    collection.import_("new")
    by_signatures = [collection.search(question, mode="vector") for question in QUESTIONS]
    embedded = len(collection.backend.embedded)
    # So that its graph misses nothing of a collection as small as this.
    thorough = Hnsw(ef_construction=1_000, ef_search=1_000, max_neighbors=100)
    collection.engine = chroma.address.model_copy(update={"hnsw": thorough})
    assert collection.import_().chunks_embedded == 0
    for question, expected in zip(QUESTIONS, by_signatures, strict=True):
        answer = collection.search(question, mode="vector")
        # A graph may miss some of the farther candidates, which moves ranks in the explanation.
        assert [(hit.file_path, hit.content) for hit in answer.results] == [
            (hit.file_path, hit.content) for hit in expected.results
        ]
        assert answer.notes == expected.notes
    assert len(collection.backend.embedded) == embedded
    check_engines_agree(collection)
    collection.engine = None
    assert collection.import_().chunks_embedded == 0
    collection.check()
    for question, expected in zip(QUESTIONS, by_signatures, strict=True):
        assert collection.search(question, mode="vector").results == expected.results


def test_only_ids_and_vectors_leave_the_machine(notes, chroma):
    check_engines_agree(notes)
    there = client_of(chroma).get_collection(known_of(notes).name)
    stored = there.get(include=["documents", "metadatas", "uris"])
    for kind in ("documents", "metadatas", "uris"):
        assert set(stored[kind] or [None]) == {None}
    assert all(number.isdigit() for number in stored["ids"])
    assert set(there.metadata) == {"mdvec_writer"}


def test_nothing_of_a_changed_or_deleted_document_is_found_even_before_chroma_knows(notes, chroma):
    chroma.kill()
    notes.write("0.md", "# 空\n\n空の話。\n")
    (notes.folder / "1.md").unlink()
    hints = notes.import_().hints
    assert any("did not answer" in hint and "nothing is lost" in hint for hint in hints)
    assert details(notes.database, "notes").status.unsent == 1
    chroma.start()
    answer = notes.search("空の話", mode="vector", k=50)
    assert not any("notes was" in note for note in answer.notes)
    assert answer.results[0].file_path == "0.md"
    assert "1.md" not in notes.places("水の話 1", k=50)
    notes.import_()
    check_engines_agree(notes)


def test_without_chroma_words_answer_with_a_sentence_and_imports_go_on(notes, chroma):
    chroma.kill()
    try:
        answer = notes.search("水の話 3", k=1)
        assert answer.results[0].file_path == "3.md"
        assert [note for note in answer.notes if note.startswith(ALONE)] == list(answer.notes)
        assert "did not answer" in answer.notes[0]
        ((level, sentence),) = findings(notes, chroma.address)
        assert (level, "did not answer" in sentence) == ("trouble", True)
        (note,) = notes.search("水の話 3", mode="vector").notes[:1]
        assert note.startswith("notes was left out: ")
        notes.import_("replace")
    finally:
        chroma.start()
    notes.import_()
    assert notes.search("水の話 3", k=1).notes == ()
    check_engines_agree(notes)


class OneWording(TinyBackend):
    """A model whose endpoint stops after the first wording of a question."""

    def encode_query(self, text):
        if text == "米":
            raise EndpointFailure("the endpoint stopped")
        return super().encode_query(text)


def test_a_wording_that_chroma_did_not_answer_is_told_of_whatever_the_next_one_lacks(notes, chroma):
    notes.backend = OneWording()
    chroma.kill()
    try:
        found = notes.search("水の話 3", queries=("米",), k=1)
    finally:
        chroma.start()
    of_endpoint, of_chroma = [note for note in found.notes if note.startswith(ALONE)]
    assert of_endpoint == f"{ALONE}the endpoint stopped"
    assert "did not answer" in of_chroma


def test_what_chroma_missed_is_sent_by_the_next_import_or_by_doctor(notes, chroma, tmp_path):
    chroma.kill()
    try:
        notes.write("0.md", "# 空\n\n空の話。\n")
        notes.import_()
        fresh = Collection(tmp_path / "fresh", tmp_path / "fresh.sqlite", engine=chroma.address)
        fresh.write("a.md", "# 火\n\n火の話。\n")
        fresh.import_("new")  # its collection was never made
        contents = details(notes.database, "notes").json_fields()
        assert (contents["engine"], contents["unsent"]) == ("chroma", 1)
    finally:
        chroma.start()
    assert len(fix(notes, chroma.address)) == 1
    assert fresh.import_().chunks_embedded == 0
    for collection in (notes, fresh):
        check_engines_agree(collection)
        assert details(collection.database, "notes").status.unsent == 0
    assert fresh.search("火の話", mode="vector").notes == ()


def test_words_answer_while_chroma_lacks_more_than_is_compared_exactly(notes, chroma):
    chroma.kill()
    try:
        notes.write("long.md", "\n\n".join(f"## {n}\n\n火の話。" for n in range(2_000)))
        notes.import_("replace", size=64, overlap=0, min_chars=1)
        assert details(notes.database, "notes").status.unsent > MAX_UNSENT
    finally:
        chroma.start()
    answer = notes.search("火の話", k=1)
    assert answer.results[0].file_path == "long.md"
    assert answer.notes[0].startswith(ALONE)
    assert "mdvec import -n notes --mode update" in answer.notes[0]
    notes.import_()
    check_engines_agree(notes)
    assert notes.search("火の話", k=1).notes == ()


def test_a_chroma_that_hangs_costs_one_question_a_few_seconds_and_the_next_none(notes, chroma):
    chroma.freeze()
    try:
        first = notes.search("水の話 3")
        began = time.monotonic()
        second = notes.search("水の話 3")
        assert time.monotonic() - began < SEARCH_SECONDS
    finally:
        chroma.thaw()
    for answer in (first, second):
        assert answer.results[0].file_path == "3.md"
        assert answer.notes[0].startswith(ALONE)
    notes.import_()
    assert notes.search("水の話 3", k=1).notes == ()


def test_without_the_setting_the_note_says_where_the_vectors_are(notes):
    there = notes.engine
    notes.engine = None
    assert "its vectors are in Chroma" in notes.search("水の話 3", k=1).notes[0]
    ((level, sentence),) = findings(notes, None)
    assert (level, sentence) == (
        "trouble", "notes: its vectors are in Chroma, but [index] engine is 'sqlite'"
    )  # fmt: skip
    assert len(fix(notes, None)) == 1
    notes.check()
    assert notes.search("水の話 3", k=1).notes == ()
    assert findings(notes, there)[1][0] == "warning"
    assert len(fix(notes, there)) == 2  # it moves back, and the old collection is deleted
    notes.engine = there
    check_engines_agree(notes)


def test_doctor_finds_what_chroma_lacks_or_has_too_much_and_mends_it(notes, chroma):
    index = index_of(notes)
    index.drop([1, 2, 3])
    index.put([9_001], notes_vector())
    foreign = ["of-another-program", "٣", "9" * 40]
    client_of(chroma).get_collection(known_of(notes).name).add(
        ids=foreign, embeddings=notes_vector().repeat(len(foreign), axis=0)
    )
    assert notes.search("水の話 3", k=1).notes == ()
    level, sentence = findings(notes, notes.engine)[1]
    assert level == "trouble"
    assert sentence.endswith("lacks 3 vectors and has 1 too many")
    fix(notes, notes.engine)
    check_engines_agree(notes)
    index_of(notes).retire()
    answer = notes.search("水の話 3", k=1)
    assert answer.notes[0].startswith(ALONE)
    assert "mdvec doctor --fix" in answer.notes[0]
    fix(notes, notes.engine)
    check_engines_agree(notes)
    assert notes.search("水の話 3", k=1).notes == ()


def test_a_collection_that_lost_vectors_is_not_searched_and_the_next_import_fills_it(notes):
    index_of(notes).drop(range(1, 13))
    answer = notes.search("水の話 3", k=1)
    assert answer.results[0].file_path == "3.md"
    assert answer.notes[0].startswith(ALONE)
    notes.import_()
    check_engines_agree(notes)
    assert notes.search("水の話 3", k=1).notes == ()


def notes_vector():
    return np.ones((1, TinyBackend().dimension), dtype=np.float32)


def collections_of(chroma: ChromaProcess) -> set[str]:
    return {one.name for one in client_of(chroma).list_collections()}


def test_the_vectors_of_a_deleted_tool_are_deleted_in_chroma(notes, chroma, tmp_path):
    old = copied(notes, tmp_path / "old")
    copies = [copied(notes, tmp_path / name) for name in ("unset", "down")]
    (notes.folder / "1.md").unlink()
    notes.import_()
    for copy in copies:
        fix(copy, copy.engine)  # a collection of its own
    told: list[str] = []
    names = [known_of(one).name for one in (notes, *copies)]
    registering.delete_tool(old.database, "notes", told.append, chroma.address)
    check_engines_agree(notes)  # they are those of the other copy now
    registering.delete_tool(notes.database, "notes", told.append, chroma.address)
    assert told == []
    assert collections_of(chroma).intersection(names) == set(names[1:])
    unset, down = copies
    registering.delete_tool(unset.database, "notes", told.append)
    assert "mdvec doctor --fix" in told[0]
    assert len(fix(unset, chroma.address)) == 1
    chroma.kill()
    registering.delete_tool(down.database, "notes", told.append, chroma.address)
    chroma.start()
    assert "are still there until the next import" in told[1]
    assert names[2] in collections_of(chroma)
    fix(down, chroma.address)
    assert collections_of(chroma).isdisjoint(names)


def test_the_rows_of_a_household_are_sent_after_they_were_stored(tmp_path, chroma):
    folder, database = tmp_path / "csv", tmp_path / "vectors.sqlite"
    folder.mkdir()
    header = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID\n"
    shop = "1,2025/07/01,スーパー みどり,-500,現金,食費,食料品,,0,a\n"
    books = "1,2025/07/02,書店 ほんのもり,-900,現金,教養・教育,書籍,,0,b\n"
    (folder / "7.csv").write_text(header + shop, encoding="utf-8")
    registering.add_tool(database, "notes", "家計簿", folder, "household")
    rows = Collection(folder, database, is_new=False, engine=chroma.address)
    rows.import_("new")
    check_engines_agree(rows)
    (folder / "7.csv").write_text(header + books, encoding="utf-8")
    for mode in ("update", "update", "replace", "update"):
        rows.import_(mode)
        check_engines_agree(rows)
    answer = rows.search("書店", mode="vector", k=1)
    assert ["only shops, categories" in note for note in answer.notes] == [True]
    assert "書店 ほんのもり" in answer.results[0].content


def test_a_rebuild_makes_the_graph_anew_and_the_next_import_deletes_the_old_collection(
    notes, chroma
):
    old = known_of(notes).name
    notes.engine = ChromaServer(url=notes.engine.url, hnsw=Hnsw(max_neighbors=24))
    notes.import_("replace")
    made = client(notes.engine, 30.0).get_collection(known_of(notes).name, embedding_function=None)
    assert made.configuration_json["hnsw"]["max_neighbors"] == 24
    assert old in collections_of(chroma)  # a copy of the old file can still be searched
    notes.import_()
    assert old not in collections_of(chroma)
    check_engines_agree(notes)


def copied(notes: Collection, place: Path) -> Collection:
    place.mkdir()
    copy = place / "vectors.sqlite"
    shutil.copy(notes.database, copy)
    return Collection(notes.folder, copy, is_new=False, engine=notes.engine)


def test_a_copy_of_the_database_can_search_but_only_one_of_them_can_import(notes, tmp_path):
    copy = copied(notes, tmp_path / "copy")
    notes.write("new.md", "# 新しい\n\n新しい話。\n")
    notes.import_()
    (notes.folder / "2.md").unlink()
    notes.import_()
    answer = copy.search("水の話 3", mode="vector")
    assert answer.notes == ()
    assert {hit.file_path for hit in answer.results} <= {f"{n}.md" for n in range(12)}
    before = copy.contents()
    with pytest.raises(OtherWriter, match="another copy of this database"):
        copy.import_()
    assert copy.contents() == before
    assert findings(copy, copy.engine)[1][0] == "trouble"
    fix(copy, copy.engine)
    copy.import_()
    check_engines_agree(copy)
    notes.import_()
    check_engines_agree(notes)


def test_an_import_that_is_killed_while_it_sends_is_not_taken_for_another_copy(
    notes, chroma, importing
):
    for attempt in range(5):  # a busy machine may kill it only after its end
        before = known_of(notes).build
        for number in range(20):
            notes.write(f"long-{number}.md", f"火の話 {attempt}の{number}。\n\n" * 400)
        with importing(notes, "update") as child:
            while index_of(notes).build() == before and child.poll() is None:
                time.sleep(0.01)
            child.kill()
            child.communicate()
        if known_of(notes).build == before:
            break
    assert known_of(notes).build == before
    assert known_of(notes).next_build == index_of(notes).build() != before
    notes.import_()
    check_engines_agree(notes)


def test_a_missing_client_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "chromadb", None)
    with pytest.raises(MdvecError, match=r"-e '\./shared\[chroma\]'"):
        check_client_installed()


def test_nothing_of_chroma_is_imported_unless_it_is_set(notes):
    notes.engine = None
    notes.import_()
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from collection import Collection\n"
        "notes = Collection(*map(Path, sys.argv[1:]), is_new=False)\n"
        "notes.import_()\n"
        "assert notes.search('水の話 3', k=1).notes == ()\n"
        "print({'chromadb', 'httpx', 'grpc'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(notes.folder), str(notes.database)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4] / "tests")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "set()\n"


def back_to_format_17(collection: Collection, *, lacks_last: bool) -> None:
    """Describe the collections as before: a table of changes each that were not sent."""
    with open_database(collection.database, "write") as connection:
        known, table = known_of(collection), "outbox_1_1"
        connection.execute(
            f"CREATE TABLE {table} (chunk_id INTEGER PRIMARY KEY, is_gone INTEGER NOT NULL, "
            "collection TEXT)"
        )
        described = {"name": known.name, "writer": known.build, "next": None}
        connection.executemany(
            f"INSERT INTO {table} VALUES (?, ?, ?)", [(0, 0, json.dumps(described)), (1, 1, None)]
        )
        if lacks_last:
            connection.execute(f"INSERT INTO {table} VALUES (?, 0, NULL)", (known.last_sent,))
        connection.execute("CREATE TABLE retired_collections (name TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO retired_collections VALUES ('mdvec-1-0-retired')")
        connection.execute("DROP TABLE vector_collections")
        for table in ("shop_aliases", "account_doubts", "statement_rows"):
            connection.execute(f"DROP TABLE {table}")
        for column in ("account_number", "scope", "kind"):
            connection.execute(f"ALTER TABLE ledger_statements DROP COLUMN {column}")
        for column in ("category_major", "category_minor"):
            connection.execute(f"ALTER TABLE row_notes DROP COLUMN {column}")
        connection.execute("ALTER TABLE dataset_tables DROP COLUMN reading")
        connection.execute("ALTER TABLE dataset_files DROP COLUMN sheet")
        for column in ("asks_first", "text_format"):
            connection.execute(
                f"ALTER TABLE ledger_versions ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0"
            )
        connection.execute("PRAGMA user_version = 17")


@pytest.mark.parametrize("lacks_last", [True, False])
def test_a_database_with_a_table_of_unsent_changes_is_read_and_then_brought_up_to_date(
    notes, chroma, lacks_last
):
    known = known_of(notes)
    if lacks_last:
        index_of(notes).drop([known.last_sent])
    index_of(notes).put([9_001], notes_vector())
    client_of(chroma).create_collection("mdvec-1-0-retired")
    back_to_format_17(notes, lacks_last=lacks_last)
    answer = notes.search("水の話 3", k=1)
    assert (answer.results[0].file_path, answer.notes) == ("3.md", ())
    with open_database(notes.database, "write"):
        assert known_of(notes) == replace(known, last_sent=known.last_sent - lacks_last, size=0)
    assert notes.search("水の話 3", k=1).notes == ()
    assert notes.import_().chunks_embedded == 0
    assert known_of(notes).name == known.name
    check_engines_agree(notes)
    assert "mdvec-1-0-retired" not in collections_of(chroma)
    assert (
        notes.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'outbox*' OR name GLOB 'ret*'")
        == []
    )


def fill(folder: Path, seed: int) -> None:
    """Write files of many short sections; another seed changes half of them and deletes some."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(24):
        words = random.Random(f"{number}-{seed if number % 2 else 0}")
        path = folder / f"{number:03}.md"
        if words.random() < 0.2 and number % 2:
            path.unlink(missing_ok=True)
            continue
        sections = (
            f"## 節 {words.random()}\n\n{words.choice('春夏秋冬')}の話。" for _ in range(60)
        )
        path.write_text("\n\n".join(sections), encoding="utf-8")


def kill_and_recover(importing, chroma, collection: Collection, moment: random.Random) -> None:
    """Change the files, import them, and kill the import or Chroma at some moment."""
    fill(collection.folder, moment.randrange(10**6))
    mode = moment.choice(["update", "update", "replace"])
    with importing(collection, mode) as child:
        try:
            child.wait(timeout=moment.uniform(0.4, 2.5))
        except subprocess.TimeoutExpired:
            if moment.random() < 0.5:
                child.kill()
            else:
                chroma.kill()
        child.communicate()
    if not chroma.is_running:
        chroma.start()
    collection.import_()
    collection.check()
    check_engines_agree(collection)
    undisturbed = Collection(
        collection.folder, collection.database.with_name(f"{moment.random()}.sqlite")
    )
    undisturbed.import_("new")
    assert collection.contents() == undisturbed.contents()
    there = {path.name for path in collection.folder.iterdir()}
    answer = collection.search("春の話", mode="vector", k=50)
    assert {hit.file_path for hit in answer.results} <= there


@pytest.mark.soak
@pytest.mark.parametrize("rounds", [1, 30])
def test_killing_the_import_or_chroma_loses_and_doubles_nothing(
    collection, importing, chroma, rounds
):
    collection.engine = chroma.address
    moment = random.Random(rounds)
    fill(collection.folder, 1)
    collection.import_("new")
    for _ in range(rounds):
        kill_and_recover(importing, chroma, collection, moment)
