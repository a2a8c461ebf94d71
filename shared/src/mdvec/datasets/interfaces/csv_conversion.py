"""Converts the rows of a CSV file to Parquet, and checks that no line of the file is lost.

If the first rows suggest a type for each column, one pass writes the rows and checks the types.
Otherwise all texts are stored first, and their types are found by queries. If a quotation mark is
never closed, DuckDB drops the rest of the file without an error, so the lines are counted.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from mdvec.cancelling import is_cancelled
from mdvec.datasets.core.exact_doubles import ALWAYS_KEPT, is_shortest, kept_double
from mdvec.datasets.core.likely_kinds import likely_kinds
from mdvec.datasets.core.plain_cells import looks_like
from mdvec.datasets.core.sheet_cells import TOTAL_AMONG
from mdvec.datasets.core.understood import AS_TEXT, ReadColumn, ReadingOptions
from mdvec.datasets.core.value_types import BLANKS, ValueKind, kinds_of, possible_kinds, trimmed
from mdvec.datasets.interfaces.connection import first_line, parquet_scan, safe_connection
from mdvec.datasets.interfaces.csv_head import Head
from mdvec.datasets.interfaces.csv_rows import Rows, totals_among, totals_of
from mdvec.datasets.interfaces.parquet import copy_options
from mdvec.datasets.interfaces.typed_columns import (
    MIN_WIDE_COLUMNS,
    TextColumn,
    put_plain,
    read_column,
    with_blank_texts,
    with_days,
    write_typed,
)
from mdvec.files import UnreadableFile
from mdvec.text import identifier, literal

_MEMORY_MB = 450
_SAMPLE_CELLS, _MAX_SAMPLE_ROWS, _FIRST = 200_000, 20_000, 100
_NOTED_ROWS = 1_000
_MAX_DECIMALS = 15
_SECONDS_BETWEEN_LOOKS = 0.2
_MISFIT = "mdvec: a value of another kind"
_Texts = Sequence[Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class ConvertedRows:
    """The rows that were written, and how their columns were read.

    ``totals`` are the texts that mark rows as totals, each with the number of its rows.
    """

    rows: Rows
    columns: tuple[ReadColumn, ...]
    totals: Mapping[str, int]


class _LinesMissing(Exception):
    """The rows that were written do not account for all lines of the file."""


def convert_rows(
    rows: Rows, target: Path, plain: Path, on_rows: Callable[[int], None], reading: ReadingOptions
) -> ConvertedRows:
    """Write the rows to ``target`` with their types; the file ``plain`` may hold their texts.

    Raises:
        UnreadableFile: DuckDB cannot read a row, or a quotation mark is never closed.
    """
    progress = _Progress(on_rows)
    with safe_connection(
        [rows.file, plain, target],
        optimizes=len(rows.names) < MIN_WIDE_COLUMNS,
        memory_mb=_MEMORY_MB if rows.is_large else None,
    ) as connection:
        try:
            rows = rows.without_empty(connection)
            if reading.leaves_out_totals:
                rows = rows.without_totals(connection)
            for is_parallel in (True, False) if rows.is_large else (False,):
                part = replace(rows, is_parallel=is_parallel)
                try:
                    attempt = _Conversion(connection, part, target, plain, reading, progress)
                    return attempt.in_one_pass() or attempt.by_column()
                except _LinesMissing:
                    target.unlink(missing_ok=True)
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            try:
                raise rows.fault(connection, error) from error
            except duckdb.Error:
                raise UnreadableFile(f"it cannot be read as CSV ({first_line(error)})") from error
    raise rows.never_closed()


@dataclass(frozen=True, slots=True)
class _Conversion:
    """One attempt to write the rows to ``target``; the file ``plain`` may hold their texts."""

    connection: duckdb.DuckDBPyConnection
    rows: Rows
    target: Path
    plain: Path
    reading: ReadingOptions
    progress: _Progress

    @property
    def _query(self) -> str:
        return self.rows.query(self.reading.nulls_in)

    def in_one_pass(self) -> ConvertedRows | None:
        """Write the rows with the types of the first rows; None if these do not fit all rows."""
        query, width = self._query, len(self.rows.names)
        if width >= MIN_WIDE_COLUMNS or self.reading.beside_commas:
            return None
        number = min(_MAX_SAMPLE_ROWS, _SAMPLE_CELLS // width)
        sample = self.connection.execute(f"{query} LIMIT {number}").fetchall()
        guesses = _guesses(self.rows.head, sample, self.reading.columns)
        if guesses is None:
            return None
        is_whole = len(sample) < number  # then testing the cells in SQL would take longer
        if is_whole and not all(map(_Guess.fits, guesses, zip(*sample, strict=True))):
            return None
        with self._watched():
            copied = _write_rows(self.connection, guesses, query, self.target, are_proved=is_whole)
        if copied is None:
            self.target.unlink(missing_ok=True)
            return None
        texts = [identifier(guess.name) for guess in guesses if guess.kind is None]
        self._check_lines(copied, texts, parquet_scan(self.target))
        columns = tuple(
            read_column(guess.name, guess.kind, 0, (row[at] for row in sample[:_NOTED_ROWS]))
            for at, guess in enumerate(guesses)
        )
        columns = with_days(self.connection, columns, self.target)
        kinds = kinds_of("", self.rows.head.delimiter)
        if copied == len(sample) and not _may_need_notes(guesses, sample, kinds):
            return ConvertedRows(self.rows, columns, self.rows.left_out or totals_of(sample))
        by_name = {name: kinds for name in self.rows.names if name not in self.reading.columns}
        labels = self.rows.head.labels
        return self._converted(
            with_blank_texts(self.connection, columns, self.target, by_name, labels)
        )

    def by_column(self) -> ConvertedRows:
        """Store the texts of all rows, find the type of each column, and write the rows."""
        width, head = len(self.rows.names), self.rows.head
        with self._watched():
            size = self.rows.file.stat().st_size
            copied = put_plain(self.connection, self._query, width, self.plain, size)
        self._check_lines(copied, [f"c{at}" for at in range(width)], "plain")
        choices = [self.reading.columns.get(name, "") for name in head.names]
        columns = [
            TextColumn(name, kinds=kinds_of(choice, head.delimiter), choice=choice)
            for name, choice in zip(head.names, choices, strict=True)
        ]
        beside_commas = self.reading.beside_commas
        return self._converted(
            write_typed(
                self.connection, columns, self.target, head.labels, beside_commas=beside_commas
            )
        )

    def _converted(self, columns: tuple[ReadColumn, ...]) -> ConvertedRows:
        """The result; unless rows of totals were left out, finds them by the first text columns."""
        texts = [identifier(each.name) for each in columns[:TOTAL_AMONG] if each.type == "VARCHAR"]
        totals = self.rows.left_out or totals_among(
            self.connection, texts, parquet_scan(self.target)
        )
        return ConvertedRows(self.rows, columns, totals)

    def _check_lines(self, copied: int, texts: Sequence[str], table: str) -> None:
        """Raise _LinesMissing unless the ``copied`` rows of ``table`` account for all lines."""
        self.progress.up_to(copied)
        columns = ", ".join(texts) or "NULL"
        cells = f"SELECT unnest([{columns}]::VARCHAR[]) AS cell FROM {table}"
        if not self.rows.has_all(self.connection, copied, cells):
            raise _LinesMissing

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Report the progress of the block's query, and stop it if the import is cancelled."""
        if not self.rows.is_large:
            yield
            return
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(_SECONDS_BETWEEN_LOOKS):
                try:
                    if is_cancelled():
                        self.connection.interrupt()
                    done = int(self.connection.query_progress() / 100 * self.rows.lines)
                except duckdb.ConnectionException:
                    return  # closed: Ctrl-C came just before the block's end could be told
                self.progress.up_to(min(done, self.rows.lines))

        watcher = threading.Thread(
            target=contextvars.copy_context().run, args=(watch,), daemon=True
        )
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()


