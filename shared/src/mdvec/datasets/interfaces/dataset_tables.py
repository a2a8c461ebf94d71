"""The database's records of data files: their states, tables, and how the user wants them read.

A table is one Parquet file: the user's own, where it lies, or a private copy beside the database,
in ``<database>.datasets/<tool's number>/``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

from mdvec import __version__
from mdvec.datasets.core.choices import ReadingChoice
from mdvec.datasets.core.columns import Column, TableExtent, table_name
from mdvec.datasets.core.grouping import FileGroup
from mdvec.datasets.interfaces.snapshots import is_whole
from mdvec.files import SQLITE_ENDINGS, FileState, UnreadableFile, data_ending, state_of
from mdvec.text import some_of

_FILE_COLUMNS = ("path", "size", "mtime_ns", "left_out", "sheet", "app_version")
_TABLE_COLUMNS = (
    "name", "path", "inner_table", "source", "snapshot", "size", "mtime_ns", "rows", "columns",
    "period_column", "period_first", "period_last", "combined", "reading",
)  # fmt: skip
_OF_TABLE = ("name", "inner_table", "size", "mtime_ns", "rows", "period_column", "reading")
"""The database columns that are stored as fields of ``DatasetTable`` without conversion."""


@dataclass(frozen=True, slots=True)
class CombinedFile:
    """One of the files of a combined table, as it was at its import.

    ``path`` is as scanned, ``source`` its absolute path; ``reading`` is like that of a
    ``DatasetTable``.
    """

    path: str
    source: Path
    size: int
    mtime_ns: int
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Combination:
    """The files that are one table.

    Attributes:
        group: what the files' names have in common.
        file_column: the column that names the file of each row.
        from_path: the columns that folders such as ``year=2025`` add.
        files: the files, by path.
        apart: files with similar names that are not in the table.
    """

    group: FileGroup
    file_column: str
    from_path: tuple[str, ...]
    files: tuple[CombinedFile, ...]
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetTable(TableExtent):
    """A table of a dataset.

    Attributes:
        name: its name in SQL.
        origin: the user's file relative to the source folder, with ``#table`` for a .duckdb file;
            the pattern of the files of a combined table.
        parquet: the absolute path of the file to read.
        source: the absolute path of the user's file; for a Parquet file, the same.
        size: the source's size in bytes at its import; that of a .duckdb file includes its log.
        mtime_ns: the source's modification time at its import, in nanoseconds.
        combined: the files that it combines, whose folder is ``source``; None for one file.
        reading: the import's notes on how it was read, without those on single files that it
            combines; "" if nothing was unusual.
        inner_table: which table of its file it is; "" if the file has only one.
    """

    name: str
    origin: str
    parquet: Path
    source: Path
    size: int
    mtime_ns: int
    combined: Combination | None = None
    reading: str = ""
    inner_table: str = ""

    @property
    def path(self) -> str:
        """The path of its file as scanned, or the pattern of several."""
        return self.origin.removesuffix(f"#{self.inner_table}") if self.inner_table else self.origin

    @property
    def is_copy(self) -> bool:
        """Whether it is read from a private copy."""
        return self.parquet != self.source

    @property
    def is_lost(self) -> bool:
        """Whether its private copy is missing or cut off, so that only the source has the rows."""
        return self.is_copy and not is_whole(self.parquet)

    @property
    def file_paths(self) -> tuple[str, ...]:
        """The paths, as scanned, of the files that have its rows."""
        return tuple(file.path for file in self.combined.files) if self.combined else (self.path,)

    @property
    def origins(self) -> dict[str, str]:
        """The origins of its rows (files, or a table in a file), with the path of each file."""
        if self.combined is None:
            return {self.origin: self.path}
        return {path: path for path in self.file_paths}

    @property
    def whole_reading(self) -> str:
        """Notes on how it and its files were read; files read in the same way share a note.

        The first note names similar files that are not in the table.
        """
        separate = self.combined.apart if self.combined else ()
        missing = f"not in it, though named alike: {some_of(separate, 3)}" if separate else ""
        alike: dict[str, list[str]] = {}
        for file in self.combined.files if self.combined else ():
            if file.reading:
                alike.setdefault(file.reading, []).append(file.path)
        readings = [f"{some_of(paths, 1)}: {reading}" for reading, paths in alike.items()]
        return "; ".join(filter(None, [missing, self.reading, *readings]))


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A completely imported file, as it was at its import.

    ``left_out`` names the parts of the file that did not become tables, with reasons. ``sheet`` is
    the name of its only table ("" if that has no name); None if it has several, or is not known.
    ``app_version`` is the version of mdvec that read it.
    """

    path: str
    size: int
    mtime_ns: int
    left_out: tuple[tuple[str, str], ...] = ()
    sheet: str | None = None
    app_version: str = __version__


