"""Opens the SQLite file, and turns its errors into messages that a user can act on.

The driver is apsw: the sqlite3 module of many Pythons cannot load extensions, and sqlite-vec
is one.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import apsw

from mdvec.database import migrations
from mdvec.database.file import FileStamp, network_trouble, read_only_index, stamp_of
from mdvec.errors import MdvecError
from mdvec.installation import this_installation

Connection = apsw.Connection
OpenMode = Literal["read", "write", "create"]
BUSY_TIMEOUT_MS = 30_000
_CHECKPOINT_TIMEOUT_MS = 1_000
_MAX_KEPT = 2
Record = TypeVar("Record")


class DatabaseError(MdvecError):
    """Reading or writing the database file failed."""


class DatabaseFull(DatabaseError):
    """The file could not grow; ``how`` tells what to do."""

    def __init__(self, what: str, how: str = "make room, then repeat the command") -> None:
        self.what = what
        super().__init__(f"{what}; {how}")


class DatabaseMissing(DatabaseError):
    """The database file does not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"there is no database at {path}; begin with: "
            'mdvec tool add -n NAME -d "what it contains" -s FOLDER'
        )


class DatabaseEmptied(DatabaseError):
    """The file exists but no longer holds any tools."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"the database at {path} holds no tools")


class DatabaseUnusable(DatabaseError):
    """The file exists but is not an mdvec database that this version can use."""


class NoFile(DatabaseUnusable):
    """The path is, or can only be, something other than a file; nothing may replace it."""


class OtherVersion(DatabaseUnusable):
    """The file has the format of another version; ``made`` says of which."""

    def __init__(self, path: Path, made: str, remedy: str) -> None:
        self.made = made
        super().__init__(f"{path} was made by {made}; {remedy}")


@contextmanager
def open_database(path: Path, mode: OpenMode) -> Iterator[apsw.Connection]:
    """Open the file for the duration of the block.

    Every mode migrates a file of an older format to the latest; ``read`` changes nothing else and
    creates nothing. ``write`` requires the file to exist. ``create`` also creates the file and its
    folder if they are missing.

    Raises:
        DatabaseMissing: the file does not exist (``read`` and ``write``).
        DatabaseUnusable: it is not an mdvec database, is of a format that this version does not
            know, or is not writable.
        DatabaseError: the disk is full, or another program keeps the file locked.
    """
    _check_path(path, mode)
    with translate_errors(path):
        connection = _connect_migrated(path) if mode == "read" else _connect_write(path, mode)
        try:
            yield connection
        finally:
            if mode != "read":
                checkpoint_wal(connection)
            # Closing checkpoints the log too; if that fails on a full disk, nothing is lost.
            with suppress(apsw.Error):
                connection.close()


class KeptReader:
    """Lends connections for reading a file and reuses them, as opening takes a tenth of a search.

    A connection is kept only while the write-ahead log is empty, so that none sees deleted data,
    and is reused only if no process has written to the file since.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._kept: list[tuple[FileStamp, apsw.Connection]] = []
        self._most = _MAX_KEPT

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        """A connection for the duration of the block; it raises as ``open_database`` does."""
        _check_path(self._path, "read")
        with translate_errors(self._path):
            before = stamp_of(self._path)
            connection = self._reusable(before) or _connect_migrated(self._path)
            is_kept = False
            try:
                yield connection
                is_kept = self._keeps(connection, before)
            finally:
                if not is_kept:
                    if (now := stamp_of(self._path)) is None or now.sizes[1]:
                        self._reusable(None)  # the last one to close copies and empties the log
                    with suppress(apsw.Error):
                        connection.close()

    def close(self) -> None:
        """Close the kept connections, and keep no more."""
        with self._lock:
            kept, self._kept, self._most = self._kept, [], 0
        for _, connection in kept:
            with suppress(apsw.Error):
                connection.close()

    def _reusable(self, now: FileStamp | None) -> apsw.Connection | None:
        """A kept connection to the file in its present state; other kept connections are closed."""
        while True:
            with self._lock:
                if not self._kept:
                    return None
                stamp, connection = self._kept.pop()
            if stamp == now:
                return connection
            # The path may name another file by now; closing must not touch that file's log.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()

    def _keeps(self, connection: apsw.Connection, before: FileStamp | None) -> bool:
        now = stamp_of(self._path)
        is_same = before is not None and now is not None and before.inode == now.inode
        if now is None or not is_same or now.sizes[1] or connection.readonly("main"):
            return False
        with self._lock:
            if len(self._kept) >= self._most:
                return False
            self._kept.append((now, connection))
        return True


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as ``DatabaseError`` about ``path``.

    After Ctrl-C during a statement, SQLite has already rolled back, so the second rollback fails;
    re-raise the KeyboardInterrupt.
    """
    try:
        yield
    except apsw.Error as error:
        first = _first_error(error)
        if isinstance(first.__context__, KeyboardInterrupt):
            raise first.__context__ from None
        raise _user_error(first, path) from error


def _first_error(error: apsw.Error) -> apsw.Error:
    """The first error of a chain, which is the cause.

    On a full disk SQLite has already rolled back, so the second rollback fails too.
    """
    while isinstance(error.__context__, apsw.Error):
        error = error.__context__
    return error


def _not_a_database(path: Path) -> DatabaseUnusable:
    return DatabaseUnusable(
        f"{path} is not a database; name another file with --database, or move this one away"
    )


def _user_error(error: apsw.Error, path: Path) -> DatabaseError:
    match error:
        case apsw.NotADBError():
            return _not_a_database(path)
        case apsw.CorruptError():
            return DatabaseUnusable(
                f"the database {path} is damaged ({error}); "
                "put back a backup with: mdvec restore FILE; without one, move the file away and "
                "import again, which loses decisions, budgets, rules, notes and saved questions"
            )
        case apsw.FullError():
            return DatabaseFull(f"the disk is full: {path} could not grow")
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            is_written = isinstance(error, apsw.ReadOnlyError)
            if (index := read_only_index(path)) is not None:
                return DatabaseUnusable(
                    f"{index} is read-only, so {path} cannot be written; another user or a copy "
                    "left it: remove it with mdvec doctor --fix"
                )
            return DatabaseUnusable(
                f"{path} cannot be {'written' if is_written else 'opened'}; check that the file and"
                " its folder can be read and written, or name another with --database"
            )
        case apsw.IOError() if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_WRITE:
            return DatabaseFull(
                f"{path} could not be written to its end: the disk has no room for it, or a limit "
                "on the size of files (ulimit -f) is reached"
            )
        case apsw.IOError():
            return DatabaseError(
                f"reading or writing {path} failed ({error}); check the disk and its free space, "
                "then repeat the command"
            )
        case apsw.BusyError() | apsw.LockedError():
            return DatabaseError(
                f"another program has kept {path} locked for {BUSY_TIMEOUT_MS // 1000} seconds; "
                "try again when it is done"
            )
    # sqlite-vec has one vague error for a full disk and for a damaged index.
    return DatabaseError(
        f"reading or writing {path} failed ({error}); check the disk and its free space, then "
        "repeat the command; if it fails again, put back a backup with: mdvec restore FILE"
    )


def checkpoint_wal(connection: apsw.Connection, timeout_ms: int = _CHECKPOINT_TIMEOUT_MS) -> bool:
    """Copy the write-ahead log into the file and truncate it: it may contain deleted data.

    Returns whether that was possible. If a search blocks it for longer than the timeout, it
    happens when the last connection closes.
    """
    with suppress(apsw.Error):
        connection.set_busy_timeout(timeout_ms)
        row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return row is not None and row[0] == 0
    return False


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Read one state of the file throughout, even if others write meanwhile."""
    connection.execute("BEGIN DEFERRED")
    try:
        yield
    finally:
        with suppress(apsw.ConnectionClosedError):  # only after Ctrl-C, which has rolled back
            if connection.in_transaction:
                connection.execute("COMMIT")


