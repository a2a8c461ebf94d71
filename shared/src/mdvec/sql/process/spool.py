"""The private folder of a child's files; also removes the folders of dead processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mdvec.platform import OwnFolder, take_ownership


class Spool:
    """The folder of a child's files, which is removed by ``close``.

    The child writes to ``work``, and reads the files that the server puts into ``tables`` for one
    query. ``done``, which the child cannot access, holds finished files until the server moves
    them.

    Args:
        root: the folder in which it is made; spools left there by dead processes are removed.
    """

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._own = OwnFolder(root, "spool_")
        self.work, self.done = self._own.path / "work", self._own.path / "done"
        self.tables = self._own.path / "tables"
        for folder in (self.work, self.done, self.tables):
            folder.mkdir(mode=0o700)

    def finish(self, name: str) -> Path:
        """Move a finished file out of the child's reach and return its new path.

        This process becomes its owner: if the server runs as root, the child runs as another user.
        """
        finished = self.done / name
        (self.work / name).replace(finished)
        take_ownership(finished)
        return finished

    @contextmanager
    def showing(self, files: Iterable[Path]) -> Iterator[None]:
        """Within this context, the child can read these files under their names in ``tables``.

        These are hard links if possible, so that an export that expires meanwhile stays readable.
        """
        shown: list[Path] = []
        try:
            for file in files:
                shown.append(self.tables / file.name)
                try:
                    os.link(file, shown[-1], follow_symlinks=False)
                except (OSError, NotImplementedError):  # no hard links on this file system or OS
                    shutil.copyfile(file, shown[-1], follow_symlinks=False)
            yield
        finally:
            for file in shown:
                file.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the files of a failed query."""
        if self.work.is_dir():
            for path in self.work.iterdir():
                path.unlink(missing_ok=True)

    def is_there(self) -> bool:
        """Whether it still exists; users may delete cache folders to free disk space."""
        return all(folder.is_dir() for folder in (self.work, self.done, self.tables))

    def close(self) -> None:
        """Remove the folder and everything in it."""
        self._own.close()
