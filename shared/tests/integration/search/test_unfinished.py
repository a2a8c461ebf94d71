"""An import that has not come to its end: whoever asks is told how far it came."""

import signal
from contextlib import nullcontext
from dataclasses import replace

import pytest
from collection import Collection

from mdvec.embedding.embedder import Embedder
from mdvec.importing.job import ImportInterrupted
from mdvec.importing.options import ChunkingSettings
from mdvec.manage import list_tools
from mdvec.manage.status import overview
from mdvec.manage.tool_import import import_tool
from mdvec.search.answer import Question, search
from mdvec.tools import only_import_of

GO_ON = "continue with: mdvec import -n notes --mode update"


@pytest.fixture
def many(collection):
    for number in range(12):
        collection.write(f"{number:02}.md", f"# 節 {number}\n\n言葉{number}。\n")
    return collection


def stopped(collection: Collection, mode: str, files: int) -> None:
    """Import, and stop once that many files are done; what the process does last is not done."""

    def stop(progress) -> None:
        if progress.files_done == files:
            raise KeyboardInterrupt

    with pytest.raises(ImportInterrupted):
        collection.import_(mode, on_progress=stop)


def said(collection: Collection) -> tuple[str, ...]:
    """What a search says, which is what the status says, too."""
    notes = collection.search("言葉").notes
    (tool,) = overview(collection.database).tools
    assert notes == (() if tool.unfinished is None else (tool.unfinished,))
    return notes


def test_a_first_import_that_was_stopped_is_named_with_how_far_it_came(many):
    stopped(many, "new", 5)
    assert said(many) == (
        f"notes has 5 documents so far: its first import has not finished (5 of 12 files); {GO_ON}",
    )
    stopped(many, "update", 3)
    assert said(many) == (
        f"notes has 8 documents so far: its first import has not finished (8 of 12 files); {GO_ON}",
    )
    many.import_("update")
    assert said(many) == ()


def test_an_import_that_has_just_begun_is_named_as_running_before_it_holds_its_lock(many):
    stopped(many, "new", 5)
    question = Question("言葉", ("notes",))
    answer = search(
        many.database, question, lambda _: nullcontext(Embedder(many.backend)),
        has_begun=lambda tool: tool == "notes",
    )  # fmt: skip
    assert [note.rpartition("; ")[2] for note in answer.notes] == ["an import is running"]


def test_an_update_that_was_stopped_is_named_until_one_comes_to_its_end(many):
    many.import_("new")
    for number in range(6):
        many.write(f"{number:02}.md", f"# 節 {number}\n\n別の言葉{number}。\n")
    stopped(many, "update", 2)
    assert said(many) == (
        "notes may be older than its files: its last import has not finished (8 of 12 files); "
        f"{GO_ON}",
    )
    many.import_("replace")
    assert said(many) == ()


def test_a_rebuild_that_was_stopped_left_everything_and_says_nothing(many):
    many.import_("new")
    stopped(many, "replace", 5)
    assert said(many) == ()


def test_a_first_import_that_nothing_can_be_searched_of_before_its_end_says_so(many, importing):
    with importing(many, "replace") as child:
        for _ in range(4):
            child.stdout.readline()
        child.send_signal(signal.SIGSTOP)
        (note,) = said(many)
        assert note.startswith("notes has nothing to search before its first import ends, ")
        assert note.endswith(" so far; an import is running")
        child.kill()
        child.wait()
    (note,) = said(many)
    assert note.startswith("notes has nothing to search: its first import, ")
    assert note.endswith("begin again with: mdvec import -n notes --mode replace --model tiny")
    many.import_("replace")
    assert said(many) == ()


def test_a_first_import_is_named_before_its_index_has_begun(many):
    (tool,) = list_tools(many.database, active_only=False)
    with only_import_of(many.database, tool, lambda _: None):
        assert said(many) == (
            "notes has 0 documents so far: its first import has not finished; an import is running",
        )
    assert said(many) == ()


def test_an_import_in_another_process_is_named_as_running_then_killed_as_stopped(many, importing):
    with importing(many, "new") as child:
        for _ in range(4):
            child.stdout.readline()
        child.send_signal(signal.SIGSTOP)
        (note,) = said(many)
        assert note.endswith("; an import is running")
        child.kill()
        child.wait()
    (note,) = said(many)
    assert note.endswith(GO_ON)
    there = len(many.rows("SELECT 1 FROM documents_notes"))
    assert note.startswith(f"notes has {there} documents so far: its first import has not finished")


def test_a_rebuild_after_a_first_import_that_was_stopped_is_not_that_import(many, importing):
    stopped(many, "new", 5)
    with importing(many, "replace") as child:
        for _ in range(4):
            child.stdout.readline()
        child.send_signal(signal.SIGSTOP)
        (note,) = said(many)
        child.kill()
        child.wait()
    assert note.startswith("notes is being built again, ")
    assert note.endswith("until that is complete, searches read what was there before")
    assert said(many) == (
        "notes has 5 documents so far: its first import has not finished (5 of 12 files); "
        "continue with: mdvec import -n notes --mode replace",
    )


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({}, ""),
        ({"usual_model": "tiny"}, ""),  # the settings name it, now as later
        ({"model": "tiny"}, " --model tiny"),
        ({"chunking": ChunkingSettings(strategy="token", size=100, overlap=9)},
         " --chunk-strategy token --chunk-size 100 --chunk-overlap 9"),
        ({"model": "tiny", "take_scan": True}, " --model tiny --take-scan"),
    ],
)  # fmt: skip
def test_a_killed_rebuild_is_begun_again_with_the_options_that_it_had(many, asked, options):
    many.import_("new")

    def killed(_) -> None:
        raise SystemExit

    request = replace(many.request("replace"), **asked)
    with pytest.raises(SystemExit):
        import_tool(request, lambda _: Embedder(many.backend), on_progress=killed)
    (note,) = said(many)
    assert note.endswith(f"begin again with: mdvec import -n notes --mode replace{options}")
    import_tool(request, lambda _: Embedder(many.backend))
    assert said(many) == ()
    assert many.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'options%'") == []


def test_an_empty_tool_and_one_without_changes_are_finished(many):
    assert said(many) == ()
    many.import_("new")
    many.import_("update")
    assert said(many) == ()


def test_an_answer_that_finds_nothing_names_the_files_that_could_not_be_read(collection):
    collection.write("a.md", "# 散歩\n\n川まで歩いた。\n")
    (collection.folder / "c.md").write_bytes(b"\0\0\0")
    collection.import_("new")
    lacking = "answers from notes lack what could not be imported: c.md (list_sources says why)"
    denied = collection.search("紫式部")
    assert denied.notes[:2] == ('nothing here mentions "紫式部"', lacking)
    assert lacking not in collection.search("川まで歩いた散歩").notes
    collection.write("c.md", "# 紫式部\n\n日記を書いた。\n")
    collection.import_()
    assert lacking not in collection.search("清少納言").notes
