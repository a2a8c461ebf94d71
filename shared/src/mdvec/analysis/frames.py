"""Columns and rows of polars and pandas DataFrames."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from mdvec.analysis.errors import UnknownColumns, UnsupportedFrame


def is_frame(value: object) -> bool:
    """Whether this is a DataFrame of polars or pandas; imports neither."""
    return any(
        isinstance(value, module.DataFrame)
        for name in ("polars", "pandas")
        if (module := sys.modules.get(name)) is not None
    )


def as_frame(value: Any, beginning: str, hint: str) -> Any:  # noqa: ANN401 - of either library
    """A DataFrame, or a series as one.

    Raises:
        UnsupportedFrame: it is neither; ``beginning`` and ``hint`` say what is made of frames,
            and what to do with others.
    """
    if is_frame(value):
        return value
    if hasattr(value, "to_frame"):  # a series of either library
        return value.to_frame()
    if hasattr(value, "collect"):
        raise UnsupportedFrame("this frame is lazy; pass df.collect()")
    raise UnsupportedFrame(
        f"{beginning} a frame of polars or pandas, not of {type(value).__name__}; {hint}"
    )


def column_places(have: Sequence[str], wanted: Sequence[str], of: str = "frame") -> list[int]:
    """The places of the wanted columns among those that a frame, or something else, has.

    Raises:
        UnknownColumns: it lacks one.
    """
    for name in map(str, wanted):
        if name not in have:
            near = difflib.get_close_matches(name, have, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(have[:20])}"
            raise UnknownColumns(f"the {of} has no column {name[:100]!r}; {hint}")
    return [have.index(str(name)) for name in wanted]


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
