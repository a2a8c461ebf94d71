"""A wallet's IDs: rows that share one are one row only if they are equal, or one was changed."""

from datetime import date

import pytest

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


@pytest.mark.parametrize("again", [NOVEMBER, NOVEMBER.replace(".csv", " (1).csv")])
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


def test_ids_that_a_spreadsheet_has_made_one_number_are_refused(folder):
    rows = [paid("2.34568E+18", yen, f"2024/11/0{yen // 100}") for yen in (300, 400)]
    write(folder, NOVEMBER, *rows)
    report = folder.import_()
    assert folder.rows() == []
    assert [each.reason for each in report.failed] == [
        "a spreadsheet has damaged the ID; download the file again"
    ] * 2
