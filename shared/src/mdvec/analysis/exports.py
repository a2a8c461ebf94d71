"""The folder of exports: private files under handles that nobody guesses, gone after their time."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from mdvec.errors import MdvecError

Format = Literal["parquet", "csv"]
Handles = list[str]

_HANDLE = re.compile(r"export_[0-9]{8}T[0-9]{6}Z_[0-9a-f]{32}\.(parquet|csv)")
_TYPES = ".types"
"""Behind a CSV file's handle: the name of the file with its columns' types, which goes with it."""
_SPOOL = re.compile(r"spool_[0-9a-f]+")
"""Where query processes write what is not finished; on the same file system, so in here."""
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_OTHERS = 0o077


class ExportError(MdvecError):
    """Something about an export that its reader or maker can act on."""


class NotAHandle(ExportError):
    """What was given is no handle: a path, or the name of something else."""


class ExportMissing(ExportError):
    """The handle's file is not there, or no longer."""


class ExportTooLarge(ExportError):
    """One file is larger than all exports together may be."""


class ExportFolderUnusable(ExportError):
    """The folder is not one that only this user can read, or cannot be written."""


@dataclass(frozen=True, slots=True)
class Export:
    """An export that is there: times in UTC as ISO with Z, ``rows`` and ``columns`` if known.

    ``dropped`` are the handles of older exports that had to go to make room for this one.
    """

    handle: str
    size: int
    created: str
    expires_at: str
    rows: int | None = None
    columns: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    handle: str
    size: int
    mtime: float


