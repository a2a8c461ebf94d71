"""Converts JSON files to Parquet: a list of objects, or one object a line.

An object within an object becomes columns of its own, one level deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from mdvec.datasets.core.cells import LongNumber
from mdvec.datasets.core.columns import numbered_names
from mdvec.datasets.core.exact_doubles import kept_double
from mdvec.datasets.core.understood import ReadingOptions, Understood
from mdvec.datasets.interfaces.database_file import NotATable
from mdvec.datasets.interfaces.typed_rows import OnRows, TypedRows
from mdvec.files import UnreadableFile, data_file_encoding, not_decoded
from mdvec.text import cited

_BLOCK = 2**18
MAX_VALUE_CHARS = 2**26
_MAX_INT_DIGITS = 4_000
_SPACES = re.compile(r"[ \t\r\n]*")


class _TwiceNamed(ValueError):
    """An object has a name twice."""


def _integer(digits: str) -> int | LongNumber:
    return int(digits) if len(digits) < _MAX_INT_DIGITS else LongNumber(digits)


def _fraction(digits: str) -> float | LongNumber:
    number = kept_double(digits)
    return LongNumber(digits) if number is None else number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _TwiceNamed(f"an object has the name {cited(twice)} twice")
    return fields


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_fraction, object_pairs_hook=_object)


class JSONValues:
    """The JSON values of a text; ``is_list`` is whether they are the elements of one list.

    ``is_lines`` is whether each should have a line of its own, which an error then names.
    """

    def __init__(self, text: TextIO, *, is_lines: bool = False) -> None:
        self._text = text
        self._buffer = ""
        self._at = 0
        self.line = 1
        self.is_list = self._peek() == "["
        if self.is_list:
            self._skip(1)
        self._has_own_lines = is_lines and not self.is_list

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Each value with its line.

        Raises:
            UnreadableFile: the text is not JSON, or ends early.
        """
        if not self.is_list:
            while self._peek():
                yield self.line, self._value()
            return
        following = self._peek()
        while following != "]":
            yield self.line, self._value()
            following = self._peek()
            if following == ",":
                self._skip(1)
                if self._peek() == "]":
                    raise self._broken("a comma stands before the end of the list")
            elif following != "]":
                raise self._broken("a comma is missing" if following else "the file ends early")
        self._skip(1)
        if self._peek():
            raise self._broken("there is more after the end of the list")

    def _peek(self) -> str:
        """The next character that is not a space, without taking it; "" at the end."""
        while True:
            if spaces := _SPACES.match(self._buffer, self._at):
                self._skip(spaces.end() - self._at)
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._read_more(_BLOCK):
                return ""

    def _value(self) -> Any:  # noqa: ANN401 - any JSON value
        more = _BLOCK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                # An error near the end of the buffer may only mean that the value is cut off.
                offset = error.pos - self._at
                is_open = "Unterminated" in error.msg
                if (is_open or error.pos + _BLOCK > len(self._buffer)) and self._read_more(more):
                    more *= 2
                    continue
                if self._has_own_lines and (what := self._fault_of_line()):
                    raise self._broken(what) from error
                line = self.line + self._buffer.count("\n", self._at, self._at + offset)
                at_end = is_open or self._at + offset >= len(self._buffer.rstrip())
                raise _not_json(line, "the file ends early" if at_end else error.msg) from error
            except _TwiceNamed as error:
                raise self._broken(str(error)) from error
            except RecursionError as error:
                raise self._broken("it is nested too deeply") from error
            # A number at the end of the buffer may continue.
            may_go_on = end == len(self._buffer) and self._buffer[end - 1] not in '}]"'
            if may_go_on and self._read_more(more):
                continue
            self._has_own_lines &= "\n" not in self._buffer[self._at : end]
            self._skip(end - self._at)
            return value

    def _fault_of_line(self) -> str:
        """Why the rest of this line is no value; "" if it is one, or the last line."""
        line, end, _ = self._buffer[self._at :].partition("\n")
        try:
            _DECODER.raw_decode(line)
        except json.JSONDecodeError as error:
            is_short = "Unterminated" in error.msg or error.pos >= len(line.rstrip())
            return end and ("the line ends early" if is_short else error.msg)
        return ""

    def _skip(self, number: int) -> None:
        self.line += self._buffer.count("\n", self._at, self._at + number)
        self._at += number

    def _read_more(self, number: int) -> bool:
        rest = self._buffer[self._at :]
        if len(rest) > MAX_VALUE_CHARS:
            raise self._broken(
                f"a value has more than {MAX_VALUE_CHARS:,} characters; write one object a line"
            )
        block = self._text.read(number)
        self._buffer, self._at = rest + block, 0
        return bool(block)

    def _broken(self, what: str) -> UnreadableFile:
        return _not_json(self.line, what)


