"""What is said beside an answer whose query seldom means what it says; and PIVOT without values."""

import hashlib
import time
from datetime import date, timedelta

import duckdb
import pytest
from table_of_cases import each

from mdvec.japanese import in_japanese
from mdvec.sql.child.handler import refusal_of
from mdvec.sql.core.refusals import QueryFailed, QueryRefused

TABLES = {
    "visits": """CREATE TABLE visits AS SELECT * FROM (VALUES
    (1, TIMESTAMP '2025-06-29 10:00:00', DATE '2025-06-29', '東京駅', 100, '東京　駅'),
    (2, TIMESTAMP '2025-06-30 18:00:00', DATE '2025-06-30', '京都駅', 200, E'南口\\n前'),
    (NULL, TIMESTAMP '2025-07-01 09:00:00', DATE '2025-07-01', '京都', 300, 'x')
    ) AS rows(id, at_time, day, shop, yen, place)""",
    "guests": "CREATE TABLE guests AS SELECT 2 AS id, 'Kyoto' AS town",
    "rooms": "CREATE TABLE rooms AS SELECT 2 AS id, 1 AS beds",
    "stores": "CREATE TABLE stores AS SELECT unnest(['イオン', 'ﾐｶﾝ', 'りんご', "
    "'ＪＲ東', 'ＡＭＡＺＯＮ', 'Amazon.co.jp']) AS name",
    "prints": "CREATE TABLE prints AS SELECT i, CASE WHEN i = 7777 THEN i || '支店' "
    "ELSE sha256(i::VARCHAR) END AS hash FROM range(25000) AS t(i)",
    "parts": "CREATE TABLE parts AS SELECT format('{:06}', i) AS code, format('A-{:04}', i) AS no "
    "FROM range(5000) AS t(i)",
    "calls": "CREATE TABLE calls AS SELECT TIMESTAMPTZ '2025-06-30 18:00:00+09' AS rang",
    "closings": "CREATE TABLE closings AS SELECT TIMESTAMP '2025-06-30' AS night",
    "rain": 'CREATE TABLE rain AS SELECT 3.5 AS "前橋 気温(℃)", 2 AS "気温(℃)", 1 AS n, 9 AS "n-n"',
    "hours": """CREATE TABLE hours AS SELECT TIMESTAMP '2025-06-30 18:00' AS "at", "at" AS "時　刻",
    E'二\\n行' AS "where", 'it''s 一\\行' AS said""",
    "lands": """CREATE TABLE lands AS SELECT '["東京"]' AS capital, '[x' AS name""",
    "memos": "CREATE TABLE memos AS SELECT unnest(['a', 'b', NULL]) AS memo",
    "stays": 'CREATE TABLE stays AS SELECT 2 AS id, 1 AS "order"',
}


def asked(handler, source, sql="SELECT * FROM {source}", **parameters):
    return handler.handle({
        "do": "rows", "source": source, "sql": sql, "max_rows": 10, "max_bytes": 10_000,
        "notes": True, "parameters": parameters or None,
    })  # fmt: skip


