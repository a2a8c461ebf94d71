"""Saved questions are bound, never put together; ready-made ones agree with pandas."""

import re
from dataclasses import replace
from itertools import combinations

import duckdb
import pytest
from query_subject import Subject, parquet
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.queries import Parameter, SavedQuery, SavedQueryError, WrongParameters, save
from mdvec.sql.core.period import UnknownColumn
from mdvec.sql.core.refusals import QueryError
from mdvec.sql.process.messages import QueryLimits
from mdvec.sql.questions import Prepared
from mdvec.text.one_line import literal

SALES = """
    SELECT CASE WHEN i % 97 = 5 THEN NULL ELSE DATE '2025-01-01' + (i % 200)::INTEGER END AS day,
           's' || i % 5 AS shop, i % 3 AS size,
           CASE WHEN i % 50 = 3 THEN NULL ELSE (i * 7919) % 1000 + 900 * (i % 200 = 120)::INT END
           AS amount,
           sqrt(i) AS root, 7 AS same
    FROM range(2000) AS t(i)
"""


class Site:
    """The questions over one table, and the table itself."""

    def __init__(self, folder):
        self.table = parquet(folder / "sales.parquet", SALES, "sales")
        database, limits = folder / "vectors.sqlite", QueryLimits(5.0, 1024, 10**8)
        with open_database(database, "create"):
            pass
        self.subject = Subject(folder, self.table, limits=limits, database=database)
        self.queries, analytics = self.subject.process, self.subject.analytics()
        self.questions, self.listing = analytics.questions, analytics.tables
        self.frame = duckdb.sql(SALES).df()

    def answer(self, name, parameters):
        return self.questions.answer(self.questions.prepare_saved(name, parameters))

    def rows(self, name, **parameters):
        answer = self.answer(name, parameters)
        return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]

    def warnings(self, name, **parameters):
        return self.answer(name, parameters).get("warnings", [])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("questions"))
    yield made
    made.queries.close()


def test_the_types_of_parameters_are_found_and_their_values_bound(site):
    sql = (
        "SELECT shop, sum(amount) AS total FROM sales WHERE day BETWEEN $first AND $last "
        "AND ($shop = '' OR shop = $shop) GROUP BY shop HAVING total > $least * 1.5 "
        "AND max(size) >= $size ORDER BY 2 DESC LIMIT $n"
    )
    made = site.questions.save("月次", f"```sql\n{sql}\n```", "by shop", "create")
    assert made == {
        "saved": "月次",
        "parameters": {
            "first": "date", "last": "date", "shop": "text", "least": "number",
            "size": "number", "n": "integer",
        },
        "columns": ["shop", "total"],
    }  # fmt: skip
    given = {"first": "2025-02-01", "last": "2025-02-28", "shop": "", "least": 0, "size": 2, "n": 2}
    month = site.frame[site.frame.day.between("2025-02-01", "2025-02-28")]
    sums = month.groupby("shop").amount.sum().sort_values(ascending=False)
    assert site.rows("月次", **given) == [
        {"shop": shop, "total": total} for shop, total in sums.head(2).items()
    ]
    assert site.rows("月次", **given | {"shop": "' OR 1 = 1 --"}) == []
    with pytest.raises(WrongParameters, match="first of 月次 must be a date"):
        site.rows("月次", **given | {"first": "$last"})


def test_a_number_is_bound_as_the_literal_that_it_is(site):
    def value(sql, given):
        answer = site.questions.answer(site.questions.prepare(sql, {"x": given}))
        return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]

    exact = (
        "(VALUES (1, 12345678901234567.89::DECIMAL(38,2)), (2, 12345678901234567.12)) AS t(i, d)"
    )
    assert value(f"SELECT i FROM {exact} WHERE d = $x", "12345678901234567.88") == []
    assert value(f"SELECT i FROM {exact} WHERE d > $x", "12345678901234567.50") == [{"i": 1}]
    assert value("SELECT $x::DECIMAL(38,10) AS n", "1234567890123456789.0123456789") == [
        {"n": "1234567890123456789.0123456789"}
    ]
    assert value("SELECT 0.3::DECIMAL(3,1) - $x AS n", 0.1) == [{"n": 0.2}]
    named = "FROM (VALUES (0.3::DECIMAL(3,1), 5)) AS t(d, i)"
    assert value(f"SELECT d - $x AS n {named} ORDER BY n", "0.1") == [{"n": 0.2}]
    assert value(f"SELECT round(sum(d) * $x, 2) AS n {named}", "0.1") == [{"n": 0.03}]
    assert value(f"SELECT i * $x AS n {named}", "1.08") == [{"n": 5.4}]
    most = "SELECT i FROM (VALUES (1, 18446744073709551615::UBIGINT)) AS t(i, u) WHERE u = $x"
    assert value(most, "18446744073709551615") == [{"i": 1}]


