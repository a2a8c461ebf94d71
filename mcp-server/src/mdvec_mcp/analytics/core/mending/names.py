"""Repairs names: texts in double quotes, columns and tables that are written otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdvec.text.quoting import identifier, literal

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import TEXT, mask
from mdvec_mcp.analytics.core.mending.nearness import nearest_name, same_name
from mdvec_mcp.analytics.core.refusals import quotable

_PLAIN = re.compile(r"[^\W\d]\w*")
_FILE_FUNCTION = re.compile(
    rf"\b(?:read_\w+|parquet_scan|query_table)\s*\(\s*({TEXT})[^()]*\)", re.IGNORECASE
)
_BY_TEXT = re.compile(
    r"(\b(?:GROUP\s+BY|ORDER\s+BY|PARTITION\s+BY)\s(?:[^;()']*,)?\s*"
    r"|\b(?:SUM|AVG|MIN|MAX|MEDIAN|STDDEV)\s*\(\s*)'([^']+)'",
    re.IGNORECASE,
)


def mend_columns(draft: Draft) -> Iterator[Mended]:
    """A column that does not exist: a text in double quotes, or the column that is meant."""
    name = draft.named_by(r'Referenced column "((?:[^"]|"")*)" not found')
    if name is None:
        name = draft.named_by(r'does not have a column named "((?:[^"]|"")*)"')
    if name is None:
        yield from _table_reference(draft)
        yield from _ambiguous(draft)
        return
    columns = [column.name for table in draft.tables.values() for column in table]
    aliases = re.findall(r"\bAS\s+([^\W\d]\w*)", draft.sql, re.IGNORECASE)
    meant = nearest_name(name, [*columns, *aliases])
    in_quotes = f'"{name}"' in draft.sql
    if in_quotes and (meant is None or same_name(meant) != same_name(name)):
        text = draft.sql.replace(f'"{name}"', literal(name.replace('""', '"')))
        yield Mended(
            text, f"\"{quotable(name, 30)}\" is the name of a column; a text stands in '…'"
        )
    if meant is not None and meant != name:
        why = f"there is no column {quotable(name, 30)!r}, but {quotable(meant, 40)}"
        yield Mended(renamed(draft.sql, name, meant), why)
    yield from _same_as_joined(draft, name)
    yield from _split_name(draft, name, columns)
    yield from _other_table(draft, name)


def mend_bare_texts(draft: Draft) -> Iterator[Mended]:
    """A text without quotes, which is read as a column that does not exist."""
    name = draft.named_by(r'Referenced column "([^"\W]+)" not found')
    if name is not None and f'"{name}"' not in draft.sql:
        bare = rf"((?:=|<|>|,|\(|\bLIKE|\bIN)\s*){re.escape(name)}(?![\w.(])"
        masked = mask(draft.sql)
        text = re.sub(
            bare, lambda part: f"{part[1]}{literal(name)}", masked.code, flags=re.IGNORECASE
        )
        if text != masked.code:
            yield Mended(masked.shown(text), "a text stands in single quotes: 'text'")


def mend_quoted_names(draft: Draft) -> Iterator[Mended]:
    """A column or an alias in single quotes, which is a text."""
    aliases = re.findall(r"\bAS\s+'?([^\W\d]\w*)", draft.sql, re.IGNORECASE)
    known = {same_name(column.name): column.name for table in draft.tables.values()
             for column in table} | {same_name(alias): alias for alias in aliases}  # fmt: skip

    def named(text: re.Match[str]) -> str:
        name = known.get(same_name(text[2]))
        return text[0] if name is None else f"{text[1]}{written_name(name)}"

    changed = _BY_TEXT.sub(named, draft.sql)
    while changed != (again := _BY_TEXT.sub(named, changed)):
        changed = again
    if changed != draft.sql:
        yield Mended(changed, "a name stands in double quotes or none; '…' is a text")


def mend_tables(draft: Draft) -> Iterator[Mended]:
    """A table that does not exist, or that is named as a file: the table that is meant."""
    masked = mask(draft.sql)
    for call in _FILE_FUNCTION.finditer(masked.code):
        path = masked.shown(call[1])[1:-1]
        if (table := _table_of(path, draft)) is not None:
            code = masked.code[: call.start()] + written_name(table) + masked.code[call.end() :]
            yield Mended(masked.shown(code), "the files are tables already")
    name = draft.named_by(r"there is no table '(.*?)'(?: \(| for queries|;)")
    if name is None:
        return
    if "information_schema" in name or "pg_catalog" in name:
        yield from _described(draft)
    if (table := _table_of(name, draft)) is None:
        return
    why = f"there is no table {quotable(name, 30)!r}, but {quotable(table, 40)}"
    dotted = r"\s*\.\s*".join(spelling(part) for part in name.split("."))
    for pattern in (spelling(name), dotted):
        changed = re.sub(pattern, lambda _: written_name(table), draft.sql)
        if changed != draft.sql:
            yield Mended(changed, why)


def _table_of(name: str, draft: Draft) -> str | None:
    file = re.split(r"[/\\]", name)[-1]
    stem = file.rpartition(".")[0] or file
    last = name.rpartition(".")[2]
    for part in (name, stem, last, stem.rpartition(".")[2]):
        if part in draft.tables:
            return part
    return nearest_name(stem, draft.tables) or nearest_name(last, draft.tables)


def _described(draft: Draft) -> Iterator[Mended]:
    named = re.search(r"table_name\s*=\s*'([^']*)'", draft.sql, re.IGNORECASE)
    table = None if named is None else nearest_name(named[1], draft.tables)
    if table is not None:
        sql = f"SELECT column_name, column_type FROM (DESCRIBE {written_name(table)})"
        if not re.search(r"SELECT\s+\*|data_type|column_type", draft.sql, re.IGNORECASE):
            sql = f"SELECT column_name FROM (DESCRIBE {written_name(table)})"
        yield Mended(sql, "DESCRIBE shows the columns")


def _table_reference(draft: Draft) -> Iterator[Mended]:
    """The alias before a column is not one of the query's tables."""
    name = draft.named_by(r'Referenced table "((?:[^"]|"")*)" not found')
    if name is None:
        return
    candidates = re.findall(r'"([^"]+)"', draft.message.partition("Candidate tables:")[2])
    if "unnamed_subquery" in candidates:
        masked = mask(draft.sql)
        end = masked.code.rfind(")")
        named = f"{masked.code[: end + 1]} AS {written_name(name)}{masked.code[end + 1 :]}"
        yield Mended(masked.shown(named), f"the subquery is not named {quotable(name, 30)}")
    near = nearest_name(name, candidates)
    for table in [near, *candidates] if near else candidates[:3]:
        changed = re.sub(
            rf"{spelling(name)}(?=\s*\.)", written_name(str(table)).replace("\\", r"\\"), draft.sql
        )
        yield Mended(changed, f"the table is called {quotable(str(table), 40)} in this query")


