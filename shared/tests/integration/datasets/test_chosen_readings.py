"""What an import understood is told, can be chosen otherwise, and is kept until taken back."""

import shlex
from datetime import date
from string import ascii_lowercase

import pytest
from source_folder import chosen, converted, rows_in, told
from table_of_cases import each

from mdvec.datasets.core.choices import (
    EVERY_FILE,
    ReadingChoice,
    Setting,
    merge_choices,
    reading_of,
)
from mdvec.datasets.options import InvalidReading, reading_choices
from mdvec.files.problems import UnreadableFile
from mdvec.importing.job import MAX_LISTED
from mdvec.importing.options import ImportRefused

SALES = '売上一覧,,\n日付,店,額\n令和7年6月1日,1,"￥1,234"\n令和7年6月2日,2,-\n'


@pytest.fixture
def sales(files):
    (files.folder / "a.csv").write_bytes(SALES.encode("cp932"))
    files.write("b.csv", "x|額\n1|5,5\n")
    return files


@each(("day", "total"), [("2025/6/1", "#N/A"), ("2025-06-01", "12")])
def test_rows_of_totals_of_a_csv_file_are_named_and_left_out_on_request(folder, day, total):
    text = f"日,店,額\n{day},茶屋,5\n,,7\n小計,,12\n合計,,{total}\n"
    assert (
        "rows of totals are among the others: 合計 (1), 小計 (1); leave them out with "
        "--read totals=out"
    ) in str(converted(folder, text))
    said = str(converted(folder, text, reading=chosen("totals=out")))
    assert said.endswith("rows of totals are left out: 合計 (1), 小計 (1)")
    assert rows_in(folder).fetchall() == [(date(2025, 6, 1), "茶屋", 5), (None, None, 7)]


def test_notes_on_rows_are_told_before_those_on_cells(files):
    for letter in ascii_lowercase[: MAX_LISTED + 1]:
        files.write(f"{letter}.csv", "日,額\n令和7年6月1日,5\n")
    files.write("z.csv", "日,額\n2025-06-01,5\n2025-06-02,7\n合計,12\n")
    first, *others = told(files.import_("new"))
    assert first.startswith("read: z.csv: 日: 合計 (1) kept it text among 2 dates; rows of totals")
    assert others[0] == "read: a.csv: 日: 令和7年6月1日 → DATE"
    assert len(others) == MAX_LISTED - 1


def test_what_was_understood_is_told_once_and_in_full_as_json(sales):
    report = sales.import_("new")
    assert told(report) == [
        "read: a.csv: cp932; header in line 2, not 売上一覧; 日付: 令和7年6月1日 → DATE; "
        '額: "￥1,234" → BIGINT, 1 cell such as NA → NULL',
        "read: b.csv: cells separated by '|'; 額: \"5,5\": the comma may be a decimal sign; it "
        "stays text unless --read '額=comma'",
    ]
    (first, second) = report.json_fields()["dataset"]["read"]
    assert (first["file"], first["encoding"], first["delimiter"]) == ("a.csv", "cp932", ",")
    assert (first["header_row"], first["skipped"]) == (2, ("売上一覧",))
    assert first["columns"][2] == {
        "name": "額", "type": "BIGINT", "sample": "￥1,234", "nulls": 1, "note": "",
        "decision": "", "unit": "", "has_decimal_commas": False,
    }  # fmt: skip
    assert (second["encoding"], second["is_guess"]) == ("utf-8-sig", False)
    assert told(sales.import_()) == []


def test_choices_are_kept_for_later_updates_until_they_are_taken_back(sales):
    sales.import_("new")
    found = sales.content("t__a")
    sales.choose("額=text", "店=number")
    sales.choose("額=comma", pattern="b.*")
    assert sales.choices() == ["店 = number", "額 = text", "額 = comma (b.*)"]
    sales.write("b.csv", "x|額\n1|5,5\n2|1.000,25\n")
    sales.import_()
    kinds, rows = sales.content("t__a")
    assert (kinds["額"], [row[2] for row in rows]) == ("VARCHAR", ["￥1,234", "-"])
    assert sales.content("t__b")[1] == [(1, 5.5), (2, 1000.25)]
    assert sales.import_().unchanged == 2
    sales.choose("額=auto", "店=auto")
    assert sales.content("t__a") == found
    assert sales.choices() == ["額 = comma (b.*)"]
    sales.choose(header_row="3", encoding="shift_jis", pattern="a.csv")
    assert list(sales.content("t__a")[0]) == ["令和7年6月1日", "1", "￥1,234"]
    sales.choose(mode="replace")
    assert "header_row = 3 (a.csv)" in sales.choices()
    sales.choose(header_row="0", encoding="auto", pattern="a.csv")
    assert sales.content("t__a") == found
    sales.choose(delimiter=";", pattern="b.csv")
    assert list(sales.content("t__b")[0]) == ["x|額"]


