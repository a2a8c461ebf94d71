"""Columns that stay texts: what kept them so, and which choice makes them numbers or dates."""

from collections.abc import Sequence
from datetime import date, datetime
from itertools import zip_longest

import duckdb
from source_folder import chosen, converted, rows_in
from table_of_cases import each

from mdvec.datasets.core.value_types import trimmed

KEPT_TEXT = [
    (["581.01861572265625", "0.1234567890123456789", "1.5"],
     "0.1234567890123456789 (1) kept it text among 2 numbers; numbers of too many digits are "
     "kept as text"),
    (["0.1234567890123456789", "NA"],
     "0.1234567890123456789 (1) kept it text; numbers of too many digits are kept as text"),
    (["$999999999999999.99", "$1.50"],
     '"$999999999999999.99" (1) kept it text among 1 number; numbers of too many digits '
     "are kept as text"),
    (["割引率", "MD1", "％", "済", *map(str, range(40))],
     "MD1 (1), 割引率 (1), 済 (1) and 1 more kept it text among 40 numbers"),
    (["0.0074", "0.2397", *(f'"{n},193"' for n in range(4, 9)), '"4,193 (water)"'],
     '"4,193 (water)" (1), 0.0074 (1), 0.2397 (1) kept it text among 5 numbers'),
    (["R6.4.1", "R6.4.2", "R6.4.30", "合計"], "合計 (1) kept it text among 3 dates"),
    (["R6.4.1", "R6.2.30"], "R6.2.30 (1) kept it text among 1 date"),
    (["2024年1月1日(月)", "2024年1月2日（火）", "2024/1/3(月)"],
     "2024/1/3(月) (1) kept it text among 2 dates"),
    (["2024/1/1 (月)", "2024/01/02(火)", "2024/1/3(月)"],
     "2024/1/3(月) (1) kept it text among 2 dates"),
    (["2025-02-30", "2025-02-28"], "2025-02-30 (1) kept it text among 1 date"),
    (["2025/6/1", "2025/6/31", "2025/6/2"], "2025/6/31 (1) kept it text among 2 dates"),
    (["令和7年2月30日", "令和7年2月1日"], "令和7年2月30日 (1) kept it text among 1 date"),
    (["1/31/2025", "1/30/2025", "31/1/2025"], "31/1/2025 (1) kept it text among 2 dates"),
    (["+5", *map(str, range(1, 9))], '"+5" (1) kept it text among 8 numbers'),
    (["1.5%", *map(str, range(9))], '"1.5%" (1) kept it text among 9 numbers'),
    (["5", *(f"{n}%" for n in range(9))], "5 (1) kept it text among 9 numbers"),
    (["±0", "(¥30)", '"1,234"', '"(1,234)"', "5"], '"±0" (1) kept it text among 4 numbers'),
    (["(85)", '"(1,234)"', "(不明)"], "(不明) (1) kept it text among 2 numbers"),
    (["true", "false", "調査中"], "調査中 (1) kept it text among 2 values"),
    ([*map(str, range(300)), *[f'"{n},000"' for n in range(1, 300)] * 5, "x"],
     "x (1) kept it text among 1,795 numbers"),
    ([*map(str, range(10)), "不明", "欠測", "中止", "休", "NA", "NA"],
     "不明 (1), 中止 (1), 休 (1) and 1 more kept it text among 10 numbers; NA (2) kept as text; "
     "--read '値=na:NA' makes it NULL"),
    (["あ", "い", "　　NA"], "NA (1) kept as text; --read '値=na:NA' makes it NULL"),
    ([*map(str, range(10)), "不明", "　　　NA　"],
     "不明 (1) kept it text among 10 numbers; --read '値=na:不明' makes it NULL; NA (1) kept as "
     "text; --read '値=na:NA' makes it NULL"),
]  # fmt: skip


@each(("cells", "note"), KEPT_TEXT)
def test_what_keeps_a_column_of_numbers_or_dates_text_is_said(folder, cells, note):
    said = converted(folder, "\n".join(["b,値", *(f"x,{cell}" for cell in cells)]))
    assert f"{said}; ".startswith(f"値: {note}; ")


@each("odd", ["0099", "1e3", "2E3", "12345678901234567890", "△ x3", "合計", "値"])
def test_a_value_a_total_and_a_name_are_not_proposed_to_be_null(folder, odd):
    numbers = [f"{n},1" for n in range(10, 20)]
    said = str(converted(folder, "\n".join(["値,b", f"{odd},1", *numbers])))
    assert "(1) kept it text among 10 numbers" in said
    assert "na:" not in said


def test_whole_numbers_that_may_all_be_days_are_told(folder):
    said = "入社日: numbers such as 20250401 may be days; strptime(x::VARCHAR, '%Y%m%d') gives them"
    text = "番号,入社日\n1,20250401\n20240401,20240401\n"
    assert str(converted(folder, text)) == said
    rows = text + "2,20250401\n" * 2_000  # a day that there is not, below those that are looked at
    said = said.replace("strptime", "try_strptime") + ", and NULL for others such as 20250231"
    assert str(converted(folder, f"{rows}3,20250231\n")) == said