class ExportFolder:
    """Exports by handle, in a folder that is this user's alone.

    Their age is the age of their files, so that it survives a restart and several servers can
    share the folder: a file that vanishes under us is gone, not an error.

    Args:
        folder: made at the first export, with mode 0700.
        ttl_seconds: how long an export stays.
        max_total_bytes: how much all of them may take; the oldest go first.
        clock: the seconds since 1970 that count.
    """

    def __init__(
        self,
        folder: Path,
        ttl_seconds: int,
        max_total_bytes: int,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = folder
        self._ttl = ttl_seconds
        self._limit = max_total_bytes
        self._clock = clock

    def place(
        self,
        finished: Path,
        *,
        rows: int,
        columns: Sequence[str],
        types: Sequence[str] = (),
        fmt: Format = "parquet",
    ) -> Export:
        """Move a finished file of the same file system in, under a new handle.

        ``types`` are those of the columns; a CSV file, which cannot say them, keeps them beside it.

        Raises:
            ExportTooLarge: the file alone is over the limit; it is removed.
            ExportFolderUnusable: the folder belongs to others, or cannot be written.
        """
        self._make_private()
        try:
            size = finished.lstat().st_size
            if size > self._limit:
                finished.unlink()
                raise ExportTooLarge(
                    f"the result has {size:,} bytes as {fmt}, and all exports together may have "
                    f"{self._limit:,}; select fewer columns or rows, aggregate, or raise "
                    "[analytics] max_total_mb"
                )
            self.sweep()
            dropped = self._make_room(size)
            now = self._clock()
            handle = _new_handle(now, fmt)
            finished.chmod(_PRIVATE_FILE)
            os.utime(finished, (now, now))
            if types and fmt == "csv":  # before the handle is there: none is without its types
                self._write_types(handle, dict(zip(columns, types, strict=True)), now)
            finished.replace(self.folder / handle)
        except OSError as error:
            raise _unwritable(error) from error
        return Export(
            handle=handle,
            size=size,
            created=_iso(now),
            expires_at=_iso(now + self._ttl),
            rows=rows,
            columns=tuple(columns),
            dropped=tuple(dropped),
        )

    def path_of(self, handle: str) -> Path:
        """The file of a handle; it may be read until it expires.

        Raises:
            NotAHandle: it has not the shape of one.
            ExportMissing: it expired (its file is removed), or was never here.
            ExportFolderUnusable: the folder belongs to others.
        """
        if not _HANDLE.fullmatch(str(handle)):
            raise NotAHandle(
                "this is not the handle of an export: pass what export gave as 'handle', "
                "export_<time>_<id>.parquet or .csv, without a folder; paths are not read"
            )
        if self._is_private():
            path = self.folder / handle
            file = _regular(path)
            if file is not None and not self._expired(file.mtime):
                return path
            if file is not None:
                self._remove(handle)
        raise ExportMissing(
            f"there is no export {handle}: it expired (exports stay {self._ttl} s), or was made "
            "on another machine or under another [analytics] folder; call export again"
        )

    def types_of(self, handle: str) -> dict[str, str] | None:
        """The types of a CSV export's columns by their names, in order; None if none were kept."""
        self.path_of(handle)
        try:
            types: dict[str, str] = json.loads((self.folder / (handle + _TYPES)).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return types

    def list(self) -> list[Export]:
        """The exports that are there and have not expired, the oldest first."""
        return [
            Export(
                handle=file.handle,
                size=file.size,
                created=_iso(file.mtime),
                expires_at=_iso(file.mtime + self._ttl),
            )
            for file in self._files()
            if not self._expired(file.mtime)
        ]

    def sweep(self) -> Handles:
        """Remove what expired; return the handles. What others put there stays."""
        if not self._is_private():
            return []
        gone = [file.handle for file in self._files() if self._expired(file.mtime)]
        for handle in gone:
            self._remove(handle)
        for path in self.folder.glob(f"export_*{_TYPES}"):  # left by a process that was killed
            file = _regular(path)
            if file is not None and self._expired(file.mtime):
                path.unlink(missing_ok=True)
        return gone

    def next_expiry(self) -> float | None:
        """When the next export expires, in the clock's seconds; None without exports."""
        return min((file.mtime + self._ttl for file in self._files()), default=None)

    def _write_types(self, handle: str, types: dict[str, str], now: float) -> None:
        path = self.folder / (handle + _TYPES)
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE)
        with os.fdopen(opened, "wb") as file:
            file.write(json.dumps(types, ensure_ascii=False).encode())
        os.utime(path, (now, now))

    def _remove(self, handle: str) -> None:
        for name in (handle, handle + _TYPES):
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

    def _files(self) -> Iterator[_File]:
        """The files that have the name of an export, the oldest first."""
        if not self._is_private():
            return
        found = (_regular(path) for path in self.folder.iterdir() if _HANDLE.fullmatch(path.name))
        files = [file for file in found if file is not None]
        yield from sorted(files, key=lambda file: (file.mtime, file.handle))

    def _expired(self, mtime: float) -> bool:
        # Nor does a clock that was set far back keep a file for ever.
        return abs(self._clock() - mtime) >= self._ttl

    def _make_private(self) -> None:
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self.folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        except FileExistsError:
            pass  # not a folder: said below
        except OSError as error:
            raise _unwritable(error) from error
        self._is_private()

    def _is_private(self) -> bool:
        """Whether the folder is there; it is this user's alone then, or refused."""
        try:
            # Of a link this opens nothing, so that what is checked is what is narrowed.
            opened = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ExportFolderUnusable(
                "the exports folder is a link, a file or not readable; name a folder of its own "
                "in [analytics] folder"
            ) from error
        try:
            self._narrow(opened)
        finally:
            os.close(opened)
        return True

    def _narrow(self, opened: int) -> None:
        status = os.fstat(opened)
        if status.st_uid != os.getuid():
            raise ExportFolderUnusable(
                "the exports folder belongs to another user; name one of your own in "
                "[analytics] folder"
            )
        if stat.S_IMODE(status.st_mode) & _OTHERS == 0:
            return
        if any(not _ours(name) for name in os.listdir(opened)):
            raise ExportFolderUnusable(
                "the exports folder can be read by others and holds other files too; name a "
                "folder of its own in [analytics] folder"
            )
        os.fchmod(opened, _PRIVATE_FOLDER)


def _regular(path: Path) -> _File | None:
    """What the file system says of a plain file; None if it is gone or something else."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return _File(path.name, status.st_size, status.st_mtime)


def _ours(name: str) -> bool:
    return bool(_HANDLE.fullmatch(name.removesuffix(_TYPES)) or _SPOOL.fullmatch(name))


def _new_handle(now: float, fmt: Format) -> str:
    return f"export_{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}_{secrets.token_hex(16)}.{fmt}"


def _iso(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _unwritable(error: OSError) -> ExportFolderUnusable:
    return ExportFolderUnusable(
        f"the exports folder cannot be written ({error.strerror}); check [analytics] folder and "
        "the space left there"
    )
