"""Tells which statement files of one kind are of one account, and which of different ones.

Two people of a household may have accounts at one bank: their files name the account alike and may
have equal rows, which are different transactions. What the user states decides. Otherwise, files
that share days are compared: files of one account have the same rows, or the same balances at the
ends of days; a bank may book a row late, which shifts every balance after it. Account numbers
decide where files share no days. A few equal rows prove nothing: files in one folder whose names
differ in digits alone are taken for downloads of one account; about all others, the user is asked.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from functools import cached_property
from itertools import combinations, product
from operator import attrgetter
from typing import NamedTuple

from mdvec.household.core.balances import BalancedDay, gaps_within, oldest_first

_IN_NAME = re.compile(r"(?<![0-9])(?!19|20)[0-9]{7}(?![0-9])")
"""An account number of a Japanese bank in a file's name; seven digits such as 2025701 are more
likely a date."""
_IN_TEXT = re.compile(r"口座番号[\s:,\"普通当座]{0,10}([0-9]{7})(?![0-9])")
_NUMBER_OR_CARD = re.compile(r"\((?!19|20)[0-9]{4}\)|[0-9]+")
OTHERWISE = 5
"""If one row in this many differs, two files are taken to be of different accounts. The threshold
is a guess; no collection of files has measured it."""
SURELY_EQUAL = 5
"""So many equal rows show that two files are of one account. If two accounts share a row with a
probability of 1/5, they share five with 1/5 ** 5 = 0.0003, but four with 0.0016, and a wrong answer
would silently lose rows. A row that only one of the files has cancels out an equal one."""
STATED = "="
"""In place of a number: the user stated the file's account."""


class Sameness(Enum):
    """Whether two statements are of one account."""

    SAME = "same"
    APART = "apart"
    DOUBT = "doubt"
    NONE = "none"


class KeyedRow(NamedTuple):
    """A row of a statement; ``key`` is what makes rows without ID equal (``key_of``)."""

    key: str
    day: str
    amount: int | None
    balance: int | None


@dataclass(frozen=True, eq=False)
class AccountStatement:
    """A statement of a single account without IDs, with its rows in the order of the file.

    ``number`` is "" if unknown. ``scope`` is what has distinguished its account from the first one
    of the same name so far; None for a new statement. ``rows`` is empty if some are no longer
    known.
    """

    id: int
    account: str
    number: str
    path: str
    scope: str | None
    rows: Sequence[KeyedRow]

    @cached_property
    def first(self) -> str:
        """The first day."""
        return min(row.day for row in self.rows)

    @cached_property
    def last(self) -> str:
        """The last day."""
        return max(row.day for row in self.rows)

    @cached_property
    def chain(self) -> Sequence[BalancedDay]:
        """The rows, oldest first, if their balances add up; else none."""
        rows = [
            BalancedDay(row.day, row.amount, row.balance)
            for row in self.rows
            if row.amount is not None and row.balance is not None
        ]
        if len(rows) < len(self.rows):
            return ()
        chain = oldest_first(rows)
        return chain if 4 * len(gaps_within(chain)) <= len(chain) else ()

    @cached_property
    def opening(self) -> int:
        """The balance before the first row of the chain."""
        return self.chain[0].balance - self.chain[0].amount

    def keys_between(self, first: str, last: str) -> Counter[str]:
        """How often each key occurs on days from first to last."""
        return Counter(row.key for row in self.rows if first <= row.day <= last)

    def balance_on(self, day: str) -> int:
        """The balance at the end of a day, according to the chain."""
        count = bisect_right(self.chain, day, key=attrgetter("day"))
        return self.chain[count - 1].balance if count else self.opening


class Doubt(NamedTuple):
    """Two statements, by id, and how many equal rows, perhaps the same transactions, they have.

    The rows count twice if the two statements may be of different accounts, else once.
    """

    first: int
    second: int
    rows: int


def account_number(path: str, lines_above: Iterable[str]) -> str:
    """The account number in the lines above a file's header, or else in its name; "" if unknown."""
    for line in lines_above:
        if match := _IN_TEXT.search(unicodedata.normalize("NFKC", line)):
            return match[1]
    name = unicodedata.normalize("NFKC", path.rpartition("/")[2])
    numbers = set(_IN_NAME.findall(name))
    return numbers.pop() if len(numbers) == 1 else ""