def roll_back(connection: apsw.Connection) -> None:
    """Roll back a transaction that Ctrl-C left open, before anything else is written.

    Ctrl-C between ``BEGIN`` and ``try`` leaves a snapshot open, and a write in it would be lost.
    """
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _check_path(path: Path, mode: OpenMode) -> None:
    """Refuse a path that is not a file, for which SQLite's message would be vague."""
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise NoFile(
            f"{path} cannot be a database ({error.strerror}); name another file with --database"
        ) from error
    if is_folder:
        raise NoFile(f"{path} is a folder, not a database; name a file with --database")
    if is_there and not path.is_file():
        raise NoFile(f"{path} is not a regular file; name another with --database")
    # SQLite treats a file of one byte as empty and would overwrite it.
    if is_there and path.stat().st_size == 1:
        raise _not_a_database(path)
    if mode != "create" and not is_there:
        raise DatabaseMissing(path)


def _connect_write(path: Path, mode: OpenMode) -> apsw.Connection:
    if trouble := network_trouble(path):
        raise DatabaseUnusable(trouble)
    if mode == "create":
        _make_folder(path.parent)
        _make_private(path)
    flags = apsw.SQLITE_OPEN_READWRITE
    if mode == "create":
        flags |= apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags)
    try:
        _prepare(connection)
        # Deleted data is overwritten with zeros, so that a copy of the file does not reveal it.
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        _check_version(connection, path)
        # Only a write shows whether the file is writable: root can open anything.
        connection.execute("PRAGMA journal_mode = WAL")
        migrations.migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_migrated(path: Path) -> apsw.Connection:
    """Open for reading, after a migration if the file is of an older format."""
    connection = _connect_read(path)
    number = migrations.format_of(connection)
    if number in (0, migrations.LATEST):
        return connection
    connection.close()
    try:
        _connect_write(path, "write").close()
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise DatabaseUnusable(
            f"{path} has format {number} and must be brought to {migrations.LATEST}, but cannot be "
            "written; make the file and its folder writable, or copy it to where they are"
        ) from error
    return _connect_read(path)


