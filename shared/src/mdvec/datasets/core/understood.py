"""How a file is to be read and how it was read: encoding, header and columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from mdvec.text import counted, shown_name

_PLAIN_ENCODINGS = ("", "utf-8-sig")
_PLAIN_DELIMITERS = ("", ",", "\t")
_MAX_COLUMNS = 8
_MAX_TITLES = 3
_MAX_CHARS = 40
AS_TEXT = "text"
NO_HEADER = -1
"""The ``header_row`` of a table without a header."""


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """How a column was read.

    Attributes:
        name: the column's name.
        type: its SQL type.
        sample: a value as the file writes it, if the table holds it in another form, or if the user
            is asked about it.
        nulls: how many cells, such as "-" or NA, became NULL.
        note: a sentence about values that do not fit together; "" if they do.
        decision: how ambiguous values were read, or the question about them.
        unit: the unit of its numbers, such as "$", if their cells show one.
        has_decimal_commas: whether its cells prove that the comma is a decimal sign.
    """

    name: str
    type: str
    sample: str = ""
    nulls: int = 0
    note: str = ""
    decision: str = ""
    unit: str = ""
    has_decimal_commas: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it needs no report."""
        return not (self.sample or self.nulls or self.note or self.decision)

    def __str__(self) -> str:
        parts = [self.decision] if self.decision else []
        if self.sample:
            shown = _shown_value(self.sample)
            is_asked = self.decision and self.type == "VARCHAR"
            parts = (
                [f"{shown}: {self.decision}"] if is_asked else [f"{shown} → {self.type}", *parts]
            )
        if self.nulls:
            parts.append(f"{counted(self.nulls, 'cell')} such as NA → NULL")
        return f"{shown_name(self.name)}: {', '.join(filter(None, [*parts, self.note]))}"


@dataclass(frozen=True, slots=True)
class Understood:
    """How a file, or one table in it, was read; fields that do not apply are empty.

    Attributes:
        encoding: Python's name of the text's encoding.
        is_guess: whether the encoding is a guess.
        delimiter: what separates cells.
        header_row: the line, or the row of a sheet, that names the columns.
        skipped: the title lines before the header.
        columns: the columns.
        notes: more that a user should know.
    """

    encoding: str = ""
    is_guess: bool = False
    delimiter: str = ""
    header_row: int = 0
    skipped: tuple[str, ...] = ()
    columns: tuple[ReadColumn, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def manner(self) -> tuple[object, ...]:
        """A key that is equal for files that were read in the same way."""
        columns = tuple(
            (at.name, at.type, at.decision, *map(bool, (at.sample, at.nulls, at.note)))
            for at in self.columns
        )
        return self.encoding, self.delimiter, self.header_row, columns, self.notes

    def __str__(self) -> str:
        """A note for the user; "" if nothing about the file is unusual."""
        parts: list[str] = []
        if self.is_guess:
            parts.append(f"{self.encoding} (a guess, --encoding chooses another)")
        elif self.encoding not in _PLAIN_ENCODINGS:
            parts.append(self.encoding)
        if self.delimiter not in _PLAIN_DELIMITERS:
            parts.append(f"cells separated by {self.delimiter!r}")
        if self.skipped:
            titles = ", ".join(map(_shown_value, self.skipped[:_MAX_TITLES]))
            parts.append(f"header in line {self.header_row}, not {titles}")
            if {column.type for column in self.columns} == {"VARCHAR"}:  # texts prove no header
                parts.append("if another line names the columns: --header-row")
        unusual = [column for column in self.columns if not column.is_plain]
        shown = [
            column for at, column in enumerate(unusual) if at < _MAX_COLUMNS or column.decision
        ]
        parts += map(str, shown)
        if more := len(unusual) - len(shown):
            parts.append(f"{more:,} more columns (--format json lists them)")
        return "; ".join([*parts, *self.notes])

    def with_nulls(self, cells: Mapping[str, tuple[str, int]]) -> Understood:
        """A copy with the types that columns without any value get in a table of several files.

        ``cells`` has that type, and the number of cells such as NA, by column name.
        """
        other = {name.lower(): to for name, to in cells.items()}
        known = [(column, other.get(column.name.lower())) for column in self.columns]
        columns = (
            ReadColumn(column.name, to[0], nulls=to[1]) if to else column for column, to in known
        )
        return replace(self, columns=tuple(columns))

    def with_notes(self, *notes: str) -> Understood:
        """A copy with more notes."""
        return replace(self, notes=(*self.notes, *filter(None, notes)))


def _shown_value(text: str) -> str:
    return shown_name(text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…")


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How a file is to be read; what is not given here is found out from the file.

    Attributes:
        encoding: Python's name of an encoding.
        delimiter: what separates cells.
        header_row: the first line, or row of a sheet, that names the columns; ``NO_HEADER`` if none
            does.
        columns: the kind of each column's values, by its name: a key of ``value_types.CHOICES``.
        nulls: texts that mean no value, by column; those under "" apply to all columns.
        leaves_out_totals: whether rows that sum up others are left out.
        leaves_out_notes: whether rows at the end that hold one text each are left out.
        beside_commas: whether other files of its table have decimal commas.
        header_end: the last line, or row, that names the columns; 0 for the first.
        tables: the options for tables with their own choices, by name.
    """

    encoding: str = ""
    delimiter: str = ""
    header_row: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)
    nulls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    leaves_out_totals: bool = False
    leaves_out_notes: bool = False
    beside_commas: bool = False
    header_end: int = 0
    tables: Mapping[str, ReadingOptions] = field(default_factory=dict)

    def of_table(self, name: str) -> ReadingOptions:
        """How a table of the file is to be read."""
        return replace(self.tables.get(name, self), beside_commas=self.beside_commas)

    def nulls_in(self, column: str) -> tuple[str, ...]:
        """The texts that stand for no value in a column."""
        return (*self.nulls.get("", ()), *self.nulls.get(column, ()))

    def with_text(self, names: Collection[str]) -> ReadingOptions:
        """A copy in which these columns, too, stay text, regardless of the user's choice."""
        columns = {**self.columns, **dict.fromkeys(names, AS_TEXT)}
        tables = {name: reading.with_text(names) for name, reading in self.tables.items()}
        return replace(self, columns=columns, tables=tables)


FOUND = ReadingOptions()
"""The options with which everything is found out from the file."""
