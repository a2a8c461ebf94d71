"""Rows found by filters, against counting every row of the ledger in plain Python."""

import functools
from datetime import date

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdvec.database import migrations
from mdvec.household.core.found import InvalidRowFilter, UnknownAccount
from mdvec.household.core.wording import InvalidPage
from mdvec.household.finding import ListingOptions, RowFilter, find_transactions
from mdvec.household.interfaces.columns import ColumnsCache
from mdvec.household.month import monthly_household
from mdvec.tools.registry import add_tool

TODAY = date(2025, 8, 15)
SHOPS = ("AMAZON.CO.JP", "アマゾン", "スーパー丸", "ライオン堂", "イオン 123", "イオン 456", "会社")
CATEGORIES = (("食費", "食料品"), ("食費", "外食"), ("日用品", "雑貨"), ("収入", "給与"), ("", ""))
ACCOUNTS = ("カードA", "カードB", "財布")
KEPT = {
    "counted": lambda why: why is None,
    "all": lambda why: True,
    "not_duplicate": lambda why: why != "duplicate",
    "left_out": lambda why: why is not None,
    "duplicate": lambda why: why == "duplicate",
    "transfer": lambda why: why == "transfer",
    "not_target": lambda why: why == "not_target",
}
IS_NAMED = {
    "Amazon": ("AMAZON.CO.JP", "アマゾン"), "イオン": ("イオン 123", "イオン 456"),
    "スーパー": ("スーパー丸",), "郵便局": (),
}  # fmt: skip


class Ledger:
    """A household's rows in the database, and as plain tuples."""

    def __init__(self, rows):
        self.connection = _copy_of_empty()
        self.rows = rows
        self.cache = ColumnsCache()
        for number, (day, amount, shop, category, account, flag) in enumerate(rows, 1):
            self.connection.execute(
                "INSERT INTO transactions (id, tool_id, identity, mf_id, source_file, row_number, "
                "date, amount, description, category_major, category_minor, account, memo, "
                "is_target, is_transfer, is_duplicate) "
                "VALUES (?1, 1, ?1, '', 'a.csv', ?1, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)",
                (number, day.isoformat(), amount, shop, *category, account,
                 flag != "not_target", flag == "transfer", flag == "duplicate"),
            )  # fmt: skip

    def find(self, listing=None, **wanted):
        return find_transactions(
            self.connection, 1, RowFilter(**wanted), listing or ListingOptions(), self.cache, TODAY
        )


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


def why_left_out(row):
    _, amount, _, (major, _), _, flag = row
    if flag is not None:
        return flag
    return "no_amount" if amount is None else None if major else "no_category"


def sums(rows):
    """The number of rows, spending and income by plain counting."""
    income = sum(row[1] or 0 for row in rows if row[3][0] == "収入")
    return len(rows), -sum(row[1] or 0 for row in rows if row[3][0] != "収入"), income


def told(found):
    return found.total_rows, found.spending, found.income


ROW = st.tuples(
    st.dates(date(2025, 5, 20), date(2025, 8, 10)),
    st.none() | st.integers(-9_000, 9_000) | st.sampled_from([-(10**16), 2**62]),
    st.sampled_from(SHOPS), st.sampled_from(CATEGORIES), st.sampled_from(ACCOUNTS),
    st.sampled_from([None, None, None, "transfer", "duplicate", "not_target"]),
)  # fmt: skip


@settings(max_examples=25)
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    query=st.sampled_from([None, *IS_NAMED]),
    least=st.none() | st.integers(0, 5_000),
    most=st.none() | st.integers(5_000, 10_000),
    month=st.sampled_from([None, 6, 7]),
    account=st.sampled_from([None, "カードA", "カード"]),
    category=st.sampled_from([None, "食費", "外食", "支出", "収入"]),
    which=st.sampled_from(sorted(KEPT)),
    group_by=st.sampled_from(["shop", "category", "account", "month"]),
)
def test_sums_are_those_of_counting_every_row(
    rows, query, least, most, month, account, category, which, group_by
):
    # Every name that a filter uses is in the ledger, on a day that no period below includes.
    outside = (date(2025, 5, 1), -1)
    for one in CATEGORIES:
        rows = [*rows, (*outside, "会社", one, "カードA", None)]
    ledger = Ledger(rows)
    found = ledger.find(
        ListingOptions(group_by=group_by), query=query, min_amount=least, max_amount=most,
        period=month and f"2025年{month}月", account=account, category=category, rows=which,
    )  # fmt: skip

    def matches(row):
        day, amount, shop, (major, minor), owner, _ = row
        return (
            (query is None or shop in IS_NAMED[query])
            and (least is None or (amount is not None and abs(amount) >= least))
            and (most is None or (amount is not None and abs(amount) <= most))
            and (month is None or day.month == month)
            and (account is None or owner.startswith(account))
            and (
                category is None or category in (major, minor)
                or (category == "支出" and major != "収入")
            )
        )  # fmt: skip

    matching = [row for row in rows if matches(row)]
    expected = [row for row in matching if KEPT[which](why_left_out(row))]
    assert told(found) == sums(expected)
    if which in {"counted", "all", "not_duplicate"}:
        assert sum(found.left_out.values()) == len(matching) - len(expected)
    parts = [(group.rows, group.spending, group.income) for group in found.groups]
    together = tuple(sum(column) for column in zip(*parts, strict=True))
    assert (together or (0, 0, 0)) == sums(expected)
    assert found.rows == ()  # groups answer what was asked


