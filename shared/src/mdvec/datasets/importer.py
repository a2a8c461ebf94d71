"""Imports data files as tables: changed ones are read or copied, then all is recorded at once.

A Parquet file is queried in place. Files of other formats are copied into private Parquet files, so
that queries never open, lock or wait for the originals.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from mdvec.datasets.combined_import import CombinedImport, CombinedOutcome
from mdvec.datasets.core.columns import table_name
from mdvec.datasets.core.first_row import FOR_FILE
from mdvec.datasets.core.understood import ReadingOptions, Understood
from mdvec.datasets.interfaces import dataset_tables
from mdvec.datasets.interfaces.connection import shared_databases
from mdvec.datasets.interfaces.database_file import NotATable
from mdvec.datasets.interfaces.dataset_tables import (
    DatasetTable,
    ImportedFile,
    file_state,
    origin_of,
    split_origin,
)
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.options import ChosenReadings, DatasetOptions, Place, places_of
from mdvec.datasets.planning import (
    CollectedTables,
    ImportPlan,
    PlannedGroup,
    TableNameTaken,
    may_join,
    plan,
)
from mdvec.datasets.reading import FileReader, counts_rows, is_parquet
from mdvec.datasets.report import (
    DatasetReport,
    check_files,
    check_outcome,
    moved_files,
    readings_of,
    table_changes,
    unsupported_files,
    with_reading,
)
from mdvec.datasets.status import data_files, remove_unneeded_copies
from mdvec.files import FoundFile, Problem, UnreadableFile
from mdvec.importing import (
    ImportInterrupted,
    ImportJob,
    ImportRefused,
    ImportReport,
    ProgressCount,
    check_unchanged,
)
from mdvec.platform import shell_line
from mdvec.text import some_of, visible
from mdvec.tools import registry

_MAX_NAMED = 2


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


class _DatasetImport:
    """A running import of data files; its results only become visible at the end."""

    def __init__(self, job: ImportJob) -> None:
        self.job = job
        self.tool = job.tool
        self.connection = job.connection
        self.progress = ProgressCount(job.on_progress, unit="rows")
        self.failed = list(job.scan.problems)
        self.tables = CollectedTables(job.tool)
        self.files: list[ImportedFile] = []
        self.group_of: dict[str, str] = {}
        """By path of a file, the pattern of the combined table whose import failed."""
        self.left_out: dict[str, tuple[tuple[str, str], ...]] = {}
        self.stored = dataset_tables.dataset_tables(self.connection, self.tool.id)
        self.known = dataset_tables.imported_files(self.connection, self.tool.id)
        folder = dataset_tables.snapshot_folder(self.connection, self.tool.id)
        self.snapshots = Snapshots(folder)
        options = job.request.options
        self.options = options if isinstance(options, DatasetOptions) else DatasetOptions()
        self.readings = ChosenReadings.of_import(self.connection, self.tool, self.options.readings)
        limit = job.request.max_memory_mb
        self.reader = FileReader(self.tool, self.snapshots, self.progress.add_units, limit)
        found = data_files(self.connection, job.tool, job.scan)
        # A new file must not take the name of an existing table.
        old = {stored.path for stored in self.stored}
        self.found = sorted(found, key=lambda file: (file.path not in old, file.path))
        self.paths = {file.path for file in self.found}

    def run(self) -> ImportReport:
        """Read what changed, record everything, then remove unneeded copies."""
        check_files(self.job, self.stored, self.found)
        try:
            remove_unneeded_copies(self.connection, self.tool.id)
            with shared_databases(self.snapshots.folder):
                self._import_files()
            self._keep_unseen()
            self._name_apart()
            self._check_rows()
            self._check_names()
            if not self.tables:
                check_outcome(self.tool, self.stored, self.failed)
            kept = {path for table in self.stored for path in table.file_paths}
            self.readings.check(self._places(self._left_out()), self.known.keys() | kept)
            self._note_lacking()
            self._record()
        finally:
            remove_unneeded_copies(self.connection, self.tool.id)
        return self._report()

    def _import_files(self) -> None:
        unchanged = {file.path for file in self.found if self._is_unchanged(file)}
        planned = self._plan(unchanged)
        # A file that leaves a combined table has no copy of its own yet, so it must be read.
        unchanged -= {file.path for file in planned.single if not self._is_by_itself(file)}
        self.progress.files = len(self.found) - len(unchanged)
        # A new file must not take the name of an existing table, or of one that the user named.
        first = [each for each in planned.groups if each.old or each.group.is_chosen]
        for group in first:
            self._import_group(group, unchanged)
        for file in planned.single:
            if file.path in unchanged:
                self._take_over(file)
            else:
                self._import_file(file, planned.doubts.get(file.path, ""))
                self.progress.file_done()
        for group in planned.groups:
            if group not in first:
                self._import_group(group, unchanged)

    def _plan(self, unchanged: Collection[str]) -> ImportPlan:
        if not self.tool.source.is_dir():
            if self.options.tables:
                raise ImportRefused(
                    f"the tool {self.tool.name!r} reads one file, whose table has the tool's name; "
                    "--table is for a folder of files, so leave it out"
                )
            return ImportPlan((), tuple(self.found))
        return plan(
            self.found,
            self.stored,
            self.options,
            unchanged,
            tool_name=self.tool.name,
            is_rebuilt=self.job.request.mode == "replace",
        )

    def _import_group(self, planned: PlannedGroup, unchanged: Collection[str]) -> None:
        """Import files as one table, or note why that is impossible."""
        try:
            name = self.tables.free(planned.group.name)
        except TableNameTaken:
            for file in planned.files:
                self._import_file(file)
            return
        files = CombinedImport(planned, self.reader, self.readings)
        try:
            with self.job.stopwatch.stage("datasets"), self.reader.limits():
                outcome = files.run(name, unchanged, self.job.scan)
        except UnreadableFile as error:
            self._fail(planned.group.pattern, error)
            self._keep_group(planned)
        else:
            self._put_group(planned, outcome)
        for file in planned.files:
            if file.path not in unchanged:
                self.progress.file_done()

    def _keep_group(self, planned: PlannedGroup) -> None:
        """Keep the stored tables of files that cannot be combined now, and their combined table."""
        for stored in self.stored:
            if stored.combined and stored.path == planned.group.pattern:
                self.tables.setdefault(stored.name, stored)
        for file in planned.files:
            self._keep_copies(file.path)
        self._keep_states(planned.old.file_paths if planned.old else ())
        self.group_of |= {file.path: planned.group.pattern for file in planned.files}

    def _put_group(self, planned: PlannedGroup, outcome: CombinedOutcome) -> None:
        combined: Collection[str] = ()
        if outcome.table is not None:
            self.tables.put(outcome.table)
            combined = outcome.table.file_paths
        if outcome.notes:  # the pattern may be the name of one of the files
            own = self.reader.understood.get(planned.group.pattern, Understood())
            self.reader.understood[planned.group.pattern] = own.with_notes(*outcome.notes)
        for path, cells in outcome.nulls.items():
            if path in self.reader.understood:
                self.reader.understood[path] = self.reader.understood[path].with_nulls(cells)
        done: dict[str, tuple[tuple[str, str], ...]]
        done = {path: () for path in combined if path not in outcome.failed}
        done |= {path: ((path, reason),) for path, reason in outcome.no_tables.items()}
        self.files += [
            ImportedFile(file.path, *file.state, done[file.path], self._sheet_of(file.path))
            for file in planned.files
            if file.path in done
        ]
        for path, error in outcome.failed.items():
            self._fail(path, error)
            self._keep_copies(path)
        self._keep_states(path for path in outcome.failed if path in combined)
        for file in outcome.several:
            doubt = (
                f"its tables are their own: unlike the other files of {planned.group.pattern} it "
                "holds several; leave one in it, or join them in SQL with UNION ALL BY NAME"
            )
            self._import_file(file, doubt if combined else "")
        for part, reason in outcome.separate:
            left_out = [(part.file.path, reason)] if reason else []
            with self._failing(part.file, left_out):
                name = self.tables.free_name(part.file.path, "")
                self._put_new(part.file, "", name, part.parquet)

    def _keep_states(self, paths: Iterable[str]) -> None:
        self.files += [self.known[path] for path in paths if self._is_as_before(path)]

    def _is_unchanged(self, file: FoundFile) -> bool:
        known = self.known.get(file.path)
        request = self.job.request
        is_read_anyway = request.mode == "replace" or request.checksum
        if is_read_anyway or known is None or self.readings.have_changed(file.path):
            return False
        if known != ImportedFile(file.path, *file.state, known.left_out, known.sheet):
            return False
        source = self.reader.source(file.path)
        return all(
            stored.source == source and not stored.is_lost for stored in self._stored_of(file.path)
        )

    def _is_by_itself(self, file: FoundFile) -> bool:
        """Whether a known file has tables of its own, or a reason for having none."""
        known = self.known.get(file.path)
        return any(self._stored_of(file.path)) or bool(known and known.left_out)

    def _take_over(self, file: FoundFile) -> None:
        """Keep the tables of an unchanged file, under the names that the tool gives them now."""
        before = len(self.failed)
        for stored in self._stored_of(file.path):
            try:
                name = self.tables.free_name(file.path, stored.inner_table)
            except TableNameTaken as error:
                self._fail(stored.origin, error)
            else:
                self.tables.put(replace(stored, name=name))
        if len(self.failed) == before:
            self.files.append(self.known[file.path])

    def _import_file(self, file: FoundFile, doubt: str = "") -> None:
        """Import a new or changed file, or note why it cannot be imported.

        ``doubt`` is why it was not combined with other files, if there is a reason.
        """
        left_out = [(file.path, doubt)] if doubt else []
        reading, stage = self.readings.of(file.path), self.job.stopwatch.stage("datasets")
        with self._failing(file, left_out), stage, self.reader.limits():
            if is_parquet(self.reader.source(file.path)):
                name = self.tables.free_name(file.path, "")
                self._put_new(file, "", name, self.reader.source(file.path))
            else:
                self._copy_tables(file, reading, left_out)

    @contextmanager
    def _failing(self, file: FoundFile, left_out: list[tuple[str, str]]) -> Iterator[None]:
        """Note that a file is imported, or why it cannot be; in that case its old copies stay."""
        before = len(self.failed)
        try:
            yield
        except UnreadableFile as error:
            if isinstance(error, NotATable) and not any(self._stored_of(file.path)):
                left_out.append((file.path, str(error)))
            else:
                self._fail(file.path, error)
                self._keep_copies(file.path)
        if left_out:
            self.left_out[file.path] = tuple(left_out)
        if len(self.failed) == before:
            sheet = self.reader.alone.get(file.path)
            self.files.append(ImportedFile(file.path, *file.state, tuple(left_out), sheet))

    def _copy_tables(
        self, file: FoundFile, reading: ReadingOptions, left_out: list[tuple[str, str]]
    ) -> None:
        """Copy each table of a file."""
        with self.reader.open_file(file.path, reading) as opened:
            left_out.extend(
                (origin_of(file.path, label), reason) for label, reason in opened.left_out
            )
            if not opened.tables:
                raise UnreadableFile("it has no tables")
            for table in opened.tables:
                origin = origin_of(file.path, table.label)
                try:
                    name = self.tables.free_name(file.path, table.label)
                    self._put_new(file, table.label, name, self.reader.copy_table(table, origin))
                except NotATable as error:
                    if not table.label:  # the file's only table
                        raise
                    left_out.append((origin, str(error)))
                except UnreadableFile as error:
                    self._fail(origin, error)
                    self._keep_copies(file.path, table.label)

    def _put_new(self, file: FoundFile, inner_table: str, name: str, parquet: Path) -> None:
        source = self.reader.source(file.path)
        extent = self.reader.extent(file.path, parquet)
        if not counts_rows(file.path):
            self.progress.add_units(extent.rows)
        if file_state(source) != (file.size, file.mtime_ns):
            raise UnreadableFile.changed()
        origin = origin_of(file.path, inner_table)
        self.tables.put(
            DatasetTable(
                name, origin, parquet, source, *file.state, inner_table=inner_table, **extent.extent
            )
        )

    def _keep_copies(self, path: str, inner_table: str | None = None) -> None:
        """Keep the copies and the state of a file, or of one table of it, that cannot be read."""
        any_kept = False
        for stored in self._stored_of(path):
            is_meant = inner_table in (None, stored.inner_table)
            if is_meant and stored.is_copy and stored.name not in self.tables:
                self.tables.put(stored)
                any_kept = True
        if any_kept and self._is_as_before(path) and self.known[path] not in self.files:
            self.files.append(self.known[path])

    def _is_as_before(self, path: str) -> bool:
        # If a file failed to be read in a newly chosen way, it has to be tried again.
        return path in self.known and not self.readings.have_changed(path)

    def _keep_unseen(self) -> None:
        """Keep files, with their tables, in places that were not scanned: they may still exist."""
        known = self.known.keys() | {stored.path for stored in self.stored}
        gone = known - self.paths
        unseen = {path for path in gone if self.job.scan.may_still_have(path)}
        for stored in self.stored:
            if stored.path in unseen and stored.name not in self.tables:
                self.tables.put(stored)
        self.files += [file for path, file in self.known.items() if path in unseen]

    def _check_rows(self) -> None:
        """Check that the rows of each file that may still exist are in exactly one table.

        Raises:
            ImportRefused: a failure would leave rows in no table, or in two.
        """
        tables_of = Counter(origin for table in self.tables.values() for origin in table.origins)
        complete = {file.path for file in self.files}
        failed = {problem.file_path for problem in self.failed}
        read_in_part = {split_origin(name, self.paths)[0] for name in failed} - failed
        for table in filter(lambda each: each.is_copy, self.stored):
            for origin, path in table.origins.items():
                is_failed = origin in failed or path not in complete | read_in_part
                is_lost = is_failed and not tables_of[origin] and self._may_exist(path)
                if is_lost or tables_of[origin] > 1:
                    names = {origin, path, table.path, self.group_of.get(path, path)}
                    of_them = (each for each in self.failed if each.file_path in names)
                    problem = next(of_them, Problem(path, "it cannot be reached now"))
                    raise ImportRefused(
                        f"{problem.file_path}: {problem.reason}; nothing was changed"
                    )

    def _check_names(self) -> None:
        """Check that no table named by the user takes the name of a stored table of other files.

        Raises:
            ImportRefused: it shares no file with that table, some of whose files are in no table
                named by the user.
        """
        chosen = {table_name(self.tool.name, group.name): group for group in self.options.tables}
        files = {name: self.tables[name].file_paths for name in chosen if name in self.tables}
        named = {path for paths in files.values() for path in paths}
        for table in self.stored:
            left = [path for path in table.file_paths if path not in named]
            left = [path for path in left if self._may_exist(path)]
            is_other = not set(table.file_paths).intersection(files.get(table.name, ()))
            if table.name in chosen and is_other and left:
                how = shell_line("--table", f"NAME={table.path}")
                raise ImportRefused(
                    f"the table {table.name} has {some_of(left, _MAX_NAMED)}, but that of "
                    f"{chosen[table.name].pattern!r} would not; choose another name, or give "
                    f"these files one as well: {how}"
                )

    def _may_exist(self, path: str) -> bool:
        return path in self.paths or self.job.scan.may_still_have(path)

    def _name_apart(self) -> None:
        """Note, for each combined table, the files with similar names that are not in it."""
        for table in list(self.tables.values()):
            if table.combined is None:
                continue
            combined = table.combined
            alike = {file.path for file in self.found if may_join(combined.group, file)}
            separate = alike - {file.path for file in combined.files}
            combined = replace(combined, apart=tuple(sorted(separate)))
            self.tables.put(replace(table, combined=combined))

    def _note_lacking(self) -> None:
        """Add notes to files that were read on choices for columns that they do not have."""
        read = self.reader.understood
        for origin, sentences in self.readings.lacking(self._places(())).items():
            if origin in read:
                read[origin] = read[origin].with_notes(*sentences)

    def _places(self, left_out: Iterable[Problem]) -> list[Place]:
        """The tables and files that choices may apply to."""
        paths = self.paths | {file.path for file in self.files}
        failed = {problem.file_path for problem in self.failed}
        names = {file.path: file.sheet for file in self.files if file.path not in failed}
        alone = {path: name for path, name in names.items() if name is not None}
        alone |= self.reader.alone
        return places_of(self.tables.values(), self.failed, left_out, paths, alone)

    def _sheet_of(self, path: str) -> str | None:
        """The name of the only sheet of a file in a combined table; known before if unchanged."""
        before = self.known[path].sheet if path in self.known else None
        return self.reader.alone.get(path, before)

    def _left_out(self) -> list[Problem]:
        # This includes files that failed in part, whose new state is not recorded.
        named = {file.path: file.left_out for file in self.files} | self.left_out
        return [Problem(*each) for of_file in named.values() for each in of_file]

    def _stored_of(self, path: str) -> Iterator[DatasetTable]:
        """The stored tables of a file, without the combined table that it may be part of."""
        return (each for each in self.stored if each.path == path and not each.combined)

    def _fail(self, origin: str, error: UnreadableFile) -> None:
        problem = error.problem(origin)
        name = f"/{split_origin(origin, self.paths)[0]}"
        is_elsewhere = any(path.endswith(name) for path in self.paths)
        pattern = glob.escape(f"./{origin}" if is_elsewhere else origin)
        advice = visible(shell_line("--for", pattern))
        reason = problem.reason.replace(FOR_FILE, advice, 1)
        self.failed.append(replace(problem, reason=reason))

    def _record(self) -> None:
        with self.connection, self.job.stopwatch.stage("write"):
            check_unchanged(self.connection, self.tool)
            self.readings.record(self.connection)
            understood = self.reader.understood
            before = {stored.parquet: stored.reading for stored in self.stored}
            tables = [with_reading(table, understood, before) for table in self.tables.values()]
            dataset_tables.record_dataset(self.connection, self.tool.id, self.files, tables)
            registry.record_import(self.connection, self.tool, self.job.rules)

    def _report(self) -> ImportReport:
        now = [self.tables[name] for name in sorted(self.tables)]
        left_out = [*self._left_out(), *unsupported_files(self.job.scan.others)]
        return self.job.report(
            **table_changes(self.stored, now),
            failed=self.failed,
            details=DatasetReport(
                tuple(now),
                tuple(left_out),
                readings_of(self.tables.values(), self.reader.understood),
                tuple(moved_files(self.stored, now, {problem.file_path for problem in left_out})),
                self.readings.unused(self._places(left_out)),
            ),
        )
