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
_NULL_IN = f"{NULL} in a column: "
"""The prefix of the setting that makes a text NULL in one column; the text follows."""
TOTALS = "totals"
NOTES = "notes"
AUTO = "auto"
"""The value that takes a choice back."""
DELIMITERS = {".csv": ",;\t|", ".tsv": "\t"}
"""The suffixes of files with delimiters, and their possible delimiters."""
EVERY_FILE = "*"
NO_ROW = "none"
"""The value of ``HEADER_ROW`` for files without a header."""


@dataclass(frozen=True, slots=True, order=True)
class ReadingChoice:
    """A choice of how some files are read.

    Attributes:
        pattern: the files that it is for: a shell pattern of their names, or, with '/', paths.
        setting: ``ENCODING``, ``DELIMITER``, ``HEADER_ROW``, ``COLUMN``, ``NULL``, that of
            ``null_in``, ``TOTALS`` or ``NOTES``.
        column: the column's name, for ``COLUMN`` and ``null_in``; for ``NULL`` the text that stands
            for no value.
        value: the chosen value, as text.
    """

    pattern: str
    setting: str
    column: str
    value: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Identifies the files and the setting that the choice is for."""
        return self.pattern, self.setting, self.column

    @property
    def kind(self) -> str:
        """Its setting, without a text that is part of it."""
        return NULL if self.setting.startswith(_NULL_IN) else self.setting

    @property
    def is_of_column(self) -> bool:
        """Whether it is for a column that some file must have."""
        return self.setting == COLUMN or self.setting.startswith(_NULL_IN)

    def takes_back(self, key: tuple[str, str, str]) -> bool:
        """Whether it removes (with the value ``AUTO``) the choice with this key."""
        pattern, setting, column = key
        if pattern != self.pattern:
            return False
        if self.setting == NULL:
            return setting == NULL
        is_of_column = self.setting == COLUMN and setting.startswith(_NULL_IN)
        return key == self.key or (is_of_column and column == self.column)

    def fits(self, path: str) -> bool:
        """Whether it is for a file."""
        name = path if "/" in self.pattern else path.rpartition("/")[2]
        return fnmatchcase(name, self.pattern)

    def __str__(self) -> str:
        value = "tab" if self.value == "\t" else self.value
        text = self.setting.removeprefix(_NULL_IN)
        text_of_choice = f"{self.column or self.setting} = {value}"
        text_of_choice = (
            text_of_choice if text == self.setting else f"{text} in {self.column} = {value}"
        )
        return (
            text_of_choice if self.pattern == EVERY_FILE else f"{text_of_choice} ({self.pattern})"
        )


def null_in(pattern: str, column: str, text: str) -> ReadingChoice:
    """The choice that cells of a column that hold only this text are NULL."""
    return ReadingChoice(pattern, _NULL_IN + text, column, "NULL")


def merge_choices(
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
    nulls: dict[str, list[str]] = {}
    fitting = [choice for choice in choices if choice.fits(path)]
    for choice in fitting:
        if choice.setting == COLUMN:
            columns[choice.column] = choice.value
        elif choice.setting == NULL:
            nulls.setdefault("", []).append(choice.column)
        elif choice.kind == NULL:
            text = choice.setting.removeprefix(_NULL_IN)
            nulls.setdefault(choice.column, []).append(text)
        else:
            by_setting[choice.setting] = choice.value
    header, _, header_end = by_setting.get(HEADER_ROW, "0").partition("-")
    return ReadingOptions(
        by_setting.get(ENCODING, ""),
        by_setting.get(DELIMITER, ""),
        NO_HEADER if header == NO_ROW else int(header),
        columns,
        {column: tuple(texts) for column, texts in nulls.items()},
        TOTALS in by_setting,
        NOTES in by_setting,
        header_end=int(header_end or 0),
    )
