"""Takes a query out of what chats wrap around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended

_FENCE = re.compile(r"\s*```[ \t]*\w*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)
_ANY_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n(.*?)```", re.DOTALL)
_QUERY = re.compile(r"\b(?:WITH\s+\w+\s+AS\s*\(|SELECT\b)", re.IGNORECASE)
_VERB = re.compile(r"(CREATE|INSERT|EXPLAIN|DECLARE|COPY)\b", re.IGNORECASE)
_OPEN = re.compile(r"(?:[(,]|\b(?:union|all|except|intersect|exists|in))$", re.IGNORECASE)
"""What stands before a SELECT that is a part of a query."""
_TAIL = re.compile(r"(?:\\[a-zA-Z]|\n(?:GO|/))?[\s;\"'`}\]]*$", re.IGNORECASE)
"""What a prompt or JSON leaves behind a query."""
_MAX_PARAGRAPHS = 10
_WRAPPERS = "`\"'「」『』“”*_ \n\t"


def unwrapped(text: str) -> str:
    """The inside of a text that is one fenced block and nothing else; other texts unchanged."""
    fenced = _FENCE.fullmatch(text)
    return text if fenced is None or "```" in fenced[1] else fenced[1]


def mend_wrapping(draft: Draft) -> Iterator[Mended]:
    """The query inside of prose, of several fences, or after another statement."""
    sql = draft.sql
    for fence in _ANY_FENCE.findall(sql):
        yield Mended(fence.strip(), "send the SQL alone, without fences and prose")
    parts = [
        part.strip() for part in re.split(r";(?=(?:[^']*'[^']*')*[^']*$)", sql) if part.strip()
    ]
    if len(parts) > 1:
        for part in parts:
            if _QUERY.match(part):
                yield Mended(part, "send one SELECT at a time")
    yield from _within_prose(draft)


def _within_prose(draft: Draft) -> Iterator[Mended]:
    sql = draft.sql
    paragraphs = re.split(r"\n\s*\n", sql)
    if draft.is_unreadable and 1 < len(paragraphs) <= _MAX_PARAGRAPHS:
        for end in range(len(paragraphs) - 1, 0, -1):
            yield Mended("\n\n".join(paragraphs[:end]), "send only the SELECT")
    bare = sql.strip(_WRAPPERS)
    if bare != sql and _QUERY.match(bare):
        yield Mended(bare, "send the SQL without quotes around it")
    verb = _VERB.match(sql.strip())
    for start in _QUERY.finditer(sql):
        before = sql[: start.start()].strip()
        if not before or _OPEN.search(before) or not (verb or draft.is_unreadable):
            break
        why = f"{verb[1].upper()} is not needed; send" if verb else "send only"
        query = sql[start.start() :]
        yield Mended(query, f"{why} the SELECT")
        if (bare := _TAIL.sub("", query)) != query:
            yield Mended(bare, f"{why} the SELECT")
    if draft.is_unreadable and (bare := _TAIL.sub("", sql)) != sql:
        yield Mended(bare, "send only the SELECT")
