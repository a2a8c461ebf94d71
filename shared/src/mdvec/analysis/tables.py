"""Turns DataFrames and other values into small outputs: text tables and compact JSON."""

from __future__ import annotations

import difflib
import json
import math
import re
import reprlib
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import chain
from pathlib import PurePath
from typing import Any
from uuid import UUID

from mdvec.analysis.errors import (
    NotJson,
    OutputTooLarge,
    UnknownColumns,
    UnsupportedFrame,
    limits_in_force,
)
from mdvec.text import cited, counted, display_width, is_visible

_MAX_COLUMNS = 12
_MAX_NAMES = 20
_MAX_CELL_CHARS = 30
_ELLIPSIS = "…"
_MAX_DEPTH = 50
_TIMES = re.compile(r"datetime64\[\w+\]")
"""The type of a pandas column of times without a time zone that is not sparse."""
_MAX_PORTABLE = 2**53
"""Readers that turn every number into a float keep integers up to this one exact."""


def safe_summary_table(
    df: Any,  # noqa: ANN401 - a frame of a library that may not be installed
    max_rows: int | None = None,
    columns: Sequence[Hashable] | None = None,
) -> str:
    """A polars or pandas DataFrame (or Series) as a text table of at most ``max_rows`` rows.

    The default is ``[analytics] max_output_rows`` of the settings.

    A longer frame shows its first and last rows and the number of rows between; a wide frame shows
    its first 12 columns and the names of the others; a long cell is cut to 30 characters. A pandas
    index that is not just 0, 1, 2, … becomes a column.

    Raises:
        UnknownColumns: the DataFrame lacks some of ``columns``.
        UnsupportedFrame: ``df`` is not a DataFrame; a LazyFrame must be collected first.
    """
    frame = as_frame(df, "a table is made of", "use safe_json_output for other data")
    if columns is not None:
        places = column_places(frame.columns, columns)
        frame = frame.iloc[:, places] if hasattr(frame, "iloc") else frame[:, places]
    max_rows = limits_in_force().rows if max_rows is None else max_rows
    rows, max_rows = len(frame), max(max_rows, 0)
    first = rows if rows <= max_rows else (max_rows + 1) // 2
    last = 0 if rows <= max_rows else max_rows - first
    names, head = _cells(frame, frame.head(first))
    _, tail = _cells(frame, frame.tail(last))
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


def _cells(frame: Any, part: Any) -> tuple[list[str], list[list[str]]]:  # noqa: ANN401 - see above
    """The column names of a DataFrame and the rows of a short part of it, as text."""
    names, rows = names_and_rows(frame, part)
    return [_cut(name) for name in names], [[_text(value) for value in row] for row in rows]


def _text(value: Any) -> str:  # noqa: ANN401 - see above
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return "null"
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, float):  # includes numpy's float64
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
    return "".join(letter if is_visible(letter) else " " for letter in short)


def _align(rows: list[list[str]]) -> list[str]:
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            " " * (width - display_width(cell)) + cell
            for cell, width in zip(row, widths, strict=True)
        )
        for row in rows
    ]


def is_frame(value: object) -> bool:
    """Whether this is a DataFrame of polars or pandas; imports neither."""
    return any(
        isinstance(value, module.DataFrame)
        for name in ("polars", "pandas")
        if (module := sys.modules.get(name)) is not None
    )


