"""Searches for the nearest form of a query that runs, over the repairs of this folder."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.mending.calls import mend_calls
from mdvec_mcp.analytics.core.mending.clauses import mend_clauses
from mdvec_mcp.analytics.core.mending.dialects import is_shallow, mend_dialect
from mdvec_mcp.analytics.core.mending.draft import Draft, Repair
from mdvec_mcp.analytics.core.mending.functions import mend_functions
from mdvec_mcp.analytics.core.mending.meanings import mend_meanings
from mdvec_mcp.analytics.core.mending.names import (
    mend_bare_texts,
    mend_columns,
    mend_quoted_names,
    mend_tables,
)
from mdvec_mcp.analytics.core.mending.operands import mend_operands
from mdvec_mcp.analytics.core.mending.places import mend_places
from mdvec_mcp.analytics.core.mending.rules import mend_forms, mend_syntax
from mdvec_mcp.analytics.core.mending.signs import mend_signs
from mdvec_mcp.analytics.core.mending.values import mend_values
from mdvec_mcp.analytics.core.mending.wrapping import mend_wrapping

MAX_MENDED_CHARACTERS = 3_000
"""Longer queries, and more deeply nested ones, are not mended: parsers take too long."""
_MAX_JUDGED = 60
_MAX_STEPS = 6

# The second figure is what a repair costs: certain ones nothing, guesses more.
_REPAIRS: tuple[tuple[Repair, float], ...] = (
    (mend_wrapping, 1.0),
    (mend_signs, 0.2),
    (mend_syntax, 0.5),
    (mend_tables, 0.6),
    (mend_calls, 0.9),
    (mend_meanings, 0.95),
    (mend_columns, 1.0),
    (mend_quoted_names, 1.0),
    (mend_values, 1.0),
    (mend_operands, 1.0),
    (mend_forms, 1.0),
    (mend_functions, 1.1),
    (mend_dialect, 1.3),
    (mend_clauses, 1.2),
    (mend_places, 1.4),
    (mend_bare_texts, 1.5),
)
# For a query that could be planned: what it says is fine, only its values are not.
_REPAIRS_OF_VALUES: tuple[tuple[Repair, float], ...] = (
    (mend_values, 1.0),
    (mend_quoted_names, 1.0),
)


@dataclass(frozen=True, slots=True)
class QueryProposal:
    """A form of the query that runs, and why the first did not."""

    sql: str
    whys: tuple[str, ...]


def propose_query(
    sql: str,
    message: str,
    tables: Mapping[str, Sequence[Column]],
    judge: Callable[[str], str | None],
) -> QueryProposal | None:
    """The cheapest change that makes the query run; None if none is found.

    Args:
        sql: the query.
        message: why it does not run.
        tables: the columns of the known tables.
        judge: says why a query is refused or cannot be bound; None if it is fine.
    """
    if len(sql) > MAX_MENDED_CHARACTERS or not is_shallow(sql):
        return None
    repairs = _REPAIRS if judge(sql) is not None else _REPAIRS_OF_VALUES
    order = itertools.count()
    waiting: list[tuple[float, int, str, str | None, tuple[str, ...]]] = [
        (0.0, next(order), sql, message, ())
    ]
    seen = {sql}
    for _ in range(_MAX_JUDGED):
        if not waiting:
            return None
        cost, _, form, said, whys = heapq.heappop(waiting)
        said = said if said is not None else judge(form)
        if said is None:
            return QueryProposal(form, whys)
        if len(whys) >= _MAX_STEPS:
            continue
        draft = Draft(form, said, tables)
        for repair, price in repairs:
            for rank, mended in enumerate(repair(draft)):
                if mended.sql in seen or len(mended.sql) > 2 * MAX_MENDED_CHARACTERS:
                    continue
                seen.add(mended.sql)
                step = cost + price + 0.1 * rank
                heapq.heappush(waiting, (step, next(order), mended.sql, None, (*whys, mended.why)))
    return None
