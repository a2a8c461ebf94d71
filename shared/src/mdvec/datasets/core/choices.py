"""A user's choices of how files are read: kept with the tool until they are taken back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mdvec.datasets.core.understood import NO_HEADER, ReadingOptions

ENCODING = "encoding"
DELIMITER = "delimiter"
HEADER_ROW = "header_row"
COLUMN = "column"
NULL = "null"
TOTALS = "totals"
AUTO = "auto"
"""The value that takes a choice back."""
EVERY_FILE = "*"
NO_ROW = "none"
"""The value of ``HEADER_ROW`` for files without a header."""


@dataclass(frozen=True, slots=True, order=True)
class ReadingChoice:
    """A choice of how some files are read.

    Attributes:
        pattern: the files that it is for: a shell pattern of their names, or, with '/', paths.
        setting: ``ENCODING``, ``DELIMITER``, ``HEADER_ROW``, ``COLUMN``, ``NULL`` or
            ``TOTALS``.
        column: the column's name, for ``COLUMN``; the text that stands for no value, for ``NULL``.
        value: the chosen value, as text.
    """

    pattern: str
    setting: str
    column: str
    value: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is a choice of."""
        return self.pattern, self.setting, self.column

    def takes_back(self, key: tuple[str, str, str]) -> bool:
        """Whether it, whose value is ``AUTO``, is for a choice with this key."""
        return key == self.key or (self.setting == NULL and key[:2] == self.key[:2])

    def fits(self, path: str) -> bool:
        """Whether it is for a file."""
        name = path if "/" in self.pattern else path.rpartition("/")[2]
        return fnmatchcase(name, self.pattern)

    def __str__(self) -> str:
        value = "tab" if self.value == "\t" else self.value
        said = f"{self.column or self.setting} = {value}"
        return said if self.pattern == EVERY_FILE else f"{said} ({self.pattern})"


def merged(
    existing: Iterable[ReadingChoice], new: Iterable[ReadingChoice]
) -> tuple[ReadingChoice, ...]:
    """The choices after new ones; ``AUTO`` takes a choice back."""
    by_key = {choice.key: choice for choice in existing}
    for choice in new:
        if choice.value == AUTO:
            taken_back = [key for key in by_key if choice.takes_back(key)]
            for key in taken_back:
                del by_key[key]
        else:
            by_key[choice.key] = choice
    return tuple(sorted(by_key.values(), key=lambda choice: (choice.pattern != "*", choice)))


def reading_of(choices: Iterable[ReadingChoice], path: str) -> ReadingOptions:
    """How a file is to be read: choices for some files take precedence over those for all."""
    by_setting: dict[str, str] = {}
    columns: dict[str, str] = {}
    nulls: list[str] = []
    for choice in choices:
        if choice.fits(path):
            if choice.setting == COLUMN:
                columns[choice.column] = choice.value
            elif choice.setting == NULL:
                nulls.append(choice.column)
            else:
                by_setting[choice.setting] = choice.value
    header = by_setting.get(HEADER_ROW, "0")
    return ReadingOptions(
        by_setting.get(ENCODING, ""),
        by_setting.get(DELIMITER, ""),
        NO_HEADER if header == NO_ROW else int(header),
        columns,
        tuple(nulls),
        TOTALS in by_setting,
    )
