"""Copies the tables of a SQLite file to Parquet; the file itself is only read.

A file with a write-ahead log or a journal is copied with it, so that SQLite can apply it to the
copy. Virtual tables and generated columns are not read. Views run the author's expressions, for a
limited time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import apsw

from mdvec.database import is_own_header
from mdvec.datasets.core.understood import ReadingOptions, Understood
from mdvec.datasets.interfaces.database_file import (
    COMPUTED,
    NotATable,
    OpenedFile,
    TableInFile,
    unreadable_view,
)
from mdvec.datasets.interfaces.dataset_tables import file_state, logs_of
from mdvec.datasets.interfaces.snapshots import copy_with_logs, work_folder
from mdvec.datasets.interfaces.typed_rows import BOOLEAN, MAX_ROW_BYTES, OnRows, TypedRows
from mdvec.files import UnreadableFile, opened_within
from mdvec.platform import lock_bytes, read_start
from mdvec.sizes import MEGABYTE
from mdvec.text import identifier

_HEADER = b"SQLite format 3\0"
_HEADER_BYTES = 100
_DUCKDB = b"DUCK"
_DUCKDB_PLACE = slice(8, 12)
_SHARED_LOCK = 0x40000002, 510
"""The position and length of the range that SQLite's readers lock."""
_PAGE_SIZE = slice(16, 18)
"""The header's field with the size of a page; 1 means 65,536."""
_INCOMPLETE = "it is not a complete SQLite database; copy it again"
_IN_USE = "another program is writing to it; import again when it is done"
_NAME = "source.sqlite"
_VIEW_SECONDS = 60.0
_STEPS_BETWEEN_LOOKS = 10_000
_BY_PART = (
    ("BOOL", BOOLEAN), ("TIMESTAMP", "TIMESTAMP"), ("DATETIME", "TIMESTAMP"), ("DATE", "DATE"),
    ("INT", "BIGINT"), ("CHAR", "VARCHAR"), ("CLOB", "VARCHAR"), ("TEXT", "VARCHAR"),
    ("BLOB", "BLOB"), ("REAL", "DOUBLE"), ("FLOA", "DOUBLE"), ("DOUB", "DOUBLE"),
    ("DEC", "DOUBLE"), ("NUM", "DOUBLE"),
)  # fmt: skip
"""By part of a type declared in SQLite, which does not enforce it: the SQL type."""


@contextmanager
def open_sqlite_file(
    source: Path, copies: Path, root: Path, reading: ReadingOptions, on_rows: OnRows
) -> Iterator[OpenedFile]:
    """Open a SQLite file of a source for reading.

    Raises:
        NotATable: it is no SQLite file, or a database of mdvec.
        UnreadableFile: it is damaged, or another program is writing to it.
        SnapshotsUnwritable: the folder of copies cannot be written.
    """
    with opened_within(source, root) as descriptor, work_folder(copies) as folder:
        _check_header(read_start(descriptor, _HEADER_BYTES), os.fstat(descriptor).st_size)
        try:
            with closing(_connect(source, descriptor, root, folder)) as connection:
                yield _list_tables(connection, reading, on_rows)
        except apsw.Error as error:
            raise _unreadable(error) from error


def _check_header(header: bytes, size: int) -> None:
    """Check that a file is SQLite's and ends with a whole page: SQLite would pad a shorter one."""
    if header[_DUCKDB_PLACE] == _DUCKDB:
        raise NotATable("it is a DuckDB database; give its name the ending .duckdb")
    if not header.startswith(_HEADER):
        raise NotATable("it is not a SQLite database, or it is encrypted")
    if is_own_header(header):
        raise NotATable("it is a database of mdvec itself")
    page = int.from_bytes(header[_PAGE_SIZE])
    if size % (2**16 if page == 1 else max(page, 1)):
        raise UnreadableFile(_INCOMPLETE)


def _connect(source: Path, descriptor: int, root: Path, folder: Path) -> apsw.Connection:
    """A connection to the file, or to a copy of it with its log or journal."""
    _lock(descriptor)
    before = file_state(source)
    if logs := [log for log in logs_of(source) if file_state(log)[0]]:
        copy_with_logs(descriptor, source, root, folder / _NAME, logs)
        if file_state(source) != before:
            raise UnreadableFile(_IN_USE, may_pass=True)
        path, flags = folder / _NAME, apsw.SQLITE_OPEN_READWRITE
        connection = apsw.Connection(str(path), flags=flags)
    else:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(f"{source.as_uri()}?immutable=1", flags=flags)
        if not _is_same(source, descriptor):
            connection.close()
            raise UnreadableFile("another file took its place meanwhile", may_pass=True)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
    return connection


