"""Searches and imports that nobody wants any more end at their next step."""

import fcntl
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from mdvec.cancelling import Cancelled, cancelled_by, is_cancelled
from mdvec.embedding.embedder import Embedder
from mdvec.importing.job import ImportInterrupted
from mdvec.search.answer import Question, search
from mdvec.timing import Stopwatch


def test_a_cancelled_search_begins_no_further_stage(collection):
    collection.write("a.md", "# 水\n\n水を備えます。\n")
    collection.import_("new")
    cancellation = Event()

    @contextmanager
    def embedder_of(name):
        cancellation.set()
        yield Embedder(collection.backend)

    asked = len(collection.backend.embedded)
    with cancelled_by(cancellation), pytest.raises(Cancelled):
        search(collection.database, Question("水", (collection.name,)), embedder_of)
    assert len(collection.backend.embedded) == asked
    assert collection.places("水") == ["a.md"]


@pytest.mark.parametrize("mode", ["new", "replace"])
def test_a_cancelled_import_ends_with_the_next_file_and_tells_what_it_kept(collection, mode):
    for name in ("a.md", "b.md", "c.md"):
        collection.write(name, f"# {name}\n\n本文。\n")
    cancellation = Event()
    with cancelled_by(cancellation), pytest.raises(ImportInterrupted, match="1 of 3 files"):
        collection.import_(
            mode, on_progress=lambda told: cancellation.set() if told.files_done else None
        )
    collection.check()
    assert len(collection.contents()) == (1 if mode == "new" else 0)


def test_an_import_that_waits_for_another_can_be_cancelled(collection):
    cancellation = Event()
    with Path(f"{collection.database}.import-1.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with cancelled_by(cancellation), pytest.raises(Cancelled):
            collection.import_("new", on_notice=lambda _: cancellation.set())


def test_what_must_not_be_cancelled_half_way_runs_to_its_end():
    cancellation = Event()
    cancellation.set()
    with cancelled_by(cancellation):
        with cancelled_by(None), Stopwatch().stage("whole"):
            assert not is_cancelled()
        with pytest.raises(Cancelled), Stopwatch().stage("part"):
            pytest.fail("the stage began")