def _ambiguous(draft: Draft) -> Iterator[Mended]:
    name = draft.named_by(r'Ambiguous reference to column name "([^"]+)"')
    first = draft.named_by(r"\(use: '([^']+)'")
    if name is None or first is None:
        return
    second = draft.named_by(r"' or '([^']+)'\)")
    joined = draft.sql
    if second is not None:
        bare = re.escape(name)
        pair = rf"(?<![\w.\"']){bare}(\s*==?\s*){bare}(?![\w.\"'])"
        joined = re.sub(pair, lambda part: f"{first}{part[1]}{second}", joined)
    changed = re.sub(rf"(?<![\w.\"'])\"?{re.escape(name)}\"?(?![\w\"'])", first, joined)
    yield Mended(changed, f"several tables have a column {quotable(name, 30)}")


def _split_name(draft: Draft, name: str, columns: list[str]) -> Iterator[Mended]:
    """One name written as two, as in ``flight-date``."""
    for column in columns:
        parts = re.split(r"[_\s]", column)
        if len(parts) > 1 and same_name(parts[0]) == same_name(name):
            pattern = r"\s*[-\s]\s*".join(map(re.escape, parts))
            changed = re.sub(
                rf"\b{pattern}\b", written_name(column).replace("\\", r"\\"), draft.sql
            )
            if changed != draft.sql:
                yield Mended(changed, f"the column is called {quotable(column, 40)}")


def _same_as_joined(draft: Draft, name: str) -> Iterator[Mended]:
    """``a.carrier = b.code``: the column that both tables have."""
    masked = mask(draft.sql)
    sides = rf"(\w+)\.(\w+)(\s*==?\s*)(\w+)\.{re.escape(name)}(?!\w)"
    others = rf"(?<!\w)(\w+)\.{re.escape(name)}(\s*==?\s*)(\w+)\.(\w+)"
    changed = re.sub(sides, r"\1.\2\3\4.\2", masked.code, flags=re.IGNORECASE)
    changed = re.sub(others, r"\1.\4\2\3.\4", changed, flags=re.IGNORECASE)
    if changed != masked.code:
        yield Mended(masked.shown(changed), "tables are joined by a column that both have")


def _other_table(draft: Draft, name: str) -> Iterator[Mended]:
    """The column belongs to another table of the query."""
    for table, columns in draft.tables.items():
        if not any(same_name(column.name) == same_name(name) for column in columns):
            continue
        found = re.search(
            rf"\b(?:FROM|JOIN)\s+{spelling(table)}(?:\s+AS)?(?:\s+(?!ON\b|JOIN\b|WHERE\b)(\w+))?",
            draft.sql, re.IGNORECASE,
        )  # fmt: skip
        if found is not None:
            alias = found[1] or written_name(table)
            changed = re.sub(
                rf"\w+\.{spelling(name)}", f"{alias}.{name}".replace("\\", r"\\"), draft.sql
            )
            yield Mended(changed, f"{quotable(name, 30)} is a column of {quotable(table, 40)}")


def renamed(sql: str, name: str, meant: str) -> str:
    """The SQL with a name replaced where it is one, not inside of texts."""
    masked = mask(sql)
    spelling = rf"(?<![\w]){re.escape(name)}(?![\w(])"
    code = re.sub(spelling, lambda _: written_name(meant), masked.code, flags=re.IGNORECASE)
    return masked.shown(code).replace(f'"{name}"', identifier(meant))


def spelling(name: str) -> str:
    """A pattern of the name, in any quotes."""
    bare = re.escape(name)
    return rf"(?:\"{bare}\"|'{bare}'|`{bare}`|(?<!\w){bare}(?!\w))"


def written_name(name: str) -> str:
    """The name, in double quotes if it needs them."""
    return name if _PLAIN.fullmatch(name) else identifier(name)
