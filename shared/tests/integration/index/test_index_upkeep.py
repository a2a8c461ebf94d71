"""The indexes are always those of the chunks: after edits, rebuilds, and the loss of one."""

import random

import apsw
import numpy as np
import pytest
from collection import Collection
from tiny_embedder import TinyBackend

from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.importing.job import ImportReport
from mdvec.index import chunks as vectors
from mdvec.index import signature_cache as signed
from mdvec.index.tables import Tables
from mdvec.manage import registering
from mdvec.manage.tool_import import import_tool

LETTERS = "春夏秋冬花鳥風月食費水道カタナabc。\n"


def scribble(collection: Collection, words: random.Random) -> None:
    """Write, change, move and delete a few files."""
    for _ in range(words.randint(1, 4)):
        file = f"{words.randint(0, 7)}.{words.choice(['md', 'txt'])}"
        path = collection.folder / file
        match words.choice(["write", "write", "delete", "move", "empty"]):
            case "write":
                sections = [
                    f"## 節{words.randint(0, 9)}\n\n{''.join(words.choices(LETTERS, k=200))}\n\n"
                    for _ in range(words.randint(0, 4))
                ]
                collection.write(file, f"# 題{words.randint(0, 9)}\n\n" + "".join(sections))
            case "delete":
                path.unlink(missing_ok=True)
            case "move":
                if path.exists():
                    path.rename(path.with_name(f"moved{words.randint(0, 3)}.md"))
            case "empty":
                collection.write(file, words.choice(["", "\n", "🍙", "。"]))


def scores(collection: Collection) -> list[list[float]]:
    return [
        [hit.score for hit in collection.search(query, 3).results]
        for query in ("食費", "春の花", "abc", "節3")
    ]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))]
)
def test_after_any_edits_the_indexes_are_those_of_a_fresh_import(tmp_path, seed):
    words = random.Random(seed)
    collection = Collection.of(tmp_path, {"keep.md": "# 残る\n\n食費の話。\n"})
    for _ in range(6):
        scribble(collection, words)
        collection.import_(words.choice(["update", "update", "update", "replace"]))
        collection.check()
    fresh = Collection(collection.folder, tmp_path / "fresh.sqlite")
    fresh.import_("new")
    fresh.check()
    assert collection.contents() == fresh.contents()
    assert scores(collection) == scores(fresh)


def test_an_import_merges_the_many_segments_of_the_lexical_index(collection):
    collection.write("0.md", "# 家計簿\n\n食費\n")
    collection.import_("new")
    with open_database(collection.database, "write") as connection:
        connection.execute("INSERT INTO fts_1_1 (fts_1_1, rank) VALUES ('automerge', 0)")
    for number in range(1, 12):
        collection.write(f"{number}.md", f"# 節{number}\n\n食費の話。\n")
    collection.import_("update")
    with open_database(collection.database, "read") as connection:
        assert connection.execute("SELECT count(DISTINCT segid) FROM fts_1_1_idx").get == 1
    collection.check()


@pytest.fixture
def imported(collection):
    collection.write("food.md", "# 家計簿\n\n## 食費\n\n今月は四万円まで。\n")
    collection.write("water.md", "# 防災\n\n## 水\n\n一人一日三リットル。\n")
    collection.import_("new")
    collection.backend.embedded.clear()
    return collection


def lose(collection: Collection, kind: str) -> None:
    """Drop a derived index, as no program does."""
    with open_database(collection.database, "write") as connection:
        if kind == "fts":
            connection.execute("DROP TABLE terms_1_1")
        connection.execute(f"DROP TABLE {kind}_1_1")


def again(collection: Collection, mode: str = "update") -> tuple[ImportReport, list[str]]:
    said: list[str] = []
    return collection.import_(mode, on_notice=said.append), said


@pytest.mark.parametrize("kind", ["terms", "fts", "signatures"])
def test_an_index_that_is_missing_is_built_again_by_the_next_import_which_says_so(imported, kind):
    lose(imported, kind)
    report, said = again(imported)
    assert said == ["building the search indexes of 'notes' for this version of mdvec …"]
    assert (report.unchanged, report.chunks_embedded, imported.backend.embedded) == (2, 0, [])
    imported.check()
    assert imported.places("食費", k=1, mode="lexical") == ["food.md"]
    assert again(imported)[1] == []


def test_an_interrupted_building_of_the_indexes_is_begun_again(imported):
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    lose(imported, "signatures")
    with pytest.raises(Exception, match="stopped before the first file"):
        imported.import_(on_notice=stop)
    assert len(again(imported)[1]) == 1
    with pytest.raises(Exception, match="stopped before the first file"):
        import_tool(imported.request("replace"), stop)
    imported.check()


def test_many_chunks_are_searched_by_signatures_as_exactly_as_one_by_one(collection):
    words = random.Random(5)
    for number in range(30):
        lines = ["".join(words.choices(LETTERS[:-2], k=60)) for _ in range(60)]
        collection.write(f"{number}.txt", "\n\n".join(lines))
    collection.import_("new", min_chars=0, size=64, overlap=0)
    (total,) = collection.rows("SELECT count(*) FROM vectors_notes")[0]
    assert total > 1_600
    rows = collection.rows("SELECT embedding FROM vectors_notes")
    vectors = np.stack([np.frombuffer(row[0], np.float32) for row in rows])
    found, wanted = 0, 0
    for query in ("春夏秋冬", "食費と水道", "abc", "カタナ 花鳥風月"):
        cosines = vectors @ Embedder(collection.backend).embed_query(query)
        best = set(np.round(np.sort(cosines)[-10:], 4).tolist())
        hits = collection.search(query, 10, mode="vector").results
        found += sum(float(np.float32(hit.explanation.cosine)) >= min(best) - 2e-4 for hit in hits)
        wanted += 10
    assert found >= 0.95 * wanted


def test_the_index_holds_no_text_of_its_own(collection):
    collection.write("a.md", "# 一\n\n食費の話。\n")
    collection.import_("new")
    connection = apsw.Connection(str(collection.database))
    assert connection.execute("SELECT title, text FROM fts_1_1").fetchall() == [(None, None)]
    connection.close()


def test_signatures_of_a_file_that_was_made_anew_at_the_same_place_are_not_those_of_the_old(
    tmp_path,
):
    """What is kept in memory belongs to a table, not to a path."""
    query = Embedder(TinyBackend()).embed_query("水")
    for texts in (("水", "train station"), ("train station", "水")):
        made = Collection.of(tmp_path, {f"{at}.md": text for at, text in enumerate(texts)})
        with open_database(made.database, "read") as connection:
            names = Tables(connection, 1, "notes", 1)
            (nearest,) = signed.likely_nearest(names, query, 2, 1)
            (chunk,) = vectors.stored_chunks(names, [nearest], None)
        assert chunk.content == "水"
        registering.delete_tool(made.database, "notes")
        for file in tmp_path.glob("vectors.sqlite*"):
            file.unlink()
