"""The ledger: a hundred thousand invented transactions imported, updated, compared, summed."""

from __future__ import annotations

import csv
import io
import os
import random
import time
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from mdvec.database.connection import open_database
from mdvec.files.scan import ScanRules, scan
from mdvec.household import review as duplicate_review
from mdvec.household.core.evidence import LIKELY, Judge
from mdvec.household.core.habits import Habits, Mirrors
from mdvec.household.core.matching import match_one_to_one
from mdvec.household.core.pair import Pair
from mdvec.household.core.pairs import DetectionOptions, find_pairs
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces import rows as transactions
from mdvec.household.ledger import import_ledger
from mdvec.household.reading import LedgerFile
from mdvec.household.readings import reading
from mdvec.household.report import LedgerReport
from mdvec.household.trend import TrendCache
from mdvec.manage.registering import add_tool
from processes import Bench, call_in_child
from results import Row

T = TypeVar("T")

ROWS, MONTHS, SAMPLE = 100_000, 120, 5_000
TODAY = date(2025, 1, 15)
HEADER = (
    "計算対象", "日付", "内容", "金額（円）", "保有金融機関",
    "大項目", "中項目", "メモ", "振替", "ID",
)  # fmt: skip
CATEGORIES = (
    ("食費", "食料品"), ("食費", "外食"), ("日用品", "雑貨"), ("交通費", "電車"),
    ("趣味・娯楽", "本"), ("水道・光熱費", "電気代"), ("通信費", "携帯電話"),
    ("衣服・美容", "衣服"), ("未分類", "未分類"),
)  # fmt: skip
ACCOUNTS = ("カードA", "カードB", "電子マネーC", "銀行D", "財布")
OPTIONS = DetectionOptions(3, Decimal(0), Decimal(1))


def measure(bench: Bench) -> list[Row]:
    """Measure everything in one child process, with cold caches."""
    seconds, facts = call_in_child(bench, "household_speed", "work", str(bench.folder))
    return [
        _row(f"import of {ROWS:,} rows, {MONTHS} files", seconds["import"], 5),
        _row("again, with other names", seconds["renamed"], 2),
        _row("again, untouched", seconds["untouched"], 0.1),
        _row(
            f"`detect_duplicates`, ±3 days, ±1 %: {facts['pairs']:,} pairs, "
            f"{facts['below']:,} under {OPTIONS.min_similarity_score}",
            seconds["detect"], 1,
        ),
        _row("the same at its defaults", seconds["defaults"], 2),
        Row(
            f"pairs of {SAMPLE:,} rows against comparing each with each",
            f"{facts['sample']:,} pairs, {facts['wrong']} different", "the same pairs",
            facts["wrong"] == 0,
        ),
        _row(f"`get_category_trend`, 12 of {MONTHS} months", seconds["trend"], 0.3),
        _row("again, remembered", seconds["cached"], 0.01),
    ]  # fmt: skip


def _row(what: str, seconds: float, bar: float) -> Row:
    return Row(what, f"{seconds:.3f} s", f"≤ {bar} s", seconds <= bar)


def work(folder: str) -> tuple[dict[str, float], dict[str, int]]:
    """The seconds of each step, and its results."""
    source, database = Path(folder) / "csv", Path(folder) / "ledger.sqlite"
    write_statements(source)
    add_tool(database, "kakeibo", "家計簿", source, "household")
    seconds: dict[str, float] = {}
    seconds["import"], report = _timed(lambda: _import(database, source))
    if report.imported != ROWS:
        raise RuntimeError(f"{report.imported} rows were imported")
    seconds["untouched"], _ = _timed(lambda: _import(database, source))
    for path in sorted(source.iterdir()):
        path.rename(path.with_name(f"再{path.name}"))
    seconds["renamed"], report = _timed(lambda: _import(database, source))
    if report.unchanged != ROWS:
        raise RuntimeError(f"{report.unchanged} rows were unchanged")
    with open_database(database, "write") as connection:
        cache = TrendCache()

        def trend() -> object:
            version = transactions.data_version(connection, 1)
            return cache.category_trend(connection, 1, version, category="食費", today=TODAY)

        seconds["trend"], _ = _timed(trend)
        seconds["cached"], _ = _timed(trend)
        seconds["detect"], found = _timed(lambda: duplicate_review.detect(connection, 1, OPTIONS))
        seconds["defaults"], _ = _timed(
            lambda: duplicate_review.detect(connection, 1, DetectionOptions())
        )
        sample = transactions.list_transactions(connection, 1)[:SAMPLE]
    facts = {"pairs": found.candidates_count, "below": found.below_threshold_count}
    return seconds, {**facts, **_compared(sample)}


