"""The records of a CSV text, and where each of them stands."""

from __future__ import annotations

import csv
import io
import itertools
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_NEAR = 200
"""A record of more lines than this would be cut by ``span_at``."""
_DELIMITERS = ",\t;|"
_MAX_HEAD = 40

CsvRecord = list[str] | str
"""A record's cells, or the reason why it cannot be read."""


@dataclass(frozen=True, slots=True)
class CsvText:
    """A CSV text, and the lines at which its records begin, from 1."""

    text: str
    begins: Sequence[int]

    @classmethod
    def of(cls, text: str) -> CsvText:
        """A text that nobody has parsed yet."""
        return cls(text, array("I", (line for line, _ in records_of(text))))

    def spans(self) -> dict[int, tuple[int, int, int]]:
        """Start, end and last line of each record, by the line at which it begins.

        Start and end are character positions; the line break after a record is not part of it.
        """
        lines = _lines(self.text)
        starts = [0, *itertools.accumulate(map(len, lines))]
        spans = {}
        for line, following in itertools.pairwise([*self.begins, len(lines) + 1]):
            start = starts[line - 1]
            content = self.text[start : starts[following - 1]].rstrip("\r\n")
            last = line + len(_lines(content)) - 1
            spans[line] = (start, start + len(content), max(last, line))
        return spans


def span_at(text: str, line: int) -> tuple[int, int, int]:
    """Start, end and last line of the record that begins at a line, as in ``CsvText.spans``.

    Only the record's surroundings are parsed. A line that the text does not have is empty.
    """
    lines = _lines(text)
    if not 1 <= line <= len(lines):
        return 0, 0, line
    first = line - 1
    # The first line tells the delimiter.
    near = CsvText.of("".join([lines[0], *lines[first : first + _NEAR]]) if first else text)
    start, end, last = near.spans()[2 if first else 1]
    moved = sum(map(len, lines[:first])) - (len(lines[0]) if first else 0)
    return start + moved, end + moved, last + (line - 2 if first else 0)


def records_of(text: str) -> Iterator[tuple[int, CsvRecord]]:
    """Each record with the line at which it begins.

    After a record with unmatched quotes, reading continues at the next line: an unclosed quote
    must not swallow the rows below it.
    """
    records = _records(_lines(text))
    return _without_nul(records) if "\0" in text else records


def _lines(text: str) -> list[str]:
    return io.StringIO(text, newline="").readlines()


def _records(lines: list[str]) -> Iterator[tuple[int, CsvRecord]]:
    delimiter = _delimiter(lines)
    first = 0
    while first < len(lines):
        rest = map(lines.__getitem__, range(first, len(lines)))
        reader = csv.reader(rest, delimiter=delimiter, skipinitialspace=True, strict=True)
        begin = first
        try:
            for cells in reader:
                yield begin + 1, cells
                begin = first + reader.line_num
        except csv.Error as error:
            too_long = "field limit" in str(error)
            yield begin + 1, "a cell is too long" if too_long else "its quotes do not match"
            first = begin + 1
        else:
            return


def _delimiter(lines: list[str]) -> str:
    """The delimiter of the first line that can be a header: a title above it may have a comma."""
    head = [line for line in lines[:_MAX_HEAD] if line.strip()]
    header = next((line for line in head if max(map(line.count, _DELIMITERS)) > 1), "")
    return max(_DELIMITERS, key=(header or "".join(head[:1])).count)


def _without_nul(records: Iterable[tuple[int, CsvRecord]]) -> Iterator[tuple[int, CsvRecord]]:
    for line, cells in records:
        nul = not isinstance(cells, str) and "\0" in "".join(cells)
        yield line, "it contains NUL characters" if nul else cells
