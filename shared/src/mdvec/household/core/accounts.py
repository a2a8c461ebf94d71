"""Tells apart the accounts that files of one kind are of: two people may have the same bank.

The evidence, in this order: the person's choice (a mapping for some files, which never comes
here), the account number in a file's name or above its rows, the running balance, the folder.
Without any, files that contradict each other are counted apart, and the person is asked.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

_NUMBER = re.compile(r"(?<![\d-])(?:\d{5}-\d{6,8}|\d{7})(?![\d-])", re.ASCII)
"""The account numbers of banks in Japan, and of ゆうちょ; a date has eight digits."""
_MIN_EQUAL_ROWS = 3
"""As many equal rows, and none that differs, are one account twice."""

Verdict = Literal["one", "likely_one", "two", "unknown"]
StatedRow = tuple[str, int | None, str]
"""A row's day, amount and description: what two accounts may share by chance."""


@dataclass(frozen=True, slots=True)
class AccountFile:
    """A file of one account whose name, ``account``, only its kind gives.

    ``number`` is the account's, "" if nothing tells it; ``days`` are its first and last. ``counts``
    has how often each row is there, ``balances`` what the account has after it, where known.
    """

    path: str
    content_hash: str
    mtime_ns: int
    account: str
    number: str
    days: tuple[str, str]
    counts: Counter[StatedRow]
    balances: Mapping[StatedRow, frozenset[int]]

    @property
    def folder(self) -> str:
        """Where it is; "" for the household's own folder."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class AccountQuestion:
    """Two files that may be of two accounts: ``path`` is counted apart from ``other``.

    ``first`` and ``last`` are the days on which both have rows; ``shared`` rows, ``spent`` and
    ``earned`` yen, are counted twice if it is one account.
    """

    account: str
    path: str
    other: str
    first: str
    last: str
    shared: int
    spent: int
    earned: int


@dataclass(frozen=True, slots=True)
class ToldApart:
    """The names of accounts by path, where they differ from what the kind says, and what to ask."""

    names: Mapping[str, str]
    questions: tuple[AccountQuestion, ...]


def account_number(path: str, text_above: str) -> str:
    """The account number in a file's name, or in a line above its rows that names an account."""
    if found := _NUMBER.search(path.rpartition("/")[2]):
        return found[0]
    for line in text_above.splitlines():
        if "口座" in line and (found := _NUMBER.search(line)):
            return found[0]
    return ""


def told_apart(files: Sequence[AccountFile], known: Collection[str]) -> ToldApart:
    """The accounts of files; ``known`` are the accounts in the ledger, whose names stay."""
    names: dict[str, str] = {}
    questions: list[AccountQuestion] = []
    ordered = sorted(files, key=lambda file: (file.account, file.mtime_ns, file.path))
    for _, of_account in itertools.groupby(ordered, key=lambda file: file.account):
        group = _OneName(list(of_account), known)
        names |= group.names()
        questions += group.questions()
    return ToldApart(names, tuple(questions))