def test_a_ready_made_question_takes_a_list_of_columns(site):
    def answer(name, **parameters):
        asked = site.questions.prepare(name, {"table": "sales", **parameters})
        return site.questions.answer(asked)

    pair = answer("correlations", columns=["root", "size"])
    assert pair == answer("correlations", columns="root, size")
    assert [row[:2] for row in pair["rows"]] == [["root", "size"]]
    periods = {"measure": "amount", "first": "2025-01", "second": "2025-02"}
    both = answer("compare_periods", by=["shop", "size"], **periods)
    assert (both["columns"][:2], both["total_rows"]) == (["shop", "size"], 15)
    by_shop = answer("compare_periods", by=["shop"], **periods)
    assert (by_shop["columns"][0], by_shop["total_rows"]) == ("shop", 5)
    odd = 'SELECT 1 AS "a, b", 2 AS "c""d", DATE \'2025-01-02\' AS day'
    named = answer("compare_periods", **periods | {"table": odd, "measure": "a, b"},
                   by=["a, b", 'c"d'])  # fmt: skip
    assert named["columns"][:2] == ["a, b", 'c"d']
    with pytest.raises(WrongParameters, match="measure of trend must be a text"):
        answer("trend", measure=["amount", "size"])


@each(
    "columns",
    [["売上\n(円)", "原価\n(円)"], "売上\n(円), 原価\n(円)", '"売上\n(円)" ,"原価\n(円)"'],
)
def test_columns_whose_names_have_line_breaks_are_listed_as_others(site, columns):
    sheet = 'SELECT i AS "売上\n(円)", -2 * i AS "原価\n(円)", i % 2 AS x FROM range(9) AS t(i)'
    asked = site.questions.prepare("correlations", {"table": sheet, "columns": columns})
    (pair,) = site.questions.answer(asked)["rows"]
    assert (pair[:2], pair[3]) == (["売上\n(円)", "原価\n(円)"], 9)


def test_a_list_of_columns_that_is_not_closed_names_what_is_not_there(site):
    with pytest.raises(UnknownColumn, match='"root'):
        site.questions.prepare("correlations", {"table": "sales", "columns": '"root, size'})


def test_values_that_models_send_are_taken_or_told_what_to_write(site):
    def rows(sql, **parameters):
        return site.questions.answer(site.questions.prepare(sql, parameters))["rows"]

    flag = "SELECT count(*) FROM (SELECT size > 1 AS large FROM sales) WHERE large = $Flag"
    assert rows(flag, Flag=True) == [[666]]
    assert rows(flag, flag="false") == [[1334]]
    unit = "SELECT count(DISTINCT date_trunc($unit, day)) FROM sales WHERE day < $until"
    assert rows(unit, unit="month", **{"$until": "2025-03-01"}) == [[2]]
    with pytest.raises(QueryError, match='extract specifier "mnth" not recognized'):
        rows(unit, unit="mnth", until="2025-03-01")
    with pytest.raises(QueryError, match=r'"\$unit" not recognized; write the value itself into'):
        site.questions.save("bad", unit, None, "create")
    with pytest.raises(WrongParameters, match=r"write IN \(\$shops1, \$shops2\)"):
        rows("SELECT * FROM sales WHERE shop = ANY($shops)", shops=["s1", "s2"])
    assert rows("SELECT count(*) FROM sales WHERE size > $n", n=0.5) == [[1333]]
    with pytest.raises(WrongParameters, match="n of this SQL must be an integer"):
        rows("SELECT day FROM sales LIMIT $n", n=0.5)
    unknown = "SELECT DISTINCT size FROM sales WHERE size = (SELECT $n)"
    assert rows(unknown, n=2) == [[2]]
    with pytest.raises(WrongParameters, match=r"or a text; write \$n::BIGINT or \$n::VARCHAR"):
        rows(unknown, n="2")
    with pytest.raises(WrongParameters, match=r"write \$n::HUGEINT or"):
        rows(unknown, n=str(-(2**127)))
    assert rows("SELECT $n::HUGEINT::VARCHAR AS v", n=-(2**127)) == [[str(-(2**127))]]
    with pytest.raises(WrongParameters, match=r"write \$n::DECIMAL\(38, 10\) or"):
        rows(unknown, n="2.5")
    with pytest.raises(WrongParameters, match=r"write \$n::DOUBLE or"):
        rows(unknown, n="2e0")
    assert rows("SELECT DISTINCT shop FROM sales WHERE shop = (SELECT $s)", s="s1") == [["s1"]]
    assert rows("SELECT $s || 1 AS v, 's' LIKE $p AS w", s="1.50", p="2") == [["1.501", False]]
    assert rows("SELECT count(*) FROM sales WHERE shop LIKE '%' || $s || '%'", s="1") == [[400]]


