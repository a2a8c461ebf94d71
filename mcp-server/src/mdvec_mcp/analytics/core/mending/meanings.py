"""Repairs names in another language or other words: ``store`` for 店舗名, カテゴリ for category."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import NAME, mask
from mdvec_mcp.analytics.core.mending.names import renamed, spelling, written_name
from mdvec_mcp.analytics.core.mending.words import GENERIC_TABLES, is_harmless, key, meanings
from mdvec_mcp.analytics.core.refusals import quotable
from mdvec_mcp.analytics.core.statement import fold

_MAIN = re.compile(r"major|main|大|主", re.IGNORECASE)


def mend_meanings(draft: Draft) -> Iterator[Mended]:
    """A column or table by its meaning, if exactly one fits."""
    name = draft.named_by(r'Referenced column "((?:[^"]|"")*)" not found')
    if name is None:
        name = draft.named_by(r'does not have a column named "((?:[^"]|"")*)"')
    if name is not None:
        read = _tables_read(draft)
        column = _column_meant(name, [one for columns in read.values() for one in columns])
        if column is not None and column != name:
            yield Mended(renamed(draft.sql, name, column), _why("column", name, column))
        yield from _joined(draft, name)
        return
    name = draft.named_by(r"there is no table '(.*?)'(?: \(| for queries|;)")
    if name is None:
        return
    table = the_only(name.rpartition(".")[2], draft.tables)
    if table is None and len(draft.tables) == 1 and key(name) in GENERIC_TABLES:
        table = next(iter(draft.tables))
    if table is not None:
        changed = re.sub(spelling(name), lambda _: written_name(table), draft.sql)
        yield Mended(changed, _why("table", name, table))


def the_only(name: str, known: Iterable[str]) -> str | None:
    """The known name that means the same, or the only one that says more; None if several do."""
    wanted = meanings(name)
    if not wanted:
        return None
    there = {one: meanings(one) for one in dict.fromkeys(known)}
    wider = [one for one, meant in there.items() if _covers(meant, wanted)]
    same = [one for one in wider if _covers(wanted, there[one])]
    narrower = [one for one, meant in there.items() if _covers_but_harmless(meant, wanted)]
    for fitting in (same, wider, narrower):
        if len(fitting) > 1:
            fitting = [one for one in fitting if _MAIN.search(one)]
            return fitting[0] if len(fitting) == 1 else None
        if fitting:
            return fitting[0]
    return None


def _column_meant(name: str, columns: Sequence[Column]) -> str | None:
    """The column that a name means; a bare date means the only one, whatever it is called."""
    meant = the_only(name, [one.name for one in columns])
    wanted = meanings(name)
    if len(wanted) == 1 and wanted[0] & {"date", "time"}:
        dated = [one.name for one in columns if one.is_dated]
        if meant is None or not _covers(wanted, meanings(meant)):
            return dated[0] if len(dated) == 1 else None
    return meant


def _covers_but_harmless(names: Sequence[frozenset[str]], words: Sequence[frozenset[str]]) -> bool:
    """Whether the words are the names, and beside them only what narrows nothing."""
    left = [word for word in words if not any(word & one for one in names)]
    return _covers(words, names) and len(left) < len(words) and all(map(is_harmless, left))


def _covers(names: Sequence[frozenset[str]], words: Sequence[frozenset[str]]) -> bool:
    """Whether each of the words is meant by one of the names."""
    return bool(words) and all(any(word & one for one in names) for word in words)


def _tables_read(draft: Draft) -> dict[str, Sequence[Column]]:
    """The tables that the query names, else all."""
    words = set(re.findall(r"\w+", fold(draft.sql)))
    read = {name: columns for name, columns in draft.tables.items() if fold(name) in words}
    return read or dict(draft.tables)


def _joined(draft: Draft, name: str) -> Iterator[Mended]:
    """The only other table with that very column, joined by the only column that both have."""
    read = _tables_read(draft)
    if len(read) != 1:
        return
    ((table, columns),) = read.items()
    owners = [
        other
        for other, theirs in draft.tables.items()
        if other != table and any(fold(one.name) == fold(name) for one in theirs)
    ]
    if len(owners) != 1:
        return
    mine = {fold(one.name) for one in columns}
    shared = [one.name for one in draft.tables[owners[0]] if fold(one.name) in mine]
    masked = mask(draft.sql)
    places = re.findall(r"\b(?:FROM|JOIN)\b", masked.code, re.IGNORECASE)
    if len(shared) != 1 or len(places) != 1 or re.search(rf"FROM\s+{NAME}\s*,", masked.code):
        return
    join = f" JOIN {written_name(owners[0])} USING ({written_name(shared[0])})"
    changed = re.sub(
        rf"(\bFROM\s+{spelling(table)}(?:\s+AS\s+\w+)?)", lambda part: part[1] + join,
        draft.sql, count=1, flags=re.IGNORECASE,
    )  # fmt: skip
    yield Mended(changed, f"{quotable(name, 30)} is a column of {quotable(owners[0], 40)}")


def _why(what: str, name: str, meant: str) -> str:
    return f"there is no {what} {quotable(name, 30)!r}, but {quotable(meant, 40)}"