def dataset_tables(connection: apsw.Connection, tool_id: int) -> list[DatasetTable]:
    """The tables of a dataset, by name."""
    folder = snapshot_folder(connection, tool_id)
    rows = connection.execute(
        f"SELECT {', '.join(_TABLE_COLUMNS)} FROM dataset_tables WHERE tool_id = ? ORDER BY name",
        (tool_id,),
    )
    return [_table(folder, dict(zip(_TABLE_COLUMNS, row, strict=True))) for row in rows]


def table_counts(connection: apsw.Connection, tool_id: int) -> tuple[int, int]:
    """The number of a dataset's tables, and of all their rows."""
    tables, rows = connection.execute(
        "SELECT count(*), coalesce(sum(rows), 0) FROM dataset_tables WHERE tool_id = ?", (tool_id,)
    ).fetchone() or (0, 0)
    return int(tables), int(rows)


def imported_files(connection: apsw.Connection, tool_id: int) -> Mapping[str, ImportedFile]:
    """The completely imported files, by path."""
    rows = connection.execute(
        f"SELECT {', '.join(_FILE_COLUMNS)} FROM dataset_files WHERE tool_id = ?", (tool_id,)
    )
    files = {}
    for row in rows:
        facts: dict[str, Any] = dict(zip(_FILE_COLUMNS, row, strict=True))
        left_out = tuple((name, reason) for name, reason in json.loads(facts["left_out"]))
        files[facts["path"]] = ImportedFile(**{**facts, "left_out": left_out})
    return files


def record_dataset(
    connection: apsw.Connection,
    tool_id: int,
    files: Iterable[ImportedFile],
    tables: Iterable[DatasetTable],
) -> None:
    """Replace a dataset's records; call within a transaction."""
    file_rows = (
        asdict(file) | {"left_out": json.dumps(file.left_out, ensure_ascii=False)} for file in files
    )
    for table, columns, rows in (
        ("dataset_files", _FILE_COLUMNS, file_rows),
        ("dataset_tables", _TABLE_COLUMNS, map(_table_row, tables)),
    ):
        connection.execute(f"DELETE FROM {table} WHERE tool_id = ?", (tool_id,))
        connection.executemany(
            f"INSERT INTO {table} (tool_id, {', '.join(columns)}) "
            f"VALUES (:tool_id, {', '.join(f':{column}' for column in columns)})",
            ({"tool_id": tool_id, **row} for row in rows),
        )


def rename_tables(connection: apsw.Connection, tool_id: int, old: str, new: str) -> None:
    """Rename a tool's tables to begin with its new name; call within a transaction."""
    before = table_name(old)
    connection.execute(
        "UPDATE dataset_tables SET name = ? || substr(name, ?) WHERE tool_id = ?",
        (table_name(new), len(before) + 1, tool_id),
    )


COPIES = ".datasets"
"""The suffix of the folder of a database's private copies, next to the database."""


def snapshot_folder(connection: apsw.Connection, tool_id: int) -> Path:
    """The folder of one tool's private copies; it may not exist."""
    return Path(f"{connection.filename}{COPIES}", str(tool_id))


def origin_of(path: str, inner_table: str) -> str:
    """The user's name for a table's file, with ``#table`` for a .duckdb file."""
    return f"{path}#{inner_table}" if inner_table else path


