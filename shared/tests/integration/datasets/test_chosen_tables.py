"""Tables that the user names with --table: none takes the rows of another unseen."""

import json

import duckdb
import pytest
from source_folder import DataFolder, left_out, problems, workbook
from table_of_cases import each

from mdvec.database.connection import open_database
from mdvec.datasets.options import InvalidTableChoice
from mdvec.importing.options import ImportRefused


class Shop(DataFolder):
    """Monthly sales and the files of two shops, as the tool ``m``."""

    def table(self, *tables, mode="update", is_separate=False):
        return self.import_(mode, tables, is_separate=is_separate)

    def put(self, *names):
        for name in names:
            self.write(name, "day,yen\n2024-01-01,7\n")

    def files(self):
        return {name: [*table.file_paths] for name, table in self.tables().items()}


def moved(report):
    return [str(each) for each in report.details.moved]


SALES = ["sales_2024-01.csv", "sales_2024-02.csv", "sales_2024-03.csv"]
SHOPS = {"m__shop_x": ["shop_x.csv"], "m__shop_y": ["shop_y.csv"]}


@pytest.fixture(scope="module")
def imported_shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imported")
    shop = Shop(folder / "shop", folder / "data.sqlite", name="m")
    shop.put(*SALES, "shop_x.csv", "shop_y.csv")
    shop.import_("new")
    assert shop.files() == {"m__sales": SALES, **SHOPS}
    return shop


@pytest.fixture
def shop(tmp_path, imported_shop):
    return imported_shop.copied(tmp_path)


@each("mode", ["update", "replace"])
@each(
    ("choice", "said"),
    [
        (
            "sales=shop_*.csv",
            "the table m__sales has sales_2024-01.csv, sales_2024-02.csv and 1 more, but that of "
            "'shop_*.csv' would not; choose another name, or give these files one as well: "
            "--table 'NAME=sales_*.csv'",
        ),
        ("Sales=shop_*.csv", "the table m__sales has sales_2024-01.csv"),
        (
            "shop_x=sales_*.csv",
            "shop_x.csv: its table would be called m__shop_x, as that of sales_*.csv is; give "
            "--table another name, or rename the file; nothing was changed",
        ),
    ],
)
def test_the_name_of_a_table_of_other_files_is_refused_and_all_stays(shop, mode, choice, said):
    with pytest.raises(ImportRefused) as refusal:
        shop.table(choice, mode=mode)
    assert str(refusal.value).startswith(said)
    assert shop.files() == {"m__sales": SALES, **SHOPS}


def test_a_name_is_free_once_its_files_have_another_table_or_are_gone(shop):
    report = shop.table("old=sales_*.csv", "sales=shop_*.csv")
    assert shop.files() == {"m__old": SALES, "m__sales": ["shop_x.csv", "shop_y.csv"]}
    assert moved(report) == [f"{', '.join(SALES)}: from m__sales to m__old"]
    for name in SALES:
        (shop.folder / name).unlink()
    shop.put("new.csv")
    shop.table("old=new.csv")
    assert shop.files() == {"m__old": ["new.csv"], "m__sales": ["shop_x.csv", "shop_y.csv"]}


@pytest.mark.parametrize("first", ["sales=sales_*.csv", None])
def test_a_file_that_a_new_pattern_leaves_out_is_a_table_of_its_own_again(shop, first):
    if first:
        shop.table(first)
    report = shop.table("sales=sales_*[12].csv")
    now = {"m__sales": SALES[:2], "m__sales_2024_03": SALES[2:], **SHOPS}
    assert shop.files() == now
    assert moved(report) == [f"{SALES[2]}: from m__sales to m__sales_2024_03"]
    assert shop.read("m__sales_2024_03", "yen") == [(7,)]
    assert moved(shop.import_()) == []
    assert shop.files() == now