@each(
    ("condition", "note"),
    [
        ("id NOT IN (SELECT id FROM visits)", "NOT IN is never true while its subquery gives NULL"),
        ("yen NOT IN (1, NULL)", "NOT IN is never true while its list has NULL"),
        ("at_time BETWEEN '2025-06-29' AND '2025-06-30'",
         "BETWEEN … AND '2025-06-30' ends as that day begins"),
        ("v.at_time BETWEEN DATE '2025-06-29' AND DATE '2025-06-30'", 'write "at_time" < the day'),
        ("at_time BETWEEN date '2025-06-29' AND timestamp '2025-06-30'",
         'write "at_time" < the day'),
        ("at_time NOT BETWEEN '2025-06-29' AND '2025-06-30'",
         "NOT BETWEEN … AND '2025-06-30' takes the rest of that day, too, for at_time has times; "
         'write "at_time" < … OR "at_time" >= the day after'),
        ("at_time <= '2025-06-30'", "<= '2025-06-30' ends as that day begins"),
        ("at_time = '2025-06-30'", "= '2025-06-30' is that day's midnight alone, for at_time has "
         'times; write "at_time"::DATE = the day'),
        ("DATE '2025-06-30' = v.at_time", 'write "at_time"::DATE = the day'),
        ("at_time IN ('2025-06-28', '2025-06-30')",
         "IN '2025-06-28', … is that day's midnight alone, for at_time has times; write "
         '"at_time"::DATE in its place'),
        ("at_time <= '2025/6/30'", "<= '2025/6/30' ends as that day begins"),
        ("at_time > '2025-6-30'", "> '2025-6-30' takes the rest of that day, too"),
        ("at_time BETWEEN '2025/06/29' AND '2025/06/30'",
         "BETWEEN … AND '2025/06/30' ends as that day begins"),
        ("at_time NOT IN ('2025-06-30')", 'write "at_time"::DATE in its place'),
        ("at_time <> '2025-06-30'", 'write "at_time"::DATE <> the day'),
        ("'2025-06-30' < at_time", "> '2025-06-30' takes the rest of that day, too, for at_time"),
        ("NOT at_time > '2025-06-30'", 'write "at_time" >= the day after'),
        ("id = NULL", "= NULL is never true; write IS NULL"),
        ("NULL <> shop", "<> NULL is never true; write IS NOT NULL"),
        ("shop = '京都えき'", "no row of visits has shop = '京都えき'; nearest: '京都', '京都駅'"),
        ("shop <> '京都えき'", "no row of visits has shop = '京都えき'; nearest: '京都', '京都駅'"),
        ("'zzz' != shop", "no row of visits has shop = 'zzz'"),
        ("shop NOT LIKE '%京都えき%'",
         "no row of visits has shop LIKE '%京都えき%'; nearest: '京都', '京都駅'"),
        ("shop NOT ILIKE 'zzz%'", "no row of visits has shop ILIKE 'zzz%'"),
        ("v.place = '東京 駅'", "no row of visits has place = '東京 駅'; nearest: '東京　駅'"),
        ("v.place = '南口 前'", r"no row of visits has place = '南口 前'; nearest: E'南口\n前'"),
        ("shop IS DISTINCT FROM 'zzz'", "no row of visits has shop = 'zzz'"),
        ("v.shop IN ('東京駅', 'zzz')", "no row of visits has shop = 'zzz'"),
        ("yen BETWEEN 300 AND 100", "BETWEEN 300 AND 100 is never true; the smaller end comes"),
        ("NOT (yen BETWEEN 0.5 AND -1)", "NOT BETWEEN 0.5 AND -1 is always true"),
        ("day BETWEEN '2025-07-01' AND DATE '2025-06-01'", "2025-07-01 AND 2025-06-01 is never"),
        ("shop BETWEEN '駅' AND '京'", "BETWEEN 駅 AND 京 is never true"),
        ("weekday(day) = 0", "weekday() counts from Sunday = 0, unlike MySQL's; isodow(d) is 1"),
        ("1 < DAYOFWEEK(at_time)", "dayofweek() counts from Sunday = 0"),
        ("true GROUP BY shop HAVING shop = 'zzz'", "no row of visits has shop = 'zzz'"),
    ],
)  # fmt: skip
def test_a_trap_that_a_query_has_fallen_into_is_named(handler, condition, note):
    (said,) = asked(handler, f"SELECT count(*) FROM visits AS v WHERE {condition}")["notes"]
    assert said.startswith(note) or note in said
    assert ("nearest" in said) == ("nearest" in note)


