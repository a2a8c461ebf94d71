"""`mdvec import` of a household: reports removed rows, and restores them."""

import os

from ledger_folder import HEADER, JULY, line


def write(mdvec, name, *lines, time):
    path = mdvec.docs / name
    path.write_bytes("\r\n".join([HEADER, *lines, ""]).encode("cp932"))
    os.utime(path, (time, time))


def test_removed_rows_are_listed_and_can_be_restored_or_accepted(mdvec):
    mdvec.write("notes/a.txt", "no statement")
    assert mdvec(
        "tool", "add", "-n", "kakeibo", "-d", "家計簿", "-s", str(mdvec.docs), "--kind", "household"
    ).code == 0  # fmt: skip
    write(mdvec, f"{JULY}.csv", line("a"), line("b", -3200), time=1_755_000_009)
    write(mdvec, f"{JULY} (1).csv", line("a"), time=1_755_000_001)
    done = mdvec("import", "-n", "kakeibo")
    assert done.out.splitlines()[:2] == [
        "kakeibo: 2 files, 3 rows read: 2 imported, 0 updated, 1 unchanged, 0 failed; "
        "0 deleted, 0 in the ledger have no file left",
        "1 row left the sums, gone from the newest file of their day; to keep one: "
        "mdvec import -n kakeibo --mode update --restore-removed ID",
    ]
    gone = f"2025-07-01 店 -3,200 yen (財布), in {JULY}.csv, not in {JULY} (1).csv"
    assert [line for line in done.err.splitlines() if not line.startswith("model:")] == [
        f"older than its time: {JULY}.csv: its time is later than that of {JULY} (1).csv, "
        "which has the higher number, so that file takes precedence",
        f"removed: 2: {gone}",
        "passed over: notes/a.txt: it is plain text; if it holds transactions, rename it to .csv",
    ]
    update = ("import", "-n", "kakeibo", "--mode", "update", "--format", "json")
    done = mdvec(*update[:-2], "--restore-removed", "2")
    assert "counted again: 1 row" in done.out.splitlines()
    assert f"again: 2: 2025-07-01 店 -3,200 yen (財布), in {JULY}.csv" in done.err.splitlines()
    refused = mdvec(*update, "--restore-removed", "7")
    assert (refused.code, refused.err) == (
        1, "error: no row 7 of 'kakeibo' is gone from its statements; gone are: 2\n"
    )  # fmt: skip

    many = [line(f"id{n}", -n) for n in range(60)]
    write(mdvec, f"{JULY} (2).csv", line("a"), *many, time=1_755_000_010)
    assert mdvec(*update).json["ledger"]["removed"] == []
    write(mdvec, f"{JULY} (3).csv", line("a"), *many[30:], time=1_755_000_011)
    done = mdvec("import", "-n", "kakeibo", "--mode", "update")
    assert (
        "gone from the newest file of their day, but still counted: 30 rows; "
        "to leave them out: mdvec import -n kakeibo --mode update --accept-removals"
    ) in done.out.splitlines()
    assert "… and 10 more; --format json lists them all" in done.err.splitlines()
    done = mdvec(*update)
    assert done.err == ""
    again = done.json["ledger"]
    assert (len(again["asked"]), len(again["removed"])) == (30, 0)
    assert again["asked"][0]["missing_from"] == f"{JULY} (3).csv"
    accepted = mdvec(*update, "--accept-removals").json["ledger"]
    assert (len(accepted["asked"]), len(accepted["removed"])) == (0, 30)
    facts = mdvec("status", "-n", "kakeibo").out.splitlines()
    about_files = [fact for fact in facts if fact.startswith(("files\t", "chunks\t"))]
    assert about_files == ["files\t.csv, .tsv"]


def test_removal_options_are_for_households_only(notes):
    done = notes("import", "-n", "notes", "--mode", "update", "--accept-removals")
    assert done.code != 0
    assert "the tool 'notes' is not a household" in done.err


def test_unmapped_files_whose_names_differ_in_numbers_alone_are_one_line(mdvec):
    for name in ("card_01", "card_02", "card_x", "bank 7", "bank 8"):
        mdvec.write(f"{name}.csv", "いつ,いくら\n2025/07/01,300\n")
    args = ("-n", "kakeibo", "-d", "家計簿", "-s", str(mdvec.docs), "--kind", "household")
    assert mdvec("tool", "add", *args).code == 0
    done = mdvec("import", "-n", "kakeibo").err.splitlines()
    files = [line.split(": ")[1] for line in done if line.startswith("passed over: ")]
    more = "and 1 more whose names differ in numbers alone"
    assert files == [f"bank 7.csv {more}", f"card_01.csv {more}", "card_x.csv"]