def split_origin(origin: str, paths: Collection[str]) -> tuple[str, str]:
    """The file among ``paths`` that an origin names, and its inner table; "" if it names none."""
    ends = (at for at, letter in enumerate(origin) if letter == "#" and origin[:at] in paths)
    end = len(origin) if origin in paths else next(ends, len(origin))
    return origin[:end], origin[end + 1 :]


def _table(folder: Path, row: Mapping[str, Any]) -> DatasetTable:
    source, snapshot = Path(row["source"]), row["snapshot"]
    return DatasetTable(
        **{name: row[name] for name in _OF_TABLE},
        origin=origin_of(row["path"], row["inner_table"]),
        parquet=source if snapshot is None else folder / snapshot,
        source=source,
        columns=tuple(Column(name, type_) for name, type_ in json.loads(row["columns"])),
        first=row["period_first"],
        last=row["period_last"],
        combined=_combination(row["combined"]),
    )


def _table_row(table: DatasetTable) -> dict[str, apsw.SQLiteValue]:
    return {name: getattr(table, name) for name in _OF_TABLE} | {
        "path": table.path,
        "source": str(table.source),
        "snapshot": table.parquet.name if table.is_copy else None,
        "columns": json.dumps([(column.name, column.type) for column in table.columns]),
        "period_first": table.first,
        "period_last": table.last,
        "combined": _combination_row(table.combined),
    }


def _combination(stored: object) -> Combination | None:
    if not isinstance(stored, str):
        return None
    fields = json.loads(stored)
    files = (CombinedFile(path, Path(source), *state) for path, source, *state in fields["files"])
    return Combination(
        FileGroup(**fields["group"]),
        fields["file_column"],
        tuple(fields["from_path"]),
        tuple(files),
        tuple(fields.get("apart", ())),
    )


def _combination_row(combined: Combination | None) -> str | None:
    if combined is None:
        return None
    files = [
        (file.path, str(file.source), file.size, file.mtime_ns, file.reading)
        for file in combined.files
    ]
    row = {
        "group": asdict(combined.group),
        "file_column": combined.file_column,
        "from_path": combined.from_path,
        "files": files,
        "apart": combined.apart,
    }
    return json.dumps(row, ensure_ascii=False)


def stored_choices(connection: apsw.Connection, tool_id: int) -> tuple[ReadingChoice, ...]:
    """A tool's choices; those for every file come first."""
    rows: list[tuple[str, str, str, str]] = connection.execute(  # type: ignore[assignment]
        "SELECT pattern, setting, column_name, value FROM dataset_choices WHERE tool_id = ? "
        "ORDER BY pattern <> '*', pattern, setting, column_name",
        (tool_id,),
    ).fetchall()
    return tuple(ReadingChoice.stored(*row) for row in rows)


def record_choices(
    connection: apsw.Connection, tool_id: int, choices: Iterable[ReadingChoice]
) -> None:
    """Replace a tool's choices; call within a transaction."""
    connection.execute("DELETE FROM dataset_choices WHERE tool_id = ?", (tool_id,))
    connection.executemany(
        "INSERT INTO dataset_choices (tool_id, pattern, setting, column_name, value) "
        "VALUES (?, ?, ?, ?, ?)",
        [(tool_id, *choice.row) for choice in choices],
    )


_LOGS = {".duckdb": (".wal",), **dict.fromkeys(SQLITE_ENDINGS, ("-wal", "-journal"))}
"""By ending: the suffixes of a database's logs."""


def has_logs(path: str) -> bool:
    """Whether a file of this name may be a database with log files."""
    return data_ending(path) in _LOGS


def logs_of(source: Path) -> list[Path]:
    """The existing log files of a database."""
    endings = _LOGS.get(data_ending(source.name), ())
    logs = (source.with_name(f"{source.name}{ending}") for ending in endings)
    return [log for log in logs if log.exists()]


def file_state(source: Path) -> FileState:
    """A data file's size and modification time; a database's logs are included.

    Raises:
        UnreadableFile: it is gone.
    """
    try:
        return state_of(*(file.stat() for file in (source, *logs_of(source))))
    except OSError as error:
        raise UnreadableFile.of_error(error) from error
