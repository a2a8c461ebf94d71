"""Loads an export as a polars or pandas DataFrame; refuses more than ``max_rows``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mdvec.analysis.errors import LibraryMissing, TooManyRows
from mdvec.analysis.exact import EXPORT_VIEW, Library, exact_rows, export_connection, scan_of
from mdvec.analysis.exports import ExportFolder
from mdvec.analysis.limits import MAX_LOAD_ROWS
from mdvec.datasets import DuckDBType
from mdvec.settings import Settings, load_settings
from mdvec.text import identifier, literal

if TYPE_CHECKING:
    import duckdb


def pandas_frame(
    connection: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, DuckDBType]
) -> Any:  # noqa: ANN401 - a frame of a library that may not be installed
    """Build the DataFrame; columns that DuckDB's own conversion would change keep their values."""
    import pandas as pd

    columns: dict[str, Any] = {}
    objects = [name for name, kind in types.items() if _needs_objects(kind)]
    if plain := [name for name in types if name not in set(objects)]:
        columns |= dict(connection.execute(f"SELECT {_listed(plain)} FROM {table}").df().items())
    if floats := [name for name, kind in types.items() if kind.name in {"FLOAT", "DOUBLE"}]:
        arrays = connection.execute(f"SELECT {_listed(floats)} FROM {table}").fetchnumpy()
        columns |= {name: _floats(arrays[name], columns[name]) for name in floats}
    if objects:
        rows = connection.execute(f"SELECT {_listed(objects)} FROM {table}").fetchall()
        for at, name in enumerate(objects):
            columns[name] = pd.Series([row[at] for row in rows], dtype=object)
    return pd.DataFrame({name: columns[name] for name in types})


def _needs_objects(kind: DuckDBType) -> bool:
    return kind.is_nested or kind.family == "DECIMAL"


def _listed(names: list[str]) -> str:
    return ", ".join(map(identifier, names))


def _floats(array: Any, series: Any) -> Any:  # noqa: ANN401 - of numpy and pandas
    """A float column; one with both NaN and NULL gets a type that tells them apart."""
    import numpy as np
    import pandas as pd

    mask = np.ma.getmaskarray(array)
    if not mask.any() or not np.isnan(array.data[~mask]).any():
        return series
    return pd.Series(pd.arrays.FloatingArray(array.data.copy(), mask.copy()))


INSTALL = "pip install 'mdvec-shared[charts]'"


def safe_load_export(
    handle: str,
    max_rows: int = MAX_LOAD_ROWS,
    *,
    library: Library | None = None,
    folder: Path | str | None = None,
) -> Any:  # noqa: ANN401 - a frame of a library that may not be installed
    """Load an export as a polars DataFrame, or as a pandas one where polars is not installed.

    Args:
        handle: the ``handle`` that the tool ``export`` returned; paths are refused.
        max_rows: a larger export is refused.
        library: use this library, whatever else is installed.
        folder: the folder of exports; by default the one in the settings, as for the server.

    Raises:
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
        TooManyRows: the export has more than ``max_rows`` rows.
        LibraryMissing: neither polars nor pandas is installed, or not ``library``.
    """
    path, types = export_file(handle, load_settings(os.environ), folder)
    chosen = _chosen_library(library)
    with TemporaryDirectory() as made, export_connection([path], made) as connection:
        source = scan_of(path, types)
        counted = connection.execute(f"SELECT count(*) FROM {source}").fetchone() or (0,)
        _check_size(int(counted[0]), handle, max_rows)
        targets, as_it_is = exact_rows(connection, source, types, chosen)
        if chosen == "pandas":
            return pandas_frame(connection, EXPORT_VIEW, targets)
        as_it_is = as_it_is and path.suffix == ".parquet"
        return _polars_frame(connection, path if as_it_is else Path(made) / "rows.parquet")


def export_file(
    handle: str, settings: Settings, folder: Path | str | None
) -> tuple[Path, dict[str, str] | None]:
    """The file of an export, and the types of its columns if it is a CSV file that has them.

    Args:
        handle: of the export.
        settings: say where exports are, and how long.
        folder: the folder of exports where it is not that of the settings.

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
        raise LibraryMissing("polars is not installed; pip install polars, or library='pandas'")
    what = "pandas is not" if library else "neither polars nor pandas is"
    raise LibraryMissing(f"{what} installed; {INSTALL}")


def _polars_frame(connection: duckdb.DuckDBPyConnection, file: Path) -> Any:  # noqa: ANN401 - see above
    """Read the rows from a Parquet file, written from the view unless it exists."""
    import polars as pl

    if not file.exists():
        connection.execute(f"COPY (FROM {EXPORT_VIEW}) TO {literal(str(file))} (FORMAT parquet)")
    return pl.read_parquet(file, glob=False)


def _check_size(rows: int, handle: str, max_rows: int) -> None:
    if rows > max_rows:
        raise TooManyRows(
            f"{handle} has {rows:,} rows, and max_rows is {max_rows:,}; aggregate or filter in "
            "the query of export (GROUP BY, WHERE, date_trunc), or pass a larger max_rows if "
            "the code needs every row"
        )
