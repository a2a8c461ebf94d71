"""The Japanese text of a comparison of two periods."""

from __future__ import annotations

from collections.abc import Sequence

from mdvec.household.core.counted_row import CountedRow
from mdvec.household.core.movements import Movement
from mdvec.household.core.sums import change
from mdvec.household.core.wording import format_currency, format_percentage

MAX_ROWS = 3
"""How many rows the text names for each movement, in each direction."""


def movements_text(
    before: str,
    after: str,
    spending: tuple[int, int],
    income: tuple[int, int],
    same_days: tuple[int, int] | None,
    movements: Sequence[Movement],
    total: int,
    level: str,
) -> str:
    """Both periods' totals, and each movement with the rows that moved it."""
    lines = [f"{before}と {after}の比較です。"]
    for name, (was, now) in (("支出", spending), ("収入", income)):
        if was or now:
            lines.append(f"- {name}: {was_and_now(was, now)}")
    if same_days is not None:
        lines.append(f"- 支出（どちらも同じ日まで）: {was_and_now(*same_days)}")
    if not movements:
        return "\n".join([*lines, "動いたものはありません。"])
    lines.append(f"動いた{level}（差の大きい順）:")
    for one in movements:
        kind = "（収入）" if one.is_income else ""
        lines.append(f"- {one.name}{kind}: {was_and_now(one.before, one.after)}")
        for mark, rows in (("増", one.added), ("減", one.gone)):
            lines += [f"  {mark}: {_row(row)}" for row in rows[:MAX_ROWS]]
            if len(rows) > MAX_ROWS:
                rest = sum(row.yen for row in rows[MAX_ROWS:])
                count = len(rows) - MAX_ROWS
                lines.append(f"  {mark}: ほか {count:,}件 {format_currency(rest)}")
    if total > len(movements):
        lines.append(f"ほか {total - len(movements):,}件は差がこれより小さいものです。")
    return "\n".join(lines)


def was_and_now(was: int, now: int) -> str:
    """Both amounts and the difference: 1,000円 → 1,500円（+500円、+50.0%）."""
    difference = format_currency(now - was, signed=True)
    percent = change(now, was)
    more = "" if percent is None else f"、{format_percentage(percent)}"
    return f"{format_currency(was)} → {format_currency(now)}（{difference}{more}）"


def _row(row: CountedRow) -> str:
    return f"{row.day} {row.name} {format_currency(row.yen)}"
