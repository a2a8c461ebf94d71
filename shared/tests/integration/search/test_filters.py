"""Filters: by path, tags and days, before ranking; exact where they leave little."""

import os
import random
from datetime import date, datetime

import numpy as np
import pytest
from collection import Collection
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.index import tables
from mdvec.index.documents import NewDocument, put_document
from mdvec.index.tables import Tables
from mdvec.manage import registering
from mdvec.search.candidates import MAX_ALL_CANDIDATES, MAX_COMPARED_EXACTLY, Retriever
from mdvec.search.core.filters import InvalidFilter, filters_of
from mdvec.search.filtering import narrow
from mdvec.search.listing import list_documents
from mdvec.text import properties
from mdvec.text.chunking import Chunk
from mdvec.text.properties import Properties
from mdvec.text.questions import analyse_question
from mdvec.text.tokens import ChunkingOptions
from mdvec.timing import Stopwatch
from mdvec.tools import registry

TODAY = date(2025, 11, 19)


def filters(**said):
    return filters_of(TODAY, **said)


UNDATED = (
    "documents of notes without a date that is read (date, created, updated "
    "or the like in the front matter, or the name), which since and until leave out: 2"
)


@pytest.fixture
def notes(collection):
    collection.write(
        "日記/a.md", "---\ntags: [会議, work/team]\ndate: 2025-11-12\n---\n計画の話。\n"
    )
    collection.write("日記/b.md", "---\ntags: 会議\ndate: 2025-06-01\n---\n計画の話。\n")
    collection.write("work/c.md", "---\naliases: 別名\n---\n計画の話。 #Work/solo\n")
    collection.write("work/d.txt", "計画の話。 #会議\n")
    collection.import_("new")
    return collection


@each(
    ("pattern", "passing"),
    [
        ("[2025] 会議/a.md", {"[2025] 会議/a.md"}),
        ("[2025] 会議/", {"[2025] 会議/a.md"}),
        ("[2025] */*.md", {"[2025] 会議/a.md"}),
        ("[2025]*.txt", set()),
        ("旅 (仮)*.md", {"旅 (仮)*.md", "旅 (仮)2.md"}),
        ("#メモ", {"#メモ/a.md", "old/#メモ/a.md"}),
        ("/[x]", {"[x]/a.md", "x/a.md"}),
        ("old/[x]/", {"old/[x]/a.md"}),
        ("[x]", {"[x]/a.md", "old/[x]/a.md", "x/a.md"}),
        ("![x]",
         {"[2025] 会議/a.md", "旅 (仮)*.md", "旅 (仮)2.md", "#メモ/a.md", "old/#メモ/a.md"}),
    ],
)  # fmt: skip
def test_a_path_as_it_is_written_passes_though_its_signs_have_a_meaning(pattern, passing):
    paths = ["[2025] 会議/a.md", "旅 (仮)*.md", "旅 (仮)2.md", "#メモ/a.md", "old/#メモ/a.md",
             "[x]/a.md", "old/[x]/a.md", "x/a.md"]  # fmt: skip
    wanted = filters(path=pattern).path
    assert {path for path in paths if wanted.matches(path)} == passing


@each(
    ("said", "files"),
    [
        ({"path": "日記/"}, "ab"),
        ({"path": "*.txt"}, "d"),
        ({"path": "/work/*.md"}, "c"),
        ({"path": "!work/"}, "ab"),
        ({"tags": ["会議"]}, "ab"),
        ({"tags": ["#会議", "WORK"]}, "a"),
        ({"tags": ["work"]}, "ac"),
        ({"tags": ["work/solo"]}, "c"),
        ({"since": "先週"}, "a"),
        ({"until": "2025年6月"}, "b"),
        ({"since": "2025-06-01", "until": "2025-06-01"}, "b"),
        ({"since": "2025", "tags": ["会議"], "path": "*.md"}, "ab"),
    ],
)
def test_only_what_passes_the_filters_is_found(notes, said, files):
    found = notes.search("計画の話", 50, filters=filters(**said))
    assert sorted(hit.file_path.rpartition("/")[2][0] for hit in found.results) == [*files]
    has_days_alone = {"since", "until"} >= said.keys()  # what has no date passes no other filter
    assert found.notes == ((UNDATED,) if has_days_alone else ())


