"""The tables in one file, as its format's reader presents them to an import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mdvec.datasets.core.understood import Understood
from mdvec.files.scan import UnreadableFile


class NotATable(UnreadableFile):
    """A file holds no tables; it is left out and named, which does not count as a failure."""


@dataclass(frozen=True, slots=True)
class TableInFile:
    """A table in a file.

    Attributes:
        label: its name in the file; "" if the file's own name says enough.
        copy: writes its rows to a Parquet file on the file system of the private copies, and
            returns how they were read; raises ``UnreadableFile``.
    """

    label: str
    copy: Callable[[Path], Understood]


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An open file with tables; ``left_out`` names what else is in it, with reasons."""

    tables: tuple[TableInFile, ...]
    left_out: tuple[tuple[str, str], ...] = ()
