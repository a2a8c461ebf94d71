"""Collections of different kinds, what is asked of each, and what none of it answers."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import markdown_files
from finding import evenly, once
from frames import frames
from headings import Owners, headless_index
from invented_notes import write_notes
from jsquad import passages_of
from mdvec.embedding.embedder import Embedder
from mdvec.index.chunks import StoredChunk
from processes import Bench
from section_finding import Document, Question, heading_questions, read_document, sections_at

OTHERS = 60
"""Questions that each collection is asked out of each other one."""
USERS_QUESTIONS = Path(__file__).with_name("users_questions.toml")
_SELF_CONTAINED = 8  # characters: 概要 alone asks nothing that another collection could not answer

KeysOf = Callable[[StoredChunk], Sequence[object]]
"""What a chunk stands for, by which places are counted: its sections, or its file."""


@dataclass(frozen=True)
class Collection:
    """A database, its questions with the right key of each, and how chunks become keys."""

    name: str
    database: Path
    asked: tuple[tuple[str, object], ...]
    keys: KeysOf


def headings_of(bench: Bench, embedder: Embedder) -> list[Collection]:
    """The documentation without its headings, asked for them in two languages, bare."""
    documents = [read_document(path) for path in markdown_files(bench.corpus)]
    questions = _with_anchor(documents)
    index = headless_index(bench, documents, embedder)
    languages = {
        "react-ja, headings": [question.words for question in questions],
        "react-ja, English anchors": [question.anchor for question in questions],
    }
    answers = [question.answer for question in questions]
    return [
        Collection(
            name, index.database, tuple(zip(words, answers, strict=True)), by_owner(index.owners)
        )
        for name, words in languages.items()
    ]


def collections(bench: Bench, embedder: Embedder) -> list[Collection]:
    """React as it is imported, asked in sentences; the passages of JSQuAD; invented notes."""
    return [
        _react(bench, embedder),
        jsquad_collection(bench, embedder),
        notes_collection(bench, embedder),
    ]


def notes_collection(bench: Bench, embedder: Embedder) -> Collection:
    """The invented notes, by file."""
    folder = bench.folder / "notes"
    notes = write_notes(folder)
    asked = tuple((question, note.path) for note in notes for question in note.questions)
    return Collection("notes", once(bench, "notes", folder, embedder), asked, by_file)


def users_collection(bench: Bench, embedder: Embedder) -> tuple[Collection, list[str]]:
    """React as it is imported, asked in users' own words; and the user who asks each question.

    Questions are left out whose section the documentation no longer has.
    """
    files = markdown_files(bench.corpus)
    documents = [read_document(path) for path in files]
    names = [path.relative_to(bench.corpus).as_posix() for path in files]
    answers = {
        (names[number], question.anchor.replace(" ", "-")): question.answer
        for question in heading_questions(documents)
        for number in [question.answer[0]]
    }
    written = tomllib.loads(USERS_QUESTIONS.read_text("utf-8"))["question"]
    there = [one for one in written if (one["file"], one["section"]) in answers]
    asked = tuple((one["text"], answers[one["file"], one["section"]]) for one in there)
    database = once(bench, "react", bench.corpus, embedder)
    collection = Collection("react-ja, users", database, asked, by_position(documents, names))
    return collection, [one["user"] for one in there]


def unanswerable(of: Collection, all_of_them: Sequence[Collection]) -> Iterator[str]:
    """What was asked of the other collections, evenly chosen."""
    for other in all_of_them:
        if other is not of:
            yield from evenly([words for words, _ in other.asked], OTHERS)


def _react(bench: Bench, embedder: Embedder) -> Collection:
    files = markdown_files(bench.corpus)
    documents = [read_document(path) for path in files]
    sentences = frames(held_out=False)  # the studies choose constants by these
    asked = [
        (sentences[number % len(sentences)].around(question.words), question.answer)
        for number, question in enumerate(_with_anchor(documents))
        if len(question.words) >= _SELF_CONTAINED
    ]
    names = [path.relative_to(bench.corpus).as_posix() for path in files]
    return Collection(
        "react-ja, sentences",
        once(bench, "react", bench.corpus, embedder),
        tuple(asked),
        by_position(documents, names),
    )


def jsquad_collection(bench: Bench, embedder: Embedder) -> Collection:
    """The passages of JSQuAD, by file."""
    passages = passages_of(bench, every=1)
    database = once(bench, "jsquad", passages.folder, embedder)
    asked = tuple((question.words, question.file) for question in passages.asked)
    return Collection("JSQuAD", database, asked, by_file)


def _with_anchor(documents: list[Document]) -> list[Question]:
    return [question for question in heading_questions(documents) if question.anchor]


def by_file(one: StoredChunk) -> Sequence[object]:
    """A chunk stands for its file."""
    return [one.file_path]


def by_owner(owners: Owners) -> KeysOf:
    """A chunk stands for the sections that it was cut from."""
    return lambda one: owners[one.file_path, one.chunk_index]


def by_position(documents: Sequence[Document], names: Sequence[str]) -> KeysOf:
    """A chunk stands for the sections that its text reaches into."""
    numbers = {name: number for number, name in enumerate(names)}

    def keys(one: StoredChunk) -> Sequence[object]:
        number = numbers[one.file_path]
        span = one.start_position, one.end_position
        return [(number, start) for start in sections_at(documents[number], *span)]

    return keys
