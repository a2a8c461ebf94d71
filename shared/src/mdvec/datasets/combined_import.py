"""Imports many files as one table: only new and changed ones are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

from mdvec.datasets.core.differing import (
    TEXT,
    FileDifferences,
    Kinds,
    agreed_type,
    column_notes,
    combined_columns,
    common_columns,
    difference,
    swapped_in_capitals,
)
from mdvec.datasets.core.grouping import hive_type, hive_values
from mdvec.datasets.core.understood import Understood
from mdvec.datasets.interfaces.combining import (
    CombinedColumns,
    CombinedRows,
    combine,
    exact_types,
    filled_cells,
    repeated_rows,
)
from mdvec.datasets.interfaces.database_file import NotATable
from mdvec.datasets.interfaces.dataset_tables import (
    Combination,
    CombinedFile,
    DatasetTable,
    file_state,
)
from mdvec.datasets.interfaces.parquet import CombinationFacts, parquet_extent
from mdvec.datasets.options import ChosenReadings
from mdvec.datasets.planning import PlannedGroup
from mdvec.datasets.reading import FileReader, SeveralTables
from mdvec.files import FoundFile, Scan, UnreadableFile
from mdvec.text import cited

_MIN_FILES = 2


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A file that was read: its Parquet file, and the types and units of its columns."""

    file: FoundFile
    parquet: Path
    types: Mapping[str, str]
    units: Mapping[str, str]
    has_decimal_commas: bool


@dataclass
class CombinedOutcome:
    """The result of importing a group of files.

    Attributes:
        table: the combined table; None if none of the files are in one.
        separate: files that stay separate tables, with the reason to report, or "".
        failed: by path, the errors of files that cannot be read.
        no_tables: files that hold something else, with the reason.
        several: files that hold several tables, each of which stays separate.
        notes: notes on the columns.
        nulls: by path, the columns that have only cells such as dashes in a file, which became
            NULL; each with its type in the table and the number of these cells.
    """

    table: DatasetTable | None = None
    separate: list[tuple[ReadPart, str]] = field(default_factory=list)
    failed: dict[str, UnreadableFile] = field(default_factory=dict)
    no_tables: dict[str, str] = field(default_factory=dict)
    several: list[FoundFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    nulls: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)


