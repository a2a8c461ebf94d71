"""Repairs clauses on the query's tree: GROUP BY, HAVING, QUALIFY, ROWNUM, their order."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mdvec_mcp.analytics.core.mending.dialects import is_shallow
from mdvec_mcp.analytics.core.mending.draft import Draft, Mended

if TYPE_CHECKING:
    from sqlglot import exp


def mend_clauses(draft: Draft) -> Iterator[Mended]:
    """Clauses in the order and with the contents that DuckDB needs."""
    message = draft.message
    if draft.is_unreadable:
        yield from _reordered(draft)
    elif "GROUP BY clause" in message:
        yield from _grouped(draft)
    elif "WHERE clause cannot contain" in message or "in WHERE" in message:
        yield from _moved(draft)
    elif "cannot be nested" in message:
        yield from _unnested(draft)
    elif "ROWNUM" in message:
        yield from _limited(draft)
    elif "ORDER BY non-integer" in message or "GROUP BY" in message:
        yield from _grouped(draft)


def parsed(sql: str) -> exp.Expr | None:
    """The tree of one query in DuckDB's SQL; None if sqlglot cannot read it."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    if not is_shallow(sql):
        return None
    try:
        return sqlglot.parse_one(sql, read="duckdb")
    except (SqlglotError, RecursionError, ValueError, KeyError, AttributeError, TypeError):
        # sqlglot raises any of these at SQL that it does not know.
        return None


def written(tree: exp.Expr) -> str:
    """The SQL of a tree."""
    return tree.sql("duckdb", comments=False)


def _reordered(draft: Draft) -> Iterator[Mended]:
    from sqlglot import exp

    tree = parsed(draft.sql)
    if tree is None:
        return
    if _words(written(tree)) != _words(draft.sql):
        return  # sqlglot understood something else
    why = "clauses come in the order WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY, LIMIT"
    for union in tree.find_all(exp.SetOperation):
        left = union.left
        if isinstance(left, exp.Select) and (left.args.get("order") or left.args.get("limit")):
            union.set("this", exp.Subquery(this=left.copy()))
            why = "a part of UNION with ORDER BY or LIMIT needs parentheses"
    yield Mended(written(tree), why)


def _words(sql: str) -> list[str]:
    words = re.findall(r"\w+", sql.lower())
    return sorted(word for word in words if word not in {"as", "asc", "inner", "outer"})


def _grouped(draft: Draft) -> Iterator[Mended]:
    from sqlglot import exp

    tree = parsed(draft.sql)
    if tree is None:
        return
    for select in tree.find_all(exp.Select):
        having = select.args.get("having")
        if having is not None and not (
            _is_aggregated(having)
            or select.args.get("group")
            or any(map(_is_aggregated, select.expressions))
        ):
            select.set("having", None)
            select.where(having.this, copy=False)
            continue
        keys = [one.unalias() for one in select.expressions if not _is_aggregated(one)]
        later = [select.args.get(clause) for clause in ("having", "order")]
        is_grouped = any(part is not None and _is_aggregated(part) for part in later)
        if not keys or (len(keys) == len(select.expressions) and not is_grouped):
            continue
        select.set("group", exp.Group(expressions=[key.copy() for key in keys]))
        having = select.args.get("having")
        if having is not None and not _is_aggregated(having):
            select.set("having", None)
            select.where(having.this, copy=False)
    yield Mended(written(tree), "every column outside of an aggregate belongs in GROUP BY")
    if _order_by_least(tree):
        yield Mended(written(tree), "groups are ordered by an aggregate, such as min(x)")


def _order_by_least(tree: exp.Expr) -> bool:
    """Order groups by the least value of a column that is no key; whether any was so ordered."""
    from sqlglot import exp

    done = False
    for select in tree.find_all(exp.Select):
        order, group = select.args.get("order"), select.args.get("group")
        if order is None or group is None:
            continue
        known = {key.sql() for key in group.expressions} | {
            one.alias_or_name for one in select.expressions
        }
        for key in order.expressions:
            column = key.this if isinstance(key, exp.Ordered) else None
            if isinstance(column, exp.Column) and not {column.sql(), column.name} & known:
                column.replace(exp.Min(this=column.copy()))
                done = True
    return done


def _moved(draft: Draft) -> Iterator[Mended]:
    """Conditions on aggregates go to HAVING, those on windows to QUALIFY."""
    from sqlglot import exp

    tree = parsed(draft.sql)
    if tree is None:
        return
    why = "WHERE sees single rows"
    for select in tree.find_all(exp.Select):
        where = select.args.get("where")
        if where is None:
            continue
        named = {one.alias: one.unalias() for one in select.expressions if one.alias}
        is_single = not select.args.get("group") and not any(
            map(_is_aggregated, select.expressions)
        )
        kept = []
        for part in list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]:
            expanded = part.copy().transform(_expanded, named)
            if expanded.find(exp.Window):
                _add(select, "qualify", expanded)
                why = "a condition on a window belongs in QUALIFY"
            elif _is_aggregated(expanded) and is_single:
                kept.append(_asked_of_all(select, expanded))
                why = "WHERE sees single rows; a subquery sees all of them"
            elif _is_aggregated(expanded):
                _add(select, "having", expanded)
                why = "a condition on an aggregate belongs in HAVING"
            else:
                kept.append(part)
        select.set("where", exp.Where(this=exp.and_(*kept, copy=True)) if kept else None)
    yield Mended(written(tree), why)


