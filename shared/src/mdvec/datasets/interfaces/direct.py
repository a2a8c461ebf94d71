"""Large CSV files that DuckDB may read itself, because the result is the same as Python's.

Python's parser is the rule: it names a bad line, and keeps each cell as it is written. DuckDB's
takes a tenth of the time, but forgives what Python refuses: it drops an empty cell too many, and
spaces outside of quotes. So it reads only files without those spaces, and its rows count only if
every delimiter of the file is accounted for, between two cells or within one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from mdvec.datasets.interfaces.connection import one_path
from mdvec.files import UnreadableFile, file_encoding
from mdvec.text import UTF_8, literal

if TYPE_CHECKING:
    import duckdb

MIN_DIRECT_BYTES = 2**24
"""Smaller files are read fast enough by Python."""
_BLOCK = 2**20
_MAX_LINE_BYTES = 2**20
_MAX_SPACES = 64
_SPACE_AND_QUOTE = (b' "', b'" ', b'\t"', b'"\t')
_NOT_TEXT = (b"\0", b"\x1b")
"""Bytes of files that are refused, or may be in ISO-2022-JP."""
_NOT_HALF_WIDTH = re.compile(rb"[\x80-\xa0\xe0-\xff]")
"""Bytes beyond ASCII that cannot be half-width katakana, so valid UTF-8 with one is UTF-8."""


class ReadingsDiffer(Exception):
    """DuckDB does not read the file as Python does; let Python read it."""


class LinesInCells(Exception):
    """Rows span lines, so DuckDB must not begin in the middle of the file."""


@dataclass(frozen=True, slots=True)
class DirectFile:
    """A file that DuckDB may read if it is UTF-8, which DuckDB checks.

    Attributes:
        path: the file.
        delimiter: what separates its cells.
        skipped: the lines before the first row, the header's among them.
        lines: the lines after those.
        delimiters: how often the delimiter occurs in these, in cells or between them.
        is_parallel: whether several threads begin at different lines.
    """

    path: Path
    delimiter: str
    skipped: int
    lines: int
    delimiters: int
    is_parallel: bool = True

    def scan(self, columns: Sequence[str]) -> str:
        """SQL: its rows as text, in the file's order."""
        # With new_line, DuckDB 2.0 loses rows of files whose lines end in CR LF.
        types = ", ".join(f"{column}: 'VARCHAR'" for column in columns)
        return (
            f"read_csv({literal(one_path(self.path))}, columns = {{{types}}}, "
            f"auto_detect = false, header = false, skip = {self.skipped}, compression = 'none', "
            f"delim = {literal(self.delimiter)}, quote = '\"', escape = '\"', comment = '', "
            "strict_mode = true, null_padding = false, hive_partitioning = false, "
            f"max_line_size = {_MAX_LINE_BYTES}, parallel = {self.is_parallel})"
        )

    def check(
        self, connection: duckdb.DuckDBPyConnection, rows: str, width: int, texts: Sequence[str]
    ) -> int:
        """Check that every delimiter is accounted for, and return the number of rows.

        ``rows`` is SQL of the rows read, ``width`` their number of cells; only ``texts``, columns
        of texts, can hold a delimiter or a line's end.

        Raises:
            ReadingsDiffer: DuckDB took other cells than there are, or one too long for Python.
            LinesInCells: rows span lines, so threads may have begun within a cell.
        """
        delimiter = literal(self.delimiter)
        totals = ", ".join(
            f"sum(strlen({text}) - strlen(replace({text}, {delimiter}, ''))), max(strlen({text}))"
            for text in texts
        )
        cursor = connection.execute(
            f"SELECT {', '.join(filter(None, ['count(*)', totals]))} {rows}"
        )
        number, *cells = (int(total or 0) for total in cursor.fetchone() or (0,))
        if self.is_parallel and number != self.lines:
            raise LinesInCells
        if number * (width - 1) + sum(cells[::2]) != self.delimiters:
            raise ReadingsDiffer
        if max(cells[1::2], default=0) > csv.field_size_limit():
            raise ReadingsDiffer
        return number