@each(
    ("below", "notes", "rows_without"),
    [
        ("※1 速報値,,\n注) 推計,,\n", '"※1 速報値", 注) 推計', 2),
        ('"※1 速報値\n\nの ""推計""",,\n注,,\n', '"※1 速報値\\n\\nの \\"推計\\"", 注', 2),
        (",,\n,,\n注,,\n,,\n注2,,\n,,\n\n,,\n", "注, 注2", 2),
        ('2022,5" x,1\n2023,6" y,2\n', "", 4),
    ],
)
def test_notes_below_a_table_are_told_and_left_out_where_that_is_chosen(
    folder, below, notes, rows_without
):
    text = f"年,人口,世帯\n2020,1000,400\n2021,1010,410\n{below}"
    hint = f"the last rows hold one text each: {notes}; leave out notes with --read notes=out"
    said = str(converted(folder, text))
    assert (hint in said) == bool(notes)
    left = str(converted(folder, text, reading=chosen("notes=out")))
    assert (f"notes below the table are left out: {notes}" in left) == bool(notes)
    assert len(rows_in(folder).fetchall()) == rows_without
    empty = "empty rows are left out: 5"
    assert said.endswith(empty) == left.endswith(empty) == ("注2" in notes)


def test_a_note_of_one_cell_is_named_and_left_out_where_that_is_chosen(folder):
    text = "店,額\n茶屋,1\n\n出典：総務省\n"
    with pytest.raises(UnreadableFile) as failed:
        converted(folder, text)
    assert str(failed.value) == (
        "line 4: it has one cell, unlike the rows above; if it is a note below the table, leave it "
        "out with --read notes=out"
    )
    converted(folder, text, reading=chosen("notes=out"))
    assert rows_in(folder).fetchall() == [("茶屋", 1)]


def test_a_cell_that_is_hard_to_read_stops_no_import_of_the_other_files(files):
    files.write("a.csv", 'name,v\n"a\nb",1\nab"c\rd,2\nx"y,3\n')
    files.write("b.csv", f"name,v\na,1\n\nb,2\n{'x' * 200_000},3\n")
    files.write("c.csv", "x,y\n1,2\n")
    (failed,) = files.import_("new").failed
    assert (failed.file_path, failed.reason[:24]) == ("a.csv", "it cannot be read as CSV")
    assert (len(files.read("t__b")), files.read("t__c")) == (3, [(1, 2)])


def test_a_kept_choice_for_a_column_that_is_gone_is_named_with_the_changed_file(sales):
    sales.choose("額=text", "店=number", mode="new")
    sales.choose("額=comma", pattern="b.*")
    sales.write("b.csv", "店|価格\n1|5,5\n")  # a.csv has 額 still, both have 店
    (said,) = told(sales.import_())
    assert said.endswith(
        "; no column '額' is there for the choice 額 = comma (b.*); take it back with --read "
        "'額=auto' --for 'b.*'"
    )
    assert sales.choose("額=auto", pattern="b.*").failed == ()


@pytest.mark.parametrize(
    ("choices", "left"),
    [
        (("na=?", "na=na:-"), ["? = NULL (a.csv)"]),
        (("na=?", "na=text"), ["? = NULL (a.csv)"]),
        (("totals=out", "totals=na:-"), ["totals = out (a.csv)"]),
        (("notes=out", "notes=text"), ["notes = out (a.csv)"]),
        (("na=?", "na=-", "na=text", "na=na:x"), ["- = NULL (a.csv)", "? = NULL (a.csv)"]),
    ],
)
def test_what_takes_a_choice_back_takes_no_other_or_names_it(files, choices, left):
    files.write("a.csv", "id,na,totals,notes,header\n1,2,3,4,5\n2,-,5,6,7\n")
    files.import_("new")
    files.choose(*choices, pattern="a.csv")
    (files.folder / "a.csv").rename(files.folder / "b.csv")
    said = {line.split(" for the choice ")[1] for line in told(files.import_(), "unused")}
    gone = [choice for choice in files.choices() if choice not in left]
    first = next(line for line in said if line.startswith(f"{gone[0]};"))
    back = shlex.split(first.split(" with ")[1].split(", which")[0])[1]
    files.choose(back, pattern="a.csv")
    assert files.choices() == left
    assert [choice for choice in gone[1:] if choice not in first] == []
    for line in said:
        choice, _, how = line.partition("; ")
        if choice in left and f" {back} " in how:
            assert how.endswith(f", once this is taken back: {', '.join(gone)}")