def _is_same(source: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(source.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _lock(descriptor: int) -> None:
    """Lock the file like a reader of SQLite, so that no writer changes it meanwhile."""
    start, length = _SHARED_LOCK
    try:
        lock_bytes(descriptor, start, length, shared=True)
    except (BlockingIOError, PermissionError) as error:
        raise UnreadableFile(_IN_USE, may_pass=True) from error
    except OSError:  # a file system without locks; a change still shows in the file's state
        return


def _list_tables(
    connection: apsw.Connection, reading: ReadingOptions, on_rows: OnRows
) -> OpenedFile:
    tables: list[TableInFile] = []
    left_out: list[tuple[str, str]] = []
    rows: list[tuple[str, str]] = connection.execute(  # type: ignore[assignment]
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main' "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND type <> 'shadow' ORDER BY name"
    ).fetchall()
    for name, type_ in rows:
        if type_ not in ("table", "view"):
            left_out.append((name, f"it is a {type_} table; only ordinary ones are copied"))
            continue
        copy = _copy_table if type_ == "table" else _copied_view
        tables.append(
            TableInFile(name, partial(copy, connection, name, reading.of_table(name), on_rows))
        )
        if type_ == "table":
            _, computed = _columns(connection, name)
            left_out += [(f"{name}.{column}", COMPUTED) for column in computed]
    return OpenedFile(tuple(tables), tuple(left_out))


def _copied_view(
    connection: apsw.Connection, name: str, reading: ReadingOptions, on_rows: OnRows, target: Path
) -> Understood:
    """Write the rows of a view to a Parquet file.

    Raises:
        NotATable: the view cannot be read, or takes too long.
    """
    deadline = time.monotonic() + _VIEW_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
    try:
        with unreadable_view():
            return _copy_table(connection, name, reading, on_rows, target)
    finally:
        connection.set_progress_handler(None)


def _copy_table(
    connection: apsw.Connection, name: str, reading: ReadingOptions, on_rows: OnRows, target: Path
) -> Understood:
    """Write the rows of a table to a Parquet file."""
    columns, _ = _columns(connection, name)
    declared = {
        column: next((type_ for part, type_ in _BY_PART if part in written.upper()), "VARCHAR")
        for column, written in columns.items()
    }
    rows = TypedRows(target, on_rows, reading, declared=declared)
    names = tuple(columns)
    shown = ", ".join(map(identifier, names))
    try:
        cursor = connection.execute(f"SELECT {shown} FROM {identifier(name)}")
        return Understood(columns=rows.write(cursor, lambda: names))
    except apsw.Error as error:
        raise _unreadable(error) from error
    except UnicodeDecodeError as error:
        raise UnreadableFile("one of its texts is not UTF-8") from error


def _columns(connection: apsw.Connection, table: str) -> tuple[dict[str, str], list[str]]:
    """The declared types of a table's columns, and the names of those that are computed.

    Raises:
        UnreadableFile: it is a view of something that does not exist.
    """
    try:
        rows: list[tuple[str, str, int]] = connection.execute(  # type: ignore[assignment]
            "SELECT name, type, hidden FROM pragma_table_xinfo(?)", (table,)
        ).fetchall()
    except apsw.Error as error:
        raise _unreadable(error) from error
    columns = {name: type_ for name, type_, hidden in rows if not hidden}
    return columns, [name for name, _, hidden in rows if hidden]


def _unreadable(error: apsw.Error) -> UnreadableFile:
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.IOError)):
        return UnreadableFile(_INCOMPLETE)
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return UnreadableFile(_IN_USE, may_pass=True)
    if isinstance(error, apsw.SQLError):
        return UnreadableFile(str(error))
    if isinstance(error, apsw.InterruptError):
        return UnreadableFile(f"reading it was stopped after {_VIEW_SECONDS:g} s", may_pass=True)
    if isinstance(error, apsw.TooBigError):
        return UnreadableFile(
            f"one of its values has more than {MAX_ROW_BYTES // MEGABYTE} MB; leave such values "
            "out of the file"
        )
    return UnreadableFile(f"it cannot be read as a SQLite database ({error})")
