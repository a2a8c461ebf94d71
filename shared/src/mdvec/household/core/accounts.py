"""Tells which statement files of one kind are of one account, and which of different ones.

Two people of a household may have accounts at one bank: their files name the account alike and may
have equal rows, which are different transactions. Evidence is, in this order, what a person or the
file says (an account number), the running balance after equal rows, and how many rows files of the
same days share.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_IN_NAME = re.compile(r"(?<![0-9])[0-9]{7}(?![0-9])")
"""The account number of a Japanese bank in the name of a file; a date has six or eight digits."""
_IN_TEXT = re.compile(r"口座番号[^0-9]{0,10}([0-9]{4,8})(?![0-9])")
_ENOUGH_ROWS = 10
"""Fewer rows on common days cannot show that two files are of different accounts."""


STATED = "="
"""In place of a number: a person said that the file is of the account of this name."""


class AccountStatement(NamedTuple):
    """A statement of a single account without IDs.

    ``number`` is "" if nothing tells it, ``scope`` what told its account so far.
    """

    id: int
    account: str
    number: str
    path: str
    scope: str


class SharedRows(NamedTuple):
    """How many equal rows two statements have, and how many rows each has on days of both.

    ``agreeing`` have the same balance after them in both, ``differing`` another, ``without`` none
    in one of the files. ``first`` and ``second`` are ids of statements.
    """

    first: int
    second: int
    agreeing: int
    differing: int
    without: int
    rows_of_first: int
    rows_of_second: int

    @property
    def are_apart(self) -> bool:
        """Whether every balance says that the equal rows are different transactions."""
        return self.differing > 0 and not self.agreeing

    @property
    def are_in_doubt(self) -> bool:
        """Whether few of the rows are equal, though the files have the same days."""
        fewer = min(self.rows_of_first, self.rows_of_second)
        equal = self.agreeing + self.differing + self.without
        no_balance_tells = not (self.agreeing or self.differing)
        return no_balance_tells and fewer >= _ENOUGH_ROWS and 2 * equal < fewer


@dataclass(frozen=True, slots=True)
class Accounts:
    """The scope of each statement that is not of the first account of its name.

    Rows without ID of different scopes are different transactions. ``doubts`` are pairs of
    statements of which nothing tells whether they are of one account; they have different scopes.
    """

    scopes: Mapping[int, str]
    doubts: Sequence[SharedRows] = ()


def account_number(path: str, lines_above: Iterable[str]) -> str:
    """The account number in the lines above a file's header, or else in its name; "" for none."""
    for line in lines_above:
        if match := _IN_TEXT.search(unicodedata.normalize("NFKC", line)):
            return match[1]
    name = unicodedata.normalize("NFKC", path.rpartition("/")[2])
    numbers = set(_IN_NAME.findall(name))
    return numbers.pop() if len(numbers) == 1 else ""


@dataclass
class _Account:
    """Statements of one account while accounts are told apart."""

    statements: list[AccountStatement]
    number: str = ""

    @property
    def ids(self) -> list[int]:
        return [statement.id for statement in self.statements]

    def take(self, other: _Account) -> None:
        self.statements += other.statements
        if self.number in ("", STATED):
            self.number = other.number or self.number


_Pairs = Mapping[tuple[int, int], SharedRows]


def tell_apart(statements: Iterable[AccountStatement], shared: Iterable[SharedRows]) -> Accounts:
    """The accounts of statements, those of the oldest statement (the smallest id) first.

    ``shared`` has the pairs of one account's name that have equal rows.
    """
    by_name: dict[str, list[AccountStatement]] = {}
    for statement in sorted(statements):
        by_name.setdefault(statement.account, []).append(statement)
    pairs = {(pair.first, pair.second): pair for pair in shared}
    pairs |= {(second, first): pair for (first, second), pair in pairs.items()}
    scopes: dict[int, str] = {}
    doubts: list[SharedRows] = []
    for of_name in by_name.values():
        accounts = _unopposed(_proved(of_name, pairs), pairs)
        accounts.sort(key=lambda account: min(account.ids))
        for number, account in enumerate(accounts[1:], 2):
            scopes |= dict.fromkeys(account.ids, account.number or str(number))
        doubts += _doubts(accounts, pairs)
    return Accounts(scopes, doubts)


def _proved(statements: Sequence[AccountStatement], pairs: _Pairs) -> list[_Account]:
    """The statements that a person, a number or balances prove to be of one account, together."""
    accounts: list[_Account] = []
    for statement in sorted(statements, key=lambda each: (not each.number, each.id)):
        account = _Account([statement], statement.number)
        for other in list(accounts):
            is_same = (
                account.number == other.number
                if account.number and other.number
                else any(pair.agreeing for pair in _between(account, other, pairs))
            )
            if is_same:
                accounts.remove(other)
                other.take(account)
                account = other
        accounts.append(account)
    return accounts


def _unopposed(proved: Iterable[_Account], pairs: _Pairs) -> list[_Account]:
    """The accounts, if statements that nothing tells apart are of the same one."""
    accounts: list[_Account] = []
    for account in sorted(proved, key=lambda each: (each.number == STATED, min(each.ids))):
        fitting = [other for other in accounts if not _are_apart(account, other, pairs)]
        if fitting:
            max(fitting, key=lambda other: _evidence(account, other, pairs)).take(account)
        else:
            accounts.append(account)
    return accounts


def _are_apart(account: _Account, other: _Account, pairs: _Pairs) -> bool:
    if STATED in (account.number, other.number):
        return False
    if account.number and other.number:
        return True
    shared = _between(account, other, pairs)
    return any(pair.are_apart or pair.are_in_doubt for pair in shared)


def _evidence(account: _Account, other: _Account, pairs: _Pairs) -> tuple[int, bool, bool]:
    """What speaks for one account, the strongest first; without any, where the files were."""
    return (
        sum(pair.without for pair in _between(account, other, pairs)),
        bool({each.path for each in account.statements} & {each.path for each in other.statements}),
        account.statements[0].scope == other.statements[0].scope,
    )


def _between(account: _Account, other: _Account, pairs: _Pairs) -> list[SharedRows]:
    return [
        pairs[first, second]
        for first in account.ids
        for second in other.ids
        if (first, second) in pairs
    ]


def _doubts(accounts: Sequence[_Account], pairs: _Pairs) -> list[SharedRows]:
    """For each two accounts that only a doubt keeps apart, the pair that shares most."""
    doubts = []
    for place, account in enumerate(accounts):
        for other in accounts[:place]:
            if account.number and other.number:
                continue
            between = _between(account, other, pairs)
            in_doubt = [pair for pair in between if pair.are_in_doubt]
            if in_doubt and not any(pair.are_apart for pair in between):
                doubts.append(max(in_doubt, key=lambda pair: pair.without))
    return doubts
