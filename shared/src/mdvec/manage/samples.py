"""Copies the sample documents and the invented households."""

from __future__ import annotations

import shutil
from pathlib import Path

import mdvec
from mdvec.errors import MdvecError

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
    for copy in copies.values():
        if copy.exists():
            raise SamplesNotWritten(f"{copy} exists already; choose another folder")
    made = [*copies.values()] if folder.exists() else [folder]
    try:
        for name, copy in copies.items():
            _copy(_samples_folder() / name, copy)
    except BaseException as error:  # Ctrl-C, too: what is left would be refused as existing
        for each in made:
            shutil.rmtree(each, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        raise SamplesNotWritten(
            f"{folder} cannot be written ({error.strerror}); make room, or name another place"
        ) from error
    return copies


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
