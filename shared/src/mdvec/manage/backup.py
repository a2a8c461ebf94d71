"""Copies the whole database file with the settings, and restores both."""

from __future__ import annotations

import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

import apsw

from mdvec import household
from mdvec.database import (
    DatabaseError,
    DatabaseMissing,
    DatabaseUnusable,
    NoFile,
    OtherVersion,
    open_database,
    size_on_disk,
    snapshot,
    translate_errors,
)
from mdvec.errors import MdvecError, not_usable
from mdvec.manage.compacting import free_bytes_of, no_imports
from mdvec.platform import OwnFolder, followed
from mdvec.settings import SettingsError, load_settings
from mdvec.text import on_one_line
from mdvec.tools import registry

DATABASE, SETTINGS = "mdvec.sqlite", "config.toml"
"""The members of a backup."""
WORKING_FOLDER = ".mdvec-backup-"
"""The prefix of the names of folders in which backups are made and unpacked."""
_PAGES_A_STEP = 2_000

OnCopied = Callable[[int, int], None]
"""A callback that gets the number of bytes copied so far, and the total."""


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
        DatabaseError: the database is missing or damaged, or cannot be read; nothing was written.
    """
    _check_new(target)
    parent = target.absolute().parent
    if not parent.is_dir():
        raise BackupRefused(f"there is no folder {target.parent}; make it, or name another place")
    with open_database(database, "read") as connection, _working_folder(parent) as folder:
        tools = tuple(tool.name for tool in registry.list_tools(connection))
        copy, packed = folder / DATABASE, folder / "backup"
        # With a snapshot, writes by other processes do not restart the copying.
        with translate_errors(target), snapshot(connection):
            _copy(connection, copy, on_copied)
        with open_database(copy, "read") as copied, translate_errors(database):
            # ``restore`` would refuse a copy with this damage.
            if (damage := _damage(copied)) is not None:
                raise apsw.CorruptError(damage)
        with _writing(target):
            _pack(copy, settings, packed)
            size = packed.stat().st_size
            _check_new(target)
            packed.rename(target)
    return Backup(target.absolute(), size, tools, settings)


def _check_new(target: Path) -> None:
    if os.path.lexists(target):  # also a dangling link
        raise BackupRefused(f"{target} exists already; name a new file for the backup")


def restore(
    file: Path,
    database: Path,
    settings: Path,
    *,
    replaces: bool = False,
    how: str = "repeat the command with --yes",
    on_notice: Callable[[str], None] = lambda _: None,
    on_copied: OnCopied = lambda *_: None,
    free_bytes: Callable[[Path], int] = free_bytes_of,
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
    present, is_readable = _present_state(database)
    in_use = size_on_disk(database) if is_readable else None
    with _working_folder(database.absolute().parent) as folder:
        check_room = partial(_check_room, file, folder.parent, free_bytes, in_use)
        copy, copied_settings = _unpack(file, folder, check_room)
        tools = _tools_of(copy, file)
        _check_settings(copied_settings, file)
        if present and not replaces:
            raise BackupRefused(
                f"{database} {present}; to replace it, {how}: what it has "
                "now is kept in a file beside it"
            )
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        with open_database(copy, "write") as connection:
            # A running server caches a ledger's sums by this version.
            household.advance_versions(connection, int(time.time()))
        kept = database.with_name(f"{database.name}.replaced-{stamp}")
        replaced: list[Path] = []
        try:
            with no_imports(database, on_notice) if is_readable else nullcontext():
                if is_readable and present:
                    replaced += _kept_copy(database, folder, kept)
                if replaced or (is_readable and not present):
                    _write_into(database, copy, replaced, on_copied)
                else:  # the present database is unreadable
                    replaced += _moved_away(database, kept)
                    copy.rename(database)
            written = _restore_settings(copied_settings, settings, stamp, replaced)
        finally:
            for each in replaced:
                on_notice(f"kept what was there: {each}")
    return Restored(database, tools, written, tuple(replaced))


def _copy(connection: apsw.Connection, target: Path, on_copied: OnCopied) -> None:
    """Copy a database page by page into a new file, which only its owner can read."""
    _private(target).close()
    with closing(apsw.Connection(str(target))) as copy:
        _copy_pages(connection, copy, on_copied)


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


def _unpack(
    file: Path, folder: Path, check_room: Callable[[int], None]
) -> tuple[Path, Path | None]:
    """Extract the backup's database, and its settings if it has any."""
    try:
        if not S_ISREG(file.stat().st_mode):  # opening a pipe would wait for a writer
            raise BackupRefused(f"{file} is no backup of mdvec: it is no file")
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if DATABASE not in names:
                raise BackupRefused(f"{file} is no backup of mdvec: it holds no {DATABASE}")
            check_room(archive.getinfo(DATABASE).file_size)
            copy = _member(archive, DATABASE, folder)
            return copy, _member(archive, SETTINGS, folder) if SETTINGS in names else None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise BackupRefused(
            f"{file} is no backup of mdvec, or it is damaged ({error}); nothing was changed"
        ) from error
    except FileNotFoundError as error:
        raise BackupRefused(f"there is no file {file}; name one that mdvec backup wrote") from error
    except OSError as error:
        raise BackupRefused(
            f"{file} cannot be read, or copied into {folder.parent} ({error.strerror}); nothing "
            "was changed"
        ) from error