def test_a_folder_whose_name_begins_with_an_exclamation_mark_is_offered(collection):
    for path in ("!inbox/a.md", "inbox/b.md", "c.md"):
        collection.write(path, "計画の話。\n")
    collection.import_("new")
    found = collection.search("計画の話", 9, filters=filters(path="!inbox/"))
    assert {hit.file_path for hit in found.results} == {"!inbox/a.md", "c.md"}
    (note,) = [note for note in found.notes if "gitignore" in note]
    assert note == (
        'path "!inbox/" was read as all files but those, as in .gitignore; for what is called so '
        "in notes write a backslash before the !"
    )
    listed = list_documents(collection.database, None, filters(path="!inbox/"))
    assert (listed.total, listed.notes) == (2, (note,))
    named = filters(path="\\!inbox/")
    assert collection.places("計画の話", 9, filters=named) == ["!inbox/a.md"]
    only_others = collection.search("計画の話", 9, filters=filters(path="!c.md"))
    assert not any("gitignore" in note for note in only_others.notes)


def test_the_day_in_a_files_name_counts_and_its_time_does_not(collection):
    collection.write("2024-12-05-standup.md", "計画の話。\n")
    collection.write("20241206.txt", "計画の話。\n")
    collection.write("other.md", "計画の話。\n")
    then = datetime.fromisoformat("2024-12-05T12:00").timestamp()
    os.utime(collection.folder / "other.md", (then, then))
    collection.import_("new")
    dated = {"2024-12-05-standup.md": "2024-12-05", "20241206.txt": "2024-12-06"}
    found = collection.search(
        "計画の話", 50, filters=filters(since="2024-12-05", until="2024-12-06")
    )
    assert {hit.file_path: hit.date for hit in found.results} == dated
    assert found.notes[0].endswith("which since and until leave out: 1")
    every = collection.search("計画の話", 50)
    assert {hit.file_path: hit.date for hit in every.results} == {**dated, "other.md": None}
    collection.write("task.md", "- [ ] 計画\n")
    collection.import_("update")
    for said, left_out in (({}, 2), ({"open_tasks": True}, 1), ({"exact": ["の話"]}, 1)):
        noted = collection.search("計画", 50, filters=filters(until="2024-12-06", **said)).notes
        assert noted[0].endswith(f"leave out: {left_out}")
    assert not collection.search("計画", 50, filters=filters(until="2024-12-06", path="2*")).notes


def test_an_index_of_earlier_properties_filters_by_what_it_has_until_an_import_reads_them_anew(
    tmp_path, monkeypatch
):
    with monkeypatch.context() as before:
        before.setattr(tables, "_PROPERTIES_FORMAT", "4")
        before.setattr(properties, "_DATE_KEYS", ("date",))
        old = Collection(tmp_path / "notes", tmp_path / "vectors.sqlite")
        old.write("a.md", "---\npublished_at: 2025-06-01\ntags: 会議\n---\n計画は [[b]] にある。\n")
        old.write("b.md", "---\ndate: 2025-06-02\n---\n計画の話。\n")
        old.import_("new")

    def found(**said):
        answer = old.search("計画の話", 50, filters=filters(**said))
        return {hit.file_path for hit in answer.results}, len(answer.notes)

    assert found(tags=["会議"]) == found(links_to="b") == ({"a.md"}, 0)
    assert found(since="2025-06") == ({"b.md"}, 1)
    old.backend.embedded.clear()
    old.import_()
    assert old.backend.embedded == []
    assert found(links_to="b") == ({"a.md"}, 0)
    assert found(since="2025-06") == ({"a.md", "b.md"}, 0)


def test_a_hit_carries_title_tags_and_date(notes):
    found = {hit.file_path: hit for hit in notes.search("計画の話", 50).results}
    told = {path: (hit.title, hit.tags, hit.date) for path, hit in found.items()}
    assert told == {
        "日記/a.md": ("a", ("会議", "work/team"), "2025-11-12"),
        "日記/b.md": ("b", ("会議",), "2025-06-01"),
        "work/c.md": ("c", ("Work/solo",), None),
        "work/d.txt": ("d", (), None),
    }


def test_the_newest_of_what_answers_come_first(notes):
    notes.write("e.md", "---\ndate: 2026-01-01\n---\n" + "まったく別の主題を長く述べる。" * 5)
    notes.import_()
    days = [hit.date for hit in notes.search("計画の話", 4, sort="newest").results]
    assert days == ["2025-11-12", "2025-06-01", None, None]


