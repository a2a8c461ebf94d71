"""Checks the amounts of a statement against its running balance."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class BalancedRow(NamedTuple):
    """A row's line, its amount in yen, and what its account has after it; None where unknown."""

    line: int
    account: str
    amount: int | None
    balance: int | None


class BalanceCheck(NamedTuple):
    """How many balances could be compared with the one before, and the lines that do not fit."""

    compared: int
    misfits: tuple[int, ...]


def check_balances(rows: Iterable[BalancedRow]) -> BalanceCheck:
    """Compares the balances of rows that follow each other in a file, for each account.

    A file may begin with its oldest or its newest row; whichever fits better is taken. A row whose
    amount or balance is unknown is compared with neither of its neighbours. One that has neither
    stands for a line that could not be read; rows before and after it are not compared.
    """
    accounts: dict[str, list[BalancedRow]] = {}
    for row in rows:
        if row.amount is None and row.balance is None:
            for of_account in accounts.values():
                of_account.append(row)
        else:
            accounts.setdefault(row.account, []).append(row)
    compared, misfits = 0, list[int]()
    for of_account in accounts.values():
        pairs = [pair for pair in itertools.pairwise(of_account) if _can_be_compared(*pair)]
        compared += len(pairs)
        downwards, upwards = list(_misfits(pairs)), list(_misfits_upwards(pairs))
        misfits += upwards if len(upwards) < len(downwards) else downwards
    return BalanceCheck(compared, tuple(sorted(misfits)))


def _can_be_compared(row: BalancedRow, other: BalancedRow) -> bool:
    return None not in (row.amount, row.balance, other.amount, other.balance)


def _misfits(pairs: Sequence[tuple[BalancedRow, BalancedRow]]) -> Iterator[int]:
    """The lines that do not fit if the oldest row is first."""
    for before, row in pairs:
        if (before.balance or 0) + (row.amount or 0) != row.balance:
            yield row.line


def _misfits_upwards(pairs: Sequence[tuple[BalancedRow, BalancedRow]]) -> Iterator[int]:
    """The lines that do not fit if the newest row is first."""
    for row, before in pairs:
        if (before.balance or 0) + (row.amount or 0) != row.balance:
            yield row.line
