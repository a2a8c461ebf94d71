"""Workbooks: every cell as its sheet means it, and what a sheet says beside its values."""

import base64
import struct
import zipfile
import zlib
from datetime import date, datetime, time

import pytest
from source_folder import DataFolder, left_out, problems, workbook
from table_of_cases import each

from mdvec.datasets.core.columns import NoHeader
from mdvec.datasets.core.sheet_header import sheet_header
from mdvec.datasets.options import DatasetOptions, reading_choices
from mdvec.japanese import in_japanese

at = datetime.fromisoformat


@pytest.fixture
def files(tmp_path):
    return DataFolder(tmp_path / "files", tmp_path / "data.sqlite", name="t")


def test_a_sheet_without_a_header_loses_no_row(files):
    days = [(date(2025, 1, day), "a", day) for day in (1, 2, 3)]
    workbook(files.folder / "a.xlsx", ("s", days))
    workbook(files.folder / "b.xlsx", ("s", [("a", 1), ("b", 2)]))
    report = files.import_("new")
    assert files.read("t__a") == days
    assert "--read header=none" in problems(report)["b.xlsx"]
    options = DatasetOptions(readings=reading_choices(["header=none"], pattern="b.xlsx"))
    files.import_(options=options)
    assert files.content("t__b") == (
        {"column1": "VARCHAR", "column2": "BIGINT"}, [("a", 1), ("b", 2)],
    )  # fmt: skip


def test_what_a_sheet_says_beside_its_values_is_read(files):
    book = workbook(
        files.folder / "a.xlsx",
        ("s", [
            ["地域", "店", "額", "番号", "メモ", "入金"],
            ["東", "a", 100, 12, "一_x000D_\n二", 5],
            [None, "b", None, 345, "x_x005F_x000D_", 7.5],
            [None, "小計", 100, None, None, None],
            ["西", "c", 50, 1234567, None, 9],
            ["総　計", None, 150, None, None, None],
        ]),
    )  # fmt: skip
    sheet = book["s"]
    sheet.merge_cells("A2:A4")
    sheet.merge_cells("C2:C3")
    sheet.row_dimensions[5].hidden = True
    sheet.column_dimensions["B"].hidden = sheet.column_dimensions["E"].hidden = True
    for row in range(2, 7):
        sheet[f"D{row}"].number_format = "0000000"
        sheet[f"C{row}"].number_format = "[$¥-411]#,##0;[Red]\\-[$¥-411]#,##0"
    for row, shown in ((2, '"¥"#,##0'), (3, "[$€-407]#,##0.00"), (5, r"\$#,##0.00")):
        sheet[f"F{row}"].number_format = shown
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
    (reading,) = report.details.readings[0].values()
    assert reading.notes == (
        "merged cells are filled down: 1",
        "merged cells with a number count in their first row only: 1",
        "rows of totals are among the others: 4, 6; leave them out with --read totals=out",
        "hidden rows are read as well: 5",
        "hidden columns are read as well: 店, メモ",
        "cells of a column are formatted in several currencies, so it is text",
    )
    files.import_(options=DatasetOptions(readings=reading_choices(["totals=out"])))
    assert files.read("t__a") == [rows[0], rows[1], rows[3]]


def test_three_rows_of_names_that_a_merged_cell_joins_become_one_and_notes_are_told(files):
    path = files.folder / "a.xlsx"
    rows = [
        ["店", "売上", None, None, None, "費用", None],
        [None, "国内", None, "海外", None, "国内", "計"],
        [None, "4月", "5月", "4月", "5月", "4月", None],
        ["東京", 1, 2, 3, 4, 5, 6],
        ["※ 税込"],
    ]
    book = workbook(path, ("s", rows))
    book["s"].merge_cells("A1:A3")
    book.save(path)
    (reading,) = files.import_("new").details.readings[0].values()
    assert reading.notes == (
        "the columns' names are in rows 1 to 3",
        'the last rows hold one text each: "※ 税込"; leave out notes with --read notes=out',
    )
    names = (
        "店", "売上 国内 4月", "売上 国内 5月", "売上 海外 4月", "売上 海外 5月", "費用 国内 4月",
        "費用 計",
    )  # fmt: skip
    assert tuple(files.content("t__a")[0]) == names
    files.import_(options=DatasetOptions(readings=reading_choices(["notes=out"])))
    assert files.read("t__a") == [("東京", 1, 2, 3, 4, 5, 6)]