def _asked_of_all(select: exp.Select, condition: exp.Expr) -> exp.Expr:
    """A condition whose aggregates are asked of the query's whole tables, in subqueries."""
    from sqlglot import exp

    for call in list(condition.find_all(exp.AggFunc)):
        asked = exp.select(call.copy())
        for part in ("from_", "joins"):
            asked.set(part, copy.deepcopy(select.args.get(part)))
        call.replace(asked.subquery())
    return condition


def _unnested(draft: Draft) -> Iterator[Mended]:
    """An aggregate of aggregates asks a subquery."""
    from sqlglot import exp

    tree = parsed(draft.sql)
    if not isinstance(tree, exp.Select):
        return
    nested = [one for one in tree.expressions if _is_nested(one.unalias())]
    columns = [one for one in tree.expressions if isinstance(one.unalias(), exp.Column)]
    group = tree.args.get("group")
    grouped = len(group.expressions) if group else 0
    if len(nested) == 1 and len(columns) == len(tree.expressions) - 1 < max(grouped, 1):
        yield from _of_parts(tree, nested[0], columns)
        return
    for call in list(tree.find_all(exp.AggFunc)) if group else []:
        if _is_nested(call) and not isinstance(call.parent, exp.Window):
            call.replace(exp.Window(this=call.copy()))
    yield Mended(written(tree), "over all groups an aggregate is a window: sum(count(*)) OVER ()")


def _is_nested(call: exp.Expr) -> bool:
    from sqlglot import exp

    return isinstance(call, exp.AggFunc) and isinstance(call.this, exp.AggFunc)


def _of_parts(tree: exp.Select, nested: exp.Expr, columns: list[exp.Expr]) -> Iterator[Mended]:
    """The outer aggregate, per the columns beside it, over the groups as a subquery."""
    from sqlglot import exp

    names = [exp.column(one.alias_or_name) for one in columns]
    outer = [one.copy() for one in tree.expressions]
    at = tree.expressions.index(nested)
    asked = tree.copy()
    asked.set("expressions", [one.copy() for one in columns])
    asked = asked.select(exp.alias_(nested.unalias().this.copy(), "value"))
    asked.set("order", None)
    asked.set("limit", None)
    outer[at].unalias().this.replace(exp.column("value"))
    shown = iter(names)
    picked = [one if place == at else next(shown) for place, one in enumerate(outer)]
    whole = exp.select(*picked).from_(asked.subquery("parts"))
    if names:
        whole = whole.group_by(*names)
    yield Mended(written(whole), "an aggregate of an aggregate needs a subquery")


def _limited(draft: Draft) -> Iterator[Mended]:
    """``ROWNUM <= 10`` is LIMIT 10."""
    from sqlglot import exp

    tree = parsed(draft.sql)
    if tree is None:
        return
    for select in tree.find_all(exp.Select):
        where = select.args.get("where")
        if where is None:
            continue
        kept = []
        for part in list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]:
            is_count = isinstance(part, exp.LTE | exp.LT) and part.this.name.lower() == "rownum"
            if is_count and part.expression.is_int:
                select.limit(int(part.expression.name) - isinstance(part, exp.LT), copy=False)
            else:
                kept.append(part)
        select.set("where", exp.Where(this=exp.and_(*kept, copy=True)) if kept else None)
    yield Mended(written(tree), "ROWNUM is LIMIT")


def _add(select: exp.Select, clause: str, condition: exp.Expr) -> None:
    from sqlglot import exp

    kinds = {"having": exp.Having, "qualify": exp.Qualify}
    before = select.args.get(clause)
    whole = exp.and_(before.this, condition) if before is not None else condition
    select.set(clause, kinds[clause](this=whole))


def _expanded(node: exp.Expr, named: dict[str, exp.Expr]) -> exp.Expr:
    from sqlglot import exp

    if isinstance(node, exp.Column) and not node.table and node.name in named:
        meant = named[node.name]
        if meant.find(exp.Window) is None and meant.find(exp.AggFunc):
            return meant.copy()
        if meant.find(exp.Window):
            return meant.copy()
    return node


def _is_aggregated(node: exp.Expr) -> bool:
    from sqlglot import exp

    return any(
        (not isinstance(found.parent, exp.Window) and not isinstance(found.parent, exp.Filter))
        or isinstance(found.parent, exp.Filter)
        for found in node.find_all(exp.AggFunc)
    )
