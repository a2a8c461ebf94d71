"""Finds a query's parameters in its syntax tree, and the types that its plan gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mdvec.queries import ParameterType
from mdvec.sql.core.refusals import QueryRefused
from mdvec.sql.core.statement import fold

MAX_PARAMETERS = 20
SAMPLES: dict[ParameterType, object] = {"integer": 1, "number": 1.5, "date": "2025-01-01"}
"""One value of each type but text."""
_NAME = re.compile(r"[^\W\d]\w{0,59}")
_CAST = re.compile(r"CAST\('mdvec_sample_(\d+)' AS ([A-Z]+)")
_WHOLE = frozenset(
    {
        "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    }
)  # fmt: skip
_NUMBERS = frozenset({"DECIMAL", "DOUBLE", "FLOAT", "HUGEINT", "UHUGEINT"})


def parameter_names(tree: dict[str, Any]) -> list[str]:
    """The names of ``$parameters`` in their order, each once.

    Raises:
        QueryRefused: one has a number, or no name that it could be given by.
    """
    nodes = sorted(_parameters(tree), key=lambda node: int(node.get("query_location", 0)))
    names = list(dict.fromkeys(fold(str(node.get("identifier"))) for node in nodes))
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise QueryRefused("name each parameter, as in $since; ? and $1 have no name")
    if len(names) > MAX_PARAMETERS:
        raise QueryRefused(f"{len(names)} parameters are more than {MAX_PARAMETERS}")
    return names


def declared_types(tree: dict[str, Any]) -> dict[str, ParameterType]:
    """The types of those parameters that the query casts, as in ``$since::DATE``, or counts by."""
    types: dict[str, ParameterType] = {}
    for node in _nodes(tree):
        child = node.get("child")
        if node.get("class") == "CAST" and isinstance(child, dict):
            kind = _spelled(str(node.get("type_expr", {}).get("type_name")))
            if child.get("class") == "PARAMETER" and kind is not None:
                types[fold(str(child.get("identifier")))] = kind
        if node.get("type") == "LIMIT_MODIFIER":
            for part in (node.get("limit"), node.get("offset")):
                if isinstance(part, dict) and part.get("class") == "PARAMETER":
                    types[fold(str(part.get("identifier")))] = "integer"
    return types


def sample_text(position: int) -> str:
    """A text that can be found again in a plan."""
    return f"mdvec_sample_{position}"


def planned_types(plan: str) -> dict[int, ParameterType]:
    """The types to which a plan casts the sample texts, by their places."""
    types = {int(position): type_named(kind) for position, kind in _CAST.findall(plan)}
    return {position: kind for position, kind in types.items() if kind is not None}


def type_named(kind: str) -> ParameterType | None:
    """The type of parameter that fits a type of DuckDB; None if none does."""
    if kind in _WHOLE:
        return "integer"
    if kind in _NUMBERS:
        return "number"
    if kind in {"DATE", "TIMESTAMP"} or kind.startswith("TIMESTAMP"):
        return "date"
    return "text" if kind == "VARCHAR" else None


def _spelled(name: str) -> ParameterType | None:
    upper = name.upper()
    other = {"INT": "INTEGER", "TEXT": "VARCHAR", "STRING": "VARCHAR", "NUMERIC": "DECIMAL",
             "REAL": "FLOAT", "TIMESTAMPTZ": "TIMESTAMP", "DATETIME": "TIMESTAMP", "LONG": "BIGINT",
             "INT8": "BIGINT", "INT4": "INTEGER", "INT2": "SMALLINT", "FLOAT8": "DOUBLE",
             "FLOAT4": "FLOAT"}  # fmt: skip
    return type_named(other.get(upper, upper))


def _parameters(tree: object) -> Iterator[dict[str, Any]]:
    return (node for node in _nodes(tree) if node.get("class") == "PARAMETER")


def _nodes(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for part in value:
            yield from _nodes(part)
    elif isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _nodes(part)
