"""The values of a query's parameters, and the types that DuckDB's plan gives to them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import duckdb

from mdvec.queries import ParameterType
from mdvec.sql.core.parameters import (
    SAMPLES,
    declared_types,
    planned_types,
    sample_text,
)

BoundValues = dict[str, object]
_TRIED: tuple[ParameterType, ...] = ("number", "integer", "date")


def values_in(bound: Mapping[str, Sequence[Any]]) -> BoundValues:
    """The values that a request holds, as DuckDB takes them."""
    return {name: _value(kind, value) for name, (kind, value) in bound.items()}


def sample(kind: ParameterType, position: int) -> object:
    """A value of a type of parameter."""
    return sample_text(position) if kind == "text" else _value(kind, SAMPLES[kind])


def inferred_types(
    connection: duckdb.DuckDBPyConnection, query: str, tree: dict[str, Any], names: Sequence[str]
) -> dict[str, ParameterType]:
    """The type of each parameter: the one that the query casts it to, or the one it is bound as.

    Without either it is a text. The query is planned, never run.
    """
    types: dict[str, ParameterType] = dict.fromkeys(names, "text")
    types |= declared_types(tree)

    def plan(values: BoundValues) -> str | None:
        try:
            return logical_plan(connection, query, values)
        except duckdb.Error:
            return None

    def samples() -> BoundValues:
        return {name: sample(types[name], position) for position, name in enumerate(names)}

    plan_text = plan(samples())
    if plan_text is None:
        for name in names:
            alone: BoundValues = dict.fromkeys(names)
            if types[name] == "text" and plan(alone | {name: sample_text(0)}) is None:
                fitting = (kind for kind in _TRIED if plan(alone | {name: sample(kind, 0)}))
                types[name] = next(fitting, "text")
        plan_text = plan(samples())
    planned = planned_types(plan_text or "")
    return {name: planned.get(position, types[name]) for position, name in enumerate(names)}


def logical_plan(
    connection: duckdb.DuckDBPyConnection, query: str, values: BoundValues | None = None
) -> str:
    """A query's plan before DuckDB optimises it, as JSON."""
    plans = connection.execute(f"EXPLAIN (FORMAT json) {query}", values or None).fetchall()
    return str(dict(plans)["logical_plan"])


def expected_rows(
    connection: duckdb.DuckDBPyConnection, query: str, values: BoundValues | None = None
) -> int:
    """The number of rows that DuckDB expects of a query; 0 when its plan does not tell."""
    plans = connection.execute(f"EXPLAIN (FORMAT json) {query}", values or None).fetchall()
    plan = json.loads(dict(plans).get("physical_plan", "[]"))
    while plan and "Estimated Cardinality" not in plan[0].get("extra_info", {}):
        plan = plan[0].get("children", [])
    return int(plan[0]["extra_info"]["Estimated Cardinality"]) if plan else 0


def _value(kind: str, value: Any) -> object:  # noqa: ANN401 - as JSON has it
    if kind != "date":
        return value
    return date.fromisoformat(value) if len(value) <= len("2025-06-30") else (
        datetime.fromisoformat(value)
    )  # fmt: skip
