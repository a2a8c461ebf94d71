"""Compact JSON of limited size, with Japanese unescaped."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from mdvec.analysis.errors import NotJson, OutputTooLarge
from mdvec.analysis.limits import limits_in_force
from mdvec.analysis.tables import has_plain_index, is_frame, names_and_rows

_MAX_DEPTH = 50


def safe_json_output(
    data: Any,  # noqa: ANN401 - whatever an analysis has made
    max_size: int | None = None,
) -> str:
    """Return ``data`` as compact JSON of at most ``max_size`` bytes of UTF-8.

    The default is ``[analytics] max_output_bytes`` of the settings.

    Scalars and series of numpy, pandas and polars become plain numbers, strings and lists; a
    DataFrame becomes a list of rows. NaN, infinity, NaT and NA become null, a timedelta its
    seconds, a Decimal a number, or a string where a float would change its digits.

    Raises:
        OutputTooLarge: the JSON would be longer; conversion stops as soon as that is certain.
        NotJson: a value cannot be written as JSON; the message says which.
    """
    max_size = limits_in_force().json_bytes if max_size is None else max_size
    plain = _Converter(max_size).convert(data, "data", 0)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_size:
        raise _too_large(f"has {size:,} bytes", max_size)
    return text


def _too_large(what: str, max_size: int) -> OutputTooLarge:
    return OutputTooLarge(
        f"the JSON {what}, and at most {max_size:,} are allowed; give fewer keys, aggregate or "
        "round the numbers, save the rest to a file and give its name"
    )


@dataclass(slots=True)
class _Converter:
    """Converts data to plain JSON values; stops at more values than can fit.

    Every value takes at least two bytes: its own, and the separator before the next.
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
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _other(value, path)


def _other(value: Any, path: str) -> int | float | str | None:  # noqa: ANN401 - any data
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        if value == value.to_integral_value():
            return int(value)
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
