"""The sample household as exported for beancount: do both sum the same, and how fast?"""

from __future__ import annotations

import json
import subprocess
import time
from datetime import date
from pathlib import Path

from mdvec.database.connection import open_database
from mdvec.household import Ledger
from mdvec.household.month import monthly_household
from processes import Bench, run_mdvec

SAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "household"
_QUERY = """
import json, sys, time
from beancount import loader
from beancount.core.data import Transaction
began, sums = time.perf_counter(), {}
entries, errors, _ = loader.load_file(sys.argv[1])
assert not errors, errors[:3]
for entry in entries:
    for posting in entry.postings if isinstance(entry, Transaction) else ():
        if posting.account.startswith("Expenses:"):
            month = f"{entry.date:%Y-%m}"
            sums[month] = sums.get(month, 0) + int(posting.units.number)
print(json.dumps([sums, time.perf_counter() - began]))
"""


def compared(bench: Bench, python: str) -> str:
    """Whether the spending of nine months is the same."""
    ledger, database = bench.folder / "sample.beancount", bench.folder / "household.sqlite"
    here = ("-n", "household", "--database", database)
    run_mdvec(bench, "tool", "add", "-d", "h", "-s", SAMPLE, "--kind", "household", *here)
    run_mdvec(bench, "import", *here)
    ledger.write_text(run_mdvec(bench, "household", "export", *here).stdout, encoding="utf-8")
    command = [python, "-c", _QUERY, str(ledger)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    theirs, their_seconds = json.loads(done.stdout)
    with open_database(database, "read") as connection:
        began = time.perf_counter()
        ours = {
            f"2025-{month:02}": monthly_household(
                Ledger(connection, 1, date(2025, 10, 1)), year=2025, month=month, page_size=0
            ).spending
            for month in range(1, 10)
        }
        our_seconds = time.perf_counter() - began
    differing = [
        f"{month}: {spent or 0:,} against {theirs.get(month, 0):,}"
        for month, spent in ours.items()
        if (spent or 0) != theirs.get(month, 0)
    ]
    same = "**other sums**: " + "; ".join(differing) if differing else "the same sums"
    return (
        f"Spending of {len(ours)} months of the sample household, exported: {same}. mdvec's nine "
        f"answers took {our_seconds * 1000:.0f} ms, beancount's loading and summing "
        f"{their_seconds * 1000:.0f} ms. fava shows what beancount loads."
    )
