"""Many files as one table: which files join it, what is read again, and every cell of it."""

import csv
import os
from datetime import date, timedelta

import duckdb
import openpyxl
import polars as pl
import pytest
from source_folder import DataFolder, left_out

from mdvec.datasets.interfaces.combining import CombinedColumns, CombinedRows, combine
from mdvec.datasets.interfaces.snapshots import Snapshots
from mdvec.datasets.options import InvalidTableChoice
from mdvec.datasets.report import table_line
from mdvec.importing.options import ImportRefused
from mdvec.sql.data import table_origin
from mdvec.sync.freshness import check_source


class Shop(DataFolder):
    """A folder of data files and its tool ``s``."""

    def csv(self, path, *rows, header="day,shop,yen"):
        self.write(path, "\n".join([header, *rows]) + "\n")
        return self.folder / path


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path / "shop", tmp_path / "data.sqlite", name="s")


def test_monthly_files_are_one_table_with_every_cell_and_its_file(shop):
    for month in range(8, 14):
        name = f"sales_{2024 + month // 12}-{month % 12 + 1:02}.csv"
        rows = [f"{2024 + month // 12}-{month % 12 + 1:02}-{day:02},店{day % 3},{day * month}"
                for day in range(1, 29)]  # fmt: skip
        shop.csv(name, *rows)
    report = shop.import_("new")
    (table,) = report.details.tables
    assert (table.name, table.rows, len(table.combined.files)) == ("s__sales", 6 * 28, 6)
    said = "s__sales: 168 rows, 4 columns, from sales_*.csv (6 files); day"
    assert table_line(table).startswith(said)
    expected = []
    for file in sorted(shop.folder.iterdir()):
        with file.open(encoding="utf-8", newline="") as text:
            expected += [
                (row["day"], row["shop"], int(row["yen"]), file.name)
                for row in csv.DictReader(text)
            ]
    assert shop.read("s__sales", "day::VARCHAR, shop, yen, file") == expected
    assert len(shop.copies) == 1
    assert not check_source(shop.database, "s", shop.request("update").rules).is_stale


def test_a_changed_file_is_read_again_alone(shop):
    files = [shop.csv(f"sales_{month}.csv", f"2024-0{month}-01,a,{month}") for month in (1, 2, 3)]
    shop.import_("new")
    # Another content in the same size and time: whoever reads it again would see it.
    state = files[0].stat()
    files[0].write_text("day,shop,yen\n2024-01-01,a,9\n")
    os.utime(files[0], ns=(state.st_atime_ns, state.st_mtime_ns))
    files[1].write_text("day,shop,yen\n2024-02-01,b,20\n2024-02-02,b,21\n")
    files[2].unlink()
    shop.csv("sales_4.csv", "2024-04-01,d,4")
    report = shop.import_()
    assert (report.updated, report.added, report.failed) == (1, 0, ())
    assert shop.read("s__sales", "yen, file") == [
        (1, "sales_1.csv"), (20, "sales_2.csv"), (21, "sales_2.csv"), (4, "sales_4.csv"),
    ]  # fmt: skip
    before = shop.copies
    assert shop.import_().unchanged == 1
    assert shop.copies == before


def test_a_column_keeps_its_exact_text_where_the_types_of_files_differ(shop):
    header = "n,x,t,code,empty"
    shop.csv("a1.csv", "1,1,2024-01-01,7,NA", header=header)
    shop.csv("a2.csv", "2,1.5,2024-01-02 10:00,00123,5", header=header)
    shop.csv("a3.csv", '"1,234",NA,NA,NA,NA', header=header)
    shop.import_("new")
    assert shop.types("s__a") == {
        "n": "BIGINT", "x": "DOUBLE", "t": "TIMESTAMP", "code": "VARCHAR", "empty": "BIGINT",
        "file": "VARCHAR",
    }  # fmt: skip
    assert shop.read("s__a", "n, x, t::VARCHAR, code, empty") == [
        (1, 1.0, "2024-01-01 00:00:00", "7", None),
        (2, 1.5, "2024-01-02 10:00:00", "00123", 5),
        (1234, None, None, "NA", None),
    ]
    shop.csv("a4.csv", "1.50円です,2,2024-02-01,8,1", header=header)
    shop.import_()
    # The text of files that were numbers comes from the files, not from the numbers.
    assert shop.read("s__a", "n, code") == [
        ("1", "7"), ("2", "00123"), ("1,234", "NA"), ("1.50円です", "8"),
    ]  # fmt: skip


