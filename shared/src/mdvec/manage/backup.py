"""Copies, restores and compacts the whole database file.

Compacting removes unused space and erases deleted data.
"""

from __future__ import annotations

import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import apsw

from mdvec import household
from mdvec.database import (
    BUSY_TIMEOUT_MS,
    DatabaseError,
    DatabaseMissing,
    DatabaseUnusable,
    OtherVersion,
    checkpoint_wal,
    is_writable,
    open_database,
    size_on_disk,
    snapshot,
    temporary_folder,
    translate_errors,
)
from mdvec.datasets import remove_unneeded_copies
from mdvec.errors import MdvecError
from mdvec.index import has_word_indexes, rewrite_lexical_index, table_changes
from mdvec.platform import OwnFolder
from mdvec.settings import SettingsError, load_settings
from mdvec.tools import Tool, only_import_of, registry

_STEPS_BETWEEN_SIGNALS = 10_000


class NoRoom(DatabaseError):
    """There is too little free disk space to rewrite the file."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of compacting; sizes are in bytes and include the write-ahead log.

    ``is_complete`` is False if a running search still used the old data; the file then shrinks
    and loses its deleted data at the first write after that search.
    """

    database: Path
    size_before: int
    size_after: int
    bytes_given_back: int
    is_complete: bool


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def compact(
    database: Path,
    *,
    on_notice: Callable[[str], None] = lambda _: None,
    free_bytes: Callable[[Path], int] = _free_bytes,
    patience_ms: int = BUSY_TIMEOUT_MS,
) -> Compacted:
    """Rewrite the whole file without deleted data, and truncate its log.

    Searches continue and imports wait. If it is interrupted or killed, no data is lost.
    ``patience_ms`` limits the wait for searches that still use the old data.

    Raises:
        NoRoom: there is too little free space; nothing was changed.
        DatabaseError: the file is missing, or cannot be read or written.
    """
    with open_database(database, "read"):
        pass
    if not is_writable(database):
        raise DatabaseUnusable(
            f"{database} cannot be compacted: the file or its folder is not writable; "
            "change its permissions, or name another database with --database"
        )
    with no_imports(database, on_notice):
        _check_room(database, free_bytes)
        before = size_on_disk(database)
        with open_database(database, "write") as connection:
            # The handler lets Python notice Ctrl-C while a statement runs.
            connection.set_progress_handler(lambda: False, _STEPS_BETWEEN_SIGNALS)
            for tool in registry.list_tools(connection):
                _tidy(connection, tool)
            checkpoint_wal(connection)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.execute("VACUUM")
            is_complete = checkpoint_wal(connection, patience_ms)
        after = size_on_disk(database)
    return Compacted(database, before, after, max(0, before - after), is_complete)


def _tidy(connection: apsw.Connection, tool: Tool) -> None:
    """Drop a tool's leftovers of unfinished imports, and rewrite its lexical index."""
    with connection:
        table_changes.drop_leftovers(connection, tool.id, tool.name, current=tool.generation)
        if has_word_indexes(connection, tool.tables):
            rewrite_lexical_index(connection, tool.tables)
    remove_unneeded_copies(connection, tool.id)


@contextmanager
def no_imports(database: Path, on_notice: Callable[[str], None]) -> Iterator[None]:
    """Hold the import locks of all tools, including tools added while it waits.

    Locks are taken in the order of the tools' ids, so that two processes cannot deadlock.
    """
    held: set[int] = set()
    with ExitStack() as locks:
        while others := [tool for tool in _tools(database) if tool.id not in held]:
            for tool in others:
                locks.enter_context(only_import_of(database, tool, on_notice))
                held.add(tool.id)
        yield


def _tools(database: Path) -> list[Tool]:
    with open_database(database, "read") as connection:
        return sorted(registry.list_tools(connection), key=lambda tool: tool.id)


def _check_room(database: Path, free_bytes: Callable[[Path], int]) -> None:
    """Refuse to begin if the disk is too full.

    SQLite writes the new file into its temporary folder, then into the log beside the old file:
    each can be as large as the file, and the log slightly larger.
    """
    with open_database(database, "read") as connection:
        folders = [temporary_folder(connection), database.absolute().parent]
    copy = size_on_disk(database)
    copy += copy // 64 + 2**20
    is_one_disk = len({folder.stat().st_dev for folder in folders}) == 1
    needed = 2 * copy if is_one_disk else copy
    for folder in folders:
        if (free := free_bytes(folder)) < needed:
            raise NoRoom(
                f"compacting {database} temporarily needs up to {needed:,} bytes, but the disk of "
                f"{folder} has {free:,} free; free some space, or set SQLITE_TMPDIR to a folder on "
                "another disk; nothing was changed"
            )


DATABASE, SETTINGS = "mdvec.sqlite", "config.toml"
"""The members of a backup."""
WORKING_FOLDER = ".mdvec-backup-"
"""How the names of the folders begin in which backups are made and unpacked."""
_PAGES_A_STEP = 2_000

