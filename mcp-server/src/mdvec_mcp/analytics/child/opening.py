"""Opens the files of the user's tables as descriptors.

See ``mdvec.files.within``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mdvec.files.within import NotOpened, open_within, path_of


@dataclass
class OpenedFiles:
    """Open files by table name; ``missing`` has the reason for each that could not be opened."""

    descriptors: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> dict[str, Path]:
        """A path to each open file, which holds even when the file is renamed or replaced."""
        return {name: path_of(number) for name, number in self.descriptors.items()}


def open_files(tables: Iterable[tuple[str, str, str]]) -> OpenedFiles:
    """Open the file of each table, given as name, path, and the folder that it must lie in."""
    opened = OpenedFiles()
    for name, path, folder in tables:
        try:
            opened.descriptors[name] = open_within(Path(path), Path(folder))
        except NotOpened as error:
            opened.missing[name] = str(error)
    return opened
