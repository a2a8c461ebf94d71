"""The Japanese text of a comparison of two periods."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.movements import Movement, ShopMove, shop_moves
from mdvec.household.core.sums import change
from mdvec.household.core.wording import format_currency, format_percentage
from mdvec.text.one_line import shown_name

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
    for one in movements:
        kind = "（収入）" if one.is_income else ""
        lines.append(f"- {shown_name(one.name)}{kind}: {was_and_now(one.before, one.after)}")
        if is_full:
            lines += [*_row_lines("増", one.added), *_row_lines("減", one.gone)]
        elif level != "店":
            lines += _shop_line(shop_moves(one))
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
        f"{shown_name(one.name)} {one.before:,} → {format_currency(one.after)}"
        for one in shops[:MAX_SHOPS]
    ]
    rest = sum(one.difference for one in shops[MAX_SHOPS:])
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