PEOPLE_AND_AREA = [["市", "人口", None, None, None], [None, "男", "女", "面積", "予算"]]
TWO_GROUPS = [
    ["市", "人口", None, "男女別", None, None], [None, "総数", "増減", "男", "女", "世帯数"],
]  # fmt: skip
THREE_ROWS = [
    ["市", "人口", None, None, None], [None, "本土", None, "離島", None],
    [None, "男", "女", "男", "面積"],
]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "merged", "names"),
    [
        (PEOPLE_AND_AREA, "A1:A2 B1:C1", "市,人口 男,人口 女,面積,予算"),
        (PEOPLE_AND_AREA, "A1:A2", "市,人口 男,人口 女,人口 面積,人口 予算"),
        (TWO_GROUPS, "A1:A2 B1:C1 D1:E1", "市,人口 総数,人口 増減,男女別 男,男女別 女,世帯数"),
        (THREE_ROWS, "A1:A3 B1:D1 B2:C2", "市,人口 本土 男,人口 本土 女,人口 離島 男,面積"),
    ],
)
def test_the_name_of_a_group_extends_over_its_merged_cells(files, header, merged, names):
    rows = [["東京", 1, 2, 3, 4, 5], ["大阪", 6, 7, 8, 9, 10]]
    width = len(header[0])
    book = workbook(files.folder / "a.xlsx", ("s", [*header, *(row[:width] for row in rows)]))
    for cells in merged.split():
        book["s"].merge_cells(cells)
    book.save(files.folder / "a.xlsx")
    files.import_("new")
    assert ",".join(files.content("t__a")[0]) == names


@pytest.mark.parametrize(
    ("first", "remark"),
    [("欠席 欠席 欠席 欠席", "F1:F5"), ("○ × ○ ○", ""), ("東京 大阪 東京 大阪", "F1:F5")],
)
def test_the_first_row_below_a_header_of_two_rows_is_no_third(files, first, remark):
    rows = [
        ["氏名", "前期", None, "後期", None, remark],
        [None, "国語", "数学", "国語", "数学"],
        ["田中", *first.split()],
        ["佐藤", 80, 70, 90, 60],
        ["鈴木", 70, 60, 80, 50],
    ]
    book = workbook(files.folder / "a.xlsx", ("s", rows))
    for merged in filter(None, ("A1:A2", "B1:C1", "D1:E1", remark)):
        book["s"].merge_cells(merged)
    book.save(files.folder / "a.xlsx")
    files.import_("new")
    columns, read = files.content("t__a")
    assert list(columns)[:3] == ["氏名", "前期 国語", "前期 数学"]
    assert [row[0] for row in read] == ["田中", "佐藤", "鈴木"]


@pytest.mark.parametrize("group", ["野菜", 2025])
def test_the_last_row_within_a_merged_cell_is_no_note(files, group):
    rows = [
        ["分類", "品名", "在庫"],
        ["果物", "りんご", 3],
        [group, "にんじん", 7],
        [None, "ごぼう"],
    ]
    book = workbook(files.folder / "a.xlsx", ("s", rows))
    book["s"].merge_cells("A3:A4")
    book.save(files.folder / "a.xlsx")
    options = DatasetOptions(readings=reading_choices(["notes=out"]))
    report = files.import_("new", options=options)
    assert files.read("t__a", "品名") == [("りんご",), ("にんじん",), ("ごぼう",)]
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
    book = workbook(files.folder / "a.xlsx", ("s", rows))
    for column, (formats, _) in enumerate(FORMATS, 2):
        for row, shown in enumerate(formats, 2):
            book["s"].cell(row, column).number_format = shown
    book.save(files.folder / "a.xlsx")
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
    files.import_("new", options=DatasetOptions(readings=reading_choices(["totals=out"])))
    left = [row for row in rows if row[place] not in TOTALS]
    assert files.read("t__a") == files.read("t__b") == left


