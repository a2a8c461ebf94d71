"""The invented household: 24 months of Money Forward exports, the same bytes at every run.

python docs/examples/household/household_sample.py [FOLDER]
"""

from __future__ import annotations

import csv
import io
import random
import sys
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from datetime import date, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent
HEADER = (
    "計算対象", "日付", "内容", "金額（円）", "保有金融機関", "大項目", "中項目", "メモ", "振替",
    "ID",
)  # fmt: skip
SEED = 20231001
FIRST, MONTHS = date(2023, 10, 1), 24
BANK, SAVINGS = "みらい銀行", "みらい銀行（貯蓄）"
CARD, SUICA, CASH, PAY = "そらカード", "モバイル交通系IC", "財布", "ピコペイ"

# What is bought over and over: shop, category, account, lowest and highest price, how often a
# month at the least and at the most.
EVERYDAY = (
    ("スーパー 髙島ストア 駅前店", "食費", "食料品", CARD, 1200, 6800, 6, 9),
    ("スーパーまるなか", "食費", "食料品", PAY, 600, 4200, 4, 6),
    ("ベーカリー こむぎ", "食費", "食料品", CASH, 380, 1400, 2, 4),
    ("定食屋 ひなた", "食費", "外食", CASH, 850, 1900, 2, 4),
    ("喫茶 ①番地", "食費", "カフェ", PAY, 420, 980, 3, 5),
    ("コンビニ 24マート", "食費", "食料品", SUICA, 150, 1100, 4, 7),
    ("ドラッグストア あおば", "日用品", "ドラッグストア", CARD, 500, 3600, 2, 3),
    ("百円ショップ ひゃくえもん", "日用品", "雑貨", CASH, 110, 1320, 1, 2),
    ("オートチャージ", "交通費", "電車", SUICA, 1000, 3000, 2, 4),
    ("市営バス", "交通費", "バス", SUICA, 210, 460, 2, 3),
    ("書店 ほんのもり", "教養・教育", "書籍", CARD, 700, 3900, 1, 2),
    ("ネット通販 くらべる", "日用品", "", CARD, 900, 7800, 1, 2),
    ("フリマ ～ゆずりあい～", "趣味・娯楽", "その他趣味・娯楽", PAY, 300, 4500, 0, 2),
    ("クリーニング ㈱しろやぎ", "衣服・美容", "クリーニング", CASH, 480, 1900, 0, 1),
    ("美容室 はさみ", "衣服・美容", "美容院・理髪", CASH, 4400, 6600, 0, 1),
    ("内科クリニック", "健康・医療", "医療費", CASH, 600, 3200, 0, 1),
    ("ﾃﾞﾝｼﾏﾈｰ ﾐｾ", "未分類", "未分類", PAY, 200, 2500, 1, 2),
)
# What is paid on one day of the month: day, shop, category, account, amount.
MONTHLY = (
    (1, "家賃", "住宅", "家賃・地代", BANK, -82000),
    (5, "通信 そらモバイル", "通信費", "携帯電話", CARD, -3278),
    (10, "光インターネット", "通信費", "インターネット", CARD, -4950),
    (12, "動画配信 みるみる", "趣味・娯楽", "映画・音楽・ゲーム", CARD, -1490),
    (20, "生命保険料", "保険", "生命保険", BANK, -6120),
    (25, "給与", "収入", "給与", BANK, 312000),
)
HEATING = {12: 9800, 1: 12400, 2: 11800, 3: 7600, 7: 7200, 8: 10600, 9: 8300}


@dataclass(frozen=True)
class Line:
    """A line of an export, in the order of its columns."""

    is_target: int
    day: date
    shop: str
    amount: int | str
    account: str
    major: str
    minor: str
    memo: str = ""
    is_transfer: int = 0
    mf_id: str = ""