@each(
    ("condition", "values", "note"),
    [
        ("at_time BETWEEN $a AND $B", {"a": ("date", "2025-06-29"), "b": ("date", "2025-06-30")},
         "BETWEEN … AND '2025-06-30' ends as that day begins"),
        ("at_time <= $b::DATE", {"b": ("date", "2025-06-30")}, "ends as that day begins"),
        ("$b::DATE >= at_time", {"b": ("date", "2025-06-30")}, "<= '2025-06-30' ends as that day"),
        ("at_time >= $b::DATE", {"b": ("date", "2025-06-30")}, ""),
        ("at_time <= $b", {"b": ("date", "2025-06-30T00:00:00")}, ""),
        ("at_time = $b", {"b": ("date", "2025-06-30")}, 'write "at_time"::DATE = the day'),
        ("at_time < $b", {"b": ("date", "2025-07-01")}, ""),
        ("shop = $b", {"b": ("text", "京都えき")}, "shop = '京都えき'; nearest: '京都', '京都駅'"),
        ("shop = $b", {"b": ("text", "京都")}, ""),
        ("id NOT IN (SELECT id FROM visits WHERE yen > $n)", {"n": ("integer", 200)},
         "NOT IN is never true while its subquery gives NULL"),
        ("id NOT IN (SELECT id FROM visits WHERE yen > $n)", {"n": ("integer", 300)}, ""),
    ],
)  # fmt: skip
def test_values_of_parameters_are_judged_as_if_they_were_written(handler, condition, values, note):
    query = f"SELECT count(*) FROM visits WHERE {condition}"
    said = asked(handler, query, **values).get("notes", [""])
    assert note in said[0]
    assert bool(note) == bool(said[0])


def test_a_sign_of_a_list_that_is_json_text_is_told(handler):
    note = 'capital has lists as JSON text, of which [1] is a sign; the first element is "capital"'
    assert asked(handler, "SELECT capital[1] FROM lands")["notes"] == [f"{note}->>0"]
    assert "notes" not in asked(handler, "SELECT name[1], (capital->'$')[1] FROM lands")


@each("condition", ["memo = ''", "'' = memo OR memo = ''", "memo IN ('a', '')"])
def test_that_empty_cells_are_null_is_told_once(handler, condition):
    note = "no row of memos has memo = ''; its empty cells are NULL: write IS NULL"
    assert asked(handler, f"SELECT * FROM memos WHERE {condition}")["notes"] == [note]
    assert in_japanese(note).endswith("IS NULL と書いてください")


@each(
    ("condition", "is_told"),
    [
        ("memo <> 'a'", True),
        ("true AND ('a' != memo AND length('x') > 0)", True),
        ("memo NOT IN ('a', 'b')", True),
        ("memo NOT LIKE 'a%' AND memo NOT ILIKE 'b'", True),
        ("NOT memo = 'a'", True),
        ("NOT (memo <> 'a')", False),
        ("memo <> 'a' OR memo IS NULL", False),
        ("memo <> 'a' AND length(memo) > 0", False),
        ("memo <> 'a' OR 1 > 0", False),
        ("memo IS DISTINCT FROM 'a'", False),
        ("memo NOT IN ('', 'a')", False),
        ("coalesce(memo <> 'a', true)", False),
        ("(memo <> 'a') IS NULL", False),
        ("memo IN ('a') OR memo LIKE 'b'", False),
    ],
)
def test_that_rows_without_a_text_are_left_out_as_well_is_told_once(handler, condition, is_told):
    note = 'rows whose memo is NULL are left out, too; (… OR "memo" IS NULL) keeps them'
    said = asked(handler, f"SELECT memo <> 'b' FROM memos WHERE {condition}").get("notes", [])
    assert said == [note] * is_told
    assert in_japanese(note).endswith('(… OR "memo" IS NULL) とすると残ります')


def test_that_rows_without_a_text_are_left_out_displaces_no_other_note(handler):
    many = " AND ".join(f"memo <> '{sign}'" for sign in "abababababab")
    query = f"SELECT * FROM memos AS a, stores WHERE {many} AND name = 'いおん'"
    assert "nearest: 'イオン'" in asked(handler, query)["notes"][0]


