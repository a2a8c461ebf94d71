"""Imports many files as one table: only new and changed ones are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Protocol

from mdvec.datasets.core.grouping import (
    agreed_type,
    combined_columns,
    common_columns,
    difference,
    hive_type,
    hive_values,
    swapped_in_capitals,
)
from mdvec.datasets.interfaces.combining import CombinedColumns, CombinedRows, combine, exact_types
from mdvec.datasets.interfaces.database_file import NotATable
from mdvec.datasets.interfaces.dataset_tables import CombinedFile, file_state
from mdvec.datasets.interfaces.parquet import ParquetFacts, parquet_facts
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.planning import PlannedGroup
from mdvec.datasets.reading import SeveralTables
from mdvec.files import FoundFile, UnreadableFile
from mdvec.text import counted

_MIN_FILES = 2


class ReadFile(Protocol):
    """Reads a file into Parquet, with some columns as text."""

    def __call__(
        self, file: FoundFile, as_text: Collection[str], *, beside_commas: bool
    ) -> tuple[Path, ParquetFacts]:
        """The Parquet file, which is the file's own if it is one, and its facts."""


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A file that was read: its Parquet file and that file's facts."""

    file: FoundFile
    parquet: Path
    facts: ParquetFacts

    @property
    def types(self) -> dict[str, str]:
        """The types of its columns, by name."""
        return {column.name: column.type for column in self.facts.columns}


