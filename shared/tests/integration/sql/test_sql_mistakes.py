"""Slips, often of other databases' SQL, are refused with what DuckDB has instead."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.errors import MdvecError
from mdvec.sql.child.handler import refusal_of
from mdvec.sql.core.refusals import Hint, QueryRefused

LIMITS = {"seconds": 5.0, "memory_mb": 1024, "export_bytes": 2**20}
FORM = "; write: "
TABLES = {
    "customers": """CREATE TABLE customers AS
    SELECT 'Kyoto' AS shop, 3 AS customer_id, 'Hana' AS customer_name""",
    "orders": """CREATE TABLE orders AS SELECT * FROM (VALUES
    (1, DATE '2024-12-31', TIMESTAMP '2024-12-31 23:30:00', 'Kyoto', 'tea', 2, 300, true, NULL),
    (2, DATE '2025-01-01', TIMESTAMP '2025-01-01 00:15:00', 'Osaka', 'cup', 1, 1200, false, 'gift'),
    (3, DATE '2025-01-06', TIMESTAMP '2025-01-06 10:05:00', 'Kyoto', 'cup', 3, 1200, true, 'late'),
    (4, DATE '2025-02-28', TIMESTAMP '2025-02-28 18:00:00', 'Tokyo', 'tea', NULL, 300, true, NULL),
    (5, DATE '2025-03-31', TIMESTAMP '2025-03-31 09:45:00', 'Osaka', 'pot', 1, 4500, false, 'gift')
    ) AS rows(id, day, made, shop, item, qty, price, paid, note)""",
    "人口": 'CREATE TABLE 人口 AS SELECT 2020 AS "年　次", 5 AS "総\n数"',
    "売上": "CREATE TABLE 売上 AS SELECT DATE '2025-01-01' AS 日付, '渋谷店' AS 店舗, 100 AS 金額",
}


def ask(handler, sql):
    """The rows, or the error with its advice."""
    request = {
        "do": "rows", "source": sql, "sql": "SELECT * FROM {source}", "max_rows": 1000,
        "max_bytes": 1_000_000,
    }  # fmt: skip
    try:
        return handler.handle(request)["rows"], ""
    except MdvecError as error:
        return None, str(handler.advised(request, error))
    except duckdb.Error as error:
        refusal = refusal_of(error, hidden={}, **LIMITS)
        return None, str(handler.advised(request, refusal))


@each(
    ("sql", "advice"),
    [
        ("SELECT prcie FROM orders", "nearest: price; columns of orders: id, day, made, shop,"),
        ("SELECT customer FROM customers", "nearest: customer_id, customer_name;"),
        ("SELECT totl FROM (SELECT sum(qty) AS total FROM orders)", "nearest: total;"),
        ("SELECT count(*) FROM ordres", "nearest: orders; the tables are: customers,"),
        ("SELECT count(*) FROM dbo.orders", "nearest: orders;"),
        ("SELECT 店 FROM 売上", "nearest: 店舗;"),
        ('SELECT "年 次" FROM 人口', r'nearest: 年　次; columns of 人口: 年　次, "総\n数"'),
        ('SELECT "総数" FROM 人口', r'nearest: "総\n数"; columns of 人口: 年　次, "総\n数"'),
        ("SELECT c.prcie FROM orders, customers AS c", "nearest: price (orders);"),
        ("SELECT shpo FROM orders, customers", "nearest: shop;"),
        ("SELECT shop_item FROM orders, customers", "nearest: shop, item (orders);"),
        ("SELECT qty FROM (SELECT shop, sum(qty) AS total FROM orders GROUP BY ALL)",
         "qty is a column of orders, but not of what is read where it is named; columns of orders"),
        ("SELECT o.qty FROM customers AS o JOIN orders ON true",
         'named "qty"; qty is a column of orders, but not of what is read where it is named;'),
        ('SELECT id FROM orders WHERE shop = "Tokyo"', "a text stands in single quotes: 'Tokyo'"),
        ("SELECT TOP 3 shop, AVG(qty) FROM orders GROUP BY shop", "DuckDB has (SELECT … LIMIT 3)"),
        ("SELECT TOP (1) id FROM orders ORDER BY qty", "DuckDB has (SELECT … LIMIT 1)"),
        ("SELECT price // 7 FROM orders LIMIT 2, 3", "LIMIT 10 OFFSET 5 for LIMIT 5, 10"),
        ("SELECT DATE_FORMAT(day, '%Y-%m') FROM orders", "strftime(d, '%Y-%m') for a date's year"),
        ("SELECT to_date('2025-06-01', 'YYYY-MM-DD')", "strptime('2025-06-01', '%Y-%m-%d')"),
        ("SELECT DATEADD(month, 1, day) FROM orders", "DuckDB has d + INTERVAL 1 MONTH,"),
        ("SELECT NVL(qty, 0) FROM orders", "DuckDB has coalesce(x, y)"),
        ("SELECT IIF(qty > 1, 'many', 'few') FROM orders", "CASE WHEN x > 1 THEN 'a' ELSE"),
        ("SELECT ISNULL(qty) FROM orders", "DuckDB has x IS NULL"),
        ("SELECT ISNULL(qty, 0) FROM orders", "DuckDB has coalesce(x, 0)"),
        ("SELECT id FROM orders WHERE day < GETDATE()", "DuckDB has now(), current_date"),
        ("SELECT DATETRUNC(month, day) FROM orders", "DuckDB has date_trunc('month', d)"),
        ("SELECT id FROM orders WHERE (id > 1) && (qty > 1)", "DuckDB has a AND b"),
        ("SELECT sum(shop) FROM orders", "DuckDB has CAST(x AS DOUBLE), which refuses"),
        ("SELECT DATE_SUB(day, INTERVAL qty DAY) FROM orders", "d - INTERVAL 7 DAY"),
        ("SELECT STR_TO_DATE('06', '%m')", "strptime('2025-06-01', '%Y-%m-%d')"),
        ("SELECT shop FROM orders MINUS SELECT shop FROM orders WHERE id < 4", "DuckDB has EXCEPT"),
        ("SELECT IFNULL(qty, 0), DATE_FORMAT(day, '%Y'), DATEDIFF(month, made, day) FROM orders",
         "date_diff('day', a, b) for the midnights"),
        ("SELECT to_char(day, 'YYYY'), DATEDIFF(CAST(made AS DATE), day) FROM orders",
         "date_diff('day', a, b) for"),
        ("SELECT shop + item FROM orders", "a || b to join texts"),
        ("SELECT strftime('%Y', 'now')", "Could not choose"),  # 'now' is no time in DuckDB
        ("SELECT string_agg(shop, ','), format('{}', 1) FROM orders WHERE day LIKE '2025%'",
         "casts.; DuckDB has d::VARCHAR LIKE '2025-06%'"),
        ("SELECT avg(qty > 1) FROM orders", "avg(x::INTEGER)"),
        ("SELECT shop, sum(qty) FROM orders", "Either add it to the GROUP BY list, or use"),
        ("SELECT SUBSTRING_INDEX(shop, ',', 2) FROM orders", "array_to_string(split(text, ','"),
        ("SELECT to_char(price, '9,999') FROM orders", "format('{:,}', x) for an integer"),
        ("SELECT id FROM orders WHERE shop REGEXP '^K'", "regexp_matches(text, pattern, 'i')"),
        ("SELECT id FROM orders WHERE day >= '2025年1月29日'", "DuckDB has DATE '2025-1-29'"),
    ],
)  # fmt: skip
def test_common_slips_are_told_what_to_write(handler, sql, advice):
    _, message = ask(handler, sql)
    assert advice in message
    assert FORM not in message


@each(
    ("sql", "hint"),
    [
        ("SELECT prcie FROM orders", Hint("prcie", ["price"])),
        ("SELECT xyz FROM customers", Hint("xyz", ["shop", "customer_id", "customer_name"])),
        (
            "SELECT xyz FROM customers, 売上",
            Hint("xyz", ["shop", "日付", "customer_id", "店舗", "customer_name", "金額"]),
        ),
        ("SELECT o.prcie, c.xyz FROM orders AS o, customers AS c", Hint("prcie", ["price"])),
        ("SELECT c.prcie FROM orders AS o, customers AS c", Hint("c.prcie", ["price"])),
        ("SELECT c.prcie, c.xyz FROM orders AS o, customers AS c", None),
        (
            "SELECT c.xyzw FROM orders AS o, customers AS c",
            Hint("xyzw", ["shop", "customer_id", "customer_name"]),
        ),
        ("SELECT qty FROM customers WHERE shop IN (SELECT shop FROM orders)", None),
        ("SELECT qty FROM (SELECT shop FROM orders)", None),
    ],
)
def test_names_are_proposed_unless_the_name_is_right_and_elsewhere(handler, sql, hint):
    request = {"source": sql}
    with pytest.raises(duckdb.Error) as failed:
        handler.handle({"do": "columns", **request})
    refusal = refusal_of(failed.value, hidden={}, **LIMITS)
    assert handler.advised(request, refusal).hint == hint


HINTS = [
    ("SELECT price DIV 2 FROM orders", "a // b",
     ("7 // 2, -7 // 2, 9007199254740993 // 1", [3, -3, 9007199254740993])),
    ("SELECT price DIV 2 FROM orders", "trunc(a / b) for DOUBLE",
     ("trunc(3.5::DOUBLE / 2), trunc(-3.5::DOUBLE / 2), trunc(NULL / 2)", [1.0, -1.0, None])),
    ("SELECT EOMONTH(day, 1) FROM orders", "last_day(d + INTERVAL 1 MONTH)",
     ("last_day(day + INTERVAL 1 MONTH), last_day(made + INTERVAL 1 MONTH)",
      ["2025-01-31", "2025-01-31"])),
    ("SELECT JULIANDAY(made) FROM orders", "(epoch(b) - epoch(a)) / 86400",
     ("(epoch(TIMESTAMP '2024-02-01 01:00') - epoch(TIMESTAMP '2024-01-31 22:00')) / 86400, "
      "(epoch(DATE '2024-02-01') - epoch(DATE '2024-02-03')) / 86400", [0.125, -2.0])),
    ("SELECT id FROM orders WHERE shop RLIKE '^k'", "regexp_matches(text, pattern, 'i')",
     ("regexp_matches(shop, '^k', 'i'), regexp_matches(note, '^k', 'i')", [True, None])),
    ("SELECT SUBSTRING_INDEX(shop, ',', -9) FROM orders", "array_to_string(split(text, ',')",
     ("array_to_string(split('a,,c', ',')[:2], ','), array_to_string(split('a,b', ',')[-9:], ','), "
      "array_to_string(split(note, ',')[:2], ',')", ["a,", "a,b", None])),
    ("SELECT prcie FROM orders UNION ALL SELECT TOP 1 id FROM orders", "(SELECT … LIMIT 1)",
     ("count(*) FROM (SELECT id FROM orders UNION ALL (SELECT id FROM orders LIMIT 1)) --", [6])),
    ("SELECT DATEPART(month, prcie) FROM orders", "extract(month FROM d)",
     ("extract(month FROM made), extract(month FROM NULL::DATE)", [12, None])),
    ("SELECT DATEDIFF(prcie, made) FROM orders", "date_diff('day', a, b) for the midnights",
     ("date_diff('day', made, TIMESTAMP '2025-01-01 00:15'), date_diff('day', day, '2024-12-29')",
      [1, -2])),
    ("SELECT FORMAT(prcie, 0) FROM orders", "format('{:,}', x)",
     ("format('{:,}', -1234567), format('{:,}', 12345::HUGEINT), strftime(made, '%Y-%m')",
      ["-1,234,567", "12,345", "2024-12"])),
    ("SELECT CONVERT(NVARCHAR(9), day, 112) FROM orders", "CAST(x AS VARCHAR), strftime(d, '%Y",
     ("CAST(1.50 AS VARCHAR), CAST(day AS VARCHAR), strftime(day, '%Y%m%d')",
      ["1.50", "2024-12-31", "20241231"])),
    ("SELECT avg(paid) FROM orders", "avg(x::INTEGER) for the share of true values",
     ("(SELECT avg(paid::INTEGER) FROM orders)", [0.6])),
]  # fmt: skip


@each(("sql", "hint", "example"), HINTS)
def test_a_hint_means_what_it_says_and_the_function_that_it_is_for(handler, sql, hint, example):
    assert hint in ask(handler, sql)[1]
    written, values = example
    assert ask(handler, f"SELECT {written} FROM orders WHERE id = 1") == ([values], "")


@each(
    "sql",
    [
        "SELECT ISNULL(qty, 0.5) FROM orders",  # the type is that of qty
        "SELECT CONVERT(INT, price / 7.0) FROM orders",  # cuts; a cast rounds
        "SELECT CHARINDEX('A', shop, 3) FROM orders",  # whatever the case, from a place
        "SELECT REGEXP_SUBSTR(shop, '[a-z]+', 1, 2) FROM orders",
        "SELECT TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')",  # 0, date_sub has 1
        "SELECT ADD_MONTHS(day, 1) FROM orders",  # a last day stays one
        "SELECT DATETIME('now'), DATETIME(made, '+9 hours') FROM orders",
        "SELECT DECODE(prcie, NULL, 'none', note) FROM orders",
        "SELECT DATEPART(week, day) FROM orders",  # of Sunday, from January 1
        "SELECT TOP 50 PERCENT id FROM orders",
        "SELECT TOP (1) WITH TIES id FROM orders ORDER BY price",
        "SELECT minus FROM orders",
        "SELECT prcie FROM DUAL",
    ],
)
def test_what_duckdb_has_in_no_short_form_gets_no_hint(handler, sql):
    rows, message = ask(handler, sql)
    assert rows is None
    assert "DuckDB has" not in message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "「" * 3000,
        "SELECT 'a' = \"" + "é" * 3000,
        "SELECT * FROM " + "家" * 2900,
        "SELECT o." + "x" * 2900 + " FROM orders o",
        'SELECT shop = "' + "家" * 1200 + '" FROM orders',
        "SELECT " + "price," * 600 + " FROM ordres",
        "SELECT " + "price、" * 300 + " id FROM orders",
        "SELECT " + "（" * 400 + "price" + "）" * 400 + " FROM orders",
    ],
    ids=range(8),
)
def test_no_answer_has_more_than_900_bytes(handler, sql):
    _, message = ask(handler, sql)
    assert message
    assert len(message.encode()) <= 900


@each(
    "sql",
    [
        "COPY orders TO 'x.csv'", "SELECT getenv('HOME')",
        "SELECT id、getenv('HOME') FROM orders", "SELECT * FROM read_text('/etc/passwd')",
        "SELECT　* FROM read_text('/etc/passwd')", "ATTACH 'x.db'",
        "SELECT * FROM duckdb_settings()", "SELECT current_setting('threads')", "INSTALL httpfs",
        "WITH a AS (DELETE FROM orders RETURNING *) SELECT * FROM a",
        "SELECT id、qty INTO x FROM orders", "SELECT id FROM orders； DELETE FROM orders",
        "SELECT id、1 FROM '/etc/passwd'",
    ],
)  # fmt: skip
def test_what_is_not_allowed_gets_no_other_form(handler, sql):
    rows, message = ask(handler, sql)
    assert rows is None
    assert FORM not in message


WORDS = [
    "SELECT", "FROM", "WHERE", "orders", "shop", "prcie", "=", "'Kyoto'", '"Kyoto"', "(", ")", ",",
    "[price]", "`id`", "NULL", "TOP 3", "LIMIT 1, 2", "GROUP BY", "count(*)", "NVL(qty, 0)", ";",
    "--", "#", "'", '"', "read_csv('x.csv')", "getenv('HOME')", "/*", "UNION", "WITH a AS",
    "ORDER BY", "CASE", "ROWNUM", "\\", "DATEADD(day, 1, day)", "MINUS", "、", "（", "）",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
@settings(max_examples=20, deadline=None)
def test_whatever_is_asked_a_form_can_be_planned_and_is_short(handler, words):
    _, message = ask(handler, " ".join(words))
    assert len(message.encode()) <= 900
    if form := message.partition(FORM)[2]:
        assert handler.handle({"do": "columns", "source": form})["columns"]


def test_a_query_that_fails_by_its_data_gets_no_other_sql(handler):
    _, message = ask(handler, "SELECT CAST(note AS INTEGER), IFNULL(qty, 0) FROM `orders`")
    assert message.startswith("Conversion Error: Could not convert string")
    assert FORM not in message


def test_an_error_of_our_own_statement_over_a_good_query_gets_no_other_sql(handler):
    request = {
        "do": "rows", "source": "SELECT `id` FROM orders", "max_rows": 9, "max_bytes": 9_000,
        "sql": "SELECT prcie FROM {source}",
    }  # fmt: skip
    with pytest.raises(duckdb.Error) as failed:
        handler.handle(request)
    refusal = refusal_of(failed.value, hidden={}, **LIMITS)
    assert FORM not in str(handler.advised(request, refusal))


def test_a_name_that_is_refused_is_no_mistake_of_the_query(handler):
    request = {
        "do": "export", "name": "select", "source": "SELECT NVL(qty, 0) FROM orders",
        "sql": "SELECT * FROM {source}", "format": "parquet", "file": "x", "max_rows": 1,
    }  # fmt: skip
    with pytest.raises(QueryRefused) as refused:
        handler.handle(request)
    assert handler.advised(request, refused.value) is refused.value


def test_one_fence_around_a_query_is_taken_off_and_two_are_refused(handler):
    for sql in ("```sql\nSELECT 1\n```\n", "```\r\nSELECT 1;\r\n```"):
        assert ask(handler, sql) == ([[1]], "")
    assert "cannot be read" in ask(handler, "```\nSELECT 1\n```\n```\nSELECT 2\n```")[1]
    assert ask(handler, "SELECT '```'") == ([["```"]], "")
