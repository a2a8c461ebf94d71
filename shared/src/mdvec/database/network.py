"""Tells whether a file is on a network file system, where SQLite's locks cannot be trusted.

Several machines that write one SQLite file over a network damage it: its log is shared through
memory, which only one machine has, and many servers lock files badly.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_KINDS = re.compile(
    r"(nfs\d?|cifs|smb\d?|smbfs|smb2|afs|auristorfs|afpfs|webdav|davfs|ncpfs|coda|ceph|glusterfs"
    r"|lustre|beegfs|gpfs|orangefs|pvfs2|ocfs2|gfs2?|moosefs|fuse\.(sshfs|rclone|davfs2?|glusterfs"
    r"|ceph|ceph-fuse|s3fs|gcsfuse|moosefs|smbnetfs|curlftpfs|afpfs|mfs))"
)
_ESCAPE = re.compile(r"\\([0-7]{3})")
_MAC_LINE = re.compile(r"(?P<source>.+?) on (?P<point>/.*) \((?P<kind>[^,)]+)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system: where, of which kind, and what is mounted there."""

    point: str
    kind: str
    source: str


def network_trouble(path: Path, mounts: Iterable[Mount] | None = None) -> str | None:
    """Why a database must not be written at a path: a network file system; None if it is local.

    ``mounts`` are those of this machine, by default the present ones.
    """
    found = _innermost(Path(os.path.realpath(path)), _mounts() if mounts is None else mounts)
    if found is None or not _KINDS.fullmatch(found.kind):
        return None
    return (
        f"{path} is on a network file system ({found.kind}, {found.source}), where SQLite's locks "
        "cannot be trusted and two machines damage the file; keep the database on a local disk, "
        "and let other machines search it through mdvec-mcp --http"
    )


def _mounts() -> list[Mount]:
    """What is mounted now; empty if the system does not say."""
    if sys.platform == "darwin":
        return _mounts_of_mac()
    try:
        return linux_mounts(_MOUNTS.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return []


def _mounts_of_mac() -> list[Mount]:
    try:
        told = subprocess.run(["/sbin/mount"], capture_output=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    return mac_mounts(told.stdout.decode(errors="replace"))


def linux_mounts(text: str) -> list[Mount]:
    """The mounts in the text of ``/proc/self/mountinfo``."""
    found = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, last = before.split(" "), after.split(" ")
        if len(fields) > 4 and len(last) > 1:
            found.append(Mount(_unescaped(fields[4]), last[0], _unescaped(last[1])))
    return found


def mac_mounts(text: str) -> list[Mount]:
    """The mounts that ``mount`` prints on macOS."""
    lines = (_MAC_LINE.fullmatch(line) for line in text.splitlines())
    return [Mount(line["point"], line["kind"], line["source"]) for line in lines if line]


def _innermost(path: Path, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that a path is in; of several at one place, the last covers the others."""
    best: Mount | None = None
    for mount in mounts:
        if path.is_relative_to(mount.point) and (
            best is None or len(mount.point) >= len(best.point)
        ):
            best = mount
    return best


def _unescaped(field: str) -> str:
    return _ESCAPE.sub(lambda code: chr(int(code[1], 8)), field)
