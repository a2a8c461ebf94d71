"""How a tool's files are to be read: the choices kept with it, and those of an import."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import apsw

from mdvec.datasets.core.choices import (
    AUTO,
    COLUMN,
    DELIMITER,
    ENCODING,
    HEADER_ROW,
    ReadingChoice,
    merged,
    reading_of,
)
from mdvec.datasets.core.reading import ReadingOptions
from mdvec.datasets.interfaces.choices import record_choices, stored_choices
from mdvec.datasets.interfaces.csv_head import DELIMITERS
from mdvec.datasets.interfaces.json_file import JSON_ENDINGS
from mdvec.datasets.interfaces.tables import FileTable
from mdvec.files.endings import SQLITE_ENDINGS, WORKBOOK_ENDINGS, data_ending, unpacked_ending
from mdvec.files.scan import FoundFile, Problem
from mdvec.importing.options import ImportRefused
from mdvec.tools.rows import Tool

_ENDINGS = {
    ENCODING: (*DELIMITERS, *JSON_ENDINGS),
    DELIMITER: tuple(DELIMITERS),
    HEADER_ROW: (*DELIMITERS, *WORKBOOK_ENDINGS),
    COLUMN: (*DELIMITERS, *JSON_ENDINGS, *WORKBOOK_ENDINGS, *SQLITE_ENDINGS),
}
"""The files that a choice can be for: the others say themselves how they are read."""


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
            ImportRefused: a choice is taken back that was never made.
        """
        before, new = stored_choices(connection, tool.id), tuple(new)
        keys = {choice.key for choice in before}
        for choice in new:
            if choice.value == AUTO and choice.key not in keys:
                what = choice.column or choice.setting.replace("_", " ")
                raise ImportRefused(
                    f"nothing is chosen for {what!r} of {choice.pattern}, so it cannot be taken "
                    f"back; see what is with: mdvec status -n {tool.name}"
                )
        return cls(tool, before, new, merged(before, new))

    def of(self, path: str) -> ReadingOptions:
        """How a file shall be read."""
        return reading_of(self.now, path)

    def have_changed(self, path: str) -> bool:
        """Whether a file is to be read otherwise than before."""
        return bool(self.new) and self.of(path) != reading_of(self.before, path)

    def check(
        self,
        found: Iterable[FoundFile],
        tables: Iterable[FileTable],
        failed: Iterable[Problem],
        known_before: Collection[str],
    ) -> None:
        """Check that each new choice is for a file, and for a column that one has.

        Args:
            found: the files of the source.
            tables: the tables after the import.
            failed: what could not be imported.
            known_before: the files that the last import could read.

        Raises:
            ImportRefused: a choice fits no file or column, or a file cannot be read in that way.
        """
        tables, paths = list(tables), [file.path for file in found]
        broken = {problem.file_path.partition("#")[0]: problem.reason for problem in failed}
        for path in broken:
            if path in known_before and self.have_changed(path):
                raise ImportRefused(f"{path}: {broken[path]}; nothing was changed")
        for choice in self.new:
            if choice.value == AUTO:
                continue
            meant = {path for path in paths if choice.fits(path) and _can_be_for(choice, path)}
            if not meant:
                what = choice.column or choice.setting.replace("_", " ")
                raise ImportRefused(
                    f"there is no file {choice.pattern} whose {what} can be chosen; files such as "
                    "Parquet and DuckDB have their own types"
                )
            known = {name for table in tables if meant & _files(table) for name in _names(table)}
            if (
                choice.setting == COLUMN
                and choice.column not in known
                and not meant & broken.keys()
            ):
                raise ImportRefused(
                    f"no file {choice.pattern} has a column {choice.column!r}; the columns are "
                    f"listed by: mdvec import -n {self.tool.name} --mode update --format json"
                )

    def record(self, connection: apsw.Connection) -> None:
        """Keep the choices; call within a transaction."""
        if self.now != self.before:
            record_choices(connection, self.tool.id, self.now)


def _can_be_for(choice: ReadingChoice, path: str) -> bool:
    return unpacked_ending(data_ending(path)) in _ENDINGS[choice.setting]


def _files(table: FileTable) -> set[str]:
    combined = table.table.combined
    return {file.path for file in combined.files} if combined else {table.path}


def _names(table: FileTable) -> list[str]:
    return [column.name for column in table.table.columns]
