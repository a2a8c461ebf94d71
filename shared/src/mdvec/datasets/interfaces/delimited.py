"""Converts a CSV or TSV file to Parquet, with a type for each column.

Python parses the file, because it decodes cp932 and can name a bad line. It writes a plain copy,
from which DuckDB checks every value of a column before the column gets its type.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from mdvec.datasets.core.columns import NoHeader, column_names
from mdvec.datasets.core.header import SAMPLE_ROWS, header_at, title
from mdvec.datasets.core.reading import FOUND, Reading
from mdvec.datasets.core.understood import Understood
from mdvec.datasets.core.value_types import kinds_of
from mdvec.datasets.interfaces.connection import first_line, safe_connection
from mdvec.datasets.interfaces.text_columns import inner_names, read_column, write_typed
from mdvec.datasets.interfaces.wide import (
    MIN_WIDE_COLUMNS,
    ListColumn,
    lists_to_parquet,
    write_lists,
)
from mdvec.files.encoding import data_file_encoding
from mdvec.files.scan import UnreadableFile

DELIMITERS = {".csv": ",;\t|", ".tsv": "\t"}
"""The suffixes of such files, and their possible delimiters."""
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?[\r\n]*')
_ROWS_AT_ONCE = 20_000
_WIDE_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class _Plain:
    """The plain copy of a file: its columns' names, the first row, and what was understood."""

    names: tuple[str, ...]
    sample: Sequence[Sequence[str]]
    understood: Understood


def delimited_to_parquet(
    source: Path,
    target: Path,
    on_rows: Callable[[int], None] = lambda _: None,
    *,
    ending: str = "",
    reading: Reading = FOUND,
) -> Understood:
    """Convert ``source`` to the Parquet file ``target``; returns how it was read.

    ``on_rows`` is called now and then with the number of rows read since. ``ending`` is the file's
    suffix, for a path without one. ``reading`` is what the user says about the file.
    A temporary plain copy of the rows is written beside ``target``.

    Raises:
        UnreadableFile: the file cannot be converted; the message says why, and names the line.
        OSError: the plain copy cannot be written.
    """
    import duckdb

    plain = target.with_name(f"{target.name}.rows")
    chosen = reading.columns
    try:
        allowed = reading.delimiter or DELIMITERS[ending or source.suffix.lower()]
        found = _write_plain(source, allowed, plain, on_rows, reading)
        names = found.names
        is_wide = len(names) >= MIN_WIDE_COLUMNS
        with safe_connection([plain, target], optimizes=not is_wide) as connection:
            if not is_wide:
                columns = write_typed(connection, names, plain, target, chosen)
                return replace(found.understood, columns=columns)
            lists = [
                ListColumn(name, kinds=kinds_of(chosen.get(name, "")), choice=chosen.get(name, ""))
                for name in names
            ]
            kinds = lists_to_parquet(connection, lists, plain, target)
    except duckdb.Error as error:
        raise UnreadableFile(f"it cannot be read as CSV ({first_line(error)})") from error
    finally:
        plain.unlink(missing_ok=True)
    columns = tuple(
        read_column(name, *kind, (row[at] for row in found.sample))
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    return replace(found.understood, columns=columns)


def _write_plain(
    source: Path, allowed: str, plain: Path, on_rows: Callable[[int], None], reading: Reading
) -> _Plain:
    """Write the rows to the plain copy, in one unambiguous dialect."""
    encoding, is_guess = data_file_encoding(source, reading.encoding)
    try:
        with source.open(encoding=encoding, newline="") as text:
            named = _SEPARATOR_LINE.fullmatch(text.readline())
            start = text.tell() if named else 0
            if named and not reading.delimiter:
                delimiter = named[1]
            else:
                delimiter = _delimiter(text, start, allowed)
            text.seek(start)
            lines = 1 if named else 0
            found = _copy_rows(text, delimiter, plain, on_rows, lines, reading.header_row)
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"it is not {encoding}, which was chosen for it"
            if reading.encoding
            else "it changed while the import read it; import again",
            may_pass=not reading.encoding,
        ) from error
    understood = replace(
        found.understood, encoding=encoding, is_guess=is_guess, delimiter=delimiter
    )
    return replace(found, understood=understood)


