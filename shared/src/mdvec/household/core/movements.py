"""Compares the rows of two periods: what moved, and which rows moved it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from mdvec.household.core.answer_json import RowObject
from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.sums import change


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many shops or rows an answer does not name, and their sum in yen."""

    count: int
    yen: int


@dataclass(frozen=True, slots=True)
class Movement:
    """What a category or shop came to in two periods, in yen, both positive for spending.

    ``added`` are the rows of the later period without a row of equal shop and amount in the
    earlier one, and ``gone`` the other way round; both begin with the largest. Their difference
    is exactly ``difference``. ``percent`` is None if the earlier amount is not positive. A concise
    answer has neither rows, but the ``shops`` that moved most, unless it compares shops; the
    fields ``more_`` sum what is left out.
    """

    name: str
    is_income: bool
    before: int
    after: int
    added: tuple[RowObject, ...]
    gone: tuple[RowObject, ...]
    shops: tuple[ShopMove, ...] = ()
    more_shops: LeftOut | None = None
    more_added: LeftOut | None = None
    more_gone: LeftOut | None = None

    @property
    def difference(self) -> int:
        """By how many yen it rose; negative if it fell."""
        return self.after - self.before

    @property
    def percent(self) -> Decimal | None:
        """The difference in percent of the earlier amount."""
        return change(self.after, self.before)


def movements(
    before: Iterable[CountedRow],
    after: Iterable[CountedRow],
    name_of: Callable[[CountedRow], str],
) -> list[Movement]:
    """The movements of each name and direction (income, spending), the largest first."""
    groups: dict[tuple[bool, str], tuple[list[CountedRow], list[CountedRow]]] = {}
    for at, rows in enumerate((before, after)):
        for row in rows:
            groups.setdefault((row.is_income, name_of(row)), ([], []))[at].append(row)
    found = [
        _movement(name, *rows, is_income=is_income) for (is_income, name), rows in groups.items()
    ]
    return sorted(found, key=lambda one: (-abs(one.difference), one.is_income, one.name))


def _movement(
    name: str, before: Sequence[CountedRow], after: Sequence[CountedRow], *, is_income: bool
) -> Movement:
    return Movement(
        name=name,
        is_income=is_income,
        before=sum(row.yen for row in before),
        after=sum(row.yen for row in after),
        added=_without_equals(after, before),
        gone=_without_equals(before, after),
    )


def _without_equals(
    rows: Iterable[CountedRow], others: Iterable[CountedRow]
) -> tuple[CountedRow, ...]:
    """The rows that have no partner of equal shop and amount, the largest first."""
    partners: dict[tuple[str, int], int] = defaultdict(int)
    for row in others:
        partners[row.shop, row.amount] += 1
    left = []
    for row in rows:
        if partners[row.shop, row.amount] > 0:
            partners[row.shop, row.amount] -= 1
        else:
            left.append(row)
    return tuple(sorted(left, key=lambda row: (-abs(row.amount), row.day, row.id)))


@dataclass(frozen=True, slots=True)
class ShopMove:
    """What the rows of one shop that differ between two periods came to in each, in yen."""

    name: str
    before: int
    after: int

    @property
    def difference(self) -> int:
        """By how many yen it rose; negative if it fell."""
        return self.after - self.before


def shop_moves(movement: Movement) -> list[ShopMove]:
    """The shops behind a movement, each with both periods, the largest difference first."""
    sums: dict[str, list[int]] = {}
    names: dict[str, str] = {}
    for at, rows in enumerate((movement.gone, movement.added)):
        for row in rows:
            sums.setdefault(row.shop, [0, 0])[at] += row.yen
            names[row.shop] = row.name
    found = [ShopMove(names[shop], *amounts) for shop, amounts in sums.items()]
    moved = [one for one in found if one.difference]
    return sorted(moved, key=lambda one: (-abs(one.difference), one.name))


def as_shown(movement: Movement, *, rows: int, shops: int) -> Movement:
    """The movement with its largest rows of each direction, and the shops that moved most."""
    moved = shop_moves(movement) if shops else []
    return replace(
        movement,
        added=movement.added[:rows],
        gone=movement.gone[:rows],
        shops=tuple(moved[:shops]),
        more_shops=_left_out([one.difference for one in moved[shops:]]),
        more_added=_left_out([row.yen for row in movement.added[rows:]] if rows else []),
        more_gone=_left_out([row.yen for row in movement.gone[rows:]] if rows else []),
    )


def _left_out(amounts: Sequence[int]) -> LeftOut | None:
    return LeftOut(len(amounts), sum(amounts)) if amounts else None