@pytest.mark.parametrize("asked", ["引っ越しの手引き", "てびき集", "renovation", "2021年1月30日"])
def test_aliases_tags_and_dated_names_are_searched(collection, asked):
    collection.write(
        "x/a.md", "---\naliases: [引っ越しの手引き, てびき集]\n---\n本文はここにある。\n"
    )
    collection.write("x/b.md", "---\ntags: home/renovation\n---\n本文はここにある。\n")
    collection.write("daily/2021-01-30.md", "本文はここにある。\n")
    for number in range(5):
        collection.write(f"{number}.md", "本文はここにある。ほかのことも書く。\n")
    collection.import_("new")
    collection.check()
    wanted = {"renovation": "x/b.md", "2021年1月30日": "daily/2021-01-30.md"}
    assert collection.places(asked, 1) == [wanted.get(asked, "x/a.md")]
    with open_database(collection.database, "write") as connection:
        notes_tables = registry.get_tool(connection, "notes").tables_in(connection)
        tables.drop_derived(notes_tables, tables.PROPERTY_TABLES)
    collection.import_()
    collection.check()


@each(
    ("said", "note"),
    [
        ({"tags": ["会議室"]}, 'no note of notes has the tag 会議室; similar tags: "会議"'),
        (
            {"tags": ["会議", "zzz"]},
            "no note of notes has the tag zzz; the most frequent tags: "
            '"会議", "Work/solo", "work/team"',
        ),
        (
            {"tags": ["別名"]},
            'no note of notes has the tag 別名; the front matter has it, for where: "aliases=別名"',
        ),
        ({"path": "nowhere/"}, "no note of notes has a path like nowhere/"),
        ({"since": "2030", "tags": ["会議"]}, "no note of notes is dated 2030-01-01 or later"),
        (
            {"tags": ["work/solo"], "path": "日記/"},
            "something of notes passes each filter alone, nothing passes all: "
            "path 日記/, tag work/solo",
        ),
    ],
)
def test_where_nothing_is_left_the_answer_says_which_filter_it_was(notes, said, note):
    found = notes.search("計画の話", filters=filters(**said))
    assert (found.results, found.notes[-1]) == ((), note)


