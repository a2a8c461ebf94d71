"""The sample household as a beancount ledger: do both sum the same, and how fast?"""

from __future__ import annotations

import csv
import json
import subprocess
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from mdvec.database.connection import open_database
from mdvec.household.month import monthly_household
from processes import Bench, run_mdvec

SAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "household"
MONTHS = [(2025, month) for month in range(1, 10)]
_QUERY = """
import json, sys, time
from beancount import loader
from beancount.core.data import Transaction
began = time.perf_counter()
entries, errors, _ = loader.load_file(sys.argv[1])
assert not errors, errors[:3]
sums = {}
for entry in entries:
    if isinstance(entry, Transaction):
        for posting in entry.postings:
            if posting.account.startswith("Expenses:"):
                key = f"{entry.date:%Y-%m}"
                sums[key] = sums.get(key, 0) + int(posting.units.number)
print(json.dumps({"sums": sums, "seconds": time.perf_counter() - began}))
"""


@dataclass(frozen=True, slots=True)
class Sums:
    """The spending of each month by both, and the seconds of all of them."""

    ours: dict[str, int]
    theirs: dict[str, int]
    our_seconds: float
    their_seconds: float

    @property
    def differing(self) -> list[str]:
        """The months whose sums differ, with both."""
        return [
            f"{month}: {self.ours[month]:,} against {self.theirs.get(month, 0):,}"
            for month in self.ours
            if self.ours[month] != self.theirs.get(month, 0)
        ]


def compare(bench: Bench, python: str) -> Sums:
    """The spending of nine months, from the same statements."""
    ledger = bench.folder / "sample.beancount"
    ledger.write_text(_as_beancount(), encoding="utf-8")
    done = subprocess.run(
        [python, "-c", _QUERY, str(ledger)], capture_output=True, check=True, text=True
    )
    theirs = json.loads(done.stdout)
    here = ("-n", "household", "--database", bench.folder / "household.sqlite")
    run_mdvec(bench, "tool", "add", "-d", "h", "-s", SAMPLE, "--kind", "household", *here)
    run_mdvec(bench, "import", *here)
    with open_database(bench.folder / "household.sqlite", "read") as connection:
        began = time.perf_counter()
        ours = {
            f"{year}-{month:02}": monthly_household(
                connection, 1, year=year, month=month, page_size=0, today=date(2025, 10, 1)
            ).spending or 0
            for year, month in MONTHS
        }  # fmt: skip
        seconds = time.perf_counter() - began
    return Sums(ours, theirs["sums"], seconds, theirs["seconds"])


def _as_beancount() -> str:
    """Rows that count, each once by its id; a category is an account, a refund a negative row."""
    rows: dict[str, dict[str, str]] = {}
    for file in sorted(SAMPLE.glob("収入・支出詳細_*.csv")):
        data = file.read_bytes()
        encoding = "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "cp932"
        for row in csv.DictReader(data.decode(encoding).splitlines()):
            if row["計算対象"] == "1" and row["振替"] == "0":
                rows[row["ID"]] = row
    accounts: defaultdict[str, str] = defaultdict(lambda: f"C{len(accounts)}")
    lines = []
    for row in rows.values():
        yen, income = int(row["金額（円）"].replace(",", "")), row["大項目"] == "収入"
        account = ("Income:" if income else "Expenses:") + accounts[row["大項目"]]
        day = row["日付"].replace("/", "-")
        lines.append(f'{day} * "r"\n  {account}  {-yen} JPY\n  Assets:Money  {yen} JPY\n')
    opened = sorted({line.split()[3] for line in lines} | {"Assets:Money"})
    return "\n".join([*(f"2000-01-01 open {account}" for account in opened), *lines])
