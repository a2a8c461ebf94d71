"""Workbooks: every cell as its sheet means it, and what a sheet says beside its values."""

import zipfile
from datetime import date, datetime, time

import pytest
from source_folder import left_out, notes_of, problems, told, workbook

from mdvec.japanese import in_japanese

at = datetime.fromisoformat


def test_a_sheet_without_a_header_loses_no_row(files):
    days = [(date(2025, 1, day), "a", day) for day in (1, 2, 3)]
    workbook(files.folder / "a.xlsx", ("s", days))
    workbook(files.folder / "b.xlsx", ("s", [("a", 1), ("b", 2)]))
    report = files.import_("new")
    assert files.read("t__a") == days
    assert "--read header=none" in problems(report)["b.xlsx"]
    files.choose("header=none", pattern="b.xlsx")
    assert files.content("t__b") == (
        {"column1": "VARCHAR", "column2": "BIGINT"}, [("a", 1), ("b", 2)],
    )  # fmt: skip


def test_what_a_sheet_says_beside_its_values_is_read(files):
    rows = [
        ["地域", "店", "額", "番号", "メモ", "入金"],
        ["東", "a", 100, 12, "一_x000D_\n二", 5],
        [None, "b", None, 345, "x_x005F_x000D_", 7.5],
        [None, "小計", 100, None, None, None],
        ["西", "c", 50, 1234567, None, 9],
        ["総　計", None, 150, None, None, None],
    ]
    yen = "[$¥-411]#,##0;[Red]\\-[$¥-411]#,##0"
    formats = {"F2": '"¥"#,##0', "F3": "[$€-407]#,##0.00", "F5": r"\$#,##0.00"}
    for row in range(2, 7):
        formats |= {f"D{row}": "0000000", f"C{row}": yen}
    book = workbook(files.folder / "a.xlsx", ("s", rows), merged="A2:A4 C2:C3", formats=formats)
    book["s"].row_dimensions[5].hidden = True
    for column in "BE":
        book["s"].column_dimensions[column].hidden = True
    book.save(files.folder / "a.xlsx")
    report = files.import_("new")
    rows = [
        ("東", "a", 100, "0000012", "一\n二", "¥5"),
        ("東", "b", None, "0000345", "x_x000D_", "€7.5"),
        ("東", "小計", 100, None, None, None),
        ("西", "c", 50, "1234567", None, "$9"),
        ("総　計", None, 150, None, None, None),
    ]
    assert files.content("t__a") == (
        {"地域": "VARCHAR", "店": "VARCHAR", "額": "BIGINT", "番号": "VARCHAR", "メモ": "VARCHAR",
         "入金": "VARCHAR"},
        rows,
    )  # fmt: skip
    assert notes_of(report)[0] == (
        "merged cells are filled down: 1",
        "merged cells with a number count in their first row only: 1",
        "rows of totals are among the others: 4, 6; leave them out with --read totals=out",
        "hidden rows are read as well: 5",
        "hidden columns are read as well: 店, メモ",
        "cells of a column are formatted in several currencies, so it is text",
    )
    files.choose("totals=out")
    assert files.read("t__a") == [rows[0], rows[1], rows[3]]


def test_three_rows_of_names_that_a_merged_cell_joins_become_one_and_notes_are_told(files):
    rows = [
        ["店", "売上", None, None, None, "費用", None],
        [None, "国内", None, "海外", None, "国内", "計"],
        [None, "4月", "5月", "4月", "5月", "4月", None],
        ["東京", 1, 2, 3, 4, 5, 6],
        ["※ 税込"],
    ]
    workbook(files.folder / "a.xlsx", ("s", rows), merged="A1:A3")
    assert notes_of(files.import_("new"))[0] == (
        "the columns' names are in rows 1 to 3",
        'the last rows hold one text each: "※ 税込"; leave out notes with --read notes=out',
    )
    names = (
        "店", "売上 国内 4月", "売上 国内 5月", "売上 海外 4月", "売上 海外 5月", "費用 国内 4月",
        "費用 計",
    )  # fmt: skip
    assert tuple(files.content("t__a")[0]) == names
    files.choose("notes=out")
    assert files.read("t__a") == [("東京", 1, 2, 3, 4, 5, 6)]


