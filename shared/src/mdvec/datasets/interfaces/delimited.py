"""Converts a CSV or TSV file to Parquet, with a type for each column.

Python parses the file, because it decodes cp932 and can name a bad line. It writes a plain copy,
from which DuckDB checks every value of a column before the column gets its type. Large files that
DuckDB reads in the same way need neither (``direct_rows``).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TextIO

from mdvec.datasets.core.columns import NoHeader
from mdvec.datasets.core.understood import FOUND, ReadingOptions, Understood
from mdvec.datasets.core.value_types import kinds_of
from mdvec.datasets.interfaces.connection import first_line, safe_connection
from mdvec.datasets.interfaces.csv_head import (
    DELIMITERS,
    Dialect,
    Head,
    NumberedRows,
    below_header,
    check_lines,
    dialect_of,
    filled_rows,
    understood_head,
)
from mdvec.datasets.interfaces.direct import MIN_DIRECT_BYTES
from mdvec.datasets.interfaces.direct_rows import read_directly
from mdvec.datasets.interfaces.text_columns import (
    SAMPLE_ROWS,
    inner_names,
    plain_scan,
    read_column,
    with_blank_texts,
    write_typed,
)
from mdvec.datasets.interfaces.wide import (
    MIN_WIDE_COLUMNS,
    ListColumn,
    lists_to_parquet,
    write_lists,
)
from mdvec.files import UnreadableFile, data_file_encoding
from mdvec.sizes import MEGABYTE

_MAX_BYTES_IN_MEMORY = 8 * MEGABYTE
"""A smaller plain copy is parsed once, for all queries about it."""
_LINE_END = re.compile(r"\r\n|\r|\n")
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
    reading: ReadingOptions = FOUND,
    direct_from: int = MIN_DIRECT_BYTES,
) -> Understood:
    """Convert ``source`` to the Parquet file ``target``; returns how it was read.

    ``on_rows`` is called now and then with the number of rows read since. ``ending`` is the file's
    suffix, for a path without one. ``reading`` is what the user says about the file.
    DuckDB reads files of ``direct_from`` bytes itself where the result is the same. Of others a
    temporary plain copy of the rows is written beside ``target``.

    Raises:
        UnreadableFile: the file cannot be converted; the message says why, and names the line.
        OSError: the plain copy cannot be written.
    """
    import duckdb

    plain = target.with_name(f"{target.name}.rows")
    chosen = reading.columns
    try:
        allowed = reading.delimiter or DELIMITERS[ending or source.suffix.lower()]
        check_lines(source)
        direct = read_directly(source, target, allowed, on_rows, reading, direct_from)
        if direct is not None:
            return direct
        written = _write_plain(source, allowed, plain, on_rows, reading)
        names = written.names
        is_wide, delimiter = len(names) >= MIN_WIDE_COLUMNS, written.understood.delimiter
        with safe_connection([plain, target], optimizes=not is_wide) as connection:
            if not is_wide:
                scan = plain_scan(plain, names)
                if plain.stat().st_size <= _MAX_BYTES_IN_MEMORY:
                    connection.execute(f"CREATE TEMP TABLE plain AS SELECT * FROM {scan}")
                    scan = "plain"
                first = f"SELECT * FROM {scan} LIMIT {SAMPLE_ROWS}"
                sample = connection.execute(first).fetchall()
                columns = write_typed(
                    connection,
                    names,
                    scan,
                    sample,
                    target,
                    chosen,
                    delimiter,
                    beside_commas=reading.beside_commas,
                )
                return replace(written.understood, columns=columns)
            lists = [
                ListColumn(name, kinds=kinds_of(choice, delimiter), choice=choice)
                for name, choice in ((name, chosen.get(name, "")) for name in names)
            ]
            kinds = lists_to_parquet(
                connection, lists, plain, target, beside_commas=reading.beside_commas
            )
            columns = tuple(
                read_column(name, *kind, (row[at] for row in written.sample))
                for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
            )
            columns = with_blank_texts(connection, columns, target)
    except duckdb.Error as error:
        raise UnreadableFile(f"it cannot be read as CSV ({first_line(error)})") from error
    finally:
        plain.unlink(missing_ok=True)
    return replace(written.understood, columns=columns)


def _write_plain(
    source: Path, allowed: str, plain: Path, on_rows: Callable[[int], None], reading: ReadingOptions
) -> _Plain:
    """Write the rows to the plain copy, in one unambiguous dialect."""
    encoding, is_guess = data_file_encoding(source, reading.encoding)
    try:
        with source.open(encoding=encoding, newline="") as text:
            dialect = dialect_of(text, allowed, reading.delimiter)
            text.seek(dialect.start)
            written = _copy_rows(text, dialect, plain, on_rows, reading)
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"it is not {encoding}, which was chosen for it"
            if reading.encoding
            else "it changed while the import read it; import again",
            may_pass=not reading.encoding,
        ) from error
    understood = replace(
        written.understood, encoding=encoding, is_guess=is_guess, delimiter=dialect.delimiter
    )
    return replace(written, understood=understood)


def _copy_rows(
    text: TextIO,
    dialect: Dialect,
    plain: Path,
    on_rows: Callable[[int], None],
    reading: ReadingOptions,
) -> _Plain:
    """Copy the rows below the header."""
    reader = csv.reader(text, delimiter=dialect.delimiter, strict=True)
    numbered = ((reader.line_num + dialect.lines, row) for row in filled_rows(reader))
    try:
        head, rows = below_header(numbered, reading.header_row)
        names = head.names
        with plain.open("w", encoding="utf-8", newline="") as copy:
            writer = csv.writer(copy, quoting=csv.QUOTE_ALL, lineterminator="\n")
            is_wide = len(names) >= MIN_WIDE_COLUMNS
            if not is_wide:
                writer.writerow(inner_names(names))
            sample: list[list[str]] = []
            whole = _whole(_with_empty_lines(rows, head), len(names), dialect.delimiter)
            if reading.nulls:
                whole = (
                    ["" if cell.strip() in reading.nulls else cell for cell in row] for row in whole
                )
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
        raise UnreadableFile(f"line {reader.line_num + dialect.lines}: {_what(error)}") from error
    return _Plain(names, sample, understood_head(head, reading.header_row))


def _with_empty_lines(rows: NumberedRows, head: Head) -> NumberedRows:
    """The rows; between those of a single column an empty line is one without a value."""
    before = head.line
    for line, row in rows:
        if len(head.names) == 1 and before:
            first = line - sum(len(_LINE_END.findall(cell)) for cell in row)
            yield from ((empty, [""]) for empty in range(before + 1, first))
        before = line
        yield line, row


def _whole(rows: NumberedRows, width: int, delimiter: str) -> Iterator[list[str]]:
    for line, row in rows:
        if len(row) != width:
            shown = "tabs" if delimiter == "\t" else repr(delimiter)
            raise UnreadableFile(
                f"line {line}: the row has {len(row)} cells, but there are {width} columns; "
                f"it was split at {shown}, --delimiter names another"
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
