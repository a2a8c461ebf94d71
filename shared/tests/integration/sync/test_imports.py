"""Imports in processes of their own, with the embedded model."""

import os
import signal

import pytest
from collection import RULES, Collection
from import_children import import_children
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.manage import registering
from mdvec.settings import Settings
from mdvec.settings.sections import DatabaseSettings, ModelSettings
from mdvec.sync.freshness import check_source
from mdvec.sync.imports import Failed, ImportProcess, Imports, Result, Stopped, as_line, from_line
from mdvec.tools import only_import_of

SECONDS = 60


class Files(Collection):
    """A collection whose files changed long ago, so that no import waits for them to settle."""

    def write(self, path, text):
        super().write(path, text)
        os.utime(self.folder / path, (1, 1))


@pytest.fixture
def notes(tmp_path):
    notes = Files(tmp_path / "メモ", tmp_path / "v.sqlite")
    notes.write("水.md", "# 水\n\n三リットル。\n")
    return notes


def settings_of(notes):
    database = DatabaseSettings(path=str(notes.database))
    return Settings(database=database, model=ModelSettings(name="use"))


@pytest.fixture
def imports(notes):
    imports = Imports(settings_of(notes))
    yield imports
    imports.close()


def ended(run):
    assert run.wait(SECONDS)
    return run.end


def documents(notes):
    return {path for (path,) in notes.rows('SELECT file_path FROM "documents_notes"')}


def many(notes, count=100):
    for number in range(count):
        notes.write(f"{number}.md", f"# {number}\n\n水を備える。")


def begun(run, files):
    """Wait until that many files are in."""
    while run.progress is None or run.progress.files_done < files:
        assert not run.wait(0.01), run.end


def test_an_import_goes_on_while_one_wants_it_and_tells_its_result_and_the_index_is_fresh(
    notes, imports
):
    (notes.folder / "壊.md").write_bytes(b"\0")
    run = imports.start("notes")
    run.want()
    run.give_up()  # another still wants it
    result = ended(run)
    assert isinstance(result, Result)
    assert [result.counts[name] for name in ("added", "failed", "total_chunks")] == [1, 1, 1]
    assert any("壊.md" in note for note in result.notes)
    assert not check_source(notes.database, "notes", RULES).is_stale
    with open_database(notes.database, "read") as connection:
        assert "use" in connection.execute("SELECT model FROM tools").get


def test_stopped_and_killed_imports_keep_what_is_in_and_the_next_goes_on(notes, imports):
    many(notes, 300)
    stopped = imports.start("notes")
    begun(stopped, 5)
    stopped.give_up()
    end = ended(stopped)
    assert isinstance(end, Stopped)
    assert end.text.startswith("stopped after ")
    kept = len(documents(notes))
    assert 5 <= kept < 301
    killed = imports.start("notes")
    begun(killed, kept + 5)
    import_children()[0].send_signal(signal.SIGKILL)
    end = ended(killed)
    assert isinstance(end, Failed)
    assert "was killed by signal 9; what it had finished is kept" in end.text
    then = len(documents(notes))
    assert kept < then < 301
    assert ended(imports.start("notes")).counts["added"] == 301 - then


def test_an_import_that_is_stopped_before_it_is_told_what_to_import(notes):
    settings = settings_of(notes)
    process = ImportProcess(settings, "notes", is_automatic=False)
    process.stop()
    (end,) = process.messages()
    assert isinstance(end, Stopped)
    assert end.text == "stopped before the import began; nothing was changed"


def test_what_is_asked_for_during_an_import_is_one_import_after_it_unless_it_is_given_up(
    notes, imports
):
    """The first waits for an import of another process."""
    tool = registering.find_tool(notes.database, "notes")
    with only_import_of(notes.database, tool, lambda _: None):
        first = imports.start("notes")
        while "is running; waiting for it to end" not in first.notice:
            assert not first.wait(0.01), first.end
        given_up = imports.start("notes")
        given_up.give_up()
        assert ended(given_up) == Stopped("stopped before the import began; nothing was changed")
        later = imports.start("notes")  # which joins nothing that was given up
        assert imports.start("notes") is later
    notes.write("米.md", "# 米\n")
    added = [ended(run).counts["added"] for run in (first, later)]
    assert sum(added) == 2
    assert imports.last("notes") is later
    assert documents(notes) == {"水.md", "米.md"}


@pytest.mark.soak
def test_an_automatic_import_stays_one_when_who_joined_it_gives_up(notes, imports):
    tool = registering.find_tool(notes.database, "notes")
    notes.write("disk/地.md", "# 地\n")
    ended(imports.start("notes"))
    with only_import_of(notes.database, tool, lambda _: None):
        imports.start("notes", is_automatic=True)
        waiting = imports.start("notes", is_automatic=True)
        assert imports.start("notes") is waiting
        assert not waiting.is_automatic
        waiting.give_up()
        (notes.folder / "disk" / "地.md").unlink()
    assert ended(waiting).counts["deleted"] == 0
    assert documents(notes) == {"水.md", "disk/地.md"}


def test_the_end_of_our_process_ends_the_import(notes, imports):
    many(notes)
    run = imports.start("notes")
    begun(run, 1)
    (child,) = import_children()
    assert child.nice() >= 10
    imports.close()
    assert isinstance(ended(run), Stopped)
    assert not child.is_running()
    assert isinstance(ended(imports.start("notes")), Stopped)


def test_a_file_that_is_being_written_is_imported_whole(notes, imports):
    file = notes.folder / "長.md"
    with file.open("w", encoding="utf-8") as writing:
        writing.write("# 長\n\n")
        writing.flush()
        run = imports.start("notes")
        while not import_children():
            assert not run.wait(0.01), run.end
        for _ in range(8):
            assert not run.wait(0.1), run.end
            writing.write("一行。\n")
            writing.flush()
    assert ended(run).counts["added"] == 2
    (text,) = notes.rows("SELECT content FROM documents_notes WHERE file_path = '長.md'")[0]
    assert text.count("一行。") == 8


def test_a_source_that_is_not_there_fails_with_one_sentence(notes, imports):
    notes.folder.rename(notes.folder.with_name("away"))
    end = ended(imports.start("notes"))
    assert isinstance(end, Failed)
    assert "does not exist" in end.text


@each("line", ["", "{", "[]", '{"message": "progress"}', '{"message": "no"}'])
def test_a_line_that_is_no_message_is_none(line):
    assert from_line(line) is None


def test_a_message_is_read_as_it_was_written():
    message = Result("notes", {"added": 1, "seconds": 0.5}, ("水.md: why\n",), ())
    assert from_line(as_line(message)) == message
