"""Copies the sample documents and the invented households."""

from __future__ import annotations

import shutil
from pathlib import Path

import mdvec
from mdvec.errors import MdvecError

_SAMPLES = ("notes", "household", "household-habits")
_NO_DATA = shutil.ignore_patterns("*.py", "__pycache__", ".gitattributes")


class SamplesNotWritten(MdvecError):
    """The samples cannot be written into that folder."""


def copy_samples(folder: Path) -> dict[str, Path]:
    """Copy the samples into a folder; returns the folder of each, by name.

    Raises:
        SamplesNotWritten: one exists already, or the folder cannot be written.
    """
    copies = {name: folder / name for name in _SAMPLES}
    for copy in copies.values():
        if copy.exists():
            raise SamplesNotWritten(f"{copy} exists already; choose another folder")
    try:
        for name, copy in copies.items():
            shutil.copytree(_samples_folder() / name, copy, ignore=_NO_DATA)
    except OSError as error:
        raise SamplesNotWritten(f"{folder} cannot be written ({error.strerror})") from error
    return copies


def _samples_folder() -> Path:
    """The folder of the samples: next to the code in a wheel, under docs in a checkout."""
    package = Path(mdvec.__file__).parent
    in_wheel = package / "samples"
    return in_wheel if in_wheel.is_dir() else package.parents[2] / "docs" / "examples"
