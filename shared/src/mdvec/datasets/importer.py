"""Data files as tables: what changed is looked into or copied, then recorded all at once.

A Parquet file is read where it lies. CSV files and the tables of .duckdb files are copied into
private Parquet files, so that nobody who queries them opens, locks or waits for the user's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from mdvec import __version__
from mdvec.datasets.copies import remove_unneeded_copies
from mdvec.datasets.core.names import table_name
from mdvec.datasets.interfaces import database_file
from mdvec.datasets.interfaces import tables as datasets
from mdvec.datasets.interfaces.delimited import DELIMITERS, delimited_to_parquet
from mdvec.datasets.interfaces.parquet import ParquetFacts, parquet_facts
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.interfaces.tables import (
    DatasetTable,
    FileTable,
    ImportedFile,
    origin_of,
)
from mdvec.datasets.report import DatasetReport, TableReport
from mdvec.files.scan import FoundFile, Problem, UnreadableFile
from mdvec.files.within import opened_within, path_of
from mdvec.importing.options import ImportRefused
from mdvec.importing.report import ImportReport, Progress
from mdvec.importing.text_index import ToolImport

_COMPUTED = "it is a computed column; only columns that hold values are copied"


class _TableTaken(UnreadableFile):
    """Another file has the table's name."""


@dataclass
class DatasetRun(ToolImport):
    """One import of data files; nothing is seen of it before its end."""

    _tables: dict[str, FileTable] = field(default_factory=dict)
    _files: list[ImportedFile] = field(default_factory=list)
    _rows_read: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._stored = datasets.file_tables(self.connection, self.tool.id)
        self._known = datasets.imported_files(self.connection, self.tool.id)
        folder = datasets.snapshot_folder(self.connection, self.tool.id)
        self._snapshots = Snapshots(folder)
        self._root = self.tool.source.resolve()
        copies = folder.parent.resolve()
        found = [
            self._with_log(file)
            for file in self.found.files
            if not self._path_of(file.path).is_relative_to(copies)
        ]
        # A new file does not take the name of a table that is there.
        old = {stored.path for stored in self._stored}
        self._found = sorted(found, key=lambda file: (file.path not in old, file.path))

    def run(self) -> ImportReport:
        """Look at what changed, record everything, then remove copies that nobody needs."""
        self._check_mode()
        try:
            self._tidy()
            self._look_at_all()
            self._keep_unseen()
            self._check_outcome()
            self._record()
        finally:
            self._tidy()
        return self._report()

    def interrupted(self) -> str:
        """What to tell the user who stopped it."""
        return f"stopped; the tool {self.tool.name!r} still has what it had before"

    def _check_mode(self) -> None:
        if self.request.mode == "new" and self._stored:
            raise ImportRefused(
                f"the tool {self.tool.name!r} has {len(self._stored)} tables already; "
                "use --mode update to follow changes, or --mode replace to build it again"
            )
        if self._stored and not self._found and not self.found.unseen:
            raise ImportRefused(
                f"there is no data file in {self.tool.source}, but {self.tool.name!r} has "
                f"{len(self._stored)} tables; put the files back (is a disk not mounted?), or "
                f"give the tool up with: mdvec tool delete -n {self.tool.name}"
            )

    def _look_at_all(self) -> None:
        unchanged = {file.path for file in self._found if self._is_unchanged(file)}
        self.files = len(self._found) - len(unchanged)
        for file in self._found:
            if file.path in unchanged:
                self._take_over(file)
            else:
                self._look_at(file)
                self.files_done += 1
                self._count(0)

    def _check_outcome(self) -> None:
        if self._stored and self.failed and not self._tables:
            first = self.failed[0]
            raise ImportRefused(
                f"not one file could be imported ({first.file_path}: {first.reason}); "
                f"the tool {self.tool.name!r} was left as it was"
            )

    def _is_unchanged(self, file: FoundFile) -> bool:
        known = self._known.get(file.path)
        if self.request.mode == "replace" or known is None:
            return False
        if (known.size, known.mtime_ns, known.app_version) != (
            file.size, file.mtime_ns, __version__,
        ):  # fmt: skip
            return False
        source = self._path_of(file.path)
        return all(
            stored.table.source == source and stored.table.parquet.is_file()
            for stored in self._stored_of(file.path)
        )

    def _take_over(self, file: FoundFile) -> None:
        """Keep what an unchanged file has, under the names that it has by now."""
        whole = True
        for stored in self._stored_of(file.path):
            try:
                name = self._free_name(file.path, stored.inner_table)
            except _TableTaken as error:
                whole = self._fail(origin_of(file.path, stored.inner_table), error)
            else:
                self._put(replace(stored, table=replace(stored.table, name=name)))
        if whole:
            self._files.append(self._known[file.path])

    def _look_at(self, file: FoundFile) -> None:
        """Bring a new or changed file in, or note why it cannot be."""
        before = len(self.failed)
        left_out: list[tuple[str, str]] = []
        try:
            with self.stopwatch.stage("datasets"):
                if file.path.lower().endswith(".duckdb"):
                    self._copy_database(file, left_out)
                else:
                    self._take_file(file)
        except UnreadableFile as error:
            self._fail(file.path, error)
            self._keep_copies(file.path)
        if len(self.failed) == before:
            self._files.append(
                ImportedFile(file.path, file.size, file.mtime_ns, tuple(left_out), __version__)
            )

    def _take_file(self, file: FoundFile) -> None:
        name = self._free_name(file.path, "")
        source = self._path_of(file.path)
        with opened_within(source, self._root) as descriptor:
            ending, there = source.suffix.lower(), path_of(descriptor)
            if ending not in DELIMITERS:
                self._put_new(file, "", name, source, parquet_facts(there, source.name))
                return
            with self._snapshots.new() as (part, whole):
                delimited_to_parquet(there, part, self._count, ending=ending)
        self._put_new(file, "", name, whole, parquet_facts(whole))

    def _copy_database(self, file: FoundFile, left_out: list[tuple[str, str]]) -> None:
        source = self._path_of(file.path)
        with database_file.opened(source, self._snapshots.folder, self._root) as database:
            left_out.extend(
                (origin_of(file.path, view.label), "it is a view; only tables are copied")
                for view in database.views
            )
            left_out.extend(
                (origin_of(file.path, f"{table.label}.{column}"), _COMPUTED)
                for table, columns in database.computed.items()
                for column in columns
            )
            if not database.tables:
                raise UnreadableFile("it has no tables")
            for table in database.tables:
                try:
                    name = self._free_name(file.path, table.label)
                    with self._snapshots.new() as (part, whole):
                        database.copy(table, part)
                    self._put_new(file, table.label, name, whole, parquet_facts(whole))
                except UnreadableFile as error:
                    self._fail(origin_of(file.path, table.label), error)

    def _put_new(
        self, file: FoundFile, inner: str, name: str, parquet: Path, facts: ParquetFacts
    ) -> None:
        source = self._path_of(file.path)
        if source.suffix.lower() not in DELIMITERS:
            self._count(facts.rows)
        if database_file.file_state(source) != (file.size, file.mtime_ns):
            raise UnreadableFile("it changed while the import read it; import again")
        table = DatasetTable(
            name=name,
            origin=origin_of(file.path, inner),
            parquet=parquet,
            source=source,
            size=file.size,
            mtime_ns=file.mtime_ns,
            rows=facts.rows,
            columns=facts.columns,
            period_column=facts.period_column,
            first=facts.first,
            last=facts.last,
        )
        self._put(FileTable(file.path, inner, table))

    def _put(self, table: FileTable) -> None:
        self._tables[table.table.name] = table

    def _keep_copies(self, path: str) -> None:
        """A file that cannot be read any more leaves the copies that were made of it."""
        for stored in self._stored_of(path):
            if stored.table.is_copy and stored.table.name not in self._tables:
                self._put(stored)

    def _keep_unseen(self) -> None:
        """Keep the tables of files that could not be looked at: they may be there still."""
        seen = {file.path for file in self._found}
        for stored in self._stored:
            if (
                stored.path not in seen
                and self.found.may_still_have(stored.path)
                and stored.table.name not in self._tables
            ):
                self._put(stored)

    def _free_name(self, path: str, inner: str) -> str:
        """The SQL name of a file's table.

        Raises:
            _TableTaken: another file's table has it.
        """
        name = self._name(path, inner)
        other = self._tables.get(name)
        if other is not None:
            raise _TableTaken(
                f"its table would be called {name}, as that of {other.table.origin} is; "
                "rename one of them"
            )
        return name

    def _name(self, path: str, inner: str) -> str:
        parts = [inner] if inner else []
        if self.tool.source.is_dir():
            parts.insert(0, path.rpartition(".")[0])
        return table_name(self.tool.name, *parts)

    def _with_log(self, file: FoundFile) -> FoundFile:
        """A file of the scan; a database as its log makes it."""
        with suppress(UnreadableFile):  # whoever opens it will say why
            size, mtime_ns = database_file.file_state(self._path_of(file.path))
            return replace(file, size=size, mtime_ns=mtime_ns)
        return file

    def _path_of(self, path: str) -> Path:
        """The real file behind a path of the scan."""
        source = self.tool.source
        return (source / path if source.is_dir() else source).resolve()

    def _stored_of(self, path: str) -> Iterator[FileTable]:
        return (stored for stored in self._stored if stored.path == path)

    def _fail(self, origin: str, error: UnreadableFile) -> bool:
        self.failed.append(Problem(origin, str(error)))
        return False

    def _record(self) -> None:
        with self.connection, self.stopwatch.stage("write"):
            self.check_tool()
            datasets.record_dataset(
                self.connection, self.tool.id, self._files, self._tables.values()
            )
            self.record_end()

    def _tidy(self) -> None:
        remove_unneeded_copies(self.connection, self.tool.id)

    def _count(self, rows: int) -> None:
        self._rows_read += rows
        self.on_progress(Progress(self.files_done, self.files, self._rows_read, "rows"))

    def _report(self) -> ImportReport:
        before = {stored.table.name: stored.table for stored in self._stored}
        now = [self._tables[name].table for name in sorted(self._tables)]
        known = [table for table in now if table.name in before]
        unchanged = sum(table == before[table.name] for table in known)
        left_out = [
            Problem(origin, reason) for file in self._files for origin, reason in file.left_out
        ]
        return ImportReport(
            tool=self.tool.name,
            mode=self.request.mode,
            model="",
            added=len(now) - len(known),
            updated=len(known) - unchanged,
            deleted=len(before) - len(known),
            unchanged=unchanged,
            failed=tuple(sorted(self.failed, key=lambda problem: problem.file_path)),
            chunks=0,
            chunks_embedded=0,
            seconds=round(self.stopwatch.total, 3),
            dataset=DatasetReport(tuple(TableReport.of(table) for table in now), tuple(left_out)),
        )
