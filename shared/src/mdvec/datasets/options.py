"""Import options for datasets: which files are combined into a table, and how files are read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import apsw

from mdvec.datasets.core.choices import (
    AUTO,
    DELIMITERS,
    EVERY_FILE,
    NO_ROW,
    ReadingChoice,
    Setting,
    merge_choices,
    reading_of,
)
from mdvec.datasets.core.columns import table_name
from mdvec.datasets.core.grouping import FileGroup
from mdvec.datasets.core.understood import ReadingOptions
from mdvec.datasets.core.value_types import CHOICES
from mdvec.datasets.interfaces.dataset_tables import (
    DatasetTable,
    record_choices,
    split_origin,
    stored_choices,
)
from mdvec.errors import MdvecError
from mdvec.files import (
    JSON_ENDINGS,
    SQLITE_ENDINGS,
    WORKBOOK_ENDINGS,
    Problem,
    data_ending,
    unpacked_ending,
)
from mdvec.importing import ImportRefused
from mdvec.platform import shell_line
from mdvec.text import cited, shown_name, some_of, visible
from mdvec.tools import Tool

_TAB = {"tab": "\t", "\\t": "\t"}
_HEADER = "header"
_NULL = "na"
_NULL_OF_COLUMN = "na:"
_OUT = "out"
_LINES = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NO_DELIMITERS = "\"'\r\n"
_MAX_NAMED = 10


class InvalidReading(MdvecError):
    """A choice of how files are read makes no sense."""

    is_wrong_usage = True


def reading_choices(
    columns: Iterable[str],
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header_row: str | None = None,
    pattern: str | None = None,
) -> tuple[ReadingChoice, ...]:
    """The choices that a user makes; ``columns`` are written as COLUMN=TYPE.

    Raises:
        InvalidReading: a choice makes no sense, or there is none for ``pattern``.
    """
    files = EVERY_FILE if pattern is None else pattern
    choices = [_parse_choice(files, written) for written in columns]
    if encoding is not None:
        choices.append(ReadingChoice(files, Setting.ENCODING, _encoding(encoding)))
    if delimiter is not None:
        choices.append(ReadingChoice(files, Setting.DELIMITER, _delimiter(delimiter)))
    if header_row is not None:
        choices.append(ReadingChoice(files, Setting.HEADER_ROW, _header_rows(header_row)))
    if pattern is not None and not choices:
        raise InvalidReading(
            "--for says for which files --read, --encoding, --delimiter and --header-row are; "
            "give one of them"
        )
    return tuple(choices)


def _parse_choice(files: str, written: str) -> ReadingChoice:
    """Parse a choice: COLUMN=TYPE, COLUMN=na:NA, header=none, na=NA, totals=out or notes=out."""
    name, sign, value = (part.strip() for part in written.rpartition("="))
    type_ = value.lower()
    if (name.lower(), type_) == (_HEADER, NO_ROW):
        return ReadingChoice(files, Setting.HEADER_ROW, NO_ROW)
    if name.lower() in (Setting.TOTALS, Setting.NOTES) and type_ == _OUT:
        return ReadingChoice(files, Setting(name.lower()), _OUT)
    text = value[len(_NULL_OF_COLUMN) :].strip()
    if name and text and type_.startswith(_NULL_OF_COLUMN):
        return ReadingChoice(files, Setting.NULL_IN, "NULL", name, text)
    if name.lower() == _NULL and value and type_ not in (*CHOICES, AUTO):
        return ReadingChoice(files, Setting.NULL, "NULL", text=value)
    if not sign or not name or type_ not in (*CHOICES, AUTO):
        raise InvalidReading(
            f"{written!r} is not COLUMN=TYPE; the types are {', '.join(CHOICES)}, and {AUTO} to "
            f"take a choice back. {_HEADER}={NO_ROW} reads files that have no line of names, "
            f"COLUMN={_NULL_OF_COLUMN}NA makes its cells that hold only NA NULL, {_NULL}=NA those "
            f"of every column, {Setting.TOTALS}={_OUT} leaves rows of totals out, "
            f"{Setting.NOTES}={_OUT} notes at "
            "the end"
        )
    return ReadingChoice(files, Setting.COLUMN, type_, name)


def _encoding(name: str) -> str:
    if name.strip().lower() == AUTO:
        return AUTO
    try:
        encoding = codecs.lookup(name).name
        "a".encode(encoding)
    except (LookupError, ValueError) as error:
        raise InvalidReading(
            f"{name!r} is not an encoding; name one such as utf-8, cp932, cp1252 or utf-16"
        ) from error
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _delimiter(written: str) -> str:
    if written.lower() == AUTO:
        return AUTO
    delimiter = _TAB.get(written.lower(), written)
    if len(delimiter) != 1 or delimiter in _NO_DELIMITERS:
        raise InvalidReading(f"{written!r} is not a delimiter; give one character, or tab")
    return delimiter


def _header_rows(written: str) -> str:
    lines = _LINES.fullmatch(written.strip())
    first, last = (int(lines[1]), int(lines[2] or lines[1])) if lines else (0, -1)
    if first > last or (lines and lines[2] and not first):
        raise InvalidReading(
            "--header-row is the number of a line, from 1, or of the first and last, such as 3-6; "
            "0 finds it again"
        )
    if first == last:
        return str(first) if first else AUTO
    return f"{first}-{last}"


_SHEETS = (*DELIMITERS, *WORKBOOK_ENDINGS)
_ENDINGS = dict.fromkeys(Setting, (*_SHEETS, *JSON_ENDINGS, *SQLITE_ENDINGS)) | {
    Setting.ENCODING: (*DELIMITERS, *JSON_ENDINGS),
    Setting.DELIMITER: tuple(DELIMITERS),
    **dict.fromkeys((Setting.HEADER_ROW, Setting.TOTALS, Setting.NOTES), _SHEETS),
}
"""The files to which each choice can apply: other formats need no such choice."""


@dataclass(frozen=True, slots=True)
class Place:
    """A table in a file, or a file or part of it that became no table.

    Attributes:
        path: the file's path as scanned.
        table: the table's name in the file, "" if it has none; None if the file was not opened.
        origin: the table's name in reports.
        columns: the names of its columns.
        failure: why it could not be read.
        left_out: why it is no table of the dataset.
    """

    path: str
    table: str | None
    origin: str
    columns: frozenset[str] = frozenset()
    failure: str = ""
    left_out: str = ""


def places_of(
    tables: Iterable[DatasetTable],
    failed: Iterable[Problem],
    left_out: Iterable[Problem],
    paths: Collection[str],
    alone: Mapping[str, str],
) -> list[Place]:
    """The places that choices may apply to: tables, failures, what is left out, and other files.

    ``alone`` has the names, if known, of single tables of files, by the path of the file.
    """
    places: list[Place] = []
    for table in tables:
        columns = frozenset(column.name for column in table.columns)
        for path in table.file_paths:
            name, origin = table.inner_table or alone.get(path), table.origin
            places.append(Place(path, name, path if table.combined else origin, columns))
    for problem in failed:
        path, inner = split_origin(problem.file_path, paths)
        name = inner or alone.get(path)
        places.append(Place(path, name, problem.file_path, failure=problem.reason))
    without = set(paths).difference(place.path for place in places)
    for problem in left_out:
        path, inner = split_origin(problem.file_path, paths)
        if inner or path in without:  # else it is the reason why its tables are separate
            name = inner or alone.get(path)
            places.append(Place(path, name, problem.file_path, left_out=problem.reason))
    return [*places, *(Place(path, "", path) for path in without)]


@dataclass(frozen=True, slots=True)
class ChosenReadings:
    """The choices before an import, those that it makes, and those after it."""

    tool: Tool
    before: tuple[ReadingChoice, ...]
    new: tuple[ReadingChoice, ...]
    now: tuple[ReadingChoice, ...]

    @classmethod
    def of_import(
        cls, connection: apsw.Connection, tool: Tool, new: Iterable[ReadingChoice]
    ) -> ChosenReadings:
        """The choices of an import.

        Raises:
            ImportRefused: a choice is removed that was never made.
        """
        before = stored_choices(connection, tool.id)
        new = tuple(_for_existing_column(choice, before) for choice in new)
        for choice in new:
            if choice.value == AUTO and not any(map(choice.takes_back, before)):
                raise ImportRefused(
                    f"nothing is chosen for {_what(choice)!r} of {choice.pattern}, so it cannot be "
                    f"taken back; see what is with: mdvec status -n {tool.name}"
                )
        return cls(tool, before, new, merge_choices(before, new))

    def of(self, path: str) -> ReadingOptions:
        """How a file shall be read."""
        return reading_of(self.now, path)

    def have_changed(self, path: str, table: str = "") -> bool:
        """Whether a file, or one of its tables, is to be read in another way than before."""
        before, now = (reading_of(choices, path, table) for choices in (self.before, self.now))
        return bool(self.new) and before != now

    def check(self, places: Collection[Place], known_before: Collection[str]) -> None:
        """Check that each new choice applies to a file, and to a column that such a file has.

        Args:
            places: the tables after the import, and what could not be imported.
            known_before: the files that the last import could read, or whose tables it kept.

        Raises:
            ImportRefused: a choice fits no file or column, or a file cannot be read in that way.
        """
        for place in places:
            is_new = place.path in known_before and self.have_changed(place.path, place.table or "")
            if place.failure and is_new:
                raise ImportRefused(f"{place.origin}: {place.failure}; nothing was changed")
        for choice in self.new:
            if choice.value == AUTO:
                continue
            fitting = [p for p in places if _is_for(choice, p) and not p.left_out]
            if not fitting:
                raise _nothing_for(choice, places)
            if _lacks_column(choice, fitting):
                column = visible(choice.column)
                raise ImportRefused(
                    f"no file {choice.pattern} has a column '{column}'; the columns are "
                    f"listed by: mdvec import -n {self.tool.name} --mode update --format json"
                )

    def lacking(self, places: Iterable[Place]) -> dict[str, list[str]]:
        """Notes, by origin, on stored choices for columns that tables no longer have."""
        places, warnings = list(places), dict[str, list[str]]()
        for choice in self.now:
            fitting = [place for place in places if _is_for(choice, place)]
            if _lacks_column(choice, fitting):
                for origin in {place.origin for place in fitting}:
                    warnings.setdefault(origin, []).append(
                        f"no column {cited(choice.column)} is there for the choice {choice}; "
                        f"{self._how_to_take_back(choice)}"
                    )
        return warnings

    def unused(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Notes on stored choices whose files or tables are no longer there."""
        places = list(places)
        return tuple(
            f"no file or table is there for the choice {choice}; {self._how_to_take_back(choice)}"
            for choice in self.now
            if not any(_is_for(choice, place) for place in places)
        )

    def _how_to_take_back(self, choice: ReadingChoice) -> str:
        back = replace(choice, value=AUTO)
        match choice.setting:
            case Setting.ENCODING | Setting.DELIMITER:
                option = (f"--{choice.setting}", AUTO)
            case Setting.HEADER_ROW:
                option = ("--header-row", "0")
            case setting:
                name = choice.column or (_NULL if setting is Setting.NULL else setting)
                option = ("--read", f"{name}={AUTO}")
                back = _for_existing_column(_parse_choice(choice.pattern, option[1]), self.now)
        files = () if choice.pattern == EVERY_FILE else ("--for", choice.pattern)
        how = shell_line(*option, *files)
        taken = filter(back.takes_back, self.now)
        others = ", ".join(str(other) for other in taken if other != choice)
        if not others:
            return f"take it back with {how}"
        if back.takes_back(choice):
            return f"take it back with {how}, which takes back as well: {others}"
        return f"take it back with {how}, once this is taken back: {others}"

    def record(self, connection: apsw.Connection) -> None:
        """Store the choices; call within a transaction."""
        if self.now != self.before:
            record_choices(connection, self.tool.id, self.now)


