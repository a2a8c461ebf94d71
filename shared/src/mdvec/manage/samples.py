"""Copies the sample documents and the invented households."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import mdvec
from mdvec.errors import MdvecError, not_usable

_SAMPLES = ("notes", "household", "household-habits")
_NO_DATA = (".py", ".pyc", ".gitattributes")


class FolderNotWritten(MdvecError):
    """The samples, or the files of a demo, cannot be written into that folder."""


def copy_samples(folder: Path) -> dict[str, Path]:
    """Copy the samples into a folder; returns the folder of each, by name.

    Raises:
        FolderNotWritten: one exists already, or the folder cannot be written; nothing is left.
    """
    copies = {name: folder / name for name in _SAMPLES}
    try:
        with undone_unless_whole(folder, _SAMPLES):
            for name, copy in copies.items():
                _copy(_samples_folder() / name, copy)
    except OSError as error:
        raise FolderNotWritten(not_usable(folder, error)) from error
    return copies


@contextmanager
def undone_unless_whole(
    folder: Path, names: Sequence[str], on_removed: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Remove what the block creates in a folder if it fails; the user's own files stay.

    ``names`` are patterns of what it creates. Folders that did not exist before, also above this
    one, are removed as well. ``on_removed`` is called if something was removed.

    Raises:
        FolderNotWritten: something has such a name already.
    """
    if own := _present(folder, names):
        raise FolderNotWritten(f"{own[0]} exists already; choose another folder")
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        yield
    except BaseException:  # also Ctrl-C: leftovers would make another try fail
        made = [folder] if missing and folder.exists() else _present(folder, names)
        for each in made:
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)
        for above in missing[1:]:
            with suppress(OSError):  # another program put something there
                above.rmdir()
        if made:
            on_removed()
        raise


def _present(folder: Path, names: Sequence[str]) -> list[Path]:
    """The entries of a folder with these names or patterns, including dangling links."""
    # ``glob`` does not find a dangling link by a name without wildcards.
    paths = (path for name in names for path in (folder / name, *folder.glob(name)))
    return list(dict.fromkeys(filter(os.path.lexists, paths)))


def _copy(source: Path, target: Path) -> None:
    """Copy a folder; unlike ``shutil.copytree``, it raises the first error as it is."""
    for file in source.rglob("*"):
        if file.is_file() and not file.name.endswith(_NO_DATA):
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)


def _samples_folder() -> Path:
    """The folder of the samples: next to the code in a wheel, under docs in a checkout."""
    package = Path(mdvec.__file__).parent
    in_wheel = package / "samples"
    return in_wheel if in_wheel.is_dir() else package.parents[2] / "docs" / "examples"