def _connect_read(path: Path) -> apsw.Connection:
    """Open for reading, with write access where possible so that the log can be checkpointed."""
    ways: list[tuple[str, int]] = [
        (str(path), apsw.SQLITE_OPEN_READWRITE),
        (str(path), apsw.SQLITE_OPEN_READONLY),
    ]
    if not Path(f"{path}-wal").exists():
        # In a read-only folder no log can be created, by this process or by others.
        address = f"file:{quote(str(path.absolute()))}?immutable=1"
        ways.append((address, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI))
    for way, flags in ways[:-1]:
        with suppress(apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):
            return _reader(way, flags, path)
    return _reader(*ways[-1], path)


def _reader(address: str, flags: int, path: Path) -> apsw.Connection:
    connection = apsw.Connection(address, flags=flags)
    try:
        _prepare(connection)
        connection.execute("PRAGMA query_only = ON")
        _check_version(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # If two deferred transactions both upgrade from read to write, one fails at once.
    connection.transaction_mode = "IMMEDIATE"
    connection.execute("PRAGMA foreign_keys = ON").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL").fetchall()
    connection.enable_load_extension(True)  # noqa: FBT003
    connection.load_extension(_vector_extension())
    connection.enable_load_extension(False)  # noqa: FBT003


@cache
def _vector_extension() -> str:
    """The path of sqlite-vec's library; importing the package would import numpy."""
    package = importlib.util.find_spec("sqlite_vec")
    if package is None or package.origin is None:
        raise DatabaseError(
            f"sqlite-vec is missing; install it with: {this_installation().repairing('sqlite-vec')}"
        )
    return str(Path(package.origin).parent / "vec0")


def vector_extension_version() -> str:
    """The version of sqlite-vec; loads it.

    Raises:
        DatabaseError: it is missing, or cannot be loaded.
    """
    connection = apsw.Connection(":memory:")
    try:
        _prepare(connection)
        (version,) = connection.execute("SELECT vec_version()").fetchone() or ("",)
    except apsw.Error as error:
        raise DatabaseError(
            f"sqlite-vec cannot be loaded ({error}); install it again with: "
            f"{this_installation().repairing('sqlite-vec')}"
        ) from error
    finally:
        connection.close()
    return str(version)


def _check_version(connection: apsw.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone() or (0,)
    number = migrations.format_of(connection)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() or (0,)
    if application != migrations.APPLICATION_ID and (application or tables):
        raise DatabaseUnusable(
            f"{path} is a database of another program; name another file with --database"
        )
    if number > migrations.LATEST:
        made = f"a newer mdvec (format {number}, this one knows up to {migrations.LATEST})"
        raise OtherVersion(path, made, "update mdvec to use it")
    if 0 < number < migrations.OLDEST:
        raise OtherVersion(
            path,
            f"an mdvec from before the first release (format {number}, this one reads "
            f"{migrations.OLDEST} and later)",
            "keep it if it has decisions, notes or budgets that you need to look up, name another "
            "file with --database, and import your folders again",
        )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnusable(
            f"cannot create the folder {folder} for the database ({error.strerror}); "
            "name another place with --database"
        ) from error


def _make_private(path: Path) -> None:
    """Create a file that only its owner can read; SQLite gives its log the same mode.

    An existing file keeps its mode.
    """
    with suppress(OSError):  # opening the file reports whatever is wrong
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def has_table(connection: apsw.Connection, name: str) -> bool:
    """Whether there is a table of that name, or an index."""
    cursor = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,))
    return cursor.fetchone() is not None


def column(connection: apsw.Connection, statement: str, values: Sequence[Any] = ()) -> list[Any]:
    """The values of a statement's only column."""
    return [value for (value,) in connection.execute(statement, values)]


def records(cursor: apsw.Cursor, record: Callable[..., Record]) -> Iterator[Record]:
    """Each row as a ``record``, whose fields are named like the statement's columns."""
    fields = list(getattr(record, "__dataclass_fields__", ()))
    names: list[str] = []
    for row in cursor:
        names = names or [str(column[0]) for column in cursor.get_description()]
        yield record(*row) if names == fields else record(**dict(zip(names, row, strict=True)))
