"""Finds the lines at the end of a CSV file that hold one text each, without reading all of it."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from mdvec.datasets.core.notes_below import MIN_WIDTH, NotesBelow, filled_cells, text_alone
from mdvec.datasets.interfaces.csv_head import Head
from mdvec.text import UTF_8

_TAIL_BYTES = 2**16
_MAX_LINES = 1_000
"""How many lines above the notes are checked for whether they usually hold single texts."""


@dataclass(frozen=True, slots=True)
class NoteLines:
    """Notes at the end of a CSV file.

    Attributes:
        notes: their texts.
        position: the byte position of their first line.
        is_short: whether that line has one cell, without delimiters for others.
        empty: the number of empty rows below that line, which ``cut`` removes as well.
    """

    notes: NotesBelow = field(default_factory=NotesBelow)
    position: int = 0
    is_short: bool = False
    empty: int = 0

    def cut(self, rows: Path) -> None:
        """Remove their lines from a copy of the rows."""
        if self.notes.texts:
            self.notes.are_left_out = True
            os.truncate(rows, self.position)


def note_lines(rows: Path, head: Head, skipped: int) -> NoteLines:
    """The notes at the end of a UTF-8 file; its first ``skipped`` lines are not rows."""
    if len(head.names) == 1:
        return NoteLines()
    try:
        return _note_lines(rows, head, skipped)
    except csv.Error:  # a carriage return within an unquoted cell
        return NoteLines()


def _note_lines(rows: Path, head: Head, skipped: int) -> NoteLines:
    with rows.open("rb") as stream:
        size = stream.seek(0, io.SEEK_END)
        start = max(size - _TAIL_BYTES, 0)
        stream.seek(start)
        if start:
            stream.readline()
        lines = stream.readlines()
    lines = lines[0 if start else skipped :]
    notes, end, lines_found, empty = NotesBelow(), size, NoteLines(), 0
    above = iter(reversed(lines))
    parts: list[bytes] = []
    is_within = False
    for line in above:
        end -= len(line)
        parts.insert(0, line)
        is_within ^= line.count(b'"') % 2 == 1
        if is_within:  # the line begins within a cell
            continue
        texts = (part.decode(UTF_8, "replace") for part in parts)
        row, *others = csv.reader(texts, delimiter=head.delimiter)
        if others:  # quotation marks within other text
            return NoteLines()
        parts.clear()
        if text := text_alone(row):
            notes.texts.insert(0, text)
            lines_found = NoteLines(notes, end, len(row) == 1, empty)
        elif len(filled_cells(row)) > 1:
            break
        elif any(row):
            return NoteLines()
        else:
            empty += bool(row)
    else:
        return NoteLines()
    rest = [line.decode(UTF_8, "replace") for line in islice(above, _MAX_LINES)]
    notes.are_usual = len(head.names) < MIN_WIDTH or any(
        map(text_alone, csv.reader(reversed(rest), delimiter=head.delimiter))
    )
    return lines_found
