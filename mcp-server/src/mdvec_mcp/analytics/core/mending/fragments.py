"""Joins, conditions and lists that lack a word or hold one that DuckDB does not know."""

from __future__ import annotations

from mdvec_mcp.analytics.core.mending.masking import COLUMN, NAME, TEXT, VALUE
from mdvec_mcp.analytics.core.mending.rule import rule

_SOURCE = rf"(?!JOIN\b|OUTER\b|SEMI\b|ANTI\b){NAME}(?:\s+AS)?(?:\s+(?!ON\b|USING\b){NAME})?"
FRAGMENTS = (
    rule(rf"({_SOURCE})\s*,\s*({_SOURCE})(?=\s+(?:ON|USING)\b)", r"\1 JOIN \2",
          "tables are joined by JOIN … ON"),
    rule(rf"\b(LEFT|RIGHT|FULL|INNER)(\s+OUTER)?\s+(?={_SOURCE}\s+(?:ON|USING)\b)",
          r"\1 JOIN ", "a join needs the word JOIN"),
    rule(rf"\bROUND\s*\(\s*(AVG|SUM|MIN|MAX|MEDIAN)\s*\(\s*({COLUMN})\s*,\s*(\d+)\s*\)"
          r"(?=\s*(?:,|\bFROM\b|\bAS\b))", r"ROUND(\1(\2), \3)", "a ) stands too late"),
    rule(r"\b(?:ARRAY_AGG|LIST)\s*\(([^()]*(?:\([^()]*\)[^()]*)*?)\s+LIMIT\s+(\d+)\s*\)",
          r"(array_agg(\1))[1:\2]", "the first of a list are list[1:3]"),
    rule(r"\[(?:SAFE_)?OFFSET\s*\(\s*(\d+)\s*\)\]", lambda part: f"[{int(part[1]) + 1}]",
          "lists count from 1"),
    rule(r"\[(?:SAFE_)?ORDINAL\s*\(\s*(\d+)\s*\)\]", r"[\1]", "lists count from 1"),
    rule(rf"\bSTRING_AGG\s*\(\s*({COLUMN})\s*,\s*({TEXT})\s*(\bORDER\s+BY\s[^()]*?)?\s+LIMIT\s+(\d+)\s*\)",
         r"array_to_string((array_agg(\1 \3))[1:\4], \2)", "the first of a list are list[1:3]"),
    rule(rf"\bSTRING_AGG\s*\(\s*({COLUMN})\s*(\bORDER\s+BY\s[^()]*?)?\s+LIMIT\s+(\d+)\s*\)",
         r"array_to_string((array_agg(\1 \2))[1:\3], ',')", "the first of a list are list[1:3]"),
    rule(r"\bLIMIT\s+(\d+)\s*[件行個]", r"LIMIT \1", "LIMIT takes a number"),
    rule(r"\b(?:AND|OR|WHERE)\s+(?=(?:GROUP|ORDER)\s+BY\b|LIMIT\b|HAVING\b)", "",
         "the condition does not end"),
    rule(rf"(\bWHEN\b(?:(?!\b(?:THEN|END|WHEN|ELSE)\b).)+?(?:[<>=]|\bLIKE\b)\s*{VALUE})\s+"
         rf"(?!THEN\b|AND\b|OR\b)({VALUE})(?=\s+(?:ELSE|WHEN|END)\b)", r"\1 THEN \2",
         "CASE needs THEN behind each condition"),
    rule(r"^\s*SELECT\s+TOP\s*\(?\s*(\d+)\s*\)?\s+WITH\s+TIES\s+(.*?)\s+ORDER\s+BY\s+(.*?)\s*;?\s*$",
         r"SELECT \2 QUALIFY rank() OVER (ORDER BY \3) <= \1 ORDER BY \3",
         "the first with their ties are those of the first ranks"),
    rule(rf"\b(ROLLUP|CUBE)\s+({COLUMN}(?:\s*,\s*{COLUMN})*)", r"\1 (\2)",
         "ROLLUP needs parentheses"),
)  # fmt: skip
