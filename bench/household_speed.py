"""A household of a hundred thousand invented transactions: imported, updated, asked, compared."""

from __future__ import annotations

import csv
import io
import os
import random
import time
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TypeVar

from mdvec.database.connection import open_database
from mdvec.embedding import catalog
from mdvec.embedding.embedder import Embedder
from mdvec.files.scanning import ScanRules
from mdvec.household import Ledger
from mdvec.household import review as duplicate_review
from mdvec.household.core.evidence import Judge
from mdvec.household.core.pair import LIKELY, ComparedRow, DetectionOptions
from mdvec.household.core.pairs import (
    ComparisonTable,
    Mirrors,
    ShoppingHabits,
    find_pairs,
    match_one_to_one,
)
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.interfaces.duplicate_checks import compared_rows
from mdvec.household.month import monthly_household
from mdvec.household.row_filters import RowFilter
from mdvec.household.trend import category_trend, trend_cache
from mdvec.importing.job import ImportReport, ImportRequest, Mode
from mdvec.importing.options import ChunkingSettings
from mdvec.manage.registering import add_tool
from mdvec.manage.tool_import import import_tool
from processes import Bench, call_in_child
from results import Row, median

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
RULES = ScanRules((".csv",), (), 10**8)
FILTERS = {
    "all rows": RowFilter(),
    "words": RowFilter(query="店 007"),
    "a year, an amount": RowFilter(period="2020年", min_amount=5_000),
    "a category, an account": RowFilter(category="食費", account="カードA"),
}


def measure(bench: Bench) -> list[Row]:
    """Measure everything in one child process, with cold caches."""
    seconds, facts = call_in_child(bench, "household_speed", "work", str(bench.folder))
    megabytes = facts["bytes"] / 1e6
    return [
        _row(f"import of {ROWS:,} rows, {MONTHS} files, with their index", seconds["import"], 6),
        Row("the database", f"{megabytes:.0f} MB", "≤ 80 MB", megabytes <= 80),
        _row("again, untouched", seconds["untouched"], 0.3, minor=True),
        _row("one row changed", seconds["changed"], 1),
        _row("all files renamed", seconds["renamed"], 2),
        _row("`get_monthly_household`", seconds["month"], 0.01),
        _row(f"`get_category_trend` of {MONTHS} months", seconds["trend"], 0.1),
        _row("again, remembered", seconds["cached"], 0.01, minor=True),
        *(_row(f"`find_transactions`: {name}", seconds[name], 0.05) for name in FILTERS),
        _row(
            f"`detect_duplicates`, ±3 days, ±1 %: {facts['pairs']:,} pairs, "
            f"{facts['below']:,} under {OPTIONS.min_similarity_score}",
            seconds["detect"], 1,
        ),
        _row("the same at its defaults", seconds["defaults"], 2),
        Row(
            f"pairs of {SAMPLE:,} rows against comparing each with each",
            f"{facts['sample']:,} pairs, {facts['wrong']} different", "the same pairs",
            facts["wrong"] == 0, minor=True,
        ),
    ]  # fmt: skip


def _row(what: str, seconds: float, bar: float, *, minor: bool = False) -> Row:
    return Row(what, f"{seconds:.3f} s", f"≤ {bar} s", seconds <= bar, minor)


def work(folder: str) -> tuple[dict[str, float], dict[str, int]]:
    """The seconds of each step, and its results."""
    source, database = Path(folder) / "csv", Path(folder) / "ledger.sqlite"
    write_statements(source)
    add_tool(database, "kakeibo", "家計簿", source, "household")
    model = catalog.load("use")
    seconds: dict[str, float] = {}
    seconds["import"], report = _timed(lambda: _import(database, model, "new"))
    if report.added != ROWS:
        raise RuntimeError(f"{report.added} rows were imported")
    facts = {"bytes": database.stat().st_size}
    seconds["untouched"], _ = _timed(lambda: _import(database, model))
    _change_a_row(sorted(source.iterdir())[MONTHS // 2])
    seconds["changed"], report = _timed(lambda: _import(database, model))
    if report.updated != 1:
        raise RuntimeError(f"{report.updated} rows were updated")
    for path in sorted(source.iterdir()):
        path.rename(path.with_name(f"再{path.name}"))
    seconds["renamed"], report = _timed(lambda: _import(database, model))
    if report.unchanged != ROWS:
        raise RuntimeError(f"{report.unchanged} rows were unchanged")
    with open_database(database, "write") as connection:
        ledger = Ledger(connection, 1, TODAY)
        seconds |= _answers(ledger)
        seconds["detect"], found = _timed(lambda: duplicate_review.detect(ledger, OPTIONS))
        seconds["defaults"], _ = _timed(lambda: duplicate_review.detect(ledger, DetectionOptions()))
        sample = sorted(compared_rows(ledger), key=lambda row: (row.date, row.id))[:SAMPLE]
    facts |= {"pairs": found.candidates_count, "below": found.below_threshold_count}
    return seconds, {**facts, **_compared(sample)}


def _answers(ledger: Ledger) -> dict[str, float]:
    """The seconds of answers; those of the filters are medians of warm ones."""
    month = partial(monthly_household, ledger, year=2020, month=6)
    month()
    trends = trend_cache()

    def trend() -> object:
        return trends(
            category_trend, ledger, category="食費",
            start_month="2015-01", end_month="2024-12",
        )  # fmt: skip

    def find(wanted: RowFilter) -> float:
        listing = ListingOptions("largest", "shop")
        once = partial(find_transactions, ledger, wanted, listing)
        once()
        return median([_timed(once)[0] for _ in range(7)])

    return {
        "month": median([_timed(month)[0] for _ in range(7)]),
        "trend": _timed(trend)[0],
        "cached": _timed(trend)[0],
        **{name: find(wanted) for name, wanted in FILTERS.items()},
    }


def _import(database: Path, model: Embedder, mode: Mode = "update") -> ImportReport:
    request = ImportRequest(database, "kakeibo", mode, RULES, ChunkingSettings())
    return import_tool(request, lambda _: model)


def _change_a_row(path: Path) -> None:
    """Give a row another amount, and the file a time of its own."""
    lines = path.read_bytes().decode("cp932").splitlines(keepends=True)
    cells = lines[5].split(",")
    lines[5] = ",".join([*cells[:3], '"-12345"', *cells[4:]])
    path.write_bytes("".join(lines).encode("cp932"))
    os.utime(path, (1_000_001_000, 1_000_001_000))


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def _compared(rows: list[ComparedRow]) -> dict[str, int]:
    """The likely pairs of the search, and those of judging every two rows."""
    found = {
        (pair.first.id, pair.second.id)
        for pair in find_pairs(rows, OPTIONS).pairs
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
    table = ComparisonTable.of(rows, OPTIONS.amounts_near)
    judge = Judge(ShoppingHabits(table), Mirrors(table, of_two))
    pairs = match_one_to_one(judge.judge(one, other) for one, other in near)
    brute = {(pair.first.id, pair.second.id) for pair in pairs if pair.score >= LIKELY}
    return {"sample": len(brute), "wrong": len(found ^ brute)}


def _near(one: ComparedRow, other: ComparedRow) -> bool:
    """Whether two rows are within the tolerances, without the search's shortcuts."""
    if abs((one.date - other.date).days) > 3 or (one.amount < 0) != (other.amount < 0):
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
