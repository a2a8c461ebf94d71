"""Writes a household's ledger for other programs: Beancount, hledger, CSV, and DuckDB's SQL.

Every row that counts becomes one transaction between an account and a category, so the other
program's category sums equal ours. A transfer, or a row outside the calculation (計算対象外), moves
money between its account and an equity account: it changes balances, but no category. A card's bill
moves money to the card's account. Rows that are duplicates by decision, are gone from the
statements or have no amount are left out.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal

from mdvec.dates import Month
from mdvec.household.core.categories import INCOME
from mdvec.household.core.shop_names import shops_of
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.duplicate_checks import cards_of_bills
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import left_out, transactions
from mdvec.text import on_one_line

LedgerFormat = Literal["beancount", "hledger", "csv"]

_CSV_COLUMNS = (
    "id", "date", "amount", "description", "category_major", "category_minor", "account", "memo",
    "is_target", "is_transfer", "left_out",
)  # fmt: skip
_NO_ACCOUNT = "口座なし"
_LEFT_OUT = {"transfer": "振替", "not_target": "計算対象外", "no_category": "カテゴリなし"}
"""The equity accounts against which rows outside the sums are booked, by the reason."""


@dataclass(frozen=True, slots=True)
class _Booking:
    """One transaction: ``yen`` (signed) go to ``asset``, and come from ``other``."""

    row: Transaction
    yen: int
    asset: tuple[str, ...]
    other: tuple[str, ...]


def export_ledger(
    ledger: Ledger, format_: LedgerFormat, since: date | None = None, until: date | None = None
) -> Iterator[str]:
    """The text of an export, piece by piece.

    Args:
        ledger: the household's ledger.
        format_: the format; CSV has all rows, also those that do not count, and why they do not.
        since: the first day; None begins with the first row.
        until: the last day; None ends with the last row.
    """
    rows = transactions(
        ledger.connection,
        "WHERE tool_id = ? AND date BETWEEN ? AND ? ORDER BY date, id",
        (ledger.tool_id, (since or date.min).isoformat(), (until or date.max).isoformat()),
    )
    if format_ == "csv":
        yield from _csv(rows)
    elif format_ == "hledger":
        yield from _hledger(_bookings(rows, cards_of_bills(ledger)))
    else:
        yield from _beancount(list(_bookings(rows, cards_of_bills(ledger))))


def _bookings(rows: Iterable[Transaction], cards: Mapping[int, str]) -> Iterator[_Booking]:
    """The bookings of rows; ``cards`` are the accounts that bills pay, by the bill's row id."""
    for row in rows:
        if row.amount is None or row.is_duplicate or row.is_removed:
            continue
        asset = ("Assets", row.account or _NO_ACCOUNT)
        other: tuple[str, ...]
        if row.left_out == "transfer" and row.id in cards:
            other = ("Assets", cards[row.id] or _NO_ACCOUNT)
        elif row.left_out is not None:
            other = ("Equity", _LEFT_OUT[row.left_out])
        elif row.category_major == INCOME:
            other = ("Income", row.category_minor or INCOME)
        else:
            other = ("Expenses", *filter(None, (row.category_major, row.category_minor)))
        yield _Booking(row, row.amount, asset, other)


def _csv(rows: Iterable[Transaction]) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    for row in rows:
        values = (getattr(row, name) for name in _CSV_COLUMNS)
        writer.writerow([int(value) if isinstance(value, bool) else value for value in values])
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def _hledger(bookings: Iterable[_Booking]) -> Iterator[str]:
    """Accounts are in lower case, as hledger's own reports expect; amounts are whole yen."""
    name = _unique_names(_hledger_part)
    for booking in bookings:
        asset, other = (
            ":".join([kind.lower(), *map(name, parts)])
            for kind, *parts in (booking.asset, booking.other)
        )
        title = on_one_line(booking.row.description).replace(";", "；").replace("|", "｜")
        yield (
            f"{booking.row.date} {title}  ; id:{booking.row.id}\n"
            f"    {asset}  {booking.yen} JPY\n"
            f"    {other}  {-booking.yen} JPY\n\n"
        )


def _hledger_part(name: str) -> str:
    """A name without colons, semicolons and double spaces, which would end an account's name."""
    return " ".join(name.split()).replace(":", "：").replace(";", "；").strip("()[]") or "-"


