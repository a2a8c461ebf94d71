"""Reads the head of a CSV or TSV file: its delimiter, titles, columns' names and first rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from mdvec.datasets.core.columns import column_names, numbered_names
from mdvec.datasets.core.first_row import NO_HEADER_NOTE, is_data
from mdvec.datasets.core.sheet_header import SAMPLE_ROWS, header_at, title
from mdvec.datasets.core.understood import NO_HEADER, Understood
from mdvec.files import UnreadableFile, why
from mdvec.sizes import MEGABYTE

DELIMITERS = {".csv": ",;\t|", ".tsv": "\t"}
"""The suffixes of such files, and their possible delimiters."""
MAX_COLUMNS = 10_000
TOO_MANY_COLUMNS = (
    f"it has more than {MAX_COLUMNS:,} columns; is it a table? Write one record a row"
)
_BLOCK = 2**20
_MAX_LINE_BYTES = 64 * MEGABYTE
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?[\r\n]*')
NumberedRows = Iterator[tuple[int, list[str]]]
"""Rows with the number of the line that each ends in."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the rows of a text begin, and what separates their cells.

    Attributes:
        delimiter: what separates cells.
        start: the position of the first row.
        lines: the number of lines before it.
    """

    delimiter: str
    start: int
    lines: int


@dataclass(frozen=True, slots=True)
class Head:
    """What comes before the rows of a table.

    Attributes:
        titles: the lines before the header.
        line: the header's line; 0 if there is none.
        names: the columns' names.
        rows_before: the number of rows up to the header.
    """

    titles: tuple[str, ...]
    line: int
    names: tuple[str, ...]
    rows_before: int


def dialect_of(text: TextIO, allowed: str, chosen: str) -> Dialect:
    """The dialect of a text, read from its start: the chosen delimiter, or one of ``allowed``."""
    named = _SEPARATOR_LINE.fullmatch(text.readline())
    start, lines = (text.tell(), 1) if named else (0, 0)
    if named and not chosen:
        return Dialect(named[1], start, lines)
    return Dialect(_delimiter(text, start, allowed), start, lines)


def below_header(rows: NumberedRows, header_row: int) -> tuple[Head, NumberedRows]:
    """The head of a table, and the rows below it.

    Raises:
        NoHeader: the header holds no names.
        UnreadableFile: there is no header.
    """
    if header_row > 0:
        first = []
        for numbered in rows:
            first.append(numbered)
            if numbered[0] >= header_row:
                break
        else:
            raise UnreadableFile(f"it has no line {header_row}, which --header-row names")
        at = len(first) - 1
    elif header_row == NO_HEADER:
        first, at = list(islice(rows, 1)), 0
    else:
        first = list(islice(rows, SAMPLE_ROWS))
        at = header_at([row for _, row in first])
    if not first:
        raise UnreadableFile("it is empty; put a line with the columns' names into it")
    titles = tuple(title(row) for _, row in first[:at])
    line, header = first[at]
    below = [row for _, row in first[at + 1 :]]
    if header_row == NO_HEADER or (not header_row and _is_data(header, below)):
        return Head((), 0, numbered_names([""] * len(header)), 0), chain(first, rows)
    head = Head(titles, line, column_names(header), at + 1)
    return head, chain(first[at + 1 :], rows)


def _is_data(header: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    column_names(header)  # a page of the web is named as one
    return is_data(header, below)


def understood_head(head: Head, header_row: int) -> Understood:
    """What there is to report about the head; ``header_row`` is what the user says about it."""
    notes = () if head.line or header_row else (NO_HEADER_NOTE,)
    return Understood(header_row=head.line, skipped=head.titles, notes=notes)


def filled_rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows without blank lines.

    Raises:
        UnreadableFile: a row has too many cells for a table.
    """
    for row in reader:
        if len(row) > MAX_COLUMNS:
            raise UnreadableFile(TOO_MANY_COLUMNS)
        if row:
            yield row


def check_lines(source: Path) -> None:
    """Check that no line is too long to be read into memory.

    Raises:
        UnreadableFile: one is.
    """
    length, line = 0, 1
    try:
        if source.stat().st_size <= _MAX_LINE_BYTES:
            return
        with source.open("rb") as stream:
            while block := stream.read(_BLOCK):
                ends = [end for end in (block.find(b"\n"), block.find(b"\r")) if end >= 0]
                length += min(ends) if ends else len(block)
                if length > _MAX_LINE_BYTES:
                    raise UnreadableFile(
                        f"line {line} has more than {_MAX_LINE_BYTES // MEGABYTE} MB; is it a "
                        "table with one row a line?"
                    )
                if ends:
                    line += max(block.count(b"\n"), block.count(b"\r"))
                    length = len(block) - 1 - max(block.rfind(b"\n"), block.rfind(b"\r"))
    except OSError as error:
        raise UnreadableFile(f"it cannot be read ({why(error)})", may_pass=True) from error


def _delimiter(text: TextIO, start: int, allowed: str) -> str:
    """The delimiter that splits the first line into most cells; of several, the first allowed.

    If the first line is a title, which none splits, most of the lines after it decide.
    """

    def widths(delimiter: str) -> list[int]:
        text.seek(start)
        counts: list[int] = []
        try:
            reader = csv.reader(text, delimiter=delimiter, strict=True)
            for row in islice(filter(None, reader), SAMPLE_ROWS):
                counts.append(len(row))
                if len(row) > MAX_COLUMNS:  # no more of them is needed, as they take seconds
                    break
        except csv.Error:
            return counts or [0]
        return counts or [0]

    if len(allowed) == 1:
        return allowed
    by_delimiter = {delimiter: widths(delimiter) for delimiter in allowed}
    best = max(allowed, key=lambda delimiter: by_delimiter[delimiter][0])
    if by_delimiter[best][0] > 1:
        return best
    return max(allowed, key=lambda each: _most_common(by_delimiter[each]))


def _most_common(widths: Sequence[int]) -> int:
    counted = Counter(widths)
    return max(counted, key=lambda width: (counted[width], width))
