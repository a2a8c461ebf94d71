"""A private, temporary folder beside the copies of data files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdvec.datasets.interfaces.snapshots import SnapshotsUnwritable


@contextmanager
def work_folder(targets: Path) -> Iterator[Path]:
    """A private, temporary folder inside the targets' folder.

    Raises:
        SnapshotsUnwritable: it cannot be created.
    """
    try:
        for place in (targets.parent, targets):
            place.mkdir(mode=0o700, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=targets))
    except OSError as error:
        raise SnapshotsUnwritable(targets, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