PEOPLE_AND_AREA = [["市", "人口", None, None, None], [None, "男", "女", "面積", "予算"]]
TWO_GROUPS = [
    ["市", "人口", None, "男女別", None, None], [None, "総数", "増減", "男", "女", "世帯数"],
]  # fmt: skip
THREE_ROWS = [
    ["市", "人口", None, None, None], [None, "本土", None, "離島", None],
    [None, "男", "女", "男", "面積"],
]  # fmt: skip


def test_the_name_of_a_group_extends_over_its_merged_cells(files):
    cases = {
        "people": (PEOPLE_AND_AREA, "A1:A2 B1:C1", "市,人口 男,人口 女,面積,予算"),
        "plain": (PEOPLE_AND_AREA, "A1:A2", "市,人口 男,人口 女,人口 面積,人口 予算"),
        "groups": (
            TWO_GROUPS, "A1:A2 B1:C1 D1:E1", "市,人口 総数,人口 増減,男女別 男,男女別 女,世帯数",
        ),
        "deep": (
            THREE_ROWS, "A1:A3 B1:D1 B2:C2", "市,人口 本土 男,人口 本土 女,人口 離島 男,面積",
        ),
    }  # fmt: skip
    for name, (header, merged, _) in cases.items():
        width = len(header[0])
        rows = [["東京", 1, 2, 3, 4, 5][:width], ["大阪", 6, 7, 8, 9, 10][:width]]
        workbook(files.folder / f"{name}.xlsx", ("s", [*header, *rows]), merged=merged)
    files.import_("new")
    found = {name: ",".join(files.types(f"t__{name}")) for name in cases}
    assert found == {name: names for name, (*_, names) in cases.items()}


def test_the_first_row_below_a_header_of_two_rows_is_no_third(files):
    cases = {"a": ("欠席 欠席 欠席 欠席", "F1:F5"), "b": ("○ × ○ ○", ""),
             "c": ("東京 大阪 東京 大阪", "F1:F5")}  # fmt: skip
    for name, (first, remark) in cases.items():
        rows = [
            ["氏名", "前期", None, "後期", None, remark],
            [None, "国語", "数学", "国語", "数学"],
            ["田中", *first.split()],
            ["佐藤", 80, 70, 90, 60],
            ["鈴木", 70, 60, 80, 50],
        ]
        merged = f"A1:A2 B1:C1 D1:E1 {remark}"
        workbook(files.folder / f"{name}.xlsx", ("s", rows), merged=merged)
    files.import_("new")
    for name in cases:
        columns, read = files.content(f"t__{name}")
        assert list(columns)[:3] == ["氏名", "前期 国語", "前期 数学"], name
        assert [row[0] for row in read] == ["田中", "佐藤", "鈴木"], name


def test_the_parts_of_a_workbook_may_be_without_a_folder(files):
    rows = [("店", "月", "額"), ("東", 1, 5), (None, 2, 6)]
    workbook(files.folder / "a.xlsx", ("s", rows), merged="A2:A3")
    with zipfile.ZipFile(files.folder / "a.xlsx") as made:
        parts = {part: made.read(part) for part in made.namelist()}
    with zipfile.ZipFile(files.folder / "a.xlsx", "w") as made:
        for part, text in parts.items():
            moved = text.replace(b"/xl/", b"/").replace(b'"xl/', b'"')
            made.writestr(part.removeprefix("xl/"), moved)
    files.import_("new")
    assert files.read("t__a") == [("東", 1, 5), ("東", 2, 6)]