@each(
    ("condition", "write"),
    [
        ("""at" = '2025-06-30'""", '"at"::DATE = '),
        ("""時　刻" <> '2025-06-30'""", '"時　刻"::DATE <> '),
        ("""where" = '二行'""", r"E'二\n行'"),
        (r"""said" = 'its 一\行'""", r"'it''s 一\行'"),
    ],
)
def test_names_and_values_can_be_pasted_from_a_note(handler, condition, write):
    (said,) = asked(handler, f'SELECT * FROM hours WHERE "{condition}')["notes"]
    assert write in said
    if "nearest" in said:
        query = f'SELECT * FROM hours WHERE "{condition.partition("=")[0]} = {write}'
        assert len(asked(handler, query)["rows"]) == 1


def test_a_list_of_days_is_one_trap_beside_the_others(handler):
    days = ", ".join(f"'{date(2025, 6, 30) - timedelta(day)}'" for day in range(1_000))
    query = f"SELECT * FROM visits WHERE at_time NOT IN ({days}) OR id = NULL"
    said = asked(handler, query)["notes"]
    (told,) = asked(handler, "SELECT * FROM calls WHERE rang <> '2025-06-30'")["notes"]
    assert told.endswith('write "rang"::DATE <> the day')
    assert sorted(note.split()[0] for note in said) == ["=", "IN"]


def test_a_trap_is_named_when_our_statement_is_around_the_query_or_it_is_exported(handler):
    query = "SELECT yen FROM visits WHERE at_time <= '2025-06-30'"
    assert len(asked(handler, query, "SELECT count(*) FROM {source}")["notes"]) == 1
    export = {"do": "export", "source": query, "max_rows": 9, "file": "x.csv", "format": "csv"}
    assert len(handler.handle(export | {"notes": True})["notes"]) == 1


@each("query", ["SUMMARIZE visits", "SELECT q25 FROM (SUMMARIZE SELECT yen FROM visits)"])
def test_a_summary_says_which_of_its_figures_are_estimates(handler, query):
    (said,) = asked(handler, query)["notes"]
    assert said.startswith("SUMMARIZE estimates approx_unique, q25, q50 and q75; count(DISTINCT x)")
    assert "notes" not in asked(handler, "DESCRIBE visits")


@each(
    ("condition", "nearest"),
    [
        ("= 'いおん'", "; nearest: 'イオン'"),
        ("= 'ミカン'", "; nearest: 'ﾐｶﾝ'"),
        ("= 'リンコ'", "; nearest: 'りんご'"),
        ("= 'AMAZON'", "; nearest: 'ＡＭＡＺＯＮ', 'Amazon.co.jp'"),
        ("= 'ブドウ'", ""),
        ("LIKE '%JR%'", "; nearest: 'ＪＲ東'"),
        ("ILIKE 'amazon'", "; nearest: 'ＡＭＡＺＯＮ', 'Amazon.co.jp'"),
    ],
)
def test_a_name_in_other_kana_width_or_case_is_near(handler, condition, nearest):
    (said,) = asked(handler, f"SELECT count(*) FROM stores WHERE name {condition}")["notes"]
    assert said == f"no row of stores has name {condition}{nearest}"


@each(
    ("condition", "nearest"),
    [("code = '12'", "'000012', "), ("code <> '0012'", "'000012', "), ("no = 'A-12'", "'A-0012'")],
)
def test_a_code_without_its_leading_zeros_is_nearest_to_the_one_with_them(
    handler, condition, nearest
):
    (said,) = asked(handler, f"SELECT count(*) FROM parts WHERE {condition}")["notes"]
    assert f"; nearest: {nearest}" in said


