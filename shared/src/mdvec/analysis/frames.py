"""What the frames of polars and pandas have in common: names and rows."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain
from typing import Any

Rows = Iterable[tuple[Any, ...]]


def is_frame(value: object) -> bool:
    """Whether this is a frame of either library; imports neither."""
    return any(
        isinstance(value, module.DataFrame)
        for name in ("polars", "pandas")
        if (module := sys.modules.get(name)) is not None
    )


def names_and_rows(frame: Any) -> tuple[list[str], Rows]:  # noqa: ANN401 - of either library
    """The columns' names and the rows; an index of pandas that says something comes first."""
    names = [str(name) for name in frame.columns]
    if hasattr(frame, "iter_rows"):  # polars
        return names, frame.iter_rows()
    rows: Rows = frame.itertuples(index=False, name=None)
    index = frame.index
    if has_plain_index(frame):
        return names, rows
    keys = index if index.nlevels > 1 else ((key,) for key in index)
    indexes = [str(name) if name is not None else "index" for name in index.names]
    return indexes + names, (tuple(chain(key, row)) for key, row in zip(keys, rows, strict=True))


def has_plain_index(frame: Any) -> bool:  # noqa: ANN401 - a frame or series of pandas
    """Whether the index of pandas does no more than count."""
    return type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
