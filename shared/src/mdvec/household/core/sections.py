"""What the rows below a repeated header are: of other accounts, or some of the same ones again.

A bank prints a section for each account, a card company one for each card, and equal rows in two of
them are two transactions; a person joins overlapping downloads of one account, and they are one.
Where rows or balances do not prove it, as they do for two files, the mapping says it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from mdvec.household.core.accounts import AccountStatement, KeyedRow, Sameness, compare
from mdvec.household.core.cells import TransactionRow
from mdvec.household.core.identity import key_of_row
from mdvec.household.core.mapping import Sections

Blocks = Sequence[Sequence[TransactionRow | None]]


def rows_repeated(blocks: Blocks) -> list[TransactionRow]:
    """The rows without ID that equal one below an earlier header."""
    known: set[str] = set()
    repeated = []
    for block in blocks if len(blocks) > 1 else ():
        keys = {key_of_row(row): row for row in block if row is not None and not row.mf_id}
        repeated += [keys[key] for key in keys if key in known]
        known |= keys.keys()
    return repeated


def sections_of(blocks: Blocks, stated: Sections) -> Sections:
    """What is stated of the blocks, or proven; "" if neither tells what equal rows are."""
    if stated or not rows_repeated(blocks):
        return stated or "downloads"
    verdicts = {
        compare(one, other)
        for one, other in combinations(_statements(blocks), 2)
        if not {row.key for row in one.rows}.isdisjoint(row.key for row in other.rows)
    }
    if verdicts == {Sameness.SAME}:
        return "downloads"
    return "accounts" if verdicts <= {Sameness.APART} else ""


def joined_sections(blocks: Blocks, sections: Sections) -> tuple[tuple[TransactionRow, ...], ...]:
    """The blocks as rows are to be told apart: equal ones of two accounts are in one block.

    A row with an ID is the same in every block.
    """
    known = [tuple(row for row in block if row is not None) for block in blocks]
    if sections != "accounts":
        return tuple(known)
    without_id = tuple(row for block in known for row in block if not row.mf_id)
    return without_id, *(tuple(row for row in block if row.mf_id) for block in known)


def _statements(blocks: Blocks) -> Iterator[AccountStatement]:
    """The rows without ID of each account in each block."""
    for number, block in enumerate(blocks):
        accounts: dict[str, list[KeyedRow]] = {}
        for row in block:
            if row is not None and not row.mf_id:
                keyed = KeyedRow(key_of_row(row), row.date.isoformat(), row.amount, row.balance)
                accounts.setdefault(row.account, []).append(keyed)
        for account, rows in accounts.items():
            yield AccountStatement(number, account, "", "", None, rows)
