"""What an import understood of a file: its encoding, its header, and what its cells became."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """How a column was read.

    Attributes:
        name: its name.
        type: its SQL type.
        sample: its first value as the file writes it, if the table holds it in another form.
        nulls: how many cells, such as "-" or NA, became NULL.
        note: a sentence about values that do not fit together; "" if they do.
    """

    name: str
    type: str
    sample: str = ""
    nulls: int = 0
    note: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to tell about it."""
        return not (self.sample or self.nulls or self.note)

    def __str__(self) -> str:
        said = [f"{self.sample} → {self.type}"] if self.sample else []
        if self.nulls:
            said.append(f"{self.nulls:,} cells without a value → NULL")
        return f"{self.name}: {', '.join(filter(None, [*said, self.note]))}"


@dataclass(frozen=True, slots=True)
class Understood:
    """How a file, or one table in it, was read; what does not apply to it is empty.

    Attributes:
        encoding: Python's name of the text's encoding.
        is_guess: whether the encoding was guessed from the letters that it gives.
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

    def with_notes(self, *notes: str) -> Understood:
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *filter(None, notes)))
