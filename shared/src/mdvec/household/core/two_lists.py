"""Matches the rows of an account's own files with those that Money Forward lists of it.

Both list the same purchases, but may spell them otherwise (ﾌｱﾐﾘ-ｻﾝ, ファミリーサン), and either may
lack one. That the two lists are of one account is proved by their numbers: on the days that both
have, five or more different amounts agree, and at most one row in five of either has no partner.
A family card's file among the account's own is no objection: files that fit by themselves suffice.
Then rows of one day and amount are the same, as many as both have. On a day on which each has an
amount that the other lacks, neither is complete, and nothing is matched. A spelling that both use
in equal rows is that of the other list, too, so it is not matched with another one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mdvec.household.core.identity import normalised
from mdvec.household.core.shop_names import closeness, shop_name

_MIN_AMOUNTS = 5
_ONE_IN = 5


class ListedLine(NamedTuple):
    """A row of a statement, under the identity that it has so far; ``position`` is its file's.

    ``of_app``: Money Forward lists it. Rows of one ``its_id`` are the parts of a split purchase.
    """

    row_id: int
    identity: str
    statement: int
    path: str
    kind: str
    position: int
    account: str
    day: str
    amount: int
    description: str
    its_id: str

    @property
    def of_app(self) -> bool:
        """Whether Money Forward lists it."""
        return bool(self.its_id)

    @property
    def list_key(self) -> tuple[str, str, str]:
        """The account's list that it is in: files of one kind in one folder."""
        return self.account, self.path.rpartition("/")[0], self.kind


@dataclass(frozen=True, slots=True)
class Purchase:
    """One identity in a list, as its newest file has it; ``statements`` are all that have it."""

    line: ListedLine
    statements: frozenset[int]
    is_split: bool = False


class SamePurchase(NamedTuple):
    """The row of an account's own file, and the first row of the purchase in Money Forward.

    ``is_split``: it was split there, and the row is the sum of the parts.
    """

    own: Purchase
    listed: Purchase

    @property
    def is_split(self) -> bool:
        """Whether the parts count in place of the row."""
        return self.listed.is_split


@dataclass(frozen=True, slots=True)
class TwoLists:
    """An account's own list and Money Forward's, proved to be of the same purchases.

    ``equal`` is the number of rows that were the same without this proof, ``same`` those that are
    the same by it; ``alone`` are the rows that one list has only, between the days of both.
    """

    account: str
    paths: tuple[str, str]
    equal: int
    same: tuple[SamePurchase, ...]
    alone: tuple[Purchase, ...]


AreApart = Callable[[str, str], bool]


def compare_lists(lines: Iterable[ListedLine], are_apart: AreApart) -> Iterator[TwoLists]:
    """The pairs of lists that are of the same purchases.

    ``are_apart`` tells whether the user keeps two identities apart. Each row is in one pair only.
    """
    lists: dict[tuple[str, str, str], list[ListedLine]] = {}
    for line in lines:
        lists.setdefault(line.list_key, []).append(line)
    taken = set[str]()
    for (account, *_), own_lines in sorted(lists.items()):
        if own_lines[0].of_app:
            continue
        for (other, *_), app_lines in sorted(lists.items()):
            if other == account and app_lines[0].of_app:
                own = [each for each in _purchases(own_lines) if each.line.identity not in taken]
                listed = [each for each in _purchases(app_lines) if each.line.identity not in taken]
                found = _compare(own, listed, are_apart)
                if found:
                    pairs = [name for pair in found.same for name in pair]
                    taken |= {each.line.identity for each in pairs}
                    yield found


def _purchases(lines: Sequence[ListedLine]) -> list[Purchase]:
    """The purchases of a list in order, the parts of one as their sum."""
    by_name: dict[str, list[ListedLine]] = {}
    for line in lines:
        by_name.setdefault(line.its_id or line.identity, []).append(line)
    purchases = []
    for alike in by_name.values():
        newest = max(alike, key=lambda line: line.position)
        parts = [line for line in alike if line.statement == newest.statement]
        first = min(parts, key=lambda line: (not line.identity.startswith("id:"), line.row_id))
        whole = first._replace(amount=sum(line.amount for line in parts))
        names = {line.identity for line in parts}
        statements = frozenset(line.statement for line in alike)
        purchases.append(Purchase(whole, statements, len(names) > 1))
    return sorted(purchases, key=lambda each: each.line.row_id)


