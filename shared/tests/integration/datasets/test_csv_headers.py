"""Which lines of a CSV file name its columns: joined, read as values, or asked about."""

import pytest
from source_folder import chosen, converted, problems, rows_in, workbook
from table_of_cases import each

from mdvec.files.problems import UnreadableFile
from mdvec.platform import shell_line


def names_and_rows(folder, text, **how):
    """What is said of a file, its columns' names, and how many rows it has."""
    understood = converted(folder, text, **how)
    ((count,),) = rows_in(folder, "count(*)").fetchall()
    return str(understood), ",".join(column.name for column in understood.columns), count


@each(
    ("head", "row", "names"),
    [
        ("店,売上,,費用,\n,4月,5月,4月,5月", "東京,1,2,3,4",
         "店,売上 4月,売上 5月,費用 4月,費用 5月"),
        (",2024年,,2025年,\n市,男,女,男,女", "あ,0,1,2,3",
         "市,2024年 男,2024年 女,2025年 男,2025年 女"),
        ("市,2024年,2024年,2025年,2025年\n市,男,女,男,女", "あ,0,1,2,3",
         "市,2024年 男,2024年 女,2025年 男,2025年 女"),
        ("取得：2025/06/01 12:00:00\n\n,東京,東京,東京,東京\n市,気温,気温,降水量,降水量\n"
         ",,品質情報,,品質情報", "あ,0,1,2,3",
         "市,東京 気温,東京 気温 品質情報,東京 降水量,東京 降水量 品質情報"),
        ("市,2024/1/5(金),,令和6年1月6日(土),\n,男,女,男,女", "あ,0,1,2,3",
         "市,2024/1/5(金) 男,2024/1/5(金) 女,令和6年1月6日(土) 男,令和6年1月6日(土) 女"),
        (",2024年,,2025年,,\n市,男,女,男,女,率", "あ,0,1,2,3,4",
         "市,2024年 男,2024年 女,2025年 男,2025年 女,率"),
        ("時刻：2026/8/20\n\n,東京,東京,東京\n年月日,気温(℃),最大風速,最大風速\n,,,風向",
         "2024/2/5,3.9,8.1,北", "年月日,東京 気温(℃),東京 最大風速,東京 最大風速 風向"),
        ("時刻：2026/8/20\n\n,,,東京,東京,東京\n年,月,日,気温,気温,気温\n,,,,,\n,,,,品質,均質番号",
         "2024,7,1,29.4,8,1", "年,月,日,東京 気温,東京 気温 品質,東京 気温 均質番号"),
        (",国語,,数学,\n氏名,前,後,前,後", "佐藤,80,90,70,60",
         "氏名,国語 前,国語 後,数学 前,数学 後"),
    ],
)  # fmt: skip
def test_lines_of_names_over_numbers_become_one(folder, head, row, names):
    said, read, count = names_and_rows(folder, f"{head}\n{row}\n{row}\n")
    assert (read, count) == (names, 2)
    assert "the columns' names are in lines " in said


MAY_BE_VALUES = [
    ",1回目,2回目\n田中,欠席,欠席\n佐藤,80,90\n鈴木,70,60\n",
    "商品,色,,数量,在庫地\nりんご,赤,青,,赤\nみかん,黄,緑,3,東京\nぶどう,紫,白,4,大阪\n",
    "市,2024年,2024年\n市,男,女\nあ,1,x\n",
    "前期,前期,後期\n欠席,未提出,欠席\n80,90,70\n60,50,40\n",
    "分類,品名,,数量\n,りんご,赤,\n果物,みかん,黄,3\n",
    "社員,連絡先,,勤務,\n,主,副,主,副\n田中,東京,大阪,東京,大阪\n佐藤,1,2,3,4\n",
    "店,売上,,費用,\n,未定,未定,未定,未定\n東京,1,2,3,4\n",
    "品目,令和3年度,令和4年度\n,2021,2022\n米,10,20\n麦,5,6\n",
    "氏名,2024/1/5,2024/1/6,2024/1/7\n,金,土,日\n佐藤,早番,休,遅番\n鈴木,休,早番,早番\n",
    "品目,2024/1/5,,2024/1/6,\n,午前,午後,午前,午後\n佐藤,○,×,○,○\n鈴木,×,○,○,○\n",
    "項目,2024年1月,2024年2月,2024年3月\n曜日,月,木,金\n売上,10,20,30\n原価,4,5,6\n",
    ",国語,,数学,英語\n佐藤,良,可,良,優\n鈴木,80,90,70,60\n",
    "商品,サイズ,,価格,,\nシャツ,M,L,未定,未定,青\nズボン,M,L,1000,2000,赤\n",
]
ABSENCES = "名,数学,英語\n田中,欠席,欠席\n佐藤,80,90\n鈴木,70,60\n"
ONE_WORD = [
    ("日付,開店,閉店\n定休日,休,休\n2024/1/2,3,4\n2024/1/3,3,4\n", "開店=na:休"),
    ("id,x,y\nなし,欠測,欠測\n1,2,3\n2,3,4\n", "x=na:欠測"),
    ("商品,価格,在庫\n,未定,未定\nB,100,3\nC,200,4\n", "価格=na:未定"),
]


