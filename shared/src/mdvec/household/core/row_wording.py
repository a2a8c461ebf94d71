"""The Japanese lines of rows: a page of them, with all that a next call needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mdvec.household.core.transaction import RowNote, Transaction
from mdvec.household.core.wording import PAGE_SIZE, REASONS_IN_WORDS, format_currency
from mdvec.text import shown_name


@dataclass(frozen=True, slots=True)
class Paging:
    """The page ``number`` of ``total`` rows in pages of ``size``; size 0 is a page without rows."""

    number: int
    size: int
    total: int

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // self.size)) if self.size else 1

    @property
    def offset(self) -> int:
        """How many rows are on the pages before."""
        return (self.number - 1) * self.size

    @property
    def next(self) -> int | None:
        """The next page; None on the last."""
        return self.number + 1 if self.number < self.pages else None


def row_line(row: Transaction, note: RowNote | None = None) -> str:
    """One line for a row: date, shop, amount, category, why it does not count, account, notes."""
    where = shown_name(row.category)
    why = f"（集計外: {REASONS_IN_WORDS[row.left_out]}）" if row.left_out else ""
    shop = shown_name(row.description)
    account = f" {shown_name(row.account)}" if row.account else ""
    memo = f"（メモ: {shown_name(row.memo)}）" if row.memo else ""
    noted = note.in_words if note else ""
    amount = format_currency(row.amount)
    return f"- {row.date} {shop} {amount} {where}{why}{account}{memo}{noted}"


def page_lines(
    rows: Sequence[Transaction], noted: Mapping[int, RowNote], paging: Paging, about: str = ""
) -> list[str]:
    """A page of rows with their accounts, memos, notes, ids and places, and how to get the next.

    ``about`` says of what they are, where no sums say so.
    """
    if not paging.total:
        return []
    if not paging.size:
        some = min(paging.total, PAGE_SIZE)
        return [f"明細は全 {paging.total:,}件です（limit={some} で示します）。"]
    letters = _letters(row.source_file for row in rows)
    first, last = paging.offset + 1, paging.offset + len(rows)
    lines = [f"{about}明細 {first:,}〜{last:,}件目（全 {paging.total:,}件、[取引ID ファイル:行]）:"]
    lines += [
        f"{row_line(row, noted.get(row.id))} [{row.id} {letters[row.source_file]}:{row.row_number}]"
        for row in rows
    ]
    lines.append(
        f"ファイル: {'、'.join(f'{letter}={shown_name(name)}' for name, letter in letters.items())}"
    )
    if paging.next:
        same = "" if paging.size == PAGE_SIZE else f"、limit={paging.size}"
        lines.append(f"続きは page={paging.next}{same}。")
    return lines


def _letters(files: Iterable[str]) -> dict[str, str]:
    """A short name for each file, in the order in which they come: A to Z, then F27."""
    names = dict.fromkeys(files)
    return {name: chr(ord("A") + at) if at < 26 else f"F{at + 1}" for at, name in enumerate(names)}
