"""Names in other words are understood only where exactly one name fits."""

import pytest
from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.mending.draft import Draft
from mdvec_mcp.analytics.core.mending.meanings import mend_meanings, the_only
from mdvec_mcp.analytics.core.mending.nearness import nearest_name

SALES = ["日付", "店舗名", "カテゴリ", "数量", "単価", "金額", "顧客ID"]
LEDGER = ["date", "month", "amount", "shop", "category_major", "category_minor", "account"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("store", SALES, "店舗名"),
        ("Amounts", SALES, "金額"),
        ("customer_id", SALES, "顧客ID"),
        ("売上金額", LEDGER, "amount"),
        ("ｶﾃｺﾞﾘ", LEDGER, "category_major"),
        ("中項目", LEDGER, "category_minor"),
        ("price", ["unit_price", "quantity"], "unit_price"),
        ("sales_amount", ["amount", "tax"], "amount"),
    ],
)
def test_a_word_means_the_only_column_that_fits(name, known, meant):
    assert the_only(name, known) == meant


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("tax_amount", ["amount", "shop"]),
        ("delivery_date", ["date", "amount"]),
        ("price", ["unit_price", "list_price"]),
        ("customer", ["customer_id", "customer_name"]),
        ("客単価", LEDGER),
        ("population", LEDGER),
        ("", LEDGER),
    ],
)
def test_a_narrower_or_an_unclear_word_means_no_column(name, known):
    assert the_only(name, known) is None


@pytest.mark.parametrize(
    ("name", "known", "nearest"),
    [
        ("tax_amount", ["amount", "shop"], None),
        ("delivery_date", ["date", "amount"], None),
        ("sales_amount", ["amount", "tax"], "amount"),
        ("amout", ["amount"], "amount"),
        ("orders_table", ["orders"], "orders"),
    ],
)
def test_a_name_that_is_narrower_is_not_near(name, known, nearest):
    assert nearest_name(name, known) == nearest


def forms(sql, message, columns):
    draft = Draft(sql, message, {"orders": [Column(*one) for one in columns]})
    return [mended.sql for mended in mend_meanings(draft)]


def test_a_date_means_the_only_dated_column_and_none_of_two():
    message = 'Binder Error: Referenced column "date" not found in FROM clause!'
    sql = "SELECT date FROM orders WHERE note = 'date'"
    one = [("ordered_at", "TIMESTAMP"), ("note", "VARCHAR")]
    assert forms(sql, message, one) == ["SELECT ordered_at FROM orders WHERE note = 'date'"]
    assert forms(sql, message, [*one, ("shipped_date", "DATE")]) == []


def test_data_is_the_only_table_but_a_table_of_something_else_is_not():
    columns = [("note", "VARCHAR")]
    missing = "there is no table '{}'; the tables are: orders"
    assert forms("SELECT note FROM df", missing.format("df"), columns) == [
        "SELECT note FROM orders"
    ]
    assert forms("SELECT note FROM 天気", missing.format("天気"), columns) == []