def test_a_last_row_with_a_formula_without_a_value_is_no_note(files):
    rows = [("店", "数", "額"), ("東京", 1, 2), ("京都", 3, 4), ("合計", None, "=SUM(C2:C3)")]
    workbook(files.folder / "a.xlsx", ("s", [*rows, ("※ 税込",)])).save(files.folder / "a.xlsx")
    report = files.import_("new", options=DatasetOptions(readings=reading_choices(["notes=out"])))
    assert files.read("t__a") == [("東京", 1, 2), ("京都", 3, 4), ("合計", None, None)]
    (reading,) = report.details.readings[0].values()
    assert 'notes below the table are left out: "※ 税込"' in reading.notes


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
    (reading,) = report.details.readings[0].values()
    assert [note.split(";")[0] for note in reading.notes] == [
        "cells with an error are NULL: 1 #N/A", "formulas without a stored value are NULL: 2",
    ]  # fmt: skip


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
    (reading,) = report.details.readings[-1].values()
    assert reading.notes == ("one table of columns that stand apart: A to B, D to E",)


def test_the_header_of_a_table_below_another_is_named(files):
    shops = [("店", "売上"), ("東京", 100), ("大阪", "200"), ()]
    goods = [("商品", "個数"), ("りんご", 3), ("みかん", 5)]
    groups = [("名古屋", None), ("京都", 7), (), ("注", "仮の数"), ("税", None)]
    workbook(files.folder / "a.xlsx", ("s", [*shops, *goods, (), ("表3",), *goods, (), *groups]))
    workbook(files.folder / "b.xlsx", ("s", [*shops, *groups]))
    notes = [
        reading.notes for of in files.import_("new").details.readings for reading in of.values()
    ]
    header = "another table's header may be in row 5, 10; give each table its own sheet"
    assert notes == [(header,), ()]


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


@each("names", [("日付", "金額"), ("日付", "店", "金額")])
@each("margin", [0, 1, 2, 5])
def test_a_margin_of_empty_columns_does_not_hide_a_header(names, margin):
    rows = [
        [""] * margin + list(cells) for cells in (names, ["2025-06-01", "5", "6"][: len(names)])
    ]
    assert sheet_header([rows[0], *[rows[1]] * 7]).names[margin:] == names


def test_a_header_of_two_rows_is_taken_only_where_the_lower_repeats_names():
    with pytest.raises(NoHeader, match=r'1 "a \| \| b", 2 "x'):
        sheet_header([["a", "", "b"], ["x", "y", "z"], ["1", "2", "3"]])
    assert sheet_header([["a", "", "b"], ["1", "y", "2"], ["x", "y", "z"]]).names == ("a", "", "b")
    assert sheet_header([["s", "G"], ["", "x", "y"], ["k", "2", "3"]]).names == ("s", "G x", "G y")
    assert sheet_header([["t"], ["a", "b", "c"], ["d", "e", "f"]]).names == ("a", "b", "c")
    with pytest.raises(NoHeader, match="--header-row"):
        sheet_header([["t"], ["a", "5", "c"], ["d", "6", "f"]])
    groups = [["t"], ["A", "", "B"], ["x", "y", "x"], ["1", "2", "3"]]
    assert sheet_header(groups).names == ("A x", "A y", "B x")
    alike = [["氏名", "電話", "", ""], ["佐藤", "なし", "なし", "なし"], ["鈴木", "1", "2", "3"]]
    with pytest.raises(NoHeader):  # 佐藤 is a record
        sheet_header(alike)


@each("lower", [["", "件数", "金額", "件数", "金額"], ["番号", "件数", "金額", "件数", "金額"]])
@each("first", [["総務費", "-", "-", "-", "-"], ["【一般会計】"], ["総務費", "1", "2", "3", "4"]])
def test_the_first_record_of_a_sheet_may_have_no_number_below_a_header_of_two_rows(lower, first):
    rows = [["款", "予算", "", "決算", ""], lower, first, ["民生費", "1", "200", "1", "190"]]
    assert sheet_header([*rows, ["土木費", "2", "300", "2", "290"]]).names == (
        f"款 {lower[0]}".strip(), "予算 件数", "予算 金額", "決算 件数", "決算 金額",
    )  # fmt: skip


