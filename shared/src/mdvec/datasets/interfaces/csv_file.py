"""Reads a CSV or TSV file with DuckDB, as texts that get a type for each column.

Python decides the encoding and finds the header. DuckDB splits the rows below it: a large file is
read in place, others as a copy in UTF-8. If a quotation mark is never closed, DuckDB drops the rest
of the file without an error; so every line must be accounted for.
"""

from __future__ import annotations

import contextvars
import csv
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TextIO

import duckdb

from mdvec.cancelling import is_cancelled
from mdvec.datasets.core.choices import DELIMITERS
from mdvec.datasets.core.first_row import NO_HEADER_NOTE
from mdvec.datasets.core.likely_kinds import likely_kinds
from mdvec.datasets.core.sheet_cells import TOTAL_AMONG, totals_note
from mdvec.datasets.core.sheet_header import header_notes
from mdvec.datasets.core.understood import AS_TEXT, FOUND, ReadColumn, ReadingOptions, Understood
from mdvec.datasets.core.value_types import (
    BLANKS,
    ValueKind,
    kinds_of,
    possible_kinds,
)
from mdvec.datasets.interfaces.connection import (
    first_line,
    parquet_scan,
    safe_connection,
)
from mdvec.datasets.interfaces.csv_head import Head, headers_below, read_head
from mdvec.datasets.interfaces.csv_notes import note_lines
from mdvec.datasets.interfaces.csv_rows import Rows, lines_of, totals_among, totals_of
from mdvec.datasets.interfaces.typed_columns import (
    MIN_WIDE_COLUMNS,
    TextColumn,
    put_plain,
    read_column,
    with_blank_texts,
    write_typed,
)
from mdvec.files import UnreadableFile, data_file_encoding, not_decoded
from mdvec.text import UTF_8, identifier, literal, shown_name

_BLOCK = 2**20
_MIN_LARGE_BYTES = 2**24
_MEMORY_MB = 450
_SAMPLE_CELLS, _MAX_SAMPLE_ROWS, _FIRST = 200_000, 20_000, 100
_NOTED_ROWS = 1_000
_SECONDS_BETWEEN_LOOKS = 0.2
_MISFIT = "mdvec: a value of another kind"


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

    ``on_rows`` is called now and then with the number of rows read since. ``ending`` is the file's
    suffix, for a path without one. ``reading`` is what the user says about the file. Of files with
    fewer bytes than ``large_from`` a temporary copy is written beside ``target``.

    Raises:
        UnreadableFile: the file cannot be converted; the message says why, and names the line.
        OSError: the copy cannot be written.
    """
    copy, plain = (target.with_name(f"{target.name}.{use}") for use in ("rows", "plain"))
    allowed = reading.delimiter or DELIMITERS[ending or source.suffix.lower()]
    try:
        lines = lines_of(source)
        encoding, is_guess = data_file_encoding(source, reading.encoding)
        with source.open(encoding=encoding, newline="") as text:
            text.seek(0)
            head = read_head(text, allowed, reading)
            is_large = source.stat().st_size >= large_from
            is_plain = encoding == UTF_8 and lines.is_uniform and head.is_plain
            is_direct = is_large and is_plain and not reading.leaves_out_notes
            is_direct &= _is_quoted_well(text, head)
            if is_direct and not (len(head.names) == 1 and lines.ends_blank):
                rows = Rows(source, head, head.lines, lines.number - head.lines, is_large)
                below = note_lines(source, head, head.lines)
            else:
                text.seek(0)
                _copy_below(text, head.lines, copy, is_uniform=lines.is_uniform)
                below = note_lines(copy, head, 0)
                if reading.leaves_out_notes:
                    below.cut(copy)
                number = lines_of(copy).number
                rows = Rows(copy, head, 0, number, is_large, not lines.is_uniform)
            if below.is_short and not below.notes.are_left_out:
                raise UnreadableFile(
                    f"line {rows.line_at(below.place)}: it has one cell, unlike the rows above; if "
                    "it is a note below the table, leave it out with --read notes=out"
                )
        rows, columns, totals = _convert(rows, target, plain, on_rows, reading)
        others = () if is_large else tuple(headers_below(rows.file, head))
    except UnicodeError as error:
        raise not_decoded(reading.encoding) from error
    finally:
        copy.unlink(missing_ok=True)
        plain.unlink(missing_ok=True)
    empty = rows.empty + (below.empty if below.notes.are_left_out else 0)
    others = (
        *header_notes("line", head.top, head.line, head.doubtful),
        *others,
        below.notes.note(),
        f"empty rows are left out: {empty:,}" if empty else "",
    )
    others = tuple(filter(None, others))
    notes = others if head.line or reading.header_row else (NO_HEADER_NOTE, *others)
    shown = ", ".join(f"{shown_name(text)} ({number:,})" for text, number in totals.items())
    return Understood(
        encoding, is_guess, head.delimiter, head.line, head.titles, columns, notes
    ).with_notes(totals_note(shown, is_left_out=reading.leaves_out_totals) if shown else "")


def _is_quoted_well(text: TextIO, head: Head) -> bool:
    """Whether the quotation marks in the lines before the rows are valid.

    Otherwise DuckDB counts lines in another way when it skips them.
    """
    text.seek(0)
    try:
        return all(csv.reader(islice(text, head.lines), delimiter=head.delimiter, strict=True))
    except csv.Error:
        return False


def _copy_below(text: TextIO, skipped: int, copy: Path, *, is_uniform: bool) -> None:
    """Copy the lines below the first ones as UTF-8, without the blank lines at the end.

    If line ends differ, those outside of quotation marks become LF.
    """
    for _ in range(skipped):
        text.readline()
    is_within, ends = False, ""
    with copy.open("w", encoding="utf-8", newline="") as plain:
        while block := text.read(_BLOCK):
            if block[0] == "\ufeff" and not plain.tell():
                plain.write("\ufeff")  # DuckDB skips one at the start; this one belongs to a cell
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


def _convert(
    rows: Rows,
    target: Path,
    plain: Path,
    on_rows: Callable[[int], None],
    reading: ReadingOptions,
) -> tuple[Rows, tuple[ReadColumn, ...], Mapping[str, int]]:
    """Write the rows to ``target`` with their types, if all lines are accounted for.

    Returns these rows, the columns, and the texts that name rows of totals with the number of
    those.
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
                columns = _convert_columns(connection, part, target, plain, progress, reading)
                if columns is not None:
                    return rows, *columns
                target.unlink(missing_ok=True)
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            try:
                raise rows.fault(connection, error) from error
            except duckdb.Error:
                raise UnreadableFile(f"it cannot be read as CSV ({first_line(error)})") from error
    raise rows.never_closed()


