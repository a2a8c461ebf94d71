"""How much of a sum is in candidates that wait for a decision: one sentence for every answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from typing import Final

import apsw

from mdvec.dates import Days
from mdvec.household.account_report import account_doubt_notes
from mdvec.household.core.candidates import arrange
from mdvec.household.core.categories import INCOME, Subject
from mdvec.household.core.pair import LIKELY
from mdvec.household.core.wording import format_currency
from mdvec.household.interfaces import duplicate_checks
from mdvec.household.interfaces.ledger_sums import counts, where_rows

_KINDS: Final = ("カードの請求", "振替", "重複")


def doubt_notes(
    connection: apsw.Connection, tool_id: int, days: Days, subject: Subject | None
) -> list[str]:
    """Note: what may count twice in these days: rows of two files, or likely candidates.

    Of a purchase the rows count that a decision without ``keep`` takes out, of a transfer both,
    of a card's bill the bill; each row once.
    """
    notes = account_doubt_notes(connection, tool_id, days)
    doubtful = _leaving(connection, tool_id)
    if not doubtful:
        return notes
    where, values = where_rows(tool_id, days, subject)
    rows = connection.execute(
        f"SELECT id, category_major, amount FROM transactions WHERE {where} "
        f"AND {counts()} AND id IN (SELECT value FROM json_each(?))",
        (*values, json.dumps(list(doubtful))),
    )
    return notes + _note((doubtful[row_id], major, amount) for row_id, major, amount in rows)


def doubt_notes_on(
    connection: apsw.Connection, tool_id: int, ids: Callable[[], Collection[int]]
) -> list[str]:
    """The same note on the rows with these ids."""
    doubtful = _leaving(connection, tool_id)
    meant = doubtful.keys() & set(ids()) if doubtful else set()
    rows = connection.execute(
        "SELECT id, category_major, amount FROM transactions "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(meant)),),
    )
    return _note((doubtful[row_id], major, amount) for row_id, major, amount in rows)


def _leaving(connection: apsw.Connection, tool_id: int) -> dict[int, str]:
    """The rows that the likely candidates would take out, each with what it may be."""
    pairs, bills = duplicate_checks.rows_in_doubt(connection, tool_id, LIKELY)
    kinds = dict.fromkeys(bills, _KINDS[0])
    for candidate in sorted(arrange(pairs), key=lambda each: not each.is_transfer):
        for row in candidate.leaving:
            kinds.setdefault(row, _KINDS[1] if candidate.is_transfer else _KINDS[2])
    return kinds


def _note(rows: Iterable[tuple[str, object, object]]) -> list[str]:
    sums: dict[str, list[int]] = {}
    for kind, major, amount in rows:
        of_kind = sums.setdefault(kind, [0, 0, 0])
        yen = int(str(amount))
        of_kind[0] += 1
        of_kind[2 if major == INCOME else 1] += yen if major == INCOME else -yen
    parts = [
        f"{kind}かもしれない {count:,}件（{_in_words(spending, income)}）"
        for kind in _KINDS
        for count, spending, income in [sums.get(kind, (0, 0, 0))]
        if count
    ]
    if not parts:
        return []
    return [f"合計のうち{'、'.join(parts)}は未判定の候補です"]


def _in_words(spending: int, income: int) -> str:
    named = (("支出", spending), ("収入", income))
    return "、".join(f"{name} {format_currency(yen)}" for name, yen in named if yen)