@dataclass
class CombinedImport:
    """The import of one group of files: some are read, others keep their stored rows.

    ``_before`` has the rows of the table from the last import, and ``_differences`` how its files
    differ; both are empty without such a table. ``_parts`` are the files that were read, ``_kept``
    the others.
    """

    planned: PlannedGroup
    reader: FileReader
    readings: ChosenReadings
    _before: CombinedRows = field(default_factory=lambda: CombinedRows((), Path(), {}))
    _differences: FileDifferences = field(default_factory=FileDifferences)
    _beside_commas: bool = False
    _parts: dict[str, ReadPart] = field(default_factory=dict)
    _kept: dict[str, CombinedFile] = field(default_factory=dict)
    _kinds: dict[str, Kinds] = field(default_factory=dict)
    _with_commas: set[str] = field(default_factory=set)
    _outcome: CombinedOutcome = field(default_factory=CombinedOutcome)

    def run(self, name: str, unchanged: Collection[str], scan: Scan) -> CombinedOutcome:
        """Read new and changed files, and combine their rows with those of unchanged files.

        Args:
            name: the name of the table in SQL.
            unchanged: the paths of files that have not changed since their last import.
            scan: the scan of the source; missing files stay in the table if they may be in a place
                that it could not look at.

        Raises:
            UnreadableFile: the files cannot be combined; the old table is still valid.
        """
        before = self._known_before()
        gone = before.keys() - {file.path for file in self.planned.files}
        self._kept = {path: before[path] for path in gone if scan.may_still_have(path)}
        for file in self.planned.files:
            if file.path in unchanged and file.path in before:
                self._kept[file.path] = before[file.path]
            else:
                self._read_file(file, (), before)
        self._reread_beside_commas()
        self._reread_what_agrees_now()
        has_changed = bool(self._parts) or self._kept.keys() != before.keys()
        types = self._agreed_types() if has_changed else {}
        number = len(self._parts) + len(self._kept)
        is_new = self.planned.old is None and not self.planned.group.is_chosen
        if number == 0 or (is_new and number < _MIN_FILES):
            self._outcome.separate += [(part, "") for part in self._parts.values()]
        elif has_changed:
            self._outcome.table = self._combine(name, types)
        elif (old := self.planned.old) and old.combined:
            combined = replace(old.combined, files=self._all_files())
            self._outcome.table = replace(old, name=name, combined=combined)
        return self._outcome

    def _known_before(self) -> dict[str, CombinedFile]:
        """The files of the last import's table, by path; none if its Parquet file is lost."""
        old = self.planned.old
        if old is None or old.combined is None or old.is_lost:
            return {}
        facts, combined = CombinationFacts.of(old.parquet), old.combined
        added = {combined.file_column, *combined.from_path}
        types = {each.name: each.type for each in old.columns if each.name not in added}
        self._before = CombinedRows(
            (), old.parquet, types, units=facts.units, file_column=combined.file_column
        )
        self._differences = FileDifferences.parsed(facts.differences)
        sources = ((file, self.reader.source(file.path)) for file in combined.files)
        return {file.path: file for file, source in sources if file.source == source}

    def _read_file(
        self, file: FoundFile, as_text: Collection[str], before: Mapping[str, CombinedFile]
    ) -> None:
        try:
            reading = replace(self.readings.of(file.path), beside_commas=self._beside_commas)
            parquet, columns = self.reader.read(file.path, reading.with_text(as_text))
            types = {column.name: column.type for column in columns}
            understood = self.reader.understood.get(file.path, Understood())
            units = {column.name: column.unit for column in understood.columns if column.unit}
            commas = any(column.has_decimal_commas for column in understood.columns)
            part = self._parts[file.path] = ReadPart(file, parquet, types, units, commas)
            if part.has_decimal_commas:  # reading the file again as text would lose this
                self._with_commas.add(file.path)
        except NotATable as error:
            self._parts.pop(file.path, None)
            self._outcome.no_tables[file.path] = str(error)
        except SeveralTables:
            self._parts.pop(file.path, None)
            self._outcome.several.append(file)
        except UnreadableFile as error:
            self._outcome.failed[file.path] = error
            self._parts.pop(file.path, None)
            if file.path in before:
                self._kept[file.path] = before[file.path]

    def _reread_kept(self, as_text: Collection[str] = ()) -> None:
        """Read the unchanged files too, instead of keeping their rows.

        Raises:
            UnreadableFile: a file cannot be read now, with columns ``as_text``; the table must stay
                as it is.
        """
        unread, files = dict(self._kept), {file.path: file for file in self.planned.files}
        for path in unread:
            if path not in files:
                if as_text:
                    raise UnreadableFile(
                        f"{path} must be read again, but cannot be reached now", may_pass=True
                    )
                continue
            del self._kept[path]
            self._read_file(files[path], as_text, {} if as_text else unread)
            if as_text and (failed := self._outcome.failed.get(path)):
                raise failed

    @property
    def _can_reread(self) -> bool:
        """Whether there are kept rows, and all of their files can be read."""
        return bool(self._kept) and self._kept.keys() <= {file.path for file in self.planned.files}

    def _reread_beside_commas(self) -> None:
        """Read files again in which 1.234 looks like a fraction, if others have decimal commas.

        If that differs from the last import, files whose rows were to be kept are read again too.
        """
        before, parts = self._differences.with_commas, list(self._parts.values())
        had_commas = bool(self._kept and before)
        self._beside_commas = not before.isdisjoint(self._kept) or any(
            part.has_decimal_commas for part in parts
        )
        if self._beside_commas:
            for part in parts:
                is_sure = part.has_decimal_commas or self._is_own(part)
                if not is_sure and "DOUBLE" in part.types.values():
                    self._read_file(part.file, (), {})
        if had_commas != self._beside_commas:
            self._reread_kept()

    def _reread_what_agrees_now(self) -> None:
        """Read all files again if a column is text because of files that have changed or are gone.

        Kept rows of such a column are text, whatever their files hold.
        """
        before, stored = self._before.types, self._differences.kinds
        texts = [name for name in stored if before.get(name) == TEXT]
        if not (texts and self._can_reread):
            return
        rows = self._rows(tuple(before))
        exact = [exact_types(some, texts) for some in rows if not some.file_column]
        for name in texts:
            kinds = [kind for path, kind in stored[name].items() if path in self._kept]
            kinds += [types[name] for types in exact]
            if agreed_type(kinds) not in (None, TEXT):
                self._reread_kept()
                return

    def _is_own(self, part: ReadPart) -> bool:
        """Whether a part is the user's own Parquet file, which is not copied."""
        return part.parquet.parent != self.reader.snapshots.folder

    def _common_columns(self) -> tuple[str, ...]:
        """The columns that the files must have; files with other columns become separate tables."""
        if not (self._parts or self._kept):
            return ()
        before, columns_of = tuple(self._before.types), self._differences.columns_of
        stored_columns = {path: columns_of(path, before) for path in self._kept}
        common = common_columns(
            list(stored_columns.values()) or [list(part.types) for part in self._parts.values()]
        )
        self._outcome.notes.clear()
        for path, part in list(self._parts.items()):
            if differs := difference(part.types, common):
                pattern = self.planned.group.pattern
                self._set_apart(path, f"unlike the other files of {pattern} it {differs}")
            elif name := swapped_in_capitals(part.types, common):
                self._set_apart(
                    path,
                    f"{cited(name)} and another column differ only in capitals; name them alike",
                )
        files = stored_columns | {path: list(part.types) for path, part in self._parts.items()}
        columns = combined_columns(files.values(), common)
        self._outcome.notes += column_notes(columns, dict(sorted(files.items())))
        return columns

    def _set_apart(self, path: str, reason: str) -> None:
        self._outcome.separate.append(
            (self._parts.pop(path), f"it is a table of its own: {reason}")
        )

    def _agreed_types(self) -> dict[str, str]:
        """A type for each column; files are read again where only text fits all values."""
        as_text: set[str] = set()
        may_reread, common = True, self._common_columns()
        while rows := self._rows(common):
            agreed = self._types_in(rows, common, as_text)
            types = {name: kind for name, kind in agreed.items() if kind is not None}
            if len(types) < len(agreed):
                number, texts = len(self._parts) + len(self._kept), agreed.keys() - types.keys()
                as_text |= texts
                self._reread(as_text, texts)
                if len(self._parts) + len(self._kept) < number:  # files left, perhaps with a column
                    common = self._common_columns()
                continue
            before = self._before.types
            had_no_values = any(before.get(name) == TEXT != kind for name, kind in types.items())
            if not (had_no_values and may_reread and self._can_reread):
                return types
            may_reread = False  # so that each file records which of its cells are NULL now
            self._reread_kept()
        return {}

    def _types_in(
        self, rows: Sequence[CombinedRows], common: Sequence[str], as_text: Collection[str]
    ) -> dict[str, str | None]:
        """The type of each column, None if only text fits all values.

        It records the types in ``_kinds`` where files differ, except for columns in ``as_text``.
        """
        having = {name: [some for some in rows if name in some.types] for name in common}
        kinds = {
            name: {(some.types[name], some.units.get(name, "")) for some in having[name]}
            for name in common
        }
        differing = [name for name in common if len(kinds[name]) > 1]
        known = [name for name in common if name in self._differences.kinds]
        exact = [exact_types(some, {*differing, *known}) for some in rows]
        agreed: dict[str, str | None] = {name: min(kinds[name])[0] for name in common}
        agreed |= {name: agreed_type(types[name] for types in exact) for name in differing}
        for name in common:
            is_partial = len(having[name]) < len(rows)
            is_noted = is_partial or name in known or agreed[name] is None
            if is_noted and name not in as_text:
                self._kinds[name] = self._kinds_in(name, rows, exact)
        return agreed

    def _kinds_in(
        self, name: str, rows: Sequence[CombinedRows], exact: Sequence[Mapping[str, str]]
    ) -> Kinds:
        """The kinds of values in a column, by file, without files that lack it."""
        kinds: dict[str, str] = {}
        for some, types in zip(rows, exact, strict=True):
            if some.file_column and name in self._differences.kinds:
                known = self._differences.kinds[name]
                kinds |= {path: known[path] for path in some.paths if path in known}
            elif name in some.types:
                kinds |= dict.fromkeys(some.paths, types.get(name, some.types[name]))
        return kinds

    def _reread(self, as_text: Collection[str], texts: Collection[str]) -> None:
        """Read files again, with columns as text, if they have another type in one of ``texts``."""
        if any(self._before.types.get(name, TEXT) != TEXT for name in texts):
            self._reread_kept(as_text)
        wanted, spelled = ({name.lower() for name in names} for names in (texts, as_text))
        for path, part in list(self._parts.items()):
            types = part.types
            other = [name for name in types if name.lower() in wanted and types[name] != TEXT]
            if not other:
                continue
            if self._is_own(part):
                self._set_apart(
                    path, f"its column {other[0]} holds {types[other[0]]}, those of others do not"
                )
            else:  # with the file's spelling of the names
                self._read_file(part.file, [name for name in types if name.lower() in spelled], {})

    def _rows(self, common: tuple[str, ...]) -> list[CombinedRows]:
        """The rows of all files in the order of their paths."""
        rows: list[CombinedRows] = []
        spelling = {name.lower(): name for name in common}

        def spelled(by_name: Mapping[str, str]) -> dict[str, str]:
            return {spelling.get(name.lower(), name): value for name, value in by_name.items()}

        for path in sorted({*self._parts, *self._kept}):
            folder_values = tuple(
                (name, value) for name, value in hive_values(path).items() if name not in common
            )
            if part := self._parts.get(path):
                folder = self.reader.root if self._is_own(part) else None
                types, units = spelled(part.types), spelled(part.units)
                rows.append(
                    CombinedRows((path,), part.parquet, types, folder, folder_values, units)
                )
            elif rows and rows[-1].file_column and not folder_values and not rows[-1].from_path:
                rows[-1] = replace(rows[-1], paths=(*rows[-1].paths, path))
            else:
                rows.append(replace(self._before, paths=(path,), from_path=folder_values))
        return rows

    def _all_files(self) -> tuple[CombinedFile, ...]:
        """The files of the table, by path."""
        read = {
            path: CombinedFile(path, self.reader.source(path), *part.file.state)
            for path, part in self._parts.items()
        }
        return tuple(file for _, file in sorted((self._kept | read).items()))

    def _combine(self, name: str, types: Mapping[str, str]) -> DatasetTable:
        """Write the rows of all files to a new table."""
        rows = self._rows(tuple(types))
        folder_values: dict[str, list[str | None]] = {}
        for some in rows:
            for added, value in some.from_path:
                folder_values.setdefault(added, []).append(value)
        from_path = {name: hive_type(values) for name, values in folder_values.items()}
        if any(some.file_column for some in rows):
            column = self._before.file_column
        else:
            taken = {name.lower() for name in (*types, *from_path)}
            numbered = (f"file_{number}" for number in count(2))
            column = next(name for name in chain(["file"], numbered) if name not in taken)
        units = {name: unit for some in rows for name, unit in some.units.items()}
        units = {name: unit for name, unit in units.items() if types[name] != "VARCHAR"}
        commas = self._with_commas | self._differences.with_commas.intersection(self._kept)
        differences = FileDifferences(self._kinds, frozenset(commas)).restricted_to(
            [path for some in rows for path in some.paths], types
        )
        self._outcome.notes += differences.notes()
        for some in rows:
            # Cells that are NULL in the table, of files without any value in a column.
            names = [name for name, kind in types.items() if some.types.get(name) == TEXT != kind]
            if names and not some.file_column:
                cells = filled_cells(some, names)
                nulls = {name: (types[name], cells[name]) for name in names}
                self._outcome.nulls[some.paths[0]] = nulls
        facts = CombinationFacts(units, str(differences))
        columns = CombinedColumns(types, from_path, column, facts)
        whole = combine(rows, columns, self.reader.snapshots)
        self._outcome.notes += repeated_rows(whole, types, column)
        for path, part in self._parts.items():
            state = file_state(self.reader.source(path))
            if state != part.file.state:
                raise UnreadableFile(
                    f"{path} changed while the import read it; import again", may_pass=True
                )
        group, files = self.planned.group, self._all_files()
        state = sum(file.size for file in files), max(file.mtime_ns for file in files)
        combined = Combination(group, column, tuple(from_path), files)
        return DatasetTable(
            name, group.pattern, whole, self.reader.root, *state, combined,
            **parquet_extent(whole).extent,
        )  # fmt: skip
