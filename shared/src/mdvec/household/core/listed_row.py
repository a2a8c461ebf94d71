"""A row as the answers that list rows have it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from mdvec.household.core.row_note import RowNote
from mdvec.household.core.transaction import Transaction


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A row of an answer, with the fields of a ``Transaction`` that a follow-up may need.

    ``left_out`` is the reason why it does not count, or None. ``note`` and ``tags`` are the
    user's; "" and () for none.
    """

    id: int
    date: dt.date
    amount: int | None
    description: str
    category_major: str
    category_minor: str
    account: str
    memo: str
    is_target: bool
    is_transfer: bool
    is_duplicate: bool
    source_file: str
    row_number: int
    left_out: str | None
    note: str = ""
    tags: tuple[str, ...] = ()


def listed_row(row: Transaction, note: RowNote | None = None) -> ListedRow:
    """A transaction as a row of an answer."""
    return ListedRow(
        id=row.id,
        date=row.date,
        amount=row.amount,
        description=row.description,
        category_major=row.category_major,
        category_minor=row.category_minor,
        account=row.account,
        memo=row.memo,
        is_target=row.is_target,
        is_transfer=row.is_transfer,
        is_duplicate=row.is_duplicate,
        source_file=row.source_file,
        row_number=row.row_number,
        left_out=row.left_out,
        note=note.note if note else "",
        tags=note.tags if note else (),
    )