def test_among_many_long_texts_the_nearest_are_found_in_a_moment(handler, monkeypatch):
    monkeypatch.setattr("mdvec.sql.child.handler._SECONDS_FOR_NEAREST", 60)  # on a busy machine
    began = time.monotonic()
    missing = [hashlib.sha256(bytes([number])).hexdigest() for number in range(3)]
    texts = ", ".join(map(repr, [*missing, "７７７７支点"]))
    answer = asked(handler, f"SELECT i FROM prints WHERE hash IN ({texts}) OR i < 3")
    assert [len(answer["rows"]), len(answer["notes"])] == [3, 4]
    assert answer["notes"][3].endswith("; nearest: '7777支店'")
    assert time.monotonic() - began < 10  # each of them with each row took four times that


def test_a_look_for_the_nearest_that_takes_too_long_costs_only_itself(handler, monkeypatch):
    monkeypatch.setattr("mdvec.sql.child.handler._SECONDS_FOR_NEAREST", 0.001)
    answer = asked(handler, "SELECT i FROM prints WHERE hash IN ('7777支点', 'zz') OR i < 3")
    assert len(answer["rows"]) == 3
    assert answer["notes"] == [
        f"no row of prints has hash = '{text}'" for text in ("7777支点", "zz")
    ]


@each(
    "query",
    [
        "WITH k AS (SELECT id FROM visits) SELECT * FROM rooms WHERE id NOT IN (SELECT id FROM k)",
        "WITH k AS (SELECT id FROM visits), m AS (SELECT * FROM k) "
        "SELECT * FROM rooms WHERE id NOT IN (SELECT id FROM m)",
        "SELECT * FROM (WITH k AS (SELECT id FROM visits) "
        "SELECT * FROM rooms WHERE id NOT IN (SELECT id FROM k))",
        "WITH rooms AS (SELECT NULL AS id), r AS (SELECT 5 AS id) "
        "SELECT * FROM r WHERE id NOT IN (SELECT id FROM rooms)",
        "WITH visits AS (SELECT 5 AS id WHERE 5 NOT IN (SELECT id FROM visits)) "
        "SELECT * FROM visits",
    ],
)
def test_the_nulls_of_a_subquery_are_those_of_the_tables_that_it_reads(handler, query):
    (said,) = asked(handler, query)["notes"]
    assert said.startswith("NOT IN is never true while its subquery gives NULL")


@each(
    "query",
    [
        "visits",
        "WITH visits AS (SELECT * FROM visits WHERE id IS NOT NULL) "
        "SELECT * FROM rooms WHERE id NOT IN (SELECT id FROM visits)",
        "WITH k AS (SELECT NULL AS id) SELECT * FROM "
        "(WITH k AS (SELECT 1 AS id) SELECT * FROM rooms WHERE id NOT IN (SELECT id FROM k))",
        "SELECT * FROM guests WHERE town = ''",
        "SELECT * FROM memos WHERE memo <> '' AND '' <> memo",
        "SELECT * FROM memos WHERE memo NOT IN ('a', '')",
        "SELECT * FROM memos m WHERE m.memo IS NULL OR memo = ''",
        "SELECT count(*) FILTER (WHERE memo = '') FROM memos WHERE Memo IS NOT NULL",
        "SELECT * FROM visits WHERE id NOT IN (SELECT id FROM visits WHERE id IS NOT NULL)",
        "SELECT * FROM visits WHERE id IN (SELECT id FROM visits)",
        "SELECT * FROM visits WHERE at_time BETWEEN '2025-06-29' AND '2025-06-30 23:59'",
        "SELECT * FROM visits WHERE day BETWEEN '2025-06-29' AND '2025-06-30'",
        "SELECT * FROM visits WHERE shop = '東京駅'",
        "SELECT * FROM visits WHERE shop <> '京都' AND shop NOT LIKE '京%' AND yen = 7",
        "SELECT * FROM closings WHERE night NOT BETWEEN '2025-06-29' AND '2025-06-30'",
        "WITH visits AS (SELECT upper('a') AS shop) SELECT * FROM visits WHERE shop = 'A'",
        "SELECT * FROM (SELECT shop || '!' AS shop FROM visits) WHERE shop = '京都!'",
        "SELECT * FROM visits v, (SELECT 'x' AS shop) o WHERE o.shop = 'x'",
        "SELECT 7 / 2 FROM visits",
        "SELECT * FROM visits USING SAMPLE 2 ROWS",
        "SELECT * FROM visits WHERE day <= '2025-06-30' AND at_time < '2025-07-01'",
        "SELECT * FROM closings WHERE night BETWEEN '2025-06-29' AND '2025-06-30'",
        "SELECT * FROM visits WHERE at_time <= '2025-07-02'",
        "SELECT * FROM visits WHERE id IS NULL",
        "SELECT * FROM visits WHERE at_time::DATE = '2025-06-30' OR at_time = '2025-07-02'",
        "SELECT * FROM visits WHERE at_time = TIMESTAMP '2025-06-30'",
        "SELECT * FROM visits WHERE at_time IN ('2025-06-28', TIMESTAMP '2025-06-30')",
        "SELECT * FROM closings WHERE night = '2025-06-30' OR night > '2025-06-30'",
        "SELECT shop || '!' AS shop, count(*) FROM visits GROUP BY ALL HAVING shop = '京都!'",
        "SELECT shop || '!' AS shop FROM visits ORDER BY shop = '京都!'",
        "SELECT * FROM visits WHERE yen BETWEEN 100 AND 100 OR '9' BETWEEN yen AND 10",
        "SELECT * FROM visits WHERE yen BETWEEN '9' AND '10'",
    ],
)
def test_nothing_is_said_of_queries_without_a_trap(handler, query):
    assert "notes" not in asked(handler, query)


