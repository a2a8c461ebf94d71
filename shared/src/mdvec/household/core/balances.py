"""Checks the amounts of statements against their running balances."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mdvec.household.core.cells import TransactionRow


class BalancedDay(NamedTuple):
    """A row's day (YYYY-MM-DD), its amount in yen, and the balance after it."""

    day: str
    amount: int
    balance: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Rows are missing between two days: together they would change the balance by ``yen``."""

    after: str
    before: str
    yen: int


class BalanceCheck(NamedTuple):
    """How many balances could be compared with the one before, and the lines that do not fit.

    ``followed`` are the lines of the compared rows; the balance tells nothing about others.
    """

    compared: int
    misfits: tuple[int, ...]
    followed: frozenset[int] = frozenset()


def check_balances(rows: Iterable[TransactionRow | None]) -> BalanceCheck:
    """Compares the balances of rows that follow each other in a file, for each account.

    A file may begin with its oldest or its newest row; the order that fits better is used, or else
    that of the days. A row
    whose amount or balance is unknown is compared with neither of its neighbours. None stands for a
    line that could not be read; rows before and after it are not compared, nor are those around a
    row that has neither an amount nor a balance.
    """
    accounts: dict[str, list[TransactionRow | None]] = {}
    for row in rows:
        if row is None or (row.amount is None and row.balance is None):
            for of_account in accounts.values():
                of_account.append(None)
        else:
            accounts.setdefault(row.account, []).append(row)
    compared, misfits, followed = 0, list[int](), set[int]()
    for of_account in accounts.values():
        pairs = [
            (before, row)
            for before, row in itertools.pairwise(of_account)
            if before is not None and row is not None
            if None not in (before.amount, before.balance, row.amount, row.balance)
        ]
        compared += len(pairs)
        turned = [(row, before) for before, row in reversed(pairs)]
        ways = sorted((pairs, turned), key=lambda way: (len(_misfits(way)), _runs_back(way)))
        misfits += _misfits(ways[0])
        followed |= {row.line for _, row in ways[0]}
        if len(_misfits(pairs)) == len(_misfits(turned)) and not any(map(_runs_back, ways)):
            followed &= {row.line for _, row in ways[1]}  # it is unknown which row is the oldest
    return BalanceCheck(compared, tuple(sorted(misfits)), frozenset(followed))


def goes_on(
    page: Sequence[TransactionRow | None], following: Sequence[TransactionRow | None]
) -> bool:
    """Whether days and balances show that the rows of ``following`` continue those of ``page``.

    Both may be sorted by oldest or newest first; a download that starts again breaks that order.
    """
    days = [row.date for rows in (page, following) for row in (*rows[:1], *rows[-1:]) if row]
    if days not in (sorted(days), sorted(days, reverse=True)):
        return False
    alone, other, both = map(check_balances, (page, following, [*page, *following]))
    goes_through = both.compared > alone.compared + other.compared
    return goes_through and len(both.misfits) == len(alone.misfits) + len(other.misfits)


def movements(blocks: Iterable[Iterable[TransactionRow | None]]) -> list[dict[int, int]]:
    """The change of the account's balance by each row's line; the oldest row of a block has none.

    There are two results: where the days do not tell which row is the oldest, it is the first row
    in one of them, and the last row in the other.
    """
    groups: dict[tuple[int, str], list[TransactionRow]] = {}
    for number, block in enumerate(blocks):
        for row in block:
            if row is not None:
                groups.setdefault((number, row.account), []).append(row)
    both: list[dict[int, int]] = []
    for newest_first in (False, True):
        moved: dict[int, int] = {}
        for rows in groups.values():
            first, last = rows[0].date, rows[-1].date
            is_turned = first > last or (first == last and newest_first)
            known, passed = None, list[int]()
            for row in rows[::-1] if is_turned else rows:
                passed.append(row.line)
                if row.balance is not None:
                    if known is not None:
                        moved |= dict.fromkeys(passed, 0) | {row.line: row.balance - known}
                    known, passed = row.balance, []
        both.append(moved)
    return both


def _runs_back(pairs: Sequence[tuple[TransactionRow, TransactionRow]]) -> bool:
    return bool(pairs) and pairs[0][0].date > pairs[-1][1].date


def _misfits(pairs: Sequence[tuple[TransactionRow, TransactionRow]]) -> list[int]:
    """The lines whose balance does not fit; each pair has the older row first."""
    return [
        row.line
        for before, row in pairs
        if (before.balance or 0) + (row.amount or 0) != row.balance
    ]


def balance_gaps(
    statements: Iterable[Sequence[BalancedDay]],
) -> tuple[list[Gap], BalancedDay | None]:
    """The gaps within and between one account's statements, and its newest row.

    Each statement has its rows in the order of its file, which may begin with the oldest or the
    newest. A statement is compared with the balance that the others give for the day before its
    first.
    """
    chains = sorted((oldest_first(rows) for rows in statements if rows), key=lambda rows: rows[0])
    gaps = {gap for chain in chains for gap in gaps_within(chain)}
    ends = ends_of_days(chains)
    days = sorted(ends)
    for first, *_ in chains:
        earlier = bisect_left(days, first.day)
        if earlier:
            end = ends[days[earlier - 1]]
            missing = first.balance - first.amount - end.balance
            if missing:
                gaps.add(Gap(end.day, first.day, missing))
    return sorted(gaps, key=lambda gap: (gap.after, gap.before)), ends[days[-1]] if days else None


def ends_of_days(statements: Iterable[Sequence[BalancedDay]]) -> dict[str, BalancedDay]:
    """The last row of each day of one account, by day, in the newest statement that has the day."""
    chains = [oldest_first(rows) for rows in statements if rows]
    ends: dict[str, BalancedDay] = {}
    for chain in sorted(chains, key=lambda rows: rows[-1].day):
        ends |= {row.day: row for row in chain}
    return dict(sorted(ends.items()))


def oldest_first(rows: Sequence[BalancedDay]) -> Sequence[BalancedDay]:
    """The rows of a file, which may begin with the oldest or the newest, in order of time."""
    turned = rows[::-1]
    if not rows:
        return rows
    if rows[0].day != rows[-1].day:
        return rows if rows[0].day < rows[-1].day else turned
    return min(rows, turned, key=lambda chain: len(gaps_within(chain)))


def are_in_order(rows: Sequence[BalancedDay]) -> list[bool]:
    """For each row of a file, whether its balance fits that of the row before or after it.

    Such a row was booked in this order. A file may begin with its oldest or its newest row.
    """
    chain = oldest_first(rows)
    fits = [row.balance - row.amount == last.balance for last, row in itertools.pairwise(chain)]
    booked = [*map(any, zip([False, *fits], [*fits, False], strict=True))][: len(rows)]
    return booked if chain is rows else booked[::-1]


def gaps_within(chain: Sequence[BalancedDay]) -> list[Gap]:
    """The gaps between a file's rows, given oldest first."""
    return [
        Gap(before.day, row.day, row.balance - row.amount - before.balance)
        for before, row in itertools.pairwise(chain)
        if row.balance - row.amount != before.balance
    ]