def test_files_of_every_kind_that_leave_a_table_are_tables_again(tmp_path):
    shop = Shop(tmp_path / "shop", tmp_path / "data.sqlite", name="m")
    for number in (1, 2):
        path = shop.folder / f"p_{number}.parquet"
        duckdb.execute(f"COPY (SELECT {number} AS n) TO '{path}' (FORMAT parquet)")
        shop.write(f"j_{number}.json", json.dumps([{"n": number}]))
        workbook(shop.folder / f"x_{number}.xlsx", ("Sheet", [["n"], [number]]))
    shop.table(*(f"{kind}={kind}_*" for kind in "pjx"), mode="new")
    assert [*shop.tables()] == ["m__j", "m__p", "m__x"]
    shop.table(*(f"{kind}={kind}_1.*" for kind in "pjx"))
    for kind in "pjx":
        one, other = shop.read(f"m__{kind}", "n"), shop.read(f"m__{kind}_2", "n")
        assert (one, other) == ([(1,)], [(2,)]), kind


def test_rows_that_an_earlier_version_lost_come_back(shop):
    with open_database(shop.database, "write") as connection, connection:
        connection.execute("DELETE FROM dataset_tables WHERE name = 'm__sales'")
    shop.import_()
    assert sorted(path for files in shop.files().values() for path in files) == [
        *SALES, "shop_x.csv", "shop_y.csv",
    ]  # fmt: skip


def test_a_file_taken_by_a_later_pattern_stays_there(shop):
    shop.table("a=sales_*.csv")
    report = shop.table("b=*_2024-01.csv")
    now = {"m__a": SALES[1:], "m__b": SALES[:1], **SHOPS}
    assert shop.files() == now
    assert moved(report) == [f"{SALES[0]}: from m__a to m__b"]
    shop.put(*SALES)
    for mode in ("update", "replace"):
        shop.import_(mode)
        assert shop.files() == now
    shop.put("sales_x_2024-01.csv", "y_2024-01.csv")
    report = shop.import_()
    assert shop.files() == {
        **now, "m__b": [SALES[0], "y_2024-01.csv"],
        "m__sales_x_2024_01": ["sales_x_2024-01.csv"],
    }  # fmt: skip
    assert left_out(report) == {
        "sales_x_2024-01.csv": "it is a table of its own: it fits sales_*.csv as well as "
        "*_2024-01.csv; give one of these tables another pattern with --table"
    }


def test_patterns_of_one_command_that_share_a_file_are_refused(shop):
    said = r"sales_2024-01.csv fits both --table a and --table b, but belongs in one table; give"
    with pytest.raises(ImportRefused, match=said):
        shop.table("a=sales_*.csv", "b=*_2024-01.csv")
    with pytest.raises(InvalidTableChoice, match="--table names 'A B' twice"):
        shop.table("a_b=sales_*.csv", "A B=shop_*.csv")
    assert shop.files() == {"m__sales": SALES, **SHOPS}


def test_a_new_file_does_not_take_the_name_of_a_table_that_the_user_named(shop):
    shop.table("mine=sales_*.csv")
    shop.put("mine.csv")
    said = "its table would be called m__mine, as that of sales_*.csv is; give --table another "
    for mode in ("update", "replace"):
        assert problems(shop.import_(mode)) == {"mine.csv": f"{said}name, or rename the file"}
        assert shop.files() == {"m__mine": SALES, **SHOPS}


def test_a_table_stays_where_its_file_cannot_be_read_for_the_one_that_should_have_it(shop):
    shop.table(mode="replace", is_separate=True)
    shop.write(SALES[1], 'day,yen\n"never closed')
    report = shop.table("sales=sales_*.csv")
    assert list(problems(report)) == [SALES[1]]
    assert shop.files() == {
        "m__sales": [SALES[0], SALES[2]], "m__sales_2024_02": [SALES[1]], **SHOPS,
    }  # fmt: skip


def test_rows_stay_where_a_file_cannot_be_read_for_another_table_or_a_rebuild(shop):
    shop.write(SALES[1], 'day,yen\n"never closed')
    said = f"{SALES[1]}: line 2: a quotation mark opens a cell that is never closed; nothing was"
    with pytest.raises(ImportRefused, match=said):
        shop.table("mine=sales_*.csv")
    with pytest.raises(ImportRefused, match=f"{SALES[1]}: line 2: a quotation mark opens a cell"):
        shop.import_("replace")
    assert shop.files() == {"m__sales": SALES, **SHOPS}