def _beancount(bookings: list[_Booking]) -> Iterator[str]:
    name = _unique_names(_beancount_part)

    def account(parts: tuple[str, ...]) -> str:
        return ":".join([parts[0], *map(name, parts[1:])])

    yield 'option "operating_currency" "JPY"\n\n'
    first: dict[str, date] = {}
    for booking in bookings:
        for parts in (booking.asset, booking.other):
            first.setdefault(account(parts), booking.row.date)
    for opened, day in sorted(first.items()):
        yield f"{day} open {opened} JPY\n"
    yield "\n"
    for booking in bookings:
        yield (
            f'{booking.row.date} * "{_quote(booking.row.description)}" '
            f'"{_quote(booking.row.memo)}"\n'
            f'  id: "{booking.row.id}"\n'
            f"  {account(booking.asset)}  {booking.yen} JPY\n"
            f"  {account(booking.other)}  {-booking.yen} JPY\n\n"
        )


def _beancount_part(name: str) -> str:
    """A part of an account: an upper-case letter, then letters, digits and hyphens.

    Beancount accepts kana and kanji, but not as the first letter, so X- is put before them.
    """
    letters = "".join(
        letter if unicodedata.category(letter)[0] == "L" or letter.isdecimal() else "-"
        for letter in unicodedata.normalize("NFC", name)
    )
    begins = letters[:1].isdecimal() or unicodedata.category(letters[:1] or "-") == "Lu"
    return letters if begins else f"X-{letters}"


def _unique_names(shape: Callable[[str], str]) -> Callable[[str], str]:
    """``shape``, but with a number added if two names would become equal and mix their sums."""
    shaped: dict[str, str] = {}

    def unique(name: str) -> str:
        if name not in shaped:
            base = candidate = shape(name)
            number = 2
            while candidate in shaped.values():
                candidate = f"{base}-{number}"
                number += 1
            shaped[name] = candidate
        return shaped[name]

    return unique


def _quote(text: str) -> str:
    return on_one_line(text).replace("\\", "\\\\").replace('"', '\\"')


LEDGER_TABLE = "transactions"
"""The table's name in SQL."""

LEDGER_COLUMNS = {
    "household": ("VARCHAR", "row[1]"),
    "id": ("BIGINT", "row[2]"),
    "date": ("DATE", "row[3]"),
    "month": ("VARCHAR", "row[14]"),
    "amount": ("BIGINT", "row[4]"),
    "description": ("VARCHAR", "row[5]"),
    "shop": ("VARCHAR", "row[13]"),
    "category_major": ("VARCHAR", "row[6]"),
    "category_minor": ("VARCHAR", "row[7]"),
    "account": ("VARCHAR", "row[8]"),
    "memo": ("VARCHAR", "row[9]"),
    "kind": (
        "VARCHAR",
        f"CASE WHEN row[10] IS NULL THEN if(row[6] = '{INCOME}', 'income', 'expense') "
        "WHEN row[11] = '1' THEN 'transfer' ELSE 'excluded' END",
    ),
    "counted": ("BOOLEAN", "row[10] IS NULL"),
    "is_duplicate": ("BOOLEAN", "row[12] = '1'"),
    "file": ("VARCHAR", "row[15]"),
}
"""Each column with its SQL type, and the DuckDB expression that reads it from ``row``, a list of
texts.

``month`` is the household's month (YYYY-MM), as in its answers; ``amount`` is in yen, negative for
money that goes out. ``shop`` is the normalised description, to group and search by. ``counted``
says whether the row goes into sums; only such rows have the ``kind`` income or expense, so sums by
kind agree with the household's answers. All others are transfer or excluded. ``file`` is the path
of the file that the row's values are from; others may have the row, too.
"""


def ledger_lines(ledger: Ledger, household: str) -> Iterator[str]:
    """Every row of a tool's ledger as a JSON array, in no particular order."""
    descriptions = ledger.connection.execute(
        "SELECT description FROM transactions WHERE +tool_id = ?", (ledger.tool_id,)
    )
    shops = shops_of(str(description) for (description,) in descriptions)
    ledger.connection.create_scalar_function(
        "shop_of", lambda *texts: shops[str(texts[0])], 1, deterministic=True
    )
    month_of = cache(lambda day: str(Month.of(date.fromisoformat(day), ledger.month_starts_on)))
    ledger.connection.create_scalar_function(
        "month_of", lambda *days: month_of(str(days[0])), 1, deterministic=True
    )
    month = "substr(date, 1, 7)" if ledger.month_starts_on == 1 else "month_of(date)"
    # SQLite builds the JSON: in Python it takes twice as long.
    rows = ledger.connection.execute(
        "SELECT json_array(?, id, date, amount, description, category_major, category_minor, "
        f"account, memo, {left_out()}, is_transfer | is_moved, is_duplicate, shop_of(description), "
        f"{month}, source_file) "
        "FROM transactions WHERE +tool_id = ?",
        (household, ledger.tool_id),
    )
    return (str(line) for (line,) in rows)
