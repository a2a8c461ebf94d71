"""Private copies of data files: a folder of Parquet files with unguessable names."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.files import UnreadableFile, opened_within, system_message
from mdvec.platform import path_of

_ENDING = ".parquet"
_MAGIC = b"PAR1"
_FOOTER_LENGTH = 4


class SnapshotsUnwritable(MdvecError):
    """The folder of private copies cannot be created or written."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"the folder {folder} for copies of data files cannot be written "
            f"({system_message(error)}); make room and check that it can be written, or name "
            "another place with --database"
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
            _make(self.folder)
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


def is_whole(copy: Path) -> bool:
    """Whether a copy exists and is complete, judging by its first and last bytes.

    It needs no DuckDB, so a server can check this before each query.
    """
    ending = len(_MAGIC) + _FOOTER_LENGTH
    try:
        with copy.open("rb") as file:
            begins = file.read(len(_MAGIC)) == _MAGIC
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - ending, 0))
            last = file.read()
    except OSError:
        return False
    footer = int.from_bytes(last[:_FOOTER_LENGTH], "little")
    return begins and last.endswith(_MAGIC) and 0 < footer <= size - ending - len(_MAGIC)


@contextmanager
def work_folder(targets: Path) -> Iterator[Path]:
    """A private, temporary folder inside the folder ``targets``.

    Raises:
        SnapshotsUnwritable: it cannot be created.
    """
    try:
        _make(targets)
        folder = Path(tempfile.mkdtemp(dir=targets))
    except OSError as error:
        raise SnapshotsUnwritable(targets, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy_with_logs(file: int, source: Path, root: Path, copy: Path, logs: Iterable[Path]) -> None:
    """Copy a database of a source, which is open as descriptor ``file``, and its logs.

    Raises:
        UnreadableFile: one of them cannot be read.
    """
    try:
        shutil.copyfile(path_of(file), copy)
        for log in logs:
            real = Path(os.path.realpath(log))
            with opened_within(real, log if root == source else root) as opened:
                shutil.copyfile(path_of(opened), f"{copy}{log.name.removeprefix(source.name)}")
    except OSError as error:
        raise UnreadableFile.of_error(error) from error


def _make(folder: Path) -> None:
    for made in (folder.parent, folder):
        made.mkdir(mode=0o700, exist_ok=True)


def remove_snapshots(folder: Path) -> None:
    """Remove a folder of copies, and its parent folder if that is empty then."""
    _remove(folder)
    with suppress(OSError):  # the parent holds other datasets' copies, or does not exist
        folder.parent.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):
        path.unlink(missing_ok=True)