def test_a_column_that_only_a_parquet_file_of_other_types_has_is_not_in_the_table(shop):
    for number, row in enumerate(["'x' AS a", "'y' AS a", "3 AS a, 4 AS b"], 1):
        path = shop.folder / f"m_{number}.parquet"
        duckdb.execute(f"COPY (SELECT {row}) TO '{path}' (FORMAT parquet)")
    report = shop.import_("new")
    assert report.failed == ()
    assert shop.read("s__m", "a, file") == [("x", "m_1.parquet"), ("y", "m_2.parquet")]
    assert shop.types("s__m") == {"a": "VARCHAR", "file": "VARCHAR"}
    assert shop.read("s__m_3", "a, b") == [(3, 4)]


def test_durations_of_parquet_are_numbers_whose_unit_is_named_and_units_are_never_mixed(shop):
    lap = pl.DataFrame({"n": [7], "lap": [timedelta(seconds=90)], "all": [[timedelta(seconds=5)]]})
    units = {"m_1": "us", "m_2": "us", "x_1": "us", "x_2": "ms"}
    for name, unit in units.items():
        columns = pl.col("lap").cast(pl.Duration(unit)), pl.col("all").cast(pl.List(pl.Duration))
        lap.with_columns(*columns).write_parquet(shop.folder / f"{name}.parquet")
    shop.import_("new")
    tables = shop.tables()
    micro, milli, within = (
        f"{column}: durations are whole numbers of {unit}"
        for column, unit in (
            ("lap", "microseconds"), ("lap", "milliseconds"), ("all.item", "microseconds"),
        )
    )  # fmt: skip
    assert [each.reading for each in tables["s__m"].combined.files] == [f"{micro}; {within}"] * 2
    assert tables["s__x_1"].reading == f"{micro}; {within}"
    assert tables["s__x_2"].reading == f"{milli}; {within}"
    assert shop.read("s__m", "lap, file") == [
        (90_000_000, "m_1.parquet"), (90_000_000, "m_2.parquet"),
    ]  # fmt: skip
    assert shop.read("s__x_2", "lap") == [(90_000,)]


def test_different_currencies_in_different_files_stay_text(shop):
    for month, (price, rate) in enumerate([("$5", "5%"), ("$6.50", "6%")], 1):
        shop.csv(f"a{month}.csv", f"{price},{rate}", header="price,rate")
    shop.import_("new")
    assert shop.read("s__a", "price, rate") == [(5.0, 5.0), (6.5, 6.0)]
    shop.csv("a3.csv", "7円,NA", header="price,rate")
    shop.import_()
    assert shop.read("s__a", "price, rate") == [("$5", 5.0), ("$6.50", 6.0), ("7円", None)]