OnCopied = Callable[[int, int], None]
"""Takes the number of bytes copied, and the total."""


class BackupRefused(MdvecError):
    """Nothing was written; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A new backup, and the tools and the settings file in it."""

    file: Path
    size: int
    tools: tuple[str, ...]
    settings: Path | None


@dataclass(frozen=True, slots=True)
class Restored:
    """What a backup replaced; ``replaced`` are copies of the files that were there before.

    ``settings`` is the settings file written; None if the backup has none, or an equal one.
    """

    database: Path
    tools: tuple[str, ...]
    settings: Path | None
    replaced: tuple[Path, ...]


def back_up(
    database: Path, settings: Path | None, target: Path, on_copied: OnCopied = lambda *_: None
) -> Backup:
    """Write the database and the settings file into one new file; others may read and write.

    Raises:
        BackupRefused: the target exists already or cannot be written; nothing was written.
        DatabaseError: the database is missing, or cannot be read.
    """
    if target.exists():
        raise BackupRefused(f"{target} exists already; name a new file for the backup")
    if not target.absolute().parent.is_dir():
        raise BackupRefused(f"there is no folder {target.parent}; make it, or name another place")
    with (
        open_database(database, "read") as connection,
        _working_folder(target.absolute().parent) as folder,
    ):
        tools = tuple(tool.name for tool in registry.list_tools(connection))
        copy, packed = folder / DATABASE, folder / "backup"
        with (
            translate_errors(target),
            snapshot(connection),
        ):  # with a snapshot, writes of others do not restart the copying
            _copy(connection, copy, on_copied)
        with _writing(target):
            _pack(copy, settings, packed)
            size = packed.stat().st_size
            if target.exists():
                raise FileExistsError
            packed.rename(target)
    return Backup(target.absolute(), size, tools, settings)


def restore(
    file: Path,
    database: Path,
    settings: Path,
    *,
    replaces: bool = False,
    how: str = "repeat the command with --yes",
    on_notice: Callable[[str], None] = lambda _: None,
    on_copied: OnCopied = lambda *_: None,
) -> Restored:
    """Replace the contents of the database and the settings file with those of a backup.

    Their old contents are kept in files next to them. Waits for imports; searches see the old
    content until the new one is complete.

    Both files may be missing. ``replaces`` allows replacing a database that has tools or cannot
    be read, and ``how`` says how to allow it; ``on_notice`` gets sentences for the user.

    Raises:
        BackupRefused: the file is no backup, or the database has tools and may not be replaced;
            nothing was changed.
        DatabaseError: the backup's database is damaged or of a newer version; nothing was changed.
    """
    with _working_folder(database.absolute().parent) as folder:
        copy, copied_settings = _unpack(file, folder)
        tools = _tools_of(copy, file)
        _check_settings(copied_settings, file)
        present, is_readable = _present_state(database)
        if present and not replaces:
            raise BackupRefused(
                f"{database} {present}; to replace it, {how}: what it has "
                "now is kept in a file beside it"
            )
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        with no_imports(database, on_notice) if is_readable else nullcontext():
            replaced = _keep_present(database, folder, stamp) if present else []
            _write_into(database, copy, on_copied)
        written, old = _restore_settings(copied_settings, settings, stamp)
    return Restored(database, tools, written, (*replaced, *old))


def _copy(connection: apsw.Connection, target: Path, on_copied: OnCopied) -> None:
    """Copy a database page by page into a new file, which only its owner can read."""
    _private(target).close()
    copy = apsw.Connection(str(target))
    try:
        _copy_pages(connection, copy, on_copied)
    finally:
        copy.close()


def _copy_pages(source: apsw.Connection, target: apsw.Connection, on_copied: OnCopied) -> None:
    page_size = int(source.execute("PRAGMA page_size").get)
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(_PAGES_A_STEP)
            total = backup.page_count
            on_copied((total - backup.remaining) * page_size, total * page_size)


