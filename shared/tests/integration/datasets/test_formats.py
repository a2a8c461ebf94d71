"""JSON, packed files, workbooks, Arrow and SQLite: every cell as written, or refused by name."""

import base64
import csv
import gzip
import io
import json
import sqlite3
import subprocess
import sys
import zipfile
import zlib
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_folder import DataFolder

from mdvec.datasets.core.columns import NoHeader
from mdvec.datasets.core.sheet_header import sheet_header
from mdvec.datasets.interfaces.unpacking import is_bomb
from mdvec.datasets.options import DatasetOptions
from mdvec.datasets.reading_options import reading_choices

at = datetime.fromisoformat


@pytest.fixture
def files(tmp_path):
    return DataFolder(tmp_path / "files", tmp_path / "data.sqlite", name="t")


def content(files, name):
    return files.types(name), files.read(name)


def problems(report):
    return {problem.file_path: problem.reason for problem in report.failed}


def left_out(report):
    return {problem.file_path: problem.reason for problem in report.details.left_out}


RECORDS = [
    {"id": 1, "price": 1.5, "day": "2025-06-01", "code": "007", "at": {"city": "京", "zip": None}},
    {"id": 2**60, "price": 2, "day": "NA", "code": "", "tags": ["a", 1], "at": {"city": "x\ny"}},
    {"id": None, "price": None, "code": "8", "at": None, "more": True},
]  # fmt: skip
COLUMNS = {
    "id": "BIGINT", "price": "DOUBLE", "day": "DATE", "code": "VARCHAR", "at.city": "VARCHAR",
    "at.zip": "VARCHAR", "tags": "VARCHAR", "at": "VARCHAR", "more": "BOOLEAN",
}  # fmt: skip
READ = [
    (1, 1.5, date(2025, 6, 1), "007", "京", None, None, None, None),
    (2**60, 2.0, None, "", "x\ny", None, '["a", 1]', None, None),
    (None, None, None, "8", None, None, None, None, True),
]