def _compare(
    own: Sequence[Purchase], listed: Sequence[Purchase], are_apart: AreApart
) -> TwoLists | None:
    days = {each.line.day for each in own} & {each.line.day for each in listed}
    names = {each.line.identity for each in own} & {each.line.identity for each in listed}
    equal = [each for each in own if each.line.identity in names]
    open_own, open_listed = (
        [each for each in purchases if each.line.identity not in names]
        for purchases in (own, listed)
    )
    on_days = [
        _by_day(each for each in purchases if each.line.day in days)
        for purchases in (open_own, open_listed)
    ]
    equal_listed = [each for each in listed if each.line.identity in names]
    fitting = (
        _fitting_statements(equal, *on_days),
        _fitting_statements(equal_listed, *on_days[::-1]),
    )
    agreeing = [each for each in equal if each.statements & fitting[0]]
    fit_days = [
        _by_day(each for day in by_day.values() for each in day if each.statements & fit)
        for by_day, fit in zip(on_days, fitting, strict=True)
    ]
    if not (_are_one(equal, *on_days) or _are_one(agreeing, *fit_days)):
        return None
    spellings = {normalised(each.line.description) for each in equal}
    sides = list(zip(on_days, fitting, strict=True))
    same: list[SamePurchase] = []
    for day in sorted(on_days[0].keys() & on_days[1].keys()):
        ours, theirs = (
            [each for each in by_day[day] if each.statements & statements]
            for by_day, statements in sides
        )
        same += _same_of_day(ours, theirs, spellings, are_apart)
    matched = {each.line.identity for pair in same for each in pair}
    first, last = min(days), max(days)
    alone = [
        each
        for each in (*open_own, *open_listed)
        if first <= each.line.day <= last and each.line.identity not in matched
    ]
    newest = (max(each.line for each in purchases) for purchases in (own, listed))
    paths = tuple(line.path for line in newest)
    account = own[0].line.account
    return TwoLists(account, (paths[0], paths[1]), len(equal), tuple(same), tuple(alone))


def _by_day(purchases: Iterable[Purchase]) -> dict[str, list[Purchase]]:
    by_day: defaultdict[str, list[Purchase]] = defaultdict(list)
    for each in purchases:
        by_day[each.line.day].append(each)
    return by_day


def _amounts(purchases: Iterable[Purchase]) -> Counter[int]:
    return Counter(each.line.amount for each in purchases)


def _are_one(
    equal: Sequence[Purchase],
    own: dict[str, list[Purchase]],
    listed: dict[str, list[Purchase]],
) -> bool:
    """Whether the numbers prove both lists to be of one account."""
    agreeing = _amounts(equal)
    for day, purchases in own.items():
        agreeing += _amounts(purchases) & _amounts(listed.get(day, ()))
    if len(agreeing) < _MIN_AMOUNTS:
        return False
    fits, misfits = (
        agreeing.total(),
        [sum(map(len, side.values())) + len(equal) - agreeing.total() for side in (own, listed)],
    )
    return all(_ONE_IN * each <= fits + each for each in misfits)


def _fitting_statements(
    equal: Sequence[Purchase],
    own: dict[str, list[Purchase]],
    listed: dict[str, list[Purchase]],
) -> set[int]:
    """The statements of the first list of whose rows at most one in five has no partner."""
    rows, misfits = Counter[int](), Counter[int]()
    for each in equal:
        rows.update(each.statements)
    for day, purchases in own.items():
        partners = _amounts(listed.get(day, ()))
        for statement in {number for each in purchases for number in each.statements}:
            amounts = _amounts(each for each in purchases if statement in each.statements)
            rows[statement] += amounts.total()
            misfits[statement] += (amounts - partners).total()
    return {number for number, count in rows.items() if _ONE_IN * misfits[number] <= count}


def _same_of_day(
    own: Sequence[Purchase],
    listed: Sequence[Purchase],
    spellings: set[str],
    are_apart: AreApart,
) -> Iterator[SamePurchase]:
    """The rows of a day that are the same; ``spellings`` are those that both lists use."""
    ours, theirs = _amounts(own), _amounts(listed)
    if not (ours <= theirs or theirs <= ours):
        return
    for amount in ours.keys() & theirs.keys():
        first, second = (
            [each for each in purchases if each.line.amount == amount]
            for purchases in (own, listed)
        )
        pairs = [
            SamePurchase(one, other)
            for one in first
            for other in second
            if not are_apart(one.line.identity, other.line.identity)
            and not _are_two_shops(one.line.description, other.line.description, spellings)
        ]
        if len(pairs) > 1:
            pairs.sort(key=_unlikeness)
        used = set[str]()
        for pair in pairs:
            names = {each.line.identity for each in pair}
            if used.isdisjoint(names):
                used |= names
                yield pair


def _are_two_shops(one: str, other: str, spellings: set[str]) -> bool:
    texts = {normalised(one), normalised(other)}
    return len(texts) > 1 and not texts.isdisjoint(spellings)


def _unlikeness(pair: SamePurchase) -> tuple[float, int]:
    """The likeliest pair comes first, of equally likely ones that with the newest listed row."""
    shops = (shop_name(each.line.description) for each in pair)
    return -closeness(*shops), -pair.listed.line.position
