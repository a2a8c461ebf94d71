"""Reads the head of a CSV or TSV file: its delimiter, title lines and column names."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from mdvec.datasets.core.columns import NoHeader, column_names, numbered_names
from mdvec.datasets.core.first_row import OR_NO_HEADER, filled_count, usual_width
from mdvec.datasets.core.several_tables import HeadersBelow
from mdvec.datasets.core.sheet_header import (
    SAMPLE_ROWS,
    first_rows,
    sheet_header,
)
from mdvec.datasets.core.understood import NO_HEADER, ReadingOptions
from mdvec.datasets.core.value_types import SPACES
from mdvec.files import UnreadableFile
from mdvec.text import UTF_8

MAX_COLUMNS = 10_000
TOO_MANY_COLUMNS = (
    f"it has more than {MAX_COLUMNS:,} columns; is it a table? Write one record a row"
)
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?[\r\n]*')
_NumberedRow = tuple[int, list[str]]
"""A row with the number of the line that it ends in."""


@dataclass(frozen=True, slots=True)
class Head:
    """The lines before the rows of a table.

    Attributes:
        delimiter: what separates cells.
        titles: the lines before the header.
        line: the last line of the header; 0 if there is no header.
        names: the columns' names.
        lines: the number of lines before the rows.
        is_plain: whether each of these lines is one row, and none is blank.
        top: the first line of the header.
        doubtful: the last line below the header that may also name columns; 0 if none may.
        labels: the cells of those lines.
    """

    delimiter: str
    titles: tuple[str, ...]
    line: int
    names: tuple[str, ...]
    lines: int
    is_plain: bool = True
    top: int = 0
    doubtful: int = 0
    labels: frozenset[str] = frozenset()


def read_head(text: TextIO, allowed: str, reading: ReadingOptions) -> Head:
    """Read the head of a text from its start; ``allowed`` are the possible delimiters.

    Raises:
        UnreadableFile: the file is empty, or its header is missing or uncertain.
    """
    named = _SEPARATOR_LINE.fullmatch(text.readline())
    start, before = (text.tell(), 1) if named else (0, 0)
    by_name = named[1] if named else ""
    delimiter = reading.delimiter or by_name or _delimiter(text, start, allowed)
    text.seek(start)
    first: list[_NumberedRow] = []
    try:
        first, named_rows = first_rows(_filled_rows(text, delimiter, before), reading, "line")
        if not first:
            raise UnreadableFile("it is empty; put a line with the columns' names into it")
        return _head(first, before, delimiter, named_rows)
    except NoHeader as error:
        width = len(first[0][1]) if first else 0
        # Without a header, the first line would determine the number of columns.
        is_even = all(len(row) >= width and not filled_count(row[width:]) for _, row in first)
        message = str(error) if is_even else str(error).replace(OR_NO_HEADER, "", 1)
        raise UnreadableFile(message) from error


def _head(first: Sequence[_NumberedRow], before: int, delimiter: str, named: range | None) -> Head:
    numbers, rows = zip(*first, strict=True)
    header = sheet_header(rows, named, None, numbers)
    if header.row == NO_HEADER:
        return Head(delimiter, (), 0, numbered_names([""] * len(first[0][1])), before)
    line, top = first[header.row][0], first[header.top][0]
    doubtful = first[header.doubtful][0] if header.doubtful else 0
    names, is_plain = column_names(header.names), line == before + header.row + 1
    titles, labels = header.skipped, header.labels
    return Head(delimiter, titles, line, names, line, is_plain, top, doubtful, labels)


def _filled_rows(text: TextIO, delimiter: str, before: int) -> Iterator[_NumberedRow]:
    """The rows without blank ones, up to a cell that is too long for the csv module.

    Raises:
        UnreadableFile: a row has too many cells for a table.
    """
    reader = csv.reader(text, delimiter=delimiter)
    try:
        for row in reader:
            if len(row) > MAX_COLUMNS:
                raise UnreadableFile(TOO_MANY_COLUMNS)
            if row:
                yield reader.line_num + before, row
    except csv.Error:
        return


def _delimiter(text: TextIO, start: int, allowed: str) -> str:
    """The delimiter that splits the first line into the most cells; of several, the first allowed.

    As the first line may be a title, delimiters that split the usual line below it are preferred.
    Lines with a quotation mark within a cell count only if no delimiter splits others.
    """

    def widths(delimiter: str, *, strict: bool) -> list[int]:
        text.seek(start)
        counts: list[int] = []
        with suppress(csv.Error):
            reader = csv.reader(text, delimiter=delimiter, strict=strict)
            for row in islice(filter(None, reader), SAMPLE_ROWS):
                counts.append(len(row))
                if len(row) > MAX_COLUMNS:  # enough: splitting more lines would take seconds
                    break
        return counts or [0]

    if len(allowed) == 1:
        return allowed
    for strict in (True, False):
        by_delimiter = {delimiter: widths(delimiter, strict=strict) for delimiter in allowed}
        below = {delimiter: usual_width(counts[1:]) for delimiter, counts in by_delimiter.items()}
        if max(*below.values(), *(counts[0] for counts in by_delimiter.values())) > 1:
            break
    splitting = [delimiter for delimiter in allowed if below[delimiter] > 1] or allowed
    best = max(splitting, key=lambda delimiter: by_delimiter[delimiter][0])
    if by_delimiter[best][0] > 1:
        return best
    return max(splitting, key=lambda delimiter: below[delimiter])


def empty_row_byte(delimiter: str) -> bytes:
    """A regular expression for the bytes of rows in UTF-8 without a filled cell.

    Few other rows have only such bytes, which are quicker to look for than characters.
    """
    return b"[%b]" % re.escape(f'"{delimiter}{SPACES}'.encode())


def headers_below(rows: Path, head: Head) -> Iterator[str]:
    """A note on lines below empty lines that may be headers of other tables.

    ``rows`` are the lines below the head, in UTF-8; they are few enough for memory.
    """
    empty = rb"\n%b*\r?\n" % empty_row_byte(head.delimiter)
    if not re.search(empty, rows.read_bytes()):
        return
    headers, lines = HeadersBelow(), dict[int, int]()
    # A cell may be too long for this reader, or have a carriage return within.
    with rows.open(encoding=UTF_8, newline="") as text, suppress(csv.Error):
        reader = csv.reader(text, delimiter=head.delimiter)
        numbered = ((at, row) for at, row in enumerate(reader, 1) if any(map(str.strip, row)))
        for at, _ in headers.rows(numbered):
            lines[at] = reader.line_num + head.lines
    headers.numbers = [lines[at] for at in headers.numbers]
    yield from headers.notes("line", "file")
