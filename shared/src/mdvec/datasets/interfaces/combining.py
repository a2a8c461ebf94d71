"""Writes the rows of several Parquet files into one, and finds files that repeat another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from mdvec.datasets.core.differing import LONG, MAX_EXACT, NO_VALUES, in_unit
from mdvec.datasets.core.value_types import ValueKind
from mdvec.datasets.interfaces.connection import first_line, parquet_scan, safe_connection
from mdvec.datasets.interfaces.parquet import CombinationFacts, copy_options
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.interfaces.typed_columns import MIN_WIDE_COLUMNS
from mdvec.files import UnreadableFile, opened_within
from mdvec.platform import path_of
from mdvec.text import identifier, literal

_FILES_AT_ONCE = 100
_UNCERTAIN = ("VARCHAR", "BIGINT")
_MIN_ALIKE = 5
_MAX_NAMED = 3
_Repeated = tuple[str, int, str]
"""A file, the number of its rows, and a larger file that has all of them too."""


@dataclass(frozen=True, slots=True)
class CombinedRows:
    """Rows of a combined table that are stored in one Parquet file.

    Attributes:
        paths: the user's files that the rows are from.
        parquet: the Parquet file with the rows.
        types: the columns' types in ``parquet``, without columns that the combination adds.
        folder: the folder that must contain ``parquet``, if it is the user's own file.
        from_path: the columns that folders in the path add, with their values as text.
        units: by column, the unit of its numbers, if they have one.
        file_column: the column with each row's file, if ``parquet`` has rows of several files.
    """

    paths: tuple[str, ...]
    parquet: Path
    types: Mapping[str, str]
    folder: Path | None = None
    from_path: tuple[tuple[str, str | None], ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    file_column: str = ""

    @property
    def where(self) -> str:
        """SQL: the WHERE clause for the rows of ``paths``; "" if ``parquet`` has no others."""
        if not self.file_column:
            return ""
        paths = ", ".join(map(literal, self.paths))
        return f" WHERE {identifier(self.file_column)} IN ({paths})"


@dataclass(frozen=True, slots=True)
class CombinedColumns:
    """The columns of a combined table, with their types: of its files, of folders, and ``file``.

    ``file`` is the name of the column with each row's file.
    """

    types: Mapping[str, str]
    from_path: Mapping[str, str]
    file: str
    facts: CombinationFacts = field(default_factory=CombinationFacts)


def exact_types(rows: CombinedRows, columns: Collection[str]) -> dict[str, str]:
    """The types of some columns by name, as ``agreed_type`` takes them, according to their values.

    Raises:
        UnreadableFile: the Parquet file cannot be read.
    """
    types = {
        name: in_unit(rows.types.get(name, NO_VALUES), rows.units.get(name, "")) for name in columns
    }
    uncertain = [name for name in columns if rows.types.get(name) in _UNCERTAIN]
    if not uncertain:
        return types
    with _open_parts([rows]) as (connection, (scan,)):
        for name in uncertain:
            column = identifier(name)
            is_text = rows.types[name] == "VARCHAR"
            has_values = f"bool_or({ValueKind.is_value(column)})" if is_text else f"count({column})"
            is_short = "true" if is_text else f"coalesce(max(abs({column})), 0) < {MAX_EXACT}"
            any_value, all_short = connection.execute(
                f"SELECT {has_values}, {is_short} FROM {scan}{rows.where}"
            ).fetchone() or (None, None)
            if not any_value:
                types[name] = NO_VALUES
            elif not all_short:
                types[name] = LONG
    return types


def filled_cells(rows: CombinedRows, columns: Sequence[str]) -> dict[str, int]:
    """How many cells of some columns of texts are not empty.

    Raises:
        UnreadableFile: the Parquet file cannot be read.
    """
    counts = ", ".join(f"count(nullif(trim({identifier(name)}), ''))" for name in columns)
    with _open_parts([rows]) as (connection, (scan,)):
        counted = connection.execute(f"SELECT {counts} FROM {scan}{rows.where}").fetchone() or ()
    return dict(zip(columns, map(int, counted), strict=True))


def combine(parts: Sequence[CombinedRows], columns: CombinedColumns, snapshots: Snapshots) -> Path:
    """Write all rows to a new Parquet file, in the order of ``parts``.

    Raises:
        UnreadableFile: rows cannot be read, or do not fit the types.
    """
    while len(parts) > _FILES_AT_ONCE:
        parts = [
            CombinedRows(
                (), _write_parts(parts[at : at + _FILES_AT_ONCE], columns, snapshots), columns.types
            )
            for at in range(0, len(parts), _FILES_AT_ONCE)
        ]
    return _write_parts(parts, columns, snapshots)


def _write_parts(
    parts: Sequence[CombinedRows], columns: CombinedColumns, snapshots: Snapshots
) -> Path:
    width = len(columns.types)
    with (
        snapshots.new() as (target, whole),
        _open_parts(parts, target, width) as (connection, scans),
    ):
        query = " UNION ALL ".join(
            _select(part, columns, scan) for part, scan in zip(parts, scans, strict=True)
        )
        options = f"{copy_options(width)}{columns.facts.metadata}"
        connection.execute(f"COPY ({query}) TO {literal(str(target))} ({options})")
    return whole


def _select(part: CombinedRows, columns: CombinedColumns, scan: str) -> str:
    """SQL: the rows of a part with the columns of the combined table."""
    if not part.paths:
        return f"SELECT * FROM {scan}"
    shown = [
        _column_sql(name, part.types.get(name, ""), kind) + f" AS {identifier(name)}"
        for name, kind in columns.types.items()
    ]
    values = dict(part.from_path)
    for name, kind in columns.from_path.items():
        value = values.get(name)
        written = "NULL" if value is None else literal(value)
        shown.append(f"CAST({written} AS {kind}) AS {identifier(name)}")
    file = identifier(columns.file)
    shown.append(file if part.file_column else f"{literal(part.paths[0])} AS {file}")
    return f"SELECT {', '.join(shown)} FROM {scan}{part.where}"


def _column_sql(name: str, has: str, wanted: str) -> str:
    column = identifier(name)
    if has == wanted:
        return column
    # A text column that becomes another type holds no values, only cells such as NA.
    return f"CAST(NULL AS {wanted})" if has in ("VARCHAR", "") else f"CAST({column} AS {wanted})"


@contextmanager
def _open_parts(
    parts: Sequence[CombinedRows], target: Path | None = None, width: int = 0
) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[str]]]:
    """A connection that can read some parts and write a target; and the SQL of each part's rows."""
    with ExitStack() as stack:
        paths = [
            part.parquet
            if part.folder is None
            else path_of(stack.enter_context(opened_within(part.parquet, part.folder)))
            for part in parts
        ]
        allowed = [*paths, *([target] if target else [])]
        is_wide = width >= MIN_WIDE_COLUMNS
        connection = stack.enter_context(safe_connection(allowed, optimizes=not is_wide))
        try:
            yield connection, [parquet_scan(path) for path in paths]
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise UnreadableFile(f"its rows cannot be combined ({first_line(error)})") from error