def test_what_differs_from_file_to_file_stays_text_and_the_report_says_so(shop):
    cases = {
        "k": (("$5.5", "5.5"), "DOUBLE in $ (k_1.csv), DOUBLE (k_2.csv)"),
        "l": (("0.5", "5%"), "DOUBLE (l_1.csv), DOUBLE in % (l_2.csv)"),
        "m": (("$1.5", "5%"), "DOUBLE in $ (m_1.csv), DOUBLE in % (m_2.csv)"),
        "n": (("2025/5/1", "20250601"), "DATE (n_1.csv), BIGINT (n_2.csv)"),
        # A double would round it.
        "o": (("123456789012345678", "1.5"), "BIGINT over 15 digits (o_1.csv), DOUBLE (o_2.csv)"),
    }
    for name, (texts, _) in cases.items():
        for month, text in enumerate(texts, 1):
            shop.csv(f"{name}_{month}.csv", f"a,{text}", header="x,v")
    shop.csv("good.csv", "1", header="n")
    report = shop.import_("new")
    assert shop.read("s__good", "n") == [(1,)]
    readings = {file: read for table in report.details.readings for file, read in table.items()}
    for name, (texts, units) in cases.items():
        assert shop.read(f"s__{name}", "v") == [(text,) for text in texts]
        said = f"the column 'v' is text, as the files differ: {units}"
        assert said in readings[f"{name}_*.csv"].notes
        assert said in table_origin(shop.database, f"s__{name}")["read"]


@pytest.mark.parametrize("is_later", [False, True])
def test_decimal_commas_of_one_file_put_the_points_of_others_in_question(shop, is_later):
    header = "a;v;w"
    shop.csv("m_1.csv", "x;1.234;1", header=header)
    shop.csv("m_2.csv", "y;2.500;2", header=header)
    if is_later:
        shop.import_("new")
        assert shop.read("s__m", "v") == [(1.234,), (2.5,)]
    commas = shop.csv("m_3.csv", "z;12,50;3", header=header)
    report = shop.import_("update" if is_later else "new")
    assert shop.read("s__m", "v, w") == [("1.234", 1), ("2.500", 2), ("12,50", 3)]
    said = [
        column.decision
        for readings in report.details.readings
        for understood in readings.values()
        for column in understood.columns
    ]
    assert any("--read 'v=comma' or 'v=number'" in decision for decision in said)
    shop.csv("m_4.csv", "z;3.000;3", header=header)
    shop.import_()
    assert shop.read("s__m", "v")[3:] == [("3.000",)]
    if is_later:
        return
    commas.unlink()  # and the points are no longer in question
    shop.import_()
    assert shop.read("s__m", "v") == [(1.234,), (2.5,), (3.0,)]


def test_what_was_unusual_in_reading_a_table_is_known_to_whoever_asks_about_it_later(shop):
    """Also of files that a later import did not read again, until all of them are read anew."""

    def known(table):
        return table_origin(shop.database, table).get("read", "")

    for month in (1, 2):
        days = [f"2025-0{month}-0{day},a,{day}" for day in range(1, 6)]
        shop.csv(f"m_2025-0{month}.csv", *days, f"2025-0{month}-07,b,不明")
    shop.csv("pop.csv", "2025-01-01,東京,1", "2025-01-01,大阪,2", "合計,,3")
    shop.csv("plain.csv", "2025-01-01,a,1")
    shop.import_("new")
    assert "合計 (1); leave them out" in known("s__pop")
    assert known("s__m").startswith("m_2025-01.csv and 1 more: yen: 不明 (1) kept")
    assert known("s__plain") == ""
    shop.csv("m_2025-02.csv", "2025-02-01,a,1", "2025-02-02,b,2")
    shop.import_()
    differ = "the column 'yen' is text, as the files differ: text (m_2025-01.csv), BIGINT"
    for _ in range(2):  # what is said of one file does not add up
        said = f"{differ} (m_2025-02.csv); m_2025-01.csv: yen: 不明 (1) kept"
        assert known("s__m").startswith(said)
        shop.csv("m_2025-02.csv", "2025-02-01,a,1", "2025-02-02,b,3")
        shop.import_()
    shop.csv("m_2025-01.csv", "2025-01-01,a,1", "2025-01-02,b,2")
    shop.import_("replace")
    assert known("s__m") == ""
    assert "合計 (1)" in known("s__pop")


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_column_is_text_only_as_long_as_a_file_makes_it_text(shop, is_gone):
    for month in (5, 6):
        shop.csv(f"m_2025-0{month}.csv", *(f"2025-0{month}-0{n},a,{n}00" for n in range(1, 10)))
    shop.import_("new")
    odd = shop.csv("m_2025-07.csv", "2025-07-01,a,不明", "2025-07-02,a,1000")
    shop.import_()
    assert shop.types("s__m")["yen"] == "VARCHAR"
    shop.csv("m_2025-08.csv", "2025-08-01,a,50")  # another file that is no reason
    shop.import_()
    assert shop.types("s__m")["yen"] == "VARCHAR"
    differ = "BIGINT (m_2025-05.csv and 2 more files), text (m_2025-07.csv)"
    assert differ in table_origin(shop.database, "s__m")["read"]
    if is_gone:
        odd.unlink()
    else:
        shop.csv("m_2025-07.csv", "2025-07-01,a,900", "2025-07-02,a,1000")
    shop.import_()
    assert shop.read("s__m", "max(yen), typeof(max(yen))") == [(900 if is_gone else 1000, "BIGINT")]
    assert "read" not in table_origin(shop.database, "s__m")


