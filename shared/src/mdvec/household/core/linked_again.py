"""Finds rows that are the same under different IDs: those of an account that was linked again.

Money Forward gives all rows of an account new IDs when it is linked again. Two files of such an
account then have equal rows on the days that both cover, but no ID of it in common. Five equal rows
of different shops or amounts prove it, if at most one row in five differs. With fewer, equal rows
are taken as the same only if the older ones would leave the sums anyway, because the newest file of
their day lacks them. All other rows count, as do those of files that may be of two people: files
without any ID in common whose folders or names differ. If half of the amounts agree, the user is
told that they may count twice. The proof needs different amounts because two people on one train
pay the same fare each day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import NamedTuple

from mdvec.household.core.accounts import OTHERWISE, SURELY_EQUAL
from mdvec.household.core.identity import key_of
from mdvec.household.core.statements import RankedStatement, Remover, Statement


class RowUnderId(NamedTuple):
    """A row with an ID, as a statement lists it; the day is YYYY-MM-DD."""

    statement: int
    account: str
    identity: str
    day: str
    amount: int | None
    description: str

    @property
    def key(self) -> str:
        """A key that is equal for the same row under another ID."""
        return key_of(self.day, self.amount, self.description, self.account)


Match = tuple[RowUnderId, RowUnderId]


@dataclass(frozen=True, slots=True)
class LinkedAgain:
    """An account that was linked again between two statements, surely or perhaps.

    ``equal`` are pairs of equal rows, the older statement's first; ``alike`` are pairs of one day
    and amount with different texts. ``first`` and ``last`` are the days that both statements cover.
    """

    account: str
    equal: Sequence[Match]
    alike: Sequence[Match]
    is_sure: bool
    first: str
    last: str

    def remover(self, older: RankedStatement, newer: RankedStatement) -> Remover | None:
        """A remover of the account's older rows on the days that both statements cover."""
        days = newer.covered_days
        if days is None or not newer.is_newer_than(older):
            return None
        first, last = max(self.first, days[0]), min(self.last, days[1])
        ids = older.statement.id, newer.statement.id
        return Remover(*ids, first, last, is_again=False, account=self.account)


@dataclass(frozen=True, slots=True)
class _Both:
    """The rows of one account in two statements, on the days that both cover."""

    older: Sequence[RowUnderId]
    newer: Sequence[RowUnderId]

    def common_identities(self) -> set[str]:
        return {row.identity for row in self.older} & {row.identity for row in self.newer}

    def without(self, identities: Collection[str]) -> _Both:
        """The rows with other identities than these."""
        return _Both(
            [row for row in self.older if row.identity not in identities],
            [row for row in self.newer if row.identity not in identities],
        )

    def matches(self, key: Callable[[RowUnderId], Hashable]) -> list[Match]:
        """The older statement's rows, each with one row of the newer that has an equal key."""
        free: defaultdict[Hashable, list[RowUnderId]] = defaultdict(list)
        for row in self.newer:
            free[key(row)].append(row)
        return [(row, free[key(row)].pop(0)) for row in self.older if free[key(row)]]


def linked_again(older: Sequence[RowUnderId], newer: Sequence[RowUnderId]) -> LinkedAgain | None:
    """Match one account's rows in two statements; None unless it was linked again in between."""
    if not (older and newer):
        return None
    first = max(min(row.day for row in rows) for rows in (older, newer))
    last = min(max(row.day for row in rows) for rows in (older, newer))
    both = _Both(
        [row for row in older if first <= row.day <= last],
        [row for row in newer if first <= row.day <= last],
    )
    common = both.common_identities()
    others = both.without(common)
    equal = others.matches(lambda row: row.key)
    unequal = others.without({row.identity for row in chain(*equal)})
    alike = unequal.matches(lambda row: (row.day, row.amount))
    matches = equal + alike
    rows_of_both = (others.older, others.newer)
    fewer = min(len({row.amount for row in rows}) for rows in rows_of_both)
    if len(common) >= len(matches) or 2 * len({row.amount for row, _ in matches}) < fewer:
        return None
    kinds = {(row.amount, row.description) for row, _ in equal}
    more = max(map(len, rows_of_both))
    is_alike = len(kinds) >= SURELY_EQUAL and OTHERWISE * (more - len(equal)) <= more
    is_sure = not common and is_alike
    return LinkedAgain(older[0].account, equal, alike, is_sure, first, last)