def _may_need_notes(guesses: Sequence[_Guess], sample: _Texts, kinds: Sequence[ValueKind]) -> bool:
    """Whether a text column may need a note on values of ``kinds`` or on cells such as NA.

    ``sample`` has all rows. If False, no query needs to look for such cells.
    """
    different = {cell for row in sample for cell in row if cell}
    if any(trimmed(cell) in BLANKS for cell in different):
        return True
    columns = zip(guesses, zip(*sample, strict=True), strict=False)
    return any(guess.kind is None and likely_kinds(kinds, cells) for guess, cells in columns)


@dataclass(frozen=True, slots=True)
class _Guess:
    """What a column holds, judging by the first rows.

    Attributes:
        name: the column's name.
        column: its name in the query of texts.
        kind: the kind of its values; None for text.
        is_empty: whether it has no values in the first rows.
        decimals: how many decimals its first numbers have, if all have as many.
    """

    name: str
    column: str
    kind: ValueKind | None = None
    is_empty: bool = False
    decimals: int = 0

    @property
    def cast(self) -> str:
        """SQL: a cell as a value of this kind."""
        return self.column if self.kind is None else f"CAST({self.column} AS {self.kind.type})"

    def proof(self, value: str) -> str:
        """SQL: whether a cell, whose cast is ``value``, does not contradict the guess."""
        cell = self.column
        if self.kind is None or self.kind.quick is None:
            return f"{cell} IS NULL" if self.is_empty else "true"
        if self.kind.type != "DOUBLE":
            return f"({cell} IS NULL OR {self.kind.quick.matching(cell, value)})"
        # The text of a DOUBLE has no 0 at the end, unlike 2.50.
        exact = f"TRY_CAST({value} AS DECIMAL(16, {self.decimals}))" if self.decimals else ""
        return (
            f"CASE WHEN {cell} IS NULL OR {self.kind.quick.matching(cell, exact)} THEN true "
            f"WHEN {is_shortest(cell, value)} THEN true "
            f"ELSE coalesce({self.kind.holds(cell)}, false) END"
        )

    def fits(self, cells: Sequence[str | None]) -> bool:
        """Whether no cell contradicts the guess, which was made with all of them."""
        if self.kind is None or self.kind.quick is None:
            return True
        return all(
            cell is None or self.kind.quick.match(cell) or self._is_long_double(cell)
            for cell in cells
        )

    def _is_long_double(self, cell: str) -> bool:
        """Whether a cell has more digits than a plain one, and a DOUBLE keeps them."""
        if self.kind is None or self.kind.type != "DOUBLE":
            return False
        text = trimmed(cell)
        return bool(looks_like(self.kind.pattern)(text)) and kept_double(text) is not None