def test_each_trap_of_a_query_is_looked_at(handler):
    query = (
        "SELECT * FROM guests WHERE id NOT IN (SELECT id FROM rooms) "
        "AND id NOT IN (SELECT id FROM visits) AND town = 'Kyto'"
    )
    note = "NOT IN is never true while its subquery gives NULL; leave NULLs out, or use NOT EXISTS"
    missing = "no row of guests has town = 'Kyto'; nearest: 'Kyoto'"
    assert sorted(asked(handler, query)["notes"]) == [note, missing]
    (short,) = asked(handler, "SELECT * FROM visits WHERE shop = '京郁'")["notes"]
    assert "nearest: '京都'" in short


def test_a_pivot_finds_the_values_of_its_column(handler):
    pivoted = asked(handler, "PIVOT visits ON shop USING sum(yen) GROUP BY day ORDER BY day;")
    assert [name for name, _ in pivoted["columns"]] == ["day", "京都", "京都駅", "東京駅"]
    assert pivoted["rows"][0] == ["2025-06-29", None, None, 100]
    inner = "PIVOT (SELECT id, yen FROM visits) ON id USING max(yen)"
    assert asked(handler, inner)["rows"] == [[100, 200]]
    with pytest.raises(QueryRefused, match="more than 200 values"):
        asked(handler, "PIVOT (SELECT range AS n FROM range(201)) ON n USING count(*)")


def test_what_cannot_be_read_in_a_pivot_is_told_at_its_place_in_the_given_text(handler):
    query = "PIVOT visits ON shop USING sum(yen) GROUP BY year(day)"
    place = rf'near "\(" \(at byte {query.index("(day") + 1}\)'
    with pytest.raises(QueryRefused, match=rf"{place}; GROUP BY of a PIVOT takes only names of"):
        asked(handler, query)
    with pytest.raises(QueryRefused, match=r'near "\)" \(at byte 37\)$'):
        asked(handler, "PIVOT visits ON shop USING sum(yen +) GROUP BY day")
    in_subquery = "PIVOT (SELECT *, year(day) AS y FROM visits) ON shop USING sum(yen) GROUP BY y"
    assert asked(handler, in_subquery)["columns"][0][0] == "y"