def _delimiter(text: TextIO, start: int, allowed: str) -> str:
    """The delimiter that splits the first line into most cells; of several, the first allowed.

    If the first line is a title, which none splits, most of the lines after it decide.
    """

    def widths(delimiter: str) -> list[int]:
        text.seek(start)
        found: list[int] = []
        try:
            reader = csv.reader(text, delimiter=delimiter, strict=True)
            found.extend(len(row) for row in islice(_rows(reader), SAMPLE_ROWS))
        except csv.Error:
            return found or [0]
        return found or [0]

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


def _copy_rows(
    text: TextIO,
    delimiter: str,
    plain: Path,
    on_rows: Callable[[int], None],
    lines_before: int,
    header_row: int,
) -> _Plain:
    """Copy the rows below the header; ``lines_before`` were taken from the file already."""
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    numbered = ((reader.line_num + lines_before, row) for row in _rows(reader))
    try:
        titles, line, names, rows = _below_header(numbered, header_row)
        with plain.open("w", encoding="utf-8", newline="") as copy:
            writer = csv.writer(copy, quoting=csv.QUOTE_ALL, lineterminator="\n")
            is_wide = len(names) >= MIN_WIDE_COLUMNS
            if not is_wide:
                writer.writerow(inner_names(names))
            sample: list[list[str]] = []
            whole = _whole(rows, len(names))
            while batch := list(islice(whole, _WIDE_ROWS_AT_ONCE if is_wide else _ROWS_AT_ONCE)):
                if is_wide:
                    write_lists(batch, copy)
                    sample = sample or batch
                else:
                    writer.writerows(batch)
                on_rows(len(batch))
    except NoHeader as error:
        raise UnreadableFile(str(error)) from error
    except csv.Error as error:
        raise UnreadableFile(f"line {reader.line_num + lines_before}: {_what(error)}") from error
    return _Plain(names, sample, Understood(header_row=line, skipped=titles))


_Numbered = Iterator[tuple[int, list[str]]]


def _below_header(
    rows: _Numbered, header_row: int
) -> tuple[tuple[str, ...], int, tuple[str, ...], _Numbered]:
    """The title lines, the header's line, the columns' names, and the rows below it.

    Raises:
        NoHeader: the header holds no names.
        UnreadableFile: there is no header.
    """
    if header_row:
        first = []
        for numbered in rows:
            first.append(numbered)
            if numbered[0] >= header_row:
                break
        else:
            raise UnreadableFile(f"it has no line {header_row}, which --header-row names")
        at = len(first) - 1
    else:
        first = list(islice(rows, SAMPLE_ROWS))
        at = header_at([row for _, row in first])
    if not first:
        raise UnreadableFile("it is empty; put a line with the columns' names into it")
    titles = tuple(title(row) for _, row in first[:at])
    line, header = first[at]
    return titles, line, column_names(header), chain(first[at + 1 :], rows)


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows without blank lines."""
    return (row for row in reader if row)


def _whole(rows: _Numbered, width: int) -> Iterator[list[str]]:
    for line, row in rows:
        if len(row) != width:
            raise UnreadableFile(
                f"line {line}: the row has {len(row)} cells, but there are {width} columns"
            )
        yield row


def _what(error: csv.Error) -> str:
    said = str(error)
    if "field larger than field limit" in said:
        return (
            f"a cell has more than {csv.field_size_limit():,} characters; "
            "is a quotation mark never closed?"
        )
    if "unexpected end of data" in said:
        return "the file ends within a cell; a quotation mark is never closed"
    return f"it is not valid CSV ({said})"
