"""A dataset's part of an import's report: its tables, what was left out, and refusals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mdvec.datasets.core.understood import Understood
from mdvec.datasets.interfaces.dataset_tables import DatasetTable
from mdvec.files import FoundFile, Problem, data_ending
from mdvec.importing import ImportJob, ImportRefused, ImportReport, NoFiles, ReportLine, notes
from mdvec.text import counted, shown_name, some_of
from mdvec.tools import Tool

Readings = Mapping[str, Understood]
"""By origin, how files, or tables in them, were read by this import."""
_BESIDE_DATABASES = ("-wal", "-journal", "-shm", ".wal")
_MAX_NAMED = 3
_OWN_TABLE = "it is a table of its own"
_SAVED_AS = {
    ".numbers": "save them as .xlsx",
    **dict.fromkeys((".txt", ".dat", ".prn"), "rename tables with one row a line to .csv"),
    **dict.fromkeys((".zip", ".7z", ".rar", ".bz2", ".xz"), "unpack them"),
    **dict.fromkeys((".gz", ".zst"), "only packed CSV and JSON are read; unpack them"),
}


@dataclass(frozen=True, slots=True)
class MovedFiles:
    """Files whose rows were in one table at the last import, and are in others now."""

    files: tuple[str, ...]
    before: str
    now: tuple[str, ...]

    def __str__(self) -> str:
        """The files and the tables, in words."""
        files = some_of([shown_name(path) for path in self.files], _MAX_NAMED)
        return f"{files}: from {self.before} to {some_of(self.now, _MAX_NAMED)}"


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """The tables of a dataset, and the parts of its files that were not imported, with reasons.

    ``readings`` has for each table how the files that this import opened were read, ``moved`` the
    files that left a combined table, and ``unused`` notes on choices that apply to no file.
    """

    tables: tuple[DatasetTable, ...]
    left_out: tuple[Problem, ...]
    readings: tuple[Readings, ...]
    moved: tuple[MovedFiles, ...] = ()
    unused: tuple[str, ...] = ()

    def json_fields(self) -> dict[str, object]:
        """Its JSON fields."""
        return {
            "dataset": {
                "tables": [_table_fields(table) for table in self.tables],
                "left_out": [asdict(problem) for problem in self.left_out],
                "moved": [asdict(moved) for moved in self.moved],
                "unused": list(self.unused),
                "read": [
                    {"file": file, **asdict(how)}
                    for files in self.readings
                    for file, how in files.items()
                ],
            }
        }

    def lines(self, report: ImportReport) -> list[ReportLine]:
        """The printed summary of the import."""
        rows = sum(table.rows for table in self.tables)
        summary = (
            f"{report.tool}: {report.changes}; {counted(len(self.tables), 'table')}, "
            f"{counted(rows, 'row')} in {report.seconds:.1f} s"
        )
        return [
            ReportLine(summary),
            *(ReportLine(table_line(table)) for table in self.tables),
            *notes("read", _reading_notes(self.readings)),
            *notes("moved", [str(moved) for moved in self.moved]),
            *notes("unused", self.unused),
            *(ReportLine(_left_out_line(problem), is_note=True) for problem in self.left_out),
        ]


def _left_out_line(problem: Problem) -> str:
    """A file that is no table; or one that is a table, but no part of a combined one."""
    is_apart = problem.reason.startswith(_OWN_TABLE)
    what = "imported, but not combined" if is_apart else "left out"
    return f"{what}: {shown_name(problem.file_path)}: {problem.reason}"


def table_line(table: DatasetTable) -> str:
    """A table in a report: its SQL name, and its file or the files that it combines."""
    size = f"{counted(table.rows, 'row')}, {counted(len(table.columns), 'column')}"
    about = f"{table.name}: {size}, from {shown_name(table.origin)}"
    if table.combined:
        about += f" ({counted(len(table.combined.files), 'file')})"
    if table.first is None:
        return about
    return f"{about}; {shown_name(table.period_column)} {table.first} to {table.last}"


def _table_fields(table: DatasetTable) -> dict[str, object]:
    """Its JSON fields, without paths of the database."""
    fields, files = asdict(table), table.file_paths if table.combined else ()
    shown = ("rows", "columns", "period_column", "first", "last", "name", "origin")
    return {name: fields[name] for name in shown} | {"files": list(files)}


def unsupported_files(paths: Iterable[str]) -> Iterator[Problem]:
    """A problem for each kind of file in a folder that is not read."""
    by_ending: dict[str, list[str]] = {}
    for path in paths:
        if path.endswith(_BESIDE_DATABASES):
            continue
        by_ending.setdefault(data_ending(path), []).append(path)
    for ending, files in sorted(by_ending.items()):
        what = files[0] if len(files) == 1 else f"{len(files):,} files {ending or 'without ending'}"
        advice = _SAVED_AS.get(f".{ending.rpartition('.')[2]}")
        yield Problem(
            what,
            f"this kind of file is not read; {advice}" if advice else "it is no file of data",
        )


def moved_files(
    before: Iterable[DatasetTable], now: Iterable[DatasetTable], named: Collection[str]
) -> Iterator[MovedFiles]:
    """The files that left a combined table, except ``named`` files, which are reported anyway."""
    homes = {path: table for table in now for path in table.file_paths if path not in named}
    for table in before:
        moved: dict[bool, dict[str, str]] = {}
        for path in table.file_paths if table.combined else ():
            if path in homes and homes[path].name != table.name:
                is_alone = homes[path].combined is None
                moved.setdefault(is_alone, {})[path] = homes[path].name
        for homes_of in moved.values():
            yield MovedFiles(tuple(homes_of), table.name, tuple(dict.fromkeys(homes_of.values())))


def readings_of(tables: Iterable[DatasetTable], understood: Readings) -> tuple[Readings, ...]:
    """For each table, how its files were read, without files that were not opened."""
    readings = (
        {
            origin: understood[origin]
            for origin in (table.origin, *table.origins)
            if origin in understood
        }
        for table in sorted(tables, key=lambda table: table.name)
    )
    return tuple(filter(None, readings))


def with_reading(
    table: DatasetTable, understood: Readings, before: Mapping[Path, str]
) -> DatasetTable:
    """The table with notes on how it and its files were read, if the import read them.

    ``before`` has earlier notes, by Parquet file; they stay until the file is rewritten.
    """
    by_origin = {path: str(how) for path, how in understood.items()}
    if table.combined is None:
        return replace(table, reading=by_origin.get(table.origin, table.reading))
    files = [
        replace(each, reading=by_origin.get(each.path, each.reading))
        for each in table.combined.files
    ]
    reading = by_origin.get(table.origin, before.get(table.parquet, ""))
    if table.origin in table.file_paths:  # the pattern is also a file's name, which has the note
        reading = ""
    return replace(table, reading=reading, combined=replace(table.combined, files=tuple(files)))


def _reading_notes(readings: Iterable[Readings]) -> list[str]:
    """Notes on how files were read, first those on their rows, as these may change sums."""
    on_rows, on_cells = list[str](), list[str]()
    for files in readings:
        for first, text in _notes_of_table(files):
            (on_rows if files[first].notes else on_cells).append(text)
    return [*on_rows, *on_cells]


def _notes_of_table(files: Readings) -> Iterator[tuple[str, str]]:
    """The notes on a table's files, each with its first file; files read alike share one."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for file, how in files.items():
        alike.setdefault(how.manner, []).append(file)
    for first, *others in alike.values():
        if text := str(files[first]):
            more = f" (and {counted(len(others), 'more file')} alike)" if others else ""
            if any(str(files[other]) != text for other in others):
                more = more.replace(")", ", with values and counts of their own)")
            yield first, f"{shown_name(first)}{more}: {text}"