def compare(first_file: AccountStatement, second_file: AccountStatement) -> Sameness:
    """Judge by rows and balances whether two statements are of one account; NONE: nothing tells."""
    if not (first_file.rows and second_file.rows):
        return Sameness.NONE
    first, last = max(first_file.first, second_file.first), min(first_file.last, second_file.last)
    counts, equal = _rows_between(first_file, second_file, first, last)
    fewer = min(counts)
    if not fewer:
        return Sameness.NONE
    if equal == fewer >= SURELY_EQUAL:
        return Sameness.SAME
    different = fewer - equal
    if not (first_file.chain and second_file.chain):
        is_doubtful = equal and equal - different < SURELY_EQUAL
        if is_doubtful and (not different or _overlaps_little(first_file, second_file, counts)):
            is_doubtful = _series(first_file.path) != _series(second_file.path)
        return Sameness.DOUBT if is_doubtful else Sameness.NONE
    before = (date.fromisoformat(first) - timedelta(1)).isoformat()
    days = {before, *(row.day for each in (first_file, second_file) for row in each.rows)}
    points = [day for day in days if before <= day <= last]
    agreeing = sum(first_file.balance_on(day) == second_file.balance_on(day) for day in points)
    if 2 * agreeing > len(points):
        return Sameness.SAME
    if not different and (2 * agreeing == len(points) or first_file.opening == second_file.opening):
        return Sameness.SAME
    if different and OTHERWISE * different >= equal + different:
        return Sameness.APART
    return Sameness.DOUBT


def _rows_between(
    one: AccountStatement, other: AccountStatement, first: str, last: str
) -> tuple[tuple[int, int], int]:
    """How many rows each of the two has on these days, and how many of them are equal."""
    if first > last:
        return (0, 0), 0
    ours, theirs = one.keys_between(first, last), other.keys_between(first, last)
    return (ours.total(), theirs.total()), (ours & theirs).total()


def _overlaps_little(
    one: AccountStatement, other: AccountStatement, counts: tuple[int, int]
) -> bool:
    """Whether less than half of a file's rows are on the shared days, in the file with fewer there.

    Such rows may be repeated in the other file: a card lists instalments again, and some purchases
    late. ``counts`` are how many rows each file has on the shared days.
    """
    few, file = min(zip(counts, (one, other), strict=True), key=lambda each: each[0])
    return 2 * few < len(file.rows)


def _repeats(statements: Iterable[AccountStatement]) -> list[Doubt]:
    """The pairs of one account's statements of which some rows are equal, but less than about half.

    The equal rows may be instalments, or a purchase booked late that is equal to an earlier one.
    Pairs are left out if a third statement overlaps with both.
    """
    alone: list[Doubt] = []
    overlapping: defaultdict[int, set[int]] = defaultdict(set)
    for first, second in combinations(sorted(statements, key=lambda each: each.id), 2):
        if not (first.rows and second.rows) or first.chain or second.chain:
            continue
        days = max(first.first, second.first), min(first.last, second.last)
        counts, equal = _rows_between(first, second, *days)
        if equal and 2 * (equal - 1) < max(counts):
            alone.append(Doubt(first.id, second.id, equal))
        elif equal:
            overlapping[first.id].add(second.id)
            overlapping[second.id].add(first.id)
    return [doubt for doubt in alone if not overlapping[doubt.first] & overlapping[doubt.second]]


def _series(path: str) -> str:
    """What the paths of one account's downloads share: 明細_202507.csv, 明細_202508 (1).csv.

    The last four digits of a card's number are not removed: enavi202507(1234).csv.
    """
    name = re.sub(r" ?\([0-9]{1,3}\)", "", unicodedata.normalize("NFKC", path))
    return _NUMBER_OR_CARD.sub(lambda match: match[0] if "(" in match[0] else "", name)


