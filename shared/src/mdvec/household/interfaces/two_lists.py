"""Finds the rows that both an account's own files and Money Forward list, spelled otherwise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.household.core.two_lists import ListedLine, TwoLists, compare_lists
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_statements import GoneRow, gone_rows
from mdvec.household.interfaces.linked_again import follow_new_ids, rows_kept_apart

# A second account of one name (scope) is not in Money Forward's rows, which only have the name.
_OWN = "kind NOT IN ('', '?') AND r.mf_id = ''"
_LISTED = "kind = '' AND r.identity >= 'id:' AND r.mf_id <> ''"
_LINES = f"""
WITH sides AS MATERIALIZED (
    SELECT r.account, max({_OWN}) AS is_own, max({_LISTED}) AS is_listed, max(q.scope) AS scope
    FROM temp.ranked_statements AS q JOIN statement_rows AS r USING (statement_id)
    WHERE q.stays AND r.account <> '' GROUP BY 1)
SELECT m.id, m.identity, m.statement_id, m.path, m.kind, m.position, r.account, r.date, r.amount,
    r.description, r.mf_id FROM mentions AS m JOIN statement_rows AS r ON r.id = m.id
WHERE m.stays AND r.amount NOT NULL AND ({_OWN} OR {_LISTED}) AND r.account IN (
    SELECT account FROM sides WHERE is_own AND is_listed AND scope = '') ORDER BY m.position, m.id
"""
_MAY_HAVE_BOTH = "SELECT max(kind = '') AND max(kind NOT IN ('', '?')) FROM temp.ranked_statements"


_SAME = """
WITH pairs AS MATERIALIZED (SELECT value ->> 0 AS own, value ->> 1 AS listed, value ->> 2 AS is_sum
    FROM json_each(?))
INSERT OR REPLACE INTO same_rows SELECT m.id, p.listed, p.is_sum FROM mentions AS m
CROSS JOIN pairs AS p ON p.own = m.identity
"""


def find_two_lists(ledger: Ledger) -> list[TwoLists]:
    """Find the lists of one account, and let their rows be the same; call while deriving."""
    connection = ledger.connection
    if not connection.execute(_MAY_HAVE_BOTH).get:
        return []
    lines = (ListedLine(*row) for row in connection.execute(_LINES))
    found = list(compare_lists(lines, rows_kept_apart(ledger)))
    pairs = [pair for each in found for pair in each.same]
    names = [(pair.own.line.identity, pair.listed.line.identity, pair.is_split) for pair in pairs]
    connection.execute(_SAME, (json.dumps(names),))
    follow_new_ids(ledger, {pair.own.line.identity: pair.listed.line.identity for pair in pairs})
    return found


@dataclass(frozen=True, slots=True)
class ListedTwice:
    """``rows`` of an account that its own files and Money Forward's both list; they count once.

    ``own`` and ``listed`` are the newest of these files. ``only`` are the rows that one of the two
    lists lacks between the days of both, and that count.
    """

    account: str
    own: str
    listed: str
    rows: int
    only: tuple[GoneRow, ...]


def listed_twice(ledger: Ledger, found: Sequence[TwoLists]) -> tuple[ListedTwice, ...]:
    """What a report says of the lists, after the ledger follows them."""
    said = []
    for each in found:
        names = json.dumps([purchase.line.identity for purchase in each.alone])
        ids = ledger.column(
            "SELECT id FROM transactions WHERE tool_id = ? AND removal IS NOT 'removed' "
            "AND identity IN (SELECT value FROM json_each(?))",
            (names,),
        )
        only = tuple(gone_rows(ledger, ids))
        said.append(ListedTwice(each.account, *each.paths, each.equal + len(each.same), only))
    return tuple(said)