def test_cells_such_as_dashes_are_said_to_be_null_where_the_other_files_make_them_so(shop):
    def read():
        return table_origin(shop.database, "s__m")["read"]

    for month in (5, 6):
        shop.csv(f"m_2025-0{month}.csv", f"2025-0{month}-01,a,-", f"2025-0{month}-02,a,-")
    shop.import_("new")
    assert "yen: - (2) kept as text" in read()
    shop.csv("m_2025-07.csv", "2025-07-01,a,5")
    shop.import_()
    assert shop.read("s__m", "count(*), count(yen), sum(yen)") == [(5, 1, 5)]
    assert read() == "m_2025-05.csv and 1 more: yen: 2 cells such as NA → NULL"


def test_the_order_in_which_files_arrive_does_not_decide_which_of_them_join(shop):
    for month, name in {1: "", 2: "", 3: "note", 4: "tax"}.items():
        header = ",".join(filter(None, ("day,shop,yen", name)))
        shop.csv(f"m_{month}.csv", f"2025-01-01,a,{month}{',9' * bool(name)}", header=header)
        shop.import_("update" if month > 1 else "new", tables=["m=m_*.csv"])
    columns = [*shop.types("s__m")]
    assert columns == ["day", "shop", "yen", "note", "tax", "file"]
    assert shop.read("s__m", "yen, note, tax") == [
        (1, None, None), (2, None, None), (3, 9, None), (4, None, 9),
    ]  # fmt: skip
    shop.csv("m_5.csv", "2025-01-01,5,1", header="day,yen,colour")
    assert "it lacks shop and has colour as well" in left_out(shop.import_())["m_5.csv"]
    (shop.folder / "m_3.csv").unlink()
    shop.import_()
    assert [*shop.types("s__m")] == [name for name in columns if name != "note"]


def test_workbooks_with_other_currencies_are_text_as_shown(shop):
    for month, shown in enumerate(('"¥"#,##0', "[$$-409]#,##0.00", "General"), 1):
        book = openpyxl.Workbook()
        book.active.append(["day", "price"])
        book.active.append([date(2025, month, 1), 5.5])
        book.active["B2"].number_format = shown
        book.save(shop.folder / f"sales_2025-0{month}.xlsx")
    shop.import_("new")
    assert shop.read("s__sales", "price") == [("¥5.5",), ("$5.5",), ("5.5",)]


