"""Datasets through the commands: registered, imported, shown, refused by a search."""

import os
import re
import signal

import pytest
from imported import import_
from mdvec.manage import registering
from mdvec.manage.status import overview

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ADD = ("tool", "add", "--kind", "dataset", "-n", "runs", "-d", "runs of a year")


@pytest.fixture
def runs(mdvec):
    """A folder with two files and one that cannot be read, registered."""
    mdvec.write("June.csv", "日付,pace\n2025/06/01,5.5\n2025/06/30,5.2\n", "cp932")
    mdvec.write("laps.tsv", "n\tname\n1\t00123\n")
    mdvec.write("broken.csv", "a,b\n1\n")
    registering.add_tool(mdvec.database, "runs", "runs of a year", mdvec.docs, "dataset")
    return mdvec


@pytest.fixture
def imported(runs):
    """The same, imported."""
    import_(runs.database, "runs", "new")
    return runs


def test_an_import_prints_a_line_per_table_and_needs_no_model(runs):
    done = runs("import", "-n", "runs", MDVEC_MODEL_NAME="plamo")
    first, *tables = done.out.splitlines()
    assert re.fullmatch(
        r"runs: 2 added, 0 updated, 0 deleted, 0 unchanged, 1 failed; "
        r"2 tables, 3 rows in \d+\.\d s",
        first,
    )
    assert tables == [
        "runs__june: 2 rows, 2 columns, from June.csv; 日付 2025-06-01 to 2025-06-30",
        "runs__laps: 1 row, 2 columns, from laps.tsv",
    ]
    assert done.err == (
        "read: June.csv: cp932; 日付: 2025/06/01 → DATE\n"
        "failed: broken.csv: line 2: the row has 1 cell for 2 columns; it was split at ',': "
        "--delimiter names another, --header-row another line of names\n"
    )
    assert done.code == 0


def test_a_choice_of_how_to_read_is_kept_and_shown_until_it_is_taken_back(imported):
    update = "import -n runs -m update"
    made, shown, back, wrong = imported.each(
        f"{update} --read 日付=text --for June.* --format json",
        "status -n runs",
        f"{update} --read 日付=auto --for June.*",
        f"{update} --read 日付=day",
    )
    june = made.json["dataset"]["tables"][0]
    assert june["columns"][0] == {"name": "日付", "type": "VARCHAR"}
    assert made.json["dataset"]["read"][0]["encoding"] == "cp932"
    assert "read as chosen\t日付 = text (June.*)" in shown.out
    assert "日付: 2025/06/01 → DATE" in back.err
    assert (wrong.code, "is not COLUMN=TYPE" in wrong.err) == (2, True)


def test_the_json_report_names_the_fields_of_a_dataset(imported):
    again, details = imported.each(
        "import -n runs -m update --format json", "status -n runs --format json"
    )
    report, details = again.json, details.json
    assert (report["unchanged"], report["chunks"], report["model"]) == (2, 0, "")
    june, laps = report["dataset"]["tables"]
    assert june == {
        "name": "runs__june", "origin": "June.csv", "rows": 2,
        "columns": [{"name": "日付", "type": "DATE"}, {"name": "pace", "type": "DOUBLE"}],
        "period_column": "日付", "first": "2025-06-01", "last": "2025-06-30",
        "files": [],
    }  # fmt: skip
    assert laps["columns"][1] == {"name": "name", "type": "VARCHAR"}
    assert report["dataset"]["left_out"] == []
    assert (details["table_count"], details["row_count"]) == (2, 3)
    assert details["tables"][0]["source"] == str(imported.docs / "June.csv")


def test_the_status_shows_tables_and_rows(imported):
    glance, details = imported.each("status", "status -n runs")
    assert glance.out.splitlines()[1:] == [
        "name\tactive\tkind\ttables\trows\tlast import",
        "runs\tyes\tdataset\t2\t3\t" + glance.out.split("\t")[-1].strip(),
    ]
    lines = details.out.splitlines()
    assert {"kind\tdataset", "tables\t2", "rows\t3", f"source\t{imported.docs}"} < set(lines)
    assert lines[-2] == "runs__june\tJune.csv\t2\t2\t日付\t2025-06-01\t2025-06-30"


