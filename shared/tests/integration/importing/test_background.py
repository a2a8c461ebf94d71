"""Words at once, vectors later: what an import in the background stores, and what comes after."""

from dataclasses import replace

import pytest
from collection import Collection
from tiny_embedder import TinyBackend

from mdvec.embedding.embedder import Embedder
from mdvec.importing.options import ImportRefused
from mdvec.index.chroma import ChromaServer
from mdvec.manage import registering
from mdvec.manage.doctor.database import check_indexes
from mdvec.manage.doctor.installed import check_sources
from mdvec.manage.status import details, overview
from mdvec.manage.tool_import import import_tool
from mdvec.settings.loading import Loaded, load_with_origins
from mdvec.sync.freshness import list_sources
from mdvec.tools import only_import_of

WATER = (
    "# 水\n\n三リットルを三日分備える。地震のあとで水道が止まることがあるからだ。家族が四人なら"
    "三十六リットルになる。古いものから順に飲む。\n\n"
    "## 置き場所\n\n玄関と寝室に分けて置くと、片方がふさがっても取り出せる。飲んだ分だけ買い足し、"
    "いつも同じ量を保つ。\n"
)
RICE = "# 米\n\n五キロを備える。\n"
WAITING = (
    "notes: 0 of 3 passages have vectors so far, words find the others; "
    "continue with: mdvec import -n notes --mode update"
)


@pytest.fixture
def notes(collection: Collection) -> Collection:
    collection.write("水.md", WATER)
    collection.write("米.md", RICE)
    return collection


def no_model(name):
    raise AssertionError("it was loaded")


def pending(notes: Collection) -> int:
    (count,) = notes.rows("SELECT count(*) FROM vectors_notes WHERE length(embedding) = 0")[0]
    return count


def installation(notes: Collection) -> Loaded:
    return load_with_origins({}, flags={"database": {"path": str(notes.database)}})


def test_words_find_what_is_stored_and_the_next_import_brings_the_vectors(notes, tmp_path):
    report = notes.import_("new", is_background=True)
    assert (report.added, report.chunks, report.chunks_embedded, report.chunks_pending) == (
        2, 3, 0, 3,
    )  # fmt: skip
    assert "0 embedded with tiny in" in report.lines()[0].text
    assert report.lines()[0].text.endswith("s, 3 without a vector yet")
    notes.check()
    answer = notes.search("玄関")
    assert answer.results[0].heading == "水 > 置き場所"
    assert answer.notes == (WAITING, "no other passage stands out for this question")
    assert notes.places("玄関", mode="vector") == []
    assert notes.backend.embedded == []

    report = notes.import_()
    assert (report.unchanged, report.chunks_embedded, report.chunks_pending) == (2, 3, 0)
    notes.check()
    undisturbed = Collection(notes.folder, tmp_path / "other.sqlite")
    undisturbed.import_("new")
    assert notes.contents() == undisturbed.contents()
    assert WAITING not in notes.search("玄関").notes
    assert notes.places("玄関", mode="vector") != []
    assert notes.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%pending'") == []


def test_its_state_is_in_the_status_the_sources_and_the_doctor(notes):
    notes.import_("new", is_background=True)
    assert overview(notes.database).tools[0].unfinished == WAITING
    assert list_sources(notes.database, notes.rules)[0].unfinished == WAITING
    (found,) = check_indexes(installation(notes))
    assert (found.level, found.sentence) == (
        "ok", "notes: its index of words has all 3 chunks, and that of vectors 0",
    )  # fmt: skip
    notes.import_()
    assert overview(notes.database).tools[0].unfinished is None


def test_the_status_counts_the_vectors_that_there_are(notes):
    notes.import_("new")
    notes.write("米.md", "# 米\n\n六キロを備える。\n")
    notes.import_(is_background=True)
    for vectors in (2, 3):
        assert overview(notes.database).tools[0].vectors == vectors
        contents = details(notes.database, "notes").contents
        assert dict(contents.content_facts())["vectors"] == vectors
        notes.import_()