def test_no_record_is_taken_for_names_below_a_header_that_merged_cells_hold_together():
    rows = [["区分", "午前", "", "午後", ""], ["", "担当", "人数", "担当", "人数"]]
    rows += [["A", "田中", "休", "佐藤", "休"], *[["B", "鈴木", "6", "伊藤", "8"]] * 3]
    found = sheet_header(rows, merged={0: 1})
    assert (found.names[1], found.row, found.doubtful) == ("午前 担当", 1, 0)


PEOPLE = [["地区", "世帯数", "人口", "", "", "備考"], ["", "", "総数", "男", "女"]]
YEARS = [["市", "人口", "", "", "", "世帯"], ["", "2019", "", "2020"], ["", "男", "女", "男", "女"]]
REGION = ["中央", "500", "1200", "600", "600", "※1"]
UNIT = ["", "", "", "", "", "（単位：人）"]
PEOPLE_NAMES = ("地区", "世帯数", "人口 総数", "人口 男", "人口 女", "備考")
YEARS_NAMES = ("市", "人口 2019 男", "人口 2019 女", "人口 2020 男", "人口 2020 女", "世帯")


def test_rows_that_the_user_names_are_joined_and_units_below_a_header_are_told():
    rows = [
        ["表"],
        ["日", "気温", "湿度"],
        ["", "℃", "%"],
        ["", "", ""],
        *[["2024-01-02", "3", "40"]] * 3,
    ]
    found = sheet_header(rows)
    assert (found.row, found.doubtful, found.labels) == (1, 2, {"", "℃", "%"})
    header = sheet_header(rows, range(1, 4))
    assert (header.top, header.row, header.names) == (1, 3, ("日", "気温 ℃", "湿度 %"))


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
        choices = reading_choices([], pattern=f"{name}.xlsx", header_row=str(row))
        files.import_(options=DatasetOptions(readings=choices))
        assert [first for first, *_ in files.read(f"t__{name}")] == ["設計", "実装"]


def test_dates_are_names_where_merged_cells_prove_the_header_and_titles_over_other_names():
    rows = [
        ["品目", "2024/1/5(金)", "", "2024/1/6(土)", ""],
        ["", "納期", "数", "納期", "数"],
        *[["りんご", "2024/2/1(木)", "1", "2024/2/2(金)", "2"]] * 2,
    ]
    header = sheet_header(rows, merged={0: 1})
    assert (header.row, header.names[1]) == (1, "2024/1/5(金) 納期")
    days = ["期間", "2024/1/5(金)", "2024/1/7(日)"]
    for titles in ([["勤務表"]], [["勤務表", "", ""], ["", "", "店長"]]):
        with pytest.raises(NoHeader, match=rf'{len(titles) + 1} "期間 \| 2024'):
            sheet_header([*titles, days, ["佐藤", "早番", "休"]])
    for top in (["作成日", days[1], ""], ["作成日", "2024/1/5", "x"], days):
        for merged in (None, dict[int, int]()):
            with pytest.raises(NoHeader, match=r'2 "店 \| 日付 \| 数", 3 "A'):
                sheet_header([top, ["店", "日付", "数"], ["A", "2024/1/8", "2"]], merged=merged)


@each("titles", [[], [["表"]], [["表"], UNIT], [UNIT], [["表"], UNIT, UNIT]])
@each(("names", "read"), [(PEOPLE, PEOPLE_NAMES), (YEARS, YEARS_NAMES)])
def test_names_that_merged_cells_hold_together_are_a_header_below_any_titles(titles, names, read):
    top, end = len(titles), len(titles) + len(names) - 1
    rows = [*titles, *names, REGION, REGION]
    for given in (None, *(range(at, at + 1) for at in range(top, end + 1))):
        header = sheet_header(rows, given, {top: end})
        assert (header.top, header.row, header.names) == (top, end, read)


