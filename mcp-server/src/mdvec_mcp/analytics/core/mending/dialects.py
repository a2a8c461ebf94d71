"""Translates functions and clauses of other databases: first our own list, then sqlglot."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended

_MAX_DEPTH = 30
"""Deeper parentheses are not parsed in Python."""
_SIGNS = {
    "tsql": r"\bTOP\b|GETDATE|DATEADD|\bISNULL\s*\(|CONVERT\s*\(|\bLEN\s*\(|CHARINDEX|DATEPART|"
    r"DATENAME|EOMONTH|\bIIF\b|DATETRUNC|DATEDIFF\s*\(\s*\w+\s*,[^,]*,|\bFORMAT\s*\(|STDEVP?\b|NOLOCK",
    "mysql": r"`|DATE_FORMAT|CURDATE|STR_TO_DATE|DATE_SUB|DATE_ADD|GROUP_CONCAT|SUBSTRING_INDEX|"
    r"TIMESTAMPDIFF|UNIX_TIMESTAMP|FROM_UNIXTIME|REGEXP\b|\bDIV\b|LOCATE|\bIF\s*\(|SIGNED|"
    r"DATEDIFF\s*\([^,]*,[^,]*\)",
    "oracle": r"ROWNUM|\bNVL2?\b|\bDECODE\s*\(|SYSDATE|LISTAGG|ADD_MONTHS|\(\+\)|\bNUMBER\b|"
    r"TRUNC\s*\(",
    "bigquery": r"SAFE_|COUNTIF|FORMAT_DATE|PARSE_DATE|INT64|APPROX_QUANTILES|REGEXP_CONTAINS|"
    r"DATE_(?:TRUNC|DIFF)\s*\(.*,\s*\w+\s*\)",
    "postgres": r"to_date|to_timestamp|::|WITHIN\s+GROUP",
    "snowflake": r"\bIFF\b|DATEADD|DATEDIFF|TO_VARCHAR|ZEROIFNULL",
    "sqlite": r"julianday|strftime|date\s*\(\s*'now'",
}
_NAMES = {
    "tsql": "T-SQL", "mysql": "MySQL", "oracle": "Oracle", "bigquery": "BigQuery",
    "postgres": "PostgreSQL", "snowflake": "Snowflake", "sqlite": "SQLite",
}  # fmt: skip
_TRIED = 3


def mend_dialect(draft: Draft) -> Iterator[Mended]:
    """The query as DuckDB's SQL, read as that of the databases that it looks like."""
    if not is_shallow(draft.sql):
        return
    counts = {
        dialect: len(re.findall(signs, draft.sql, re.IGNORECASE))
        for dialect, signs in _SIGNS.items()
    }
    likely = sorted((one for one in counts if counts[one]), key=lambda one: -counts[one])
    for dialect in likely[:_TRIED]:
        if (sql := translated_sql(draft.sql, dialect)) is not None:
            yield Mended(sql, f"this is {_NAMES[dialect]}'s SQL")


def translated_sql(sql: str, dialect: str) -> str | None:
    """One statement of a dialect in DuckDB's; None if sqlglot cannot read it."""
    import sqlglot
    from sqlglot.errors import ErrorLevel, SqlglotError
    from sqlglot.transforms import eliminate_join_marks

    try:
        trees = sqlglot.parse(sql, read=dialect)
        if len(trees) != 1 or trees[0] is None:
            return None
        tree = eliminate_join_marks(trees[0]) if "(+)" in sql else trees[0]
        return tree.sql("duckdb", comments=False, unsupported_level=ErrorLevel.RAISE)
    except (SqlglotError, RecursionError, ValueError, KeyError, AttributeError, TypeError):
        # sqlglot raises any of these at SQL that it does not know.
        return None


def is_shallow(sql: str) -> bool:
    """Whether parentheses are nested little enough for a parser in Python."""
    depth = deepest = 0
    for sign in sql:
        depth += (sign in "([{") - (sign in ")]}")
        deepest = max(deepest, depth)
    return deepest <= _MAX_DEPTH