TENTHS = "(SELECT i::BIGINT AS id, (i * 0.1)::DECIMAL(10, 2) AS d FROM range(12) AS r(i)) AS t"


@each(
    "sql",
    [
        "WITH RECURSIVE r AS (SELECT 1 AS n, $a AS x UNION ALL SELECT n + 1, x * 2 FROM r "
        "WHERE n < 4) SELECT x FROM r",
        f"SELECT id FROM {TENTHS} WHERE (id, d) = ($i, $a)",
        f"SELECT id FROM {TENTHS} WHERE (id, d) IN (($i, $a), (2, $b))",
        f"SELECT id FROM {TENTHS} WHERE [d] = [$a]",
        f"SELECT id FROM {TENTHS} WHERE {{'x': d}} = {{'x': $a}}",
        f"SELECT id FROM {TENTHS} JOIN (SELECT $b AS x) AS v ON t.d = v.x",
        f"WITH p AS (SELECT $a AS x) SELECT id, d - x AS rest FROM {TENTHS}, p WHERE d > x",
        f"SELECT id FROM {TENTHS} WHERE d = (SELECT $a)",
        f"SELECT max(v) AS most FROM (SELECT id AS v FROM {TENTHS} UNION ALL SELECT $i)",
        f"SELECT id FROM {TENTHS} WHERE d > $a * 2",
        f"SELECT id FROM {TENTHS} WHERE d > coalesce($a, 0)",
        f"SELECT greatest(id, $a) AS more FROM {TENTHS}",
        f"SELECT id FROM {TENTHS} WHERE d BETWEEN $a - $b AND $a + $b",
        f"SELECT id FROM {TENTHS} WHERE id > $b * $i",
    ],
)
@each("values", [{"i": 1, "a": 0.1, "b": 0.2}, {"i": 10, "a": 0.5, "b": 0.1049}])
def test_a_query_with_numbers_as_parameters_answers_as_with_them_written_in_it(site, sql, values):
    written = re.sub(r"\$(\w+)", lambda match: str(values[match[1]]), sql)
    given = {name: value for name, value in values.items() if f"${name}" in sql}
    answers = [
        site.questions.answer(site.questions.prepare(*query))["rows"]
        for query in ((sql, given), (written, None))
    ]
    assert answers[0] == answers[1]


def test_a_saved_question_is_judged_anew_when_it_is_run_or_shown(site):
    sql = "SELECT DISTINCT size * $rate AS v FROM sales WHERE size = 1"
    stored = SavedQuery("of_old", sql, "", (Parameter("rate", "text"),))  # as a version before had
    save(site.questions.database, stored, replace=False)
    assert site.answer("of_old", {"$Rate": 1.5})["rows"] == [[1.5]]
    with pytest.raises(WrongParameters, match="rate of of_old must be a number"):
        site.answer("of_old", {"rate": "much"})

    def shown():
        listed = [*site.questions.listed(), *site.listing.handles()["measures"]]
        return [each["parameters"] for each in listed if each["name"] == "of_old"]

    assert shown() == ["rate (number)"] * 2
    whole = site.subject.data
    site.subject.data = replace(whole, parquet=())
    assert shown() == ["rate (text)"] * 2  # what runs no longer is shown as it was saved
    site.subject.data = whole


