"""The database's files on disk: network file systems, permissions, sizes and changes."""

from __future__ import annotations

import ctypes
import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import apsw

from mdvec.platform import Mount, is_shut, lock_bytes, mount_of

_KINDS = re.compile(
    r"(nfs\d?|cifs|smb\d?|smbfs|smb2|afs|auristorfs|afpfs|webdav|davfs|ncpfs|coda|ceph|glusterfs"
    r"|lustre|beegfs|gpfs|orangefs|pvfs2|ocfs2|gfs2?|moosefs|fuse\.(sshfs|rclone|davfs2?|glusterfs"
    r"|ceph|ceph-fuse|s3fs|gcsfuse|moosefs|smbnetfs|curlftpfs|afpfs|mfs))"
)
_ENDINGS = ("", "-wal", "-shm")
_OPENED = (0x4000_0002, 510)
"""Offset and length of the bytes that every open connection locks."""
_CLOCK_TICK_NS = 50_000_000
"""Two writes within this time may get the same time in the file system."""


def network_trouble(path: Path, known: Iterable[Mount] | None = None) -> str | None:
    """Why a database must not be written at a path: a network file system; None if it is local.

    ``known`` are the mounts of this machine, by default the present ones.
    """
    mount = mount_of(path, known)
    if mount is None or not _KINDS.fullmatch(mount.kind):
        return None
    return (
        f"{path} is on a network file system ({mount.kind}, {mount.source}), where SQLite's locks "
        "cannot be trusted and two machines damage the file; keep the database on a local disk, "
        "and let other machines search it through mdvec-mcp --http"
    )


def size_on_disk(database: Path) -> int:
    """The size of the file and its log, in bytes."""
    log = Path(f"{database}-wal")
    return database.stat().st_size + (log.stat().st_size if log.exists() else 0)


def open_to_others(database: Path) -> dict[Path, int]:
    """The database's files that other users can access, with their modes."""
    modes: dict[Path, int] = {}
    for ending in _ENDINGS:
        path = Path(f"{database}{ending}")
        if path.exists() and not is_shut(status := path.stat()):
            modes[path] = stat.S_IMODE(status.st_mode)
    return modes


def read_only_index(database: Path) -> Path | None:
    """The write-ahead log's index if this user can write the database, but not the index."""
    index = Path(f"{database}-shm")
    if not index.exists() or not is_writable(database):
        return None
    # Root can write any file, but other users of the same database cannot.
    is_ours = os.access(index, os.W_OK) and bool(index.stat().st_mode & stat.S_IWUSR)
    return None if is_ours else index


def remove_index(database: Path) -> None:
    """Delete the index of the write-ahead log, which SQLite recreates.

    Raises:
        OSError: a program has the database open, or the file cannot be deleted.
    """
    start, count = _OPENED
    with database.open("r+b") as file:
        lock_bytes(file.fileno(), start, count, shared=False)
        Path(f"{database}-shm").unlink(missing_ok=True)


def is_writable(database: Path) -> bool:
    """Whether this user can write the file and create others next to it."""
    return os.access(database, os.W_OK) and os.access(database.absolute().parent, os.W_OK)


def temporary_folder(connection: apsw.Connection) -> Path:
    """The folder of SQLite's temporary files, which several environment variables determine."""
    # SQLite allocates the name and only SQLite could free it: a few hundred bytes stay allocated.
    name = ctypes.c_char_p()
    connection.file_control("main", apsw.SQLITE_FCNTL_TEMPFILENAME, ctypes.addressof(name))
    return Path(os.fsdecode(name.value or b".")).parent


@dataclass(frozen=True, slots=True)
class FileStamp:
    """File attributes that change with every write to the file or its log."""

    inode: int
    sizes: tuple[int, int]
    written_ns: int

    def is_settled(self) -> bool:
        """Whether the last write is so old that every later one gets another stamp."""
        return abs(time.time_ns() - self.written_ns) > _CLOCK_TICK_NS


def stamp_of(database: Path) -> FileStamp | None:
    """The stamp of the file; None if the file does not exist.

    A reader creates an empty log and deletes it, which does not count as a write.
    """
    try:
        file = database.stat()
    except OSError:
        return None
    size, written = file.st_size, file.st_mtime_ns
    with suppress(OSError):
        log = Path(f"{database}-wal").stat()
        if log.st_size:
            return FileStamp(file.st_ino, (size, log.st_size), max(written, log.st_mtime_ns))
    return FileStamp(file.st_ino, (size, 0), written)
