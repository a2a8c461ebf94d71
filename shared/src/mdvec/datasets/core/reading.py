"""How a file is to be read, where a user says so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

AS_TEXT = "text"


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How one file is to be read; what is empty is found from the file.

    Attributes:
        encoding: Python's name of an encoding.
        delimiter: what separates cells.
        header_row: the line, or the row of a sheet, that names the columns.
        columns: what the values of a column are, by its name: a key of ``value_types.CHOICES``.
    """

    encoding: str = ""
    delimiter: str = ""
    header_row: int = 0
    columns: Mapping[str, str] = field(default_factory=dict)

    def with_text(self, names: Collection[str]) -> ReadingOptions:
        """The same, with more columns that stay text, whatever type the user chose for them."""
        return replace(self, columns={**self.columns, **dict.fromkeys(names, AS_TEXT)})


FOUND = ReadingOptions()
"""Everything is found from the file."""
