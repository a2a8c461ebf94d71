"""What an import understood is told, can be chosen otherwise, and is kept until taken back."""

import shlex
from datetime import date

import pytest
from source_folder import DataFolder, problems, workbook
from table_of_cases import each

from mdvec.datasets.core.choices import (
    EVERY_FILE,
    ReadingChoice,
    Setting,
    merge_choices,
    reading_of,
)
from mdvec.datasets.options import DatasetOptions, InvalidReading, reading_choices
from mdvec.datasets.status import DatasetContents
from mdvec.importing.options import ImportRefused
from mdvec.manage.status import details
from mdvec.platform import shell_line

SALES = '売上一覧,,\n日付,店,額\n令和7年6月1日,1,"￥1,234"\n令和7年6月2日,2,-\n'


class Files(DataFolder):
    """A folder of data files and its tool."""

    def import_(self, *columns, mode="update", **choices):
        options = DatasetOptions(readings=reading_choices(columns, **choices))
        return super().import_(mode, options=options)

    def kept(self):
        contents = details(self.database, self.name).contents
        assert isinstance(contents, DatasetContents)
        return [str(choice) for choice in contents.readings]


@pytest.fixture
def empty(tmp_path):
    return Files(tmp_path / "files", tmp_path / "data.sqlite", name="t")


@pytest.fixture
def files(empty):
    (empty.folder / "a.csv").write_bytes(SALES.encode("cp932"))
    empty.write("b.csv", "x|額\n1|5,5\n")
    return empty


def told(report):
    return [line.text for line in report.lines() if line.text.startswith("read: ")]