ROWS = [
    (date(2025, 7, 1), -1_200, "AMAZON.CO.JP", CATEGORIES[2], "カードA", None),
    (date(2025, 7, 2), -98_000, "アマゾン", CATEGORIES[2], "カードB", None),
    (date(2025, 7, 2), -98_000, "アマゾン", CATEGORIES[2], "カードA", "duplicate"),
    (date(2025, 7, 25), 300_000, "会社", CATEGORIES[3], "財布", None),
    (date(2025, 7, 31), -800, "ライオン堂", CATEGORIES[2], "財布", None),
    (date(2025, 8, 1), -540, "イオン 123", CATEGORIES[0], "財布", None),
]


def test_a_shop_this_year_is_answered_with_its_sum_and_what_is_left_out():
    found = Ledger(ROWS).find(query="Amazon", period="今年")
    assert found.text.splitlines()[0] == (
        "2025年01月01日〜2025年12月31日・「Amazon」: 2件、支出 99,200円"
    )
    assert "ほかに集計外の明細が 1件あり、合計に入れていません（重複 1件）" in found.text
    assert (
        "一致した店: アマゾン（1件、支出 98,000円）、AMAZON.CO.JP（1件、支出 1,200円）"
        in found.text
    )


def test_a_shop_with_the_letters_inside_a_word_is_named_but_not_summed():
    found = Ledger(ROWS).find(query="イオン")
    assert (found.total_rows, found.spending) == (1, 540)
    assert "「イオン」がある店は合計に入れていません: ライオン堂（1件、支出 800円）" in found.text


def test_the_largest_purchases_of_last_month_come_first():
    found = Ledger(ROWS).find(
        ListingOptions("largest", page_size=2), period="先月", category="支出", rows="all"
    )
    assert [row.amount for row in found.rows] == [-98_000, -98_000]
    assert (found.total_rows, found.pages, found.next_page) == (4, 2, 2)
    assert "集計外: 重複" in found.text


def test_rows_are_shown_only_where_they_are_what_was_asked_for():
    ledger = Ledger(ROWS * 4)
    sums = ledger.find(ListingOptions(group_by="shop"), query="Amazon")
    assert (sums.rows, sums.text.splitlines()[-1]) == (
        (), "明細は全 8件です（limit=8 で示します）。"
    )  # fmt: skip
    assert len(ledger.find().rows) == 5
    assert len(ledger.find(ListingOptions(page_size=200)).rows) == 20
    second = ledger.find(ListingOptions(page=2), period="2025年7月", category="支出")
    assert second.text.splitlines()[0] == (
        "2025年07月01日〜2025年07月31日・支出: 明細 6〜10件目（全 12件、[取引ID ファイル:行]）:"
    )
    assert "支出 4" not in second.text


def test_a_day_is_found_by_its_name():
    found = Ledger(ROWS).find(period="7月31日")
    assert [row.description for row in found.rows] == ["ライオン堂"]
    assert "「7月31日」を 2025年07月31日 と解釈しました" in found.text


def test_a_period_outside_the_ledger_is_said_to_have_no_rows():
    found = Ledger(ROWS).find(period="2019年", query="Amazon")
    assert found.total_rows == 0
    first, last = min(row[0] for row in ROWS), max(row[0] for row in ROWS)
    assert f"この期間の明細は 1件もありません（明細があるのは {first}〜{last}）" in found.notes
    within = Ledger(ROWS).find(period="7月31日", query="郵便局")
    assert not any("この期間" in note for note in within.notes)


def test_a_month_has_the_same_sums_as_the_month_itself():
    ledger = Ledger(ROWS)
    month = monthly_household(ledger.connection, 1, period="2025年7月", today=TODAY)
    found = ledger.find(period="2025年7月")
    assert told(found) == (month.counts.used, month.spending, month.income)


def test_a_changed_row_is_found_as_it_is_now():
    ledger = Ledger(ROWS)
    assert ledger.find(query="Amazon").total_rows == 2
    ledger.connection.execute("UPDATE transactions SET is_duplicate = 0")
    assert ledger.find(query="Amazon").total_rows == 3


@pytest.mark.parametrize(
    ("wanted", "listing", "error", "said"),
    [
        ({"account": "銀行"}, {}, UnknownAccount, "口座「銀行」.*カードA、カードB、財布"),
        ({"min_amount": -5}, {}, InvalidRowFilter, "min_amount は 0 以上"),
        ({"min_amount": 9, "max_amount": 5}, {}, InvalidRowFilter, "大きくなって"),
        ({"category": "貯蓄率"}, {}, InvalidRowFilter, "支出、収入"),
        ({"query": "！"}, {}, InvalidRowFilter, "言葉がありません"),
        ({"rows": "some"}, {}, InvalidRowFilter, "counted、all"),
        ({}, {"sort": "best"}, InvalidRowFilter, "newest、oldest"),
        ({}, {"page": 3}, InvalidPage, "3 ページ目"),
    ],
)
def test_what_cannot_be_found_is_refused_with_what_can(wanted, listing, error, said):
    with pytest.raises(error, match=said):
        Ledger(ROWS).find(ListingOptions(**listing), **wanted)
