"""Private copies of data files: a folder of Parquet files with unguessable names."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.files import why

_ENDING = ".parquet"


class SnapshotsUnwritable(MdvecError):
    """The folder of private copies cannot be created or written."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"the folder {folder} for copies of data files cannot be written ({why(error)}); make "
            "room and check that it can be written, or name another place with --database"
        )


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The private copies of one dataset; ``folder`` is created when needed."""

    folder: Path

    @contextmanager
    def new(self) -> Iterator[tuple[Path, Path]]:
        """A path to write a new copy to, and the final path that it gets at the end of the block.

        Raises:
            SnapshotsUnwritable: the folder cannot be created or written.
        """
        name = secrets.token_hex(16)
        part, whole = self.folder / f"{name}.part", self.folder / f"{name}{_ENDING}"
        try:
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            yield part, whole
            part.rename(whole)
        except OSError as error:
            raise SnapshotsUnwritable(self.folder, error) from error
        finally:
            part.unlink(missing_ok=True)

    def keep_only(self, names: Collection[str]) -> None:
        """Remove every other file; one that cannot be removed is harmless and stays."""
        if not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if file.name not in names:
                _remove(file)
        if not names:
            remove_snapshots(self.folder)


def remove_snapshots(folder: Path) -> None:
    """Remove a folder of copies, and its parent folder if that is empty then."""
    _remove(folder)
    _remove_empty(folder.parent)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:  # it holds other datasets, or does not exist
        return
