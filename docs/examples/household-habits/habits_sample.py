"""A second invented household: 13 months with habits, and what breaks them.

python docs/examples/household-habits/habits_sample.py [FOLDER]
"""

from __future__ import annotations

import csv
import io
import random
import sys
from calendar import monthrange
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent
HEADER = (
    "計算対象", "日付", "内容", "金額（円）", "保有金融機関", "大項目", "中項目", "メモ", "振替",
    "ID",
)  # fmt: skip
SEED = 20240901
FIRST, MONTHS = date(2024, 9, 1), 13
BANK, SAVINGS, CARD, IC = "あさひ川銀行", "あさひ川銀行（貯蓄）", "ミナモカード", "交通系ICカード"
Line = tuple[date, str, int, str, str, str]
"""A row: day, description, yen, account, 大項目, 中項目."""

# Day, shop, yen, account, category: paid each month.
CONTRACTS = (
    (1, "家賃 メゾン架空", -78_000, BANK, "住宅", "家賃・地代"),
    (6, "ソラネ電話", -3_300, CARD, "通信費", "携帯電話"),
    (14, "スポーツジム カケル", -7_700, CARD, "健康・医療", "フィットネス"),
    (25, "給与", 285_000, BANK, "収入", "給与"),
)
VIDEO, VIDEO_RISES = "動画のミル", date(2025, 4, 1)
MUSIC, MUSIC_TWICE = "音楽のキク", date(2025, 6, 9)
GYM_MISSED = (2025, 2)
YEARLY = "ミナモカード 年会費"
UNUSUAL = (date(2025, 9, 13), "家電のアカリ 冷蔵庫", -98_000, CARD, "日用品", "家電")
DELETED = (date(2025, 8, 17), "ネット通販 トドク", -4_980, CARD, "日用品", "雑貨")
"""A row that the user deleted in the service: only the first export of August has it."""
POWER = {1: 11_800, 2: 11_200, 3: 7_900, 7: 8_200, 8: 9_700, 12: 9_300}


def main() -> None:
    """Write the sample into the folder that is named, or beside this script."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in sample().items():
        (folder / name).write_bytes(data)


def sample() -> dict[str, bytes]:
    """Every file of the sample by its name."""
    rng = random.Random(SEED)
    files = {}
    for number in range(MONTHS):
        first = month(number)
        lines = month_lines(rng, first)
        name = f"収入・支出詳細_{first}_{last_day(first)}"
        files[f"{name}.csv"] = export(lines)
        if DELETED in lines:
            files[f"{name} (1).csv"] = export([line for line in lines if line != DELETED])
    files["資産推移月次.csv"] = asset_history(rng)
    return files


def month_lines(rng: random.Random, first: date) -> list[Line]:
    """A month of the household, latest day first."""
    lines = [*contracts(rng, first), *everyday(rng, first), *transfers(first)]
    lines += [one for one in (UNUSUAL, DELETED) if one[0].replace(day=1) == first]
    return sorted(lines, key=lambda line: line[0], reverse=True)


def contracts(rng: random.Random, first: date) -> Iterable[Line]:
    """What recurs, with a price rise, a payment that is missing, and one charged twice."""
    for day, *rest in CONTRACTS:
        if not (rest[0].startswith("スポーツ") and (first.year, first.month) == GYM_MISSED):
            yield (first.replace(day=day), *rest)
    video = -1_290 if first >= VIDEO_RISES else -990
    yield first.replace(day=12), VIDEO, video, CARD, "趣味・娯楽", "動画・音楽"
    yield first.replace(day=8), MUSIC, -980, CARD, "趣味・娯楽", "動画・音楽"
    if MUSIC_TWICE.replace(day=1) == first:
        yield MUSIC_TWICE, MUSIC, -980, CARD, "趣味・娯楽", "動画・音楽"
    power = POWER.get(first.month, 5_600) + rng.randrange(-400, 400)
    yield first.replace(day=18), "ヒカリ電力", -power, CARD, "水道・光熱費", "電気代"
    if first.month == 9:
        yield first.replace(day=20), YEARLY, -11_000, CARD, "税・社会保障", "その他"


def everyday(rng: random.Random, first: date) -> Iterable[Line]:
    """Food and the rest, on days and at prices that chance picks."""
    for shop, minor, low, high, times in (
        ("スーパー ミノリ", "食料品", 1_200, 6_500, 8), ("定食 マンプク", "外食", 780, 1_600, 4),
        ("喫茶 ヒダマリ", "カフェ", 420, 900, 5),
    ):  # fmt: skip
        for _ in range(times):
            day = first.replace(day=rng.randint(1, last_day(first).day))
            yield day, shop, -rng.randint(low, high), CARD, "食費", minor


def transfers(first: date) -> Iterable[Line]:
    """Money that stays in the household, but that no statement marks as 振替."""
    out, into = first.replace(day=26), first.replace(day=27)
    yield out, "振込 貯蓄口座", -40_000, BANK, "未分類", "未分類"
    yield into, "振込 アサヒ タロウ", 40_000, SAVINGS, "収入", "その他入金"
    charge = first.replace(day=10)
    yield charge, "ICカード チャージ", -3_000, CARD, "未分類", "未分類"
    yield charge, "入金", 3_000, IC, "収入", "その他入金"


def export(lines: Sequence[Line]) -> bytes:
    """The bytes of an export: cp932, every field in quotes, CRLF at the ends of lines."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(HEADER)
    seen: dict[Line, int] = {}
    for line in lines:
        seen[line] = seen.get(line, 0) + 1
        day, shop, yen, account, major, minor = line
        letters = random.Random(f"{line}{seen[line]}").getrandbits(64)
        row = (1, f"{day:%Y/%m/%d}", shop, yen, account, major, minor, "", 0)
        writer.writerow((*row, f"{letters:016x}"))
    return text.getvalue().encode("cp932")


def asset_history(rng: random.Random) -> bytes:
    """Net worth by month, the latest first."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(("日付", "合計（円）", "預金・現金・暗号資産（円）", "投資信託（円）"))
    cash, funds, rows = 1_250_000, 480_000, []
    for number in range(MONTHS):
        cash += rng.randrange(20_000, 60_000)
        funds += rng.randrange(-15_000, 25_000)
        rows.append((f"{last_day(month(number)):%Y/%m/%d}", cash + funds, cash, funds))
    writer.writerows(reversed(rows))
    return text.getvalue().encode("cp932")


def month(number: int) -> date:
    """The first day of a month of the sample, from 0."""
    count = FIRST.year * 12 + FIRST.month - 1 + number
    return date(count // 12, count % 12 + 1, 1)


def last_day(first: date) -> date:
    """The last day of the month that begins on ``first``."""
    return first + timedelta(days=monthrange(first.year, first.month)[1] - 1)


if __name__ == "__main__":
    main()
