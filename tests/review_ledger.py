"""A household whose rows may be purchases booked twice, and what a review of them has decided."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import apsw
from mdvec.household import Ledger, deciding, review
from mdvec.household.core.pair import DetectionOptions, arrange
from mdvec.household.deciding import ReviewDecision
from mdvec.household.interfaces import duplicate_checks
from mdvec.tools.registry import add_tool

EXACT = DetectionOptions(0, amount_tolerance_pct=Decimal(0))
FILE = "収入・支出詳細_2024-01-01_2024-01-31.csv"
ROW = {
    "mf_id": "", "source_file": FILE, "date": "2024-01-15", "amount": -5000,
    "description": "スーパーマーケット A店", "category_major": "食費", "category_minor": "食料品",
    "account": "", "memo": "", "is_target": 1, "is_transfer": 0,
}  # fmt: skip


def make_household(connection: apsw.Connection, name: str = "kakeibo") -> Ledger:
    """The ledger of a new household."""
    return Ledger.undated(
        connection, add_tool(connection, name, "家計簿", __file__, "household").id
    )


def add(ledger: Ledger, count: int = 1, **given: Any) -> None:
    """Insert so many rows with usual values except the given ones."""
    for _ in range(count):
        number = ledger.connection.execute("SELECT count(*) FROM transactions").get
        numbers = {"tool_id": ledger.tool_id, "identity": f"row {number}", "row_number": number + 2}
        fields = {**numbers, **ROW, **given}
        ledger.connection.execute(
            f"INSERT INTO transactions ({', '.join(fields)}) "
            f"VALUES ({', '.join('?' * len(fields))})",
            tuple(fields.values()),
        )


def marks(ledger: Ledger) -> dict[int, int]:
    """The marked rows of all households with their originals."""
    return dict(
        ledger.connection.execute("SELECT id, duplicate_of FROM transactions WHERE is_duplicate")
    )


def decide(ledger: Ledger, check: int, decision: str) -> Any:
    """The answer to a decision about one pair, whatever other rows its candidate has."""
    found = duplicate_checks.get_check(ledger, check)
    rows = () if found is None else (found.first_id, found.second_id)
    return deciding.confirm(ledger, check, ReviewDecision(decision, rows=rows))


def pairs(ledger: Ledger, *, decided: bool = False) -> dict[tuple[int, int], int]:
    """The open pairs, or all: the ids of their rows and of their check."""
    found = [pair for one in arrange(duplicate_checks.open_pairs(ledger)) for pair in one.pairs]
    closed = duplicate_checks.closed_checks(ledger) if decided else []
    found += [pair for each in closed if (pair := duplicate_checks.get_check(ledger, each))]
    return {pair.rows: pair.id for pair in sorted(found, key=lambda pair: pair.decision == "skip")}


def candidates(ledger: Ledger) -> list[tuple[int, ...]]:
    """The ids of the rows of each listed candidate."""
    return [
        tuple(row.id for row in (one.transaction_1, one.transaction_2, *one.others))
        for one in review.list_candidates(ledger, 50).candidates
    ]
