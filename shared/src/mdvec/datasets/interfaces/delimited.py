"""Converts a CSV or TSV file to Parquet, with a type for each column.

Python parses the file, because it decodes cp932 and can name a bad line. It writes a plain copy,
from which DuckDB checks every value of a column before the column gets its type.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mdvec.datasets.core.columns import NoHeader, column_names
from mdvec.datasets.core.value_types import VALUE_KINDS, ValueKind
from mdvec.datasets.interfaces.connection import first_line, one_path, safe_connection
from mdvec.datasets.interfaces.parquet import units_metadata
from mdvec.datasets.interfaces.wide import MIN_WIDE_COLUMNS, lists_to_parquet, write_lists
from mdvec.files.encoding import file_encoding
from mdvec.files.scan import UnreadableFile
from mdvec.text.quoting import identifier, literal

if TYPE_CHECKING:
    import duckdb

DELIMITERS = {".csv": ",;\t|", ".tsv": "\t"}
"""The suffixes of such files, and their possible delimiters."""
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?[\r\n]*')
_SAMPLE_ROWS = 1_000
_VERDICTS_PER_QUERY = 100
_ROWS_AT_ONCE = 20_000
_WIDE_ROWS_AT_ONCE = 500
_MAX_LINE_BYTES = 2**25


def delimited_to_parquet(
    source: Path,
    target: Path,
    on_rows: Callable[[int], None] = lambda _: None,
    *,
    ending: str = "",
    as_text: Collection[str] = (),
) -> None:
    """Convert ``source`` to the Parquet file ``target``.

    ``on_rows`` is called now and then with the number of rows read since. ``ending`` is the file's
    suffix, for a path without one. The columns named in ``as_text`` stay text, whatever they hold.
    A temporary plain copy of the rows is written beside ``target``.

    Raises:
        UnreadableFile: the file cannot be converted; the message says why, and names the line.
        OSError: the plain copy cannot be written.
    """
    import duckdb

    plain = target.with_name(f"{target.name}.rows")
    try:
        allowed = DELIMITERS[ending or source.suffix.lower()]
        names = _write_plain(source, allowed, plain, on_rows)
        is_wide = len(names) >= MIN_WIDE_COLUMNS
        write = lists_to_parquet if is_wide else _write_typed
        with safe_connection([plain, target], optimizes=not is_wide) as connection:
            write(connection, names, plain, target, as_text)
    except duckdb.Error as error:
        raise UnreadableFile(f"it cannot be read as CSV ({first_line(error)})") from error
    finally:
        plain.unlink(missing_ok=True)


def _write_plain(
    source: Path, allowed: str, plain: Path, on_rows: Callable[[int], None]
) -> tuple[str, ...]:
    """Write the rows to the plain copy, in one unambiguous dialect; return the column names."""
    encoding = file_encoding(source)
    try:
        with source.open(encoding=encoding, newline="") as text:
            named = _SEPARATOR_LINE.fullmatch(text.readline())
            start = text.tell() if named else 0
            delimiter = named[1] if named else _delimiter(text, allowed)
            text.seek(start)
            return _copy_rows(text, delimiter, plain, on_rows, skipped=1 if named else 0)
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            "it changed while the import read it; import again", may_pass=True
        ) from error


def _delimiter(text: TextIO, allowed: str) -> str:
    """The delimiter that splits the first line into most cells; of several, the first allowed."""

    def cells(delimiter: str) -> int:
        text.seek(0)
        try:
            return len(next(_rows(csv.reader(text, delimiter=delimiter, strict=True)), ()))
        except csv.Error:
            return 0

    return max(allowed, key=cells)


def _copy_rows(
    text: TextIO, delimiter: str, plain: Path, on_rows: Callable[[int], None], *, skipped: int
) -> tuple[str, ...]:
    """Copy the rows; ``skipped`` is the number of lines before the header."""
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    rows = _rows(reader)
    try:
        header = next(rows, None)
        if header is None:
            raise UnreadableFile("it is empty; put a line with the columns' names into it")
        names = column_names(header)
        with plain.open("w", encoding="utf-8", newline="") as copy:
            writer = csv.writer(copy, quoting=csv.QUOTE_ALL, lineterminator="\n")
            is_wide = len(names) >= MIN_WIDE_COLUMNS
            if not is_wide:
                writer.writerow(_inner_names(names))
            whole = _whole(rows, len(names), lambda: reader.line_num + skipped)
            while batch := list(islice(whole, _WIDE_ROWS_AT_ONCE if is_wide else _ROWS_AT_ONCE)):
                if is_wide:
                    write_lists(batch, copy)
                else:
                    writer.writerows(batch)
                on_rows(len(batch))
    except NoHeader as error:
        raise UnreadableFile(str(error)) from error
    except csv.Error as error:
        raise UnreadableFile(f"line {reader.line_num + skipped}: {_what(error)}") from error
    return names


def _rows(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows without blank lines."""
    return (row for row in reader if row)


