"""The interface through which `mdvec status` counts and shows the contents of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import apsw

from mdvec.tools.rows import Tool

Fact = tuple[str, object]
"""A name and its value, as one line of a tool's details."""


@dataclass(frozen=True, slots=True)
class ContentCounts:
    """The size of a tool's contents; tables and rows are None if its kind has none."""

    documents: int = 0
    vectors: int = 0
    tables: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class StatusTable:
    """A table to print."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


class Contents(Protocol):
    """A tool's contents in detail."""

    def import_facts(self) -> list[Fact]:
        """How they were imported."""
        ...

    def content_facts(self) -> list[Fact]:
        """Their counts and sizes."""
        ...

    def listing(self) -> StatusTable:
        """The documents or tables themselves."""
        ...

    def json_fields(self) -> dict[str, object]:
        """The same, as fields of `mdvec status --format json`."""
        ...


@dataclass(frozen=True, slots=True)
class KindStatus:
    """How the status of a kind's tools is read and shown.

    Attributes:
        overview_title: the title of the table that lists the tools of this kind.
        overview_columns: that table's own columns, each a field of ``ToolStatus``.
        contents_title: the title of the table that lists one tool's contents.
        count: counts a tool's contents.
        read: reads a tool's contents.
    """

    overview_title: str
    overview_columns: tuple[str, ...]
    contents_title: str
    count: Callable[[apsw.Connection, Tool], ContentCounts]
    read: Callable[[apsw.Connection, Tool], Contents]
