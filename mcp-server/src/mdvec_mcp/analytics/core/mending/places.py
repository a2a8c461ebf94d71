"""Repairs at the place where the parser stopped: commas, parentheses, quotes, words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import mask

_WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT",
    "INNER", "UNION", "DISTINCT", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "END", "DESCRIBE",
    "QUALIFY", "PARTITION BY", "OVER", "INTERVAL",
)  # fmt: skip
_WORD = re.compile(r"[^\W\d]\w*")


def mend_places(draft: Draft) -> Iterator[Mended]:
    """Changes of one token near the place, the likeliest first."""
    if not draft.is_unreadable:
        return
    yield from _quotes(draft)
    yield from _two_wheres(draft)
    yield from _words(draft)
    yield from _parentheses(draft)
    place = draft.position
    if place is None or place > len(draft.sql):
        return
    yield from _reserved(draft, place)
    yield from _comma(draft, place)


def _quotes(draft: Draft) -> Iterator[Mended]:
    if "unterminated" not in draft.message:
        return
    sql = draft.sql
    why = "a quote inside a text is written twice: ''"
    if "\\'" in sql:
        yield Mended(sql.replace("\\'", "''"), why)
    opened = re.sub(r"((?:=|<|>|,|\(|\bLIKE)\s*)([^\W\d]\w*)'", r"\1'\2'", sql)
    if opened != sql:
        yield Mended(opened, "a text begins with a quote, too")
    doubled = re.sub(r"(?<=\w)'(?=\w)", "''", sql)
    if doubled != sql:
        yield Mended(doubled, why)
    yield Mended(f"{sql.rstrip()}'", "the text does not end; close its quote")


def _two_wheres(draft: Draft) -> Iterator[Mended]:
    masked = mask(draft.sql)
    twice = re.sub(
        r"(\bWHERE\b(?:(?!\b(?:SELECT|GROUP|FROM)\b)[^()])*)\bWHERE\b", r"\1AND", masked.code,
        flags=re.IGNORECASE,
    )  # fmt: skip
    if twice != masked.code:
        yield Mended(masked.shown(twice), "there is one WHERE; join conditions with AND")
    joined = re.sub(
        r"(\bJOIN\s+\w+(?:\s+(?:AS\s+)?(?!WHERE\b|ON\b|USING\b)\w+)?\s+)WHERE\b", r"\1ON",
        masked.code, count=1, flags=re.IGNORECASE,
    )  # fmt: skip
    if joined != masked.code:
        yield Mended(masked.shown(joined), "a JOIN needs ON")


def _words(draft: Draft) -> Iterator[Mended]:
    """A keyword that is misspelt, or lacks its BY."""
    masked = mask(draft.sql)
    lacking = re.sub(r"\b(GROUP|ORDER|PARTITION)(?!\s+BY\b)(?=\s+\w)", r"\1 BY", masked.code,
                     flags=re.IGNORECASE)  # fmt: skip
    if lacking != masked.code:
        yield Mended(masked.shown(lacking), "GROUP and ORDER need BY")
    known = {word.lower() for table in draft.tables.values() for word in (c.name for c in table)}
    known |= {name.lower() for name in draft.tables} | {word.lower() for word in _WORDS}
    whys = []

    def spelt(found: re.Match[str]) -> str:
        word = found[0]
        if word.lower() in known or word.lower() in {"group", "order", "by", "partition"}:
            return word
        near = difflib.get_close_matches(
            word.upper(), [*_WORDS, *(w.replace(" ", "") for w in _WORDS)], 1, 0.74
        )
        if not near or (len(word) < 4 or code_after(found).startswith("(")):
            return word
        right = next(w for w in _WORDS if w.replace(" ", "") == near[0].replace(" ", ""))
        if right.lower() == word.lower():
            return word
        whys.append(f"{word} is {right}")
        return right

    def code_after(found: re.Match[str]) -> str:
        return masked.code[found.end() :].lstrip()

    code = _WORD.sub(spelt, masked.code)
    if whys:
        yield Mended(masked.shown(code), "; ".join(whys[:3]))


def _parentheses(draft: Draft) -> Iterator[Mended]:
    masked = mask(draft.sql)
    code, depth = masked.code, 0
    for index, sign in enumerate(code):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            without = code[:index] + code[index + 1 :]
            yield Mended(masked.shown(without), "there is a ) too many")
            return
    if depth <= 0 or depth > 5:
        return
    why = "a ( is not closed"
    clause = re.search(r"\s+(?:FROM|WHERE|GROUP\s+BY|ORDER\s+BY|LIMIT)\b", code, re.IGNORECASE)
    while clause is not None:
        before = code[: clause.start()]
        if before.count("(") > before.count(")"):
            missing = before.count("(") - before.count(")")
            closed = f"{before}{')' * missing}{code[clause.start() :]}"
            yield Mended(masked.shown(closed), why)
            break
        clause = re.compile(
            r"\s+(?:FROM|WHERE|GROUP\s+BY|ORDER\s+BY|LIMIT)\b", re.IGNORECASE
        ).search(code, clause.end())
    yield Mended(masked.shown(code.rstrip() + ")" * depth), why)


def _reserved(draft: Draft, place: int) -> Iterator[Mended]:
    """A word of SQL as a name, which needs quotes."""
    for start in (place, _word_before(draft.sql, place)):
        word = None if start is None else _WORD.match(draft.sql, start)
        if word is None:
            continue
        quoted = f'{draft.sql[: word.start()]}"{word[0]}"{draft.sql[word.end() :]}'
        if re.search(r"\bAS\s*$", draft.sql[: word.start()], re.IGNORECASE):
            yield Mended(
                quoted, f"{word[0][:40]} is a word of SQL; as a name it needs double quotes"
            )


def _comma(draft: Draft, place: int) -> Iterator[Mended]:
    sql = draft.sql
    why = "a comma is missing"
    spots = [place]
    if sql[place : place + 1] == "(" and (name := _word_before(sql, place)) is not None:
        spots.insert(0, name)
    for spot in spots:
        yield Mended(f"{sql[:spot].rstrip()}, {sql[spot:].lstrip()}", why)


def _word_before(sql: str, place: int) -> int | None:
    found = re.search(r"[^\W\d]\w*\s*$", sql[:place])
    return None if found is None else found.start()