def _for_existing_column(choice: ReadingChoice, before: Iterable[ReadingChoice]) -> ReadingChoice:
    """The choice; header=auto and the like mean a column only if there is a choice for it."""
    of_files = (Setting.TOTALS, Setting.NOTES)
    settings = {_HEADER: Setting.HEADER_ROW, _NULL: Setting.NULL, **{s.value: s for s in of_files}}
    is_setting = choice.value == AUTO and choice.column.lower() in settings
    if not is_setting or any(map(choice.takes_back, before)):
        return choice
    return replace(choice, setting=settings[choice.column.lower()], column="")


def _what(choice: ReadingChoice) -> str:
    return choice.column or choice.text or choice.setting.replace("_", " ")


def _is_for(choice: ReadingChoice, place: Place) -> bool:
    """Whether a choice applies to a table, or may apply to one in a file that was not opened."""
    if unpacked_ending(data_ending(place.path)) not in _ENDINGS[choice.setting]:
        return False
    may_be = place.table is None and bool(choice.table_in(place.path))
    return may_be or choice.fits(place.path, place.table or "")


def _lacks_column(choice: ReadingChoice, fitting: Collection[Place]) -> bool:
    """Whether a choice is for a column that is in none of ``fitting``, the tables it applies to."""
    none_has = not any(place.failure or choice.column in place.columns for place in fitting)
    return bool(choice.column and fitting) and none_has