def test_the_last_row_within_a_merged_cell_is_no_note(files):
    for name, group in (("a", "野菜"), ("b", 2025)):
        rows = [("分類", "品名", "在庫"), ("果物", "りんご", 3), (group, "にんじん", 7)]
        workbook(files.folder / f"{name}.xlsx", ("s", [*rows, (None, "ごぼう")]), merged="A3:A4")
    report = files.choose("notes=out", mode="new")
    for name in "ab":
        assert files.read(f"t__{name}", "品名") == [("りんご",), ("にんじん",), ("ごぼう",)]
    assert "note" not in str([line.text for line in report.lines()])


POSTAL = "[<=999]000;[<=9999]000-00;000-0000"


FORMATS = [
    (["000-0000", POSTAL, r"000\-0000"], ["060-0001"] * 3),
    ([POSTAL, "000-0000", '"〒"000-0000'], ["060-0001", "060-0001", "〒060-0001"]),
    (["(000) 000-0000", "0000000", "0000"], ["(000) 060-0001", "0600001", "600001"]),
    (['"US$"#,##0', '"A$"#,##0', "$#,##0"], ["US$600001", "A$600001", "$600001"]),
    (['#,##0"個"', '#,##0"箱"', "#,##0"], ["600001個", "600001箱", "600001"]),
    (["[$¥-411]#,##0", '#,##0"円"', '"¥"#,##0'], [600001] * 3),
    (['#,##0"個"', '#,##0;"▲"#,##0', r"_-* #,##0\ _€_-"], [600001] * 3),
    (["0", "0.00E+00", '#,##0,"千円"'], [600001] * 3),
]
"""The formats of the cells of a column, each with the number 600001, and what is read."""


def test_numbers_of_a_sheet_are_read_as_their_formats_mean_them(files):
    names = [f"v{number}" for number in range(len(FORMATS))]
    rows = [["a", *names], *([text, *[600001] * len(FORMATS)] for text in "xyz")]
    formats = {
        f"{column}{row}": shown
        for column, (of_column, _) in zip("BCDEFGHI", FORMATS, strict=True)
        for row, shown in enumerate(of_column, 2)
    }
    workbook(files.folder / "a.xlsx", ("s", rows), formats=formats)
    files.import_("new")
    read = [list(column) for column in zip(*files.read("t__a", ", ".join(names)), strict=True)]
    assert read == [values for _, values in FORMATS]


TOTALS = ["計", "合計：", "Total:", "合計(税込)", "総　計", "東京 計", "【小計】", "月計 合計"]


NO_TOTALS = ["会 計", "時計", "合計額の内訳", "計画", "A"]


@pytest.mark.parametrize("place", [0, 2])
def test_one_of_the_first_three_texts_of_a_row_names_a_total(files, place):
    rows = [("A", 1, "x", "合計", 3), ("B", 2, None, None, 4), (None,) * 4 + (9,)]
    for name in (*TOTALS, *NO_TOTALS):
        cells = ["東京", 5, "都内", "注", 7]
        rows.append((*cells[:place], name, *cells[place + 1 :]))
    names = ("地域", "番号", "市", "備考", "額")
    workbook(files.folder / "a.xlsx", ("s", [names, *rows]))
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in [names, *rows]]
    files.write("b.csv", "\n".join(lines))
    files.choose("totals=out", mode="new")
    left = [row for row in rows if row[place] not in TOTALS]
    assert files.read("t__a") == files.read("t__b") == left


def test_a_last_row_with_a_formula_without_a_value_is_no_note(files):
    rows = [("店", "数", "額"), ("東京", 1, 2), ("京都", 3, 4), ("合計", None, "=SUM(C2:C3)")]
    workbook(files.folder / "a.xlsx", ("s", [*rows, ("※ 税込",)]))
    report = files.choose("notes=out", mode="new")
    assert files.read("t__a") == [("東京", 1, 2), ("京都", 3, 4), ("合計", None, None)]
    assert 'notes below the table are left out: "※ 税込"' in notes_of(report)[0]


