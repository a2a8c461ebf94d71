"""A query's parameters: their names, their values, and their types according to DuckDB's plan."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb
from duckdb.value.constant import DecimalValue

from mdvec.queries import MAX_DIGITS, ParameterType
from mdvec.sql.core.refusals import QueryRefused
from mdvec.sql.core.statement import fold, nodes_in

BoundValues = dict[str, object]
MAX_PARAMETERS = 20
SAMPLES: dict[ParameterType, object] = {
    "integer": 1, "date": "2025-01-01", "boolean": True,
}  # fmt: skip
"""One value of each type, except texts and numbers, whose samples are recognisable in a plan."""
_NAME = re.compile(r"[^\W\d]\w{0,59}")
_CAST = re.compile(r"CAST\('mdvec_sample_(\d+)' AS ([A-Z]+)")
_QUOTED = re.compile(r"'[^']*'")
_NAMED_TYPES: dict[ParameterType, str] = {
    "integer": "TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT INT LONG INT2 "
    "INT4 INT8",
    "number": "DECIMAL DOUBLE FLOAT HUGEINT UHUGEINT NUMERIC REAL FLOAT4 FLOAT8",
    "date": "DATE DATETIME",
    "text": "VARCHAR TEXT STRING",
    "boolean": "BOOLEAN BOOL LOGICAL",
}
_TYPES = {name: kind for kind, names in _NAMED_TYPES.items() for name in names.split()}
_TRIED: tuple[ParameterType, ...] = ("number", "integer", "date")


def values_in(bound: Mapping[str, Sequence[Any]]) -> BoundValues:
    """A request's parameter values as DuckDB needs them."""
    return {name: _value(kind, value) for name, (kind, value) in bound.items()}


def sample(kind: ParameterType, position: int) -> object:
    """A sample value for a type of parameter."""
    if kind == "number":
        return Decimal(sample_number(position))
    return _value(kind, SAMPLES[kind]) if kind in SAMPLES else sample_text(position)


def inferred_types(
    connection: duckdb.DuckDBPyConnection, query: str, tree: dict[str, Any], names: Sequence[str]
) -> dict[str, ParameterType]:
    """The type of each parameter: what the query casts it to, or its type in DuckDB's plan.

    Without either, it is text if no number is possible, else any, so that the value decides. It is
    integer if the query says so, or if a fraction is impossible. The query is planned, not run.
    """
    declared = declared_types(tree)
    types: dict[str, ParameterType] = dict.fromkeys(names, "any")
    types |= declared

    def plan(values: BoundValues, query: str = query) -> str | None:
        try:
            return _plans(connection, query, values)["logical_plan"]
        except duckdb.Error:
            return None

    if plan(_samples(types)) is None:
        types = _fitting_types(plan, types)
    hidden = [list(conditions) for conditions in _hidden_by_aliases(connection, tree)]

    def plans(types: Mapping[str, ParameterType]) -> str:
        values = _samples(types)
        parts = (next(filter(None, (plan(values, each) for each in some)), "") for some in hidden)
        return "".join((whole, *parts)) if (whole := plan(values)) else ""

    seen = plans(types)
    planned = planned_types(seen)
    types |= {name: planned[position] for position, name in enumerate(names) if position in planned}
    for position, name in enumerate(names if seen else ()):
        if name not in declared and types[name] in {"any", "integer"}:
            with_fraction = plans({**types, name: "number"})
            types[name] = _type_with_fraction(types[name], position, with_fraction)
    return types


def _samples(types: Mapping[str, ParameterType]) -> BoundValues:
    return {name: sample(kind, position) for position, (name, kind) in enumerate(types.items())}


def _fitting_types(
    plan: Callable[[BoundValues], str | None], types: Mapping[str, ParameterType]
) -> dict[str, ParameterType]:
    """Types with which a query can be planned; with text for all unknown types it cannot.

    Some types must be tried together, as in ``BETWEEN $a - $b AND $a + $b``.
    """
    fitting = dict(types)
    alone: BoundValues = dict.fromkeys(types)
    for name in types:
        if types[name] == "any" and plan(alone | {name: sample_text(0)}) is None:
            kinds = (kind for kind in _TRIED if plan(alone | {name: sample(kind, 0)}))
            fitting[name] = next(kinds, "any")
    everywhere: tuple[ParameterType, ...] = ("any", *_TRIED)
    for kind in everywhere:
        together = {name: kind if fit == "any" else fit for name, fit in fitting.items()}
        if plan(_samples(together)) is not None:
            return together
    return fitting


def _type_with_fraction(planned: ParameterType, position: int, plan: str) -> ParameterType:
    """Refine the type any or integer with ``plan``, in which the parameter is a fraction.

    ``plan`` is "" if fractions are impossible. If it casts the fraction to an integer, the fraction
    would be rounded, so the type is integer; if it casts the fraction to a text, the type is text.
    """
    if not plan:
        return "text" if planned == "any" else planned
    number = sample_number(position)
    kinds = set(map(type_named, re.findall(rf"CAST\({re.escape(number)} AS ([A-Z]+)", plan)))
    if "integer" in kinds:
        return "integer"
    if "text" in kinds or any(number in text for text in _QUOTED.findall(plan)):
        return "text"
    return "any" if planned == "any" else "number"


