"""Loads an export as a DataFrame; columns whose values would change are loaded as text."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from mdvec.analysis.errors import MAX_LOAD_ROWS, LibraryMissing, TooManyRows
from mdvec.analysis.exports import ExportFolder
from mdvec.datasets import (
    DuckDBType,
    allowed_paths,
    export_scan,
    parse_type,
)
from mdvec.installation import this_installation
from mdvec.settings import Settings, load_settings
from mdvec.text import identifier, literal

if TYPE_CHECKING:
    import duckdb

INSTALL = this_installation().adding_extra("charts")
Library = Literal["polars", "pandas"]

EXPORT_VIEW = "export"
"""The name of the view that ``exact_rows`` creates."""
STORED_ROWS = "stored_rows"
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
"""Types that nested values in pandas cannot have: DuckDB turns them into Python's own types, which
lack nanoseconds and need pytz for time zones."""
_BEYOND_CALENDARS = r"infinity|\(BC\)|[0-9]{5,}-[0-9]{2}-|24:00:00"
"""Matches the text of a date or time that only DuckDB has, not Python."""


def safe_load_export(
    handle: str,
    max_rows: int = MAX_LOAD_ROWS,
    *,
    library: Library | None = None,
    folder: Path | str | None = None,
) -> Any:  # noqa: ANN401 - a frame of a library that may not be installed
    """Load an export as a polars DataFrame, or as a pandas DataFrame without polars.

    Args:
        handle: the ``handle`` that the tool ``export`` returned; paths are refused.
        max_rows: a larger export is refused.
        library: use this library, whatever else is installed.
        folder: the folder of exports; by default the folder in the settings, as for the server.

    Raises:
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
        TooManyRows: the export has more than ``max_rows`` rows.
        LibraryMissing: ``library`` is not installed, or neither polars nor pandas is.
    """
    path, types = export_file(handle, load_settings(os.environ), folder)
    chosen = _chosen_library(library)
    with TemporaryDirectory() as made, export_connection([path], made) as connection:
        source = export_scan(path, types)
        counted = connection.execute(f"SELECT count(*) FROM {source}").fetchone() or (0,)
        if (rows := int(counted[0])) > max_rows:
            raise TooManyRows(
                f"{handle} has {rows:,} rows, and max_rows is {max_rows:,}; aggregate or filter in "
                "the query of export (GROUP BY, WHERE, date_trunc), or pass a larger max_rows if "
                "the code needs every row"
            )
        targets, as_it_is = exact_rows(connection, source, types, chosen)
        if chosen == "pandas":
            return pandas_frame(connection, EXPORT_VIEW, targets)
        as_it_is = as_it_is and path.suffix == ".parquet"
        return _polars_frame(connection, path if as_it_is else Path(made) / "rows.parquet")


def export_file(
    handle: str, settings: Settings, folder: Path | str | None
) -> tuple[Path, dict[str, str] | None]:
    """The file of an export, and the types of its columns if it is a CSV file that has them.

    Raises:
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
    """
    exports = ExportFolder(
        Path(folder) if folder is not None else settings.analytics_folder,
        settings.analytics.export_ttl_seconds,
        settings.analytics.max_total_bytes,
    )
    path = exports.path_of(handle)
    return path, exports.types_of(handle) if path.suffix == ".csv" else None


def _chosen_library(library: Library | None) -> Library:
    if library not in {None, "polars", "pandas"}:
        raise LibraryMissing(f"library is 'polars' or 'pandas', not {library!r:.100}")
    for name in (library,) if library else ("polars", "pandas"):
        if find_spec(name) is not None:
            return "polars" if name == "polars" else "pandas"
    if library == "polars":
        raise LibraryMissing(
            f"polars is not installed; {this_installation().adding('polars')}, or library='pandas'"
        )
    what = "pandas is not" if library else "neither polars nor pandas is"
    raise LibraryMissing(f"{what} installed; {this_installation().adding('pandas')}")


def _polars_frame(connection: duckdb.DuckDBPyConnection, file: Path) -> Any:  # noqa: ANN401 - see above
    """Read the rows from a Parquet file, written from the view unless it exists."""
    import polars as pl

    if not file.exists():
        connection.execute(f"COPY (FROM {EXPORT_VIEW}) TO {literal(str(file))} (FORMAT parquet)")
    return pl.read_parquet(file, glob=False)


def pandas_frame(
    connection: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, DuckDBType]
) -> Any:  # noqa: ANN401 - a frame of a library that may not be installed
    """A DataFrame with columns of these types; those that DuckDB would alter are converted here."""
    import pandas as pd

    columns: dict[str, Any] = {}
    objects = [name for name, kind in types.items() if kind.is_nested or kind.family == "DECIMAL"]
    if plain := [name for name in types if name not in set(objects)]:
        with warnings.catch_warnings():  # DuckDB drops a column of times with a zone in place
            warnings.filterwarnings("ignore", "The inplace keyword in DataFrame.drop")
            frame = connection.execute(f"SELECT {_column_list(plain)} FROM {table}").df()
        columns |= dict(frame.items())
    if floats := [name for name, kind in types.items() if kind.name in {"FLOAT", "DOUBLE"}]:
        arrays = connection.execute(f"SELECT {_column_list(floats)} FROM {table}").fetchnumpy()
        columns |= {name: _floats(arrays[name], columns[name]) for name in floats}
    if objects:
        rows = connection.execute(f"SELECT {_column_list(objects)} FROM {table}").fetchall()
        for at, name in enumerate(objects):
            columns[name] = pd.Series([row[at] for row in rows], dtype=object)
    return pd.DataFrame({name: columns[name] for name in types})


def _column_list(names: list[str]) -> str:
    return ", ".join(map(identifier, names))


def _floats(array: Any, series: Any) -> Any:  # noqa: ANN401 - of numpy and pandas
    """A float column; if it has both NaN and NULL, in a type that can hold both."""
    import numpy as np
    import pandas as pd

    mask = np.ma.getmaskarray(array)
    if not mask.any() or not np.isnan(array.data[~mask]).any():
        return series
    return pd.Series(pd.arrays.FloatingArray(array.data.copy(), mask.copy()))


@contextmanager
def export_connection(
    paths: Sequence[Path], folder: str | None = None, time_zone: str = "UTC"
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection that can only read these files, and write to the folder.

    The progress bar is left alone: in a notebook without ipywidgets, DuckDB refuses to set it.
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


def create_stored_rows(
    connection: duckdb.DuckDBPyConnection, source: str, types: Mapping[str, str] | None
) -> None:
    """Create ``STORED_ROWS`` from a file, with the types of the query's result.

    ``source`` is the SQL of ``export_scan``; ``types`` are the original types of a CSV file.
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
    """Create ``EXPORT_VIEW`` over a source, with columns cast to types that the library can hold.

    ``types`` are the original types of a CSV file, in which every column is text.

    Returns:
        The new types, and whether they are those of the source.
    """
    create_stored_rows(connection, source, types)
    columns = {name: parse_type(kind) for name, kind in column_types(connection)}
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
    read = ((identifier(name), parse_type(kind)) for name, kind in types.items())
    return ", ".join(
        name if kind.is_nested or kind.family in _AS_JSON else f"CAST({name} AS {kind}) AS {name}"
        for name, kind in read
    )


def _loss_check(name: str, kind: DuckDBType, library: Library) -> str | None:
    """SQL that is true for values that the library may not hold; None if it holds all."""
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
    """The type to which a column is cast for the library."""
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
    if kind.family == "DECIMAL" and target.name == "DOUBLE":
        # Via text, as DuckDB's own conversion divides, which may round differently.
        return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE) AS {column}"
    with_json = kind.replaced(lambda part: DuckDBType("JSON") if part.family in _AS_JSON else None)
    value = column if with_json == kind else f"CAST({column} AS {with_json})"
    return f"CAST({value} AS {target}) AS {column}"