def _guesses(head: Head, sample: _Texts, chosen: Mapping[str, str]) -> list[_Guess] | None:
    """A guess for each column, to be checked while writing; None if a column needs more passes.

    A guess is the first kind that fits the sample. It is right if it fits all rows, as a column
    gets the first kind that does. Text needs no check: the sample excludes every kind.
    """
    guesses: list[_Guess] = []
    for at, name in enumerate(head.names):
        choice, texts = chosen.get(name, ""), [row[at] for row in sample]
        if not choice and all(text is None for text in texts):
            guesses.append(_Guess(name, f"c{at}", is_empty=True))
            continue
        possible = possible_kinds(kinds_of(choice, head.delimiter), texts[:_FIRST])
        if len(texts) > _FIRST:
            possible = possible_kinds(possible, texts)
        kind = next(possible, None)
        if kind and kind.quick and kind.type == "DOUBLE" and not all(map(_is_kept, texts)):
            # Any other kind of the same digits would lose some of them, too.
            kind = next((other for other in possible if other.reading != kind.reading), None)
        is_proved = kind.quick if kind is not None else choice in ("", AS_TEXT)
        if not is_proved or (kind and all(text is None or text in BLANKS for text in texts)):
            return None
        decimals = {len(text.partition(".")[2]) for text in texts[:_FIRST] if text}
        is_even = len(decimals) == 1 and max(decimals) <= _MAX_DECIMALS
        guesses.append(_Guess(name, f"c{at}", kind, decimals=decimals.pop() if is_even else 0))
    return guesses


def _is_kept(text: str | None) -> bool:
    """Whether a DOUBLE keeps every digit of a number, or the cell is short, such as NA."""
    if text is None or len(text) <= ALWAYS_KEPT:
        return True
    digits = trimmed(text)
    return len(digits) <= ALWAYS_KEPT or kept_double(digits) is not None


def _write_rows(
    connection: duckdb.DuckDBPyConnection,
    guesses: Sequence[_Guess],
    query: str,
    target: Path,
    *,
    are_proved: bool,
) -> int | None:
    """Write values of the rows to ``target`` in one pass; None if one contradicts its guess.

    Raises:
        duckdb.Error: DuckDB cannot read the file.
    """
    casts = ", ".join(f"{guess.cast} AS v{at}" for at, guess in enumerate(guesses))
    shown = ", ".join(f"v{at} AS {identifier(guess.name)}" for at, guess in enumerate(guesses))
    rows = f"SELECT {shown} FROM (SELECT *, {casts} FROM ({query}))"
    if not are_proved:
        proofs = " AND ".join(guess.proof(f"v{at}") for at, guess in enumerate(guesses))
        rows += f" WHERE CASE WHEN {proofs} THEN true ELSE error('{_MISFIT}') END"
    try:
        (copied,) = connection.execute(
            f"COPY ({rows}) TO {literal(str(target))} ({copy_options(len(guesses))})"
        ).fetchone() or (0,)
    except duckdb.ConversionException:  # such as February 30
        return None
    except duckdb.InvalidInputException as error:
        if _MISFIT not in str(error):
            raise
        return None
    return int(copied)


@dataclass(slots=True)
class _Progress:
    """Reports how many rows are read; the number only grows."""

    on_rows: Callable[[int], None]
    number: int = 0

    def up_to(self, number: int) -> None:
        if number > self.number:
            self.on_rows(number - self.number)
            self.number = number