@each(
    "above",
    [
        ["売上一覧", "", "", "", "単位：千円"],
        ["店舗", "東京本店"],
        ["店舗", "東京本店", "", ""],
        ["佐藤", "総務", "東", "西"],
    ],
)
@each("names", [["品", "売上", "客数", "単価"], ["", "売上", "客数", "単価"]])
@each("merged", [None, {}])
def test_the_row_that_the_user_names_names_the_columns_alone(above, names, merged):
    for rows in ([above, names, ["a", "1", "2", "3"]], [above, [*names, ""], ["a", "1", "2", "3"]]):
        header = sheet_header(rows, range(1, 2), merged)
        assert (header.top, header.names) == (1, tuple(rows[1]))


@each("merged", [None, {}])
def test_texts_over_the_first_columns_right_above_others_are_asked_about(merged):
    person, below = ["田中", "東京", "あ", "い", "う"], ["佐藤", "大阪", "え", "お", "5"]
    names = ["氏名", "住所", "", "", ""]
    with pytest.raises(NoHeader, match=r"--header-row"):
        sheet_header([names, person, below], None, merged)
    for title in (names[:1] + [""] * 4, ["期間", "2025", "", "", ""]):
        assert sheet_header([title, person, below], None, merged).row == 1
    assert sheet_header([names, person, below], None, merged, (1, 3, 4)).row == 1
    with pytest.raises(NoHeader, match=r"header cannot be told .* --header-row"):
        sheet_header([["作成日", "2024-02-01"], names, person, below], None, merged)


@each("merged", [None, {}, {0: 0}])
@each(
    ("names", "row"),
    [
        (["日付", "売上", "客数", "単価", "品"], ["2024-01-01", "12", "3", "1", "りんご"]),
        (["品", "担当", "売上", "客数", "備考"], ["りんご", "山田", "12", "NA", ""]),
    ],
)
def test_texts_above_the_names_of_columns_of_numbers_are_titles(merged, names, row):
    store, made = ["店舗", "東京本店", "", "", ""], ["作成日", "2024-02-01", "", "", ""]
    for titles in (
        [store],
        [made, store],
        [store, store],
        [["売上一覧", "2024年1月度", "", "", ""]],
    ):
        header = sheet_header([*titles, names, row, row], None, merged)
        assert (header.row, header.names) == (len(titles), tuple(names))


@each("first", ["", "（西暦）"])
def test_years_under_the_names_of_numbers_may_be_names_and_are_told(first):
    rows = [["品目", "令和3年度", "令和4年度"], [first, "2021", "2022"], ["米", "10", "20"]]
    assert sheet_header(rows).doubtful == sheet_header(rows, merged=None).doubtful == 1
    assert sheet_header([rows[0], ["項目"], *rows[1:]]).doubtful == 2
    assert sheet_header(rows, range(1, 2)).names == (first, "2021", "2022")
    assert sheet_header(rows, range(1), None).doubtful == 0
    firms = [["社名", "設立年", "従業員"], ["A社", "1998", "2005"], ["B社", "2001", "350"]]
    assert sheet_header(firms, None, None).doubtful == 0
    opened = [["店", "開店", "改装"], ["a", "2001", "2011"], ["b", "2005", "2015"]]
    assert sheet_header(opened).doubtful == 0


