"""`mdvec query`, `profile`, `histogram`, `plot` and `export`: rows and files of tables."""

import csv
import io
import re
import signal
import time

import duckdb
import psutil
import pytest
from imported import import_, imported
from mdvec import queries
from mdvec.queries import Parameter, SavedQuery
from PIL import Image
from table_of_cases import each

from mdvec_cli.commands.tables import FileNotWritten, new_file

SINCE = Parameter("since", "date")
SALES = "day,店,amount\n2025-06-01,東京,100\n2025-06-02,大阪,250\n2025-07-01,東京,\n"


@pytest.fixture
def sales(mdvec):
    mdvec.write("sales.csv", SALES)
    imported(mdvec.database, "sales", mdvec.docs, "dataset")
    return mdvec


def test_rows_come_as_a_table_and_all_of_them_as_csv(sales):
    few = sales("query", 'SELECT "店", amount FROM sales__sales', "--rows", "1")
    assert few.out == "店\tamount\n東京\t100\n"
    assert few.err == "1 of 3 rows; all of them: --format csv, or mdvec export\n"
    sales.write("sales.csv", SALES + "2025-07-02,京都,9\n")
    query = SavedQuery("全部", "SELECT * FROM sales__sales WHERE day >= $since", "", (SINCE,))
    queries.save(sales.database, query, replace=False)
    whole = sales("query", "--saved", "全部", "-p", "since=2025-06-01", "--format", "csv")
    assert list(csv.reader(io.StringIO(whole.out))) == list(csv.reader(io.StringIO(SALES)))
    assert whole.err == (
        "warning: 1 file is newer than the index of sales; import with: "
        "mdvec import -n sales --mode update\n"
    )


def test_files_that_failed_are_named_beside_answers_from_tables_of_which_they_are_a_part(sales):
    bad = SALES + "2025-07-02,京都,9,9\n"
    for name in ("old.csv", "x_1.csv", "x_2.csv"):
        sales.write(name, SALES)
    imported(sales.database, "more", sales.docs, "dataset")
    for name in ("old.csv", "x_3.csv", "other.csv"):
        sales.write(name, bad)
    import_(sales.database, "more")

    def named(table):
        err = sales("query", f"SELECT count(*) FROM {table}").err
        return [name for name in ("old.csv", "x_3.csv", "other.csv") if name in err]

    assert named("more__sales") == []
    assert named("more__x") == ["x_3.csv"]
    assert named("more__old") == ["old.csv"]
    assert named("more__x, more__old") == ["old.csv", "x_3.csv"]
    assert named("more__other") == ["old.csv", "x_3.csv", "other.csv"]  # there is none


@pytest.mark.parametrize("form", ["table", "csv"])
def test_the_notes_of_a_ready_made_question_come_in_every_form(sales, form):
    given = ["-p", "table=sales__sales", "-p", "measure=amount"]
    done = sales("query", "--saved", "trend", *given, "--format", form)
    assert done.out.count("2025-0") == 2
    assert done.err.startswith("warning: 1 rows have no amount; ")


def test_a_select_takes_values_and_json_has_integers_beyond_two_to_53_as_strings(sales):
    asked = (
        "SELECT amount, 9007199254740993 AS a, 9007199254740992 AS b FROM sales__sales "
        "WHERE 店 = $店 AND amount < $most"
    )
    given = sales("query", asked, "-p", "店=東京", "-p", "most=170.5", "--format", "json")
    assert given.json["rows"] == [[100, "9007199254740993", 9007199254740992]]
    assert "(mdvec query -p name=value)" in sales("query", asked).err
    assert "which takes no parameters" in sales("query", "sales__sales", "-p", "a=1").err


def test_an_export_is_a_whole_file_or_none(sales):
    file = sales.work / "売上.parquet"
    done = sales("export", "SELECT * FROM sales__sales ORDER BY day", "-o", file)
    assert done.code == 0, done.err
    assert duckdb.sql(f"SELECT amount FROM '{file}'").fetchall() == [(100,), (250,), (None,)]
    again = sales("export", "sales__sales", "-o", file)
    assert again.code == 2
    assert "exists; give another name, or --replace" in again.err
    failed = sales("export", "SELECT amont FROM sales__sales", "-o", sales.work / "other.csv")
    assert (failed.code, failed.out) == (1, "")
    assert "nearest: amount; columns of sales__sales: day" in failed.err
    assert sorted(path.name for path in sales.work.iterdir()) == sorted(
        [file.name, "docs", *(path.name for path in sales.work.glob("db.sqlite*"))]
    )


