"""Column names and rows of polars and pandas DataFrames."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain
from typing import Any


def is_frame(value: object) -> bool:
    """Whether this is a DataFrame of polars or pandas; imports neither."""
    return any(
        isinstance(value, module.DataFrame)
        for name in ("polars", "pandas")
        if (module := sys.modules.get(name)) is not None
    )


def names_and_rows(frame: Any) -> tuple[list[str], Iterable[tuple[Any, ...]]]:  # noqa: ANN401 - of either library
    """The column names and the rows; a pandas index that is not just 0, 1, 2, … comes first."""
    names = [str(name) for name in frame.columns]
    if hasattr(frame, "iter_rows"):  # polars
        return names, frame.iter_rows()
    rows: Iterable[tuple[Any, ...]] = frame.itertuples(index=False, name=None)
    index = frame.index
    if has_plain_index(frame):
        return names, rows
    keys = index if index.nlevels > 1 else ((key,) for key in index)
    indexes = [str(name) if name is not None else "index" for name in index.names]
    return indexes + names, (tuple(chain(key, row)) for key, row in zip(keys, rows, strict=True))


def has_plain_index(frame: Any) -> bool:  # noqa: ANN401 - a frame or series of pandas
    """Whether the pandas index is an unnamed 0, 1, 2 and so on."""
    return type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