def _whole(rows: Iterator[list[str]], width: int, line: Callable[[], int]) -> Iterator[list[str]]:
    for row in rows:
        if len(row) != width:
            raise UnreadableFile(
                f"line {line()}: the row has {len(row)} cells, but there are {width} columns"
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


def _inner_names(names: Sequence[str]) -> list[str]:
    """Column names for the plain copy that need no quoting."""
    return [f"c{number}" for number in range(len(names))]


def _write_typed(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    plain: Path,
    target: Path,
    as_text: Collection[str],
) -> None:
    columns = _inner_names(names)
    types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
    scan = (
        f"read_csv({literal(one_path(plain))}, columns = {{{types}}}, auto_detect = false, "
        "header = true, delim = ',', quote = '\"', escape = '\"', new_line = '\\n', "
        f"max_line_size = {_MAX_LINE_BYTES}, parallel = false)"
    )
    typed = [column for column, name in zip(columns, names, strict=True) if name not in as_text]
    kinds = _kinds(connection, columns, scan, typed)
    shown = ", ".join(
        f"{column if kind is None else kind.value(column)} AS {identifier(name)}"
        for column, kind, name in zip(columns, kinds, names, strict=True)
    )
    units = {name: kind.unit for name, kind in zip(names, kinds, strict=True) if kind and kind.unit}
    connection.execute(
        f"COPY (SELECT {shown} FROM {scan}) TO {literal(str(target))} "
        f"(FORMAT parquet{units_metadata(units)})"
    )


def _kinds(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[str], scan: str, typed: Sequence[str]
) -> list[ValueKind | None]:
    """Each column's kind; None for text, and for the columns not in ``typed``.

    A sample of rows rules out most kinds; the others are checked on all rows.
    """
    sample = connection.execute(f"SELECT * FROM {scan} LIMIT {_SAMPLE_ROWS}").fetchall()
    candidates = {
        column: [kind for kind in VALUE_KINDS if kind.could_fit(row[at] for row in sample)]
        for at, column in enumerate(columns)
        if column in typed
    }
    found: dict[str, ValueKind] = {}
    while tried := [(column, kinds[0]) for column, kinds in candidates.items() if kinds]:
        for (column, kind), verdict in zip(tried, _verdicts(connection, tried, scan), strict=True):
            if verdict is False:
                del candidates[column][0]
                continue
            if verdict:
                found[column] = kind
            del candidates[column]
    return [found.get(column) for column in columns]


def _verdicts(
    connection: duckdb.DuckDBPyConnection, tried: Sequence[tuple[str, ValueKind]], rows: str
) -> tuple[bool | None, ...]:
    """Whether all values of each column fit its kind; None if it has no values.

    Asks about some columns per query: for thousands, DuckDB's planner needs minutes.
    """
    found: list[bool | None] = []
    for at in range(0, len(tried), _VERDICTS_PER_QUERY):
        some = tried[at : at + _VERDICTS_PER_QUERY]
        fits = ", ".join(kind.fits(column) for column, kind in some)
        found += connection.execute(f"SELECT {fits} FROM {rows}").fetchone() or ()
    return tuple(found)