# Made with xlwt: on 売上 A2:A3 is merged, and 下書き is hidden.
XLS = zlib.decompress(base64.b85decode(
    "c-rk)T}V_x6#nMkU3WEg*G(f0OoX&d(g-35yC#%RE*60nMQOW9nQLu5WDjN85(GgJL`5%#Jp^I((hp@+^iUAk&qESK"
    "YWUPsQQ(7mJLl}Zvf2hNl%U*inKLtI=A8NN%$d2f_ica9VE4U(Axy&t=$J6mk(QuSl+x{rAJlG|T(om9CDXy2Lb{h0"
    "GR=+0S#LbNhP>WG&~VrFoFp(zX(tXL*d7TN%_3@qLz7|-Rmw%Nr{OxKY~%~CfXKZf7mB<ieV>S|7R`B)Rn&J-?LfZ~"
    "EL&&Aaidl&ZP_Fh9*E5+(X2)uUU3|syrANJ-Pjo2-*j+}H59rs(F0o2+HfQs<+=|ykpXlND%#pALZLzA(sK9Umste-"
    "wD<M1B1b>FdIi#tPStz<qW97wPS;=3TtFwxJ&J=lhD@w=af_yYG-d>26yz_{I5Kp#AUL|Ou5t|P<*4RF7L^TO8YmkH"
    "4+JTDcd_n@f;xMI%7<HSv#NA^*=5SS+q~x}#*St1TR=_?|CCcBOZHMG$q;-}&XFDEr-8<9eScrqTyN|aO{WYUf1fO4"
    "@-T6VEyy@qTHGSJrA#bViaae|mq@ulWG?ljyre$QDs1kOK4+x0gvMDT_+XSKl$TRE_HE0<!q``11(kbihmPm=el)sK"
    "Oz*c4+4HXp<*Hm=yUKWE*txP!p3frl|2T!bn&0AXS}#o>#(Ccnazw^!JUeQ#rde|pujy3NEng~$FD1TscKV17a}D6Y"
    "YxZ%&$G&u$MI~OW5HZ-3HqFyhdUDNT)rZA0ZvjNaPt8)+w+I)u)swK$#nx@H(8W3`*2Al87J34U0b$`1pHn@##1qHR"
    "35{#)<HasuM4nX%OS+M00o<2jb;6xwHlk5Y%DEbiDrq!&>{&&!S#{vRfddB)9L!fJxqZUA;l*#>e1Gy--*v_*O*o%P"
    "<}J3Ooqk8@FXbjgD378erTAF{x3Yby8QR$23mFYGdK9f_79OoB$1mM~RpRr^*wFv)wot0$Po%>0Kac+#bMzT-"
))  # fmt: skip
CONTENT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body>'
    '<office:spreadsheet><table:table table:name="表">{rows}</table:table></office:spreadsheet>'
    "</office:body></office:document-content>"
)


def ods(path, rows):
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("mimetype", kind, zipfile.ZIP_STORED)
        made.writestr("META-INF/manifest.xml", "<manifest/>")
        made.writestr("content.xml", CONTENT.format(rows=rows))


def ods_row(*cells, repeated=1):
    said = "".join(
        f'<table:table-cell office:value-type="{kind}" office:{kind}-value="{value}"'
        f' office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
        for kind, value in cells
    )
    return f'<table:table-row table:number-rows-repeated="{repeated}">{said}</table:table-row>'


def xlsb(path, rows):
    """A workbook of records, each with its kind and length; [MS-XLSB] 2.1.4 and 2.4."""

    def record(kind, data=b""):
        head = bytes([kind & 0x7F | 0x80, kind >> 7]) if kind > 0x7F else bytes([kind])
        return head + bytes([len(data)]) + data

    def text(value):
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    def cell(at, value):
        head = struct.pack("<II", at, 0)
        is_text = isinstance(value, str)
        return record(
            *((6, head + text(value)) if is_text else (5, head + struct.pack("<d", value)))
        )

    sheet = record(0x91)
    for at, row in enumerate(rows):
        sheet += record(0, struct.pack("<I", at) + bytes(13))
        sheet += b"".join(cell(*numbered) for numbered in enumerate(row))
    ends = struct.pack("<IIII", 0, len(rows) - 1, 0, len(rows[0]) - 1)
    named = record(0x9C, struct.pack("<II", 0, 1) + text("r1") + text("表"))
    office = "http://schemas.openxmlformats.org"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        made.writestr(
            "xl/_rels/workbook.bin.rels",
            f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="r1"'
            f' Type="{office}/officeDocument/2006/relationships/worksheet"'
            ' Target="worksheets/sheet1.bin"/></Relationships>',
        )
        made.writestr("xl/workbook.bin", record(0x8F) + named + record(0x90) + record(0x84))
        made.writestr("xl/worksheets/sheet1.bin", record(0x94, ends) + sheet + record(0x92))