def lines(records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_json_in_every_form_is_the_same_table(files):
    files.write("list.json", json.dumps(RECORDS, indent=2))
    files.write("lines.ndjson", lines(RECORDS))
    files.write("odd_lines.json", "\n" + lines(RECORDS))
    files.write("inner.json", json.dumps({"total": 3, "data": RECORDS}))
    (files.folder / "packed.jsonl.gz").write_bytes(gzip.compress(lines(RECORDS).encode()))
    (files.folder / "cp932.json").write_bytes(lines(RECORDS).encode("cp932"))
    files.write("columns.json", json.dumps({"a": [1, 2], "b": ["x", None]}))
    report = files.import_("new")
    assert problems(report) == left_out(report) == {}
    for name in ("list", "lines", "odd_lines", "inner", "packed", "cp932"):
        assert content(files, f"t__{name}") == (COLUMNS, READ)
    assert content(files, "t__columns") == (
        {"a": "BIGINT", "b": "VARCHAR"}, [(1, "x"), (2, None)],
    )  # fmt: skip


def test_json_that_is_no_table_is_left_out_and_broken_json_names_its_line(files):
    files.write("env_1.json", '{"debug": true}')
    files.write("env_2.json", '{"debug": false}')
    files.write("config.json", '{"debug": true, "paths": ["a"]}')
    files.write("numbers.json", "[1, 2]")
    files.write("none.json", "[]")
    files.write("cut.ndjson", '{"a": 1}\n{"a": 2')
    files.write("cut.json", '[{"a": 1},\n\n{"a": 2}')
    files.write("odd.ndjson", '{"a": 1}\n{"a": oops}\n{"a": 3}\n')
    files.write("mixed.ndjson", '{"a": 1}\n[2]\n')
    files.write("twice.ndjson", '{"a": 1, "a": 2}\n')
    files.write("half.ndjson", '{"a": "\\ud800"}\n')
    files.write("more.json", '[{"a": 1}]\n{}')
    report = files.import_("new")
    assert left_out(report) == {
        "config.json": "it is one object, not a list of objects",
        "env_1.json": "it is one object, not a list of objects",
        "env_2.json": "it is one object, not a list of objects",
        "none.json": "it holds no records",
        "numbers.json": "line 1: it holds a single value, not objects",
    }
    assert problems(report) == {
        "cut.json": "line 3: it is not valid JSON: the file ends early",
        "cut.ndjson": "line 2: it is not valid JSON: the file ends early",
        "half.ndjson": "row 1: a text holds half of a character; write the file again",
        "mixed.ndjson": "line 2: it holds a list where the values before are objects",
        "more.json": "line 2: it is not valid JSON: there is more after the end of the list",
        "odd.ndjson": "line 2: it is not valid JSON: expecting value",
        "twice.ndjson": "line 1: it is not valid JSON: an object has the name 'a' twice",
    }
    assert files.import_().details.left_out == report.details.left_out


# openpyxl writes 16 digits of a number, as Excel does.
WHOLE = st.integers(-(2**53), 2**53 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: float(f"{x:.16g}"))
CELLS = {
    "BIGINT": WHOLE,
    "DOUBLE": FLOATS.filter(lambda x: x - x == 0) | WHOLE,
    "BOOLEAN": st.booleans(),
    "VARCHAR": st.text(st.characters(exclude_categories=["Cs", "Cc"])).map(lambda text: f"x{text}"),
}


def in_a_workbook(cell):
    """A cell as openpyxl can write it: a number of at most 15 digits, as in Excel, or none."""
    is_long = type(cell) in (int, float) and float(f"{cell:.15g}") != cell
    return None if is_long else cell


@settings(max_examples=3)
@given(data=st.data())
def test_what_json_workbooks_and_sqlite_hold_is_what_is_read(tmp_path_factory, data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    row = st.tuples(*[st.none() | CELLS[kind] for kind in kinds])
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    folder = tmp_path_factory.mktemp("made")
    files = DataFolder(folder / "files", folder / "data.sqlite", name="t")
    names = [f"c{number}" for number in range(len(kinds))]
    files.write("a.json", json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
    with sqlite3.connect(files.folder / "b.db") as made:
        made.execute(f"CREATE TABLE b ({', '.join(names)})")
        made.executemany(f"INSERT INTO b VALUES ({', '.join('?' * len(names))})", rows)
    made.close()
    written = [tuple(map(in_a_workbook, row)) for row in rows]
    workbook(files.folder / "c.xlsx", ("s", [names, *written]))
    assert problems(files.import_("new")) == {}
    assert files.read("t__a") == rows
    assert files.read("t__c") == [row for row in written if any(cell is not None for cell in row)]
    read = files.read("t__b__b")
    assert read == rows  # True is 1 in SQLite, and equals it here


def test_durations_of_an_arrow_file_are_text_as_in_workbooks(files):
    lengths = [timedelta(hours=26, minutes=3), None, -timedelta(seconds=1.5)]
    pl.DataFrame({"n": [1, 2, 3], "took": lengths}).write_ipc(files.folder / "a.feather")
    assert problems(files.import_("new")) == {}
    read = [(1, "26:03:00"), (2, None), (3, "-0:00:01.5")]
    assert content(files, "t__a") == ({"n": "BIGINT", "took": "VARCHAR"}, read)


def test_a_packed_csv_is_read_and_a_broken_one_names_its_line(files):
    text = io.StringIO()
    csv.writer(text).writerows(
        [["日付", "額"], *[[f"2025-06-{day:02}", day] for day in range(1, 31)]]
    )
    packed = gzip.compress(text.getvalue().encode())
    (files.folder / "sales_2025-06.csv.gz").write_bytes(packed)
    (files.folder / "sales_2025-07.csv").write_bytes(gzip.decompress(packed))
    (files.folder / "cut.csv.gz").write_bytes(packed[:-12])
    (files.folder / "bad.tsv.gz").write_bytes(b"a,b\n1,2\n")
    report = files.import_("new")
    assert problems(report) == {
        "bad.tsv.gz": "it is not a gzip file; pack it again",
        "cut.csv.gz": "line 31: the packed file ends early; download or pack it again",
    }
    assert list(files.tables()) == ["t__sales_2025_06", "t__sales_2025_07"]
    assert content(files, "t__sales_2025_06") == content(files, "t__sales_2025_07")
    assert {path.suffix for path in Path(f"{files.database}.datasets/1").iterdir()} == {".parquet"}
    assert is_bomb(2**29, 2**22)
    assert not is_bomb(2**29, 2**23)
    assert not is_bomb(2**27, 1)


def test_feather_and_arrow_files_keep_their_values_and_types(files):
    frame = pl.DataFrame(
        {"n": [1, None], "s": ["x", "東京"], "d": [date(2025, 6, 1), None],
         "t": [at("2025-06-01 05:00"), None], "l": [[1], [2, 3]]},
    )  # fmt: skip
    frame.write_ipc(files.folder / "a.feather")
    frame.write_ipc_stream(files.folder / "b.arrow")
    files.write("c.arrow", "no arrow")
    (files.folder / "d.arrow").write_bytes((files.folder / "a.feather").read_bytes()[:200])
    report = files.import_("new")
    kinds = {"n": "BIGINT", "s": "VARCHAR", "d": "DATE", "t": "TIMESTAMP", "l": "BIGINT[]"}
    assert content(files, "t__a") == content(files, "t__b") == (kinds, frame.rows())
    assert problems(report) == {
        "c.arrow": "it is not an Arrow file; write it again",
        "d.arrow": "it cannot be read as an Arrow file (out-of-spec: InvalidFooter)",
    }


# Files of other programs, as those here cannot write such a column.
DECIMALS_OF_60_DIGITS = {
    "d.arrow":
    "c-p;@F%H5o3`KuRNUO?2h6*us=-8Ewfu$!v>cRy$2qR-B&cH3<$8|)7fRQi7j#K;PD;>u1c-"
    "jFE>H;7lsfHk6jfy+UdDdW6F?x$U=4y1N;aNbbUC|h>Ou4mQSpS*Cs0>l|fvd<LG5fe0H%YKDC!%z$Jhn_7vTD|%"
    "#LSB?oT|Wgb&I`wn@hUkw~}AjokG_^oyOTKUF{kB#d}RQH+{Gte|Y0N)1d$S30D#r&j",
    "d.parquet":
    "c-jka3^EjD5j7Dt@eySbWe{S(4W@}Qhzf}c=>XLUh_Z>Y$pFQeK$ww{i9wV_Qpc1*f~`0?BQ-Zs6ez$4G?Yn#F-"
    "4UNXnuuG42T4(7Gsi>k(5zmkP+pRG-"
    "Y5DkOV3b1&WGwFanWUgc^sY4p1or$Os0YMNAAfnrxD4V4FZ{nAA9c6oZCBL1Iy1X=;gXazTM^Vo_0kxk6cLQE_H|"
    "o`R8?o`IgBqzuS`Gk`b%=tlsGZywG",
}  # fmt: skip


def test_long_integers_of_arrow_are_exact_and_decimals_too_long_are_refused(files):
    frame = pl.DataFrame(
        {
            "long": pl.Series([2**100, -5], dtype=pl.Int128),
            "short": pl.Series([2**62, None], dtype=pl.Int128),
            "list": pl.Series([[2**90], []], dtype=pl.List(pl.Int128)),
        }
    )
    frame.write_ipc(files.folder / "a.arrow")
    for name, packed in DECIMALS_OF_60_DIGITS.items():
        (files.folder / name).write_bytes(zlib.decompress(base64.b85decode(packed)))
    reason = (
        "its column 'd' has decimals of more than 38 digits, which would be rounded; write them as "
        "text"
    )
    assert problems(files.import_("new")) == dict.fromkeys(DECIMALS_OF_60_DIGITS, reason)
    assert content(files, "t__a") == (
        {"long": "VARCHAR", "short": "BIGINT", "list": "VARCHAR[]"},
        [(str(2**100), 2**62, [str(2**90)]), ("-5", None, [])],
    )


def workbook(path, *sheets):
    """A workbook of (name, rows) with whatever openpyxl writes."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return book


def test_a_sheet_without_a_header_loses_no_row(files):
    days = [(date(2025, 1, day), "a", day) for day in (1, 2, 3)]
    workbook(files.folder / "a.xlsx", ("s", days))
    workbook(files.folder / "b.xlsx", ("s", [("a", 1), ("b", 2)]))
    report = files.import_("new")
    assert files.read("t__a") == days
    assert "--read header=none" in problems(report)["b.xlsx"]
    options = DatasetOptions(readings=reading_choices(["header=none"], pattern="b.xlsx"))
    files.import_(options=options)
    assert content(files, "t__b") == (
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
    assert content(files, "t__a") == (
        {"地域": "VARCHAR", "店": "VARCHAR", "額": "BIGINT", "番号": "VARCHAR", "メモ": "VARCHAR",
         "入金": "VARCHAR"},
        rows,
    )  # fmt: skip
    (reading,) = report.details.readings[0]
    assert reading.understood.notes == (
        "merged cells are filled down: 1",
        "merged cells with a number count in their first row only: 1",
        "rows of totals are among the others: 4, 6; leave them out with --read totals=out",
        "hidden rows are read as well: 5",
        "cells of a column are formatted in several currencies, so it is text",
    )
    files.import_(options=DatasetOptions(readings=reading_choices(["totals=out"])))
    assert files.read("t__a") == [rows[0], rows[1], rows[3]]


POSTAL = "[<=999]000;[<=9999]000-00;000-0000"


@pytest.mark.parametrize(
    ("formats", "values"),
    [
        (["000-0000", POSTAL, r"000\-0000"], ["060-0001"] * 3),
        ([POSTAL, "000-0000", '"〒"000-0000'], ["060-0001", "060-0001", "〒060-0001"]),
        (["(000) 000-0000", "0000000", "0000"], ["(000) 060-0001", "0600001", "600001"]),
        (['"US$"#,##0', '"A$"#,##0', "$#,##0"], ["US$600001", "A$600001", "$600001"]),
        (['#,##0"個"', '#,##0"箱"', "#,##0"], ["600001個", "600001箱", "600001"]),
        (["[$¥-411]#,##0", '#,##0"円"', '"¥"#,##0'], [600001] * 3),
        (['#,##0"個"', '#,##0;"▲"#,##0', r"_-* #,##0\ _€_-"], [600001] * 3),
        (["0", "0.00E+00", '#,##0,"千円"'], [600001] * 3),
    ],
)
def test_numbers_of_a_sheet_are_read_as_their_formats_mean_them(files, formats, values):
    book = workbook(
        files.folder / "a.xlsx", ("s", [["a", "v"], *([str(n), 600001] for n in "xyz")])
    )
    for row, shown in enumerate(formats, 2):
        book["s"][f"B{row}"].number_format = shown
    book.save(files.folder / "a.xlsx")
    files.import_("new")
    assert files.read("t__a", "v") == [(value,) for value in values]


TOTALS = ["計", "合計：", "Total:", "合計(税込)", "総　計", "東京 計", "【小計】", "月計 合計"]
NO_TOTALS = ["会 計", "時計", "合計額の内訳", "計画", "A"]


@pytest.mark.parametrize("name", [*TOTALS, *NO_TOTALS])
def test_only_the_first_text_of_a_row_names_a_total(files, name):
    rows = [("A", "合計", 3), ("B", None, 4), (name, "備考", 7), (None, None, 9)]
    workbook(files.folder / "a.xlsx", ("s", [("品名", "備考", "額"), *rows]))
    files.import_("new", options=DatasetOptions(readings=reading_choices(["totals=out"])))
    assert files.read("t__a") == [row for row in rows if row[0] not in TOTALS]


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
    (reading,) = report.details.readings[0]
    assert [note.split(";")[0] for note in reading.understood.notes] == [
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
    assert content(files, "t__a__売上") == (
        {"日付": "DATE", "店": "VARCHAR", "額": "DOUBLE", "時刻": "TIMESTAMP", "開店": "TIME",
         "経過": "BIGINT", "率": "DOUBLE", "メモ": "BOOLEAN"},
        [(date(2025, 6, 1), "東京", 1200.0, at("2025-06-01 05:30"), time(9, 30), 1234, 0.125,
          True),
         (date(2025, 6, 2), "00123", None, at("2025-06-02"), time(18), -500, None, None),
         (None, None, 2.5, None, None, 12, 1.0, False)],
    )  # fmt: skip
    assert content(files, "t__a__階層") == (
        {"店": "VARCHAR", "2024年 売上": "BIGINT", "2024年 数": "BIGINT", "2025年 売上": "BIGINT",
         "2025年 数": "BIGINT"},
        [("東京", 1, 2, 3, 4)],
    )  # fmt: skip
    assert content(files, "t__a__式") == (
        {"n": "BIGINT", "倍": "VARCHAR"},
        [(1, None), (None, "x")],
    )
    assert content(files, "t__b") == ({"a": "BIGINT", "c": "VARCHAR"}, [(1, "x")])
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
    with zipfile.ZipFile(files.folder / "a.xlsx") as made:
        place = made.getinfo("xl/worksheets/sheet1.xml").header_offset + 80
    (files.folder / "bent.xlsx").write_bytes(whole[:place] + bytes(20) + whole[place + 20 :])
    assert problems(files.import_("new")) == {
        "bent.xlsx": "it is not a complete workbook; save it again",
        "bomb.xlsx": "it unpacks to more than 100 times its size; save it as .csv if you trust it",
        "cut.xlsx": "it is not a complete workbook; save it again",
        "locked.xlsx": "it is locked by a password, or of an older kind; save it as .xlsx without "
        "a password",
        "odd.xlsx": "it is not a complete workbook; save it again",
    }


def test_sqlite_tables_are_read_by_what_their_values_are(files):
    place = files.folder / "a.sqlite"
    with sqlite3.connect(place) as made:
        made.executescript(
            "CREATE TABLE t (i INTEGER, r REAL, d DATE, b BOOLEAN, x BLOB, mixed, code TEXT,"
            " none DATETIME, twice INTEGER AS (i * 2));"
            "INSERT INTO t (i, r, d, b, x, mixed, code) VALUES"
            " (9007199254740993, 0.1, '2025-06-01', 1, x'00ff', 1, '12'),"
            " (NULL, 2, NULL, 0, NULL, 'a', ''), ('N/A', NULL, '2025-06-02', NULL, x'', 2.5, NULL);"
            "CREATE VIEW v AS SELECT * FROM t; CREATE VIRTUAL TABLE f USING fts5(words);"
        )
    made.close()
    (files.folder / "thumbs.db").write_bytes(b"\0\1\2")
    (files.folder / "cut.db").write_bytes(place.read_bytes()[:5000])
    report = files.import_("new")
    assert content(files, "t__a__t") == (
        {"i": "BIGINT", "r": "DOUBLE", "d": "DATE", "b": "BOOLEAN", "x": "BLOB",
         "mixed": "VARCHAR", "code": "VARCHAR", "none": "TIMESTAMP"},
        [(2**53 + 1, 0.1, date(2025, 6, 1), True, b"\0\xff", "1", "12", None),
         (None, 2.0, None, False, None, "a", "", None),
         (None, None, date(2025, 6, 2), None, b"", "2.5", None, None)],
    )  # fmt: skip
    assert left_out(report) == {
        "a.sqlite#f": "it is a virtual table; only ordinary ones are copied",
        "a.sqlite#t.twice": "it is a computed column; only columns that hold values are copied",
        "a.sqlite#v": "it is a view; only tables are copied",
        "thumbs.db": "it is not a SQLite database, or it is encrypted",
    }
    assert problems(report) == {"cut.db": "it is not a complete SQLite database; copy it again"}


def test_a_row_too_large_to_store_is_named_with_what_to_do(files):
    with sqlite3.connect(files.folder / "a.sqlite") as made:
        made.execute("CREATE TABLE t (a)")
        made.execute("INSERT INTO t VALUES (1), (zeroblob(40000000))")
    made.close()
    with sqlite3.connect(files.folder / "b.sqlite") as made:
        made.execute("CREATE TABLE t (a)")
        made.execute("INSERT INTO t VALUES (zeroblob(70000000))")
    made.close()
    assert problems(files.import_("new")) == {
        "a.sqlite#t": "row 2 holds more than 64 MB as text (bytes count twice); leave such values "
        "out of the file",
        "b.sqlite#t": "one of its values has more than 64 MB; leave such values out of the file",
    }


@contextmanager
def locking(place):
    """Another process that is writing to a database."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE"
        "'); print('ready', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def test_a_database_being_written_is_read_with_its_log_and_mdvecs_own_never(files):
    other = DataFolder(files.folder / "x", files.folder / "other.db", name="t")
    before = (files.folder / "other.db").read_bytes()
    writer = sqlite3.connect(files.folder / "w.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("CREATE TABLE t (n)")
    writer.execute("INSERT INTO t VALUES (1)")
    report = files.import_("new")
    assert files.read("t__w__t") == [(1,)]
    assert left_out(report) == {"other.db": "it is a database of mdvec itself"}
    writer.execute("INSERT INTO t VALUES (2)")
    assert files.import_().updated == 1
    assert files.read("t__w__t") == [(1,), (2,)]
    writer.execute("PRAGMA journal_mode = delete")
    writer.close()
    with locking(files.folder / "w.db"):
        locked = files.import_()
    assert problems(locked) == {
        "w.db": "another program is writing to it; import again when it is done"
    }
    assert files.read("t__w__t") == [(1,), (2,)]
    assert (files.folder / "other.db").read_bytes() == before
    assert other.tables() == {}


def test_a_header_of_two_rows_is_taken_only_where_the_lower_repeats_names():
    assert sheet_header([["a", "", "b"], ["x", "y", "z"], ["1", "2", "3"]]).names == ("a", "", "b")
    assert sheet_header([["s", "G"], ["", "x", "y"], ["k", "2", "3"]]).names == ("s", "G x", "G y")
    assert sheet_header([["t"], ["a", "b", "c"], ["d", "e", "f"]]).names == ("a", "b", "c")
    with pytest.raises(NoHeader, match="--header-row"):
        sheet_header([["t"], ["a", "5", "c"], ["d", "6", "f"]])
    assert sheet_header([["t"], ["A", "", "B"], ["x", "y", "x"], ["1", "2", "3"]]).names == (
        "A x", "A y", "B x",
    )  # fmt: skip
