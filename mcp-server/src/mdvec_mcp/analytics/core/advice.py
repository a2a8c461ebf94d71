"""Says what to write instead of a query that DuckDB cannot plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from mdvec.datasets import Column

from mdvec_mcp.analytics.core.refusals import named, nearest_names, quotable, shortened_name
from mdvec_mcp.analytics.core.statement import fold
from mdvec_mcp.analytics.core.translation import translated

_MAX_BYTES = 900
_MAX_MESSAGE_BYTES = 340
_UNKNOWN_COLUMN = re.compile(r'column (?:named )?"((?:[^"]|"")*)"(?: not found|$| Candidate)')
_CANDIDATES = re.compile(r" (?:Candidate |Did you mean ).*")
_LONGER = re.compile(rf"; only one SELECT.*|{_CANDIDATES.pattern}")
_INSTEAD = {
    r"\bTOP\s*\(?\d": "LIMIT 3 at the end",
    r"\bLIMIT\s+\d+\s*,": "LIMIT 10 OFFSET 5",
    r"\b(?:NVL|ISNULL)\s*\(": "coalesce(x, 0), x IS NULL",
    r"\b(?:DATE_?ADD|DATE_SUB|TIMESTAMPADD)\s*\(": "d + INTERVAL 1 MONTH, d - INTERVAL 7 DAY",
    r"\b(?:STR_TO_DATE|TO_DATE)\s*\(": "strptime('2025-06-01', '%Y-%m-%d')",
    r"\b(?:GROUP_CONCAT|STRING_AGG|LISTAGG)\s*\(": "string_agg(x, ',' ORDER BY x)",
    r"\b(?:DATE_FORMAT|TO_CHAR|FORMAT)\s*\(": "strftime(d, '%Y-%m')",
    r"\b(?:IIF|DECODE)\s*\(": "CASE WHEN x > 1 THEN 'a' ELSE 'b' END",
    r"\bMINUS\b": "EXCEPT",
    r"\bDATEPART\s*\(": "extract(month FROM d), isodow(d) from Monday = 1",
    r"\b(?:TIMESTAMP|DATE)DIFF\s*\(": "date_sub('year', a, b) for whole years, date_diff(…) for "
    "turns of the year",
    r"'avg\(BOOLEAN": "avg(x::INTEGER) for the share of rows where x holds",
    r"'\+\((?:VARCHAR|STRING)": "a || b to join texts",
}
"""Patterns of slips, in the query or in DuckDB's message, and what DuckDB has instead."""


def advised(
    message: str,
    sql: str,
    tables: Mapping[str, Sequence[Column]],
    can_run: Callable[[str], bool],
) -> str:
    """Why a query cannot be planned, with a form of it that ``can_run``, or the nearest names."""
    folded = fold(sql)
    names = {
        name: [column.name for column in columns]
        for name, columns in tables.items()
        if re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", folded)
    }
    form = None if can_run(sql) else translated(sql, set().union(*names.values()))
    if form is not None and can_run(form[0]):
        advice = f"this is the SQL of {form[1]}; write: {form[0]}"
        if len(advice.encode()) <= _MAX_BYTES - _MAX_MESSAGE_BYTES:
            return f"{_cut(_LONGER.sub('', message))}; {advice}"
    parts = _advice(message, sql, names)
    parts.insert(0, _cut(_CANDIDATES.sub("", message) if parts else message))
    while len("; ".join(parts).encode()) > _MAX_BYTES:
        parts.pop()
    return "; ".join(parts)


def _advice(message: str, sql: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """The nearest names, what DuckDB has instead, and the columns of the query's tables."""
    code = re.sub(r"'(?:[^']|'')*'", "''", sql) + message
    hints = [hint for slip, hint in _INSTEAD.items() if re.search(slip, code, re.IGNORECASE)]
    instead = [f"DuckDB has {'; '.join(hints)}"] if hints else []
    unknown = _UNKNOWN_COLUMN.search(message)
    if unknown is None:
        return instead
    candidates = re.findall(r'"([^"]+)"', message[unknown.end() :])
    known = [column for columns in (*names.values(), candidates) for column in columns]
    if near := nearest_names(unknown[1], known):
        instead.insert(0, f"nearest: {named(near)}")
    elif f'"{unknown[1]}"' in sql:
        instead.insert(0, f"a text stands in single quotes: '{quotable(unknown[1], 40)}'")
    lists = [f"{shortened_name(name)} has {named(columns)}" for name, columns in names.items()]
    return [*instead, *lists]


def _cut(message: str) -> str:
    return message.encode()[:_MAX_MESSAGE_BYTES].decode(errors="ignore")