class _OneName:
    """The files of one account's name, oldest first, in sets that are of one account."""

    def __init__(self, files: list[AccountFile], known: Collection[str]) -> None:
        self.files = files
        self.known = known
        self.above = list(range(len(files)))
        self.pairs = dict(_verdicts(files))
        numbers: dict[str, int] = {}
        for n, file in enumerate(files):
            if file.number:
                self._join(n, numbers.setdefault(file.number, n))
        for (a, b), verdict in self.pairs.items():
            if verdict == "one":
                self._join(a, b)
        self.numbers: dict[int, str] = {}
        for n, file in enumerate(files):
            if file.number:
                self.numbers.setdefault(self._root(n), file.number)
        for (a, b), verdict in self.pairs.items():
            numbered = self._root(a) in self.numbers, self._root(b) in self.numbers
            if verdict == "likely_one" and not all(numbered) and not self._contradicts(a, b):
                self._join(a, b)
        self.numbers = {self._root(n): number for n, number in self.numbers.items()}
        self.apart: dict[int, str] = {}
        self._name_by_number()
        self._name_by_folder()
        self._name_by_file()

    def names(self) -> dict[str, str]:
        """The names of files whose account is not called what the kind says."""
        roots = {file.path: self._root(n) for n, file in enumerate(self.files)}
        return {path: self.apart[root] for path, root in roots.items() if root in self.apart}

    def questions(self) -> Iterator[AccountQuestion]:
        """One for each set of files that is counted apart only because it contradicts another."""
        asked = set()
        for (a, b), verdict in self.pairs.items():
            one, other = sorted((a, b), key=lambda n: self._root(n) in self.by_file)
            root = self._root(other)
            is_open = root in self.by_file and root not in asked and self._root(one) != root
            if verdict == "two" and is_open:
                asked.add(root)
                yield _question(self.files[other], self.files[one])

    def _name_by_number(self) -> None:
        called = {root: f"{self.files[0].account} {no}" for root, no in self.numbers.items()}
        if len(called) > 1 or not self.known_names(called.values()).isdisjoint(called.values()):
            self.apart |= called

    def _name_by_folder(self) -> None:
        """Name the sets by their folders, if sets in different folders contradict each other."""
        left = [n for n in range(len(self.files)) if self._root(n) not in self.numbers]
        folders = _telling_folders([self.files[n].folder for n in left])
        by_place = dict(zip(left, folders, strict=True))
        called = {n: f"{self.files[n].account} {by_place[n]}" for n in left if by_place[n]}
        contradicting = any(
            verdict == "two"
            and {a, b} <= by_place.keys()
            and by_place[a] != by_place[b]
            and self._root(a) != self._root(b)
            for (a, b), verdict in self.pairs.items()
        )
        if contradicting or self.known_names(called.values()):
            first: dict[str, int] = {}
            for n, name in called.items():
                self._join(n, first.setdefault(name, n))
            self.apart |= {self._root(n): name for n, name in called.items()}

    def _name_by_file(self) -> None:
        """Name sets that contradict others of their name by their oldest file."""
        self.by_file: set[int] = set()
        oldest: dict[int, int] = {}
        for n in range(len(self.files)):
            oldest.setdefault(self._root(n), n)
        for root, n in oldest.items():
            if root in self.numbers:
                continue
            stem = self.files[n].path.rpartition("/")[2].rpartition(".")[0]
            name = f"{self.apart.get(root, self.files[n].account)} ({stem})"
            if name in self.known or any(
                self._contradict_sets(root, other)
                for other in oldest
                if oldest[other] < n and other not in self.by_file
                and self.apart.get(other) == self.apart.get(root)
            ):  # fmt: skip
                self.apart[root] = name
                self.by_file.add(root)

    def known_names(self, names: Collection[str]) -> set[str]:
        """Those of ``names`` that the ledger has already."""
        return set(self.known) & set(names)

    def _contradict_sets(self, one: int, other: int) -> bool:
        return any(
            verdict == "two" and {self._root(a), self._root(b)} == {one, other}
            for (a, b), verdict in self.pairs.items()
        )

    def _contradicts(self, a: int, b: int) -> bool:
        return self._contradict_sets(self._root(a), self._root(b))

    def _join(self, a: int, b: int) -> None:
        a, b = self._root(a), self._root(b)
        self.above[max(a, b)] = min(a, b)

    def _root(self, n: int) -> int:
        while self.above[n] != n:
            n = self.above[n]
        return n


def _verdicts(files: Sequence[AccountFile]) -> Iterator[tuple[tuple[int, int], Verdict]]:
    """What each two files that share days say of each other."""
    days = [file.days for file in files]
    order = sorted(range(len(files)), key=lambda n: days[n])
    for place, n in enumerate(order):
        for other in order[place + 1 :]:
            if days[other][0] > days[n][1]:
                break
            verdict = compare(files[n], files[other])
            if verdict != "unknown":
                yield (n, other), verdict


def _within(file: AccountFile, first: str, last: str) -> Counter[StatedRow]:
    return Counter({row: times for row, times in file.counts.items() if first <= row[0] <= last})


def _both(one: AccountFile, other: AccountFile) -> tuple[str, str]:
    return max(one.days[0], other.days[0]), min(one.days[1], other.days[1])


def compare(one: AccountFile, other: AccountFile) -> Verdict:
    """Whether two files are of one account, by the rows and balances of the days of both."""
    if one.content_hash == other.content_hash:
        return "one"
    first, last = _both(one, other)
    mine, others = _within(one, first, last), _within(other, first, last)
    if not (mine and others):
        return "unknown"
    shared = mine & others
    none: frozenset[int] = frozenset()
    known = [(one.balances.get(row, none), other.balances.get(row, none)) for row in shared]
    checks = [not a.isdisjoint(b) for a, b in known if a and b]
    if checks:
        return "one" if checks.count(True) * 2 >= len(checks) else "two"
    lacks = mine - shared, others - shared
    if all(lacks):
        smaller = min(mine.total(), others.total())
        return "two" if shared.total() * 2 < smaller else "likely_one"
    if one.folder != other.folder and shared.total() < _MIN_EQUAL_ROWS:
        return "two"
    if any(lacks) or shared.total() < _MIN_EQUAL_ROWS:
        return "likely_one"
    return "one"


def _question(apart: AccountFile, other: AccountFile) -> AccountQuestion:
    first, last = _both(apart, other)
    shared = list((_within(apart, first, last) & _within(other, first, last)).elements())
    amounts = [amount or 0 for _, amount, _ in shared]
    return AccountQuestion(
        account=apart.account,
        path=apart.path,
        other=other.path,
        first=first,
        last=last,
        shared=len(shared),
        spent=-sum(amount for amount in amounts if amount < 0),
        earned=sum(amount for amount in amounts if amount > 0),
    )


def _telling_folders(folders: Sequence[str]) -> list[str]:
    """The part of each folder's path in which they begin to differ."""
    parts = [folder.split("/") if folder else [] for folder in folders]
    depth = 0
    while parts and all(len(each) > depth for each in parts):
        if len({each[depth] for each in parts}) > 1:
            break
        depth += 1
    return [each[depth] if len(each) > depth else "" for each in parts]