@dataclass
class CombinedOutcome:
    """What became of the files of a group.

    Attributes:
        files: the files of the combined table; none if there is no such table.
        parquet: the new Parquet file of the table; None if its old one still holds.
        apart: files that stay tables of their own, with the reason if it is worth telling.
        failed: files that cannot be read, with the error.
        no_tables: files that hold something else, with the reason.
        several: files that hold several tables, each of which stays one.
        notes: what there is to report about the columns.
    """

    files: dict[str, CombinedFile] = field(default_factory=dict)
    file_column: str = "file"
    from_path: tuple[str, ...] = ()
    parquet: Path | None = None
    apart: list[tuple[ReadPart, str]] = field(default_factory=list)
    failed: list[tuple[str, UnreadableFile]] = field(default_factory=list)
    no_tables: dict[str, str] = field(default_factory=dict)
    several: list[FoundFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class CombinedImport:
    """The import of one group of files."""

    planned: PlannedGroup
    read: ReadFile
    source_of: Callable[[str], Path]
    snapshots: Snapshots
    root: Path
    _beside_commas: bool = False
    _parts: dict[str, ReadPart] = field(default_factory=dict)
    _kept: dict[str, CombinedFile] = field(default_factory=dict)
    _outcome: CombinedOutcome = field(default_factory=CombinedOutcome)

    def run(self, unchanged: Collection[str], unseen: Collection[str]) -> CombinedOutcome:
        """Read what changed, and combine it with what did not.

        Args:
            unchanged: the paths of files that are as at their last import.
            unseen: the paths of imported files that may exist where the scan could not look.

        Raises:
            UnreadableFile: the files cannot be combined; the old table still holds.
        """
        before = self._files_before()
        self._kept = {path: file for path, file in before.items() if path in unseen}
        for file in self.planned.files:
            if file.path in unchanged and file.path in before:
                self._kept[file.path] = before[file.path]
            else:
                self._read_file(file, (), before)
        self._reread_beside_commas()
        types = self._agreed_types(self._common_columns()) if self._parts else self._types_before()
        self._outcome.files = self._all_files()
        if self._has_too_few():
            self._outcome.apart += [(part, "") for part in self._parts.values()]
            self._outcome.files = {}
        elif self._parts or self._kept.keys() != before.keys():
            self._combine(types)
        elif (old := self.planned.old) and old.combined:
            self._outcome.file_column = old.combined.file_column
            self._outcome.from_path = old.combined.from_path
        return self._outcome

    def _files_before(self) -> dict[str, CombinedFile]:
        old = self.planned.old
        if old is None or old.combined is None or not old.parquet.is_file():
            return {}
        return {
            file.path: file
            for file in old.combined.files
            if file.source == self.source_of(file.path)
        }

    def _read_file(
        self, file: FoundFile, as_text: Collection[str], before: Mapping[str, CombinedFile]
    ) -> None:
        try:
            self._parts[file.path] = ReadPart(
                file, *self.read(file, as_text, beside_commas=self._beside_commas)
            )
        except NotATable as error:
            self._parts.pop(file.path, None)
            self._outcome.no_tables[file.path] = str(error)
        except SeveralTables:
            self._parts.pop(file.path, None)
            self._outcome.several.append(file)
        except UnreadableFile as error:
            self._outcome.failed.append((file.path, error))
            self._parts.pop(file.path, None)
            if file.path in before:
                self._kept[file.path] = before[file.path]

    def _reread_beside_commas(self) -> None:
        """Read files again in which 1.234 looks like a fraction, if others have decimal commas."""
        had_commas = bool(self._kept) and self._facts_before.has_decimal_commas
        parts = list(self._parts.values())
        if not had_commas and not any(part.facts.has_decimal_commas for part in parts):
            return
        self._beside_commas = True
        for part in parts:
            is_sure = part.facts.has_decimal_commas or self._is_own(part)
            if not is_sure and "DOUBLE" in part.types.values():
                self._read_file(part.file, (), {})
        if not had_commas:
            before = dict(self._kept)
            for file in self.planned.files:
                if self._kept.pop(file.path, None) is not None:
                    self._read_file(file, (), before)

    def _is_own(self, part: ReadPart) -> bool:
        """Whether a file is a Parquet file, which is not copied."""
        return part.parquet == self.source_of(part.file.path)

    def _has_too_few(self) -> bool:
        number = len(self._parts) + len(self._kept)
        is_new = self.planned.old is None and not self.planned.group.is_chosen
        return number == 0 or (is_new and number < _MIN_FILES)

    def _common_columns(self) -> tuple[str, ...]:
        """The columns that the files must have; files with other columns stay apart."""
        if self._kept:
            common = tuple(self._types_before())
        else:
            common = common_columns([list(part.types) for part in self._parts.values()])
        self._outcome.notes.clear()
        for path, part in list(self._parts.items()):
            if differs := difference(part.types, common):
                pattern = self.planned.group.pattern
                self._set_apart(path, f"unlike the other files of {pattern} it {differs}")
            elif name := swapped_in_capitals(part.types, common):
                self._set_apart(
                    path, f"{name!r} and another column differ only in capitals; name them alike"
                )
        columns = combined_columns((list(part.types) for part in self._parts.values()), common)
        self._outcome.notes += _notes(columns, self._parts, self._kept)
        return columns

    def _set_apart(self, path: str, reason: str) -> None:
        self._outcome.apart.append((self._parts.pop(path), f"it is a table of its own: {reason}"))

    def _types_before(self) -> dict[str, str]:
        """The columns of the old table that were its files' own."""
        old = self.planned.old
        if old is None or old.combined is None:
            return {}
        added = {old.combined.file_column, *old.combined.from_path}
        return {column.name: column.type for column in old.columns if column.name not in added}

    @cached_property
    def _facts_before(self) -> ParquetFacts:
        old = self.planned.old
        if old is None:
            return ParquetFacts(rows=0, columns=(), period_column=None, first=None, last=None)
        return parquet_facts(old.parquet)

    def _agreed_types(self, common: tuple[str, ...]) -> dict[str, str]:
        """One type for each column; a file is read again where only text fits all."""
        as_text: set[str] = set()
        while True:
            rows = self._rows(common)
            kinds = {
                name: {
                    (some.types[name], some.units.get(name, ""))
                    for some in rows
                    if name in some.types
                }
                for name in common
            }
            types = {name: min(kinds[name])[0] for name in common} if rows else {}
            differing = [name for name in common if len(kinds[name]) > 1]
            exact = [exact_types(some, differing) for some in rows]
            agreed = {name: agreed_type(some[name] for some in exact) for name in differing}
            texts = {name for name, kind in agreed.items() if kind is None}
            if not texts:
                return types | {name: kind for name, kind in agreed.items() if kind is not None}
            for name in common:
                units = sorted({unit for _, unit in kinds[name]})
                if name in texts and len(units) > 1:
                    shown = ", ".join(unit or "none" for unit in units)
                    self._outcome.notes.append(
                        f"the column {name!r} is text, as its numbers have other units in some "
                        f"files: {shown}"
                    )
            as_text |= texts
            self._reread(as_text, texts)

    def _reread(self, as_text: Collection[str], texts: Collection[str]) -> None:
        """Read the files again that have other types than text in some columns."""
        before = self._types_before()
        if self._kept and any(before.get(name, "VARCHAR") != "VARCHAR" for name in texts):
            files = {file.path: file for file in self.planned.files}
            for path in list(self._kept):
                if path not in files:
                    raise UnreadableFile(
                        f"{path} must be read again, but cannot be reached now", may_pass=True
                    )
                del self._kept[path]
                self._read_file(files[path], as_text, {})
                if path not in self._parts:
                    raise self._outcome.failed.pop()[1]
        wanted = {name.lower() for name in texts}
        for path, part in list(self._parts.items()):
            types = part.types
            other = [name for name in types if name.lower() in wanted and types[name] != "VARCHAR"]
            if not other:
                continue
            if self._is_own(part):
                self._set_apart(
                    path, f"its column {other[0]} holds {types[other[0]]}, those of others do not"
                )
            else:  # as the file spells them
                spelled = {name.lower() for name in as_text}
                self._read_file(part.file, [name for name in types if name.lower() in spelled], {})

    def _rows(self, common: tuple[str, ...]) -> list[CombinedRows]:
        """The rows of all files in the order of their paths."""
        rows: list[CombinedRows] = []
        spelling = {name.lower(): name for name in common}

        def spelled(by_name: Mapping[str, str]) -> dict[str, str]:
            return {spelling.get(name.lower(), name): value for name, value in by_name.items()}

        for path in sorted({*self._parts, *self._kept}):
            given = tuple(
                (name, value) for name, value in hive_values(path).items() if name not in common
            )
            if part := self._parts.get(path):
                folder = self.root if self._is_own(part) else None
                types, units = spelled(part.types), spelled(part.facts.units)
                rows.append(CombinedRows((path,), part.parquet, types, folder, given, units))
            elif rows and rows[-1].is_combined and not given and not rows[-1].from_path:
                rows[-1] = replace(rows[-1], paths=(*rows[-1].paths, path))
            elif old := self.planned.old:
                types, known = self._types_before(), self._facts_before.units
                before = CombinedRows((path,), old.parquet, types, None, given, known)
                rows.append(replace(before, is_combined=True))
        return rows

    def _all_files(self) -> dict[str, CombinedFile]:
        read = {
            path: CombinedFile(path, self.source_of(path), part.file.size, part.file.mtime_ns)
            for path, part in self._parts.items()
        }
        return {path: (self._kept | read)[path] for path in sorted({*self._kept, *read})}

    def _combine(self, types: Mapping[str, str]) -> None:
        rows = self._rows(tuple(types))
        given: dict[str, list[str | None]] = {}
        for some in rows:
            for name, value in some.from_path:
                given.setdefault(name, []).append(value)
        from_path = {name: hive_type(values) for name, values in given.items()}
        column = _free_name({*types, *from_path})
        old = self.planned.old
        if old and old.combined and any(some.is_combined for some in rows):
            column = old.combined.file_column
        units = {name: unit for some in rows for name, unit in some.units.items()}
        units = {name: unit for name, unit in units.items() if types[name] != "VARCHAR"}
        columns = CombinedColumns(types, from_path, column, units, self._beside_commas)
        self._outcome.file_column = column
        self._outcome.from_path = tuple(from_path)
        self._outcome.parquet = combine(rows, columns, self.snapshots)
        for path, part in self._parts.items():
            state = file_state(self.source_of(path))
            if state != part.file.state:
                raise UnreadableFile(
                    f"{path} changed while the import read it; import again", may_pass=True
                )


def _notes(
    columns: Sequence[str], parts: Mapping[str, ReadPart], kept: Collection[str]
) -> Iterator[str]:
    """What there is to say about files that have other columns than most, or in another order."""
    number = len(parts) + len(kept)
    have = {path: [name.lower() for name in part.types] for path, part in parts.items()}
    for name in columns:
        lacking = [path for path, names in have.items() if name.lower() not in names]
        if lacking:
            among = "of the files read now, " if kept else ""
            lack = "lacks" if len(lacking) == 1 else "lack"
            yield f"{among}the column {name!r} is NULL for {_shown(lacking)}, which {lack} it"
    for name in columns:
        other = [path for path, part in parts.items() if name not in part.types]
        spelled = [path for path in other if name.lower() in have[path]]
        if spelled:
            yield f"the column {name!r} has its name in other capitals in {_shown(spelled)}"
    order = [name.lower() for name in columns]
    moved = [
        path for path, names in have.items() if names != [name for name in order if name in names]
    ]
    if moved and number > 1:
        yield f"the columns stand in another order in {_shown(moved)}"


def _shown(paths: Sequence[str]) -> str:
    more = len(paths) - 1
    return f"{paths[0]} and {counted(more, 'more file')}" if more else paths[0]


def _free_name(names: Collection[str]) -> str:
    taken = {name.lower() for name in names}
    numbered = (f"file_{number}" for number in count(2))
    return next(name for name in chain(["file"], numbered) if name not in taken)
