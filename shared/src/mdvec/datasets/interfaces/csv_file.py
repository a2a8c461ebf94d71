"""Converts a CSV or TSV file to Parquet.

Python determines the encoding and finds the header, and the notes at the end, for which it does not
read all of the file. DuckDB reads the rows between: from a large UTF-8 file in place, otherwise
from a copy in UTF-8.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TextIO

from mdvec.datasets.core.choices import DELIMITERS
from mdvec.datasets.core.first_row import NO_HEADER_NOTE
from mdvec.datasets.core.several_tables import MIN_WIDTH, NotesBelow, filled_cells, text_alone
from mdvec.datasets.core.sheet_cells import totals_note
from mdvec.datasets.core.sheet_header import header_notes
from mdvec.datasets.core.understood import FOUND, ReadingOptions, Understood
from mdvec.datasets.interfaces.csv_conversion import ConvertedRows, convert_rows
from mdvec.datasets.interfaces.csv_head import Head, headers_below, read_head
from mdvec.datasets.interfaces.csv_rows import Lines, Rows, lines_of
from mdvec.files import UnreadableFile, data_file_encoding, not_decoded
from mdvec.text import UTF_8, shown_name

_BLOCK = 2**20
_MIN_LARGE_BYTES = 2**24
_TAIL_BYTES = 2**16
_MAX_LINES = 1_000
"""How many lines above the notes are checked for whether they usually hold single texts."""


def csv_to_parquet(
    source: Path,
    target: Path,
    on_rows: Callable[[int], None] = lambda _: None,
    *,
    ending: str = "",
    reading: ReadingOptions = FOUND,
    large_from: int = _MIN_LARGE_BYTES,
) -> Understood:
    """Convert ``source`` to the Parquet file ``target``; returns how it was read.

    ``on_rows`` gets the number of rows read since its last call. ``ending`` is the file's suffix,
    if the path has none. ``reading`` is what the user says about the file. Files of fewer bytes
    than ``large_from`` are copied to a temporary file beside ``target``.

    Raises:
        UnreadableFile: the file cannot be converted; the message says why, and names the line.
        OSError: the copy cannot be written.
    """
    copy, plain = (target.with_name(f"{target.name}.{use}") for use in ("rows", "plain"))
    allowed = reading.delimiter or DELIMITERS[ending or source.suffix.lower()]
    try:
        lines = lines_of(source)
        encoding, is_guess = data_file_encoding(source, reading.encoding)
        is_large = source.stat().st_size >= large_from
        with source.open(encoding=encoding, newline="") as text:
            text.seek(0)
            head = read_head(text, allowed, reading)
            is_in_place = is_large and not reading.leaves_out_notes and encoding == UTF_8
            if is_in_place and _has_plain_head(text, head, lines):
                rows = Rows(source, head, head.lines, lines.number - head.lines, is_large)
                below = _note_lines(source, head, head.lines)
            else:
                _copy_below(text, head.lines, copy, is_uniform=lines.is_uniform)
                below = _note_lines(copy, head, 0)
                if reading.leaves_out_notes:
                    below.cut(copy)
                number = lines_of(copy).number
                rows = Rows(copy, head, 0, number, is_large, not lines.is_uniform)
        if below.is_short and not below.notes.are_left_out:
            line = rows.line_at(below.position)
            raise UnreadableFile(
                f"line {line}: it has one cell, unlike the rows above; if it is a note below the "
                "table, leave it out with --read notes=out"
            )
        converted = convert_rows(rows, target, plain, on_rows, reading)
        headers = () if is_large else tuple(headers_below(rows.file, head))
    except UnicodeError as error:
        raise not_decoded(reading.encoding) from error
    finally:
        copy.unlink(missing_ok=True)
        plain.unlink(missing_ok=True)
    notes = tuple(filter(None, _notes(head, headers, below, converted, reading)))
    return Understood(
        encoding, is_guess, head.delimiter, head.line, head.titles, converted.columns, notes
    )


def _notes(
    head: Head,
    headers: Iterable[str],
    below: _NoteLines,
    converted: ConvertedRows,
    reading: ReadingOptions,
) -> Iterator[str]:
    """Notes on the header, on rows that may be no data, and on rows that were left out."""
    if not head.line and not reading.header_row:
        yield NO_HEADER_NOTE
    yield from header_notes("line", head.top, head.line, head.doubtful)
    yield from headers
    yield below.notes.note()
    empty = converted.rows.empty + (below.empty if below.notes.are_left_out else 0)
    if empty:
        yield f"empty rows are left out: {empty:,}"
    if totals := converted.totals:
        shown = ", ".join(f"{shown_name(text)} ({number:,})" for text, number in totals.items())
        yield totals_note(shown, is_left_out=reading.leaves_out_totals)


def _has_plain_head(text: TextIO, head: Head, lines: Lines) -> bool:
    """Whether DuckDB counts the lines before the rows, and the rows, as Python does.

    DuckDB skips the lines before the rows, so quotation marks in them must be valid.
    """
    is_blank_value = len(head.names) == 1 and lines.ends_blank
    if not (lines.is_uniform and head.is_plain) or is_blank_value:
        return False
    text.seek(0)
    try:
        return all(csv.reader(islice(text, head.lines), delimiter=head.delimiter, strict=True))
    except csv.Error:
        return False


def _copy_below(text: TextIO, skipped: int, copy: Path, *, is_uniform: bool) -> None:
    """Copy the lines below the first ones as UTF-8, without the blank lines at the end.

    If line ends differ, those outside of quotation marks become LF.
    """
    text.seek(0)
    for _ in range(skipped):
        text.readline()
    is_within, ends = False, ""
    with copy.open("w", encoding="utf-8", newline="") as plain:
        while block := text.read(_BLOCK):
            if block[0] == "\ufeff" and not plain.tell():
                plain.write("\ufeff")  # DuckDB skips a BOM at the start; this one belongs to a cell
            while block.endswith("\r") and (more := text.read(1)):
                block += more
            if not is_uniform:
                parts = block.split('"')
                for at in range(is_within, len(parts), 2):
                    parts[at] = parts[at].replace("\r\n", "\n").replace("\r", "\n")
                is_within ^= len(parts) % 2 == 0
                block = '"'.join(parts)
            filled = block.rstrip("\r\n")
            plain.write(f"{ends}{filled}" if filled else "")
            ends = block[len(filled) :] if filled else ends + block


@dataclass(frozen=True, slots=True)
class _NoteLines:
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


def _note_lines(rows: Path, head: Head, skipped: int) -> _NoteLines:
    """The notes at the end of a UTF-8 file; its first ``skipped`` lines are not rows."""
    if len(head.names) == 1:
        return _NoteLines()
    try:
        return _last_texts(rows, head, skipped)
    except csv.Error:  # a carriage return within an unquoted cell
        return _NoteLines()


def _last_texts(rows: Path, head: Head, skipped: int) -> _NoteLines:
    with rows.open("rb") as stream:
        size = stream.seek(0, io.SEEK_END)
        start = max(size - _TAIL_BYTES, 0)
        stream.seek(start)
        if start:
            stream.readline()
        lines = stream.readlines()
    lines = lines[0 if start else skipped :]
    notes, end, lines_found, empty = NotesBelow(), size, _NoteLines(), 0
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
            return _NoteLines()
        parts.clear()
        if text := text_alone(row):
            notes.texts.insert(0, text)
            lines_found = _NoteLines(notes, end, len(row) == 1, empty)
        elif len(filled_cells(row)) > 1:
            break
        elif any(row):
            return _NoteLines()
        else:
            empty += bool(row)
    else:
        return _NoteLines()
    rest = [line.decode(UTF_8, "replace") for line in islice(above, _MAX_LINES)]
    notes.are_usual = len(head.names) < MIN_WIDTH or any(
        map(text_alone, csv.reader(reversed(rest), delimiter=head.delimiter))
    )
    return lines_found
