"""Casts an export's rows to types that polars or pandas keep exactly, else to text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mdvec.datasets import (
    DuckDBType,
    UnknownType,
    allowed_paths,
    one_path,
    parquet_scan,
    parse_type,
)
from mdvec.text import identifier, literal

if TYPE_CHECKING:
    import duckdb

Library = Literal["polars", "pandas"]

EXPORT_VIEW = "export"
"""The name of the view that ``exact_rows`` creates."""
STORED_ROWS = "found"
"""The name of the view or table that ``create_stored_rows`` creates."""
_TEXT = DuckDBType("VARCHAR")
_LARGE = {"HUGEINT", "UHUGEINT"}
_AS_JSON = {"VARIANT", "UNION"}
_DATED = {
    "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE",
}  # fmt: skip
_TIMES = {"TIME", "TIME_NS"}
_KEPT_TYPES = {
    "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "FLOAT", "DOUBLE", "DECIMAL", "VARCHAR", "BLOB", '"NULL"',
} | _DATED | _TIMES  # fmt: skip
_NOT_IN_PANDAS = {"TIME_NS"}
_NOT_IN_PYTHON = {"TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
"""In nested values pandas uses Python's own types: microseconds only, and time zones by pytz."""
_BEYOND_CALENDARS = r"infinity|\(BC\)|[0-9]{5,}-[0-9]{2}-|24:00:00"
"""Matches the text of a date or time that DuckDB has and Python lacks."""