def _hidden_by_aliases(
    connection: duckdb.DuckDBPyConnection, tree: dict[str, Any]
) -> Iterator[Iterator[str]]:
    """For each aliased expression with a parameter, queries with it in WHERE, HAVING and QUALIFY.

    A plan shows whole conditions, but of other expressions only the aliases. WHERE allows no
    aggregates or windows, HAVING no windows.
    """

    def written(node: dict[str, Any], clause: str, condition: dict[str, Any]) -> str:
        before, node[clause] = node.get(clause), condition
        document = json.dumps(tree)
        node[clause] = before
        ((sql,),) = connection.execute("SELECT json_deserialize_sql(?)", [document]).fetchall()
        return str(sql)

    for node in nodes_in(tree):
        for part in node.get("select_list") or ():
            if part.get("alias") and any(map(_parameter, nodes_in(part))):
                test = {"class": "OPERATOR", "type": "OPERATOR_IS_NULL", "alias": ""}
                condition = test | {"children": [part]}
                clauses = ("where_clause", "having", "qualify")
                yield (written(node, clause, condition) for clause in clauses)


def expected_rows(
    connection: duckdb.DuckDBPyConnection, query: str, values: BoundValues | None
) -> int:
    """DuckDB's estimate of the rows of a query; 0 if its plan has none."""
    plan = json.loads(_plans(connection, query, values).get("physical_plan", "[]"))
    while plan and "Estimated Cardinality" not in plan[0].get("extra_info", {}):
        plan = plan[0].get("children", [])
    return int(plan[0]["extra_info"]["Estimated Cardinality"]) if plan else 0


def _plans(
    connection: duckdb.DuckDBPyConnection, query: str, values: BoundValues | None
) -> dict[str, str]:
    return dict(connection.execute(f"EXPLAIN (FORMAT json) {query}", values or None).fetchall())


def _value(kind: str, value: Any) -> object:  # noqa: ANN401 - as JSON has it
    if kind == "number" and isinstance(value, str):
        number = Decimal(value)
        places = -int(number.as_tuple().exponent)
        # For a number below 1, a SQL literal counts the 0 before its point as a digit, a Decimal
        # does not; with that type, sums would overflow.
        if abs(number) < 1 and places < MAX_DIGITS:
            return DecimalValue(f"{number:f}", places + 1, places)
        return number
    if kind != "date":
        return value
    return date.fromisoformat(value) if len(value) <= len("2025-06-30") else (
        datetime.fromisoformat(value)
    )  # fmt: skip


def parameter_names(tree: dict[str, Any]) -> list[str]:
    """The names of ``$parameters`` in their order, each once.

    Raises:
        QueryRefused: a parameter has a number or no usable name, or there are too many.
    """
    nodes = sorted(nodes_in(tree), key=lambda node: int(node.get("query_location", 0)))
    names = [name for name in dict.fromkeys(map(_parameter, nodes)) if name is not None]
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise QueryRefused("name each parameter, as in $since; ? and $1 have no name")
    if len(names) > MAX_PARAMETERS:
        raise QueryRefused(f"{len(names)} parameters are more than {MAX_PARAMETERS}")
    return names


def declared_types(tree: dict[str, Any]) -> dict[str, ParameterType]:
    """The types of parameters that the query casts, as in ``$since::DATE``, or uses in LIMIT."""
    types: dict[str, ParameterType] = {}
    for node in nodes_in(tree):
        declared: list[tuple[object, ParameterType | None]] = []
        if node.get("class") == "CAST":
            declared = [(node["child"], type_named(str(node["type_expr"].get("type_name"))))]
        elif node.get("type") == "LIMIT_MODIFIER":
            declared = [(node["limit"], "integer"), (node["offset"], "integer")]
        types |= {name: kind for part, kind in declared if kind and (name := _parameter(part))}
    return types


def _parameter(node: object) -> str | None:
    """The name of a parameter; None for another part of the tree."""
    if not isinstance(node, dict) or node.get("class") != "PARAMETER":
        return None
    return fold(str(node.get("identifier")))


def sample_text(position: int | str) -> str:
    """A text that can be recognised in a query plan."""
    return f"mdvec_sample_{position}"


def sample_number(position: int) -> str:
    """A fraction that is recognisable in a plan."""
    return f"1.618{position:02}"


def planned_types(plan: str) -> dict[int, ParameterType]:
    """The types to which a plan casts the sample texts, by position."""
    types = {int(position): type_named(kind) for position, kind in _CAST.findall(plan)}
    return {position: kind for position, kind in types.items() if kind is not None}


def type_named(name: str) -> ParameterType | None:
    """The parameter type for a DuckDB type or an alias of it; None if there is none."""
    upper = name.upper()
    return "date" if upper.startswith("TIMESTAMP") else _TYPES.get(upper)