def main() -> None:
    """Write the sample into the folder that is named, or into the docs."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in sample().items():
        (folder / name).write_bytes(data)


def sample() -> dict[str, bytes]:
    """Every file of the sample by its name."""
    rng = random.Random(SEED)
    months = {first: month_lines(rng, first) for first in map(month, range(MONTHS))}
    files = {}
    for first, lines in months.items():
        encoding = "utf-8-sig" if (first.year, first.month) == (2024, 11) else "cp932"
        files[name_of(first, last_day(first))] = export(lines, encoding)
    # An export of a household whose month begins on the 25th: every row is in another file too.
    begin, end = date(2025, 6, 25), date(2025, 7, 24)
    both = [*months[date(2025, 7, 1)], *months[date(2025, 6, 1)]]
    files[name_of(begin, end)] = export([line for line in both if begin <= line.day <= end])
    files["資産推移月次.csv"] = asset_history(rng)
    return files


def month_lines(rng: random.Random, first: date) -> list[Line]:
    """A month of the household, latest day first, as an export has it."""
    lines = [*monthly(rng, first), *everyday(rng, first), *transfers(first), *events(first)]
    lines.sort(key=lambda line: line.day, reverse=True)
    return [
        line if line.mf_id == "none" else replace(line, mf_id=new_id(rng, line)) for line in lines
    ]


def monthly(rng: random.Random, first: date) -> Iterable[Line]:
    """Rent, contracts, pay and what the season makes of the bills."""
    for day, shop, major, minor, account, amount in MONTHLY:
        yield Line(1, first.replace(day=day), shop, amount, account, major, minor)
    power = HEATING.get(first.month, 5400) + rng.randrange(-600, 600)
    yield Line(1, first.replace(day=15), "みなと電力", -power, CARD, "水道・光熱費", "電気代")
    gas = (5200 if first.month in {12, 1, 2, 3} else 3100) + rng.randrange(-400, 400)
    yield Line(1, first.replace(day=17), "みなとガス", -gas, CARD, "水道・光熱費", "ガス・灯油代")
    if first.month % 2 == 0:
        water = -5100 - rng.randrange(0, 500)
        yield Line(1, first.replace(day=22), "市水道局", water, BANK, "水道・光熱費", "水道代")
    if first.month in {6, 12}:
        yield Line(1, first.replace(day=10), "賞与", 468000, BANK, "収入", "一時所得")


def everyday(rng: random.Random, first: date) -> Iterable[Line]:
    """Food, fares and the rest, on days and at prices that chance picks."""
    days = last_day(first).day
    for shop, major, minor, account, low, high, least, most in EVERYDAY:
        for _ in range(rng.randint(least, most)):
            day = first.replace(day=rng.randint(1, days))
            yield Line(1, day, shop, -rng.randint(low, high), account, major, minor)


def transfers(first: date) -> Iterable[Line]:
    """Money that stays in the household, counted by some exports and not by others."""
    day = first.replace(day=26)
    yield Line(0, day, "口座間振替", -30000, BANK, "収入", "振り替え", is_transfer=1)
    yield Line(0, day, "口座間振替", 30000, SAVINGS, "収入", "振り替え", is_transfer=1)
    charge = first.replace(day=3)
    yield Line(1, charge, "チャージ", -5000, BANK, "現金・カード", "電子マネー", is_transfer=1)
    withdrawal = first.replace(day=27)
    yield Line(
        0, withdrawal, "カード引落 そらカード", -64800, BANK, "現金・カード", "カード引き落とし"
    )


def events(first: date) -> Iterable[Line]:
    """What happens once: every quirk that a reader of such files has to get right."""
    for line in EVENTS:
        if (line.day.year, line.day.month) == (first.year, first.month):
            yield line


EVENTS = (
    # Money back for something bought earlier: less spent, not earned.
    Line(1, date(2024, 1, 14), "ネット通販 くらべる 返品", 3980, CARD, "日用品", "", "サイズ違い"),
    Line(1, date(2025, 3, 9), "スーパーまるなか 返金", 498, PAY, "食費", "食料品"),
    Line(1, date(2025, 3, 21), "所得税 還付金", 24300, BANK, "収入", "一時所得"),
    # The user took it out of the sums.
    Line(0, date(2024, 2, 11), "立て替え 旅行代", -48000, CARD, "趣味・娯楽", "旅行", "後日精算"),
    # A line break that the shop's name brought along.
    Line(1, date(2024, 4, 6), "ピコペイ支払い\n朝市 実行委員会", -2300, PAY, "食費", "食料品"),
    Line(1, date(2024, 9, 28), "家電の駅", "-128,000", CARD, "日用品", "家電", "洗濯機\n5年保証"),
    Line(1, date(2024, 5, 3), "湯けむり旅館 ～離れ～", -36400, CARD, "趣味・娯楽", "旅行", "連休"),
    Line(1, date(2025, 8, 13), "民宿 なぎさ", -41200, CARD, "趣味・娯楽", "旅行", "夏休み"),
    # Typed in by hand, without an ID.
    Line(1, date(2024, 7, 20), "夏祭り 屋台", -1500, CASH, "食費", "外食", "手入力", 0, "none"),
    Line(1, date(2025, 7, 19), "夏祭り 屋台", -1800, CASH, "食費", "外食", "手入力", 0, "none"),
    # Two purchases: the same shop and price, one day, one account.
    Line(1, date(2025, 5, 17), "市営動物園 入園料", -600, PAY, "趣味・娯楽", "レジャー"),
    Line(1, date(2025, 5, 17), "市営動物園 入園料", -600, PAY, "趣味・娯楽", "レジャー"),
    # One purchase, seen through the card and through the payment app.
    Line(1, date(2025, 6, 7), "家具のとびら", -18700, PAY, "住宅", "家具・家電"),
    Line(1, date(2025, 6, 8), "家具のとびら ピコペイ", -18700, CARD, "未分類", "未分類"),
    Line(1, date(2025, 7, 31), "自転車 ㈱りんりん", -23980, PAY, "交通費", "自転車"),
    Line(1, date(2025, 8, 1), "リンリン（ピコペイ）", -23980, CARD, "未分類", "未分類"),
    # Nothing to pay: all with points.
    Line(1, date(2025, 4, 12), "書店 ほんのもり", 0, CARD, "教養・教育", "書籍", "全額ポイント"),
    Line(1, date(2025, 2, 2), "フリマ 売上金", 5200, PAY, "収入", "その他入金"),
)  # fmt: skip


def new_id(rng: random.Random, line: Line) -> str:
    """An ID such as the service gives: opaque, and another one for each line."""
    return f"{line.day:%y%m}{rng.getrandbits(64):016x}"


def export(lines: Iterable[Line], encoding: str = "cp932") -> bytes:
    """The bytes of an export: every field in quotes, CRLF at the ends of lines."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(HEADER)
    for line in lines:
        cells = [f"{cell:%Y/%m/%d}" if isinstance(cell, date) else cell for cell in astuple(line)]
        writer.writerow("" if cell == "none" else cell for cell in cells)
    return text.getvalue().encode(encoding)


def asset_history(rng: random.Random) -> bytes:
    """What the service offers beside the transactions; no reader may take it for them."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(("年月", "合計（円）", "預金・現金・暗号資産（円）", "ポイント（円）"))
    cash, points = 1_480_000, 3_200
    for first in map(month, range(MONTHS)):
        cash += rng.randrange(-40_000, 70_000)
        points += rng.randrange(-300, 500)
        writer.writerow((f"{first:%Y/%m}", cash + points, cash, points))
    return text.getvalue().encode("cp932")


def month(number: int) -> date:
    """The first day of a month of the sample, from 0."""
    count = FIRST.year * 12 + FIRST.month - 1 + number
    return date(count // 12, count % 12 + 1, 1)


def last_day(first: date) -> date:
    """The last day of the month that begins on ``first``."""
    return first + timedelta(days=monthrange(first.year, first.month)[1] - 1)


def name_of(first: date, last: date) -> str:
    """The name that the service gives to an export of these days."""
    return f"収入・支出詳細_{first:%Y-%m-%d}_{last:%Y-%m-%d}.csv"


if __name__ == "__main__":
    main()