def _check_room(
    file: Path, folder: Path, free_bytes: Callable[[Path], int], in_use: int | None, size: int
) -> None:
    """Refuse to unpack a database of ``size`` bytes for which the disk has no room.

    Copying into a database ``in_use`` needs a log as large as the new content, and either the file
    grows or the copy of the old content is larger.
    """
    needed = size if in_use is None else 2 * size + size // 64 + 2**20 + max(size, in_use)
    if (free := free_bytes(folder)) < needed:
        raise BackupRefused(
            f"restoring {file} needs up to {needed:,} bytes, but the disk of {folder} has "
            f"{free:,} free; nothing was changed"
        )


def _member(archive: zipfile.ZipFile, name: str, folder: Path) -> Path:
    copy = folder / name
    with archive.open(name) as packed, _private(copy) as unpacked:
        shutil.copyfileobj(packed, unpacked, 2**20)
    return copy


def _damage(connection: apsw.Connection) -> str | None:
    result = on_one_line(str(connection.execute("PRAGMA quick_check(1)").get))
    return None if result == "ok" else result


def _tools_of(copy: Path, file: Path) -> tuple[str, ...]:
    """The names of a copy's tools, after a check of all its pages."""
    try:
        with open_database(copy, "read") as connection:
            if _damage(connection) is None:
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
    """Why a database should not be replaced ("" if nothing is lost), and whether it can be read."""
    try:
        with open_database(database, "read") as connection:
            tools = registry.list_tools(connection)
    except DatabaseMissing:
        return "", False
    except NoFile:  # for example a folder of the user
        raise
    except DatabaseUnusable as error:
        return f"cannot be read ({error})", False
    names = ", ".join(tool.name for tool in tools)
    return (f"has tools already ({names})" if tools else ""), True


def _kept_copy(database: Path, folder: Path, kept: Path) -> Iterator[Path]:
    """Copy the database to ``kept``, a path next to it, and yield that; skip unreadable databases.

    The copy is written in ``folder`` and then moved, so that an incomplete copy, left by a killed
    process, is never taken for a database.
    """
    with suppress(DatabaseUnusable):
        with open_database(database, "read") as connection, translate_errors(kept):
            _copy(connection, folder / kept.name, lambda *_: None)
        yield (folder / kept.name).rename(kept)


def _moved_away(database: Path, kept: Path) -> Iterator[Path]:
    """Move a database with its logs, which would otherwise be applied to the next database."""
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            yield Path(f"{database}{ending}").replace(f"{kept}{ending}")


def _write_into(database: Path, copy: Path, replaced: list[Path], on_copied: OnCopied) -> None:
    """Copy ``copy`` into a database that others may be reading.

    On an error the database is unchanged, so the copies of it in ``replaced`` are deleted.
    """
    try:
        with open_database(copy, "read") as source, open_database(database, "create") as target:
            _copy_pages(source, target, on_copied)
    except DatabaseError:  # nothing was written; Ctrl-C may come after the last page
        while replaced:
            replaced.pop().unlink()
        raise


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
    copied: Path | None, settings: Path, stamp: str, replaced: list[Path]
) -> Path | None:
    """Write the backup's settings, and add the copy of the old ones to ``replaced``."""
    if copied is None:
        return None
    settings = followed(settings)
    text = copied.read_bytes()
    if settings.exists() and settings.read_bytes() == text:
        return None
    with _writing(settings):
        settings.parent.mkdir(parents=True, exist_ok=True)
        if settings.exists():
            old = settings.with_name(f"{settings.name}.replaced-{stamp}")
            shutil.copy2(settings, old)
            replaced.append(old)
        part = settings.with_name(f".{settings.name}.part")
        with _private(part) as file:
            file.write(text)
        part.replace(settings)
    return settings


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
    except OSError as error:
        raise BackupRefused(not_usable(path, error)) from error


def _private(path: Path) -> BinaryIO:
    """A new file, open for writing, that only its owner can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