def table_changes(before: Iterable[DatasetTable], now: Iterable[DatasetTable]) -> dict[str, Any]:
    """How many tables an import added, updated, deleted and left unchanged."""
    old, new = ({table.name: table for table in tables} for tables in (before, now))
    known = len(new.keys() & old.keys())
    unchanged = sum(table == old.get(name) for name, table in new.items())
    return {
        "added": len(new) - known, "updated": known - unchanged, "deleted": len(old) - known,
        "unchanged": unchanged,
    }  # fmt: skip


def check_files(job: ImportJob, stored: Sequence[DatasetTable], files: Sequence[FoundFile]) -> None:
    """Check that a dataset with tables still has files.

    Raises:
        NoFiles: it has none, and the whole source could be scanned.
    """
    name, number = job.tool.name, counted(len(stored), "table")
    if stored and not files and not job.scan.unseen:
        raise NoFiles(
            job.scan,
            f"there is no data file in {job.tool.source}, but {name!r} has "
            f"{number}; put the files back (is a disk not mounted?), or "
            f"delete the tool with: mdvec tool delete -n {name}",
        )


def check_outcome(tool: Tool, stored: Sequence[DatasetTable], failed: Sequence[Problem]) -> None:
    """Check an import that collected no table.

    Raises:
        ImportRefused: it failed, and the tool had tables before.
    """
    if stored and failed:
        first = failed[0]
        raise ImportRefused(
            f"not one file could be imported ({shown_name(first.file_path)}: {first.reason}); "
            f"the tool {tool.name!r} was left as it was"
        )
