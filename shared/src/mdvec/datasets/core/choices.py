"""A user's choices of how files are read; they are stored until the user removes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from mdvec.datasets.core.understood import NO_HEADER, ReadingOptions

AUTO = "auto"
"""The value that removes a choice."""
DELIMITERS = {".csv": ",;\t|", ".tsv": "\t"}
"""The suffixes of files with delimiters, and their possible delimiters."""
EVERY_FILE = "*"
NO_ROW = "none"
"""The value of ``Setting.HEADER_ROW`` for files without a header."""


class Setting(StrEnum):
    """What a choice sets; ``NULL_IN``: a text that means no value in a column, ``NULL``: in all."""

    ENCODING = "encoding"
    DELIMITER = "delimiter"
    HEADER_ROW = "header_row"
    COLUMN = "column"
    NULL = "null"
    NULL_IN = "null in a column"
    TOTALS = "totals"
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class ReadingChoice:
    """A choice of how some files are read.

    Attributes:
        pattern: a shell pattern of the files that it applies to; it is compared with their names,
            or with their paths if it has '/' (``./a.csv`` is not in a folder). ``PATTERN#TABLE``
            stands for one table in these files.
        setting: what it sets.
        value: the chosen value, as text.
        column: the column's name, for ``COLUMN`` and ``NULL_IN``.
        text: what stands for no value, for ``NULL`` and ``NULL_IN``.
    """

    pattern: str
    setting: Setting
    value: str
    column: str = ""
    text: str = ""

    @classmethod
    def stored(cls, pattern: str, setting: str, column: str, value: str) -> ReadingChoice:
        """The choice from a row of the database."""
        name, _, text = setting.partition(": ")
        if name == Setting.NULL:
            return cls(pattern, Setting.NULL, value, text=column)
        return cls(pattern, Setting(name), value, column, text)

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Its row in the database; ``text`` shares one of the four columns with another field."""
        if self.setting is Setting.NULL:
            return self.pattern, self.setting.value, self.text, self.value
        setting = f"{self.setting.value}: {self.text}" if self.text else self.setting.value
        return self.pattern, setting, self.column, self.value

    def json_fields(self) -> dict[str, str]:
        """Its JSON fields."""
        return dict(zip(("pattern", "setting", "column", "value"), self.row, strict=True))

    @property
    def key(self) -> tuple[str, Setting, str, str]:
        """Identifies the files and the setting that the choice applies to."""
        return self.pattern, self.setting, self.column, self.text

    def takes_back(self, other: ReadingChoice) -> bool:
        """Whether this choice, if its value is ``AUTO``, removes another choice."""
        if other.pattern != self.pattern:
            return False
        if self.setting is Setting.NULL:
            return other.setting is Setting.NULL
        is_of_column = (self.setting, other.setting) == (Setting.COLUMN, Setting.NULL_IN)
        return other.key == self.key or (is_of_column and other.column == self.column)

    def fits(self, path: str, table: str = "") -> bool:
        """Whether the choice applies to a file, or to one table of it."""
        return _fits(self.pattern, path) or bool(table and table == self.table_in(path))

    def table_in(self, path: str) -> str:
        """The only table of a file that it is for; "" if it is for the whole file or for others."""
        starts = (at for at, letter in enumerate(self.pattern) if letter == "#")
        return next((self.pattern[at + 1 :] for at in starts if _fits(self.pattern[:at], path)), "")

    def __str__(self) -> str:
        value = "tab" if self.value == "\t" else self.value
        what = " in ".join(filter(None, (self.text, self.column))) or self.setting.value
        files = "" if self.pattern == EVERY_FILE else f" ({self.pattern})"
        return f"{what} = {value}{files}"


def _fits(pattern: str, path: str) -> bool:
    name = path if "/" in pattern else path.rpartition("/")[2]
    return fnmatchcase(name, pattern.removeprefix("./"))


def merge_choices(
    existing: Iterable[ReadingChoice], new: Iterable[ReadingChoice]
) -> tuple[ReadingChoice, ...]:
    """The existing choices with new ones applied: one with the value ``AUTO`` removes others."""
    by_key = {choice.key: choice for choice in existing}
    for choice in new:
        if choice.value == AUTO:
            by_key = {key: other for key, other in by_key.items() if not choice.takes_back(other)}
        else:
            by_key[choice.key] = choice
    return tuple(
        sorted(by_key.values(), key=lambda choice: (choice.pattern != EVERY_FILE, choice.row))
    )


def reading_of(choices: Iterable[ReadingChoice], path: str, table: str = "") -> ReadingOptions:
    """How a file, or one of its tables, is to be read.

    Choices for some files override those for all files, and choices for the table override both.
    """
    choices = list(choices)
    own = {name for choice in choices if not table and (name := choice.table_in(path))}
    by_setting: dict[Setting, str] = {}
    columns: dict[str, str] = {}
    nulls: dict[str, list[str]] = {}
    fitting = [choice for choice in choices if choice.fits(path, table)]
    fitting.sort(key=lambda choice: not choice.fits(path))
    for choice in fitting:
        if choice.setting is Setting.COLUMN:
            columns[choice.column] = choice.value
        elif choice.text:
            nulls.setdefault(choice.column, []).append(choice.text)
        else:
            by_setting[choice.setting] = choice.value
    header, _, header_end = by_setting.get(Setting.HEADER_ROW, "0").partition("-")
    return ReadingOptions(
        by_setting.get(Setting.ENCODING, ""),
        by_setting.get(Setting.DELIMITER, ""),
        NO_HEADER if header == NO_ROW else int(header),
        columns,
        {column: tuple(texts) for column, texts in nulls.items()},
        Setting.TOTALS in by_setting,
        Setting.NOTES in by_setting,
        header_end=int(header_end or 0),
        tables={name: reading_of(choices, path, name) for name in own},
    )