def _import(database: Path, source: Path) -> LedgerReport:
    with open_database(database, "write") as connection:
        found = scan(source, ScanRules((".csv",), (), 10**8))
        files = [LedgerFile.of(source, file) for file in found.files]
        return import_ledger(connection, 1, files, "update")


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def _compared(rows: list[Transaction]) -> dict[str, int]:
    """The likely pairs of the search, and those of judging every two rows."""
    found = {
        (pair.first.id, pair.second.id)
        for pair in find_pairs(rows, OPTIONS, reading=reading).pairs
        if pair.score >= LIKELY
    }
    near = [
        (one, other)
        for place, one in enumerate(rows)
        for other in rows[place + 1 :]
        if _near(one, other)
    ]
    equal = [pair for pair in near if pair[0].amount == pair[1].amount]
    of_two = [pair for pair in equal if pair[0].account != pair[1].account]
    judge = Judge(reading, Habits(rows, {row.description for row in rows}), Mirrors(rows, of_two))
    pairs = match_one_to_one(_judged(judge, one, other) for one, other in near)
    brute = {(pair.first.id, pair.second.id) for pair in pairs if pair.score >= LIKELY}
    return {"sample": len(brute), "wrong": len(found ^ brute)}


def _judged(judge: Judge, one: Transaction, other: Transaction) -> Pair:
    """A pair with its score, without any of the search's shortcuts."""
    verdict = judge.verdict(one, other)
    first, second = sorted((one, other), key=lambda row: row.id)
    return Pair(first, second, verdict.score, verdict.reasons)


def _near(one: Transaction, other: Transaction) -> bool:
    """Whether two rows are within the tolerances, without the search's shortcuts."""
    if one.amount is None or other.amount is None or abs((one.date - other.date).days) > 3:
        return False
    if (one.amount < 0) != (other.amount < 0):
        return False
    mean = Decimal(abs(one.amount) + abs(other.amount)) / 2
    return abs(one.amount - other.amount) * 100 <= mean * OPTIONS.amount_tolerance_pct


def write_statements(folder: Path) -> None:
    """One statement file per month, in cp932 as Money Forward writes it."""
    folder.mkdir(parents=True)
    chance = random.Random(20250101)
    shops = [(f"店 {number:03}", chance.choice(CATEGORIES)) for number in range(300)]
    number = 0
    for month in range(MONTHS):
        first = date(2015 + month // 12, month % 12 + 1, 1)
        lines = io.StringIO(newline="")
        writer = csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
        writer.writerow(HEADER)
        for _ in range(ROWS * (month + 1) // MONTHS - ROWS * month // MONTHS):
            shop, (major, minor) = chance.choice(shops)
            day = first + timedelta(chance.randrange(28))
            amount = -chance.randint(50, 9_000)
            writer.writerow(
                [1, f"{day:%Y/%m/%d}", shop, amount, chance.choice(ACCOUNTS), major, minor, "", 0,
                 f"id{number}"]
            )  # fmt: skip
            number += 1
        path = folder / f"収入・支出詳細_{first:%Y-%m-%d}.csv"
        path.write_bytes(lines.getvalue().encode("cp932"))
        os.utime(path, (1_000_000_000 + month, 1_000_000_000 + month))