def test_a_file_that_cannot_be_written_leaves_nothing_and_only_then_needs_room(tmp_path):
    def write(path, more):
        with new_file(path, replace=True) as file:
            file.write(b"1")
            more()

    def fail():
        raise ConnectionError("the process of queries is gone")

    with pytest.raises(ConnectionError, match=r"^the process of queries is gone$"):
        write(tmp_path / "rows.csv", fail)
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileNotWritten, match="folder cannot be used"):
        write(tmp_path / "folder", lambda: None)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_query_is_drawn_into_a_file_of_yours(sales):
    query = "SELECT * EXCLUDE day FROM sales__sales ORDER BY day"
    file = sales.work / "売上.png"
    done = sales("plot", query, "--kind", "bar", "-o", file, "--size", "400x300", "--title", "売上")
    assert (done.code, done.err) == (0, "")
    facts = f"fact\tvalue\nfile\t{file}\nkind\tbar\npoints\t2\nnote\tvalues of '店' repeat"
    assert done.out.startswith(facts)
    with Image.open(file) as picture:
        assert (picture.format, picture.size) == ("PNG", (400, 300))
    again = sales("plot", query, "--kind", "bar", "-o", file)
    assert (again.code, "exists; give another name, or --replace" in again.err) == (2, True)
    small = sales("plot", query, "-o", sales.work / "x.svg", "--size", "10x10")
    assert "error: the image size 10x10 does not work; give 200x150 to 1920x1080" in small.err
    failed = sales("plot", "SELECT 'a'", "--kind", "histogram", "-o", sales.work / "x.svg")
    assert (failed.code, failed.out) == (1, "")
    assert failed.err == "error: a histogram needs numbers or dates as the first column\n"
    assert not (sales.work / "x.svg").exists()


@each(
    ("arguments", "said"),
    [
        (["plot", "t", "-o", "t.pdf"], "t.pdf ends in none of .png, .svg, .jpg"),
        (["plot", "t", "-o", "t.png", "--kind", "pie"], "'pie' is not one of"),
        (["profile", "t", "--from", "2025-06-01"], "give --to too"),
        (["query", "t", "--format", "csv", "--rows", "3"], "use LIMIT in the query"),
        (["query"], "give a table or a SELECT, or --saved"),
        (["query", "--saved", "-p", "a=1"], "values are for what is run"),
        (["query", "SELECT $a", "--save", "q", "-p", "a=1"], "values are for what is run"),
        (["query", "t", "--saved", "-p", "a"], "'a' is not NAME=VALUE"),
        (["query", "SELECT 1", "--delete", "q"], "--delete only a name"),
        (["export", "t", "-o", "t.xlsx"], "neither in .parquet nor in .csv"),
        (["export", "t", "-o", "no/t.csv"], "there is no folder no"),
        (
            ["export", "t", "-o", f"{'長' * 83}.csv"],
            "長.csv cannot be written (File name too long)",
        ),
    ],
)
def test_a_wrong_command_line_opens_no_table(mdvec, arguments, said):
    done = mdvec(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_ctrl_c_stops_a_running_query_and_its_process(sales):
    process = sales.start("query", "SELECT count(*) FROM range(100000000000) AS t(i)")
    deadline = time.monotonic() + 60
    while not (running := _busy(process.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "stopped\n")
    gone, alive = psutil.wait_procs(running, 60)
    assert (len(gone), alive) == (1, [])


def _busy(pid):
    """The query process, once it works on a query, as its start takes less than half a second."""
    found = psutil.Process(pid).children(recursive=True)
    worked = [sum(process.cpu_times()[:2]) for process in found if process.is_running()]
    return found if len(found) == 1 and max(worked, default=0) > 0.5 else []


def test_a_profile_and_a_histogram_are_tables_or_json(sales):
    profile = sales("profile", "sales__sales", "--column", "amount", "--format", "table")
    assert re.search("^column\tmin\tmax\t.*\namount\t100\t250\t", profile.out)
    assert "3 rows, 2025-06-01 to 2025-07-01" in profile.err
    bars = sales("histogram", "sales__sales", "店", "--format", "table")
    assert "東京" in bars.out
    assert "█" * 30 in bars.out
    assert "3 rows" in bars.err
    counted = sales("histogram", "sales__sales", "amount", "--format", "json").json
    assert sum(one["count"] for one in counted["bins"]) == 2


def test_a_question_is_saved_listed_and_deleted(sales):
    ask = "SELECT count(*) AS n FROM sales__sales WHERE amount > $least::INTEGER"
    made = sales("query", ask, "--save", "many", "--description", "large ones")
    assert made.out == "saved many\n"
    again = sales("query", ask, "--save", "many", "--replace", "--format", "json")
    assert (again.json["saved"], again.json["parameters"]) == ("many", {"least": "integer"})
    assert "-p least=<integer>" in made.err
    assert "many" in sales("query", "--saved").out
    assert sales("query", "--delete", "many").out == "deleted many\n"
    queries.save(sales.database, SavedQuery("many", ask, ""), replace=False)
    assert sales("query", "--delete", "many", "--format", "json").json == {"deleted": "many"}


def test_json_and_csv_hold_what_the_encoding_of_a_pipe_lacks(sales):
    query = ["query", "SELECT '東京😀' AS t"]
    done = sales(*query, "--format", "json", encoding="cp932")
    assert (done.json["rows"], done.out.isascii()) == ([["東京😀"]], True)
    profile = ["profile", "SELECT '東京😀' AS t"]
    for command in (query, profile):
        done = sales(*command, "--format", "csv", encoding="cp932")
        assert "東京😀" in done.out
        assert done.err.startswith("note: the output is UTF-8, not cp932, which may lack signs")