def repeated_rows(parquet: Path, columns: Collection[str], file_column: str) -> Iterator[str]:
    """A note on files whose rows are all in another file too, as in cumulative exports.

    Files of fewer than five different rows are skipped, as they may be equal by chance; so are
    tables of 200 columns or more, which would take long.
    """
    if len(columns) >= MIN_WIDE_COLUMNS:
        return
    with safe_connection([parquet]) as connection:
        try:
            repeated = _repeated_files(connection, parquet_scan(parquet), columns, file_column)
        except duckdb.OutOfMemoryException:  # a note is not worth a failure
            return
    if repeated:
        shown = ", ".join(
            f"{file} ({rows:,}, in {other})" for file, rows, other in repeated[:_MAX_NAMED]
        )
        more = f" and {len(repeated) - _MAX_NAMED:,} more" if len(repeated) > _MAX_NAMED else ""
        yield f"all rows of {shown}{more} are in another file as well, and count more than once"


def _repeated_files(
    connection: duckdb.DuckDBPyConnection, scan: str, columns: Collection[str], file_column: str
) -> list[_Repeated]:
    """Each file whose rows are all in a larger file, its number of rows, and that file.

    A file is compared only with the largest that has its sample rows, two at first. If that one
    lacks another row, the row becomes a sample, and the next largest that has them all is tried.
    """
    cells = ", ".join(map(identifier, columns))
    hashed = f"(SELECT {identifier(file_column)} AS file, hash({cells}) AS mark FROM {scan})"
    files = connection.execute(
        f"SELECT file, count(*) AS number, min(mark), max(mark) FROM {hashed} "
        "GROUP BY file ORDER BY number, file"
    ).fetchall()
    order = {file: at for at, (file, *_) in enumerate(files)}
    samples = {file: {least, most} for file, _, least, most in files}
    repeated: list[_Repeated] = []
    while samples:
        having = dict(
            connection.execute(
                f"SELECT mark, list(DISTINCT file) FROM {hashed} "
                "WHERE mark IN (SELECT unnest($marks)) GROUP BY mark",
                {"marks": list(set().union(*samples.values()))},
            ).fetchall()
        )
        files_with = {mark: set(those) for mark, those in having.items()}
        pairs: dict[str, str] = {}
        for file, marks in samples.items():
            others = set.intersection(*(files_with[mark] for mark in marks))
            largest = max(others, key=order.__getitem__)
            if largest != file:
                pairs[file] = largest
        missing = _missing_marks(connection, hashed, pairs) if pairs else {}
        repeated += [
            (file, files[order[file]][1], pairs[file])
            for file, mark in missing.items()
            if mark is None
        ]
        samples = {
            file: samples[file] | {mark} for file, mark in missing.items() if mark is not None
        }
    return sorted(repeated)


def _missing_marks(
    connection: duckdb.DuckDBPyConnection, hashed: str, pairs: Mapping[str, str]
) -> dict[str, int | None]:
    """By file, a mark that the file's partner in ``pairs`` lacks, None if it has all.

    Files of fewer than ``_MIN_ALIKE`` different marks are left out.
    """
    return dict(
        connection.execute(
            f"""
WITH pairs AS (SELECT unnest($files) AS file, unnest($others) AS other), marks AS MATERIALIZED (
    SELECT DISTINCT file, mark FROM {hashed}
    WHERE file IN (SELECT file FROM pairs UNION SELECT other FROM pairs)
)
SELECT pairs.file, any_value(a.mark) FILTER (b.mark IS NULL) FROM pairs
JOIN marks AS a ON a.file = pairs.file
LEFT JOIN marks AS b ON b.file = pairs.other AND b.mark = a.mark
GROUP BY pairs.file HAVING count(*) >= {_MIN_ALIKE}
""",
            {"files": list(pairs), "others": list(pairs.values())},
        ).fetchall()
    )