def test_monthly_workbooks_are_one_table_and_one_of_several_sheets_is_named(shop):
    for month in range(1, 5):
        book = openpyxl.Workbook()
        book.active.append(["day", "yen"])
        book.active.append([date(2025, month, 1), month])
        if month == 4:
            book.create_sheet("more").append(["day", "yen"])
        book.save(shop.folder / f"sales_2025-0{month}.xlsx")
    report = shop.import_("new")
    assert (report.failed, list(shop.tables())) == (
        (), ["s__sales", "s__sales_2025_04__more", "s__sales_2025_04__sheet"],
    )  # fmt: skip
    expected = [(date(2025, month, 1), month, f"sales_2025-0{month}.xlsx") for month in (1, 2, 3)]
    assert shop.read("s__sales") == expected
    (reason,) = left_out(report).values()
    assert "unlike the other files of sales_*.xlsx it holds several; leave one in it" in reason
    again = shop.import_()
    assert (again.unchanged, left_out(again)) == (3, left_out(report))
    book = openpyxl.load_workbook(shop.folder / "sales_2025-02.xlsx")
    book.create_sheet("memo").append(["to be checked"])
    book.save(shop.folder / "sales_2025-02.xlsx")
    assert "sales_2025-02.xlsx" in left_out(shop.import_())
    said = table_origin(shop.database, "s__sales")["read"]
    assert said.startswith("not in it, though named alike: sales_2025-02.xlsx, sales_2025-04.xlsx")


def test_a_file_with_other_columns_stays_a_table_of_its_own_and_is_named(shop):
    shop.csv("sales_1.csv", "2024-01-01,a,1")
    shop.csv("sales_2.csv", "b,2,2024-01-01", header="shop,yen,day")
    shop.csv("sales_3.csv", "2024-01-01,3", header="day,price")
    report = shop.import_("new")
    assert set(shop.tables()) == {"s__sales", "s__sales_3"}
    start = "imported, but not combined: sales_3.csv: it is a table of its own: unlike the other "
    assert report.lines()[-1].text.startswith(start)
    assert left_out(report) == {
        "sales_3.csv": "it is a table of its own: unlike the other files of sales_*.csv it lacks "
        "shop, yen and has price as well"
    }
    assert shop.read("s__sales", "day::VARCHAR, shop, yen") == [
        ("2024-01-01", "a", 1), ("2024-01-01", "b", 2),
    ]  # fmt: skip
    assert shop.import_().unchanged == 2
    shop.csv("sales_3.csv", "2024-01-03,c,3")
    shop.import_()
    assert {name: table.rows for name, table in shop.tables().items()} == {"s__sales": 3}


def test_files_with_another_column_order_or_capitals_combine_and_the_report_says_so(shop):
    shop.csv("sales_1.csv", "2024-01-01,a,1")
    shop.csv("sales_2.csv", "b,2,2024-01-02", header="shop,yen,Day")
    shop.csv("sales_3.csv", "2024-01-03,c,3,x", header="day,shop,yen,note")
    report = shop.import_("new")
    columns = "day::VARCHAR, shop, yen, note, file"
    rows = [
        ("2024-01-01", "a", 1, None, "sales_1.csv"), ("2024-01-02", "b", 2, None, "sales_2.csv"),
        ("2024-01-03", "c", 3, "x", "sales_3.csv"),
    ]  # fmt: skip
    assert shop.read("s__sales", columns) == rows
    assert report.details.readings[0]["sales_*.csv"].notes == (
        "the column 'note' is NULL for files that lack it: sales_1.csv and 1 more file",
        "the column 'day' has its name in other capitals in sales_2.csv",
        "the columns stand in another order in sales_2.csv",
    )
    shop.csv("sales_2.csv", "b,2,2024-01-02", header="shop,yen,Day")
    assert shop.import_().details.readings[0]["sales_*.csv"].notes[0] == (
        "the column 'note' is NULL for files that lack it: sales_1.csv and 1 more file"
    )
    # Text is taken from the files again, whatever the capitals; kept rows get new columns.
    shop.csv("sales_4.csv", "long ago,d,4,y,5", header="day,shop,yen,note,more")
    shop.import_()
    assert shop.read("s__sales", f"{columns}, more") == [
        *((*row, None) for row in rows), ("long ago", "d", 4, "y", "sales_4.csv", 5),
    ]  # fmt: skip