def test_a_single_data_file_can_be_a_dataset(mdvec):
    file = mdvec.write("June.csv", "a\nx\n")
    assert mdvec(*ADD, "-s", "docs/June.csv").err.startswith(f"added runs: {file}\n")
    renamed = mdvec("import", "-n", "runs", "--table", "june=June.csv")
    assert (renamed.code, renamed.out) == (1, "")
    assert "the tool 'runs' reads one file, whose table has the tool's name" in renamed.err
    assert mdvec("import", "-n", "runs").out.splitlines()[1].startswith("runs: 1 row, 1 column")
    refused = mdvec(*ADD[:-4], "-n", "notes", "-d", "d", "-s", mdvec.write("a.md", "# a"))
    assert refused.code == 2
    assert "cannot be a dataset; name a file that ends in .parquet, .csv" in refused.err
    taken = mdvec(*ADD[:-4], "-n", "runs__june", "-d", "d", "-s", "docs")
    assert (taken.code, len(overview(mdvec.database).tools)) == (2, 1)
    assert "would have the names of those of 'runs'" in taken.err


def test_a_search_of_a_dataset_says_how_to_query_it(runs):
    one, all_ = runs.each("search -n runs 速い日", "search 速い日")
    assert (one.code, all_.code) == (1, 0)
    assert "'runs' contains tables, not texts; query it in SQL with the server's tools" in one.err
    assert all_.err.startswith("no tool with texts is active")


def test_an_import_on_a_terminal_counts_rows(runs):
    done = runs("import", "-n", "runs", is_terminal=True, COLUMNS="120")
    assert done.code == 0
    assert re.search(r"importing runs ━+ \d/3 files \d rows, \d+/s", ESCAPES.sub("", done.err))
    assert "runs__june: 2 rows" in done.out


def test_a_stopped_import_leaves_the_old_tables(imported):
    runs = imported
    lines = "".join(f"{number},{'x' * 30}\n" for number in range(200_000))
    runs.write("June.csv", f"n,text\n{lines}")
    process = runs.start("import", "-n", "runs", "-m", "update")
    copies = runs.database.with_name("db.sqlite.datasets")
    runs.until(lambda: list(copies.rglob("*.rows")))
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "stopped; the tool 'runs' still has what it had before" in err
    assert len(list(copies.rglob("*.*"))) == 2
    assert overview(runs.database).tools[0].rows == 3


@pytest.mark.soak
def test_ctrl_c_stops_a_file_of_ten_thousand_columns_at_once(imported):
    runs = imported
    row = ",".join(str(number) for number in range(10_000))
    runs.write("June.csv", ",".join(f"c{n}" for n in range(10_000)) + f"\n{row}" * 20)
    process = runs.start("import", "-n", "runs", "-m", "update")
    copies = runs.database.with_name("db.sqlite.datasets")
    runs.until(lambda: [file for file in copies.rglob("*.rows") if file.stat().st_size])
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "stopped; the tool 'runs' still has what it had before" in err
    assert overview(runs.database).tools[0].rows == 3


def test_files_of_a_pattern_become_one_table_and_only_in_a_dataset(mdvec):
    for month in (1, 2):
        mdvec.write(f"sales_{month}.csv", f"n\n{month}\n")
    registering.add_tool(mdvec.database, "s", "sales", mdvec.docs, "dataset")
    registering.add_tool(mdvec.database, "notes", "notes", mdvec.docs, "markdown")
    apart, named, wrong, refused = mdvec.each(
        "import -n s --separate",
        "import -n s -m update --table all=sales_*.csv",
        "import -n s -m update --table all",
        "import -n notes --separate",
    )
    assert "2 tables" in apart.out
    assert "s__all: 2 rows, 2 columns, from sales_*.csv (2 files)" in named.out
    assert (wrong.code, "'all' is not NAME=PATTERN" in wrong.err) == (2, True)
    assert "'notes' is not a dataset" in refused.err
