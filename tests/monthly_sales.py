"""Two years of an invented chain's sales: a folder of monthly CSVs as people keep them.

Every second month is from another program: cp932, amounts in yen, dates of the Japanese era.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random

SHOPS = ("渋谷", "梅田", "札幌", "那覇")
GOODS = {"珈琲豆": 1_480, "紅茶": 920, "緑茶": 650, "マグ": 2_200, "菓子": 380}
TARGETS = {
    "渋谷": (9_000_000, 9_500_000),
    "梅田": (7_000_000, 7_200_000),
    "札幌": (5_000_000, None),
}
MONTHS = tuple((year, month) for year in (2024, 2025) for month in range(1, 13))
_HEADER = "日付,店舗,商品,数量,売上,値引率"
_ROWS = 60


@dataclass(frozen=True, slots=True)
class Sale:
    """One line; a return has a negative amount, and some lines have no discount noted."""

    day: date
    shop: str
    goods: str
    pieces: int
    amount: int
    discount: float | None


def sales_of(year: int, month: int, more: int = 0) -> list[Sale]:
    """The same lines for a month each time; ``more`` are added at its end."""
    random = Random(year * 100 + month)
    return [_sale(random, year, month) for _ in range(_ROWS + more)]


def _sale(random: Random, year: int, month: int) -> Sale:
    goods = random.choice(list(GOODS))
    pieces = random.randint(1, 9)
    discount = random.choice((None, 0.0, 5.0, 12.5))
    amount = GOODS[goods] * pieces * (1_000 - int((discount or 0) * 10)) // 1_000
    is_return = random.random() < 0.05
    day = date(year, month, random.randint(1, 28))
    return Sale(
        day, random.choice(SHOPS), goods, pieces, -amount if is_return else amount, discount
    )


def write_month(folder: Path, year: int, month: int, more: int = 0) -> list[Sale]:
    """Write a month's file; the lines in it."""
    sales = sales_of(year, month, more)
    is_other = month % 2 == 0
    lines = [_HEADER, *(_other_line(sale) if is_other else _line(sale) for sale in sales)]
    text = "\n".join(lines) + "\n"
    path = folder / f"売上_{year}{month:02}.csv"
    path.write_bytes(text.encode("cp932" if is_other else "utf-8"))
    return sales


def write_targets(path: Path) -> None:
    """Write the shops' targets, whose columns are years."""
    lines = [f"{shop},{first},{second or 'NA'}" for shop, (first, second) in TARGETS.items()]
    path.write_text("\n".join(["店舗,2024,2025", *lines]) + "\n", encoding="utf-8")


def _line(sale: Sale) -> str:
    discount = "" if sale.discount is None else f"{sale.discount}%"
    return f"{sale.day},{sale.shop},{sale.goods},{sale.pieces},{sale.amount},{discount}"


def _other_line(sale: Sale) -> str:
    day = f"令和{sale.day.year - 2018}年{sale.day.month}月{sale.day.day}日"
    amount = f"￥{sale.amount:,}" if sale.amount >= 0 else f"▲{-sale.amount:,}"
    discount = "-" if sale.discount is None else f"{sale.discount}%"
    return f'{day},{sale.shop},{sale.goods},{sale.pieces},"{amount}",{discount}'