@dataclass(eq=False)
class _Account:
    """Statements that are taken to be of one account."""

    statements: list[AccountStatement]

    @property
    def oldest(self) -> int:
        return min(statement.id for statement in self.statements)

    @property
    def numbers(self) -> set[str]:
        return {statement.number for statement in self.statements} - {"", STATED}

    @property
    def paths(self) -> set[str]:
        return {statement.path for statement in self.statements}

    @property
    def scopes(self) -> set[str | None]:
        return {statement.scope for statement in self.statements} - {None}

    @property
    def is_stated(self) -> bool:
        return any(statement.number == STATED for statement in self.statements)

    def verdicts(
        self, other: _Account
    ) -> Iterable[tuple[tuple[AccountStatement, AccountStatement], Sameness]]:
        """The verdict on each pair of statements, the newest first."""
        for pair in product(reversed(self.statements), reversed(other.statements)):
            yield pair, compare(*pair)


def tell_apart(statements: Iterable[AccountStatement]) -> tuple[dict[int, str], list[Doubt]]:
    """The scope of each statement's account, by statement id, and the doubts.

    A scope distinguishes accounts of one name: it is "" for the first. Known accounts keep theirs.
    """
    by_name: dict[str, list[AccountStatement]] = {}
    for statement in sorted(statements, key=lambda each: each.id):
        by_name.setdefault(statement.account, []).append(statement)
    scopes: dict[int, str] = {}
    doubts: list[Doubt] = []
    for of_name in by_name.values():
        accounts = _joined_unless_opposed(_joined_by_series(_joined_by_proof(of_name)))
        for account, scope in zip(accounts, _scopes(accounts), strict=True):
            scopes |= {statement.id: scope for statement in account.statements}
        for index, account in enumerate(accounts):
            doubts += _doubts(account, accounts[:index])
            doubts += _repeats(account.statements)
    return scopes, doubts


def set_apart(
    statements: Sequence[AccountStatement], scopes: Mapping[int, str]
) -> dict[str, tuple[list[str], str]]:
    """The new accounts that balances alone tell from another one of their name, by name.

    Numbers tell them only if both have one. Each has the paths of its files, and of a file of
    another account that the first contradicts.
    """
    known = {(each.account, each.scope) for each in statements}
    new: dict[tuple[str, str], list[AccountStatement]] = defaultdict(list)
    for statement in statements:
        account, scope = statement.account, scopes[statement.id]
        if scope and (account, scope) not in known:
            new[account, scope].append(statement)
    found: dict[str, tuple[list[str], str]] = {}
    for (account, scope), own in new.items():
        numbers = {each.number for each in own} - {""}
        if STATED in numbers:
            continue
        others = [
            each for each in statements if each.account == account and scopes[each.id] != scope
        ]
        numbered = {scopes[each.id] for each in others if each.number and numbers}
        for statement, other in product(own, others):
            if scopes[other.id] not in numbered and compare(other, statement) is Sameness.APART:
                paths = [statement.path, *(each.path for each in own if each is not statement)]
                found[f"{account} {scope}"] = paths, other.path
                break
    return found


def _joined_by_proof(statements: Iterable[AccountStatement]) -> list[_Account]:
    """Joins statements that the user, rows, balances or a number prove to be of one account."""
    accounts: list[_Account] = []
    for statement in statements:
        account = _Account([statement])
        same = [other for other in accounts if _are_same(account, other)]
        if any(_is_opposed(*pair) for pair in combinations(same, 2)):
            same = []  # a list of several accounts' rows does not show that they are one account
        for other in same[1:]:
            same[0].statements += other.statements
            accounts.remove(other)
        if same:
            same[0].statements.append(statement)
        else:
            accounts.append(account)
    return accounts


def _are_same(account: _Account, other: _Account) -> bool:
    if account.is_stated and other.is_stated:
        return True
    has_balances = any(each.chain for each in account.statements)
    are_alike = bool(account.numbers & other.numbers)
    for pair, verdict in account.verdicts(other):
        if verdict is Sameness.SAME:
            if not has_balances or all(each.chain for each in pair):
                return True
            are_alike = True  # unless balances say otherwise: a list may be of several accounts
        if verdict is Sameness.APART:
            return False
    return are_alike


