"""Imports data files as tables: what changed is read or copied, then recorded all at once.

A Parquet file is queried where it lies. CSV files and the tables of .duckdb files are copied into
private Parquet files, so that queries never open, lock or wait for the user's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import apsw

from mdvec import __version__
from mdvec.datasets.collected_tables import CollectedTables, TableNameTaken
from mdvec.datasets.copies import remove_unneeded_copies
from mdvec.datasets.interfaces import database_file
from mdvec.datasets.interfaces import tables as datasets
from mdvec.datasets.interfaces.delimited import DELIMITERS, delimited_to_parquet
from mdvec.datasets.interfaces.parquet import ParquetFacts, parquet_facts
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.interfaces.tables import DatasetTable, FileTable, ImportedFile, origin_of
from mdvec.datasets.report import DatasetReport, TableReport
from mdvec.files.scan import FileState, FoundFile, Problem, Scan, UnreadableFile
from mdvec.files.within import opened_within, path_of
from mdvec.importing.job import Importer, ImportJob, ProgressCount, check_unchanged
from mdvec.importing.options import ImportRefused
from mdvec.importing.report import ImportInterrupted, ImportReport
from mdvec.tools import import_state
from mdvec.tools.rows import Tool

_COMPUTED = "it is a computed column; only columns that hold values are copied"


def import_dataset(job: ImportJob) -> ImportReport:
    """Bring a dataset's tables in line with its data files, all at once.

    Raises:
        ImportRefused: the mode does not fit what is stored, or no file could be imported.
        ImportInterrupted: the user stopped it.
    """
    try:
        return _DatasetImport(job).run()
    except KeyboardInterrupt:
        raise ImportInterrupted(
            f"stopped; the tool {job.tool.name!r} still has what it had before"
        ) from None


def _stored_states(connection: apsw.Connection, tool: Tool) -> Mapping[str, FileState]:
    files = datasets.imported_files(connection, tool.id).values()
    return {file.path: (file.size, file.mtime_ns) for file in files}


def _found_states(connection: apsw.Connection, tool: Tool, found: Scan) -> Mapping[str, FileState]:
    return {file.path: file.state for file in _data_files(connection, tool, found)}


DATASET = Importer(import_dataset, _stored_states, _found_states)


def _data_files(connection: apsw.Connection, tool: Tool, found: Scan) -> list[FoundFile]:
    """The files of a scan without our own copies; a database has the state of its log, too."""
    copies = datasets.snapshot_root(connection).resolve()
    has_copies = copies.is_relative_to(tool.source.resolve())
    return [
        _with_log(tool, file)
        for file in found.files
        if not (has_copies and _path_of(tool, file.path).is_relative_to(copies))
    ]


def _with_log(tool: Tool, file: FoundFile) -> FoundFile:
    if not file.path.lower().endswith(".duckdb"):
        return file
    with suppress(UnreadableFile):  # opening it will say why
        size, mtime_ns = database_file.file_state(_path_of(tool, file.path))
        return replace(file, size=size, mtime_ns=mtime_ns)
    return file


def _path_of(tool: Tool, path: str) -> Path:
    """The real file behind a path of the scan."""
    source = tool.source
    return (source / path if source.is_dir() else source).resolve()


class _DatasetImport:
    """One import of data files while it runs; its results become visible at its end only."""

    def __init__(self, job: ImportJob) -> None:
        self.job = job
        self.tool = job.tool
        self.connection = job.connection
        self.progress = ProgressCount(job.on_progress, unit="rows")
        self.failed = list(job.found.problems)
        self.tables = CollectedTables(job.tool)
        self.files: list[ImportedFile] = []
        self.stored = datasets.file_tables(self.connection, self.tool.id)
        self.known = datasets.imported_files(self.connection, self.tool.id)
        folder = datasets.snapshot_folder(self.connection, self.tool.id)
        self.snapshots = Snapshots(folder)
        self.root = job.tool.source.resolve()
        found = _data_files(self.connection, job.tool, job.found)
        # A new file must not take the name of an existing table.
        old = {stored.path for stored in self.stored}
        self.found = sorted(found, key=lambda file: (file.path not in old, file.path))

    def run(self) -> ImportReport:
        """Read what changed, record everything, then remove the copies that nothing needs."""
        self._check_mode()
        try:
            remove_unneeded_copies(self.connection, self.tool.id)
            self._import_files()
            self._keep_unseen()
            self._check_outcome()
            self._record()
        finally:
            remove_unneeded_copies(self.connection, self.tool.id)
        return self._report()

    def _check_mode(self) -> None:
        if self.job.request.mode == "new" and self.stored:
            raise ImportRefused(
                f"the tool {self.tool.name!r} has {len(self.stored)} tables already; "
                "use --mode update to follow changes, or --mode replace to build it again"
            )
        if self.stored and not self.found and not self.job.found.unseen:
            raise ImportRefused(
                f"there is no data file in {self.tool.source}, but {self.tool.name!r} has "
                f"{len(self.stored)} tables; put the files back (is a disk not mounted?), or "
                f"delete the tool with: mdvec tool delete -n {self.tool.name}"
            )

    def _import_files(self) -> None:
        unchanged = {file.path for file in self.found if self._is_unchanged(file)}
        self.progress.files = len(self.found) - len(unchanged)
        for file in self.found:
            if file.path in unchanged:
                self._take_over(file)
            else:
                self._import_file(file)
                self.progress.file_done()

    def _check_outcome(self) -> None:
        if self.stored and self.failed and not self.tables:
            first = self.failed[0]
            raise ImportRefused(
                f"not one file could be imported ({first.file_path}: {first.reason}); "
                f"the tool {self.tool.name!r} was left as it was"
            )

    def _is_unchanged(self, file: FoundFile) -> bool:
        known = self.known.get(file.path)
        if self.job.request.mode == "replace" or known is None:
            return False
        if (known.size, known.mtime_ns, known.app_version) != (
            file.size, file.mtime_ns, __version__,
        ):  # fmt: skip
            return False
        source = _path_of(self.tool, file.path)
        return all(
            stored.table.source == source and stored.table.parquet.is_file()
            for stored in self._stored_of(file.path)
        )

    def _take_over(self, file: FoundFile) -> None:
        """Keep the tables of an unchanged file, under the names that the tool gives them now."""
        before = len(self.failed)
        for stored in self._stored_of(file.path):
            try:
                name = self.tables.free_name(file.path, stored.inner_table)
            except TableNameTaken as error:
                self._fail(origin_of(file.path, stored.inner_table), error)
            else:
                self.tables.put(replace(stored, table=replace(stored.table, name=name)))
        if len(self.failed) == before:
            self.files.append(self.known[file.path])

    def _import_file(self, file: FoundFile) -> None:
        """Import a new or changed file, or note why it cannot be imported."""
        before = len(self.failed)
        left_out: list[tuple[str, str]] = []
        try:
            with self.job.stopwatch.stage("datasets"):
                if file.path.lower().endswith(".duckdb"):
                    self._copy_database(file, left_out)
                else:
                    self._take_file(file)
        except UnreadableFile as error:
            self._fail(file.path, error)
            self._keep_copies(file.path)
        if len(self.failed) == before:
            self.files.append(
                ImportedFile(file.path, file.size, file.mtime_ns, tuple(left_out), __version__)
            )

    def _take_file(self, file: FoundFile) -> None:
        name = self.tables.free_name(file.path, "")
        source = _path_of(self.tool, file.path)
        with opened_within(source, self.root) as descriptor:
            ending, there = source.suffix.lower(), path_of(descriptor)
            if ending not in DELIMITERS:
                self._put_new(file, "", name, source, parquet_facts(there, source.name))
                return
            with self.snapshots.new() as (part, whole):
                delimited_to_parquet(there, part, self.progress.add_units, ending=ending)
        self._put_new(file, "", name, whole, parquet_facts(whole))

    def _copy_database(self, file: FoundFile, left_out: list[tuple[str, str]]) -> None:
        source = _path_of(self.tool, file.path)
        with database_file.opened(source, self.snapshots.folder, self.root) as database:
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
                    name = self.tables.free_name(file.path, table.label)
                    with self.snapshots.new() as (part, whole):
                        database.copy(table, part)
                    self._put_new(file, table.label, name, whole, parquet_facts(whole))
                except UnreadableFile as error:
                    self._fail(origin_of(file.path, table.label), error)
                    self._keep_copies(file.path, table.label)

    def _put_new(
        self, file: FoundFile, inner_table: str, name: str, parquet: Path, facts: ParquetFacts
    ) -> None:
        source = _path_of(self.tool, file.path)
        if source.suffix.lower() not in DELIMITERS:
            self.progress.add_units(facts.rows)
        if database_file.file_state(source) != (file.size, file.mtime_ns):
            raise UnreadableFile("it changed while the import read it; import again", may_pass=True)
        table = DatasetTable(
            name=name,
            origin=origin_of(file.path, inner_table),
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
        self.tables.put(FileTable(file.path, inner_table, table))

    def _keep_copies(self, path: str, inner_table: str | None = None) -> None:
        """Keep the copies and the state of a file, or of one table of it, that cannot be read."""
        kept = False
        for stored in self._stored_of(path):
            is_meant = inner_table in (None, stored.inner_table)
            if is_meant and stored.table.is_copy and stored.table.name not in self.tables:
                self.tables.put(stored)
                kept = True
        if kept and path in self.known and self.known[path] not in self.files:
            self.files.append(self.known[path])

    def _keep_unseen(self) -> None:
        """Keep files, with their tables, in places that were not scanned: they may still exist."""
        known = self.known.keys() | {stored.path for stored in self.stored}
        gone = known - {file.path for file in self.found}
        unseen = {path for path in gone if self.job.found.may_still_have(path)}
        for stored in self.stored:
            if stored.path in unseen and stored.table.name not in self.tables:
                self.tables.put(stored)
        self.files += [file for path, file in self.known.items() if path in unseen]

    def _stored_of(self, path: str) -> Iterator[FileTable]:
        return (stored for stored in self.stored if stored.path == path)

    def _fail(self, origin: str, error: UnreadableFile) -> None:
        self.failed.append(error.problem(origin))

    def _record(self) -> None:
        with self.connection, self.job.stopwatch.stage("write"):
            check_unchanged(self.connection, self.tool)
            datasets.record_dataset(
                self.connection, self.tool.id, self.files, self.tables.of_files()
            )
            import_state.record_import(self.connection, self.tool, self.job.rules)

    def _report(self) -> ImportReport:
        before = {stored.table.name: stored.table for stored in self.stored}
        now = self.tables.ordered()
        known = [table for table in now if table.name in before]
        unchanged = sum(table == before[table.name] for table in known)
        left_out = [
            Problem(origin, reason) for file in self.files for origin, reason in file.left_out
        ]
        return self.job.report(
            added=len(now) - len(known),
            updated=len(known) - unchanged,
            deleted=len(before) - len(known),
            unchanged=unchanged,
            failed=self.failed,
            details=DatasetReport(tuple(map(TableReport.of, now)), tuple(left_out)),
        )
