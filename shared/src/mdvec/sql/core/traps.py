"""Traps in a query: allowed constructs that rarely do what their author means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from mdvec.datasets import Column
from mdvec.sql.core.statement import Node, fold, nodes_in
from mdvec.text import (
    MAX_COMPARED,
    OTHER_SIGN,
    identifier,
    is_visible,
    literal,
    nearest_texts,
    shortened,
    signs_of,
    visible,
)

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MAX_TRAPS = 12
"""How many traps are checked, each of which may need a query over a column."""
_MAX_VALUES, _MAX_VALUE, _MAX_NEAR = 30_000, 200, 50
_MAX_QUOTED = 40
_COMPARED_WITH_NULL = {"COMPARE_EQUAL": "=", "COMPARE_NOTEQUAL": "<>"}
_WITH_ALIASES = ("having", "modifiers")
"""The clauses of a SELECT where DuckDB prefers an alias to a column of the same name."""
_APPROXIMATE = (
    "SUMMARIZE estimates approx_unique, q25, q50 and q75; count(DISTINCT x) and "
    "quantile_cont(x, 0.25) are exact"
)
_SIDES = ("lower", "upper")
_FROM_SUNDAY = (
    "{}() counts from Sunday = 0, unlike MySQL's; isodow(d) is 1 for Monday to 7 for Sunday"
)
_NEVER_TRUE = "NOT IN is never true while {} NULL; leave NULLs out, or use NOT EXISTS"
_FLIPPED = {
    "COMPARE_LESSTHAN": "COMPARE_GREATERTHAN",
    "COMPARE_GREATERTHANOREQUALTO": "COMPARE_LESSTHANOREQUALTO",
}
_OF_A_DAY = {
    "COMPARE_BETWEEN": ("BETWEEN … AND", "ends as that day begins", "{} < the day after"),
    "COMPARE_NOT_BETWEEN": (
        "NOT BETWEEN … AND",
        "takes the rest of that day, too",
        "{0} < … OR {0} >= the day after",
    ),
    "COMPARE_LESSTHANOREQUALTO": ("<=", "ends as that day begins", "{} < the day after"),
    "COMPARE_GREATERTHAN": (">", "takes the rest of that day, too", "{} >= the day after"),
    "COMPARE_EQUAL": ("=", "is that day's midnight alone", "{}::DATE = the day"),
    "COMPARE_IN": ("IN", "is that day's midnight alone", "{}::DATE in its place"),
    "COMPARE_NOTEQUAL": ("<>", "leaves out that day's midnight alone", "{}::DATE <> the day"),
}
"""By comparison of times with a day: the operator, its effect, and what may be meant instead."""
_ENDS = ("COMPARE_BETWEEN", "COMPARE_NOT_BETWEEN", "COMPARE_LESSTHANOREQUALTO")
"""Comparisons in which a day is the end of a range: even a TIMESTAMP then seldom means midnight."""
_LIKE = {"~~": "LIKE", "!~~": "LIKE", "~~*": "ILIKE", "!~~*": "ILIKE"}
_SAME_OR_NOT = {
    "COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_DISTINCT_FROM", "COMPARE_NOT_DISTINCT_FROM",
}  # fmt: skip

_TAKES = {"COMPARE_EQUAL", "COMPARE_IN", "~~", "~~*"}
_LEAVES_OUT = {"COMPARE_NOTEQUAL", "!~~", "!~~*"}


@dataclass(frozen=True, slots=True)
class Trap:
    """A construct in a query that may be a trap.

    Attributes:
        note: the warning.
        check: a SELECT that returns a row if it is no trap; "" if it certainly is a trap.
        subquery: the tree of a subquery that is a trap if it returns NULLs.
        compared: a text in a comparison, which perhaps no row has.
        among: a SELECT of a few values, one of which may be meant instead.
    """

    note: str
    check: str = ""
    subquery: Node | None = None
    compared: str = ""
    among: str = ""

    def with_nearest(self, values: Iterable[str]) -> str:
        """The note with the values that may be meant instead."""
        near = nearest_texts(self.compared, values)
        quoted = ", ".join(map(_written, near))
        return f"{self.note}; nearest: {quoted}" if near else self.note


def _written(text: str) -> str:
    """A text, or its beginning, as a SQL literal on one line."""
    short = literal(text[:_MAX_QUOTED])
    hidden = {sign for sign in short if not is_visible(sign)}
    if hidden and hidden <= {*"\n\r\t"}:
        short = "E" + short.replace("\\", r"\\")
    return visible(short) + "…" * (len(text) > _MAX_QUOTED)


def with_values(part: Any, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - a part of the tree
    """A tree with each parameter replaced by the text of its value."""
    if isinstance(part, list):
        return [with_values(child, values) for child in part]
    if not isinstance(part, dict):
        return part
    value = values.get(fold(str(part.get("identifier"))))
    if part.get("class") == "PARAMETER" and value is not None:
        text = {"literal": {"kind": "STRING", "text": str(value)}}
        return part | {"class": "CONSTANT", "type": "VALUE_CONSTANT"} | text
    return {name: with_values(child, values) for name, child in part.items()}


def traps_in(tree: Node, tables: Mapping[str, Sequence[Column]]) -> list[Trap]:
    """The first possible traps in a checked query; most queries have none."""
    maps = (node.get("cte_map") or {} for node in nodes_in(tree))
    ctes = {fold(entry["key"]) for listed in maps for entry in listed.get("map") or ()}
    known = {fold(name): name for name in tables if fold(name) not in ctes}
    exempt = frozenset(_exempt_from_empty(tree))
    traps: list[Trap] = []
    left_out: list[Trap] = []
    for node in nodes_in(tree):
        if node.get("show_type") == "SUMMARY":
            traps.append(Trap(_APPROXIMATE))
        if node.get("type") != "SELECT_NODE":
            continue
        scope = _Scope(dict(_base_tables(node["from_table"], known)), tables, exempt=exempt)
        aliases = frozenset(fold(str(item.get("alias"))) for item in node["select_list"])
        for clause, parts in node.items():
            here = replace(scope, aliases=aliases if clause in _WITH_ALIASES else frozenset())
            for part in _own_parts(parts):
                traps += filter(None, (trap(part) for trap in (_not_in, _is_null, _weekday)))
                of_columns = (trap(part, here) for trap in (_swapped, _day_trap, _sign_of_json))
                traps += filter(None, of_columns)
                traps += _missing_texts(part, here)
        left_out += _left_out_nulls(node["where_clause"], scope)
    return [_with_ctes(trap, tree) for trap in (traps + left_out)[:_MAX_TRAPS]]


def _exempt_from_empty(tree: Node) -> Iterator[str | int]:
    """The names of columns that are tested for NULL, and the ids of nodes that NOT negates."""
    for node in nodes_in(tree):
        if node.get("type") == "OPERATOR_NOT":
            yield id(node["children"][0])
        elif node.get("type") in ("OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL"):
            yield from (fold(name) for name in node["children"][0].get("column_names", ())[-1:])


def _with_ctes(trap: Trap, tree: Node) -> Trap:
    """The trap, with the WITH clauses around its subquery, if it has one, added to the subquery."""
    if trap.subquery is None:
        return trap
    node = trap.subquery["node"]
    of_all, own = _ctes_around(tree, node, []) or [], (node.get("cte_map") or {}).get("map") or []
    return replace(
        trap, subquery={**trap.subquery, "node": {**node, "cte_map": {"map": [*of_all, *own]}}}
    )


def _ctes_around(part: Any, wanted: Node, around: list[Node]) -> list[Node] | None:  # noqa: ANN401 - a part of the tree
    """The WITH tables that the ``wanted`` node can read; None if it is not in this part."""
    if part is wanted:
        return around
    if isinstance(part, dict):
        for entry in (part.get("cte_map") or {}).get("map") or []:
            if (ctes := _ctes_around(entry["value"], wanted, around)) is not None:
                return ctes
            around = [*around, entry]
        part = [child for name, child in part.items() if name != "cte_map"]
    if not isinstance(part, list):
        return None
    inside = (_ctes_around(child, wanted, around) for child in part)
    return next((ctes for ctes in inside if ctes is not None), None)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The tables of a SELECT by their names in it; "" stands for anything else that it reads.

    ``aliases`` are names that mean selected expressions, not columns. ``exempt`` has the columns
    and nodes for which = '' is no trap: columns that the statement itself tests for NULL, and the
    ids of nodes that it negates.
    """

    named: Mapping[str, str]
    tables: Mapping[str, Sequence[Column]]
    aliases: frozenset[str] = frozenset()
    exempt: frozenset[str | int] = frozenset()

    def column(self, node: object) -> tuple[str, Column] | None:
        """The table and the column of a reference; None if it is ambiguous."""
        if not isinstance(node, dict) or node.get("class") != "COLUMN_REF":
            return None
        *before, name = map(fold, node["column_names"])
        if not before and name in self.aliases:
            return None
        of = [self.named.get(before[-1], "")] if before else list(self.named.values())
        columns = [
            (table, column)
            for table in of
            for column in self.tables.get(table, ())
            if fold(column.name) == name
        ]
        return columns[0] if len(columns) == 1 and "" not in of else None