def _pack(copy: Path, settings: Path | None, target: Path) -> None:
    # Level 1: vectors hardly compress at any level.
    with (
        _private(target) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.write(copy, DATABASE)
        if settings is not None:
            archive.write(settings, SETTINGS)


def _unpack(file: Path, folder: Path) -> tuple[Path, Path | None]:
    """Extract the backup's database, and its settings if it has any."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if DATABASE not in names:
                raise BackupRefused(f"{file} is no backup of mdvec: it holds no {DATABASE}")
            _check_room_for(archive, file, folder)
            copy = _member(archive, DATABASE, folder)
            return copy, _member(archive, SETTINGS, folder) if SETTINGS in names else None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise BackupRefused(
            f"{file} is no backup of mdvec, or it is damaged ({error}); nothing was changed"
        ) from error
    except FileNotFoundError as error:
        raise BackupRefused(f"there is no file {file}") from error
    except OSError as error:
        raise BackupRefused(
            f"{file} cannot be read, or copied into {folder.parent} ({error.strerror}); nothing "
            "was changed"
        ) from error


def _check_room_for(archive: zipfile.ZipFile, file: Path, folder: Path) -> None:
    needed = 2 * archive.getinfo(DATABASE).file_size  # the copy and the database itself
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise BackupRefused(
            f"restoring {file} needs up to {needed:,} bytes, but the disk of {folder.parent} has "
            f"{free:,} free; nothing was changed"
        )


def _member(archive: zipfile.ZipFile, name: str, folder: Path) -> Path:
    copy = folder / name
    with archive.open(name) as packed, _private(copy) as unpacked:
        shutil.copyfileobj(packed, unpacked, 2**20)
    return copy


def _tools_of(copy: Path, file: Path) -> tuple[str, ...]:
    """The names of a copy's tools, after a check of all its pages."""
    try:
        with open_database(copy, "read") as connection:
            if connection.execute("PRAGMA quick_check(1)").get == "ok":
                return tuple(tool.name for tool in registry.list_tools(connection))
    except OtherVersion as error:
        raise BackupRefused(
            f"the database in {file} was made by {error.made}; take another backup, or the mdvec "
            "that made it; nothing was changed"
        ) from error
    except DatabaseUnusable:  # its message is about the database in use
        pass
    except DatabaseError as error:
        raise BackupRefused(
            f"the database in {file} cannot be used ({error}); nothing was changed"
        ) from error
    raise BackupRefused(
        f"the database in {file} is damaged, or not mdvec's; take another backup; nothing was "
        "changed"
    )


def _present_state(database: Path) -> tuple[str, bool]:
    """Why a database should not be replaced, "" if nothing is lost, and whether it can be read."""
    try:
        with open_database(database, "read") as connection:
            tools = registry.list_tools(connection)
    except DatabaseMissing:
        return "", False
    except DatabaseUnusable as error:
        return f"cannot be read ({error})", False
    names = ", ".join(tool.name for tool in tools)
    return (f"has tools already ({names})" if tools else ""), True


def _keep_present(database: Path, folder: Path, stamp: str) -> list[Path]:
    """Copy the database into a file next to it, by way of ``folder``; move an unreadable one.

    A copy that is killed is thus never taken for a database.
    """
    present = database.with_name(f"{database.name}.replaced-{stamp}")
    try:
        with open_database(database, "read") as connection, translate_errors(present):
            _copy(connection, folder / present.name, lambda *_: None)
        (folder / present.name).rename(present)
    except DatabaseUnusable:
        moved = []
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{database}{ending}").replace(f"{present}{ending}")
                moved.append(Path(f"{present}{ending}"))
        return moved
    return [present]


def _write_into(database: Path, copy: Path, on_copied: OnCopied) -> None:
    with open_database(copy, "write") as source:
        # A running server caches sums by a ledger's version, so the version must be new.
        household.advance_versions(source, int(time.time()))
        with open_database(database, "create") as target:
            _copy_pages(source, target, on_copied)


def _check_settings(copied: Path | None, file: Path) -> None:
    """Refuse settings that this version does not know, such as those of a newer version."""
    try:
        if copied is not None:
            load_settings({}, config=copied)
    except SettingsError as error:
        in_backup = str(error).replace(str(copied), SETTINGS)
        raise BackupRefused(
            f"the settings in {file} cannot be used ({in_backup}); nothing was changed"
        ) from error


def _restore_settings(
    copied: Path | None, settings: Path, stamp: str
) -> tuple[Path | None, list[Path]]:
    """Write the backup's settings; return the file, and the copy of the old one."""
    if copied is None:
        return None, []
    text = copied.read_bytes()
    if settings.exists() and settings.read_bytes() == text:
        return None, []
    with _writing(settings):
        settings.parent.mkdir(parents=True, exist_ok=True)
        old = []
        if settings.exists():
            old = [settings.with_name(f"{settings.name}.replaced-{stamp}")]
            shutil.copy2(settings, old[0])
        part = settings.with_name(f".{settings.name}.part")
        with _private(part) as file:
            file.write(text)
        part.replace(settings)
    return settings, old


@contextmanager
def _working_folder(parent: Path) -> Iterator[Path]:
    """A private temporary folder next to a file that is about to be written."""
    with _writing(parent):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = OwnFolder(parent, WORKING_FOLDER)
    with closing(folder):
        yield folder.path


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise BackupRefused(f"{path} exists already; name a new file for the backup") from error
    except OSError as error:
        raise BackupRefused(
            f"{path} cannot be written ({error.strerror}); name a place that can be written"
        ) from error


def _private(path: Path) -> BinaryIO:
    """A new file, open for writing, that only its owner can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
