"""Has DuckDB read a large CSV file straight into Parquet, in one pass where that is certain."""

from __future__ import annotations

import contextvars
import csv
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.cancelling import is_cancelled
from mdvec.datasets.core.columns import NoHeader
from mdvec.datasets.core.understood import AS_TEXT, ReadColumn, ReadingOptions, Understood
from mdvec.datasets.core.value_types import BLANKS, ValueKind, kinds_of, possible_kinds
from mdvec.datasets.interfaces.connection import ConnectionLimits, parquet_scan, safe_connection
from mdvec.datasets.interfaces.csv_head import (
    Head,
    below_header,
    dialect_of,
    filled_rows,
    understood_head,
)
from mdvec.datasets.interfaces.direct import (
    DirectFile,
    LinesInCells,
    ReadingsDiffer,
    direct_file,
    is_large,
)
from mdvec.datasets.interfaces.text_columns import (
    SAMPLE_ROWS,
    Cells,
    inner_names,
    read_column,
    with_blank_texts,
    write_typed,
)
from mdvec.datasets.interfaces.wide import MIN_WIDE_COLUMNS
from mdvec.files import UnreadableFile
from mdvec.text import UTF_8, identifier, literal

if TYPE_CHECKING:
    import duckdb

_MAX_SAMPLE_ROWS = 20_000
_FIRST = 100
_DELIMITERS = ",;\t|"
_LIMITS = ConnectionLimits(memory_mb=450, threads=4)
_MISFIT = "mdvec: a value of another kind"
_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True, slots=True)
class _Start:
    """The start of a file as Python reads it: its delimiter, head and first rows."""

    delimiter: str
    head: Head
    sample: Sequence[Cells]
    has_lines_in_cells: bool


class _RowsTold:
    """Reports how many rows are read; takes that back if the reading ends without a result."""

    def __init__(self, on_rows: Callable[[int], None]) -> None:
        self._on_rows = on_rows
        self.number = 0

    def up_to(self, number: int) -> None:
        if number != self.number:
            self._on_rows(number - self.number)
            self.number = number


def read_directly(
    source: Path,
    target: Path,
    allowed: str,
    on_rows: Callable[[int], None],
    reading: ReadingOptions,
    min_bytes: int,
) -> Understood | None:
    """Write the rows of ``source`` to ``target``, and return how they were read.

    The result is the same as if Python had read them. None says that Python must, because the file
    is small, or DuckDB could differ, or the file has a fault, which Python names.
    """
    import duckdb

    is_odd = reading.encoding or reading.nulls or reading.beside_commas
    if is_odd or not is_large(source, min_bytes):
        return None
    start = _start(source, allowed, reading)
    if start is None:
        return None
    file = direct_file(source, start.delimiter, start.head.line)
    if file is None:
        return None
    progress = _RowsTold(on_rows)
    for is_parallel in (False,) if start.has_lines_in_cells else (True, False):
        part = replace(file, is_parallel=is_parallel)
        try:
            columns = _write(part, start, target, reading.columns, progress)
        except LinesInCells:
            target.unlink(missing_ok=True)
        except (ReadingsDiffer, UnreadableFile, duckdb.Error):
            break
        else:
            understood = understood_head(start.head, reading.header_row)
            return replace(understood, encoding=UTF_8, delimiter=start.delimiter, columns=columns)
    progress.up_to(0)
    target.unlink(missing_ok=True)
    return None


def _start(source: Path, allowed: str, reading: ReadingOptions) -> _Start | None:
    """The start of a file; None if it has anything that only Python should read."""
    try:
        with source.open(encoding=UTF_8, newline="") as text:
            text.seek(0)
            dialect = dialect_of(text, allowed, reading.delimiter)
            text.seek(dialect.start)
            reader = csv.reader(text, delimiter=dialect.delimiter, strict=True)
            numbered = ((reader.line_num + dialect.lines, row) for row in filled_rows(reader))
            head, rows = below_header(numbered, reading.header_row)
            sample = [row for _, row in islice(rows, _MAX_SAMPLE_ROWS)]
    except (UnicodeDecodeError, csv.Error, NoHeader, UnreadableFile):
        return None
    width = len(head.names)
    is_fit = (
        dialect.delimiter in _DELIMITERS
        and 1 < width < MIN_WIDE_COLUMNS
        and head.line == head.rows_before + dialect.lines
        and all(len(row) == width for row in sample)
    )
    if not is_fit:
        return None
    has_lines = any("\n" in cell for row in sample for cell in row)
    cells = [[cell or None for cell in row] for row in sample]
    return _Start(dialect.delimiter, head, cells, has_lines)


