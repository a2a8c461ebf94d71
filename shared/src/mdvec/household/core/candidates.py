"""Arranges the open pairs of a review: one candidate a purchase or transfer, likely ones first.

Pairs that are likely one purchase and share a row make one candidate of three or more rows. Pairs
that are likely two purchases of the same habit (the same two shops and accounts) stand behind one
of them. A card's bill and all rows that it pays are one candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from mdvec.household.core.pair import LIKELY

Payee = tuple[str, str]


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A pair that waits for a decision; payees are the account and description of each row.

    Of a card's bill and a row that it pays, ``bill_id`` is the bill's id.
    """

    check_id: int
    first_id: int
    second_id: int
    score: float
    is_skipped: bool
    is_transfer: bool
    first_payee: Payee
    second_payee: Payee
    bill_id: int | None = None


@dataclass(frozen=True, slots=True)
class Arranged:
    """A candidate: its rows by id, its pairs, best first, and what candidates alike share.

    Alike are likely purchases, transfers or bills of the same accounts, and unlikely ones of the
    same shops and accounts. Of a card's bill, which is ``bill_id``, the bill's row is first.
    """

    rows: tuple[int, ...]
    checks: tuple[int, ...]
    score: float
    is_likely: bool
    is_skipped: bool
    is_transfer: bool
    kin: frozenset[Hashable]
    bill_id: int | None = None

    @property
    def check_id(self) -> int:
        """The id by which the candidate is decided."""
        return min(self.checks)

    def is_alike(self, other: Arranged) -> bool:
        """Whether the other candidate is of the same accounts or the same habit."""
        return self.kind == other.kind

    @property
    def kind(self) -> Hashable:
        """What candidates that are alike share."""
        return self.is_likely, self.is_transfer, self.bill_id is not None, self.kin

    @property
    def leaving(self) -> tuple[int, ...]:
        """The rows that leave the sums if the user agrees and names no other row to keep."""
        if self.bill_id is not None:
            return (self.bill_id,)
        return self.rows if self.is_transfer else self.rows[1:]


def arrange(pairs: Iterable[OpenPair]) -> list[Arranged]:
    """All candidates: likely ones before unlikely, new before skipped, purchases first."""
    ordered = sorted(pairs, key=lambda pair: (-pair.score, pair.check_id))
    likely = [pair for pair in ordered if pair.score >= LIKELY]
    groups = _groups([pair for pair in likely if not pair.is_transfer])
    groups += [[pair] for pair in likely if pair.is_transfer and pair.bill_id is None]
    bills: dict[int, list[OpenPair]] = {}
    for pair in likely:
        if pair.bill_id is not None:
            bills.setdefault(pair.bill_id, []).append(pair)
    groups += bills.values()
    arranged = [_likely(group) for group in groups]
    arranged += [_unlikely(pair) for pair in ordered if pair.score < LIKELY]
    return sorted(
        arranged,
        key=lambda candidate: (
            not candidate.is_likely,
            candidate.is_skipped,
            candidate.is_transfer,
            -candidate.score,
            candidate.check_id,
        ),
    )


def listed_candidates(arranged: Iterable[Arranged]) -> list[tuple[Arranged, int]]:
    """The candidates of a list, each with the number of others that are alike.

    Of unlikely ones that are alike only the first is listed.
    """
    shown: list[Arranged] = []
    alike = Counter[Hashable]()
    for candidate in arranged:
        if candidate.is_likely or not alike[candidate.kind]:
            shown.append(candidate)
        alike[candidate.kind] += 1
    return [(candidate, alike[candidate.kind] - 1) for candidate in shown]


def _groups(pairs: Sequence[OpenPair]) -> list[list[OpenPair]]:
    """The pairs joined at shared rows."""
    joined: dict[int, list[OpenPair]] = {}
    for pair in pairs:
        group = joined.setdefault(pair.first_id, [])
        other = joined.get(pair.second_id, group)
        if other is not group:
            group += other
            for member in other:
                joined[member.first_id] = joined[member.second_id] = group
        group.append(pair)
        joined[pair.second_id] = group
    return list({id(group): group for group in joined.values()}.values())


def _likely(group: Sequence[OpenPair]) -> Arranged:
    payees = [payee for pair in group for payee in (pair.first_payee, pair.second_payee)]
    bill_id = group[0].bill_id
    rows = {row for pair in group for row in (pair.first_id, pair.second_id)}
    return Arranged(
        rows=tuple(sorted(rows, key=lambda row: (row != bill_id, row))),
        checks=tuple(pair.check_id for pair in group),
        score=max(pair.score for pair in group),
        is_likely=True,
        is_skipped=all(pair.is_skipped for pair in group),
        is_transfer=group[0].is_transfer,
        kin=frozenset(account for account, _ in payees),
        bill_id=bill_id,
    )


def _unlikely(pair: OpenPair) -> Arranged:
    return Arranged(
        rows=(pair.first_id, pair.second_id),
        checks=(pair.check_id,),
        score=pair.score,
        is_likely=False,
        is_skipped=pair.is_skipped,
        is_transfer=pair.is_transfer,
        kin=frozenset((pair.first_payee, pair.second_payee)),
    )
