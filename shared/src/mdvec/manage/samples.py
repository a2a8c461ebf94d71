"""Copies the sample documents and the invented households."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import mdvec
from mdvec.errors import MdvecError, not_written

_SAMPLES = ("notes", "household", "household-habits")
_NO_DATA = (".py", ".pyc", ".gitattributes")


class SamplesNotWritten(MdvecError):
    """The samples cannot be written into that folder."""


def copy_samples(folder: Path) -> dict[str, Path]:
    """Copy the samples into a folder; returns the folder of each, by name.

    Raises:
        SamplesNotWritten: one exists already, or the folder cannot be written; nothing is left.
    """
    copies = {name: folder / name for name in _SAMPLES}
    try:
        with undone_unless_whole(folder, _SAMPLES):
            for name, copy in copies.items():
                _copy(_samples_folder() / name, copy)
    except OSError as error:
        raise SamplesNotWritten(not_written(folder, error)) from error
    return copies


@contextmanager
def undone_unless_whole(
    folder: Path, names: Sequence[str], on_removed: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Keep what the block makes in a folder only if it ends well; the user's own files stay.

    ``names`` are patterns of what it makes there. A folder that was missing goes with those above
    it that were. ``on_removed`` is called if there was anything.

    Raises:
        SamplesNotWritten: something has such a name already.
    """
    for own in chain.from_iterable(map(folder.glob, names)):
        raise SamplesNotWritten(f"{own} exists already; choose another folder")
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        yield
    except BaseException:  # Ctrl-C, too: another try would be refused for what is there
        inside = (each for name in names for each in folder.glob(name))
        made = [each for each in (missing[:1] or inside) if each.exists()]
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


def _copy(source: Path, target: Path) -> None:
    """Copy a folder; unlike ``shutil.copytree`` it ends at the first error, and says which."""
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