def _convert_columns(
    connection: duckdb.DuckDBPyConnection,
    rows: Rows,
    target: Path,
    plain: Path,
    progress: _Progress,
    reading: ReadingOptions,
) -> tuple[tuple[ReadColumn, ...], Mapping[str, int]] | None:
    """The columns as written to ``target``, and totals; None if lines are not accounted for."""
    query, width = rows.query(reading.nulls_in), len(rows.names)
    number = min(_MAX_SAMPLE_ROWS, _SAMPLE_CELLS // width)
    guesses = None
    if width < MIN_WIDE_COLUMNS and not reading.beside_commas:
        sample = connection.execute(f"{query} LIMIT {number}").fetchall()
        guesses = _guesses(rows.head, sample, reading.columns)
    if guesses is not None:
        with _watch_queries(connection, rows, progress):
            copied = _write_at_once(connection, guesses, query, target)
        if copied is not None:
            progress.up_to(copied)
            texts = [identifier(guess.name) for guess in guesses if guess.kind is None]
            if not rows.has_all(connection, copied, _cells(texts, parquet_scan(target))):
                return None
            read = [
                read_column(guess.name, guess.kind, 0, (row[at] for row in sample[:_NOTED_ROWS]))
                for at, guess in enumerate(guesses)
            ]
            kinds = kinds_of("", rows.head.delimiter)
            by_name = dict.fromkeys(set(rows.names).difference(reading.columns), kinds)
            different = {cell for row in sample for cell in row if cell}
            if copied == len(sample) and not any(cell.strip(" ") in BLANKS for cell in different):
                texts_of = zip(guesses, zip(*sample, strict=True), strict=False)
                if not any(
                    guess.kind is None and likely_kinds(kinds, cells) for guess, cells in texts_of
                ):
                    return tuple(read), rows.left_out or totals_of(sample)
            noted = with_blank_texts(connection, read, target, by_name, rows.head.labels)
            return noted, _totals(connection, rows, noted, target)
        target.unlink(missing_ok=True)
    with _watch_queries(connection, rows, progress):
        copied = put_plain(connection, query, width, plain, rows.file.stat().st_size)
    progress.up_to(copied)
    if not rows.has_all(connection, copied, _cells([f"c{at}" for at in range(width)], "plain")):
        return None
    columns = [
        TextColumn(name, kinds=kinds_of(choice, rows.head.delimiter), choice=choice)
        for name, choice in ((name, reading.columns.get(name, "")) for name in rows.names)
    ]
    typed = write_typed(
        connection, columns, target, rows.head.labels, beside_commas=reading.beside_commas
    )
    return typed, _totals(connection, rows, typed, target)


def _totals(
    connection: duckdb.DuckDBPyConnection, rows: Rows, columns: Sequence[ReadColumn], target: Path
) -> Mapping[str, int]:
    """The texts that name rows of totals, and the number of these."""
    texts = [identifier(each.name) for each in columns[:TOTAL_AMONG] if each.type == "VARCHAR"]
    return rows.left_out or totals_among(connection, texts, parquet_scan(target))


def _cells(columns: Sequence[str], table: str) -> str:
    """SQL: the cells of some columns as one, called cell."""
    return f"SELECT unnest([{', '.join(columns) or 'NULL'}]::VARCHAR[]) AS cell FROM {table}"


@dataclass(frozen=True, slots=True)
class _Guess:
    """What a column holds, judging by the first rows.

    Attributes:
        name: the column's name.
        column: its name in the query of texts.
        kind: the kind of its values; None for text.
        is_empty: whether it has no values in the first rows.
    """

    name: str
    column: str
    kind: ValueKind | None = None
    is_empty: bool = False

    @property
    def value(self) -> str:
        """SQL: a cell as a value; an error if it contradicts the guess."""
        if self.kind is not None:
            fits, type_ = f"OR ({self.kind.quick.format(v=self.column)})", self.kind.type
        elif self.is_empty:
            fits, type_ = "", "VARCHAR"
        else:
            return f"{self.column} AS {identifier(self.name)}"
        return (
            f"CASE WHEN {self.column} IS NULL {fits} THEN CAST({self.column} AS {type_}) "
            f"ELSE error('{_MISFIT}') END AS {identifier(self.name)}"
        )


def _guesses(
    head: Head, sample: Sequence[Sequence[str | None]], chosen: Mapping[str, str]
) -> list[_Guess] | None:
    """A guess for each column, to be proved while writing; None if a column needs more passes.

    A guess is the first kind that fits the sample. As kinds are tried in this order, it is right if
    it fits all rows. Text is certain, because the sample contradicts every kind.
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
        is_proved = kind.quick if kind is not None else choice in ("", AS_TEXT)
        if not is_proved or (kind and all(text is None or text in BLANKS for text in texts)):
            return None
        guesses.append(_Guess(name, f"c{at}", kind))
    return guesses


def _write_at_once(
    connection: duckdb.DuckDBPyConnection, guesses: Sequence[_Guess], query: str, target: Path
) -> int | None:
    """Write the rows to ``target`` in one pass; None if a value contradicts its guess.

    Raises:
        duckdb.Error: DuckDB cannot read the file.
    """
    shown = ", ".join(guess.value for guess in guesses)
    try:
        (rows,) = connection.execute(
            f"COPY (SELECT {shown} FROM ({query})) TO {literal(str(target))} "
            "(FORMAT parquet, USE_TMP_FILE false)"
        ).fetchone() or (0,)
    except duckdb.ConversionException:  # such as February 30
        return None
    except duckdb.InvalidInputException as error:
        if _MISFIT not in str(error):
            raise
        return None
    return int(rows)


@dataclass(slots=True)
class _Progress:
    """Reports how many rows are read; the number only grows."""

    on_rows: Callable[[int], None]
    number: int = 0

    def up_to(self, number: int) -> None:
        if number > self.number:
            self.on_rows(number - self.number)
            self.number = number


@contextmanager
def _watch_queries(
    connection: duckdb.DuckDBPyConnection, rows: Rows, progress: _Progress
) -> Iterator[None]:
    """Report the progress of the block's queries, and stop them if the import is cancelled."""
    if not rows.is_large:
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_SECONDS_BETWEEN_LOOKS):
            if is_cancelled():
                connection.interrupt()
            done = int(connection.query_progress() / 100 * rows.lines)
            progress.up_to(min(done, rows.lines))

    watcher = threading.Thread(target=contextvars.copy_context().run, args=(watch,), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
