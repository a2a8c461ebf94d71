"""A household's ledger filled row by row, and its sums by plain counting."""

from dataclasses import dataclass
from pathlib import Path

from mdvec.household import Ledger
from mdvec.household.core.categories import INCOME
from mdvec.household.month import monthly_household
from mdvec.household.trend import category_trend, category_trend_summary
from mdvec.tools.registry import add_tool

FLAGS = ("計算対象外", "振替", "重複")


@dataclass(frozen=True)
class Row:
    """A row as a test writes it; ``category`` is 大項目/中項目."""

    day: str
    amount: int | None
    category: str
    flag: str | None = None
    shop: str = "店"

    @property
    def major(self):
        return self.category.partition("/")[0]

    @property
    def minor(self):
        return self.category.partition("/")[2]

    @property
    def counts(self):
        return self.flag is None and self.amount is not None and self.major != ""


class SmallLedger:
    """The ledger of one household."""

    def __init__(self, connection, rows=(), source="明細.csv"):
        self.connection = connection
        self.source = source
        ((others,),) = connection.execute("SELECT count(*) FROM tools")
        name = f"kakeibo{others or ''}"
        self.tool_id = add_tool(connection, name, "家計簿", Path(), "markdown").id
        self.rows = []
        for row in rows:
            self.add(row)

    def add(self, row):
        number = len(self.rows) + 1
        flags = (row.flag != "計算対象外", row.flag == "振替", row.flag == "重複")
        self.connection.execute(
            "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, "
            "amount, description, category_major, category_minor, account, memo, is_target, "
            "is_transfer, is_duplicate) "
            "VALUES (?, ?, '', ?, ?, ?, ?, ?, ?, ?, '現金', '', ?, ?, ?)",
            (
                self.tool_id, str(number), self.source, number, row.day, row.amount, row.shop,
                row.major, row.minor, *flags,
            ),
        )  # fmt: skip
        self.rows.append(row)

    def month(self, today, period=None, starts_on=1, **asked):
        ledger = Ledger(self.connection, self.tool_id, today, starts_on)
        return monthly_household(ledger, period=period, **asked)

    def trend(self, today, category=None, starts_on=1, **asked):
        ledger = Ledger(self.connection, self.tool_id, today, starts_on)
        return category_trend(ledger, category=category, **asked)

    def summary(self, today):
        return category_trend_summary(Ledger(self.connection, self.tool_id, today))

    def came_to(self, month, major=None, minor=None):
        """Spending and income of the rows that count in a month (YYYY-MM) and category."""
        spending = income = 0
        for row in self.rows:
            if (
                row.counts and row.day.startswith(month)
                and major in (None, row.major) and minor in (None, row.minor)
            ):  # fmt: skip
                if row.major == INCOME:
                    income += row.amount
                else:
                    spending -= row.amount
        return spending, income