def test_workbooks_of_other_kinds_are_read_and_say_what_is_not_seen(files):
    (files.folder / "a.XLS").write_bytes(XLS)
    names = ods_row(("string", "名"), ("string", "日"), ("string", "数"), ("string", "時間"))
    row, long = (
        ods_row(("string", "あ\r\nい"), ("date", "2025-03-01"), ("float", 12), ("time", length))
        for length in ("PT01H03M00S", "PT26H03M00S")
    )
    rows = f'<table:table-row table:number-rows-repeated="3"/>{names}{row}{long}'
    ods(files.folder / "b.ods", rows)
    xlsb(files.folder / "c.xlsb", [("品", "数"), ("鉛筆", 12.0), ("紙", 3.5)])
    options = DatasetOptions(readings=reading_choices(["totals=out"]))
    report = files.import_("new", options=options)
    assert problems(report) == {}
    assert left_out(report) == {
        "a.XLS#下書き": "it is a hidden sheet; show it in the workbook to import it"
    }
    assert files.content("t__a") == (
        {"地域": "VARCHAR", "日付": "DATE", "金額": "BIGINT", "率": "DOUBLE"},
        [("東京", date(2025, 1, 1), 1000, 0.125), ("東京", date(2025, 1, 2), 2000, 0.25),
         ("大阪", date(2025, 1, 3), 3000, 0.375)],
    )  # fmt: skip
    assert files.read("t__b") == [
        ("あ\nい", date(2025, 3, 1), 12, length) for length in ("01:03:00", "26:03:00")
    ]
    assert files.content("t__c") == (
        {"品": "VARCHAR", "数": "DOUBLE"}, [("鉛筆", 12.0), ("紙", 3.5)]
    )  # fmt: skip
    said = str(report.details)
    assert said.count("leading zeros that only a cell's format shows are not seen") == 3
    assert "merged cells are filled down: 1" in said
    assert "rows of totals are left out: 5" in said


def test_workbooks_of_other_kinds_that_cannot_be_read_say_so_within_limits(files):
    (files.folder / "cut.xls").write_bytes(XLS[:3000])
    (files.folder / "web.xls").write_text("<html><table><tr><td>1</td></tr></table></html>")
    (files.folder / "locked.ods").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    wide = ods_row(*[("float", 1)] * 99, repeated=1_000_000)
    ods(files.folder / "bomb.ods", ods_row(("string", "a")) + wide)
    failed = problems(files.import_("new"))
    assert failed.keys() == {"cut.xls", "web.xls", "locked.ods", "bomb.ods"}
    assert set(failed.values()) == {
        "it is damaged, too large, or no workbook at all; save it again as .xlsx"
    }


def test_numbers_with_and_without_a_percent_format_are_counted_and_read_as_stored(files):
    rows = [["率", "計", "率　2"], [50, 1, 0.5], [0.5, 2, 0], [0.25, 3, 0.1]]
    book = workbook(files.folder / "a.xlsx", ("s", rows))
    for cell in ("A3", "A4", "C2", "C4"):
        book["s"][cell].number_format = "0%"
    book["s"]["B3"].number_format = '0"%"'
    book.save(files.folder / "a.xlsx")
    (reading,) = files.import_("new").details.readings[0].values()
    assert reading.notes == (
        "numbers with and without a percent format are read as stored, 50% as 0.5: "
        "率 (2 with and 1 without)",
    )
    assert in_japanese(reading.notes[0]) != reading.notes[0]
    assert files.read("t__a") == [(50, 1, 0.5), (0.5, 2, 0), (0.25, 3, 0.1)]


def test_formats_that_show_thousands_or_a_unit_are_told(files):
    book = workbook(
        files.folder / "a.xlsx",
        ("s", [["店", "千円", "額", "円"], ["a", 1234567, 5, 7], ["b", 7654321, 6, 8]]),
    )
    for row in (2, 3):
        for column, shown in (("B", "#,##0,"), ("C", '#,##0"千円"'), ("D", '#,##0"円"')):
            book["s"][f"{column}{row}"].number_format = shown
    book.save(files.folder / "a.xlsx")
    (reading,) = files.import_("new").details.readings[0].values()
    assert reading.notes == (
        "numbers that cells show in thousands are read as stored: 2",
        "the cells of columns show a unit: 額 (千円)",
    )
    assert files.read("t__a") == [("a", 1234567, 5, 7), ("b", 7654321, 6, 8)]