def rows_of_changed_days(
    rows: Iterable[tuple[str, RowUnderId]], ranked: Iterable[Statement]
) -> Iterator[Match]:
    """Rows of mapped files that another file has with the same ID, but another day or amount.

    ``rows`` has the rows whose own ID is in several statements, each after that ID; ``ranked`` has
    the statements from the oldest on. Two rows are one changed row if both statements cover both
    days, neither has the other's row, and both rows move money in the same direction: a refund may
    have the ID of its payment.
    """
    groups: dict[tuple[str, str, bool], defaultdict[int, list[RowUnderId]]] = {}
    for its_id, row in rows:
        key = its_id, row.account, (row.amount or 0) > 0
        of_group = groups.setdefault(key, defaultdict(list))
        of_group[row.statement].append(row)
    statements = list(ranked)
    for of_group in groups.values():
        listing = [each for each in statements if each.id in of_group]
        for pair in combinations(listing, 2):
            both = _Both(*(of_group[each.id] for each in pair))
            rows_of_both = [*both.older, *both.newer]
            first = max(each.days[0] for each in pair)
            last = min(each.days[-1] for each in pair)
            is_changed = len(rows_of_both) == 2 and not both.common_identities()
            are_within = all(first <= row.day <= last for row in rows_of_both)
            folders = {each.path.rpartition("/")[0] for each in pair}
            if is_changed and are_within and len(folders) == 1:
                yield both.older[0], both.newer[0]


def perhaps_linked_again(
    rows: Iterable[RowUnderId], order: Mapping[int, int]
) -> list[tuple[int, int, str]]:
    """Two statement ids, the older first, and an account perhaps linked again between the two.

    ``rows`` are those that share account, day and amount with a row of another ID; ``order`` has
    the statements' positions.
    """
    groups: dict[tuple[str, str, int | None], defaultdict[int, set[str]]] = {}
    for row in rows:
        of_group = groups.setdefault((row.account, row.day, row.amount), defaultdict(set))
        of_group[row.statement].add(row.identity)
    return sorted(
        {
            (older, newer, account)
            for (account, _, _), names in groups.items()
            for older, newer in combinations(sorted(names, key=order.__getitem__), 2)
            if names[older] - names[newer] and names[newer] - names[older]
        }
    )


def names_in_use(
    matches: Iterable[Match],
    listed: Mapping[str, set[int]],
    order: Mapping[int, int],
    are_apart: Callable[[str, str], bool],
) -> dict[str, str]:
    """The identity in use for each earlier identity: that of the newest statement.

    ``listed`` has the statements of each identity. Identities that one statement lists together, or
    that ``are_apart``, stay two rows.
    """
    groups: dict[str, list[str]] = {}
    for row, other in matches:
        ours = groups.setdefault(row.identity, [row.identity])
        theirs = groups.setdefault(other.identity, [other.identity])
        if ours is theirs or any(
            not listed[name].isdisjoint(listed[alias]) or are_apart(name, alias)
            for name, alias in product(ours, theirs)
        ):
            continue
        ours += theirs
        groups.update(dict.fromkeys(theirs, ours))
    newest = {name: max(order[statement] for statement in listed[name]) for name in groups}
    used = {
        name: max(group, key=lambda each: (newest[each], each)) for name, group in groups.items()
    }
    return {name: name_used for name, name_used in used.items() if name != name_used}
