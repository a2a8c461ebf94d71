"""A collection of invented notes in Japanese and some English, and what is asked of each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

NOTES = Path(__file__).with_name("invented_notes.toml")


@dataclass(frozen=True, slots=True)
class Note:
    """A note, and the questions that it answers and no other note does."""

    path: str
    content: str
    questions: tuple[str, ...]


def invented_notes() -> list[Note]:
    """All notes, those that are written out and those that are made of rows."""
    read = tomllib.loads(NOTES.read_text("utf-8"))
    notes = [_note(*written) for written in read["notes"]]
    for family in read["families"]:
        for row in family["rows"]:
            path, title, text = (family[part].format(*row) for part in ("path", "title", "text"))
            notes.append(_note(path, title, text, [ask.format(*row) for ask in family["asks"]]))
    return notes


def write_notes(folder: Path) -> list[Note]:
    """Write them as Markdown files below a folder."""
    notes = invented_notes()
    for note in notes:
        file = folder / note.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note.content, encoding="utf-8")
    return notes


def _note(path: str, title: str, text: str, questions: list[str]) -> Note:
    return Note(path, f"# {title}\n\n{text}\n", tuple(questions))