@pytest.mark.parametrize("name", ["sales", "shop_x"])
def test_a_name_stays_with_a_file_that_fits_the_pattern_but_not_its_columns(shop, name):
    """Its rows would have no table: the name would be that of the others."""
    shop.write(f"{name}.csv", "shop,target\na,100\n")
    shop.table(mode="replace", is_separate=True)
    before, pattern = shop.files(), "s*.csv"
    with pytest.raises(ImportRefused) as refusal:
        shop.table(f"{name}={pattern}")
    assert str(refusal.value) == (
        f"{name}.csv: its table would be called m__{name}, as that of s*.csv is; give --table "
        "another name, or rename the file; nothing was changed"
    )
    assert shop.files() == before
    shop.table(f"mine={pattern}")
    assert shop.files()[f"m__{name}"] == [f"{name}.csv"]


def test_a_refusal_does_not_blame_another_file_that_failed(shop):
    shop.write("sales-2024-01.csv", "shop,target\na,100\n")
    shop.import_()
    shop.write("a.csv", 'day,yen\n"never closed')
    shop.write("sales-2024-01.csv", 'shop,target\n"never closed')
    said = r"^sales-2024-01\.csv: .* give --table another name, or rename the file; nothing was"
    with pytest.raises(ImportRefused, match=said):
        shop.table("sales_2024_01=shop_*.csv")


def test_no_rows_leave_sql_with_a_file_that_leaves_its_table_but_finds_its_name_taken(shop):
    shop.put("sales-2024-01.csv")
    shop.table("mine=sales_*.csv")
    before = shop.files()
    assert before["m__sales_2024_01"] == ["sales-2024-01.csv"]
    shop.write(SALES[0], "shop,target\na,100\n")
    for mode in ("update", "replace"):
        with pytest.raises(ImportRefused, match="its table would be called m__sales_2024_01, as "):
            shop.import_(mode)
        assert shop.files() == before


def test_one_sheet_of_a_workbook_does_not_lose_its_name_to_other_files(shop):
    workbook(shop.folder / "b.xlsx", ("x", [["n"], [1]]), ("y", [["n"], [2]]))
    shop.import_()
    with pytest.raises(ImportRefused, match=r"^b\.xlsx#x: its table would be called m__b__x, as"):
        shop.table("b__x=sales_*.csv")
    assert shop.read("m__b__x", "n") == [(1,)]


def test_a_sheet_that_fails_does_not_hold_the_other_changes_back(shop):
    alike = ("a-", [["n"], [2]]), ("a_", [["n"], [3]])
    for name in ("4月", "5月"):
        workbook(shop.folder / "b.xlsx", (name, [["n"], [1]]), *alike)
        assert [problem.file_path for problem in shop.import_().failed] == ["b.xlsx#a_"]
        assert shop.read(f"m__b__{name}", "n") == [(1,)]


def test_a_file_that_fails_again_as_it_is_read_for_the_others_is_told_once(shop):
    shop.write(SALES[1], "day,yen\n2024-01-01,much\n")
    shop.import_()
    (shop.folder / SALES[1]).unlink()
    shop.write(SALES[2], 'day,yen\n"never closed')
    report = shop.import_()
    assert [problem.file_path for problem in report.failed] == [SALES[2]]
    assert shop.read("m__sales", "yen") == [("7",), ("7",)]


@pytest.mark.parametrize("name", ["sales_2024-01", "mine"])
def test_a_pattern_that_is_the_name_of_a_file_is_read_only_when_that_changes(shop, name):
    shop.write(SALES[0], "day,yen\n2024-01-01,7\n合計,7\n")
    shop.table(f"{name}={SALES[0]}")
    table = f"m__{name.replace('-', '_')}"
    before = shop.tables()[table]
    assert before.whole_reading.count("rows of totals") == 1
    assert shop.import_().updated == 0
    shop.write(SALES[0], 'day,yen\n"never closed')
    assert list(problems(shop.import_())) == [SALES[0]]
    assert shop.tables()[table].parquet == before.parquet
    shop.write(SALES[0], "day,yen\n2024-01-01,8\n")
    assert (shop.import_().updated, shop.read(table, "yen")) == (1, [(8,)])
    shop.put(f"x/{SALES[0]}")
    assert (shop.import_().updated, shop.import_().updated) == (1, 0)
