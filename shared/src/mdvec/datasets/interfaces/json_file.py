"""Converts JSON files to Parquet: a list of objects, or one object a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from mdvec.datasets.core.json_records import NoTable, Records, records_of_object
from mdvec.datasets.core.reading import FOUND, ReadingOptions
from mdvec.datasets.core.understood import Understood
from mdvec.datasets.interfaces.inner_tables import NotATable
from mdvec.datasets.interfaces.json_values import JSONValues
from mdvec.datasets.interfaces.typed_rows import TypedRows
from mdvec.files.encoding import data_file_encoding
from mdvec.files.scan import UnreadableFile

JSON_ENDINGS = (".json", ".ndjson", ".jsonl")


def json_to_parquet(
    source: Path, rows: TypedRows, reading: ReadingOptions = FOUND, *, is_lines: bool
) -> Understood:
    """Convert ``source``; ``is_lines`` is whether its ending promises one object a line.

    Raises:
        NotATable: it holds no records.
        UnreadableFile: it is not JSON; the message names the line.
        OSError: the plain copy of its rows cannot be written.
    """
    encoding, is_guess = data_file_encoding(source, reading.encoding)
    records = Records()
    try:
        with source.open(encoding=encoding, newline="") as text:
            found = _Found(JSONValues(text), is_lines=is_lines)
            columns = rows.write(map(records.row, found.records()), records.names)
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            "it changed while the import read it; import again", may_pass=True
        ) from error
    if not columns:
        raise NotATable("it holds no records")
    return Understood(encoding=encoding, is_guess=is_guess, columns=columns).with_notes(found.note)


class _Found:
    """The records of a file, and a note on where they were."""

    def __init__(self, values: JSONValues, *, is_lines: bool) -> None:
        self._values = values
        self._is_lines = is_lines
        self.note = ""

    def records(self) -> Iterator[dict[str, Any]]:
        values = iter(self._values)
        first = next(values, None)
        if first is None:
            return
        line, value = first
        if not isinstance(value, dict):
            raise NotATable(f"line {line}: it holds {_called(value)}, not objects")
        second = next(values, None)
        if second is None and not (self._values.is_list or self._is_lines):
            try:
                within, self.note = records_of_object(value)
            except NoTable as error:
                raise NotATable(str(error)) from error
            yield from (dict(record) for record in within)
            return
        yield value
        following = values if second is None else chain([second], values)
        for at, other in following:
            yield _checked(at, other)


def _checked(line: int, value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise UnreadableFile(
        f"line {line}: it holds {_called(value)} where the values before are objects"
    )


def _called(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return "a text" if isinstance(value, str) else "a single value"