@contextmanager
def export_connection(
    paths: Sequence[Path], folder: str | None = None, time_zone: str = "UTC"
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection that can only read these files, and write to the folder.

    The progress-bar setting is left unset: in a notebook without ipywidgets, DuckDB refuses to
    set it.
    """
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(f"SET TimeZone = {literal(time_zone)}")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET allowed_paths = $paths", {"paths": allowed_paths(paths)})
        folders = [folder] if folder is not None else []
        connection.execute("SET allowed_directories = $folders", {"folders": folders})
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


def scan_of(path: Path, types: Mapping[str, str] | None) -> str:
    """SQL: the rows as stored in the file; in a CSV file every column is text."""
    if path.suffix == ".parquet":
        return parquet_scan(path)
    longest = max(2_000_000, path.stat().st_size)
    names = ""
    if types is not None:
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in types)
        names = f", auto_detect = false, columns = {{{columns}}}"
    return (
        f"read_csv({literal(one_path(path))}, all_varchar = true, header = true, delim = ',', "
        f"quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false, "
        f"max_line_size = {longest}, hive_partitioning = false{names})"
    )


def create_stored_rows(
    connection: duckdb.DuckDBPyConnection, source: str, types: Mapping[str, str] | None
) -> None:
    """Create ``STORED_ROWS`` over a file, in the types that the query's result had.

    ``source`` is the SQL of ``scan_of``; ``types`` are the original types of a CSV file.
    """
    # Parsing a CSV file twice would take longer than storing its rows.
    made = "VIEW" if types is None else "TABLE"
    columns = _typed_columns(types)
    connection.execute(f"CREATE TEMP {made} {STORED_ROWS} AS SELECT {columns} FROM {source}")


def exact_rows(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    types: Mapping[str, str] | None,
    library: Library,
) -> tuple[dict[str, DuckDBType], bool]:
    """Create ``EXPORT_VIEW`` over a source, casting columns to types that the library keeps.

    Returns the new types, and whether they equal the source's. ``types`` are the original types
    of a CSV file, in which every column is text.
    """
    create_stored_rows(connection, source, types)
    columns = {name: _type(kind) for name, kind in column_types(connection)}
    doubtful = _unrepresentable_columns(connection, columns, library)
    targets = {
        name: _target_type(kind, library, name in doubtful) for name, kind in columns.items()
    }
    casts = ", ".join(_cast(name, columns[name], kind) for name, kind in targets.items())
    connection.execute(f"CREATE TEMP VIEW {EXPORT_VIEW} AS SELECT {casts} FROM {STORED_ROWS}")
    return targets, types is None and targets == columns


def column_types(
    connection: duckdb.DuckDBPyConnection, source: str = STORED_ROWS
) -> list[tuple[str, str]]:
    """The names and types of the columns of a table, or of a SELECT in parentheses."""
    described = connection.execute(
        f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {source})"
    )
    return [(str(name), str(kind)) for name, kind in described.fetchall()]


def _unrepresentable_columns(
    connection: duckdb.DuckDBPyConnection, columns: Mapping[str, DuckDBType], library: Library
) -> frozenset[str]:
    """The columns with a value that the library could not represent in their type."""
    checks = {name: _loss_check(name, kind, library) for name, kind in columns.items()}
    checked = {name: check for name, check in checks.items() if check is not None}
    if not checked:
        return frozenset()
    sums = ", ".join(f"coalesce(bool_or({check}), false)" for check in checked.values())
    row = connection.execute(f"SELECT {sums} FROM {STORED_ROWS}").fetchone() or ()
    return frozenset(name for name, is_doubtful in zip(checked, row, strict=True) if is_doubtful)


def _typed_columns(types: Mapping[str, str] | None) -> str:
    """SQL: a file's columns, cast to ``types``; nested values in a CSV file stay text."""
    if types is None:
        return "*"
    read = ((identifier(name), _type(kind)) for name, kind in types.items())
    return ", ".join(
        name if kind.is_nested or kind.family in _AS_JSON else f"CAST({name} AS {kind}) AS {name}"
        for name, kind in read
    )


def _type(kind: str) -> DuckDBType:
    try:
        return parse_type(kind)
    except UnknownType:
        return DuckDBType(kind)


def _loss_check(name: str, kind: DuckDBType, library: Library) -> str | None:
    """SQL: whether a value may not be representable; None if all values are."""
    column, leaves = identifier(name), kind.leaves()
    if kind.family in _LARGE:
        return f"{column} IS NOT NULL AND TRY_CAST({column} AS BIGINT) IS NULL"
    if kind.family == "DECIMAL" and library == "pandas":
        digits = f"replace(replace(CAST({column} AS VARCHAR), '-', ''), '.', '')"
        return f"length(ltrim({digits}, '0')) > 15"
    if kind.name == "TIMESTAMP_NS":
        return f"NOT isfinite({column})"
    if kind.name in _DATED:
        last = "9999-12-31" if kind.name == "DATE" else "9999-12-31 23:59:59.999999"
        return f"{column} NOT BETWEEN '0001-01-01'::{kind} AND '{last}'::{kind}"
    if leaves & (_DATED | _TIMES):
        return f"regexp_matches(CAST({column} AS VARCHAR), {literal(_BEYOND_CALENDARS)})"
    return None


def _target_type(kind: DuckDBType, library: Library, doubtful: bool) -> DuckDBType:  # noqa: FBT001 - see exact_rows
    """The type in which the library gets the column."""
    if not kind.is_nested and kind.family in _LARGE and not doubtful:
        return DuckDBType("BIGINT")
    if kind.family == "DECIMAL" and library == "pandas" and not doubtful:
        return DuckDBType("DOUBLE")

    def change(part: DuckDBType) -> DuckDBType | None:
        if part.family in _AS_JSON:
            return _TEXT
        if part.is_nested:
            return None
        lost = doubtful and part.family in _DATED | _TIMES
        lost = lost or (library == "pandas" and part.family in _NOT_IN_PANDAS)
        lost = lost or (library == "pandas" and kind.is_nested and part.family in _NOT_IN_PYTHON)
        return _TEXT if lost or part.family not in _KEPT_TYPES else None

    return kind.replaced(change)


def _cast(name: str, kind: DuckDBType, target: DuckDBType) -> str:
    column = identifier(name)
    if kind == target:
        return column
    if (
        kind.family == "DECIMAL" and target.name == "DOUBLE"
    ):  # via text: a binary division may differ
        return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE) AS {column}"
    with_json = kind.replaced(lambda part: DuckDBType("JSON") if part.family in _AS_JSON else None)
    value = column if with_json == kind else f"CAST({column} AS {with_json})"
    return f"CAST({value} AS {target}) AS {column}"