def test_rows_of_errors_or_formulas_without_a_value_are_rows_of_null(files):
    book = workbook(
        files.folder / "a.xlsx", ("s", [("a", "b"), (1, 2), ("=A2", "=B2"), ("#N/A",), (3, 4)])
    )
    book["s"]["A4"].data_type = "e"
    book.save(files.folder / "a.xlsx")
    with zipfile.ZipFile(files.folder / "a.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    more = b'<row r="6"><c r="A6" t="str"><f>B9</f><v></v></c></row></sheetData>'
    assert b"</sheetData>" in parts[sheet]
    parts[sheet] = parts[sheet].replace(b"</sheetData>", more)
    with zipfile.ZipFile(files.folder / "a.xlsx", "w") as archive:
        for name, content_ in parts.items():
            archive.writestr(name, content_)
    report = files.import_("new")
    # A formula whose stored result is an empty text is an empty cell.
    assert files.read("t__a") == [(1, 2), (None, None), (None, None), (3, 4)]
    assert [note.split(";")[0] for note in notes_of(report)[0]] == [
        "cells with an error are NULL: 1 #N/A", "formulas without a stored value are NULL: 2",
    ]  # fmt: skip


def test_a_row_of_spaces_is_left_out_as_in_csv_and_counted(files):
    rows: list[list[str | int | None]] = [
        ["店", "額"],
        ["a", 1],
        [" ", "\u3000"],
        ["b", 2],
        [None, " "],
        [" ", 3],
    ]
    workbook(files.folder / "a.xlsx", ("s", rows))
    text = "".join(f"{shop or ''},{yen or ''}\n" for shop, yen in rows)
    (files.folder / "b.csv").write_text(text, encoding="utf-8")
    files.import_("new")
    assert files.read("t__a") == files.read("t__b") == [("a", 1), ("b", 2), (" ", 3)]
    for name in ("t__a", "t__b"):
        assert "empty rows are left out: 2" in files.tables()[name].reading


def test_tables_side_by_side_are_two_and_columns_set_off_are_one(files):
    left = [("店", "額"), ("東", 1), ("西", 2), ("南", 3)]
    right = [("店", "額"), ("北", 4)]
    rows = [[*a, None, *b] for a, b in zip(left, [*right, (None,) * 2, (None,) * 2], strict=True)]
    workbook(files.folder / "a.xlsx", ("s", rows))
    set_off = [["店", "額", None, "メモ", "備考"], ["東", 1, None, "x", "y"]]
    workbook(files.folder / "b.xlsx", ("s", set_off))
    report = files.import_("new")
    assert problems(report) == {}
    assert files.read("t__a__s_a") == left[1:]
    assert files.read("t__a__s_d") == right[1:]
    assert files.read("t__b") == [("東", 1, "x", "y")]
    assert notes_of(report)[-1] == ("one table of columns that stand apart: A to B, D to E",)


def test_the_header_of_a_table_below_another_is_named(files):
    shops = [("店", "売上"), ("東京", 100), ("大阪", "200"), ()]
    goods = [("商品", "個数"), ("りんご", 3), ("みかん", 5)]
    groups = [("名古屋", None), ("京都", 7), (), ("注", "仮の数"), ("税", None)]
    workbook(files.folder / "a.xlsx", ("s", [*shops, *goods, (), ("表3",), *goods, (), *groups]))
    workbook(files.folder / "b.xlsx", ("s", [*shops, *groups]))
    header = "another table's header may be in row 5, 10; give each table its own sheet"
    assert notes_of(files.import_("new")) == [(header,), ()]


SALES = [
    ["売上一覧 2025年度"],
    [],
    ["日付", "店", "額", "時刻", "開店", "経過", "率", "メモ"],
    [date(2025, 6, 1), "東京", 1200, at("2025-06-01 05:30"), time(9, 30), "¥1,234", 0.125, True],
    [date(2025, 6, 2), "00123", "-", at("2025-06-02"), time(18), "▲500", None, None],
    [],
    [None, None, 2.5, None, None, "１２円", 1, False],
]


def test_each_sheet_of_a_workbook_is_a_table_of_its_cells_values(files):
    book = workbook(
        files.folder / "a.xlsx", ("売上", SALES), ("隠し", [["a"], [1]]), ("空", []),
        ("階層", [["店", "2024年", None, "2025年"], [None, "売上", "数", "売上", "数"],
                  ["東京", 1, 2, 3, 4]]),
        ("式", [["n", "倍"], [1, "=A2*2"], ["#N/A", "x"]]),
    )  # fmt: skip
    book["隠し"].sheet_state = "hidden"
    book["階層"].merge_cells("B1:C1")
    book["売上"].merge_cells("A1:H1")
    book["式"]["A3"].data_type = "e"
    book.save(files.folder / "a.xlsx")
    workbook(files.folder / "b.xlsx", ("Sheet1", [["a", None, "c"], [1, None, "x"]]))
    report = files.import_("new")
    assert problems(report) == {}
    assert left_out(report) == {
        "a.xlsx#隠し": "it is a hidden sheet; show it in the workbook to import it",
        "a.xlsx#空": "it is an empty sheet",
    }
    assert files.content("t__a__売上") == (
        {"日付": "DATE", "店": "VARCHAR", "額": "DOUBLE", "時刻": "TIMESTAMP", "開店": "TIME",
         "経過": "BIGINT", "率": "DOUBLE", "メモ": "BOOLEAN"},
        [(date(2025, 6, 1), "東京", 1200.0, at("2025-06-01 05:30"), time(9, 30), 1234, 0.125,
          True),
         (date(2025, 6, 2), "00123", None, at("2025-06-02"), time(18), -500, None, None),
         (None, None, 2.5, None, None, 12, 1.0, False)],
    )  # fmt: skip
    assert files.content("t__a__階層") == (
        {"店": "VARCHAR", "2024年 売上": "BIGINT", "2024年 数": "BIGINT", "2025年 売上": "BIGINT",
         "2025年 数": "BIGINT"},
        [("東京", 1, 2, 3, 4)],
    )  # fmt: skip
    assert files.content("t__a__式") == ({"n": "BIGINT", "倍": "VARCHAR"}, [(1, None), (None, "x")])
    assert files.content("t__b") == ({"a": "BIGINT", "c": "VARCHAR"}, [(1, "x")])
    assert files.import_().unchanged == 4


def test_a_workbook_that_cannot_be_read_says_why(files):
    workbook(files.folder / "a.xlsx", ("s", SALES))
    whole = (files.folder / "a.xlsx").read_bytes()
    (files.folder / "cut.xlsx").write_bytes(whole[:-200])
    (files.folder / "locked.xlsx").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    (files.folder / "odd.xlsx").write_bytes(whole.replace(b"xl/workbook.xml", b"xl/workbuch.xml"))
    with zipfile.ZipFile(
        files.folder / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as made:
        made.writestr("xl/worksheets/sheet1.xml", bytes(2**28 + 1))
    with zipfile.ZipFile(files.folder / "long.xlsx", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("xl/worksheets/sheet1.xml", b"<v>" + bytes(2**20 + 1))
    with zipfile.ZipFile(files.folder / "a.xlsx") as made:
        place = made.getinfo("xl/worksheets/sheet1.xml").header_offset + 80
    (files.folder / "bent.xlsx").write_bytes(whole[:place] + bytes(20) + whole[place + 20 :])
    assert problems(files.import_("new")) == {
        "bent.xlsx": "it is not a complete workbook; save it again",
        "bomb.xlsx": "it unpacks to more than 100 times its size; save it as .csv if you trust it",
        "cut.xlsx": "it is not a complete workbook; save it again",
        "locked.xlsx": "it is locked by a password, or of an older kind; save it without one, "
        "or name it .xls",
        "long.xlsx": "its texts are too large for a workbook; save it as .csv",
        "odd.xlsx": "it is not a complete workbook; save it again",
    }


def test_a_refusal_shows_the_rows_by_their_numbers_in_the_file_and_one_can_be_named(files):
    days = [date(2024, month, 1) for month in (4, 5, 6)]
    rows = [("設計", *days), ("実装", "未定", "未定", "未定")]
    files.import_("new")
    workbook(files.folder / "a.xlsx", ("s", [("工程", "予定"), *rows]))
    workbook(files.folder / "b.xlsx", ("s", [("計画",), (), ("工程", "予定"), *rows]))
    said = problems(files.import_())
    for name, row in (("a", 1), ("b", 3)):
        shown = f'{row} "工程 | 予定", {row + 1} "設計 | 2024-04-01 | 2024-05-01 | 2024-06-01"'
        assert shown in said[f"{name}.xlsx"]
        assert shown in in_japanese(said[f"{name}.xlsx"])
        assert "区別できません" in in_japanese(said[f"{name}.xlsx"])
        files.choose(pattern=f"{name}.xlsx", header_row=str(row))
        assert [first for first, *_ in files.read(f"t__{name}")] == ["設計", "実装"]


def test_numbers_with_a_percent_format_are_told_and_read_as_stored(files):
    rows = [["率", "計", "率　2"], [50, 1, 0.5], [0.5, 2, 0], [0.25, 3, 0.1]]
    formats = dict.fromkeys(("A3", "A4", "C2", "C4"), "0%") | {"B3": '0"%"'}
    workbook(files.folder / "a.xlsx", ("s", rows), formats=formats)
    ((note,),) = notes_of(files.import_("new"))
    assert note == (
        "numbers with a percent format are read as stored, 50% as 0.5: "
        "率 (2 with and 1 without), 率　2"
    )
    assert in_japanese(note) != note
    assert files.read("t__a") == [(50, 1, 0.5), (0.5, 2, 0), (0.25, 3, 0.1)]


def test_three_of_many_columns_with_a_percent_format_are_named(files):
    cells = [f"{column}{row}" for column in "ABCDE" for row in (2, 3)]
    rows = [list("あいうえお"), [0.1] * 5, [0.2] * 5]
    workbook(files.folder / "a.xlsx", ("s", rows), formats=dict.fromkeys(cells, "0%"))
    ((note,),) = notes_of(files.import_("new"))
    assert note.endswith("50% as 0.5: あ, い, う and 2 more")


def test_a_combined_table_names_the_files_whose_numbers_have_a_percent_format(files):
    for month, rate, shown in ((4, 0.5, "0%"), (5, 50, "0"), (6, 0.25, "0%")):
        file = files.folder / f"率2025-{month:02}.xlsx"
        workbook(file, ("s", [["率"], [rate]]), formats={"A2": shown})
    note = "numbers with a percent format are read as stored, 50% as 0.5: 率"
    assert f"read: 率2025-04.xlsx (and 1 more file alike): {note}" in told(files.import_("new"))
    (table,) = files.tables().values()
    assert table.whole_reading == f"率2025-04.xlsx and 1 more: {note}"


def test_formats_that_show_thousands_or_a_unit_are_told(files):
    rows = [["店", "千円", "額", "円"], ["a", 1234567, 5, 7], ["b", 7654321, 6, 8]]
    shown = {"B": "#,##0,", "C": '#,##0"千円"', "D": '#,##0"円"'}
    formats = {f"{column}{row}": shown[column] for column in shown for row in (2, 3)}
    workbook(files.folder / "a.xlsx", ("s", rows), formats=formats)
    assert notes_of(files.import_("new"))[0] == (
        "numbers that cells show in thousands are read as stored: 2",
        "the cells of columns show a unit: 額 (千円)",
    )
    assert files.read("t__a") == [("a", 1234567, 5, 7), ("b", 7654321, 6, 8)]
