"""Rows as dataclasses, matched by column name and never by position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import apsw

Record = TypeVar("Record")


def records(cursor: apsw.Cursor, record: Callable[..., Record]) -> Iterator[Record]:
    """Each row as a ``record``, whose fields are named like the statement's columns."""
    names: list[str] = []
    for row in cursor:
        names = names or [str(column[0]) for column in cursor.get_description()]
        yield record(**dict(zip(names, row, strict=True)))