def direct_file(path: Path, delimiter: str, skipped: int) -> DirectFile | None:
    """The file as one that DuckDB may read after ``skipped`` lines; None if it may not."""
    seen = _Bytes(delimiter)
    with path.open("rb") as stream:
        stream.seek(0)  # a path under /dev/fd may share a position
        head = b""
        for _ in range(skipped):
            head += stream.readline(_MAX_LINE_BYTES)
        if not head.endswith(b"\n") or head.count(b"\n") != skipped:
            return None
        in_head = head.count(delimiter.encode())
        is_fit = seen.take(head) and all(map(seen.take, _blocks(stream)))
    if not is_fit or not seen.is_whole() or not (seen.is_utf8_if_valid or _is_utf8(path)):
        return None
    return DirectFile(path, delimiter, skipped, seen.lines - skipped, seen.delimiters - in_head)


def is_large(path: Path, min_bytes: int) -> bool:
    """Whether a file has so many bytes."""
    with path.open("rb") as stream:
        return stream.seek(0, SEEK_END) >= min_bytes


class _Bytes:
    """What the bytes of a file hold, taken block by block.

    numpy counts single bytes ten times as fast as ``bytes.count``.
    """

    def __init__(self, delimiter: str) -> None:
        self.delimiters = self._returns = self._ends = self._pairs = 0
        self._mark = delimiter.encode()
        self._outside = b"\r\n" + self._mark
        outside = re.escape(self._outside)
        self._spaced = re.compile(
            rb'[%b][ \t]+"(?!"[^ \t"%b])|"[ \t]+["%b]' % (outside, outside, outside)
        )
        self._is_ascii, self._is_beyond_katakana = True, False
        self._before = b"\n"

    @property
    def lines(self) -> int:
        """The number of lines, the last one perhaps without an end."""
        return self._ends + (not self._before.endswith(b"\n"))

    @property
    def is_utf8_if_valid(self) -> bool:
        """Whether the bytes can be in no other encoding if they are valid UTF-8."""
        return self._is_ascii or self._is_beyond_katakana

    def take(self, block: bytes) -> bool:
        """Note one more block; False if DuckDB may not read the file."""
        import numpy as np

        if any(each in block for each in _NOT_TEXT):
            return False
        codes = np.frombuffer(block, np.uint8)
        self.delimiters += int(np.count_nonzero(codes == self._mark[0]))
        self._ends += int(np.count_nonzero(codes == ord("\n")))
        if b"\r" in block:
            self._returns += int(np.count_nonzero(codes == ord("\r")))
            self._pairs += block.count(b"\r\n")
        self._pairs += self._before[-1:] == b"\r" and block[:1] == b"\n"
        if not self._is_beyond_katakana and not block.isascii():
            self._is_ascii = False
            self._is_beyond_katakana = _NOT_HALF_WIDTH.search(block) is not None
        joined = self._before + block
        self._before = joined[-_MAX_SPACES:]
        return bool(self._before.strip(b" \t")) and not self._has_space_outside(joined)

    def is_whole(self) -> bool:
        """Whether the file, of which no block was refused, may be read by DuckDB."""
        is_uniform = self._returns == self._pairs and self._returns in (0, self._ends)
        is_open = self._has_space_outside(self._before)
        return is_uniform and not is_open

    def _has_space_outside(self, text: bytes) -> bool:
        """Whether a space stands between a quotation mark and the end of its cell."""
        import numpy as np

        if not any(each in text for each in _SPACE_AND_QUOTE):
            return False
        codes = np.frombuffer(text + b"\n\n", np.uint8)
        quotes, spaces = codes == ord('"'), (codes == ord(" ")) | (codes == ord("\t"))
        is_edge = np.zeros(256, np.bool_)
        is_edge[list(self._outside + b' \t"')] = True
        before = np.flatnonzero(spaces[1:-3] & quotes[2:-2])
        before = before[is_edge[codes[before]]]
        after = np.flatnonzero(quotes[:-2] & spaces[1:-1])
        is_doubled = quotes[before + 3] & ~is_edge[codes[before + 4]]  # within a cell
        if is_edge[codes[after + 2]].any() or not is_doubled.all():
            return self._spaced.search(text + b"\n\n") is not None
        return False


def _is_utf8(path: Path) -> bool:
    try:
        return file_encoding(path) == UTF_8
    except UnreadableFile:
        return False


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.read(_BLOCK) + stream.readline(_MAX_LINE_BYTES):
        yield block
