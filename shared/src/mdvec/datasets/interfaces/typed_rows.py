"""Writes rows of Python values to Parquet, with a type for each column that fits all its cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

import duckdb

from mdvec.datasets.core.cells import BLANK, TEXT, SeenColumn
from mdvec.datasets.core.understood import ReadColumn, ReadingOptions
from mdvec.datasets.core.value_types import DATE_KINDS, ValueKind, kinds_of
from mdvec.datasets.interfaces.connection import first_line, one_path, safe_connection
from mdvec.datasets.interfaces.csv_head import MAX_COLUMNS, TOO_MANY_COLUMNS
from mdvec.datasets.interfaces.typed_columns import TextColumn, put_plain, write_typed
from mdvec.files import UnreadableFile
from mdvec.text import literal

MAX_ROW_BYTES = 2**26
OnRows = Callable[[int], None]
"""A callback that gets the number of rows read since its last call."""
BOOLEAN = "BOOLEAN"
_ROWS_AT_ONCE = 5_000
_YEN = "¥"
"""The currency of numbers without another unit."""


@dataclass(slots=True)
class TypedRows:
    """Rows on their way to a Parquet file.

    Attributes:
        target: the Parquet file to write; temporary copies of the rows are beside it.
        on_rows: called now and then with the number of rows written since the last call.
        reading: what the user chose for the columns.
        text_kinds: the kinds of values that a column of texts may hold.
        reads_mixed: whether texts in a column with other values are also parsed.
        declared: the types of columns without values, or of 0 and 1 if it is ``BOOLEAN``.
        labels: cells that may be names of columns.
        seen: the kinds of cells in each column, so far.
    """

    target: Path
    on_rows: OnRows
    reading: ReadingOptions
    text_kinds: Sequence[ValueKind] = DATE_KINDS
    reads_mixed: bool = False
    declared: Mapping[str, str] = field(default_factory=dict)
    labels: Collection[str] = ()
    seen: list[SeenColumn] = field(default_factory=list)
    _nulls: list[Collection[str]] = field(default_factory=list)

    def write(
        self, rows: Iterable[Sequence[object]], names: Callable[[], Sequence[str]]
    ) -> tuple[ReadColumn, ...]:
        """Write all rows; returns how each column was read.

        A row may have fewer cells than there are columns; ``names`` is called at the end, and a
        column whose name is "" is left out. Without columns nothing is written.

        Raises:
            UnreadableFile: a text holds half of a character, a row is too large, or there are too
                many columns.
            OSError: the plain copy cannot be written.
        """
        lists, plain = (
            self.target.with_name(f"{self.target.name}.{use}") for use in ("rows", "plain")
        )
        try:
            with lists.open("w", encoding="utf-8", newline="") as copy:
                self._write_lists(iter(rows), names, copy)
            columns = self._columns(names())
            if not columns:
                return ()
            with safe_connection([lists, plain, self.target], optimizes=False) as connection:
                cells = ", ".join(f"row[{at + 1}] AS c{at}" for at in range(len(columns)))
                texts = (
                    f"SELECT {cells} FROM read_json({literal(one_path(lists))}, "
                    "format = 'newline_delimited', records = false, "
                    f"columns = {{'row': 'VARCHAR[]'}}, maximum_object_size = {MAX_ROW_BYTES})"
                )
                put_plain(connection, texts, len(columns), plain, lists.stat().st_size)
                read = iter(write_typed(connection, columns, self.target, self.labels))
            return tuple(
                _with_kinds(next(read), column, seen)
                for column, seen in zip(columns, self.seen, strict=True)
                if column.name
            )
        except duckdb.Error as error:
            raise UnreadableFile(f"its rows cannot be stored ({first_line(error)})") from error
        finally:
            lists.unlink(missing_ok=True)
            plain.unlink(missing_ok=True)

    def _write_lists(
        self,
        rows: Iterator[Sequence[object]],
        names: Callable[[], Sequence[str]],
        copy: TextIO,
    ) -> None:
        number = 0
        for number, row in enumerate(rows, 1):
            try:
                line = json.dumps(self._texts(row, names), ensure_ascii=False)
                # A character has up to 4 bytes; only the few long rows need to be encoded.
                if len(line) > MAX_ROW_BYTES // 4 and len(line.encode()) >= MAX_ROW_BYTES:
                    raise UnreadableFile(
                        f"row {number} holds more than {MAX_ROW_BYTES // 2**20} MB as text (bytes "
                        "count twice); leave such values out of the file"
                    )
                copy.write(f"{line}\n")
            except UnicodeEncodeError as error:
                raise UnreadableFile(
                    f"row {number}: a text holds half of a character; write the file again"
                ) from error
            if number % _ROWS_AT_ONCE == 0:
                self.on_rows(_ROWS_AT_ONCE)
        self.on_rows(number % _ROWS_AT_ONCE)

    def _texts(self, row: Sequence[object], names: Callable[[], Sequence[str]]) -> list[str | None]:
        more = len(row) - len(self.seen)
        if more > 0:
            if len(row) > MAX_COLUMNS:
                raise UnreadableFile(TOO_MANY_COLUMNS)
            self.seen += [SeenColumn() for _ in range(more)]
            self._nulls = [self.reading.nulls_in(name) for name in names()]
        if any(self._nulls):
            row = [
                None if isinstance(cell, str) and cell.strip() in nulls else cell
                for cell, nulls in zip_longest(row, self._nulls[: len(row)], fillvalue=())
            ]
        return [seen.add(cell) for seen, cell in zip(self.seen, row, strict=False)]

    def _columns(self, names: Sequence[str]) -> list[TextColumn]:
        self.seen += [SeenColumn() for _ in range(len(names) - len(self.seen))]
        return [self._column(name, seen) for name, seen in zip(names, self.seen, strict=True)]

    def _column(self, name: str, seen: SeenColumn) -> TextColumn:
        declared, choice = self.declared.get(name), self.reading.columns.get(name)
        type_ = seen.type() if seen.counts else declared
        if declared == BOOLEAN and seen.are_truths and choice in (None, "boolean"):
            type_, choice = BOOLEAN, None
        if choice:
            return TextColumn(name, kinds=kinds_of(choice), choice=choice)
        if type_ is not None:
            unit = next(iter(seen.units - {_YEN}), "")
            return TextColumn(name, type_, unit=unit)
        is_read = seen.kinds == {TEXT} or (self.reads_mixed and "bytes" not in seen.kinds)
        return TextColumn(name, kinds=self.text_kinds if is_read else ())


def _with_kinds(read: ReadColumn, column: TextColumn, seen: SeenColumn) -> ReadColumn:
    """A column with a note on the kinds of its cells, unless they are texts of one kind."""
    if column.type:
        return replace(read, nulls=seen.counts[BLANK])
    if column.choice or read.decision or read.type != "VARCHAR":
        return read
    return replace(read, note="; ".join(filter(None, (seen.note(), read.note))))