def test_a_choice_that_cannot_hold_changes_nothing(sales):
    sales.import_("new")
    before = sales.content("t__a")
    for columns, choices, why in (
        (["額=date"], {}, "a.csv: its column '額' cannot be read as date: it holds .￥1,234"),
        (["売り上=text"], {}, r"no file \* has a column '売り上'"),
        (["額=text"], {"pattern": "*.json"}, r"no file \*.json whose 額 can be chosen"),
        (["額=auto"], {}, "nothing is chosen for '額'"),
        ([], {"header_row": "9"}, "it has no line 9"),
        ([], {"encoding": "utf-8"}, "it is not utf-8-sig, which was chosen for it"),
        ([], {"encoding": "utf-16"}, "without a mark at its start it may be utf-16-le or"),
    ):
        with pytest.raises(ImportRefused, match=why):
            sales.choose(*columns, **choices)
    assert sales.content("t__a") == before
    assert sales.choices() == []
    assert sales.import_().unchanged == 2


@each(
    ("columns", "choices", "why"),
    [
        (["額"], {}, "not COLUMN=TYPE"),
        (["=text"], {}, "not COLUMN=TYPE"),
        (["額=money"], {}, "the types are text, integer, number, number:plus"),
        ([], {"encoding": "shift_jjs"}, "not an encoding"),
        ([], {"delimiter": "ab"}, "not a delimiter"),
        ([], {"header_row": "-1"}, "from 1"),
        ([], {"header_row": "6-3"}, "from 1"),
        ([], {"header_row": "0-3"}, "from 1"),
        ([], {"pattern": "a.csv"}, "--for says for which files"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(columns, choices, why):
    with pytest.raises(InvalidReading, match=why):
        reading_choices(columns, **choices)


def test_many_files_of_one_table_are_told_as_one_and_read_alike(files):
    for month in range(1, 4):
        files.write(f"m_2025-0{month}.csv", f"day;n\n2025/{month}/1;0{month}\n")
    report = files.import_("new")
    assert told(report)[-1] == (
        "read: m_2025-01.csv (and 2 more files alike, with values and counts of their own): cells "
        "separated by ';'; day: 2025/1/1 → DATE"
    )
    assert files.content("t__m")[1][0][1] == "01"
    files.choose("n=integer")
    assert [row[1] for row in files.content("t__m")[1]] == [1, 2, 3]


def test_no_row_of_many_files_without_headers_is_lost(files):
    for month in (1, 2):
        files.write(f"m_2025-0{month}.csv", f"2025-0{month}-01,a,5\n2025-0{month}-02,b,6\n")
        files.write(f"n_{month}.csv", f"a,{month}\nb,7\n")
    report = files.import_("new")
    assert files.read("t__m", "column1::VARCHAR, column3") == [
        ("2025-01-01", 5), ("2025-01-02", 6), ("2025-02-01", 5), ("2025-02-02", 6),
    ]  # fmt: skip
    assert told(report)[-1].startswith("read: m_2025-01.csv (and 1 more file alike): no header: ")
    assert {problem.file_path for problem in report.failed} == {"n_1.csv", "n_2.csv"}
    report = files.choose("header=none", pattern="n_*")
    assert files.choices() == ["header_row = none (n_*)"]
    assert files.read("t__n_1") + files.read("t__n_2") == [("a", 1), ("b", 7), ("a", 2), ("b", 7)]
    files.choose(pattern="n_*", header_row="1")
    assert files.types("t__n_1") == {"a": "VARCHAR", "1": "BIGINT"}


def test_cells_such_as_na_in_texts_are_counted_and_become_null_where_that_is_chosen(files):
    files.write("n.csv", "x,day\nNA,01/02/2025\n-,03/04/2025\nNA,\nb,\n")
    files.write("o.json", '[{"x": "NA", "y": 1}, {"x": "b", "y": "NA"}]')
    report = files.import_("new")
    assert told(report) == [
        "read: n.csv: x: - (1), NA (2) kept as text; --read x=na:- makes it NULL; day: 01/02/2025: "
        "the day or the month may come first; it stays text until --read 'day=date:dmy' or "
        "'day=date:mdy'",
        "read: o.json: x: NA (1) kept as text; --read x=na:NA makes it NULL; "
        "y: 1 cell such as NA → NULL",
    ]
    files.choose("na=NA", "day=date:mdy")
    assert files.choices() == ["day = date:mdy", "NA = NULL"]
    rows = [(None, "2025-01-02"), ("-", "2025-03-04"), (None, None), ("b", None)]
    assert files.read("t__n", "x, day::VARCHAR") == rows
    files.choose("na=-")
    assert [row[0] for row in files.read("t__n")] == [None, None, None, "b"]
    files.choose("na=auto", "day=auto")
    assert files.choices() == []
    assert files.types("t__n")["day"] == "VARCHAR"


def test_a_few_words_that_keep_a_column_of_numbers_or_dates_text_are_named(sales):
    rows = [f"{day},{day * 1000},2025-01-{day:02},X{day}" for day in range(1, 9)]
    sales.write("n.csv", "\n".join(["気温,金額,日,札", *rows, "不明,1,未定,7", "欠測 ※,2,,8"]))
    sales.write("texts.json", '[{"x": "1"}, {"x": "2"}, {"x": "3"}, {"x": "不明\\n"}]')
    report = sales.import_("new")
    assert told(report)[2:] == [
        'read: n.csv: 気温: 不明 (1), "欠測 ※" (1) kept it text among 8 numbers; '
        "--read '気温=na:不明' --read '気温=na:欠測 ※' makes it NULL; 日: 未定 (1) kept it text "
        "among 8 dates; --read '日=na:未定' makes it NULL"
    ]
    assert told(sales.choose("気温=text", "日=text")) == told(report)[:2]
    chosen = ["気温=na:不明", "気温=na:欠測 ※", "日=na:未定"]
    sales.choose("気温=auto", "日=auto", *chosen, "x=na:不明")
    types = {"気温": "BIGINT", "金額": "BIGINT", "日": "DATE", "札": "VARCHAR"}
    assert sales.types("t__n") == types
    assert sales.read("t__texts") == [("1",), ("2",), ("3",), (None,)]
    assert "欠測 ※ in 気温 = NULL" in sales.choices()
    sales.choose("気温=auto")
    assert sales.types("t__n") == {**types, "気温": "VARCHAR"}


def test_a_text_is_null_in_the_column_that_it_was_said_of_alone(files):
    files.write("k.csv", "値,等級\nA,A\n1,B\n2,A\n")
    files.write("o.json", '[{"等級": "A"}, {"等級": "A", "値": "A"}, {"値": 3}]')
    files.write("r.csv", "ランク\nA\n")
    files.choose("値=na:A", mode="new")
    assert files.read("t__k", "値, 等級") == [(None, "A"), (1, "B"), (2, "A")]
    assert files.read("t__o", "値, 等級") == [(None, "A"), (None, "A"), (3, None)]
    assert files.read("t__r") == [("A",)]
    with pytest.raises(ImportRefused, match="no file"):
        files.choose("無い列=na:A")


def test_choices_for_some_files_count_more_than_those_for_all():
    every = ReadingChoice(EVERY_FILE, Setting.COLUMN, "text", "n")
    some = ReadingChoice("sub/*.csv", Setting.COLUMN, "integer", "n")
    choices = merge_choices([some], [every, ReadingChoice("a*", Setting.HEADER_ROW, "2")])
    assert reading_of(choices, "sub/b.csv").columns == {"n": "integer"}
    assert reading_of(choices, "sub/a.csv").header_row == 2
    assert reading_of(choices, "b.csv").columns == {"n": "text"}


def test_files_of_a_table_that_order_dates_differently_are_told_apart(files):
    days = {"day": "{d}/02/2025", "month": "02/{d}/2025"}
    for name, day in days.items():
        rows = [f"{day.format(d=d)},{name}" for d in range(13, 20)]
        files.write(f"dx_{len(name)}.csv", "\n".join(["日,x", *rows]))
    assert told(files.import_("new")) == [
        "read: dx_3.csv: 日: 13/02/2025 → DATE, the day comes first",
        "read: dx_5.csv: 日: 02/13/2025 → DATE, the month comes first",
    ]