@each("text", [*MAY_BE_VALUES, *(text for text, _ in ONE_WORD)])
def test_a_line_that_may_be_values_is_no_line_of_names_and_is_told(folder, text):
    said, _, count = names_and_rows(folder, text)
    assert "line 2 is read as values; if it names the columns: --header-row 1-2" in said
    assert count == text.count("\n") - 1


@each(("text", "advice"), [*ONE_WORD, (ABSENCES, "数学=na:欠席")])
def test_that_one_word_in_a_row_may_mean_no_value_is_offered(folder, text, advice):
    assert f"--read '{advice}' makes it NULL" in str(converted(folder, text))


@each(
    "text",
    [
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
        ABSENCES,
    ],
)
def test_a_row_that_says_nothing_over_values_is_no_row_of_names(folder, text):
    said, _, count = names_and_rows(folder, text)
    assert "--header-row" not in said
    assert count == text.count("\n") - 1


@each(
    "text",
    [
        "氏名,電話,,\n佐藤,なし,なし,なし\n鈴木,03-1,090-1,a@b\n",
        ",国語,,数学,\n佐藤,良,可,良,可\n鈴木,80,90,70,60\n",
        ",電話,,\n佐藤,なし,なし,なし\n鈴木,1,2,3\n林,4,5,6\n",
        ",1\n,2\n,3\n",
        ",0,1\n,2,3\n,4,5\n",  # an empty margin is no corner over names
    ],
)
def test_a_line_below_a_header_with_gaps_that_may_be_a_record_is_asked_about(folder, text):
    with pytest.raises(UnreadableFile, match="its header cannot be told"):
        converted(folder, text)


@each(
    ("head", "value", "span", "types"),
    [
        ("日付,気温,湿度\n,℃,%\n", "40", "1-2",
         {"日付": "DATE", "気温 ℃": "DOUBLE", "湿度 %": "BIGINT"}),
        ("題\n\n,東京,東京\n年月日,風速,風速\n,,風向\n", "北", "3-5",
         {"年月日": "DATE", "東京 風速": "DOUBLE", "東京 風速 風向": "VARCHAR"}),
    ],
)  # fmt: skip
def test_lines_that_may_name_columns_are_told_and_named_by_the_first_and_last(
    folder, head, value, span, types
):
    text = f"{head}2024/2/5,8.1,{value}\n2024/2/6,6.2,{value}\n"
    said, _, _ = names_and_rows(folder, text)
    assert said.endswith(f": --header-row {span}")
    assert "na:" not in said
    understood = converted(folder, text, reading=chosen(header_row=span))
    assert {column.name: column.type for column in understood.columns} == types
    assert len(rows_in(folder).fetchall()) == 2


SERIES = (
    "系列名称,ドル・円,金利\n単位,円,年%\nコード,FM08'A,FM01'B\n収録開始期,1998/04/01,1998/01/05\n"
)


def test_no_row_of_names_that_is_read_as_values_is_advised_to_be_null(folder):
    text = SERIES + "".join(f"2024/1/{day},140.{day},-0.0{day}\n" for day in range(4, 9))
    days = "品目,2024/1/5(金),,2024/1/6(土),\n,数量,金額,数量,金額\nりんご,1,100,2,200\n"
    said, _, _ = names_and_rows(folder, text)
    assert said.endswith(
        "lines 2 to 4 are read as values; if they name the columns: --header-row 1-4"
    )
    assert "na:" not in said
    for written, rows in ((text, "1-3"), (days, "1")):
        assert "na:" not in str(converted(folder, written, reading=chosen(header_row=rows)))


def test_the_question_for_a_header_names_choices_that_leave_other_tables_alone(files):
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
        (files.folder / name).parent.mkdir(exist_ok=True)
        files.write(name, text)
    workbook(
        files.folder / "w.xlsx",
        ("良い", [["店", "数"], ["A", 1]]),
        *((name, [line.split(",") for line in asked.split("\n")[:-1]]) for name in ("甲", "乙")),
    )
    report = files.import_("new")
    assert len(report.failed) == 4
    left = files.content("t__w__良い"), files.content("t__sub_b"), files.content("t__c1")
    for path, reason in problems(report).items():
        pattern = {"b.csv": "./b.csv", "c[1].csv": "c[[]1].csv"}.get(path, path)
        assert f", with -m update {shell_line('--for', pattern)}: 1 " in reason
        files.choose(pattern=pattern, header_row="2")
    assert (files.content("t__w__良い"), files.content("t__sub_b"), files.content("t__c1")) == left
    for table in ("t__b", "t__c_1_", "t__w__甲", "t__w__乙"):
        assert list(files.types(table)) == ["店", "日付", "数"]