@each(
    ("sql", "said"),
    [
        ("SELECT amont FROM sales WHERE shop = $s", "nearest: amount; columns of sales"),
        ("SELECT * FROM sales WHERE day > ?", "name each parameter, as in"),
        ("SELECT list_aggregate([1], $f) FROM sales", "needs the plain name of an aggregate"),
        ("SELECT * FROM query_table($t)", "is not allowed"),
        ("SELECT * FROM $t", "cannot be read"),
        ("SELECT read_text($f)", "it reads files"),
        ("DELETE FROM sales WHERE shop = $s", "is not a SELECT"),
    ],
)
def test_what_cannot_run_is_not_saved(site, sql, said):
    with pytest.raises(QueryError, match=said.replace("*", r"\*")):
        site.questions.save("bad", sql, None, "create")
    with pytest.raises(SavedQueryError, match="no saved question 'bad'"):
        site.answer("bad", {})


def test_a_plain_query_still_has_no_parameters(site):
    with pytest.raises(QueryError, match="holds a parameter without a value"):
        site.questions.answer(Prepared("SELECT * FROM sales WHERE shop = $s"))


def test_a_question_whose_table_is_gone_names_both(site):
    whole = site.subject.data
    site.subject.data = replace(whole, parquet=(site.table, replace(site.table, name="old")))
    site.questions.save("of-old", "SELECT * FROM old WHERE shop = $s", None, "create")
    assert site.answer("of-old", {"s": "s1"})["total_rows"] == 400
    site.subject.data = whole
    with pytest.raises(QueryError, match="question of-old no longer runs: there is no table 'old'"):
        site.answer("of-old", {"s": "s1"})


def test_a_trend_says_which_rows_it_leaves_out_and_where_the_data_end(site):
    assert site.warnings("trend", table="sales", measure="amount") == [
        "21 rows have no date in day and are left out",
        "40 rows have no amount; sum and mean ignore them",
        "the last month has values only up to 2025-07-19",
    ]


def test_a_comparison_is_that_of_pandas(site):
    found = site.rows(
        "compare_periods", table="sales", measure="amount", by="shop",
        first="2025-03", second="2025-04-01/2025-04-15",
    )  # fmt: skip
    first = site.frame[site.frame.day.between("2025-03-01", "2025-03-31")].groupby("shop").amount
    second = site.frame[site.frame.day.between("2025-04-01", "2025-04-15")].groupby("shop").amount
    gone = second.sum() - first.sum()
    for row in found:
        shop = row["shop"]
        assert (row["first_sum"], row["second_sum"]) == (first.sum()[shop], second.sum()[shop])
        assert row["sum_difference"] == gone[shop]
        assert row["sum_difference_percent"] == round(100 * gone[shop] / first.sum()[shop], 2)
    assert [row["shop"] for row in found] == list(gone.abs().sort_values(ascending=False).index)
    (empty,) = site.rows(
        "compare_periods", table="sales", measure="amount", first="1999", second="2025-07-19"
    )
    assert (empty["first_rows"], empty["first_sum"], empty["sum_difference_percent"]) == (
        0,
        None,
        None,
    )


def test_correlations_are_those_of_pandas_the_strongest_first(site):
    numbers = site.frame[["size", "amount", "root"]].astype(float)
    expected = {(a, b): numbers[a].corr(numbers[b]) for a, b in combinations(numbers, 2)}
    found = site.rows("correlations", table="sales")
    assert {(row["first"], row["second"]): row["r"] for row in found} == {
        pair: pytest.approx(r) for pair, r in expected.items()
    }
    assert [abs(row["r"]) for row in found] == sorted(
        (abs(row["r"]) for row in found), reverse=True
    )
    assert "always the same value, so without a correlation: same" in site.warnings(
        "correlations", table="sales"
    )
    odd = (
        "SELECT unnest([1, 2, 3, 'nan'::DOUBLE, 'inf'::DOUBLE]) AS a, unnest([2, 4, 6, 0, 0]) AS b"
    )
    assert [row["r"] for row in site.rows("correlations", table=odd)] == [pytest.approx(1)]
    for rows in (0, 1):
        few = site.rows("correlations", table=f"{odd} LIMIT {rows}")
        assert [row for row in few if row["r"] is not None] == []


ONE = "SELECT DATE '2025-01-01' AS day, 5 AS amount, 'x' AS name"
FLAT = (
    "SELECT DATE '2025-01-01' + range::INT AS day, CASE range WHEN 40 THEN 9 ELSE 5 END AS amount"
)


