"""Compares the rows of two periods: what moved, which rows moved it, and this in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from mdvec.household.core.answer_json import RowObject
from mdvec.household.core.sums import change
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import format_currency, format_percentage
from mdvec.text import shown_name


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
    moved = [
        _movement(name, *rows, is_income=is_income) for (is_income, name), rows in groups.items()
    ]
    return sorted(
        moved, key=lambda movement: (-abs(movement.difference), movement.is_income, movement.name)
    )


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
    moves = [ShopMove(names[shop], *amounts) for shop, amounts in sums.items()]
    moved = [move for move in moves if move.difference]
    return sorted(moved, key=lambda move: (-abs(move.difference), move.name))


def as_shown(movement: Movement, *, rows: int, shops: int) -> Movement:
    """The movement with its largest rows of each direction, and the shops that moved most."""
    moved = shop_moves(movement) if shops else []
    return replace(
        movement,
        added=movement.added[:rows],
        gone=movement.gone[:rows],
        shops=tuple(moved[:shops]),
        more_shops=_left_out([move.difference for move in moved[shops:]]),
        more_added=_left_out([row.yen for row in movement.added[rows:]] if rows else []),
        more_gone=_left_out([row.yen for row in movement.gone[rows:]] if rows else []),
    )


def _left_out(amounts: Sequence[int]) -> LeftOut | None:
    return LeftOut(len(amounts), sum(amounts)) if amounts else None


MAX_ROWS = 50
"""How many rows a full text names for each movement, in each direction."""
MAX_SHOPS = 2
"""How many shops a concise text names for each movement."""


def comparison_lines(
    before: str,
    after: str,
    spending: tuple[int, int],
    income: tuple[int, int],
    same_days: tuple[int, int] | None,
) -> list[str]:
    """Both periods' totals."""
    lines = [f"{before}と {after}の比較です。"]
    for name, (was, now) in (("支出", spending), ("収入", income)):
        if was or now:
            lines.append(f"- {name}: {was_and_now(was, now)}")
    if same_days is not None:
        lines.append(f"- 支出（どちらも同じ日まで）: {was_and_now(*same_days)}")
    return lines


def movement_lines(
    movements: Sequence[Movement], total: int, level: str, *, is_full: bool
) -> list[str]:
    """What moved most: with each shop's two amounts, or in full with the rows that moved it."""
    if not movements:
        return ["動いたものはありません。"]
    lines = [f"動いた{level}（差の大きい順）:"]
    for movement in movements:
        kind = "（収入）" if movement.is_income else ""
        lines.append(
            f"- {shown_name(movement.name)}{kind}: {was_and_now(movement.before, movement.after)}"
        )
        if is_full:
            lines += [*_row_lines("増", movement.added), *_row_lines("減", movement.gone)]
        elif level != "店":
            lines += _shop_line(shop_moves(movement))
    if total > len(movements):
        rest = total - len(movements)
        lines.append(f"ほか {rest:,}件は差がこれより小さいものです（limit={min(total, 200)}）。")
    if not is_full:
        lines.append("detail=full なら、明細も並べます。")
    return lines


def was_and_now(was: int, now: int) -> str:
    """Both amounts and the difference: 1,000円 → 1,500円（+500円、+50.0%）."""
    difference = format_currency(now - was, signed=True)
    percent = change(now, was)
    more = "" if percent is None else f"、{format_percentage(percent)}"
    return f"{format_currency(was)} → {format_currency(now)}（{difference}{more}）"


def _shop_line(shops: Sequence[ShopMove]) -> list[str]:
    shown = [
        f"{shown_name(move.name)} {move.before:,} → {format_currency(move.after)}"
        for move in shops[:MAX_SHOPS]
    ]
    rest = sum(move.difference for move in shops[MAX_SHOPS:])
    more = len(shops) - MAX_SHOPS
    shown += [f"ほか {more:,}店 {format_currency(rest, signed=True)}"] if more > 0 else []
    return [f"  {'、'.join(shown)}"] if shown else []


def _row_lines(mark: str, rows: Sequence[CountedRow]) -> list[str]:
    lines = [f"  {mark}: {row.day} {shown_name(row.name)} {format_currency(row.yen)} [{row.id}]"
             for row in rows[:MAX_ROWS]]  # fmt: skip
    if len(rows) > MAX_ROWS:
        rest = format_currency(sum(row.yen for row in rows[MAX_ROWS:]))
        lines.append(
            f"  {mark}: ほか {len(rows) - MAX_ROWS:,}件 {rest}（find_transactions で探せます）"
        )
    return lines