def _base_tables(relation: Node, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The tables in a FROM: the name in the query, and the known table ("" for anything else)."""
    if relation["type"] == "JOIN":
        for side in ("left", "right"):
            yield from _base_tables(relation[side], known)
    elif relation["type"] == "BASE_TABLE" and not relation.get("column_name_alias"):
        path = [fold(part) for part in relation["qualified_name"]["path"]]
        yield fold(relation.get("alias") or path[-1]), known.get(path[-1], "")
    elif relation["type"] != "EMPTY":
        yield fold(str(relation.get("alias") or "")), ""


def _own_parts(clause: object) -> Iterator[Node]:
    """The nodes of a clause of a SELECT, without those of its subqueries.

    In the tree NOT BETWEEN is a NOT above a BETWEEN; here the BETWEEN node gets a type for both.
    """
    waiting = [clause]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict) and "cte_map" not in part:
            yield part
            if part.get("type") == "OPERATOR_NOT" and part["children"][0]["class"] == "BETWEEN":
                waiting.append(part["children"][0] | {"type": "COMPARE_NOT_BETWEEN"})
            else:
                waiting += part.values()


def _text(node: Any) -> str | None:  # noqa: ANN401 - a part of the tree
    """The text of a constant."""
    written = (node or {}).get("literal") or {}
    return str(written.get("text", "")) if written.get("kind") == "STRING" else None


def _not_in(node: Node) -> Trap | None:
    if node.get("type") != "OPERATOR_NOT":
        return None
    (inner,) = node["children"]
    if inner.get("type") == "COMPARE_IN" and any(map(_is_null_itself, inner["children"])):
        return Trap(_NEVER_TRUE.format("its list has"))
    if inner.get("subquery_type") == "ANY" and inner.get("comparison_type") == "COMPARE_EQUAL":
        return Trap(_NEVER_TRUE.format("its subquery gives"), subquery=inner["subquery"])
    return None


def _is_null(node: Node) -> Trap | None:
    """A comparison with NULL."""
    sign = _COMPARED_WITH_NULL.get(str(node.get("type")))
    if sign is None or not any(map(_is_null_itself, (node["left"], node["right"]))):
        return None
    return Trap(f"{sign} NULL is never true; write IS {'NOT ' if sign == '<>' else ''}NULL")


def _weekday(node: Node) -> Trap | None:
    """A weekday function whose numbers differ from those of MySQL."""
    name = fold(str(node.get("function_name")))
    return Trap(_FROM_SUNDAY.format(name)) if name in ("weekday", "dayofweek") else None


def _swapped(node: Node, scope: _Scope) -> Trap | None:
    """A BETWEEN whose first end is greater than the second."""
    if node.get("class") != "BETWEEN":
        return None
    of = scope.column(node["input"])
    first, last = (_bound(node[end], of is not None and of[1].type == "VARCHAR") for end in _SIDES)
    if type(first) is not type(last) or first is None or not last < first:
        return None
    is_not = node["type"] == "COMPARE_NOT_BETWEEN"
    sign, does = ("NOT BETWEEN", "always") if is_not else ("BETWEEN", "never")
    written = f"{shortened(str(first), _MAX_QUOTED)} AND {shortened(str(last), _MAX_QUOTED)}"
    return Trap(f"{sign} {written} is {does} true; the smaller end comes first")


def _bound(node: Node, is_text: bool) -> Any:  # noqa: ANN401, FBT001 - of one type for both ends
    """A constant bound: a number, a day as text, or any text if ``is_text``; None for others."""
    written = node.get("literal") or {}
    if written.get("kind") in ("INTEGER", "NUMERIC"):
        return Decimal(written["text"])
    return _text(node) if is_text else _day(node, ("date", "timestamp")) or None


def _is_null_itself(node: Node) -> bool:
    return (node.get("literal") or {}).get("kind") == "NULL_LITERAL"


def _day_trap(node: Node, scope: _Scope) -> Trap | None:
    """A comparison of times with a day, if rows of that day may have times after midnight."""
    kind = str(node.get("type"))
    if node.get("class") == "BETWEEN":
        compared = [node["input"], node["upper"]]
    elif kind == "COMPARE_IN":
        compared = node["children"]
    elif node.get("class") == "COMPARISON":
        compared = [node["left"], node["right"]]
        if scope.column(compared[0]) is None:
            kind, compared = _FLIPPED.get(kind, kind), compared[::-1]
    else:
        return None
    if kind not in _OF_A_DAY or (of := scope.column(compared[0])) is None:
        return None
    table, column = of
    types = ("date", "timestamp") if kind in _ENDS else ("date",)
    days = [day for node in compared[1:] if (day := _written_day(node, types))]
    if not days or not column.type.startswith("TIMESTA"):
        return None
    (sign, does, meant), name = _OF_A_DAY[kind], identifier(column.name)
    read = ", ".join(f"TRY_CAST({literal(day)} AS DATE)" for day in days)
    shown, more = shortened(column.name, _MAX_QUOTED), ", …" if len(days) > 1 else ""
    instead = meant.format(identifier(shown))
    return Trap(
        f"{sign} '{days[0]}'{more} {does}, for {shown} has times; write {instead}",
        check=(
            f"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM {identifier(table)} WHERE "
            f"CAST({name} AS DATE) IN ({read}) AND "
            f"{name} <> CAST(CAST({name} AS DATE) AS {column.type}))"
        ),
    )


def _sign_of_json(node: Node, scope: _Scope) -> Trap | None:
    """A sign of a text that holds a list as JSON, as if it were a list."""
    is_place = node.get("type") == "ARRAY_EXTRACT"
    of = scope.column(node["children"][0]) if is_place else None
    if of is None or of[1].type != "VARCHAR":
        return None
    table, name = identifier(of[0]), identifier(of[1].name)
    shown = shortened(of[1].name, _MAX_QUOTED)
    return Trap(
        f"{shown} has lists as JSON text, of which [1] is a sign; the first element is "
        f"{identifier(shown)}->>0",
        check=(
            f"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE starts_with({name}, '[') "
            f"AND json_valid({name}))"
        ),
    )


def _written_day(node: Node, types: Collection[str]) -> str:
    """A constant text that may be a day, perhaps cast to one of ``types``; "" if it has a time."""
    if node.get("class") == "CAST":
        is_day = fold(str(node["type_expr"].get("type_name"))) in types
        node = node["child"] if is_day else node
    text = _text(node) or ""
    return "" if ":" in text else text


def _day(node: Node, types: Collection[str]) -> str:
    """The day that a constant means, as DuckDB writes it; "" if it is no day."""
    text = _written_day(node, types)
    try:
        return str(date.fromisoformat(text)) if _DAY.fullmatch(text) else ""
    except ValueError:  # DuckDB will refuse it
        return ""


def _missing_texts(node: Node, scope: _Scope) -> Iterator[Trap]:
    """Comparisons of a column with texts that perhaps no row has."""
    if (compared := _with_texts(node, scope)) is None:
        return
    of, column, texts = compared
    table, name = identifier(of), identifier(column)
    sign = _LIKE.get(str(node.get("function_name")), "=")
    is_empty = node.get("type") in ("COMPARE_EQUAL", "COMPARE_IN") and "" in texts
    if is_empty and scope.exempt.isdisjoint((fold(column), id(node))):
        is_null = f"EXISTS (SELECT 1 FROM {table} WHERE {name} IS NULL)"
        yield Trap(
            f"no row of {shortened(of)} has {shortened(column)} = ''; its empty cells are "
            "NULL: write IS NULL",
            check=f"SELECT 1 FROM {table} WHERE {name} = '' OR NOT {is_null} LIMIT 1",
        )
    for text in filter(None, texts):
        wanted = text if sign == "=" else text.strip("%")
        yield Trap(
            f"no row of {shortened(of)} has {shortened(column)} {sign} {_written(text)}",
            check=f"SELECT 1 FROM {table} WHERE {name} {sign} {literal(text)} LIMIT 1",
            compared=wanted,
            among=_similar_values(wanted, name, table) if wanted else "",
        )


def _left_out_nulls(condition: Node | None, scope: _Scope) -> Iterator[Trap]:
    """Columns for which a condition excludes texts, and thereby also rows with NULL.

    Columns that also occur elsewhere in the condition are skipped, as that may be about NULL.
    """
    excluding: list[tuple[str, str]] = []
    for part in _joined_by_and(condition):
        is_negated = part.get("type") == "OPERATOR_NOT"
        inner = part["children"][0] if is_negated else part
        kinds = {str(inner.get("type")), str(inner.get("function_name"))}
        if kinds.isdisjoint(_TAKES if is_negated else _LEAVES_OUT):
            continue
        if (compared := _with_texts(inner, scope)) and compared[2] and "" not in compared[2]:
            excluding.append(compared[:2])
    mentioned = Counter(
        (of[0], of[1].name) for part in _own_parts(condition) if (of := scope.column(part))
    )
    for each in dict.fromkeys(excluding):
        if mentioned[each] > excluding.count(each):
            continue
        table, name = map(identifier, each)
        column = each[1]
        yield Trap(
            f"rows whose {shortened(column)} is NULL are left out, too; "
            f"(… OR {identifier(shortened(column))} IS NULL) keeps them",
            check=f"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE {name} IS NULL)",
        )


def _joined_by_and(condition: Node | None) -> Iterator[Node]:
    """The parts of a condition all of which must be true."""
    if condition is not None and condition.get("type") == "CONJUNCTION_AND":
        for child in condition["children"]:
            yield from _joined_by_and(child)
    elif condition is not None:
        yield condition


def _with_texts(node: Node, scope: _Scope) -> tuple[str, str, list[str]] | None:
    """The table and the text column in a comparison, and the texts it is compared with."""
    if str(node.get("type")) in _SAME_OR_NOT:
        compared = [node["left"], node["right"]]
        compared = compared if _text(compared[0]) is None else compared[::-1]
    elif node.get("type") == "COMPARE_IN":
        compared = node["children"]
    elif str(node.get("function_name")) in _LIKE:
        compared = [argument["expression"] for argument in node.get("arguments", ())]
    else:
        return None
    of = scope.column(compared[0]) if compared else None
    if of is None or of[1].type != "VARCHAR":
        return None
    texts = [text for text in map(_text, compared[1:]) if text is not None]
    return of[0], of[1].name, texts


def _similar_values(text: str, column: str, table: str) -> str:
    """A SELECT of a column's values that are roughly similar to a text."""
    letters, signs, wanted = map(literal, signs_of(text))
    unpadded, unpadded_wanted = (
        rf"regexp_replace({each}, '(^|[^0-9])0+([0-9])', '\1\2', 'g')" for each in ("seen", wanted)
    )
    return (
        f"SELECT value FROM (SELECT value, regexp_replace(translate(lower(left(value, "
        f"{MAX_COMPARED})), {letters}, {signs}), '[^\\x00-\\x7f]', {literal(OTHER_SIGN)}, 'g') "
        f"AS seen FROM (SELECT DISTINCT left({column}, {_MAX_VALUE}) AS value FROM {table} "
        f"WHERE {column} <> '' LIMIT {_MAX_VALUES})) "
        f"ORDER BY {unpadded} = {unpadded_wanted} DESC, contains(seen, {wanted}) OR "
        f"contains({wanted}, seen) DESC, jaro_winkler_similarity(seen, {wanted}) DESC "
        f"LIMIT {_MAX_NEAR}"
    )