def as_frame(value: Any, beginning: str, hint: str) -> Any:  # noqa: ANN401 - of either library
    """The DataFrame itself, or a series turned into a DataFrame.

    Raises:
        UnsupportedFrame: it is neither; ``beginning`` and ``hint`` are parts of the message: what
            the caller makes of frames, and what to do with other values.
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


def column_places(have: Iterable[Hashable], wanted: Iterable[Any], of: str = "frame") -> list[int]:
    """The positions of the wanted columns among the existing ones.

    A name is looked up as it is, then as text, since pandas may have numbers as names. ``of`` is
    the word in messages for what has the columns.

    Raises:
        UnknownColumns: a wanted column does not exist.
    """
    last_first = [*enumerate(have)][::-1]  # so that the first of equal names wins
    texts = {str(name): at for at, name in last_first}
    places = {name: at for at, name in last_first}
    found = []
    for column in wanted:
        name = str(column)
        at = places.get(column if isinstance(column, Hashable) else name, texts.get(name))
        if at is None:
            near = difflib.get_close_matches(name, texts, n=1)
            names = ", ".join([*texts][::-1][:20])
            hint = f"did you mean {cited(near[0])}?" if near else f"it has: {names}"
            raise UnknownColumns(f"the {of} has no column {cited(name[:100])}; {hint}")
        found.append(at)
    return found


def names_and_rows(frame: Any, part: Any = None) -> tuple[list[str], Iterable[tuple[Any, ...]]]:  # noqa: ANN401 - of either library
    """The column names and the rows; a pandas index that is not just 0, 1, 2, … comes first.

    ``part``, by default the whole frame, has the rows to return; its index may begin elsewhere.
    pandas has no column of days: where all times are midnight, the values are dates, as it
    prints them.
    """
    part = frame if part is None else part
    names = [str(name) for name in frame.columns]
    if hasattr(part, "iter_rows"):  # polars
        return names, part.iter_rows()
    rows: Iterable[tuple[Any, ...]] = part.itertuples(index=False, name=None)
    series = [frame.iloc[:, at] for at in range(len(names))]
    if not has_plain_index(frame):
        index = part.index
        keys = index if index.nlevels > 1 else ((key,) for key in index)
        rows = (tuple(chain(key, row)) for key, row in zip(keys, rows, strict=True))
        names = [str(name) if name is not None else "index" for name in index.names] + names
        levels = range(index.nlevels)
        series = [*(frame.index.get_level_values(at).to_series() for at in levels), *series]
    of_days = [_is_of_days(each) for each in series]
    return names, (
        tuple(
            value.date() if is_day and value == value else value  # NaT has no date
            for value, is_day in zip(row, of_days, strict=True)
        )
        for row in rows
    )


def _is_of_days(series: Any) -> bool:  # noqa: ANN401 - of pandas
    if not _TIMES.fullmatch(str(series.dtype)):
        return False
    times = series.dropna()
    are_dates = times.dt.year.between(MINYEAR, MAXYEAR)
    return bool((are_dates & (times == times.dt.normalize())).all())


def has_plain_index(frame: Any) -> bool:  # noqa: ANN401 - a frame or series of pandas
    """Whether the pandas index is an unnamed 0, 1, 2 and so on."""
    index = frame.index
    is_range = type(index).__name__ == "RangeIndex" and index.name is None
    return is_range and (index.start, index.step) == (0, 1)


def safe_json_output(
    data: Any,  # noqa: ANN401 - whatever an analysis has made
    max_size: int | None = None,
) -> str:
    """Return ``data`` as compact JSON of at most ``max_size`` bytes of UTF-8.

    The default is ``[analytics] max_output_bytes`` of the settings.

    Scalars and series of numpy, pandas and polars become plain numbers, strings and lists; a
    DataFrame becomes a list of rows. NaN, infinity, NaT and NA become null, a timedelta its
    seconds. A Decimal, or an integer beyond 2**53, is a string where a float would change it.

    Raises:
        OutputTooLarge: the JSON would be longer; conversion stops as soon as that is certain.
        NotJson: a value cannot be written as JSON; the message says which.
    """
    max_size = limits_in_force().json_bytes if max_size is None else max_size
    plain = _Converter(max_size).convert(data, "data", 0)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate cannot be encoded and is written as a JSON escape.
    data_bytes = text.encode("utf-8", "backslashreplace")
    if len(data_bytes) > max_size:
        raise _too_large(f"has {len(data_bytes):,} bytes", max_size)
    return data_bytes.decode()


def _too_large(what: str, max_size: int) -> OutputTooLarge:
    return OutputTooLarge(
        f"the JSON {what}, and at most {max_size:,} are allowed; give fewer keys, aggregate or "
        "round the numbers, save the rest to a file and give its name"
    )


@dataclass(slots=True)
class _Converter:
    """Converts data to plain JSON values, and stops when there are more values than can fit.

    A value takes at least two bytes: one of its own, and the separator after it.
    """

    max_size: int
    values: int = 0

    def convert(self, value: Any, path: str, depth: int) -> Any:  # noqa: ANN401 - any data
        self.values += 1
        if self.values * 2 > self.max_size + 2:
            raise _too_large(f"has more than {self.max_size:,} bytes", self.max_size)
        if depth > _MAX_DEPTH:
            raise NotJson(f"{path[:100]}… is nested more than {_MAX_DEPTH} deep; flatten it")
        if isinstance(value, str):
            return self._short(value)
        if (pairs := _pairs(value)) is not None:
            return self._object(pairs, path, depth)
        if (items := _items(value)) is not None:
            return [
                self.convert(item, f"{path}[{number}]", depth + 1)
                for number, item in enumerate(items)
            ]
        return _scalar(value, path)

    def _object(self, pairs: Iterable[tuple[Any, Any]], path: str, depth: int) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        for key, item in pairs:
            name = _key(key, path)
            if name in converted:
                raise NotJson(f"two keys of {path[:100]} are both {name[:40]!r}; rename one")
            converted[name] = self.convert(item, f"{path}.{key}"[:300], depth + 1)
        return converted

    def _short(self, value: str) -> str:
        if len(value) > self.max_size:
            raise _too_large(f"has more than {len(value):,} bytes", self.max_size)
        return value


def _pairs(value: Any) -> Iterable[tuple[Any, Any]] | None:  # noqa: ANN401 - any data
    """The keys and values of a mapping, or of a pandas Series with an index; else None."""
    if isinstance(value, Mapping):
        return value.items()
    if hasattr(value, "to_frame") and hasattr(value, "items") and not has_plain_index(value):
        pairs: Iterable[tuple[Any, Any]] = value.items()
        return pairs
    return None


def _items(value: Any) -> Iterable[Any] | None:  # noqa: ANN401 - any data
    """The items of a list, an array, a Series or a DataFrame; else None."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    if is_frame(value):
        names, rows = names_and_rows(value)
        if len(set(names)) < len(names):
            raise NotJson("two columns of a frame have the same name; rename one")
        return (dict(zip(names, row, strict=True)) for row in rows)
    if hasattr(value, "dtype") and getattr(value, "shape", None):  # numpy, or a series
        items: Iterable[Any] = iter(value)
        return items
    return None


