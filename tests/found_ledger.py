"""A household's rows as plain tuples and in the database, to find them there."""

import functools
from datetime import date

import apsw
from mdvec.database import migrations
from mdvec.household import Ledger
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.row_filters import RowFilter
from mdvec.tools.registry import add_tool

TODAY = date(2025, 8, 15)
MARKED_TWICE = "計算対象 0 and 振替 1"
"""A transfer as Money Forward writes it."""
SHOPS = ("AMAZON.CO.JP", "アマゾン", "スーパー丸", "ライオン堂", "イオン 123", "イオン 456", "会社")
CATEGORIES = (("食費", "食料品"), ("食費", "外食"), ("日用品", "雑貨"), ("収入", "給与"), ("", ""))
ACCOUNTS = ("カードA", "カードB", "財布")
ROWS = [
    (date(2025, 7, 1), -1_200, "AMAZON.CO.JP", CATEGORIES[2], "カードA", None),
    (date(2025, 7, 2), -98_000, "アマゾン", CATEGORIES[2], "カードB", None),
    (date(2025, 7, 2), -98_000, "アマゾン", CATEGORIES[2], "カードA", "duplicate"),
    (date(2025, 7, 25), 300_000, "会社", CATEGORIES[3], "財布", None),
    (date(2025, 7, 31), -800, "ライオン堂", CATEGORIES[2], "財布", None),
    (date(2025, 8, 1), -540, "イオン 123", CATEGORIES[0], "財布", None),
]

HOME = [
    (date(2025, 7, 1), -90_000, "家賃", ("住宅", "家賃"), "銀行", None),
    (date(2025, 7, 1), -80_000, "ヤマダ不動産", ("住宅", "家賃"), "銀行", None),
    (date(2025, 7, 3), -3_000, "ﾛ-ｿﾝ", ("食費", "食料品"), "財布", None),
    (date(2025, 7, 4), -2_000, "AMZN MKTP", ("日用品", "雑貨"), "カードA", None),
    (date(2025, 7, 5), -1_000, "家賃保証サービス", ("住宅", "その他"), "銀行", None),
]


class FilledLedger:
    """A household's rows in the database, and as plain tuples."""

    def __init__(self, rows):
        self.connection = _copy_of_empty()
        self.rows = rows
        for number, (day, amount, shop, category, account, flag) in enumerate(rows, 1):
            self.connection.execute(
                "INSERT INTO transactions (id, tool_id, identity, mf_id, source_file, row_number, "
                "date, amount, description, category_major, category_minor, account, memo, "
                "is_target, is_transfer, is_duplicate) "
                "VALUES (?1, 1, ?1, '', 'a.csv', ?1, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)",
                (number, day.isoformat(), amount, shop, *category, account,
                 flag not in ("not_target", MARKED_TWICE), flag in ("transfer", MARKED_TWICE),
                 flag == "duplicate"),
            )  # fmt: skip

    def find(self, listing=None, today=TODAY, starts_on=1, **wanted):
        ledger = Ledger(self.connection, 1, today, starts_on)
        return find_transactions(ledger, RowFilter(**wanted), listing or ListingOptions())


@functools.cache
def _empty():
    connection = apsw.Connection(":memory:")
    migrations.migrate(connection)
    add_tool(connection, "kakeibo", "家計簿", "/nowhere", "household")
    return connection


def _copy_of_empty():
    connection = apsw.Connection(":memory:")
    with connection.backup("main", _empty(), "main") as backup:
        backup.step()
    return connection


def told(found):
    return found.total_rows, found.spending, found.income
