"""A ledger whose rows name their shops, for tests of comparisons, budgets and habits."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from mdvec.household import Ledger
from mdvec.household.core.categories import INCOME
from mdvec.tools.registry import add_tool


@dataclass(frozen=True)
class Bought:
    """A row as a test writes it; ``category`` is 大項目/中項目."""

    day: str
    shop: str
    amount: int
    category: str = "食費/食料品"
    account: str = "カード"
    counts: bool = True

    @property
    def major(self):
        return self.category.partition("/")[0]

    @property
    def yen(self):
        """Positive for spending and for income; 0 for a row that does not count."""
        if not self.counts:
            return 0
        return self.amount if self.major == INCOME else -self.amount


def fill(connection, rows, name="kakeibo"):
    """A household with these rows; returns its tool's id."""
    tool_id = add_tool(connection, name, "家計簿", Path(), "household").id
    with connection:
        connection.executemany(
            "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, "
            "amount, description, category_major, category_minor, account, memo, is_target, "
            "is_transfer) VALUES (?, ?, ?, '明細.csv', ?, ?, ?, ?, ?, ?, ?, '', ?, 0)",
            (
                (
                    tool_id, f"{name}-{number}", f"{name}-{number}", number, row.day, row.amount,
                    row.shop, row.major, row.category.partition("/")[2], row.account, row.counts,
                )
                for number, row in enumerate(rows, 2)
            ),
        )  # fmt: skip
    return tool_id


def household(connection, rows, name="kakeibo", *, today=date.max, month_starts_on=1):
    """The ledger of a household with these rows."""
    return Ledger(connection, fill(connection, rows, name), today, month_starts_on)


def ledgers_of(connection, tools, today):
    """The ledgers of tool ids by name."""
    return {name: Ledger(connection, tool_id, today) for name, tool_id in tools.items()}


def monthly(shop, amount, first, months, day=5, category="通信費/携帯電話"):
    """One row a month from ``first`` (YYYY-MM)."""
    year, month = map(int, first.split("-"))
    days = ((year * 12 + month - 1 + number) for number in range(months))
    return [
        Bought(date(at // 12, at % 12 + 1, day).isoformat(), shop, amount, category)
        for at in days
    ]  # fmt: skip