def test_columns_that_differ_only_in_capitals_are_never_taken_for_each_other(shop):
    shop.csv("m_1.csv", "1,2,3", header="Date,date,v")
    shop.csv("m_2.csv", "4,5,6", header="Date,date,v")
    shop.csv("m_3.csv", "8,7,9", header="date,Date,v")
    shop.csv("m_4.csv", "10,11", header="date,v")
    report = shop.import_("new")
    assert shop.read("s__m", "Date, date_2, v") == [(1, 2, 3), (4, 5, 6)]
    reason = "it is a table of its own: 'date' and another column differ only in capitals; "
    assert left_out(report) == dict.fromkeys(("m_3.csv", "m_4.csv"), f"{reason}name them alike")


def test_a_year_beside_its_months_is_asked_about_and_other_kinds_are_listed(shop):
    for name in ("sales_2025-01", "sales_2025-02", "sales_2024"):
        shop.csv(f"{name}.csv", "2025-01-01,a,1")
    for name in ("a.pdf", "b.pdf", "old.numbers", "readme"):
        shop.write(name, "")
    shop.import_("new")
    shop.csv("sales_2025.csv", "2025-01-01,a,2")
    report = shop.import_()
    assert {name: table.rows for name, table in shop.tables().items()} == {
        "s__sales": 3, "s__sales_2025": 1,
    }  # fmt: skip
    assert left_out(report) == {
        "sales_2025.csv": "it is a table of its own: it may hold the rows of sales_2025-01.csv and "
        "others again; combine them with --table 'NAME=sales_*.csv'",
        "readme": "it is no file of data",
        "2 files .pdf": "it is no file of data",
        "old.numbers": "this kind of file is not read; save them as .xlsx",
    }
    shop.import_(tables=["sales=sales_*.csv"])
    assert {name: table.rows for name, table in shop.tables().items()} == {"s__sales": 4}


def test_files_all_of_whose_rows_are_in_another_are_named_as_long_as_they_are(shop):
    days = [f"2025-01-{day:02},a,{day}" for day in range(1, 31)]
    for number, until in ((20250110, 10), (20250120, 20), (20250130, 30)):
        shop.csv(f"m_{number}.csv", *days[:until])
    shop.import_("new")
    assert table_origin(shop.database, "s__m")["read"] == (
        "all rows of m_20250110.csv (10, in m_20250130.csv), m_20250120.csv (20, in "
        "m_20250130.csv) are in another file as well, and count more than once"
    )
    (shop.folder / "m_20250130.csv").unlink()
    shop.csv("m_20250120.csv", *days[10:20])
    shop.csv("m_20250131.csv", *days[10:20], days[0])
    shop.import_()
    named = "all rows of m_20250120.csv (10, in m_20250131.csv) are in another file as well,"
    assert table_origin(shop.database, "s__m")["read"].startswith(named)
    shop.csv("m_20250210.csv", *days[10:14], *days[15:])  # larger, but lacks a row
    shop.import_()
    assert table_origin(shop.database, "s__m")["read"].startswith(named)
    (shop.folder / "m_20250210.csv").unlink()
    shop.csv("m_20250131.csv", *days[10:19], "2025-01-31,,")
    shop.import_()
    assert "read" not in table_origin(shop.database, "s__m")


def test_a_tool_keeps_its_tables_until_it_is_rebuilt_or_the_user_names_one(shop):
    for month in (1, 2):
        shop.csv(f"sales_{month}.csv", f"2024-01-01,a,{month}")
    shop.import_("new", is_separate=True)
    shop.csv("sales_3.csv", "2024-01-01,a,3")
    shop.import_()
    assert set(shop.tables()) == {"s__sales_1", "s__sales_2", "s__sales_3"}
    shop.import_(tables=["some=sales_[12].csv"])
    assert {name: table.rows for name, table in shop.tables().items()} == {
        "s__some": 2, "s__sales_3": 1,
    }  # fmt: skip
    shop.import_("replace")
    assert set(shop.tables()) == {"s__some", "s__sales_3"}, "a chosen table stays"
    with pytest.raises(ImportRefused, match=r"no file fits 'x\*\.csv', which --table x names"):
        shop.import_(tables=["x=x*.csv"])
    with pytest.raises(InvalidTableChoice, match="is not NAME=PATTERN"):
        shop.import_(tables=["x*.csv"])


