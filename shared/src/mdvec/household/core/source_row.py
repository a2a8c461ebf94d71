"""A transaction as a statement file states it, with the place of its row."""

from __future__ import annotations

from typing import NamedTuple

from mdvec.household.core.cells import TransactionRow


class Values(NamedTuple):
    """A row's own columns, as the ledger stores them; the field names are the column names.

    ``date`` is YYYY-MM-DD, the flags are 0 or 1.
    """

    date: str
    amount: int | None
    description: str
    category_major: str
    category_minor: str
    account: str
    memo: str
    is_target: int
    is_transfer: int
    mf_id: str


def values_of(row: TransactionRow) -> Values:
    """The columns of a row that was read from a file."""
    return Values(
        date=row.date.isoformat(),
        amount=row.amount,
        description=row.description,
        category_major=row.category_major,
        category_minor=row.category_minor,
        account=row.account,
        memo=row.memo,
        is_target=int(row.is_target),
        is_transfer=int(row.is_transfer),
        mf_id=row.mf_id,
    )