def _write(
    file: DirectFile, start: _Start, target: Path, chosen: Mapping[str, str], progress: _RowsTold
) -> tuple[ReadColumn, ...]:
    """Write the file's rows to ``target``, and check that they are what Python reads.

    Raises:
        LinesInCells: threads may have begun within a cell.
        ReadingsDiffer: they are not.
        UnreadableFile: a value does not fit what the user chose.
        duckdb.Error: the file has a fault.
    """
    names = start.head.names
    columns, sample = inner_names(names), start.sample[:SAMPLE_ROWS]
    scan = file.scan(columns)
    with safe_connection([file.path, target], limits=_LIMITS, counts=True) as connection:
        guesses = _guesses(start, chosen)
        if guesses is not None:
            with _looked_at(connection, file.lines, progress):
                is_written = _write_at_once(connection, guesses, scan, target)
            if is_written:
                texts = [identifier(guess.name) for guess in guesses if guess.kind is None]
                written = f"FROM {parquet_scan(target)}"
                progress.up_to(file.check(connection, written, len(names), texts))
                read = tuple(
                    read_column(guess.name, guess.kind, 0, (row[at] for row in sample))
                    for at, guess in enumerate(guesses)
                )
                return with_blank_texts(connection, read, target)
            target.unlink(missing_ok=True)
        with _looked_at(connection, file.lines, progress):
            read = write_typed(connection, names, scan, sample, target, chosen, start.delimiter)
            progress.up_to(file.check(connection, f"FROM {scan}", len(names), columns))
        return read


@dataclass(frozen=True, slots=True)
class _Guess:
    """What a column holds, judging by the first rows.

    Attributes:
        name: the column's name.
        column: its name in the scan.
        kind: the kind of its values; None for text.
        is_empty: whether it has no values in the first rows.
    """

    name: str
    column: str
    kind: ValueKind | None = None
    is_empty: bool = False

    @property
    def value(self) -> str:
        """SQL: a cell as a value; an error if it does not prove the guess."""
        if self.kind is not None:
            type_, value = self.kind.type, f"CAST({self.column} AS {self.kind.type})"
            tests = f"WHEN {self.kind.quick.format(v=self.column)} THEN {value}"
        elif self.is_empty:
            type_, tests = "VARCHAR", ""
        else:
            return f"{self.column} AS {identifier(self.name)}"
        null = f"WHEN {self.column} IS NULL THEN CAST(NULL AS {type_})"
        return f"CASE {null} {tests} ELSE error('{_MISFIT}') END AS {identifier(self.name)}"


def _guesses(start: _Start, chosen: Mapping[str, str]) -> list[_Guess] | None:
    """A guess for each column, which one pass can prove; None if that is impossible for one.

    A guess is the first kind that the sample leaves, so no other can be right if it fits all rows;
    text is certain, because each kind fails a value.
    """
    guesses: list[_Guess] = []
    names, sample = start.head.names, start.sample
    for at, (name, column) in enumerate(zip(names, inner_names(names), strict=True)):
        choice = chosen.get(name, "")
        texts = [row[at] for row in sample]
        if not choice and all(text is None for text in texts):
            guesses.append(_Guess(name, column, is_empty=True))
            continue
        kind = next(iter(_possible(choice, start.delimiter, texts)), None)
        is_proved = kind.quick if kind is not None else choice in ("", AS_TEXT)
        if not is_proved or (kind and all(text in (None, *BLANKS) for text in texts)):
            return None
        guesses.append(_Guess(name, column, kind))
    return guesses


def _possible(choice: str, delimiter: str, texts: Cells) -> list[ValueKind]:
    return possible_kinds(possible_kinds(kinds_of(choice, delimiter), texts[:_FIRST]), texts)


def _write_at_once(
    connection: duckdb.DuckDBPyConnection, guesses: Sequence[_Guess], scan: str, target: Path
) -> bool:
    """Write the rows to ``target`` in one pass; False if a value does not prove its guess.

    Raises:
        duckdb.Error: DuckDB cannot read the file.
    """
    import duckdb

    shown = ", ".join(guess.value for guess in guesses)
    try:
        connection.execute(
            f"COPY (SELECT {shown} FROM {scan}) TO {literal(str(target))} (FORMAT parquet)"
        )
    except duckdb.ConversionException:  # such as February 30
        return False
    except duckdb.InvalidInputException as error:
        if _MISFIT not in str(error):
            raise
        return False
    return True


@contextmanager
def _looked_at(
    connection: duckdb.DuckDBPyConnection, lines: int, progress: _RowsTold
) -> Iterator[None]:
    """Report how far the queries of the block are, and stop them if nobody wants the result."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LOOKS):
            if is_cancelled():
                connection.interrupt()
            done = int(connection.query_progress() / 100 * lines)
            progress.up_to(max(progress.number, min(done, lines)))

    looker = threading.Thread(target=contextvars.copy_context().run, args=(look,), daemon=True)
    looker.start()
    try:
        yield
    finally:
        ended.set()
        looker.join()