SIGNS: list[tuple[list[str], Sequence[float | str | None]]] = [
    (["△ 1", "2", "▲ 1,000"], [-1, 2, -1000]),
    (["+5", "-3", "2"], [5, -3, 2]),
    (["+5", "△ 3", "0"], [5, -3, 0]),
    (["△1.234", "+0.50", "0.00"], [-1.234, 0.5, 0]),
    (["△１．２３", "＋0.50", "0"], [-1.23, 0.5, 0]),
    (["+1.5", "2"], [1.5, 2.0]),
    (["+1.5%", "-2%"], [1.5, -2.0]),
    (["+819012345678", "+818011112222"], ["+819012345678", "+818011112222"]),
    (["1", "―", "–", "ー"], [1, None, None, None]),
    (["12345678901.123456", "1.5"], ["12345678901.123456", "1.5"]),
    (["0.30000000000000004", "1.5"], [0.30000000000000004, 1.5]),
    (["581.01861572265625", "NA"], [581.01861572265625, None]),
    (["0.100000001490116119384765625", "+1"], [0.100000001490116119384765625, 1.0]),
    (["1.50000000000000000000", "1e-9"], [1.5, 1e-9]),
    (["$99,999,999,999,999.25", "1"], [99999999999999.25, 1.0]),
    *(([text, "1.5"], [text, "1.5"]) for text in (
        "999999999999999.99", "414940414189921.05", "¥999,999,999,999,999.99",
        "－414,940,414,189,921.05", "-999999999999999.99",
    )),
    *((texts, texts) for texts in (
        ["($999,999,999,999,999.99)", "$1"], ["£414940414189921.05", "£1"],
        ["12345678901234.123456%", "1%"], ["€414,940,414,189,921.05", "€1.5"],
        ["414.940.414.189.921,05 €", "1,5 €"], ["414.940.414.189.921,05", "1,5"],
    )),
]  # fmt: skip


def test_signs_dashes_and_long_fractions_are_read_whole_or_not_at_all(folder):
    """Each is a column of one file, filled up with empty cells; no column decides another."""
    cells = zip_longest(*(texts for texts, _ in SIGNS), fillvalue="")
    rows = [",".join(f'"{text}"' for text in row) for row in cells]
    converted(folder, "\n".join([",".join(f"c{at}" for at in range(len(SIGNS))), *rows]))
    found = [list(column) for column in zip(*rows_in(folder).fetchall(), strict=True)]
    wanted = [[*values, *[None] * (len(rows) - len(values))] for _, values in SIGNS]
    assert found == wanted


def test_a_cell_that_no_shell_takes_as_it_is_is_named_without_a_command(folder):
    said = str(converted(folder, f"x,y\n1,1\n2,2\n3,3\n{'注' * 41},\x1b[31m\n"))
    assert said.count("kept it text among 3 numbers") == 2
    assert "--read" not in said
    assert "\x1b" not in said


@each(
    ("header", "choice"), [("年　次,人　口", "'人　口=na:※'"), ('年,"人\n口"', r"$'人\n口=na:※'")]
)
def test_a_name_with_a_full_width_space_or_a_line_break_is_told_as_it_is_chosen(
    folder, header, choice
):
    rows = "".join(f"{2015 + n},{n}\n" for n in range(9))
    text = f"{header}\n{rows}2024,※\n"
    assert str(converted(folder, text)).endswith(f"--read {choice} makes it NULL")
    if "\n" not in header:
        read = converted(folder, text, reading=chosen("人　口=na:※"))
        assert [(column.name, column.type) for column in read.columns] == [
            ("年　次", "BIGINT"), ("人　口", "BIGINT"),
        ]  # fmt: skip


@each(
    ("text", "choice", "rows"),
    [
        ("y\n1e5\n-2E3\n007\n.5\n", "y=number", [(100_000,), (-2_000,), (7,), (0.5,)]),
        ("日,部品\nR7.1.2,R1.2.3\nS64/1/7,R10.13.1\nH31-04-30,M1.1.1\n", "日=date",
         [(date(2025, 1, 2), "R1.2.3"), (date(1989, 1, 7), "R10.13.1"),
          (date(2019, 4, 30), "M1.1.1")]),
        ("年,うち女性\n2000年,(400)\n2001年,(85)\n", "うち女性=number:plus",
         [("2000年", 400), ("2001年", 85)]),
        ("年,うち女性\n2000年,(400)\n2001年,(85)\n", "うち女性=number",
         [("2000年", -400), ("2001年", -85)]),
    ],
)  # fmt: skip
def test_what_may_be_read_in_two_ways_is_read_as_chosen(folder, text, choice, rows):
    converted(folder, text)
    assert str in {type(value) for row in rows_in(folder).fetchall() for value in row}
    converted(folder, text, reading=chosen(choice))
    assert rows_in(folder).fetchall() == rows


@each(
    ("times", "told"),
    [
        ("2024-01-05 10:00\n2024-01-06T10:00:05\n", ""),
        ("2024/1/5 10:00\n2024-01-06 24:00\n", '"2024-01-06 24:00"'),
        ("2024-01-05 10:00\n2024/1/6\n", "2024/1/6"),
        ("2024年1月5日 9時05分\n2024年1月5日 9時06分\n", "2024年1月5日 9時05分"),
        ("2024-01-05 10:00:00\n2024-01-06 24:00:00\n", '"2024-01-06 24:00:00"'),
    ],
)
def test_times_that_a_file_writes_in_another_form_are_told_like_days(folder, times, told):
    assert str(converted(folder, f"at\n{times}")) == (f"at: {told} → TIMESTAMP" if told else "")
    last = rows_in(folder).fetchall()[1]
    assert last == (datetime.fromisoformat("2024-01-07"),) or "24:00" not in times


def test_python_trims_a_cell_as_duckdb_does():
    cells = [f"{sign}x{sign}" for sign in map(chr, range(1, 0xD800))]
    query = "SELECT list_transform(?::VARCHAR[], lambda cell: trim(cell))"
    ((by_duckdb,),) = duckdb.execute(query, [cells]).fetchall()
    assert by_duckdb == list(map(trimmed, cells))
