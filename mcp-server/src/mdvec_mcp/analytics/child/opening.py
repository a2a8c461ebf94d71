"""The files of the user's tables as descriptors, for the query process to read.

See ``mdvec.files.within``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mdvec.files.within import NotOpened, open_within, path_of


@dataclass
class OpenedFiles:
    """Files by the names of their tables; ``missing`` says why others are not there."""

    descriptors: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> dict[str, Path]:
        """A path to each very file, whatever becomes of its name."""
        return {name: path_of(number) for name, number in self.descriptors.items()}


def open_files(tables: Iterable[tuple[str, str, str]]) -> OpenedFiles:
    """Open the file of each table: its name, its path as imported, and the folder to stay in."""
    opened = OpenedFiles()
    for name, path, folder in tables:
        try:
            opened.descriptors[name] = open_within(Path(path), Path(folder))
        except NotOpened as error:
            opened.missing[name] = str(error)
    return opened