def test_columns_of_functions_have_readable_names_in_answers_and_files(handler):
    query = 'SELECT year(day), version() IS NULL, yen AS "税込 ""円""" FROM visits LIMIT 1'
    columns = ["year(day)", "(version() IS NULL)", '税込 "円"']
    assert [name for name, _ in asked(handler, query)["columns"]] == columns
    request = {"do": "export", "source": query, "format": "csv", "max_rows": 9, "file": "a.csv"}
    assert [name for name, _ in handler.handle(request)["columns"]] == columns
    (line, *_) = (handler.spool / "a.csv").read_text(encoding="utf-8").splitlines()
    assert line.startswith("year(day),(version() IS NULL)")


@each(
    ("query", "names"),
    [
        ("SELECT 気温(℃) FROM rain", '"気温(℃)"'),
        ("SELECT avg(前橋 気温(℃)), '気温(℃)', sum(n) FROM rain", '"前橋 気温(℃)"'),
        ("SELECT n-n, 気温(℃) FROM rain", '"気温(℃)"'),
    ],
)
def test_a_column_whose_name_has_signs_is_to_be_quoted(handler, query, names):
    with pytest.raises((QueryRefused, duckdb.Error)) as failed:
        asked(handler, query)
    said = handler.advised({"source": query}, QueryFailed(str(failed.value)))
    assert str(said).endswith(f"a name with signs stands in double quotes: {names}")


def test_a_column_whose_name_is_a_word_of_sql_is_to_be_quoted(handler):
    query = "SELECT id, 'order by' FROM stays WHERE order < 3"
    with pytest.raises(QueryRefused) as refused:
        asked(handler, query)
    said = handler.advised({"source": query}, QueryFailed(str(refused.value)))
    assert str(said).endswith('order is a word of SQL; write "order"')


@each(
    ("query", "form"),
    [
        ("SELECT id、yen FROM visits", "SELECT id,yen FROM visits"),
        ("SELECT sum(yen） FROM visits", "SELECT sum(yen) FROM visits"),
        ("SELECT id FROM visits WHERE shop＝'京都（東）＝１'",
         "SELECT id FROM visits WHERE shop='京都（東）＝１'"),
        ("SELECT id　FROM visits WHERE yen ＞ １００ AND shop = ‘店１、２’；",
         "SELECT id FROM visits WHERE yen > 100 AND shop = '店１、２';"),
        ("SELECT id FROM visits WHERE yen×2 ≧ 100 AND yen÷2 ≦ 90 AND shop≠'a≠b' AND yen−1 > 2",
         "SELECT id FROM visits WHERE yen*2 >= 100 AND yen/2 <= 90 AND shop<>'a≠b' AND yen-1 > 2"),
        ("SELECT id FROM visits WHERE shop≠’x、y’ OR ”shop” = ‘z’",
         "SELECT id FROM visits WHERE shop<>'x、y' OR \"shop\" = 'z'"),
    ],
)  # fmt: skip
def test_signs_of_full_width_are_named_with_the_query_that_runs(handler, query, form):
    with pytest.raises((QueryRefused, duckdb.Error)) as refused:
        asked(handler, query)
    message = str(handler.advised({"source": query}, QueryFailed(str(refused.value))))
    assert message.endswith(f"; signs of full width are no SQL; write: {form}")


def test_an_error_advises_no_setting_for_none_can_be_made(handler):
    with pytest.raises(duckdb.Error) as failed:
        asked(handler, "SELECT yen // 0 FROM visits")
    error = refusal_of(failed.value, seconds=1, memory_mb=1, export_bytes=1, hidden={})
    assert str(error).endswith("Use TRY(...) to return NULL for this expression")


def test_an_ambiguous_column_names_every_table_that_has_it(handler):
    query = "SELECT id FROM visits JOIN guests ON true JOIN rooms ON true"
    with pytest.raises(duckdb.BinderException) as failed:
        asked(handler, query)
    said = handler.advised({"source": query}, QueryFailed(str(failed.value)))
    assert str(said).endswith("id is a column of visits, guests, rooms")
