"""A DuckDB table as a pandas DataFrame, with every value unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mdvec.datasets.core.duckdb_types import DuckDBType
from mdvec.text.quoting import identifier

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
        found = connection.execute(f"SELECT {_listed(floats)} FROM {table}").fetchnumpy()
        columns |= {name: _floats(found[name], columns[name]) for name in floats}
    if objects:
        rows = connection.execute(f"SELECT {_listed(objects)} FROM {table}").fetchall()
        for at, name in enumerate(objects):
            columns[name] = pd.Series([row[at] for row in rows], dtype=object)
    return pd.DataFrame({name: columns[name] for name in types})


def _needs_objects(kind: DuckDBType) -> bool:
    return kind.is_nested or kind.family == "DECIMAL"


def _listed(names: list[str]) -> str:
    return ", ".join(map(identifier, names))


def _floats(found: Any, series: Any) -> Any:  # noqa: ANN401 - of numpy and pandas
    """A float column; one with both NaN and NULL gets a type that tells them apart."""
    import numpy as np
    import pandas as pd

    mask = np.ma.getmaskarray(found)
    if not mask.any() or not np.isnan(found.data[~mask]).any():
        return series
    return pd.Series(pd.arrays.FloatingArray(found.data.copy(), mask.copy()))
