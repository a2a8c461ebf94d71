"""Writes a mapping as TOML, for people to read and to change."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import tomlkit

from mdvec.household.core.mapping import CONDITIONS, Conditions, Mapping

_HEAD = "How this kind of statement is read (docs/household.md, 'Any bank's CSV')."
_COMMENTS = {
    "header": "columns that identify a file of this kind",
    "title": "a line above the rows that identifies a file of this kind (a regular expression)",
    "files": "only files of these names; * stands for any text",
    "date_format": "yy/mm/dd, 令和, 平成, 昭和, dd/mm/yyyy or mm/dd/yyyy",
    "positive": "what a positive amount is: spending or income",
    "account": "the account's name in answers",
    "outgoing": "rows whose amount is money that goes out",
    "transfers": "rows that are 振替, between your own accounts: they do not count",
    "skipped": "rows that are no transactions",
    "reversals": "rows that undo a transaction: their sign is turned",
    "refunds": "rows whose money comes back: they lower spending and are no income",
    "counted": "rows that are plain transactions; other words in these columns are asked about",
    "fees": "paid in addition to the amount",
    "points": "what lowers the price",
    "currency": "only rows in yen are read",
    "unit": "how many yen 1 is",
    "ignored": "columns that change nothing",
    "not_counted": "rows that are no transactions of yours: 計算対象 0",
}


def toml_of(mapping: Mapping, notes: tuple[str, ...] = ()) -> str:
    """The TOML of a mapping, with ``notes`` as comments above; what has its default is left out."""
    document = tomlkit.document()
    for note in (_HEAD, *notes):
        document.add(tomlkit.comment(note))
    for each in fields(mapping):
        value = getattr(mapping, each.name)
        default = each.default if each.default is not MISSING else None
        if value in (default, ()) or isinstance(value, Conditions):
            continue
        item = tomlkit.item(_plain(value))
        if each.name in _COMMENTS:
            item.comment(_COMMENTS[each.name])
        document.add(each.name, item)
    for name in CONDITIONS:
        conditions: Conditions = getattr(mapping, name)
        if conditions:
            table = tomlkit.table()
            table.comment(_COMMENTS[name])
            for column, patterns in conditions.patterns.items():
                table.add(str(column), list(patterns))
            document.add(name, table)
    return tomlkit.dumps(document)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of TOML
    if isinstance(value, tuple):
        return value[0] if len(value) == 1 else list(value)
    return value
