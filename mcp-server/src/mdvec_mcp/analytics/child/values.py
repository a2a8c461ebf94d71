"""Converts DuckDB's values to JSON: long texts are cut, dates are in ISO form.

Most of it happens in SQL, which is fast and never brings a huge value into Python.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.process.messages import JsonValue

MAX_TEXT = 500
MAX_NESTED = 2_000

_WHOLE = re.compile(r"BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER")
_NESTED = re.compile(r"(STRUCT|MAP|UNION)\(.*|VARIANT|.*\[\d*\]", re.DOTALL)


def json_rows_sql(columns: Sequence[Column], query: str, limit: int) -> str:
    """The SQL for the first rows of a query, with values that ``finishers`` turn into JSON."""
    names = ", ".join(f"c{place}" for place in range(len(columns)))
    values = ", ".join(
        f"{_expression(column.type, f'c{place}')} AS c{place}"
        for place, column in enumerate(columns)
    )
    return f"SELECT {values} FROM (\n{query}\n) AS t({names}) LIMIT {limit:d}"


def _expression(kind: str, name: str) -> str:
    text = f"CAST({name} AS VARCHAR)"
    if _NESTED.fullmatch(kind):
        return _cut(f"CAST(to_json({name}) AS VARCHAR)", MAX_NESTED)
    if _WHOLE.fullmatch(kind) or kind == "DOUBLE" or kind.startswith("DECIMAL"):
        return name
    if kind == "FLOAT":  # 0.1 is 0.1, not 0.10000000149
        return f"CAST({text} AS DOUBLE)"
    if kind.startswith("TIMESTAMP"):
        return f"replace({text}, ' ', 'T')"
    if kind == "BLOB":
        return f"'<' || octet_length({name}) || ' bytes>'"
    if kind == "JSON":
        return _cut(text, MAX_NESTED)
    return _cut(text, MAX_TEXT)


def _cut(text: str, max_length: int) -> str:
    return (
        f"CASE WHEN length({text}) > {max_length} THEN left({text}, {max_length}) || '… (' || "
        f"length({text}) || ' characters)' ELSE {text} END"
    )


def finishers(columns: Sequence[Column]) -> list[Callable[[object], JsonValue]]:
    """For each column the function that turns its values into JSON."""
    return [_finisher(column.type) for column in columns]


def _finisher(kind: str) -> Callable[[object], JsonValue]:
    if kind == "JSON" or _NESTED.fullmatch(kind):
        return _nested
    return _plain


def _plain(value: object) -> JsonValue:
    if isinstance(value, float):
        return value if math.isfinite(value) else _not_finite(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else _with_digits(f"{value:f}")
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _with_digits(digits: str) -> float | str:
    """A decimal fraction, as text if a float would change its digits."""
    number = float(digits)
    return number if math.isfinite(number) and Decimal(repr(number)) == Decimal(digits) else digits


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _nested(value: object) -> JsonValue:
    if not isinstance(value, str):
        return _plain(value)
    try:
        found: JsonValue = json.loads(value, parse_constant=str, parse_float=_with_digits)
    except (ValueError, RecursionError):
        return value
    return found