@each(
    ("name", "given", "said"),
    [
        ("trend", {"table": ONE}, "all rows are in one month, so there is no change to report"),
        ("anomalies", {"table": ONE}, "1 days have values, and one is judged by at least 5"),
        ("anomalies", {"table": f"{FLAT} FROM range(50)"}, "(MAD) is 0, as at least half of the "
         "values are the same, from which 1 differ: no z can be computed there"),
        ("compare_periods", {"table": ONE, "first": "2025-01", "second": "2024"},
         "no rows are in second (2024)"),
    ],
)  # fmt: skip
def test_one_row_and_constant_columns_are_answered_with_a_sentence(site, name, given, said):
    assert said in " ".join(site.warnings(name, **{"measure": "amount"} | given))


DAILY = (
    "SELECT unnest(generate_series(DATE '2024-01-01', DATE '2025-06-23', INTERVAL 1 DAY))::DATE "
    "AS day, 5 AS amount"
)
MONTHLY = DAILY.replace("INTERVAL 1 DAY", "INTERVAL 1 MONTH")
WEEKDAYS = f"SELECT * FROM ({DAILY}) WHERE isodow(day) < 6 AND day BETWEEN '2024-01-10' AND "
BEYOND = "SELECT unnest([TIMESTAMP '2024-01-01', TIMESTAMP '294247-01-10']) AS day, 5 AS amount"
MONTHLY_LATE, QUARTERLY, HALVES = (
    f"SELECT * FROM ({DAILY}) WHERE day = {day} AND day {span}"
    for day, span in (
        ("date_trunc('month', day)", "> '2024-01-01'"),
        ("date_trunc('quarter', day)", "> '2024-01-01'"),
        ("date_trunc('quarter', day) AND month(day) IN (1, 7)", "> '2024-01-01'"),
    )
)
MONTH_ENDS, QUARTER_ENDS = (
    f"SELECT * FROM ({DAILY}) WHERE day = last_day(day) AND month(day) % {months} = 0 "
    "AND day < '2024-12-01'"
    for months in (1, 3)
)
TO_COME = f"{DAILY} UNION ALL SELECT DATE '2025-12-31', NULL"


@each(
    ("name", "table", "given", "said"),
    [
        ("trend", DAILY, {}, ["the last month has values only up to 2025-06-23"]),
        ("trend", DAILY, {"period": "year"}, ["the last year has values only up to 2025-06-23"]),
        ("trend", DAILY, {"period": "day"}, []),
        ("trend", MONTHLY, {}, []),
        ("trend", MONTHLY, {"period": "year"}, ["the last year has values only up to 2025-06-01"]),
        ("trend", MONTHLY_LATE, {"period": "year"},
         ["the first year has values only from 2024-02-01",
          "the last year has values only up to 2025-06-01"]),
        ("trend", QUARTERLY, {"period": "year"},
         ["the first year has values only from 2024-04-01",
          "the last year has values only up to 2025-04-01"]),
        ("trend", HALVES, {"period": "year"},
         ["the first year has values only from 2024-07-01",
          "the last year has values only up to 2025-01-01"]),
        ("compare_periods", MONTH_ENDS, {"first": "2024-01", "second": "2024"},
         ["first and second overlap", "first has 31 days and second 366",
          "second (2024) has values only up to 2024-11-30"]),
        ("compare_periods", MONTH_ENDS, {"first": "2024-02-01/2024-02-29",
                                         "second": "2024-03-01/2024-12-30"},
         ["first has 29 days and second 305"]),
        ("compare_periods", QUARTER_ENDS, {"first": "2024-06", "second": "2024-07/2024-12"},
         ["first has 30 days", "second (2024-07/2024-12) has values only up to 2024-09-30"]),
        ("trend", f"SELECT * FROM ({DAILY}) WHERE day < '2025-05-31'", {},
         ["the last month has values only up to 2025-05-30"]),
        ("trend", f"SELECT * FROM ({DAILY}) WHERE isodow(day) = 6 AND day < '2025-05-31'", {},
         ["the last month has values only up to 2025-05-24"]),
        ("trend", f"SELECT * FROM ({DAILY}) WHERE isodow(day) = 6 AND day < '2025-06-01'", {}, []),
        ("trend", f"{WEEKDAYS} '2024-05-31'", {},
         ["the first month has values only from 2024-01-10"]),
        ("trend", TO_COME, {"period": "year"},
         ["1 rows have no amount; sum and mean ignore them",
          "the last year has values only up to 2025-06-23"]),
        ("trend", BEYOND, {"period": "year"}, ["292222 of 292224 years have no rows"]),
        ("anomalies", DAILY, {"period": "month"},
         ["none of 13 months is an anomaly", "before 12 of 13 months the typical deviation",
          "the last month has values only up to 2025-06-23"]),
        ("anomalies", f"SELECT day, if(day IN ('2024-01-09', '2024-03-09'), 99, day(day) % 3) AS "
         f"amount FROM ({DAILY})", {},
         ["1 of 2 anomalies have fewer than 30 days before them to be judged by"]),
        ("compare_periods", DAILY, {"first": "2024-06", "second": "2025-06"},
         ["second (2025-06) has values only up to 2025-06-23"]),
        ("compare_periods", DAILY, {"first": "2025", "second": "2023-12-01/2024-01-31"},
         ["first has 365 days and second 62", "first (2025) has values only up to 2025-06-23",
          "second (2023-12-01/2024-01-31) has values only from 2024-01-01"]),
        ("compare_periods", DAILY, {"first": "2025-05", "second": "2025-06-01/2025-06-23"},
         ["first has 31 days and second 23"]),
        ("compare_periods", MONTHLY, {"first": "2024-06", "second": "2025-06"}, []),
    ],
)  # fmt: skip
def test_a_period_of_which_the_data_cover_a_part_is_named(site, name, table, given, said):
    notes = site.warnings(name, table=table, measure="amount", **given)
    assert len(notes) == len(said), notes
    assert all(note.startswith(start) for note, start in zip(notes, said, strict=True)), notes