def _not_json(line: int, what: str) -> UnreadableFile:
    return UnreadableFile(f"line {line}: it is not valid JSON: {what[:1].lower()}{what[1:]}")


def json_to_parquet(
    source: Path, target: Path, on_rows: OnRows, reading: ReadingOptions, *, is_lines: bool
) -> Understood:
    """Convert ``source`` to Parquet; ``is_lines`` if its suffix stands for one object a line.

    Raises:
        NotATable: it holds no records.
        UnreadableFile: it is not JSON; the message names the line.
        OSError: the plain copy of its rows cannot be written.
    """
    encoding, is_guess = data_file_encoding(source, reading.encoding)
    records, notes = _Records(), list[str]()
    try:
        with source.open(encoding=encoding, newline="") as text:
            objects = _find_records(JSONValues(text, is_lines=is_lines), notes, is_lines=is_lines)
            rows = TypedRows(target, on_rows, reading)
            columns = rows.write(map(records.row, objects), records.names)
    except UnicodeError as error:
        raise not_decoded(reading.encoding) from error
    if not columns:
        raise NotATable("it holds no records")
    return Understood(encoding=encoding, is_guess=is_guess, columns=columns).with_notes(*notes)


def _find_records(
    values: JSONValues, notes: list[str], *, is_lines: bool
) -> Iterator[dict[str, Any]]:
    """The records of a file; a note on where they were is added to ``notes``, unless obvious."""
    numbered = iter(values)
    line, value = next(numbered, (0, None))
    if not line:
        return
    if not isinstance(value, dict):
        raise NotATable(f"line {line}: it holds {_kind_of(value)}, not objects")
    second = next(numbered, None)
    if second is None and not (values.is_list or is_lines):
        within, note = _records_of_object(value)
        notes.append(note)
        yield from (dict(record) for record in within)
        return
    yield value
    for at, other in numbered if second is None else chain([second], numbered):
        if not isinstance(other, dict):
            raise UnreadableFile(
                f"line {at}: it holds {_kind_of(other)} where the values before are objects"
            )
        yield other


def _kind_of(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return "a text" if isinstance(value, str) else "a single value"


class _Records:
    """Collects the columns of objects, in the order in which they first appear."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, ...], int] = {}

    def row(self, record: Mapping[str, Any]) -> list[object]:
        """The cells of an object, in the order of the columns known so far."""
        row: list[object] = [None] * len(self._places)
        for name, value in record.items():
            if isinstance(value, dict) and value:
                for inner, cell in value.items():
                    self._put(row, (name, inner), cell)
            else:
                self._put(row, (name,), value)
        return row

    def names(self) -> tuple[str, ...]:
        """The columns' names: ``address.city`` for a field of an inner object."""
        return numbered_names([".".join(path).strip() for path in self._places])

    def _put(self, row: list[object], path: tuple[str, ...], cell: object) -> None:
        at = self._places.setdefault(path, len(self._places))
        if at == len(row):
            row.append(cell)
        else:
            row[at] = cell


def _records_of_object(whole: Mapping[str, Any]) -> tuple[Sequence[Mapping[str, Any]], str]:
    """The records in a file that is one object, and a note on where they were.

    The records are the only list of objects in it, or its lists are the columns of a table.

    Raises:
        NotATable: the object holds neither.
    """
    tables = [name for name, value in whole.items() if _is_table(value)]
    if len(tables) == 1:
        (name,) = tables
        others = [other for other in whole if other != name]
        left = f"; left out: {', '.join(others)}" if others else ""
        return whole[name], f"the table is the list {cited(name)}{left}"
    if tables:
        raise NotATable(f"it holds several lists ({', '.join(tables)}); write each to its own file")
    lists = [value for value in whole.values() if isinstance(value, list)]
    if lists and len(lists) == len(whole):
        if len({len(value) for value in lists}) > 1:
            raise NotATable("it is one object whose lists differ in length")
        return [dict(zip(whole, cells, strict=True)) for cells in zip(*lists, strict=True)], (
            "each list is a column"
        )
    raise NotATable("it is one object, not a list of objects")


def _is_table(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(record, dict) for record in value)
    )
