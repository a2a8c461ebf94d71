"""Checks the free space on the database's disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from mdvec.database.place import size_on_disk
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.sizes import MEGABYTE
from mdvec.text.file_size import file_size

_MIN_FREE = 50 * MEGABYTE
_COMFORTABLE = 500 * MEGABYTE


def check_disk(installation: Installation) -> Iterator[Finding]:
    """Check that imports, rebuilds and mdvec compact have enough space."""
    database = installation.database
    folder = database.absolute().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    size = size_on_disk(database) if database.is_file() else 0
    told = f"{file_size(free)} free in {folder}"
    if free < _MIN_FREE:
        yield Finding("trouble", "disk", f"only {told}; imports will fail", "make room")
    elif free < max(_COMFORTABLE, 2 * size):
        yield Finding(
            "warning", "disk",
            f"{told}: too little for a rebuild or mdvec compact of {file_size(size)}",
            "free some disk space",
        )  # fmt: skip
    else:
        yield Finding("ok", "disk", told)