def _key(key: object, path: str) -> str:
    if isinstance(key, str):
        return key
    plain = _scalar(key, f"a key of {path}") if key is not None else None
    return plain if isinstance(plain, str) else json.dumps(plain)


def _scalar(value: Any, path: str) -> bool | int | float | str | None:  # noqa: ANN401 - any data
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if hasattr(getattr(value, "dtype", None), "itemsize"):
        return _numpy_scalar(value, path)
    if isinstance(value, Enum):
        return _scalar(value.value, path)
    if isinstance(value, int) and abs(value) > _MAX_PORTABLE:
        return str(value)
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _other(value, path)


def _other(value: Any, path: str) -> bool | int | float | str | None:  # noqa: ANN401 - any data
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        if value == value.to_integral_value():
            return _scalar(int(value), path)
        number = float(value)
        return number if Decimal(repr(number)) == value else f"{value:f}"
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (UUID, PurePath)):
        return str(value)
    raise NotJson(
        f"{path} is a {type(value).__name__}, which JSON has no form for; give a number, a text "
        "or, for a picture, the name of its file"
    )


def _numpy_scalar(value: Any, path: str) -> bool | int | float | str | None:  # noqa: ANN401
    kind = value.dtype.kind
    if kind in "mM":
        import numpy as np

        if np.isnat(value):
            return None
        return str(value) if kind == "M" else float(value / np.timedelta64(1, "s"))
    if kind == "f" and value.dtype.itemsize < 8:
        return _scalar(float(str(value)), path)  # 0.1, not 0.10000000149011612
    if kind == "f":
        return _scalar(float(value), path)
    return _scalar(value.item(), path)
