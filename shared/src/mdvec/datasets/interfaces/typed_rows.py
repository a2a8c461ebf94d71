"""Writes rows of Python values to Parquet: each column gets the type that all of its cells fit."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from mdvec.datasets.core.cells import SeenColumn
from mdvec.datasets.core.understood import ReadColumn
from mdvec.datasets.core.value_types import DATE_KINDS, ValueKind, kinds_of
from mdvec.datasets.interfaces.connection import first_line, safe_connection
from mdvec.datasets.interfaces.csv_head import MAX_COLUMNS, TOO_MANY_COLUMNS
from mdvec.datasets.interfaces.text_columns import read_column, with_blank_texts
from mdvec.datasets.interfaces.wide import MAX_ROW_BYTES, ListColumn, lists_to_parquet
from mdvec.files import UnreadableFile

OnRows = Callable[[int], None]
"""Is called now and then with the number of rows read since."""
_ROWS_AT_ONCE = 5_000
_YEN = "¥"
"""The unit of numbers without another."""


@dataclass(slots=True)
class TypedRows:
    """Rows on their way to a Parquet file.

    Attributes:
        target: the Parquet file to write; a temporary plain copy of the rows is beside it.
        on_rows: is called now and then with the number of rows written since.
        text_kinds: the kinds of values that a column of texts may hold.
        reads_mixed: whether texts beside numbers or dates are read as what they say, too.
        chosen: what the user says that some columns hold, by name.
        nulls: texts that stand for no value.
        declared: the types of columns without values.
    """

    target: Path
    on_rows: OnRows = lambda _: None
    text_kinds: Sequence[ValueKind] = DATE_KINDS
    reads_mixed: bool = False
    chosen: Mapping[str, str] = field(default_factory=dict)
    nulls: Collection[str] = ()
    declared: Mapping[str, str] = field(default_factory=dict)
    seen: list[SeenColumn] = field(default_factory=list)

    def write(
        self, rows: Iterable[Sequence[object]], names: Callable[[], Sequence[str]]
    ) -> tuple[ReadColumn, ...]:
        """Write all rows; returns how each column was read.

        A row may have fewer cells than there are columns; ``names`` are asked for at the end, and
        a column whose name is "" is left out. Without columns nothing is written.

        Raises:
            UnreadableFile: a text holds half of a character, a row is too large, or there are too
                many columns.
            OSError: the plain copy cannot be written.
        """
        import duckdb

        plain = self.target.with_name(f"{self.target.name}.rows")
        try:
            with plain.open("w", encoding="utf-8", newline="") as copy:
                self._write_plain(iter(rows), copy)
            columns = self._columns(names())
            if not columns:
                return ()
            with safe_connection([plain, self.target], optimizes=False) as connection:
                kinds = lists_to_parquet(connection, columns, plain, self.target)
                read = tuple(
                    self._read_column(column, *kind, seen)
                    for column, kind, seen in zip(columns, kinds, self.seen, strict=True)
                    if column.name
                )
                return with_blank_texts(connection, read, self.target)
        except duckdb.Error as error:
            raise UnreadableFile(f"its rows cannot be stored ({first_line(error)})") from error
        finally:
            plain.unlink(missing_ok=True)

    def _write_plain(self, rows: Iterator[Sequence[object]], copy: TextIO) -> None:
        number = 0
        for number, row in enumerate(rows, 1):
            try:
                line = json.dumps(self._texts(row), ensure_ascii=False)
                # A character has up to 4 bytes; counting them is for the few long rows.
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

    def _texts(self, row: Sequence[object]) -> list[str | None]:
        more = len(row) - len(self.seen)
        if more > 0:
            if len(row) > MAX_COLUMNS:
                raise UnreadableFile(TOO_MANY_COLUMNS)
            self.seen += [SeenColumn() for _ in range(more)]
        if self.nulls:
            row = [None if self._is_null(cell) else cell for cell in row]
        return [seen.add(cell) for seen, cell in zip(self.seen, row, strict=False)]

    def _is_null(self, cell: object) -> bool:
        return isinstance(cell, str) and cell.strip() in self.nulls

    def _columns(self, names: Sequence[str]) -> list[ListColumn]:
        self.seen += [SeenColumn() for _ in range(len(names) - len(self.seen))]
        return [self._column(name, seen) for name, seen in zip(names, self.seen, strict=True)]

    def _column(self, name: str, seen: SeenColumn) -> ListColumn:
        type_ = seen.type() if seen.counts else self.declared.get(name)
        if name in self.chosen:
            choice = self.chosen[name]
            return ListColumn(name, kinds=kinds_of(choice), choice=choice)
        if type_ is not None:
            unit = next(iter(seen.units - {_YEN}), "")
            return ListColumn(name, type_, unit=unit)
        is_read = seen.has_texts_only or (self.reads_mixed and "bytes" not in seen.kinds)
        return ListColumn(name, kinds=self.text_kinds if is_read else ())

    def _read_column(
        self, column: ListColumn, kind: ValueKind | None, nulls: int, seen: SeenColumn
    ) -> ReadColumn:
        if column.type:
            return ReadColumn(column.name, column.type, nulls=seen.blanks)
        if kind is not None:
            return read_column(column.name, kind, nulls, [seen.sample])
        note = "" if column.choice else seen.note("VARCHAR")
        return ReadColumn(column.name, "VARCHAR", note=note)