def _nothing_for(choice: ReadingChoice, places: Iterable[Place]) -> ImportRefused:
    """The refusal of a choice that is for no table; it names the tables of the file."""
    of_file = [place for place in places if _is_for(choice, replace(place, table=None))]
    for place in of_file:
        if place.table and _is_for(choice, place):
            return ImportRefused(f"{place.origin}: {place.left_out}; nothing was changed")
    tables = dict.fromkeys(each.table for each in of_file if each.table and not each.left_out)
    if names := list(map(shown_name, tables)):
        return ImportRefused(
            f"there is no sheet or table {choice.pattern}; there are: {some_of(names, _MAX_NAMED)}"
        )
    return ImportRefused(
        f"there is no file {choice.pattern} whose {_what(choice)} can be chosen; files "
        "such as Parquet and DuckDB have their own types"
    )


_CHOICE = re.compile(r"(?P<name>[^=*?\[\]]*)=(?P<pattern>.+)", re.DOTALL)


class InvalidTableChoice(MdvecError):
    """A table of several files is not named as NAME=PATTERN, or twice."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """The options.

    Attributes:
        tables: the user's groups of files, one table each, also in later imports.
        is_separate: whether every file outside ``tables`` is a separate table; only for a new or
            rebuilt tool.
        readings: how files shall be read; they stay until they are taken back.
    """

    kind: ClassVar[str] = "dataset"
    tables: tuple[FileGroup, ...] = ()
    is_separate: bool = False
    readings: tuple[ReadingChoice, ...] = ()

    def refusal(self, tool_name: str) -> str | None:
        """Why a tool of another kind cannot be imported with them."""
        return (
            f"the tool {tool_name!r} is not a dataset: only data files become tables; "
            "leave --table, --separate and the options for reading files out"
        )


def chosen_tables(choices: Iterable[str]) -> tuple[FileGroup, ...]:
    """The tables that the user names as NAME=PATTERN.

    Raises:
        InvalidTableChoice: a choice is not written like this, or a name is used twice.
    """
    groups: dict[str, FileGroup] = {}
    for choice in choices:
        match = _CHOICE.fullmatch(choice)
        name = match["name"].strip() if match else ""
        if not match or not name:
            raise InvalidTableChoice(
                f"{choice!r} is not NAME=PATTERN; write for example --table 'sales=sales_*.csv'"
            )
        in_sql = table_name(name)
        if in_sql in groups:
            raise InvalidTableChoice(f"--table names {name!r} twice; give each table its own name")
        groups[in_sql] = FileGroup(name, match["pattern"].strip(), is_chosen=True)
    return tuple(groups.values())
