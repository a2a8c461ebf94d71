"""Finds mistakes that run but mean something else: ``x = NULL``, shell wildcards, ``[name]``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.mending.masking import COLUMN, TEXT, Masked, mask
from mdvec_mcp.analytics.core.mending.search import MAX_MENDED_CHARACTERS, QueryProposal
from mdvec_mcp.analytics.core.statement import fold

_FIGURES = re.compile(
    r"(\b(?:SUM|AVG|MIN|MAX|MEDIAN)\s*\(\s*|\bSELECT\s+)(\d+(?:\s*[-+*/]\s*\d+)*)"
    r"(?=\s*(?:[),]|\bFROM\b))",
    re.IGNORECASE,
)
_SUSPECT = re.compile(
    rf"NULL|LIKE|\[|CHAR\s*\(|WEEKDAY|{_FIGURES.pattern}|^(?!.*\bFROM\b)",
    re.IGNORECASE | re.DOTALL,
)
_NULL = re.compile(rf"({COLUMN})\s*(==?|<>|!=)\s*NULL\b", re.IGNORECASE)
_IN_NULL = re.compile(rf"({COLUMN})\s+IN\s*\(\s*NULL\s*\)", re.IGNORECASE)
_LIKE = re.compile(rf"\b(I?LIKE)\s+({TEXT})", re.IGNORECASE)
_BRACKETS = re.compile(r"(?<![\w\])])\[\s*([^\W\d]\w*)\s*\]")
_CUT = re.compile(
    rf"\bCAST\s*\(\s*({COLUMN})\s+AS\s+(?:VAR)?CHAR\s*\(\s*(\d+)\s*\)\s*\)", re.IGNORECASE
)
_WEEKDAY = re.compile(rf"\bWEEKDAY\s*\(\s*({COLUMN})\s*\)", re.IGNORECASE)
_NO_FROM = re.compile(r"(\bSELECT\b.*[\w)*])\s+([^\W\d]\w*)\s*;?\s*", re.IGNORECASE | re.DOTALL)


def quiet_mistake(sql: str, tables: Mapping[str, Sequence[Column]]) -> QueryProposal | None:
    """What a query that runs probably means instead; None if nothing is suspicious.

    Args:
        sql: the query.
        tables: the columns of the known tables.
    """
    if len(sql) > MAX_MENDED_CHARACTERS or _SUSPECT.search(sql) is None:
        return None
    masked = mask(sql)
    code, whys = masked.code, []
    for change, why in (
        (_nulls, "a comparison with NULL is never true"),
        (lambda one: _wildcards(masked, one), "the wildcard of LIKE is %"),
        (lambda one: _brackets(one, tables), "[x] is a list, not the column x"),
        (lambda one: _CUT.sub(r"left(CAST(\1 AS VARCHAR), \2)", one), "CAST cuts no text"),
        (
            lambda one: _WEEKDAY.sub(r"isodow(\1) - 1", one),
            "weekday() counts from Sunday = 0; if Monday = 0 is meant",
        ),
        (lambda one: _from(one, tables), "there is no FROM"),
        (
            lambda one: _figures(masked, one, tables),
            "a bare number is not the column of that name, which stands in double quotes",
        ),
    ):
        changed = change(code)
        if changed != code:
            whys.append(why)
            code = changed
    return QueryProposal(masked.shown(code), tuple(whys)) if whys else None


def _nulls(code: str) -> str:
    return _IN_NULL.sub(r"\1 IS NULL", _NULL.sub(_is_null, code))


def _is_null(found: re.Match[str]) -> str:
    return f"{found[1]} IS NULL" if found[2].startswith("=") else f"{found[1]} IS NOT NULL"


def _wildcards(masked: Masked, code: str) -> str:
    def replaced(like: re.Match[str]) -> str:
        text = masked.shown(like[2])
        if "*" not in text or "%" in text or "_" in text:
            return like[0]
        return f"{like[1]} {text.replace('*', '%').replace('?', '_')}"

    return _LIKE.sub(replaced, code)


def _brackets(code: str, tables: Mapping[str, Sequence[Column]]) -> str:
    known = {fold(column.name) for columns in tables.values() for column in columns}
    return _BRACKETS.sub(lambda name: name[1] if fold(name[1]) in known else name[0], code)


def _from(code: str, tables: Mapping[str, Sequence[Column]]) -> str:
    found = None if re.search(r"\bFROM\b", code, re.IGNORECASE) else _NO_FROM.fullmatch(code)
    if found is None or fold(found[2]) not in map(fold, tables):
        return code
    return f"{found[1]} FROM {found[2]}"


def _figures(masked: Masked, code: str, tables: Mapping[str, Sequence[Column]]) -> str:
    """Numbers alone where a column is meant, as in sum(2024) over a table with years as columns."""
    shown = masked.shown(code)
    words = set(re.findall(r"\w+", fold(shown)))
    read = [columns for name, columns in tables.items() if fold(name) in words]
    names = {column.name for columns in read for column in columns if column.name.isdecimal()}
    names = {name for name in names if f'"{name}"' not in shown}

    def quoted(found: re.Match[str]) -> str:
        inside = re.sub(r"\d+", lambda one: f'"{one[0]}"' if one[0] in names else one[0], found[2])
        return found[1] + inside

    return _FIGURES.sub(quoted, code)