@each(
    ("said", "right_form"),
    [
        ({"since": "いつか"}, "先週"),
        ({"until": "2025-13-01"}, "2025-06-01"),
        ({"since": "今年", "until": "昨年"}, "name the earlier day as since"),
        ({"path": " "}, "notes/2025/"),
        ({"path": "a\\"}, "*.md"),
        ({"path": "["}, ".gitignore"),
        ({"tags": ["#"]}, "会議"),
        ({"tags": ["会議", "会議", " "]}, "'' is not a tag"),
        ({"tags": ["t"] * 21}, "at most 20"),
        ({"links_to": " "}, "links_to is blank; give the path of a note"),
        ({"where": {"status": ""}}, "where 'status' has an empty value"),
        ({"where": {"status": ["open", " "]}}, "null (--where KEY)"),
        ({"exact": ["🍣", "\ufe0f"]}, "give words as they are written"),
        ({"exclude": ["\u200b "]}, "give words as they are written"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused_with_the_right_form(said, right_form):
    with pytest.raises(InvalidFilter) as refused:
        filters(**said)
    assert right_form in str(refused.value)
    assert "\n" not in str(refused.value)


def test_properties_follow_changes_and_rebuilds(notes):
    notes.write("日記/b.md", "---\ntags: 新\n---\n計画の話。\n")
    (notes.folder / "日記/a.md").unlink()
    notes.import_()
    for _ in range(2):
        assert notes.search("計画", filters=filters(tags=["会議"])).results == ()
        assert notes.places("計画", filters=filters(tags=["新"])) == ["日記/b.md"]
        notes.import_("replace")


def test_an_older_database_is_searched_unfiltered_until_its_next_import(notes):
    with open_database(notes.database, "write") as connection:
        notes_tables = registry.get_tool(connection, "notes").tables_in(connection)
        tables.drop_derived(notes_tables, tables.PROPERTY_TABLES)
    found = notes.search("計画の話", filters=filters(tags=["work"]), sort="newest")
    assert len(found.results) == 4
    (note,) = found.notes
    assert "searched without the filters (tag work)" in note
    assert "mdvec import -n notes --mode update" in note
    assert {(hit.tags, hit.date) for hit in found.results} == {((), None)}
    embedded = len(notes.backend.embedded)
    notes.import_()
    assert len(notes.backend.embedded) == embedded
    assert len(notes.search("計画の話", filters=filters(tags=["work"])).results) == 2


# --- exactness ---------------------------------------------------------------------------------

DIMENSION = 16
DOCUMENTS = 400
CHUNKS_EACH = 8


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Documents with random vectors; tag ``t5`` is on every fifth, ``t100`` on every hundredth."""
    folder = tmp_path_factory.mktemp("many")
    collection = Collection(folder / "docs", folder / "db.sqlite")
    draw = np.random.default_rng(7)
    words = random.Random(7)
    with open_database(collection.database, "write") as connection:
        tool = registry.get_tool(connection, "notes")
        names = Tables(connection, tool.id, tool.name, 1)
        with connection:
            tables.create_signatures(names)
            tables.create_text_indexes(names)
            options = ChunkingOptions("heading", 256, 32, (1, 2, 3), 50)
            registry.record_model(connection, tool, 1, ("tiny", "tiny@1:16:l2", DIMENSION), options)
            for number in range(DOCUMENTS):
                vectors = draw.standard_normal((CHUNKS_EACH, DIMENSION)).astype(np.float32)
                vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
                texts = [f"語 {words.choice(['いろは', 'abc'])}{number}" for _ in vectors]
                put_document(names, NewDocument(
                    f"{number % 7}/{number}.md", str(number), "x", f"題{number}", 1, number,
                    [Chunk(i, 0, 1, 1, 1, "", text) for i, text in enumerate(texts)], vectors,
                    Properties(tags=tuple(f"t{n}" for n in (1, 5, 100) if number % n == 0)),
                ))  # fmt: skip
    return collection


def every(connection, tag):
    """The ids and vectors of all chunks of the documents with a tag."""
    step = int(tag[1:])
    rows = connection.execute(
        "SELECT v.id, v.embedding FROM vectors_notes AS v "
        "JOIN documents_notes AS d ON d.id = v.document_id WHERE d.mtime_ns % ? = 0",
        (step,),
    ).fetchall()
    return np.array([row[0] for row in rows]), np.stack(
        [np.frombuffer(row[1], np.float32) for row in rows]
    )


@pytest.mark.parametrize(("tag", "documents"), [("t100", 4), ("t5", 80), ("t1", 400)])
def test_the_best_of_what_a_filter_leaves_are_found_exactly(many, tag, documents):
    sizes = (MAX_ALL_CANDIDATES, MAX_COMPARED_EXACTLY)
    left = documents * CHUNKS_EACH
    assert sum(size < left for size in sizes) == ("t100", "t5", "t1").index(tag)
    with open_database(many.database, "read") as connection:
        tool = registry.get_tool(connection, "notes")
        narrowed = narrow(connection, tool, filters(tags=[tag])).chunks
        assert narrowed.size == left
        ids, vectors = every(connection, tag)
        assert sorted(narrowed.ids().tolist()) == sorted(ids.tolist())
        for seed in range(10):
            query = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
            query /= np.linalg.norm(query)
            retriever = Retriever(connection, 10, "vector", Stopwatch())
            pool = retriever.candidates(tool, analyse_question("語 abc"), query, narrowed)
            best = ids[np.argsort(-(vectors @ query))[:10]]
            found = sorted(pool.chunks, key=lambda chunk: chunk.cosine or 0, reverse=True)[:10]
            assert [chunk.id for chunk in found] == best.tolist()


def test_an_exact_text_is_not_put_together_from_two_paragraphs(collection):
    collection.write("a.md", "# 方針\n\n整える\nDoctrine の設定。\n")
    collection.write("b.md", "# 別\n\n整える\n\nDoctrine の設定。\n")
    collection.import_("new")
    both = {"整える Doctrine": ["a.md"], "方針 整える": [], "Doctrine の設定": ["a.md", "b.md"]}
    for words, files in both.items():
        assert sorted(collection.places("設定", 9, filters=filters(exact=[words]))) == files


def test_a_search_for_an_exact_text_says_how_much_has_it_and_that_not_all_of_it_fits(collection):
    lines = "暮らしの記録を短く残しておくためのものです。" * 20
    for number in range(12):
        collection.write(f"{number}.md", f"# 手順\n\n## 準備\n\n手順 {number}。{lines}\n")
    collection.import_("new")
    named = filters(exact=["手順"])
    answer = collection.search("手順", k=50, max_chars=3000, filters=named)
    passages = answer.notes[-1].partition(": ")[2].partition(",")[0]
    assert len(answer.results) < 12 <= int(passages)
    assert answer.notes[-2:] == (
        "more was found than fits; use a smaller k, or ask more precisely",
        f"passages that pass the filters: {passages}, of documents: 12; without a query, documents "
        "are listed",
    )
    few = filters(exact=["手順 3"])
    assert not collection.search("手順", k=50, filters=few).notes


def test_a_tool_that_was_never_imported_does_not_hide_which_filter_it_was(notes):
    registering.add_tool(notes.database, "later", "not imported yet", notes.folder, "markdown")
    listing = list_documents(notes.database, None, filters(tags=["会議室"]))
    assert listing.notes[-1].startswith("no note of later, notes has the tag 会議室; similar tags:")
