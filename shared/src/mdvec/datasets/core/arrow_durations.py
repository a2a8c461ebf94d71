"""Finds the durations in an Arrow schema, which Parquet itself stores as whole numbers.

pandas, polars and pyarrow put the schema into the metadata of a Parquet file (``ARROW:schema``), as
a message of Arrow's IPC format: a FlatBuffer, of which only what tells durations is read.
"""

from __future__ import annotations

import base64
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

_HEADER, _FIELDS = 2, 1  # of a message; of a schema
_NAME, _TYPE, _TYPE_TABLE, _CHILDREN = 0, 2, 3, 5  # of a field
_DURATION, _UNIT, _MILLISECONDS = 18, 0, 1
_UNITS = ("seconds", "milliseconds", "microseconds", "nanoseconds")
_CONTINUES = b"\xff\xff\xff\xff"
_MAX_FIELDS = 100_000
"""A damaged schema can lead to the same field over and over."""


def durations(schema: str) -> dict[tuple[str, ...], str]:
    """The unit of each column of durations, and of those within columns, by the names of its path.

    A schema that cannot be read has none.
    """
    found: dict[tuple[str, ...], str] = {}
    with suppress(ValueError, struct.error):
        found.update(_durations(base64.b64decode(schema)))
    return found


def _durations(message: bytes) -> Iterator[tuple[tuple[str, ...], str]]:
    start = 8 if message.startswith(_CONTINUES) else 4
    schema = _Table(message, start).follow(_HEADER)
    waiting: deque[tuple[tuple[str, ...], _Table]] = deque(
        ((), field) for field in schema.tables(_FIELDS)
    )
    for _ in range(_MAX_FIELDS):
        if not waiting or len(waiting) > _MAX_FIELDS:
            return
        above, field = waiting.popleft()
        path = (*above, field.text(_NAME))
        if field.number(_TYPE, "B") == _DURATION:
            unit = field.follow(_TYPE_TABLE).number(_UNIT, "H", _MILLISECONDS)
            yield path, _UNITS[unit % len(_UNITS)]
        waiting += ((path, child) for child in field.tables(_CHILDREN))


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a FlatBuffer, to which the offset at ``pointer`` leads; it may lack any value.

    Raises:
        struct.error: the bytes end before a value.
    """

    data: bytes
    pointer: int

    def follow(self, value: int) -> _Table:
        """A table in the table.

        Raises:
            ValueError: the table lacks it.
        """
        place = self._place(value)
        if not place:
            raise ValueError(value)
        return _Table(self.data, place)

    def number(self, value: int, kind: str, default: int = 0) -> int:
        """A number; ``kind`` is as in ``struct``."""
        place = self._place(value)
        return self._read(kind, place) if place else default

    def tables(self, value: int) -> Iterator[_Table]:
        """The tables of a list."""
        if place := self._place(value):
            start = place + self._read("I", place)
            for number in range(min(self._read("I", start), _MAX_FIELDS)):
                yield _Table(self.data, start + 4 + 4 * number)

    def text(self, value: int) -> str:
        """A text."""
        place = self._place(value)
        if not place:
            return ""
        start = place + self._read("I", place)
        return self.data[start + 4 : start + 4 + self._read("I", start)].decode()

    def _place(self, value: int) -> int:
        """Where a value is; 0 if the table lacks it."""
        at = self.pointer + self._read("I", self.pointer)
        places = at - self._read("i", at)
        slot = 4 + 2 * value
        distance = self._read("H", places + slot) if slot < self._read("H", places) else 0
        return at + distance if distance else 0

    def _read(self, kind: str, at: int) -> int:
        return int(struct.unpack_from(f"<{kind}", self.data, at)[0])