def test_a_changed_document_keeps_the_vectors_of_what_stayed(notes):
    notes.import_("new")
    notes.backend.embedded.clear()
    notes.write("水.md", WATER.replace("三リットル", "四リットル"))
    notes.import_(is_background=True)
    assert (pending(notes), notes.backend.embedded) == (2, [])
    notes.check()
    assert notes.places("米", mode="vector") == ["米.md"]
    notes.import_()
    (embedded,) = notes.backend.embedded  # only the passage that changed
    assert "四リットル" in embedded
    assert notes.rows("SELECT count(*) FROM paid_vectors") == [(0,)]


def test_searches_read_the_old_vectors_until_those_of_a_rebuild_are_complete(notes):
    notes.import_("new")
    better = TinyBackend("better", dimension=24)
    answers = []

    def ask(progress) -> None:
        answers.append(notes.search("玄関", mode="vector"))

    import_tool(
        notes.request("replace", is_background=True), lambda _: Embedder(better), on_progress=ask
    )
    assert {len(answer.results) > 0 for answer in answers} == {True}
    assert {note for answer in answers for note in answer.notes} >= {
        "notes is being built again, 1 document so far; until that is complete, searches read "
        "what was there before"
    }
    notes.backend = better
    notes.check()
    assert (pending(notes), notes.search("玄関", mode="vector").results != ()) == (0, True)


@pytest.mark.parametrize("mode", ["update", "replace"])
def test_what_ended_an_import_that_nobody_watched_is_told_until_the_next_success(notes, mode):
    notes.import_("new")
    notes.write("米.md", "# 米\n\n六キロを備える。\n")

    class Dying(TinyBackend):
        def encode_documents(self, texts):
            raise RuntimeError("the graphics card is gone")

    request = replace(notes.request(mode), is_unattended=True)
    with pytest.raises(RuntimeError):
        import_tool(request, lambda _: Embedder(Dying("tiny")))
    for sentence in (
        overview(notes.database).tools[0].unfinished,
        list_sources(notes.database, notes.rules)[0].unfinished,
        next(note for note in notes.search("玄関").notes if "failed" in note),
        next(s for f in check_sources(installation(notes)) if "failed" in (s := f.sentence or "")),
    ):
        assert sentence.startswith(
            "an import of notes in the background failed: unexpected RuntimeError: the graphics "
            "card is gone; "
        )
        assert f"mdvec import -n notes --mode {mode}" in str(sentence)
    assert list_sources(notes.database, notes.rules)[0].failed == ()
    notes.import_(mode)
    assert overview(notes.database).tools[0].unfinished is None
    assert not any("failed" in note for note in notes.search("玄関").notes)


def test_a_document_that_changes_or_goes_before_its_vectors_came_leaves_nothing(notes):
    notes.import_("new", is_background=True)
    (notes.folder / "米.md").unlink()
    notes.write("水.md", "# 水\n\n別の文。\n")
    notes.import_()
    assert (pending(notes), len(notes.contents()), len(notes.backend.embedded)) == (0, 1, 1)
    notes.check()


def test_what_would_be_refused_does_not_wait_for_the_import_that_runs(notes):
    notes.import_("new", is_background=True)
    said: list[str] = []
    with (
        only_import_of(notes.database, registering.find_tool(notes.database, "notes"), said.append),
        pytest.raises(ImportRefused, match="has 2 documents already; use --mode update"),
    ):
        import_tool(notes.request("new", is_background=True), no_model, on_notice=said.append)
    assert said == []


def test_a_text_that_the_model_refuses_is_reported_and_the_others_get_their_vectors(notes):
    notes.import_("new", is_background=True)
    notes.backend.refusal = lambda text: "it is about rice" if "五キロ" in text else None
    report = notes.import_()
    assert [problem.file_path for problem in report.failed] == ["米.md"]
    assert (report.chunks_pending, pending(notes)) == (1, 1)
    notes.check()


def test_vectors_that_go_elsewhere_cannot_come_later(notes):
    notes.engine = ChromaServer(url="http://127.0.0.1:9")
    with pytest.raises(ImportRefused, match="leave out --background"):
        notes.import_("new", is_background=True)