def _is_opposed(account: _Account, other: _Account) -> bool:
    """Whether numbers or balances show two accounts to be different."""
    if account.numbers and other.numbers and not account.numbers & other.numbers:
        return True
    return any(verdict is Sameness.APART for _, verdict in account.verdicts(other))


def _joined_by_series(proved: Iterable[_Account]) -> list[_Account]:
    """Joins files of one folder and name, unless numbers, balances or doubts oppose it.

    Joining these first keeps each person's files together, before a file could join another
    person's account.
    """
    by_series: dict[frozenset[str], list[_Account]] = {}
    stated: list[_Account] = []
    for account in proved:
        series = frozenset(map(_series, account.paths))
        (stated if account.is_stated else by_series.setdefault(series, [])).append(account)
    return [
        joined for alike in by_series.values() for joined in _joined_unless_opposed(alike)
    ] + stated


def _joined_unless_opposed(proved: Sequence[_Account]) -> list[_Account]:
    """Joins accounts that nothing distinguishes; the oldest first."""
    accounts: list[_Account] = []
    for account in sorted(proved, key=lambda each: (each.is_stated, each.oldest)):
        fitting = [
            other for other in accounts if account.is_stated or not _are_apart(account, other)
        ]
        if fitting:
            several = len(fitting) > 1
            best = max(fitting, key=lambda other: _evidence(account, other) if several else ())
            best.statements += account.statements
        else:
            accounts.append(account)
    return sorted(accounts, key=lambda each: each.oldest)


def _are_apart(account: _Account, other: _Account) -> bool:
    return _is_opposed(account, other) or any(
        verdict is Sameness.DOUBT for _, verdict in account.verdicts(other)
    )


def _evidence(account: _Account, other: _Account) -> tuple[bool, bool, bool, int, bool, bool]:
    """The evidence that both are one account, compared in this order: the strongest is first."""
    pairs = list(product(account.statements, other.statements))
    return (
        bool(account.numbers & other.numbers),
        any(_continues(*pair) or _continues(*pair[::-1]) for pair in pairs),
        not {*map(_series, account.paths)}.isdisjoint(map(_series, other.paths)),
        sum(_equal_rows(*pair) for pair in pairs),
        bool(account.paths & other.paths),
        bool(account.scopes & other.scopes),
    )


def _continues(later: AccountStatement, earlier: AccountStatement) -> bool:
    return bool(later.chain and earlier.chain) and (
        later.first > earlier.last and later.opening == earlier.chain[-1].balance
    )


def _scopes(accounts: Sequence[_Account]) -> list[str]:
    """The scope of each account: its earlier one, else "" for the first, its number, or a count."""
    scopes: list[str] = []
    for account in accounts:
        before = [each.scope for each in account.statements if each.scope not in (None, *scopes)]
        scopes.append(before[0] or "" if before else "?")
    for index, account in enumerate(accounts):
        if scopes[index] == "?":
            names = ["", *sorted(account.numbers), *map(str, range(2, len(accounts) + 2))]
            scopes[index] = next(name for name in names if name not in scopes)
    return scopes


def _doubts(account: _Account, others: Iterable[_Account]) -> list[Doubt]:
    """The doubts about whether an account is the same as one of ``others``.

    Each file's doubt is about the file with which it has most equal rows.
    """
    doubts: list[Doubt] = []
    for other in others:
        if account.numbers and other.numbers:
            continue
        verdicts = {
            (first, second): compare(first, second)
            for first in other.statements
            for second in account.statements
        }
        if Sameness.APART in verdicts.values():
            continue
        in_doubt: dict[int, Doubt] = {}
        for (first, second), verdict in verdicts.items():
            if verdict is Sameness.DOUBT:
                doubt = Doubt(first.id, second.id, _equal_rows(first, second))
                known = in_doubt.setdefault(second.id, doubt)
                in_doubt[second.id] = max(known, doubt, key=lambda each: each.rows)
        doubts += in_doubt.values()
    return doubts


def _equal_rows(first: AccountStatement, second: AccountStatement) -> int:
    ours, theirs = (Counter(row.key for row in each.rows) for each in (first, second))
    return (ours & theirs).total()
