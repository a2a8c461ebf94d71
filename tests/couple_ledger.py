"""A couple's four years in files of two folders, for tests against plain counting."""

import random
from datetime import date, timedelta

from plan_ledger import Bought, household, monthly

SHOPS = {
    "食費/食料品": ("スーパー", "朝市", "八百屋ピコ"), "日用品/雑貨": ("雑貨ピコ", "ドラッグ花子"),
    "健康・医療/医療費": ("山田病院", "海辺クリニック"), "健康・医療/薬": ("山田薬局",),
    "健康・医療/フィットネス": ("走る箱",), "特別な支出/寄付金": ("市役所",),
    "趣味・娯楽/本": ("本屋",),
    "特別な支出/ふるさと納税": ("楽天 ふるさと納税",), "未分類/未分類": ("さとふる", "山田歯科"),
}  # fmt: skip


def couple(seed):
    """The rows of four years with the folder of each; a tenth does not count, some are refunds."""
    chance = random.Random(seed)
    fixed = [
        *monthly("家賃", -98_000, "2022-01", 48, day=27, category="住宅/家賃・地代"),
        *monthly("音楽の箱", -980, "2022-03", 30, day=9, category="趣味・娯楽/音楽"),
        *monthly("給与", 300_000, "2022-01", 48, day=25, category="収入/給与"),
    ]
    rows = [
        Bought(
            (date(2022, 1, 1) + timedelta(days=chance.randrange(1460))).isoformat(),
            chance.choice(SHOPS[category]),
            chance.choice((-1, -1, -1, -1, 1)) * chance.randrange(1, 9_000),
            category, counts=chance.random() > 0.1,
        )
        for category in SHOPS for _ in range(120)
    ]  # fmt: skip
    return [(row, chance.choice(("夫/", "妻/", ""))) for row in [*fixed, *rows]]


def couples_household(connection, rows, **how):
    """The ledger of rows with the folder of each."""
    ledger = household(connection, [row for row, _ in rows], **how)
    with connection:
        connection.executemany(
            "UPDATE transactions SET source_file = ? || '明細.csv' WHERE row_number = ?",
            ((folder, number) for number, (_, folder) in enumerate(rows, 2)),
        )
    return ledger