def imported_at_once(files, texts):
    """Import each text as a file of its own, all in one import; their names, and what is told."""
    names = [chr(ord("a") + number) for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        files.write(f"{name}.csv", text)
    return names, told(files.import_(mode="new"))


def test_rows_of_totals_of_a_csv_file_are_named_and_left_out_on_request(empty):
    cases = (("2025/6/1", "#N/A"), ("2025-06-01", "12"))
    files, said = imported_at_once(
        empty, [f"日,店,額\n{day},茶屋,5\n,,7\n小計,,12\n合計,,{total}\n" for day, total in cases]
    )
    assert [line.split("rows of totals ")[1] for line in said] == [
        "are among the others: 合計 (1), 小計 (1); leave them out with --read totals=out"
    ] * 2
    said = told(empty.import_("totals=out"))
    assert [line.split("rows of totals ")[1] for line in said] == [
        "are left out: 合計 (1), 小計 (1)"
    ] * 2
    for file in files:
        assert empty.content(f"t__{file}") == (
            {"日": "DATE", "店": "VARCHAR", "額": "BIGINT"},
            [(date(2025, 6, 1), "茶屋", 5), (None, None, 7)],
        )


def test_what_was_understood_is_told_once_and_in_full_as_json(files):
    report = files.import_(mode="new")
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
    assert told(files.import_()) == []


def test_choices_are_kept_for_later_updates_until_they_are_taken_back(files):
    files.import_(mode="new")
    found = files.content("t__a")
    files.import_("額=text", "店=number")
    files.import_("額=comma", pattern="b.*")
    assert files.kept() == ["店 = number", "額 = text", "額 = comma (b.*)"]
    files.write("b.csv", "x|額\n1|5,5\n2|1.000,25\n")
    files.import_()
    kinds, rows = files.content("t__a")
    assert (kinds["額"], [row[2] for row in rows]) == ("VARCHAR", ["￥1,234", "-"])
    assert files.content("t__b")[1] == [(1, 5.5), (2, 1000.25)]
    assert files.import_().unchanged == 2
    files.import_("額=auto", "店=auto")
    assert files.content("t__a") == found
    assert files.kept() == ["額 = comma (b.*)"]
    files.import_(header_row="3", encoding="shift_jis", pattern="a.csv")
    assert list(files.content("t__a")[0]) == ["令和7年6月1日", "1", "￥1,234"]
    files.import_(mode="replace")
    assert "header_row = 3 (a.csv)" in files.kept()
    files.import_(header_row="0", encoding="auto", pattern="a.csv")
    assert files.content("t__a") == found
    files.import_(delimiter=";", pattern="b.csv")
    assert list(files.content("t__b")[0]) == ["x|額"]


def test_empty_rows_below_notes_are_counted_whether_these_are_left_out_or_not(empty):
    empty.write("c.csv", "a,b,c\n1,2,x\n,,\n,,\n注,,\n,,\n注2,,\n,,\n\n,,\n")
    for choice in ([], ["notes=out"]):
        (said,) = told(empty.import_(*choice, pattern="c.csv" if choice else None))
        assert said.endswith("empty rows are left out: 5")
        assert ("are left out: 注, 注2" in said) == bool(choice)


def test_notes_below_a_table_are_told_and_left_out_where_that_is_chosen(empty):
    empty.write("c.csv", "年,人口,世帯\n2020,1000,400\n2021,1010,410\n※1 速報値,,\n注) 推計,,\n")
    (said,) = told(empty.import_())
    assert said == (
        'read: c.csv: the last rows hold one text each: "※1 速報値", 注) 推計; leave out notes '
        "with --read notes=out"
    )
    report = empty.import_("notes=out", pattern="c.csv")
    assert told(report) == [
        'read: c.csv: notes below the table are left out: "※1 速報値", 注) 推計'
    ]
    assert empty.content("t__c") == (
        {"年": "BIGINT", "人口": "BIGINT", "世帯": "BIGINT"},
        [(2020, 1000, 400), (2021, 1010, 410)],
    )
    empty.write(
        "c.csv", '年,人口,世帯\n2020,1000,400\n2021,1010,410\n"※1 速報値\n\nの ""推計""",,\n注,,\n'
    )
    empty.import_("notes=out", pattern="c.csv")
    assert empty.content("t__c")[1] == [(2020, 1000, 400), (2021, 1010, 410)]
    empty.write("c.csv", '年,品,数\n2020,5" x,1\n2021,6" y,2\n')
    assert "note" not in str(told(empty.import_()))
    empty.write("d.csv", "店,額\n茶屋,1\n\n出典：総務省\n")
    (failed,) = empty.import_().failed
    assert failed.reason == (
        "line 4: it has one cell, unlike the rows above; if it is a note below the table, leave it "
        "out with --read notes=out"
    )
    empty.import_("notes=out", pattern="d.csv")
    assert empty.content("t__d")[1] == [("茶屋", 1)]


def test_a_cell_that_is_hard_to_read_stops_no_import_of_the_other_files(empty):
    empty.write("a.csv", 'name,v\n"a\nb",1\nab"c\rd,2\nx"y,3\n')
    empty.write("b.csv", f"name,v\na,1\n\nb,2\n{'x' * 200_000},3\n")
    empty.write("c.csv", "x,y\n1,2\n")
    (failed,) = empty.import_(mode="new").failed
    assert (failed.file_path, failed.reason[:24]) == ("a.csv", "it cannot be read as CSV")
    assert (len(empty.read("t__b")), empty.read("t__c")) == (3, [(1, 2)])


def test_names_in_several_lines_of_a_csv_become_one(empty):
    empty.write("c.csv", "店,売上,,費用,\n,4月,5月,4月,5月\n東京,1,2,3,4\n")
    assert told(empty.import_()) == ["read: c.csv: the columns' names are in lines 1 to 2"]
    names = ["店", "売上 4月", "売上 5月", "費用 4月", "費用 5月"]
    assert empty.content("t__c") == (
        {"店": "VARCHAR"} | dict.fromkeys(names[1:], "BIGINT"), [("東京", 1, 2, 3, 4)]
    )  # fmt: skip


HEADS = [
    (",2024年,,2025年,\n市,男,女,男,女", "市,2024年 男,2024年 女,2025年 男,2025年 女"),
    ("市,2024年,2024年,2025年,2025年\n市,男,女,男,女",
     "市,2024年 男,2024年 女,2025年 男,2025年 女"),
    ("取得：2025/06/01 12:00:00\n\n,東京,東京,東京,東京\n市,気温,気温,降水量,降水量\n"
     ",,品質情報,,品質情報",
     "市,東京 気温,東京 気温 品質情報,東京 降水量,東京 降水量 品質情報"),
    ("市,2024/1/5(金),,令和6年1月6日(土),\n,男,女,男,女",
     "市,2024/1/5(金) 男,2024/1/5(金) 女,令和6年1月6日(土) 男,令和6年1月6日(土) 女"),
    (",2024年,,2025年,,\n市,男,女,男,女,率", "市,2024年 男,2024年 女,2025年 男,2025年 女,率"),
]  # fmt: skip


def test_lines_of_names_that_are_over_nothing_but_numbers_become_one(empty):
    texts, expected = [], []
    for head, names in HEADS:
        number = names.count(",")
        rows = ("".join(f",{n * at}" for at in range(number)) for n in (1, 2))
        texts.append("\n".join([head, *map("".join, zip("あい", rows, strict=True))]))
        types = ["VARCHAR", *["BIGINT"] * number]
        expected.append(dict(zip(names.split(","), types, strict=True)))
    files, _ = imported_at_once(empty, texts)
    assert [empty.types(f"t__{file}") for file in files] == expected


MAY_BE_VALUES = [
    (",1回目,2回目\n田中,欠席,欠席\n佐藤,80,90\n鈴木,70,60\n", 3),
    ("商品,色,,数量,在庫地\nりんご,赤,青,,赤\nみかん,黄,緑,3,東京\nぶどう,紫,白,4,大阪\n", 3),
    ("市,2024年,2024年\n市,男,女\nあ,1,x\n", 2),
    ("前期,前期,後期\n欠席,未提出,欠席\n80,90,70\n60,50,40\n", 3),
    ("分類,品名,,数量\n,りんご,赤,\n果物,みかん,黄,3\n", 2),
    ("社員,連絡先,,勤務,\n,主,副,主,副\n田中,東京,大阪,東京,大阪\n佐藤,1,2,3,4\n", 3),
    ("店,売上,,費用,\n,未定,未定,未定,未定\n東京,1,2,3,4\n", 2),
    ("品目,令和3年度,令和4年度\n,2021,2022\n米,10,20\n麦,5,6\n", 3),
    ("氏名,2024/1/5,2024/1/6,2024/1/7\n,金,土,日\n佐藤,早番,休,遅番\n鈴木,休,早番,早番\n", 3),
    ("品目,2024/1/5,,2024/1/6,\n,午前,午後,午前,午後\n佐藤,○,×,○,○\n鈴木,×,○,○,○\n", 3),
    ("項目,2024年1月,2024年2月,2024年3月\n曜日,月,木,金\n売上,10,20,30\n原価,4,5,6\n", 3),
]


def test_a_line_of_a_csv_that_may_be_values_is_no_line_of_names_and_is_told(empty):
    files, said = imported_at_once(empty, [text for text, _ in MAY_BE_VALUES])
    note = "line 2 is read as values; if it names the columns: --header-row 1-2"
    assert [line[6] for line in said if note in line] == files
    assert [len(empty.read(f"t__{file}")) for file in files] == [rows for _, rows in MAY_BE_VALUES]


WEATHER = "時刻：2026/8/20\n\n,東京,東京,東京\n年月日,{0}(℃),最大風速,最大風速\n,,,風向\n"
DAILY = "時刻：2026/8/20\n\n,,,{0}\n年,月,日,{1},{1},{1}\n,,,,,\n,,,,品質,均質番号\n"


def test_lines_of_names_with_gaps_or_over_some_texts_are_joined(empty):
    cases = (
        (
            WEATHER.format("気温"),
            "{}/2/5,3.9,8.1,北",
            "年月日,東京 気温(℃),東京 最大風速,東京 最大風速 風向",
        ),
        (
            DAILY.format("東京,東京,東京", "気温"),
            "{},7,1,29.4,8,1",
            "年,月,日,東京 気温,東京 気温 品質,東京 気温 均質番号",
        ),
    )
    files, _ = imported_at_once(
        empty,
        [
            head + "".join(f"{row.format(year)}\n" for year in (2024, 2025))
            for head, row, _ in cases
        ],
    )
    for file, (*_, names) in zip(files, cases, strict=True):
        types, rows = empty.content(f"t__{file}")
        assert (",".join(types), len(rows)) == (names, 2)


def test_lines_that_may_name_columns_are_told_and_named_by_the_first_and_last(empty):
    heads = (
        ("日付,気温,湿度\n,℃,%\n", "40", "1-2"),
        ("題\n\n,東京,東京\n年月日,風速,風速\n,,風向\n", "北", "3-5"),
    )
    files, said = imported_at_once(
        empty, [f"{head}2024/2/5,8.1,{value}\n2024/2/6,6.2,{value}\n" for head, value, _ in heads]
    )
    assert "na:" not in str(said)
    for file, line, (*_, span) in zip(files, said, heads, strict=True):
        assert line.endswith(f": --header-row {span}")
        empty.import_(pattern=f"{file}.csv", header_row=span)
    assert empty.kept() == ["header_row = 1-2 (a.csv)", "header_row = 3-5 (b.csv)"]
    assert [len(empty.read(f"t__{file}")) for file in files] == [2, 2]
    assert empty.types("t__a") == {"日付": "DATE", "気温 ℃": "DOUBLE", "湿度 %": "BIGINT"}
    assert empty.types("t__b") == {
        "年月日": "DATE", "東京 風速": "DOUBLE", "東京 風速 風向": "VARCHAR",
    }  # fmt: skip
    empty.import_(pattern="b.csv", header_row="0")
    assert empty.kept() == ["header_row = 1-2 (a.csv)"]


SERIES = (
    "系列名称,ドル・円,金利\n単位,円,年%\nコード,FM08'A,FM01'B\n収録開始期,1998/04/01,1998/01/05\n"
)


def test_no_row_of_names_that_is_read_as_values_is_advised_to_be_null(empty):
    empty.write(
        "c.csv", SERIES + "".join(f"2024/1/{day},140.{day},-0.0{day}\n" for day in range(4, 9))
    )
    (said,) = told(empty.import_())
    assert said.endswith(
        "lines 2 to 4 are read as values; if they name the columns: --header-row 1-4"
    )
    assert "na:" not in said
    assert "na:" not in str(told(empty.import_(pattern="c.csv", header_row="1-3")))
    empty.write(
        "d.csv", "品目,2024/1/5(金),,2024/1/6(土),\n,数量,金額,数量,金額\nりんご,1,100,2,200\n"
    )
    empty.import_()
    assert "na:" not in str(told(empty.import_(pattern="d.csv", header_row="1")))


ONE_WORD = [
    ("日付,開店,閉店\n定休日,休,休\n2024/1/2,3,4\n2024/1/3,3,4\n", "開店=na:休"),
    ("id,x,y\nなし,欠測,欠測\n1,2,3\n2,3,4\n", "x=na:欠測"),
    ("商品,価格,在庫\n,未定,未定\nB,100,3\nC,200,4\n", "価格=na:未定"),
]


def test_a_row_of_one_word_may_name_columns_or_mean_no_value_and_both_are_offered(empty):
    _, said = imported_at_once(empty, [text for text, _ in ONE_WORD])
    for line, (_, advice) in zip(said, ONE_WORD, strict=True):
        assert f"--read '{advice}' makes it NULL" in line
        assert "line 2 is read as values; if it names the columns: --header-row 1-2" in line


NO_NAMES = [
    "日付,入金,出金,残高,摘要\n,,,,前月繰越\n2024/1/1,3,,10,a\n2024/1/2,,4,6,b\n",
    "日付,売上,数,備考\n,,,繰越\n2024/1/1,3,4,\n2024/1/2,3,4,\n",
    "氏名,店,区,備考\n,,,繰越\n佐藤,あ,い,う\n鈴木,え,お,か\n",
    "氏名,住所\n,東京\n佐藤,大阪\n鈴木,京都\n",
    "氏名,住所,備考\n,東京,あ\n,大阪,い\n鈴木,京都,う\n",
    # A first record without a key.
    "会員番号,氏名,商品,金額\n,非会員,りんご,300\n12,佐藤,みかん,200\n13,鈴木,ぶどう,100\n",
    "受付番号,顧客名,内容,対応\n,山田,返品,済\n1001,佐藤,交換,済\n1002,鈴木,交換,未\n",
    "id,名前,状態\n,未登録,保留\n1,佐藤,済\n",
    "会員,名前,,対応\n,山田,返品,済\nA,佐藤,交換,済\n",
    "id,名前,,対応,数\n,山田,返品,済,3\n1,佐藤,交換,未,x\n",
    "氏名,店A,店B\n,金,土\n佐藤,早番,休\n鈴木,休,早番\n",
    # A record below dates over texts, whatever is in other columns.
    "担当,2024/5/1,2024/5/2,2024/5/3,数\n佐藤,早,遅,休,無\n鈴木,休,早,遅,3\n林,遅,休,早,2\n",
    "名,数学,英語\n田中,欠席,欠席\n佐藤,80,90\n鈴木,70,60\n",  # absences
]


def test_a_row_that_says_nothing_over_values_is_no_row_of_names(empty):
    files, said = imported_at_once(empty, NO_NAMES)
    assert sorted(empty.tables()) == [f"t__{file}" for file in files]
    assert "--header-row" not in str(said)
    assert "--read '数学=na:欠席' makes it NULL" in said[-1]


def test_a_kept_choice_for_a_column_that_is_gone_is_named_with_the_changed_file(files):
    files.import_("額=text", "店=number", mode="new")
    files.import_("額=comma", pattern="b.*")
    files.write("b.csv", "店|価格\n1|5,5\n")  # a.csv has 額 still, both have 店
    (said,) = told(files.import_())
    assert said.endswith(
        "; no column '額' is there for the choice 額 = comma (b.*); take it back with --read "
        "'額=auto' --for 'b.*'"
    )
    assert files.import_("額=auto", pattern="b.*").failed == ()


def test_a_chosen_number_may_be_written_with_a_power_of_any_form(empty):
    empty.write("c.csv", "y\n1e5\n-2E3\n007\n.5\n")
    empty.import_("y=number", pattern="c.csv", mode="new")
    assert empty.content("t__c") == ({"y": "DOUBLE"}, [(100_000,), (-2_000,), (7,), (0.5,)])


def test_a_day_of_the_week_behind_each_date_agrees_with_it_or_it_stays_text(empty):
    forms = [("2024年1月1日(月)", "2024年1月2日（火）"), ("2024/1/1 (月)", "2024/01/02(火)")]
    right = ["\n".join(["日付,x", *(f"{day},1" for day in days)]) for days in forms]
    files, said = imported_at_once(empty, [*right, *(f"{text}\n2024/1/3(月),1" for text in right)])
    for file in files[:2]:
        assert empty.types(f"t__{file}") == {"日付": "DATE", "x": "BIGINT"}
        assert [row[0].day for row in empty.read(f"t__{file}")] == [1, 2]
    for file, line in zip(files[2:], said[2:], strict=True):
        assert empty.types(f"t__{file}")["日付"] == "VARCHAR"
        assert "2024/1/3(月) (1) kept it text among 2 dates" in line


MAY_BE_JOINED = [
    ("氏名,電話,,\n佐藤,なし,なし,なし\n鈴木,03-1,090-1,a@b\n", None),
    (",国語,,数学,\n佐藤,良,可,良,可\n鈴木,80,90,70,60\n", None),
    (",国語,,数学,\n氏名,前,後,前,後\n佐藤,80,90,70,60\n鈴木,70,80,60,50\n", True),
    (",電話,,\n佐藤,なし,なし,なし\n鈴木,1,2,3\n林,4,5,6\n", None),
    (",国語,,数学,英語\n佐藤,良,可,良,優\n鈴木,80,90,70,60\n", False),
    ("商品,サイズ,,価格,,\nシャツ,M,L,未定,未定,青\nズボン,M,L,1000,2000,赤\n", False),
]


def test_a_line_is_joined_to_the_header_only_where_it_can_be_no_record(empty):
    files, said = imported_at_once(empty, [text for text, _ in MAY_BE_JOINED])
    failed = problems(empty.import_())
    lines = iter(said)
    for file, (text, is_joined) in zip(files, MAY_BE_JOINED, strict=True):
        if is_joined is None:
            assert "header cannot be told" in failed[f"{file}.csv"]
            continue
        line = next(lines)
        assert ("names are in lines 1 to 2" in line) == is_joined
        assert ("line 2 is read as values; if it names" in line) != is_joined
        assert len(empty.read(f"t__{file}")) == text.count("\n") - 1 - is_joined


def test_the_question_for_a_header_names_choices_that_leave_other_tables_alone(empty):
    asked, good = (
        "期間,2024/4/1,2024/4/30\n店,日付,数\nA,2024/4/3,3\nB,2024/4/4,4\n",
        "店,数\nA,1\n",
    )
    for name, text in (
        ("b.csv", asked),
        ("sub/b.csv", good),
        ("c[1].csv", asked),
        ("c1.csv", good),
    ):
        (empty.folder / name).parent.mkdir(exist_ok=True)
        empty.write(name, text)
    workbook(
        empty.folder / "w.xlsx",
        ("良い", [["店", "数"], ["A", 1]]),
        *((name, [line.split(",") for line in asked.split("\n")[:-1]]) for name in ("甲", "乙")),
    )
    report = empty.import_(mode="new")
    assert len(report.failed) == 4
    left = empty.content("t__w__良い"), empty.content("t__sub_b"), empty.content("t__c1")
    for path, reason in problems(report).items():
        pattern = {"b.csv": "./b.csv", "c[1].csv": "c[[]1].csv"}.get(path, path)
        assert f", with -m update {shell_line('--for', pattern)}: 1 " in reason
        empty.import_(pattern=pattern, header_row="2")
    assert (empty.content("t__w__良い"), empty.content("t__sub_b"), empty.content("t__c1")) == left
    for table in ("t__b", "t__c_1_", "t__w__甲", "t__w__乙"):
        assert list(empty.types(table)) == ["店", "日付", "数"]


def test_a_choice_can_be_for_one_sheet_of_a_workbook(empty):
    rows = (("店", "数"), ("A", 1), ("B", 2))
    workbook(empty.folder / "w.xlsx", ("甲", rows), ("乙", (*rows, ("C", 3))))
    empty.import_(mode="new")
    other = empty.content("t__w__乙")
    empty.import_("header=none", pattern="w.xlsx#甲")
    assert (len(empty.read("t__w__甲")), empty.content("t__w__乙")) == (3, other)
    empty.import_("数=text", pattern="w.xlsx#乙")
    assert (empty.types("t__w__乙")["数"], len(empty.read("t__w__甲"))) == ("VARCHAR", 3)
    empty.import_("header=auto", pattern="w.xlsx#甲")
    assert empty.kept() == ["数 = text (w.xlsx#乙)"]
    for columns, pattern, why in (
        ("header=none", "w.xlsx#丙", "no sheet or table w.xlsx#丙; there are: 甲, 乙"),
        ("額=text", "w.xlsx#甲", "no file w.xlsx#甲 has a column '額'"),
    ):
        with pytest.raises(ImportRefused, match=why):
            empty.import_(columns, pattern=pattern)


GOODS = (("番号", "数"), ("001", 100), ("002", 200), ("合計", 300))


def unused(report):
    return [line.text for line in report.lines() if line.text.startswith("unused: ")]


def test_a_sheet_that_fails_refuses_only_the_choices_that_are_for_it(empty):
    book, no_names = empty.folder / "a#1.xlsx", [row[:2] for row in GOODS[1:]]
    workbook(book, ("S", GOODS), ("T", GOODS), ("G", GOODS))
    empty.import_(mode="new")
    workbook(book, ("S", no_names), ("T", no_names), ("G", GOODS))
    asked = ["a#1.xlsx#S", "a#1.xlsx#T"]
    assert [*problems(empty.import_())] == asked
    with pytest.raises(ImportRefused, match=r"^a#1\.xlsx#T: its header cannot be told"):
        empty.import_("totals=out", pattern="*#T")
    assert [*problems(empty.import_("totals=out", pattern="a#1.xlsx#G"))] == asked
    assert [*problems(empty.import_("header=none", pattern="a#1.xlsx#S"))] == asked[1:]
    assert problems(empty.import_("header=none", pattern="a#1.xlsx#T")) == {}
    assert [len(empty.read(f"t__a_1__{name}")) for name in "gst"] == [2, 3, 3]


def test_the_only_sheet_of_a_workbook_has_its_own_choices_while_it_has_that_name(empty):
    book = empty.folder / "a.xlsx"
    of_sheet = ("totals=out", "番号=text")
    workbook(book, ("明細", GOODS), ("メモ", (("a", "b"), ("x", "y"))))
    empty.import_(mode="new")
    empty.import_(*of_sheet, pattern="a.xlsx#明細")
    workbook(book, ("明細", GOODS))
    said = empty.import_()
    assert len(empty.read("t__a")) == 2
    assert "for the choice" not in str(said.lines())
    assert empty.import_(*of_sheet, pattern="a.xlsx#明細").unchanged == 1
    with pytest.raises(ImportRefused, match=r"no sheet or table a\.xlsx#6月; there are: 明細$"):
        empty.import_("totals=out", pattern="a.xlsx#6月")
    with pytest.raises(ImportRefused, match=r"no file a\.xlsx#明細 has a column '額'"):
        empty.import_("額=text", pattern="a.xlsx#明細")


GONE = {
    "- = NULL (a.xlsx#明細)": "--read na=auto --for 'a.xlsx#明細'",
    "- in 番号 = NULL (a.xlsx#明細)": "--read '番号=auto' --for 'a.xlsx#明細', which takes back as "
    "well: 番号 = text (a.xlsx#明細)",
    "番号 = text (a.xlsx#明細)": "--read '番号=auto' --for 'a.xlsx#明細', which takes back as "
    "well: - in 番号 = NULL (a.xlsx#明細)",
    "notes = out (a.xlsx#明細)": "--read notes=auto --for 'a.xlsx#明細'",
    "totals = out (a.xlsx#明細)": "--read totals=auto --for 'a.xlsx#明細'",
    "header_row = none (a.xlsx#明細2)": "--header-row 0 --for 'a.xlsx#明細2'",
    "totals = out (b.csv)": "--read totals=auto --for b.csv",
    "encoding = utf-8-sig (b.*)": "--encoding auto --for 'b.*'",
    "delimiter = , (b.*)": "--delimiter auto --for 'b.*'",
}


@pytest.mark.parametrize("others", [(), (("メモ", (("a", "b"), ("x", "y"))),)])
def test_a_choice_whose_file_or_sheet_is_gone_is_told_once(empty, others):
    workbook(empty.folder / "a.xlsx", ("明細2", GOODS), *others)
    empty.write("b.csv", "番号,数\n1,2\n")
    empty.import_(mode="new")
    empty.import_("header=none", pattern="a.xlsx#明細2")
    workbook(empty.folder / "a.xlsx", ("明細", GOODS), *others)
    of_sheet = ("na=-", "番号=na:-", "番号=text", "notes=out", "totals=out")
    empty.import_(*of_sheet, pattern="a.xlsx#明細")
    empty.import_("totals=out", pattern="b.csv")
    empty.import_(encoding="utf-8", delimiter=",", pattern="b.*")
    workbook(empty.folder / "a.xlsx", ("6月", GOODS), *others)
    (empty.folder / "b.csv").rename(empty.folder / "c.csv")
    report = empty.import_()
    lines = {
        f"no file or table is there for the choice {choice}; take it back with {back}"
        for choice, back in GONE.items()
    }
    assert sorted(report.json_fields()["dataset"]["unused"]) == sorted(lines)
    assert set(unused(report)) <= {f"unused: {line}" for line in lines}
    assert "for the choice" not in str(told(report))


@pytest.mark.parametrize("names", [("a", "b"), ("m_1", "m_2", "m_3")])
def test_a_renamed_sheet_is_told_at_each_import_whatever_other_workbooks_hold(empty, names):
    first, *others = (empty.folder / f"{name}.xlsx" for name in names)
    for book in others:
        workbook(book, ("売上", GOODS))
    workbook(first, ("明細", GOODS))
    empty.import_(mode="new")
    empty.import_("totals=out", pattern="*.xlsx#明細")
    workbook(first, ("6月", GOODS))
    said = [unused(empty.import_()) for _ in range(3)]
    assert said[0] == said[1] == said[2] != []
    with pytest.raises(ImportRefused, match=r"no sheet or table \*#明細; there are: 6月, 売上$"):
        empty.import_("totals=out", pattern="*#明細")
    with pytest.raises(ImportRefused, match="no sheet or table"):
        empty.import_("totals=out", pattern=f"{others[0].name}#明細")
    first.unlink()
    assert unused(empty.import_()) == said[0]
    workbook(first, ("明細", GOODS))
    assert unused(empty.import_()) == []
    assert unused(empty.import_()) == []


def test_a_workbook_left_out_of_a_combined_table_hides_no_missing_sheet(empty):
    for name in ("m_1", "m_2"):
        workbook(empty.folder / f"{name}.xlsx", ("売上", GOODS))
    empty.import_(mode="new")
    workbook(empty.folder / "m_3.xlsx", ("明細", GOODS), ("甲", GOODS))
    assert "m_3.xlsx" in str(empty.import_("totals=out", pattern="m_3.xlsx#明細").lines())
    workbook(empty.folder / "m_3.xlsx", ("乙", GOODS), ("甲", GOODS))
    assert [len(unused(empty.import_())) for _ in range(2)] == [1, 1]


def test_a_choice_for_a_sheet_that_fails_is_refused_at_each_attempt(empty):
    book, no_names = empty.folder / "a.xlsx", [row[:2] for row in GOODS[1:]]
    workbook(book, ("S", GOODS), ("M", GOODS))
    empty.import_(mode="new")
    workbook(book, ("S", no_names), ("M", GOODS))
    for _ in range(2):
        for columns, pattern in (("番号=date", "a.xlsx#M"), ("そんな列=text", "a.xlsx#S")):
            with pytest.raises(ImportRefused, match="nothing was changed"):
                empty.import_(columns, pattern=pattern)
        empty.import_("totals=out", pattern="a.xlsx#M")
    assert empty.kept() == ["totals = out (a.xlsx#M)"]


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
def test_what_takes_a_choice_back_takes_no_other_or_names_it(empty, choices, left):
    empty.write("a.csv", "id,na,totals,notes,header\n1,2,3,4,5\n2,-,5,6,7\n")
    empty.import_(mode="new")
    empty.import_(*choices, pattern="a.csv")
    (empty.folder / "a.csv").rename(empty.folder / "b.csv")
    said = {line.split(" for the choice ")[1] for line in unused(empty.import_())}
    gone = [choice for choice in empty.kept() if choice not in left]
    first = next(line for line in said if line.startswith(f"{gone[0]};"))
    back = shlex.split(first.split(" with ")[1].split(", which")[0])[1]
    empty.import_(back, pattern="a.csv")
    assert empty.kept() == left
    assert [choice for choice in gone[1:] if choice not in first] == []
    for line in said:
        choice, _, how = line.partition("; ")
        if choice in left and f" {back} " in how:
            assert how.endswith(f", once this is taken back: {', '.join(gone)}")


def test_the_name_of_a_sheet_may_end_in_a_blank(empty):
    workbook(empty.folder / "a.xlsx", ("S", GOODS), ("T ", GOODS))
    empty.import_(mode="new")
    empty.import_("totals=out", pattern="a.xlsx#T ")
    assert empty.kept() == ["totals = out (a.xlsx#T )"]
    assert [len(empty.read(f"t__a__{name}")) for name in ("s", "t_")] == [3, 2]


def test_a_choice_for_a_hidden_sheet_is_refused_with_the_reason(empty):
    book = workbook(empty.folder / "a.xlsx", ("甲", GOODS), ("乙", GOODS))
    book["乙"].sheet_state = "hidden"
    book.save(empty.folder / "a.xlsx")
    empty.import_(mode="new")
    for _ in range(2):
        with pytest.raises(ImportRefused, match=r"^a\.xlsx#乙: it is a hidden sheet; .* changed$"):
            empty.import_("totals=out", pattern="a.xlsx#乙")


def test_a_choice_for_a_file_that_is_only_out_of_sight_or_for_a_hidden_sheet_is_not_unused(empty):
    book = workbook(empty.folder / "a.xlsx", ("甲", GOODS), ("乙", GOODS))
    empty.import_(mode="new")
    empty.import_("totals=out", pattern="a.xlsx#乙")
    book["乙"].sheet_state = "hidden"
    book.save(empty.folder / "a.xlsx")
    assert unused(empty.import_()) == []
    (empty.folder / "a.xlsx").write_bytes(b"damaged")
    assert unused(empty.import_()) == []


def test_a_choice_that_cannot_hold_changes_nothing(files):
    files.import_(mode="new")
    before = files.content("t__a")
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
            files.import_(*columns, **choices)
    assert files.content("t__a") == before
    assert files.kept() == []
    assert files.import_().unchanged == 2


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


def test_many_files_of_one_table_are_told_as_one_and_read_alike(empty):
    for month in range(1, 4):
        empty.write(f"m_2025-0{month}.csv", f"day;n\n2025/{month}/1;0{month}\n")
    report = empty.import_(mode="new")
    assert told(report)[-1] == (
        "read: m_2025-01.csv (and 2 more files alike, with values and counts of their own): cells "
        "separated by ';'; day: 2025/1/1 → DATE"
    )
    assert empty.content("t__m")[1][0][1] == "01"
    empty.import_("n=integer")
    assert [row[1] for row in empty.content("t__m")[1]] == [1, 2, 3]


def test_no_row_of_many_files_without_headers_is_lost(empty):
    for month in (1, 2):
        empty.write(f"m_2025-0{month}.csv", f"2025-0{month}-01,a,5\n2025-0{month}-02,b,6\n")
        empty.write(f"n_{month}.csv", f"a,{month}\nb,7\n")
    report = empty.import_(mode="new")
    assert empty.read("t__m", "column1::VARCHAR, column3") == [
        ("2025-01-01", 5), ("2025-01-02", 6), ("2025-02-01", 5), ("2025-02-02", 6),
    ]  # fmt: skip
    assert told(report)[-1].startswith("read: m_2025-01.csv (and 1 more file alike): no header: ")
    assert {problem.file_path for problem in report.failed} == {"n_1.csv", "n_2.csv"}
    report = empty.import_("header=none", pattern="n_*")
    assert empty.kept() == ["header_row = none (n_*)"]
    assert empty.read("t__n_1") + empty.read("t__n_2") == [("a", 1), ("b", 7), ("a", 2), ("b", 7)]
    empty.import_(pattern="n_*", header_row="1")
    assert empty.types("t__n_1") == {"a": "VARCHAR", "1": "BIGINT"}


def test_cells_such_as_na_in_texts_are_counted_and_become_null_where_that_is_chosen(empty):
    empty.write("n.csv", "x,day\nNA,01/02/2025\n-,03/04/2025\nNA,\nb,\n")
    empty.write("o.json", '[{"x": "NA", "y": 1}, {"x": "b", "y": "NA"}]')
    report = empty.import_(mode="new")
    assert told(report) == [
        "read: n.csv: x: - (1), NA (2) kept as text; --read x=na:- makes it NULL; day: 01/02/2025: "
        "the day or the month may come first; it stays text until --read 'day=date:dmy' or "
        "'day=date:mdy'",
        "read: o.json: x: NA (1) kept as text; --read x=na:NA makes it NULL; "
        "y: 1 cell such as NA → NULL",
    ]
    empty.import_("na=NA", "day=date:mdy")
    assert empty.kept() == ["day = date:mdy", "NA = NULL"]
    rows = [(None, "2025-01-02"), ("-", "2025-03-04"), (None, None), ("b", None)]
    assert empty.read("t__n", "x, day::VARCHAR") == rows
    empty.import_("na=-")
    assert [row[0] for row in empty.read("t__n")] == [None, None, None, "b"]
    empty.import_("na=auto", "day=auto")
    assert empty.kept() == []
    assert empty.types("t__n")["day"] == "VARCHAR"


def test_dates_with_the_letter_of_an_era_are_read_where_that_is_chosen(empty):
    empty.write("e.csv", "day,part\nR7.1.2,R1.2.3\nS64/1/7,R10.13.1\nH31-04-30,M1.1.1\n")
    assert empty.import_(mode="new").failed == ()
    assert empty.types("t__e") == {"day": "VARCHAR", "part": "VARCHAR"}
    empty.import_("day=date")
    assert empty.read("t__e", "day::VARCHAR, part") == [
        ("2025-01-02", "R1.2.3"), ("1989-01-07", "R10.13.1"), ("2019-04-30", "M1.1.1"),
    ]  # fmt: skip


def test_a_few_words_that_keep_a_column_of_numbers_or_dates_text_are_named(files):
    rows = [f"{day},{day * 1000},2025-01-{day:02},X{day}" for day in range(1, 9)]
    files.write("n.csv", "\n".join(["気温,金額,日,札", *rows, "不明,1,未定,7", "欠測 ※,2,,8"]))
    files.write("texts.json", '[{"x": "1"}, {"x": "2"}, {"x": "3"}, {"x": "不明"}]')
    report = files.import_(mode="new")
    assert told(report)[2:] == [
        'read: n.csv: 気温: 不明 (1), "欠測 ※" (1) kept it text among 8 numbers; '
        "--read '気温=na:不明' --read '気温=na:欠測 ※' makes it NULL; 日: 未定 (1) kept it text "
        "among 8 dates; --read '日=na:未定' makes it NULL"
    ]
    assert told(files.import_("気温=text", "日=text")) == told(report)[:2]
    chosen = ["気温=na:不明", "気温=na:欠測 ※", "日=na:未定"]
    files.import_("気温=auto", "日=auto", *chosen, "x=na:不明")
    types = {"気温": "BIGINT", "金額": "BIGINT", "日": "DATE", "札": "VARCHAR"}
    assert files.types("t__n") == types
    assert files.read("t__texts") == [("1",), ("2",), ("3",), (None,)]
    assert "欠測 ※ in 気温 = NULL" in files.kept()
    files.import_("気温=auto")
    assert files.types("t__n") == {**types, "気温": "VARCHAR"}


def test_a_text_is_null_in_the_column_that_it_was_said_of_alone(empty):
    empty.write("k.csv", "値,等級\nA,A\n1,B\n2,A\n")
    empty.write("o.json", '[{"等級": "A"}, {"等級": "A", "値": "A"}, {"値": 3}]')
    empty.write("r.csv", "ランク\nA\n")
    empty.import_("値=na:A", mode="new")
    assert empty.read("t__k", "値, 等級") == [(None, "A"), (1, "B"), (2, "A")]
    assert empty.read("t__o", "値, 等級") == [(None, "A"), (None, "A"), (3, None)]
    assert empty.read("t__r") == [("A",)]
    with pytest.raises(ImportRefused, match="no file"):
        empty.import_("無い列=na:A")


def test_a_value_a_total_and_a_name_are_not_proposed_to_be_null(empty):
    odd = ("0099", "1e3", "2E3", "12345678901234567890", "△ x3", "合計", "値")
    numbers = [f"{n},1" for n in range(10, 20)]
    files, said = imported_at_once(
        empty, ["\n".join(["値,b", f"{one},1", *numbers]) for one in odd]
    )
    assert [line[6] for line in said if "(1) kept it text among 10 numbers" in line] == files
    assert "na:" not in str(said)


KEPT_TEXT = [
    (["581.01861572265625", "0.1234567890123456789", "1.5"],
     "0.1234567890123456789 (1) kept it text among 2 numbers; numbers of too many digits are "
     "kept as text"),
    (["0.1234567890123456789", "NA"],
     "0.1234567890123456789 (1) kept it text; numbers of too many digits are kept as text"),
    (["$999999999999999.99", "$1.50"],
     '"$999999999999999.99" (1) kept it text among 1 number; numbers of too many digits '
     "are kept as text"),
    (["割引率", "MD1", "％", "済", *map(str, range(40))],
     "MD1 (1), 割引率 (1), 済 (1) and 1 more kept it text among 40 numbers"),
    (["0.0074", "0.2397", *(f'"{n},193"' for n in range(4, 9)), '"4,193 (water)"'],
     '"4,193 (water)" (1), 0.0074 (1), 0.2397 (1) kept it text among 5 numbers'),
    (["R6.4.1", "R6.4.2", "R6.4.30", "合計"], "合計 (1) kept it text among 3 dates"),
    (["R6.4.1", "R6.2.30"], "R6.2.30 (1) kept it text among 1 date"),
    (["2025-02-30", "2025-02-28"], "2025-02-30 (1) kept it text among 1 date"),
    (["2025/6/1", "2025/6/31", "2025/6/2"], "2025/6/31 (1) kept it text among 2 dates"),
    (["令和7年2月30日", "令和7年2月1日"], "令和7年2月30日 (1) kept it text among 1 date"),
    (["1/31/2025", "1/30/2025", "31/1/2025"], "31/1/2025 (1) kept it text among 2 dates"),
    (["+5", *map(str, range(1, 9))], '"+5" (1) kept it text among 8 numbers'),
    (["1.5%", *map(str, range(9))], '"1.5%" (1) kept it text among 9 numbers'),
    (["5", *(f"{n}%" for n in range(9))], "5 (1) kept it text among 9 numbers"),
    (["±0", "(¥30)", '"1,234"', '"(1,234)"', "5"], '"±0" (1) kept it text among 4 numbers'),
    (["(85)", '"(1,234)"', "(不明)"], "(不明) (1) kept it text among 2 numbers"),
    (["true", "false", "調査中"], "調査中 (1) kept it text among 2 values"),
    ([*map(str, range(300)), *[f'"{n},000"' for n in range(1, 300)] * 5, "x"],
     "x (1) kept it text among 1,795 numbers"),
]  # fmt: skip


def test_what_keeps_a_column_of_numbers_or_dates_text_is_said(empty):
    texts = ["\n".join(["b,値", *(f"x,{cell}" for cell in cells)]) for cells, _ in KEPT_TEXT]
    files, said = imported_at_once(empty, texts)
    for file, line, (_, note) in zip(files, said, KEPT_TEXT, strict=True):
        assert f"{line}; ".startswith(f"read: {file}.csv: 値: {note}; ")


def test_cells_such_as_na_are_named_beside_the_words_that_keep_a_column_text(empty):
    cells = [*map(str, range(10)), "不明", "欠測", "中止", "休", "NA", "NA"]
    empty.write("n.csv", "\n".join(["値,b", *(f"{cell},x" for cell in cells)]))
    (said,) = told(empty.import_(mode="new"))
    assert "and 1 more kept it text among 10 numbers; NA (2) kept as text; --read" in said
    assert said.endswith("'値=na:NA' makes it NULL")


def test_whole_numbers_that_may_all_be_days_are_told(empty):
    empty.write("n.csv", "番号,入社日\n1,20250401\n20240401,20240401\n")
    empty.write("o.json", '[{"入社日": 20250401}, {"入社日": null}]')
    said = "入社日: numbers such as 20250401 may be days; strptime(x::VARCHAR, '%Y%m%d') gives them"
    assert told(empty.import_(mode="new")) == [f"read: n.csv: {said}", f"read: o.json: {said}"]


SIGNS = [
    (["△ 1", "2", "▲ 1,000"], [-1, 2, -1000]),
    (["+5", "-3", "2"], [5, -3, 2]),
    (["+1.5", "2"], [1.5, 2.0]),
    (["+1.5%", "-2%"], [1.5, -2.0]),
    (["+819012345678", "+818011112222"], ["+819012345678", "+818011112222"]),
    (["1", "―", "–", "ー"], [1, None, None, None]),
    (["12345678901.123456", "1.5"], ["12345678901.123456", "1.5"]),
    (["0.30000000000000004", "1.5"], [0.30000000000000004, 1.5]),
    (["581.01861572265625", "NA"], [581.01861572265625, None]),
    (["0.100000001490116119384765625", "+1"], [0.100000001490116119384765625, 1.0]),
    (["1.50000000000000000000", "1e-9"], [1.5, 1e-9]),
    (["$99,999,999,999,999.25", "1"], [99999999999999.25, 1.0]),
    *(([text, "1.5"], [text, "1.5"]) for text in (
        "999999999999999.99", "414940414189921.05", "¥999,999,999,999,999.99",
        "－414,940,414,189,921.05", "-999999999999999.99",
    )),
    *((texts, texts) for texts in (
        ["($999,999,999,999,999.99)", "$1"], ["£414940414189921.05", "£1"],
        ["12345678901234.123456%", "1%"], ["€414,940,414,189,921.05", "€1.5"],
        ["414.940.414.189.921,05 €", "1,5 €"], ["414.940.414.189.921,05", "1,5"],
    )),
]  # fmt: skip


def test_signs_dashes_and_long_fractions_are_read_whole_or_not_at_all(empty):
    files, _ = imported_at_once(
        empty, ["\n".join(["値,b", *(f'"{text}",x' for text in texts)]) for texts, _ in SIGNS]
    )
    for file, (_, values) in zip(files, SIGNS, strict=True):
        assert [value for value, _ in empty.read(f"t__{file}", "値, b")] == values


def test_a_date_that_stands_for_no_end_is_a_date(empty):
    empty.write("n.csv", "終了日,b\n2024-01-27,1\n9999-12-31,2\n")
    empty.import_(mode="new")
    assert empty.types("t__n")["終了日"] == "DATE"


def test_a_cell_that_no_shell_takes_as_it_is_is_named_without_a_command(empty):
    empty.write("n.csv", f"x,y\n1,1\n2,2\n3,3\n{'注' * 41},\x1b[31m\n")
    said = told(empty.import_(mode="new"))[-1]
    assert said.count("kept it text among 3 numbers") == 2
    assert "--read" not in said
    assert "\x1b" not in said


def test_choices_for_some_files_count_more_than_those_for_all():
    every = ReadingChoice(EVERY_FILE, Setting.COLUMN, "text", "n")
    some = ReadingChoice("sub/*.csv", Setting.COLUMN, "integer", "n")
    choices = merge_choices([some], [every, ReadingChoice("a*", Setting.HEADER_ROW, "2")])
    assert reading_of(choices, "sub/b.csv").columns == {"n": "integer"}
    assert reading_of(choices, "sub/a.csv").header_row == 2
    assert reading_of(choices, "b.csv").columns == {"n": "text"}


def test_numbers_in_brackets_alone_are_asked_about_and_read_as_chosen(empty):
    empty.write("n.csv", "年,総数,うち女性\n2000年,1000,(400)\n2001年,900,(85)\n")
    assert told(empty.import_(mode="new")) == [
        "read: n.csv: うち女性: (400): it may be negative, or not; it stays text until --read "
        "'うち女性=number' or 'うち女性=number:plus'"
    ]
    empty.import_("うち女性=number:plus")
    assert empty.read("t__n", "うち女性") == [(400,), (85,)]
    (said,) = told(empty.import_("うち女性=number"))
    assert "うち女性: (400) → BIGINT, numbers in brackets are negative" in said
    assert empty.read("t__n", "うち女性") == [(-400,), (-85,)]


def test_a_name_with_a_full_width_space_is_told_as_it_is_chosen(empty):
    empty.write(
        "a.csv", "年　次,人　口\n" + "".join(f"{2015 + n},{n}\n" for n in range(9)) + "2024,※\n"
    )
    (said,) = told(empty.import_(mode="new"))
    assert said.endswith("--read '人　口=na:※' makes it NULL")
    empty.write(
        "a.csv", '年,"人\n口"\n' + "".join(f"{2015 + n},{n}\n" for n in range(9)) + "2024,※\n"
    )
    assert told(empty.import_())[0].endswith(r"--read $'人\n口=na:※' makes it NULL")
    empty.write(
        "a.csv", "年　次,人　口\n" + "".join(f"{2015 + n},{n}\n" for n in range(9)) + "2024,※\n"
    )
    empty.import_("人　口=na:※")
    assert empty.content("t__a")[0] == {"年　次": "BIGINT", "人　口": "BIGINT"}


def test_times_that_a_file_writes_in_another_form_are_told_like_days(empty):
    empty.write("a.csv", "at\n2024-01-05 10:00\n2024-01-06T10:00:05\n")
    empty.write("b.csv", "at\n2024/1/5 10:00\n2024-01-06 24:00\n")
    empty.write("c.csv", "at\n2024-01-05 10:00\n2024/1/6\n")
    empty.write("d.csv", "at\n2024年1月5日 9時05分\n2024年1月5日 9時06分\n")
    empty.write("e.csv", "at\n2024-01-05 10:00:00\n2024-01-06 24:00:00\n")
    assert told(empty.import_(mode="new")) == [
        'read: b.csv: at: "2024-01-06 24:00" → TIMESTAMP',
        "read: c.csv: at: 2024/1/6 → TIMESTAMP",
        "read: d.csv: at: 2024年1月5日 9時05分 → TIMESTAMP",
        'read: e.csv: at: "2024-01-06 24:00:00" → TIMESTAMP',
    ]
    assert empty.read("t__b", '"at"::VARCHAR') == [
        ("2024-01-05 10:00:00",),
        ("2024-01-07 00:00:00",),
    ]


def test_files_of_a_table_that_order_dates_differently_are_told_apart(empty):
    days = {"day": "{d}/02/2025", "month": "02/{d}/2025"}
    for name, day in days.items():
        rows = [f"{day.format(d=d)},{name}" for d in range(13, 20)]
        empty.write(f"dx_{len(name)}.csv", "\n".join(["日,x", *rows]))
    assert told(empty.import_(mode="new")) == [
        "read: dx_3.csv: 日: 13/02/2025 → DATE, the day comes first",
        "read: dx_5.csv: 日: 02/13/2025 → DATE, the month comes first",
    ]
