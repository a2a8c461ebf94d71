"""The shapes of a household's row: as stored, as counted, and as an answer lists it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, fields
from datetime import date

from mdvec.household.core.categories import INCOME, UNCATEGORISED, Category
from mdvec.household.core.shown import bracketed_name, shown_name


@dataclass(frozen=True, slots=True)
class StatedRow:
    """A purchase or payment as its file states it; the first base of every class of a whole row.

    ``amount`` is in yen, negative for money that goes out; None where the file has none. Texts are
    stripped, but otherwise unchanged; "" where the file has none.
    """

    date: dt.date
    amount: int | None
    description: str
    category_major: str
    category_minor: str
    account: str
    memo: str


@dataclass(frozen=True)
class Numbered:
    """The id of a stored row; as the last base of a row's class, it comes first in JSON."""

    __slots__ = ()

    id: int


@dataclass(frozen=True, slots=True)
class RowNote:
    """A note ("" for none) and tags."""

    note: str
    tags: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The note and tags as they are shown at the end of a row's line."""
        note = f" {bracketed_name(self.note)}" if self.note else ""
        return note + "".join(f" #{shown_name(tag)}" for tag in self.tags)

    @property
    def words(self) -> list[str]:
        """The note and the tags, each as a text."""
        return [text for text in (self.note, *self.tags) if text]


@dataclass(frozen=True, slots=True)
class RowFields(StatedRow, Numbered):
    """What a row of the ledger and a row of an answer have in common.

    ``row_number`` is the line of ``source_file`` at which the row begins, from 1; 0 if the file
    of that name no longer has the row.
    """

    is_target: bool
    is_transfer: bool
    is_duplicate: bool
    source_file: str
    row_number: int

    @property
    def is_income(self) -> bool:
        """Whether the row is income; all others are spending, or refunds that reduce it."""
        return self.category_major == INCOME

    @property
    def category(self) -> str:
        """The category's name."""
        return str(Category(self.category_major, self.category_minor or None)) or UNCATEGORISED


@dataclass(frozen=True, slots=True)
class Transaction(RowFields):
    """A row of the ledger; the field names are the column names.

    ``is_removed``: a newer file shows that the row is gone from the statements.
    """

    tool_id: int
    duplicate_of: int | None
    mf_id: str
    is_removed: bool = False

    @property
    def left_out(self) -> str | None:
        """The first reason that keeps the row out of the sums; None for rows that count."""
        reasons = {
            "transfer": self.is_transfer,
            "not_target": not self.is_target,
            "duplicate": self.is_duplicate,
            "no_amount": self.amount is None,
            "no_category": not self.category_major,
            "removed": self.is_removed,
        }
        return next((reason for reason, holds in reasons.items() if holds), None)

    @property
    def counts(self) -> bool:
        """Whether the row goes into sums."""
        return self.left_out is None


@dataclass(frozen=True, slots=True)
class ListedRow(RowFields):
    """A row of an answer, with the fields of a ``Transaction`` that a follow-up may need.

    ``left_out`` is the reason why it does not count, or None. ``note`` and ``tags`` are the user's;
    they are "" and () if there are none.
    """

    left_out: str | None
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def noted(self) -> RowNote:
        """The note and the tags together."""
        return RowNote(self.note, self.tags)


_SHARED = tuple(field.name for field in fields(RowFields))
NO_NOTE = RowNote("", ())


def listed_row(row: Transaction, note: RowNote | None) -> ListedRow:
    """A transaction as a row of an answer."""
    shared = {name: getattr(row, name) for name in _SHARED}
    noted = note or NO_NOTE
    return ListedRow(**shared, left_out=row.left_out, note=noted.note, tags=noted.tags)


@dataclass(slots=True)  # not frozen: that would take three times as long to make
class CountedRow:
    """A row that goes into sums; ``amount`` is in yen, negative for money that goes out.

    ``shop`` is the shop's name in answers, the same for all of its descriptions.
    """

    id: int
    day: date
    amount: int
    description: str
    shop: str
    category_major: str
    category_minor: str
    account: str

    @property
    def is_income(self) -> bool:
        """Whether the row is income; all others are spending, or refunds that reduce it."""
        return self.category_major == INCOME

    @property
    def yen(self) -> int:
        """The row's share of its category's sum: positive for spending and for income."""
        return self.amount if self.is_income else -self.amount

    @property
    def full_category(self) -> Category:
        """The row's 大項目, and its 中項目 if it has one."""
        return Category(self.category_major, self.category_minor or None)
