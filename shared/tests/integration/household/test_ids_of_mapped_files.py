"""A wallet's IDs: rows that share one are one row only if they are equal, or one was changed."""

from dataclasses import replace
from datetime import date

import pytest

from mdvec.household.core.mapping import Mapping
from mdvec.household.core.statement_kinds import Mappings

HEAD = "取引日,出金金額（円）,入金金額（円）,取引内容,取引先,取引方法,取引番号"
NOVEMBER, DECEMBER = "Transactions_20241101-20241130.csv", "Transactions_20241201-20241231.csv"
LATER = date(2025, 8, 20)


def paid(its_id, yen, day, shop="喫茶"):
    return f"{day},{yen},-,支払い,{shop},残高,{its_id}"


def returned(its_id, yen, day):
    return f"{day},-,{yen},返金,喫茶,残高,{its_id}"


def write(folder, path, *rows, saved=date(2025, 8, 10)):
    folder.put(path, "\r\n".join([HEAD, *rows, ""]), saved=saved)


def amounts(folder):
    return sorted(row.amount for row in folder.rows() if row.counts)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_payment_and_its_refund_under_one_id_both_count(folder, at_once):
    write(folder, NOVEMBER, paid("04", 500, "2024/11/04"), paid("05", 600, "2024/11/05"))
    if not at_once:
        folder.import_()
    write(folder, DECEMBER, returned("04", 500, "2024/12/06"), paid("09", 300, "2024/12/07"))
    folder.import_()
    assert amounts(folder) == [-600, -500, -300, 500]
    whole = [returned("04", 500, "2024/12/06"), paid("09", 300, "2024/12/07")]
    whole += [paid("04", 500, "2024/11/04"), paid("05", 600, "2024/11/05")]
    write(folder, "Transactions_20241101-20241231.csv", *whole, saved=LATER)
    folder.import_()
    assert amounts(folder) == [-600, -500, -300, 500]


@pytest.mark.parametrize("second", ["妻/" + NOVEMBER, NOVEMBER.replace(".csv", " (1).csv")])
def test_what_two_people_have_of_one_transfer_is_one_row_of_each(folder, second):
    sent = "2024/11/10,800,-,送った金額,妻,残高,07"
    got = "2024/11/10,-,800,受け取った金額,夫,残高,07"
    write(folder, "夫/" + NOVEMBER, sent, paid("08", 100, "2024/11/11"))
    path = second if "/" in second else "夫/" + second
    write(folder, path, got, paid("09", 200, "2024/11/11"), saved=LATER)
    folder.import_()
    assert amounts(folder) == [-800, -200, -100, 800]


@pytest.mark.parametrize(
    "again", [NOVEMBER, NOVEMBER.replace(".csv", " (1).csv"), "Transactions_20241025-20241120.csv"]
)
def test_a_row_that_a_newer_download_of_its_file_has_changed_is_one_row(folder, again):
    others = [paid(f"1{n}", 100 + n, f"2024/11/{n + 1:02}", "書店") for n in range(9)]
    write(folder, NOVEMBER, *others, paid("04", 500, "2024/11/04"))
    folder.import_()
    (row,) = [each for each in folder.rows() if each.mf_id == "04"]
    write(folder, again, *others, paid("04", 450, "2024/11/05"), saved=LATER)
    for mode in ("update", "update", "replace"):
        folder.import_(mode)
        (changed,) = [each for each in folder.rows() if each.mf_id == "04"]
        assert (changed.id, changed.amount, changed.date) == (row.id, -450, date(2024, 11, 5))


def test_a_changed_row_stays_one_when_the_file_with_its_old_amount_is_gone(folder):
    others = [paid(f"1{n}", 100 + n, f"2024/11/{n + 1:02}", "書店") for n in range(9)]
    write(folder, "Transactions_20241101-20241120.csv", *others, paid("04", 500, "2024/11/04"))
    folder.import_()
    write(folder, NOVEMBER, *others, paid("04", 450, "2024/11/04"), saved=LATER)
    folder.import_()
    del folder.files["Transactions_20241101-20241120.csv"]
    for _ in range(2):
        folder.import_()
        assert [row.amount for row in folder.rows() if row.counts and row.mf_id == "04"] == [-450]


def test_two_cards_that_number_their_rows_alike_have_different_rows(folder):
    for name, yen in (("甲_202411.csv", 100), ("乙_202411.csv", 200)):
        rows = [paid(f"0{n}", yen + n, f"2024/11/0{n + 1}") for n in range(3)]
        write(folder, name, *rows, saved=LATER if yen == 200 else date(2025, 8, 10))
        folder.import_()
    assert amounts(folder) == [-202, -201, -200, -102, -101, -100]


@pytest.mark.parametrize("its_id", ["取引ID", None])
def test_rows_that_a_corrected_mapping_reads_otherwise_keep_their_notes(folder, its_id):
    head = "日付,内容,金額,取引ID"
    rows = ["2025/06/03,書店,500,x1", "2025/06/04,薬局,700,x2", "2025/06/04,薬局,-690,x2"]
    mapping = Mapping(
        name="架空", header=tuple(head.split(",")), date=("日付",), description=("内容",),
        amount="金額", id=its_id,
    )  # fmt: skip
    folder.mappings = Mappings((mapping,))
    folder.put("k.csv", "\r\n".join([head, *rows, ""]))
    folder.import_()
    before = [(row.id, row.description, -row.amount) for row in folder.rows()]
    folder.mappings = Mappings((replace(mapping, positive="spending"),))
    report = folder.import_()
    assert [(row.id, row.description, row.amount) for row in folder.rows()] == before
    assert (report.imported, report.deleted) == (0, 0)


def test_ids_that_a_spreadsheet_has_made_one_number_are_refused(folder):
    rows = [paid("2.34568E+18", yen, f"2024/11/0{yen // 100}") for yen in (300, 400)]
    write(folder, NOVEMBER, *rows)
    report = folder.import_()
    assert folder.rows() == []
    assert [each.reason for each in report.failed] == [
        "a spreadsheet has damaged the ID; download the file again"
    ] * 2
