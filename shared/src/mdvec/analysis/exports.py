"""The folder of exports: private files under unguessable handles, deleted when they expire."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from mdvec.analysis.errors import (
    ExportExceedsTotal,
    ExportFolderUnusable,
    ExportMissing,
    NotAHandle,
)
from mdvec.platform import followed, is_anothers, is_shut, open_folder, shut_folder
from mdvec.sizes import MEGABYTE

PRIVATE_FILE_MODE = 0o600
_PRIVATE_FOLDER_MODE = 0o700
ExportFormat = Literal["parquet", "csv"]
Handles = list[str]
_HANDLE = re.compile(r"export_[0-9]{8}T[0-9]{6}Z_[0-9a-f]{32}\.(parquet|csv)")
_TYPES = ".types"
"""Suffix of the file next to a CSV export that holds its columns' types."""
_MADE_FROM = ".from"
"""Suffix of the file next to an export with the states of the tables from which it was made."""
_BESIDE = (_TYPES, _MADE_FROM)
_DATABASE = ""
"""The key of the database's path in that file; no table has this name."""
_SPOOL = re.compile(r"spool_[0-9a-f]+")
"""Folders in which query processes write unfinished exports, on the same file system."""


def _make_private(folder: Path) -> bool:
    """Make the folder private to this user; False if it does not exist.

    Raises:
        ExportFolderUnusable: it belongs to another user, is not a folder, or others can read it and
            it holds files of other programs.
    """
    try:
        descriptor = open_folder(folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ExportFolderUnusable(
            "the exports folder is a link, a file or not readable; name a folder of its own "
            "in [analytics] folder"
        ) from error
    if descriptor is not None:
        try:
            _close_to_others(descriptor)
        finally:
            os.close(descriptor)
    return True


def _close_to_others(descriptor: int) -> None:
    status = os.fstat(descriptor)
    if is_anothers(status):
        raise ExportFolderUnusable(
            "the exports folder belongs to another user; name one of your own in [analytics] folder"
        )
    if is_shut(status):
        return
    if not all(map(_is_ours, os.listdir(descriptor))):
        raise ExportFolderUnusable(
            "the exports folder can be read by others and holds other files too; name a "
            "folder of its own in [analytics] folder"
        )
    shut_folder(descriptor)


@dataclass(frozen=True, slots=True)
class Export:
    """An existing export; its handle contains the time of its creation.

    ``size`` is in bytes, ``expires`` in seconds since 1970; ``dropped`` are the handles of older
    exports that were deleted to make room for this one.
    """

    handle: str
    size: int
    expires: float
    dropped: tuple[str, ...] = ()

    @property
    def made(self) -> str:
        """When it was created, in UTC; these texts compare as their times do."""
        return self.handle.split("_")[1]

    @property
    def expires_at(self) -> str:
        """When it expires, as ISO 8601 in UTC."""
        return f"{datetime.fromtimestamp(self.expires, UTC):%Y-%m-%dT%H:%M:%SZ}"

    @property
    def size_mb(self) -> float:
        """Its size in megabytes of 2**20 bytes, as in the settings, to four decimals."""
        return round(self.size / MEGABYTE, 4)


class ExportFolder:
    """Exports by handle, in a folder private to this user.

    A file's modification time is the time when it expires, so exports survive a restart, and
    servers with different settings can share the folder. A file may disappear at any time.

    Args:
        folder: created at the first export, with mode 0700.
        ttl_seconds: after how many seconds a new export expires.
        max_total_bytes: the limit for all exports together; the oldest are deleted first.
        database: only its exports can be listed and read; None stands for all databases.
        clock: returns the seconds since 1970.
    """

    def __init__(
        self,
        folder: Path,
        ttl_seconds: int,
        max_total_bytes: int,
        database: Path | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = folder
        self._ttl = ttl_seconds
        self._limit = max_total_bytes
        self._database = str(followed(database)) if database else ""
        self._clock = clock

    def place(
        self,
        finished: Path,
        *,
        types: Mapping[str, str] | None = None,
        made_from: Mapping[str, str] | None = None,
        fmt: ExportFormat = "parquet",
        ttl_seconds: float | None = None,
    ) -> Export:
        """Move a finished file into the folder under a new handle; on an error, remove the file.

        The file must be on the same file system. ``ttl_seconds`` overrides that of the folder. The
        ``types`` of a CSV file's columns, and ``made_from``, the states of the tables from which
        the file was made, are stored in files next to it.

        Raises:
            ExportExceedsTotal: the file alone is over the limit.
            ExportFolderUnusable: the folder is not private to this user, or cannot be written.
        """
        try:
            with suppress(FileExistsError):  # anything but a folder is refused below
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                self.folder.mkdir(mode=_PRIVATE_FOLDER_MODE, exist_ok=True)
            _make_private(self.folder)
            size = finished.lstat().st_size
            if size > self._limit:
                raise ExportExceedsTotal(
                    f"the result has {size:,} bytes as {fmt}, and all exports together may have "
                    f"{self._limit:,}; select fewer columns or rows, aggregate, or raise "
                    "[analytics] max_total_mb"
                )
            self.sweep()
            dropped = self._make_room(size)
            now = self._clock()
            handle = _new_handle(now, fmt)
            finished.chmod(PRIVATE_FILE_MODE)
            expires = now + (self._ttl if ttl_seconds is None else ttl_seconds)
            os.utime(finished, (expires, expires))
            # Written first, so that no export exists without these files.
            if types and fmt == "csv":
                self._write(handle + _TYPES, types, expires)
            known = dict(made_from or {})
            if self._database:
                known[_DATABASE] = self._database
            if known:
                self._write(handle + _MADE_FROM, known, expires)
            finished.replace(self.folder / handle)
        except OSError as error:
            raise ExportFolderUnusable(
                f"the exports folder cannot be written ({error.strerror}); check [analytics] "
                "folder and the space left there"
            ) from error
        finally:
            finished.unlink(missing_ok=True)
        return Export(handle, size, expires, tuple(dropped))

    def path_of(self, handle: str) -> Path:
        """A handle's file; it can be read until it expires.

        Raises:
            NotAHandle: the text does not have a handle's form.
            ExportMissing: the export expired (its file is removed), or never existed.
            ExportFolderUnusable: the folder is not private to this user.
        """
        if not _HANDLE.fullmatch(str(handle)):
            raise NotAHandle(
                "this is not the handle of an export: pass what export gave as 'handle', "
                "export_<time>_<id>.parquet or .csv, without a folder; paths are not read"
            )
        if _make_private(self.folder):
            path = self.folder / handle
            file = _regular_file(path)
            if file is not None and not self._is_expired(file) and self._is_own(handle):
                return path
            if file is not None and self._is_expired(file):
                self._remove(handle)
        raise ExportMissing(
            f"there is no export {handle}: it expired (exports stay {self._ttl} s), or was made "
            "from another database, on another machine or under another [analytics] folder; call "
            "export again"
        )

    def types_of(self, handle: str) -> dict[str, str] | None:
        """A CSV export's column types by column name, in the file's order; None if not stored."""
        self.path_of(handle)
        return self._read(handle + _TYPES)

    def made_from(self, handle: str) -> dict[str, str]:
        """The states of the tables from which an export was made, by table name, if known."""
        self.path_of(handle)
        known = self._read(handle + _MADE_FROM) or {}
        return {name: state for name, state in known.items() if name != _DATABASE}

    def list(self) -> list[Export]:
        """The exports of this database that have not expired, the oldest first."""
        return [
            file
            for file in self._files()
            if not self._is_expired(file) and self._is_own(file.handle)
        ]

    def _is_own(self, handle: str) -> bool:
        known = self._read(handle + _MADE_FROM) or {}
        return self._database in ("", known.get(_DATABASE))

    def sweep(self) -> Handles:
        """Delete expired exports, and nothing else; returns their handles."""
        if not _make_private(self.folder):
            return []
        gone = [file.handle for file in self._files() if self._is_expired(file)]
        for handle in gone:
            self._remove(handle)
        for suffix in _BESIDE:
            for path in self.folder.glob(f"export_*{suffix}"):  # left behind by a killed process
                file = _regular_file(path) if _HANDLE.match(path.name) else None
                if file is not None and self._is_expired(file):
                    path.unlink(missing_ok=True)
        return gone

    def next_expiry(self) -> float | None:
        """When the next export expires, in seconds of the clock; None without exports."""
        return min((file.expires for file in self._files()), default=None)

    def _read(self, name: str) -> dict[str, str] | None:
        try:
            known: dict[str, str] = json.loads((self.folder / name).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return known

    def _write(self, name: str, known: Mapping[str, str], expires: float) -> None:
        path = self.folder / name
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE_MODE)
        with os.fdopen(opened, "wb") as file:
            file.write(json.dumps(dict(known), ensure_ascii=False).encode())
        os.utime(path, (expires, expires))

    def _remove(self, handle: str) -> None:
        for name in (handle, *(handle + suffix for suffix in _BESIDE)):
            (self.folder / name).unlink(missing_ok=True)

    def _make_room(self, size: int) -> Handles:
        files = list(self._files())
        total = size + sum(file.size for file in files)
        dropped = []
        for file in files:
            if total <= self._limit:
                break
            self._remove(file.handle)
            total -= file.size
            dropped.append(file.handle)
        return dropped

    def _files(self) -> Iterator[Export]:
        """The files named like an export, the oldest first."""
        if not _make_private(self.folder):
            return
        candidates = (
            _regular_file(path) for path in self.folder.iterdir() if _HANDLE.fullmatch(path.name)
        )
        files = [file for file in candidates if file is not None]
        yield from sorted(files, key=lambda file: (file.made, file.expires, file.handle))

    def _is_expired(self, file: Export) -> bool:
        # If the clock was set back, a file seems to be from the future, but must still expire.
        now = self._clock()
        return file.expires <= now or _as_text(now) < file.made


def _regular_file(path: Path) -> Export | None:
    """The export in a file; None if the file is gone or not a regular file."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return Export(path.name, status.st_size, status.st_mtime)


def _is_ours(name: str) -> bool:
    is_export = _HANDLE.fullmatch(name.removesuffix(_TYPES).removesuffix(_MADE_FROM))
    return bool(is_export or _SPOOL.fullmatch(name))


def _new_handle(now: float, fmt: ExportFormat) -> str:
    return f"export_{_as_text(now)}_{secrets.token_hex(16)}.{fmt}"


def _as_text(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y%m%dT%H%M%SZ}"