@each(
    ("first", "second", "said"),
    [
        ("2025", "2025-07", ["overlap: the rows from 2025-07-01 to 2025-07-31",
                             "has 365 days and second 31"]),
        ("2025-06-01/2025-06-15", "2025-07", ["has 15 days and second 31"]),
        ("2025-06-01/2025-06-15", "2025-06-15/2025-06-29", ["from 2025-06-15 to 2025-06-15"]),
        ("2024-02", "2025-02", []),
        ("2024", "2025", []),
        ("2025-W23", "2025-06-10/2025-06-16", []),
    ],
)  # fmt: skip
def test_periods_that_overlap_or_differ_in_length_are_compared_with_a_warning(
    site, first, second, said
):
    daily = "SELECT day, 1 AS amount FROM generate_series(DATE '2024-01-01', DATE '2025-12-31', "
    warnings = site.warnings(
        "compare_periods", table=f"{daily}INTERVAL 1 DAY) AS t(day)", measure="amount",
        first=first, second=second,
    )  # fmt: skip
    assert len(warnings) == len(said)
    assert all(part in warning for part, warning in zip(said, warnings, strict=True))


@each(
    ("name", "given", "said"),
    [
        ("trend", {"measure": 'a" FROM x --'}, "there is no column"),
        ("trend", {"measure": "name"}, "choose a column of numbers: amount"),
        ("trend", {"period": "hour'"}, "period must be one of day, week, month"),
        ("trend", {"table": "SELECT 1 AS amount"}, "a column of dates: this table has none"),
        ("trend", {"table": "nothing"}, "there is no table 'nothing'"),
        ("anomalies", {"window": 3}, "window must be 5 to 1000 periods, not 3"),
        ("compare_periods", {"first": "June", "second": "2025"}, "first must be a period such as"),
        ("compare_periods", {"first": "2025-07/2025-06", "second": "2025"}, "the earlier day"),
    ],
)  # fmt: skip
def test_names_that_do_not_fit_are_refused_in_a_sentence(site, name, given, said):
    with pytest.raises(Exception, match=said):
        site.answer(name, {"table": ONE, "measure": "amount"} | given)


def test_more_rows_than_fit_have_a_handle(site):
    answer = site.answer("trend", {"table": "sales", "measure": "amount", "period": "day"})
    assert (len(answer["rows"]), answer["total_rows"]) == (20, 200)
    path = site.questions.exporter.exports.path_of(answer["handle"])
    whole = duckdb.sql(f"SELECT sum(sum) FROM {literal(str(path))}").fetchall()
    assert whole == [(site.frame.dropna().amount.sum(),)]


def test_saved_questions_are_listed_as_measures_with_the_tables(site):
    sql = "SELECT sum(amount) FROM sales WHERE shop = $shop AND size = $size"
    site.questions.save("revenue", sql, "of one shop", "create")
    measures = {measure["name"]: measure for measure in site.listing.handles()["measures"]}
    assert measures["revenue"] == {
        "name": "revenue", "description": "of one shop", "table": "sales",
        "parameters": "shop (text), size (number)",
    }  # fmt: skip
    site.questions.save("revenue", None, None, "delete")
