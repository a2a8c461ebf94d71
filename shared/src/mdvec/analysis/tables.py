"""DataFrames of polars or pandas: their columns and rows, and small text tables of them."""

from __future__ import annotations

import difflib
import reprlib
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from mdvec.analysis.errors import UnknownColumns, UnsupportedFrame
from mdvec.analysis.limits import limits_in_force
from mdvec.text import counted

_MAX_COLUMNS = 12
_MAX_NAMES = 20
_MAX_CELL_CHARS = 30
_ELLIPSIS = "…"


def safe_summary_table(
    df: Any,  # noqa: ANN401 - a frame of a library that may not be installed
    max_rows: int | None = None,
    columns: Sequence[str] | None = None,
) -> str:
    """A polars or pandas DataFrame (or Series) as a text table of at most ``max_rows`` rows.

    The default is ``[analytics] max_output_rows`` of the settings.

    A longer one shows its first and last rows and the number of rows between; a wide one shows
    its first 12 columns and the names of the rest; a long cell shows its first 30 characters.
    A pandas index that is not just 0, 1, 2, … becomes a column.

    Raises:
        UnknownColumns: the DataFrame lacks some of ``columns``.
        UnsupportedFrame: it is not a DataFrame; a LazyFrame must be collected first.
    """
    frame = as_frame(df, "a table is made of", "use safe_json_output for other data")
    if columns is not None:
        frame = _select(frame, columns)
    max_rows = limits_in_force().rows if max_rows is None else max_rows
    rows, max_rows = len(frame), max(max_rows, 0)
    first = rows if rows <= max_rows else (max_rows + 1) // 2
    last = 0 if rows <= max_rows else max_rows - first
    names, head = _cells(frame.head(first))
    _, tail = _cells(frame.tail(last))
    shown = names[:_MAX_COLUMNS]
    lines = _align([shown, *(row[: len(shown)] for row in (*head, *tail))])
    if rows > first + last:
        omitted = f"{_ELLIPSIS} ({counted(rows - first - last, 'row')} omitted) {_ELLIPSIS}"
        lines.insert(1 + first, omitted)
    if rows == 0:
        lines.append("(no rows)")
    if rest := names[_MAX_COLUMNS:]:
        more = f", {_ELLIPSIS}" if len(rest) > _MAX_NAMES else ""
        lines.append(f"({len(rest)} more columns: {', '.join(rest[:_MAX_NAMES])}{more})")
    return "\n".join(lines)


def _select(frame: Any, columns: Sequence[str]) -> Any:  # noqa: ANN401 - see above
    positions = column_places([str(name) for name in frame.columns], columns)
    return frame.iloc[:, positions] if hasattr(frame, "iloc") else frame[:, positions]


def _cells(part: Any) -> tuple[list[str], list[list[str]]]:  # noqa: ANN401 - see above
    """The column names and the rows of a short DataFrame, as text."""
    names, rows = names_and_rows(part)
    return [_cut(name) for name in names], [[_text(value) for value in row] for row in rows]


def _text(value: Any) -> str:  # noqa: ANN401 - see above
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return "null"
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, float):  # numpy's float64 is one
        return _number(value)
    if hasattr(value, "dtype") and not getattr(value, "shape", ()):
        return _text(value.item())
    if isinstance(value, (list, tuple, dict, set, bytes)):
        return _cut(reprlib.repr(value))
    return _cut(str(value))


def _number(value: float) -> str:
    if value != value:
        return "NaN"
    if value == 0 or 0.01 <= abs(value) < 1e15:
        return f"{value:.4f}".rstrip("0").rstrip(".")
    return f"{value:.4g}"


def _cut(text: str) -> str:
    """Shorten a text to one line of a cell's length."""
    short = text if len(text) <= _MAX_CELL_CHARS else text[: _MAX_CELL_CHARS - 1] + _ELLIPSIS
    return "".join(letter if letter.isprintable() else " " for letter in short)


def _align(rows: list[list[str]]) -> list[str]:
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            " " * (width - _width(cell)) + cell for cell, width in zip(row, widths, strict=True)
        )
        for row in rows
    ]


def _width(text: str) -> int:
    """The columns that a text takes on a terminal; Japanese letters take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


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
