"""Which file systems are mounted where."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")
_SHARE = "\\\\"


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted file system: where, of which kind, and what is mounted there."""

    point: str
    kind: str
    source: str


def mount_of(path: Path, mounts: Iterable[Mount] | None = None) -> Mount | None:
    """The mount that a path is in; of several at one place, the last covers the others.

    ``mounts`` are those of this machine, by default the present ones.
    """
    real = os.path.realpath(path)
    if sys.platform == "win32":
        return share_of(real)
    known = _mounts() if mounts is None else mounts
    around = [mount for mount in known if Path(real).is_relative_to(mount.point)]
    return max(reversed(around), key=lambda mount: len(mount.point), default=None)


def share_of(path: str) -> Mount | None:
    """The share of another machine that a real path of Windows is on; a drive's letter is gone."""
    drive = PureWindowsPath(path).drive
    return Mount(drive, "smb", drive) if drive.startswith(_SHARE) else None


def _mounts() -> list[Mount]:
    """What is mounted now; empty if the system does not say."""
    if sys.platform == "darwin":
        import psutil  # it takes 30 ms, which Linux is spared

        partitions = psutil.disk_partitions(all=True)
        return [Mount(each.mountpoint, each.fstype, each.device) for each in partitions]
    try:
        return linux_mounts(_MOUNTS.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return []


def linux_mounts(text: str) -> list[Mount]:
    """The mounts in the text of ``/proc/self/mountinfo``."""
    mounts = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields, last = before.split(" "), after.split(" ")
        if len(fields) > 4 and len(last) > 1:
            mounts.append(Mount(_unescaped(fields[4]), last[0], _unescaped(last[1])))
    return mounts


def _unescaped(field: str) -> str:
    return _ESCAPE.sub(lambda code: chr(int(code[1], 8)), field)
