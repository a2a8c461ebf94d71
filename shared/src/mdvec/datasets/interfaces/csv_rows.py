"""The rows of a CSV file as DuckDB reads them: as texts, with every line accounted for.

If a quotation mark is never closed, DuckDB drops the rest of the file without an error.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path

import duckdb

from mdvec.datasets.core.sheet_cells import TOTAL_AMONG, is_total, total_in
from mdvec.datasets.core.value_types import SPACES, trimmed
from mdvec.datasets.interfaces.connection import first_line, one_path
from mdvec.datasets.interfaces.csv_head import Head, empty_row_byte
from mdvec.files import UnreadableFile
from mdvec.sizes import MEGABYTE
from mdvec.text import UTF_8, counted, literal

_BLOCK = 2**20
_MARK = ord('"')
_COUNTED_AT_ONCE = 2**17
_MAX_ROW_BYTES = 2**25
_MAX_LINE_BYTES = 64 * MEGABYTE
_BLANK_LINE = re.compile(rb"\n(?=\r?\n)")
_MAX_TOTAL_LENGTH = 50
_MAX_REFUSED_CELLS = 100_000
"""How many reasons for refused rows are stored, times the columns: each missing cell is one."""
NullsIn = Callable[[str], Sequence[str]]
"""Gives the texts that mean no value in a column of this name."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The number of lines in a file.

    ``is_uniform`` is whether all end in LF, or all in CR LF, without other CRs; ``ends_blank`` is
    whether the last one is blank.
    """

    number: int
    is_uniform: bool
    ends_blank: bool


def lines_of(file: Path) -> Lines:
    """The lines of a file.

    Raises:
        UnreadableFile: one is too long to be read into memory, or the file cannot be read.
    """
    ends = returns = pairs = 0
    block = b""
    try:
        with file.open("rb") as stream:
            stream.seek(0)  # a path under /dev/fd may share a position
            while start := stream.read(_COUNTED_AT_ONCE):
                rest = stream.readline(_MAX_LINE_BYTES)
                block = b"\n" + start + rest
                length = len(block) - block.rindex(b"\n", 0, len(start) + 1) - 1
                if length > _MAX_LINE_BYTES and b"\r" not in rest:
                    raise UnreadableFile(
                        f"line {ends + start.count(10) + 1} has more than "
                        f"{_MAX_LINE_BYTES // MEGABYTE} MB; is it a table with one row a line?"
                    )
                ends += block.count(b"\n") - 1
                if b"\r" in block:
                    returns += block.count(b"\r")
                    pairs += block.count(b"\r\n")
    except OSError as error:
        raise UnreadableFile.of_error(error) from error
    return Lines(
        ends + (block[-1:] not in (b"", b"\n")),
        returns == pairs and returns in (0, ends),
        block.endswith((b"\n\n", b"\n\r\n")),
    )


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table, in a file that DuckDB can read.

    Attributes:
        file: the file, in UTF-8.
        head: the lines before the rows.
        skipped: the number of lines before them in ``file``; the others were not copied.
        lines: the number of lines that the rows take, including blank lines between them.
        is_large: whether to read in parallel, and to report progress.
        may_hold_returns: whether cells may contain CR; if so, all lines end in LF.
        is_parallel: whether several threads read parts of the file.
        empty: the number of rows without a filled cell, which are left out.
        has_short: whether some of these have fewer cells than others.
        left_out: the texts that mark rows of totals to leave out, each with its number of rows.
    """

    file: Path
    head: Head
    skipped: int
    lines: int
    is_large: bool
    may_hold_returns: bool = False
    is_parallel: bool = False
    empty: int = 0
    has_short: bool = False
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.head.names

    def query(self, nulls_in: NullsIn = lambda _: ()) -> str:
        """SQL: the rows as texts in columns c0, c1 …, in the file's order.

        Texts that ``nulls_in`` gives for a column become NULL.
        """
        cells = []
        for at, name in enumerate(self.names):
            cell, nulls = f"c{at}", ", ".join(map(literal, nulls_in(name)))
            cells.append(
                f"CASE WHEN trim({cell}) NOT IN ({nulls}) THEN {cell} END AS {cell}"
                if nulls
                else cell
            )
        rows = f"SELECT {', '.join(cells)} FROM {self._scan()}"
        asked = [f"NOT {self._is_empty}"] if self.empty else []
        if self.left_out:
            asked.append(f"{_first_of(self._first_cells, self.left_out)} IS NULL")
        return f"{rows} WHERE {' AND '.join(asked)}" if asked else rows

    @property
    def _first_cells(self) -> list[str]:
        return [f"c{at}" for at in range(len(self.names))][:TOTAL_AMONG]

    @property
    def _is_empty(self) -> str:
        """SQL: whether a row has no filled cell."""
        cells = ", ".join(f"nullif(trim(c{at}), '')" for at in range(len(self.names)))
        return f"coalesce({cells}, NULL) IS NULL"

    def without_empty(self, connection: duckdb.DuckDBPyConnection) -> Rows:
        """The rows without empty ones; in a file of one column these are missing values, and stay.

        As counting empty rows takes as long as reading all rows, the file is first searched for
        bytes that look like an empty row.
        """
        if len(self.names) == 1 or not self.lines:
            return self
        if not _may_have_empty_rows(self.file, self.head.delimiter):
            return self
        with suppress(duckdb.InvalidInputException):
            _, empty = self._counted(connection)
            return replace(self, empty=empty, lines=self.lines - empty)
        rows, complete = self._counted(connection, ", ignore_errors = true")
        with suppress(duckdb.InvalidInputException):  # a row with too many cells
            padded, empty = self._counted(connection, ", null_padding = true")
            if padded - rows == empty - complete:  # it refuses only empty rows
                return replace(self, empty=empty, has_short=True, lines=self.lines - empty)
        return replace(self, empty=complete, lines=self.lines - complete)

    def _counted(self, connection: duckdb.DuckDBPyConnection, more: str = "") -> tuple[int, int]:
        """The number of rows, and of empty ones, in a scan with ``more`` options."""
        rows, empty = connection.execute(
            f"SELECT count(*), count(*) FILTER ({self._is_empty}) FROM {self._scan(more)}"
        ).fetchone() or (0, 0)
        return int(rows), int(empty)

    def without_totals(self, connection: duckdb.DuckDBPyConnection) -> Rows:
        """The rows without rows of totals."""
        totals = totals_among(connection, self._first_cells, f"({self.query()})")
        return replace(self, left_out=totals, lines=self.lines - sum(totals.values()))

    def _scan(self, more: str = "") -> str:
        # DuckDB 2.0 takes the first CR as the line end, even within a cell, and with new_line it
        # loses rows of files whose lines end in CR LF. By default its buffer has the size of 16
        # lines of the maximum length.
        ends = ", new_line = '\\n'" if self.may_hold_returns else ""
        more = more or (", ignore_errors = true" if self.has_short else "")
        types = ", ".join(f"c{at}: 'VARCHAR'" for at in range(len(self.names)))
        return (
            f"read_csv({literal(one_path(self.file))}, columns = {{{types}}}, "
            f"auto_detect = false, header = false, skip = {self.skipped}, compression = 'none', "
            f"delim = {literal(self.head.delimiter)}, quote = '\"', escape = '\"', comment = '', "
            "strict_mode = true, hive_partitioning = false, "
            f"max_line_size = {_MAX_ROW_BYTES}, buffer_size = {_MAX_ROW_BYTES}, "
            f"parallel = {self.is_parallel}{ends}{more})"
        )

    def has_all(self, connection: duckdb.DuckDBPyConnection, rows: int, cells: str) -> bool:
        """Whether ``rows`` rows account for all lines; ``cells`` is a SELECT of their cells."""
        lines, text = self.lines, "cell"
        if rows == lines:
            return True
        if len(self.names) > 1:  # then blank lines are not rows, and within cells they are text
            lines -= _blank_lines(self.file)
            text = "regexp_replace(cell, '\n(\r?\n)+', '\n', 'g')"
        (within,) = connection.execute(
            f"SELECT sum(strlen({text}) - strlen(replace({text}, '\n', ''))) FROM ({cells})"
        ).fetchone() or (0,)
        return rows + int(within or 0) == lines

    def fault(self, connection: duckdb.DuckDBPyConnection, error: Exception) -> UnreadableFile:
        """The error for the first row that DuckDB refuses; it names the row's line."""
        limit = max(_MAX_REFUSED_CELLS // len(self.names), 1)
        refusing = f", ignore_errors = true, store_rejects = true, rejects_limit = {limit}"
        connection.execute(f"SELECT count(*) FROM {self._scan(refusing)}").fetchall()
        cell = f'[{SPACES}]*("[{SPACES}]*")?[{SPACES}]*'
        blank = rf"[\r\n]*({cell}{re.escape(self.head.delimiter)})*{cell}[\r\n]*"
        is_empty = (
            f"error_type = 'MISSING COLUMNS' AND regexp_full_match(csv_line, {literal(blank)})"
        )
        first = connection.execute(
            f"SELECT line_byte_position, error_type, error_message, {is_empty} AS is_empty "
            "FROM reject_errors ORDER BY is_empty, line_byte_position LIMIT 1"
        ).fetchone()
        if first is None and "unterminated quote" in str(error):
            return self.never_closed()
        if first is None:
            return UnreadableFile(f"it cannot be read as CSV ({first_line(error)})")
        position, kind, message, is_harmless = first
        line = self.line_at(int(position) - 1)
        if is_harmless:  # the limit hides the row that is not
            uneven = self._first_uneven()
            if uneven is None:
                return UnreadableFile(f"a row below line {line} cannot be read as CSV")
            line, message = uneven
        return UnreadableFile(f"line {line}: {self._explain(kind, message)}")

    def _first_uneven(self) -> tuple[int, str] | None:
        """The line of the first filled row of another width, and its number of cells."""
        with self.file.open(encoding=UTF_8, newline="") as text, suppress(csv.Error):
            below = islice(text, self.skipped, None)
            reader, above = csv.reader(below, delimiter=self.head.delimiter), 0
            for row in reader:
                if len(row) != len(self.names) and any(map(trimmed, row)):
                    return self.head.lines + above + 1, str(len(row))
                above = reader.line_num
        return None

    def never_closed(self) -> UnreadableFile:
        """The refusal of a file whose end lies within a cell."""
        line = self.line_at(_last_opening(self.file))
        return UnreadableFile(f"line {line}: a quotation mark opens a cell that is never closed")

    def line_at(self, position: int) -> int:
        """The number in the user's file of the first line from a position on that is not blank."""
        line = self.head.lines - self.skipped + 1
        with self.file.open("rb") as stream:
            stream.seek(0)
            while position > 0 and (block := stream.read(min(position, _BLOCK))):
                line, position = line + block.count(b"\n"), position - len(block)
            while (blank := stream.readline(_BLOCK)) and not blank.strip(b"\r\n"):
                line += 1
        return line

    def _explain(self, kind: str, message: str) -> str:
        if kind in ("MISSING COLUMNS", "TOO MANY COLUMNS"):
            number = message.rpartition(" ")[2]
            if kind == "TOO MANY COLUMNS":  # DuckDB stops counting there
                number = f"at least {number}"
            delimiter = self.head.delimiter
            shown = "tabs" if delimiter == "\t" else repr(delimiter)
            cells = "1 cell" if number == "1" else f"{number} cells"
            return (
                f"the row has {cells} for {counted(len(self.names), 'column')}; it was split at "
                f"{shown}: --delimiter names another, --header-row another line of names"
            )
        if kind == "LINE SIZE OVER MAXIMUM":
            return (
                f"the row has more than {_MAX_ROW_BYTES // 2**20} MB; is a quotation mark never "
                "closed?"
            )
        if kind == "UNQUOTED VALUE":
            return "it is not valid CSV (a quotation mark stands within a cell in such marks)"
        return f"it is not valid CSV ({message})"


def _may_have_empty_rows(file: Path, delimiter: str) -> bool:
    """Whether a line may hold only delimiters, spaces and quotation marks in a file with lines."""
    line = rb"%b+\r?(?:\n|\Z)" % empty_row_byte(delimiter)
    with file.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as text:
        return bool(re.match(line, text) or re.search(rb"\n" + line, text))


def _blank_lines(file: Path) -> int:
    """How many lines of a file are blank; the file must not be empty."""
    with file.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as text:
        begins_blank = text[:2].lstrip(b"\r")[:1] == b"\n"
        return begins_blank + sum(1 for _ in _BLANK_LINE.finditer(text))


def _last_opening(file: Path) -> int:
    """The byte position at which the last cell begins, in a file that ends within a quoted cell.

    Marks within a cell are doubled, so the first of an odd run of marks opens a cell.
    """
    with file.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as text:
        last = text.rfind(b'"')
        while last > 0:
            first = last
            while first > 0 and text[first - 1] == _MARK:
                first -= 1
            if (last - first) % 2 == 0:
                return first
            last = text.rfind(b'"', 0, first)
    return max(last, 0)


def totals_among(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[str], table: str
) -> dict[str, int]:
    """The texts that mark rows as totals, each with the number of its rows.

    ``columns`` are the SQL names of the first text columns of ``table``.
    """
    if not columns:
        return {}
    labels = connection.execute(
        " UNION ".join(
            f"SELECT trim({cell}) FROM {table} WHERE length({cell}) <= {_MAX_TOTAL_LENGTH} "
            f"AND (contains({cell}, '計') OR contains(lower({cell}), 'total'))"
            for cell in columns
        )
    ).fetchall()
    if not (totals := [text for (text,) in labels if is_total(text)]):
        return {}
    rows = connection.execute(
        f"SELECT {_first_of(columns, totals)} AS total, count(*) FROM {table} "
        "GROUP BY total HAVING total IS NOT NULL ORDER BY total"
    )
    return dict(rows.fetchall())


def totals_of(rows: Iterable[Sequence[str | None]]) -> dict[str, int]:
    """The same as ``totals_among`` for rows in memory, faster than a query."""
    totals = (total_in(cell for cell in row[:TOTAL_AMONG] if _may_sum(cell)) for row in rows)
    counted = Counter(filter(None, totals))
    return {text: counted[text] for text in sorted(counted)}


def _may_sum(cell: str | None) -> bool:
    if cell is None or len(cell) > _MAX_TOTAL_LENGTH:
        return False
    return "計" in cell or "total" in cell.lower()


def _first_of(cells: Sequence[str], texts: Iterable[str]) -> str:
    """SQL: the first of the cells that is one of the texts, else NULL."""
    some = ", ".join(map(literal, texts))
    matches = ", ".join(
        f"CASE WHEN trim({cell}) IN ({some}) THEN trim({cell}) END" for cell in cells
    )
    return f"coalesce({matches}, NULL)"