def test_a_file_that_becomes_unreadable_keeps_its_rows(shop):
    for month in (1, 2):
        shop.csv(f"sales_{month}.csv", f"2024-01-01,a,{month}")
    shop.import_("new")
    (shop.folder / "sales_2.csv").write_text('day,shop,yen\n"never closed')
    report = shop.import_()
    assert [problem.file_path for problem in report.failed] == ["sales_2.csv"]
    assert shop.read("s__sales", "yen") == [(1,), (2,)]


def test_hive_folders_are_one_table_with_the_columns_of_their_names(shop):
    for year, month in ((2024, "01"), (2024, "12"), (2025, "01")):
        folder = shop.folder / f"laps/year={year}/month={month}"
        folder.mkdir(parents=True)
        query = f"SELECT range AS n, {year}.5::DOUBLE AS x FROM range(2)"
        duckdb.execute(f"COPY ({query}) TO '{folder}/part-0.parquet' (FORMAT parquet)")
    shop.import_("new")
    assert shop.types("s__laps") == {
        "n": "BIGINT", "x": "DOUBLE", "year": "BIGINT", "month": "BIGINT", "file": "VARCHAR",
    }  # fmt: skip
    assert shop.read("s__laps", "n, x, year, month")[1:4] == [
        (1, 2024.5, 2024, 1), (0, 2024.5, 2024, 12), (1, 2024.5, 2024, 12),
    ]  # fmt: skip
    (shop.folder / "laps/year=2024/month=01/part-0.parquet").unlink()
    shop.import_()
    assert shop.read("s__laps", "year, month") == [
        (2024, 12), (2024, 12), (2025, 1), (2025, 1),
    ]  # fmt: skip


def test_a_group_whose_name_is_taken_stays_apart(shop):
    shop.csv("sales.csv", "2024-01-01,a,1")
    for month in (1, 2):
        shop.csv(f"sales_{month}.csv", f"2024-01-01,a,{month}")
    report = shop.import_("new")
    assert set(shop.tables()) == {"s__sales", "s__sales_1", "s__sales_2"}
    assert report.failed == ()


def test_more_files_than_are_opened_at_once_are_one_table(tmp_path):
    one = tmp_path / "one.parquet"
    duckdb.execute(f"COPY (SELECT 7 AS n) TO '{one}' (FORMAT parquet)")
    names = [f"f{number:03}" for number in range(230)]
    parts = [CombinedRows((name,), one, {"n": "INTEGER"}) for name in names]
    columns = CombinedColumns({"n": "BIGINT"}, {}, "file")
    whole = combine(parts, columns, Snapshots(tmp_path / "copies" / "1"))
    found = duckdb.sql(f"SELECT * FROM '{whole}'").fetchall()
    assert found == [(7, name) for name in names]


def test_a_file_that_turns_out_to_hold_no_table_any_longer_leaves_the_others(shop):
    shop.write("s_1.json", '[{"n": 1}]')
    shop.write("s_2.json", '[{"n": 2}]')
    shop.import_("new")
    shop.write("s_2.json", '[{"n": "two"}]')
    # s_1 is read again as text, after it has changed as well.
    report = shop.import_(on_progress=lambda _: shop.write("s_1.json", "[1]"))
    assert left_out(report) == {"s_1.json": "line 1: it holds a single value, not objects"}
    assert not report.failed
    assert shop.read("s__s") == [("two", "s_2.json")]
