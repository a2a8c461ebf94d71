"""Which rows of a sheet name its columns."""

import pytest
from table_of_cases import each

from mdvec.datasets.core.columns import NoHeader
from mdvec.datasets.core.sheet_header import sheet_header


@each("names", [("日付", "金額"), ("日付", "店", "金額")])
@each("margin", [0, 1, 2, 5])
def test_a_margin_of_empty_columns_does_not_hide_a_header(names, margin):
    rows = [
        [""] * margin + list(cells) for cells in (names, ["2025-06-01", "5", "6"][: len(names)])
    ]
    assert sheet_header([rows[0], *[rows[1]] * 7]).names[margin:] == names


def test_a_header_of_two_rows_is_taken_only_where_the_lower_repeats_names():
    with pytest.raises(NoHeader, match=r'1 "a \| \| b", 2 "x'):
        sheet_header([["a", "", "b"], ["x", "y", "z"], ["1", "2", "3"]])
    assert sheet_header([["a", "", "b"], ["1", "y", "2"], ["x", "y", "z"]]).names == ("a", "", "b")
    assert sheet_header([["s", "G"], ["", "x", "y"], ["k", "2", "3"]]).names == ("s", "G x", "G y")
    assert sheet_header([["t"], ["a", "b", "c"], ["d", "e", "f"]]).names == ("a", "b", "c")
    with pytest.raises(NoHeader, match="--header-row"):
        sheet_header([["t"], ["a", "5", "c"], ["d", "6", "f"]])
    groups = [["t"], ["A", "", "B"], ["x", "y", "x"], ["1", "2", "3"]]
    assert sheet_header(groups).names == ("A x", "A y", "B x")
    alike = [["氏名", "電話", "", ""], ["佐藤", "なし", "なし", "なし"], ["鈴木", "1", "2", "3"]]
    with pytest.raises(NoHeader):  # 佐藤 is a record
        sheet_header(alike)


@each("lower", [["", "件数", "金額", "件数", "金額"], ["番号", "件数", "金額", "件数", "金額"]])
@each("first", [["総務費", "-", "-", "-", "-"], ["【一般会計】"], ["総務費", "1", "2", "3", "4"]])
def test_the_first_record_of_a_sheet_may_have_no_number_below_a_header_of_two_rows(lower, first):
    rows = [["款", "予算", "", "決算", ""], lower, first, ["民生費", "1", "200", "1", "190"]]
    assert sheet_header([*rows, ["土木費", "2", "300", "2", "290"]]).names == (
        f"款 {lower[0]}".strip(), "予算 件数", "予算 金額", "決算 件数", "決算 金額",
    )  # fmt: skip


def test_no_record_is_taken_for_names_below_a_header_that_merged_cells_hold_together():
    rows = [["区分", "午前", "", "午後", ""], ["", "担当", "人数", "担当", "人数"]]
    rows += [["A", "田中", "休", "佐藤", "休"], *[["B", "鈴木", "6", "伊藤", "8"]] * 3]
    found = sheet_header(rows, merged={0: [1]})
    assert (found.names[1], found.row, found.doubtful) == ("午前 担当", 1, 0)


PEOPLE = [["地区", "世帯数", "人口", "", "", "備考"], ["", "", "総数", "男", "女"]]
YEARS = [["市", "人口", "", "", "", "世帯"], ["", "2019", "", "2020"], ["", "男", "女", "男", "女"]]
REGION = ["中央", "500", "1200", "600", "600", "※1"]
UNIT = ["", "", "", "", "", "（単位：人）"]
PEOPLE_NAMES = ("地区", "世帯数", "人口 総数", "人口 男", "人口 女", "備考")
YEARS_NAMES = ("市", "人口 2019 男", "人口 2019 女", "人口 2020 男", "人口 2020 女", "世帯")


def test_rows_that_the_user_names_are_joined_and_units_below_a_header_are_told():
    rows = [
        ["表"],
        ["日", "気温", "湿度"],
        ["", "℃", "%"],
        ["", "", ""],
        *[["2024-01-02", "3", "40"]] * 3,
    ]
    found = sheet_header(rows)
    assert (found.row, found.doubtful, found.labels) == (1, 2, {"", "℃", "%"})
    header = sheet_header(rows, range(1, 4))
    assert (header.top, header.row, header.names) == (1, 3, ("日", "気温 ℃", "湿度 %"))


def test_dates_are_names_where_merged_cells_prove_the_header_and_titles_over_other_names():
    rows = [
        ["品目", "2024/1/5(金)", "", "2024/1/6(土)", ""],
        ["", "納期", "数", "納期", "数"],
        *[["りんご", "2024/2/1(木)", "1", "2024/2/2(金)", "2"]] * 2,
    ]
    header = sheet_header(rows, merged={0: [1]})
    assert (header.row, header.names[1]) == (1, "2024/1/5(金) 納期")
    days = ["期間", "2024/1/5(金)", "2024/1/7(日)"]
    for titles in ([["勤務表"]], [["勤務表", "", ""], ["", "", "店長"]]):
        with pytest.raises(NoHeader, match=rf'{len(titles) + 1} "期間 \| 2024'):
            sheet_header([*titles, days, ["佐藤", "早番", "休"]])
    for top in (["作成日", days[1], ""], ["作成日", "2024/1/5", "x"], days):
        for merged in (None, dict[int, list[int]]()):
            with pytest.raises(NoHeader, match=r'2 "店 \| 日付 \| 数", 3 "A'):
                sheet_header([top, ["店", "日付", "数"], ["A", "2024/1/8", "2"]], merged=merged)


@each("titles", [[], [["表"]], [["表"], UNIT], [UNIT], [["表"], UNIT, UNIT]])
@each(("names", "read"), [(PEOPLE, PEOPLE_NAMES), (YEARS, YEARS_NAMES)])
def test_names_that_merged_cells_hold_together_are_a_header_below_any_titles(titles, names, read):
    top, end = len(titles), len(titles) + len(names) - 1
    rows = [*titles, *names, REGION, REGION]
    for given in (None, *(range(at, at + 1) for at in range(top, end + 1))):
        header = sheet_header(rows, given, {top: [end]})
        assert (header.top, header.row, header.names) == (top, end, read)


@each(
    "above",
    [
        ["売上一覧", "", "", "", "単位：千円"],
        ["店舗", "東京本店"],
        ["店舗", "東京本店", "", ""],
        ["佐藤", "総務", "東", "西"],
    ],
)
@each("names", [["品", "売上", "客数", "単価"], ["", "売上", "客数", "単価"]])
@each("merged", [None, {}])
def test_the_row_that_the_user_names_names_the_columns_alone(above, names, merged):
    for rows in ([above, names, ["a", "1", "2", "3"]], [above, [*names, ""], ["a", "1", "2", "3"]]):
        header = sheet_header(rows, range(1, 2), merged)
        assert (header.top, header.names) == (1, tuple(rows[1]))


@each("merged", [None, {}])
def test_texts_over_the_first_columns_right_above_others_are_asked_about(merged):
    person, below = ["田中", "東京", "あ", "い", "う"], ["佐藤", "大阪", "え", "お", "5"]
    names = ["氏名", "住所", "", "", ""]
    with pytest.raises(NoHeader, match=r"--header-row"):
        sheet_header([names, person, below], None, merged)
    for title in (names[:1] + [""] * 4, ["期間", "2025", "", "", ""]):
        assert sheet_header([title, person, below], None, merged).row == 1
    assert sheet_header([names, person, below], None, merged, (1, 3, 4)).row == 1
    with pytest.raises(NoHeader, match=r"header cannot be told .* --header-row"):
        sheet_header([["作成日", "2024-02-01"], names, person, below], None, merged)


@each("merged", [None, {}, {0: [0]}])
@each(
    ("names", "row"),
    [
        (["日付", "売上", "客数", "単価", "品"], ["2024-01-01", "12", "3", "1", "りんご"]),
        (["品", "担当", "売上", "客数", "備考"], ["りんご", "山田", "12", "NA", ""]),
    ],
)
def test_texts_above_the_names_of_columns_of_numbers_are_titles(merged, names, row):
    store, made = ["店舗", "東京本店", "", "", ""], ["作成日", "2024-02-01", "", "", ""]
    for titles in (
        [store],
        [made, store],
        [store, store],
        [["売上一覧", "2024年1月度", "", "", ""]],
    ):
        header = sheet_header([*titles, names, row, row], None, merged)
        assert (header.row, header.names) == (len(titles), tuple(names))


@each("first", ["", "（西暦）"])
def test_years_under_the_names_of_numbers_may_be_names_and_are_told(first):
    rows = [["品目", "令和3年度", "令和4年度"], [first, "2021", "2022"], ["米", "10", "20"]]
    assert sheet_header(rows).doubtful == sheet_header(rows, merged=None).doubtful == 1
    assert sheet_header([rows[0], ["項目"], *rows[1:]]).doubtful == 2
    assert sheet_header(rows, range(1, 2)).names == (first, "2021", "2022")
    assert sheet_header(rows, range(1), None).doubtful == 0
    firms = [["社名", "設立年", "従業員"], ["A社", "1998", "2005"], ["B社", "2001", "350"]]
    assert sheet_header(firms, None, None).doubtful == 0
    opened = [["店", "開店", "改装"], ["a", "2001", "2011"], ["b", "2005", "2015"]]
    assert sheet_header(opened).doubtful == 0


UNEVEN = [["区分", "予算", "", "決算", "", "見込"], ["", "収入", "支出", "", "", ""]]
UNEVEN += [["", "国内", "国内", "国内", "海外", ""], ["東", "1", "2", "3", "4", "5"]]
WIDE = [["", "予算", "", "", "", "決算", "", "", ""], ["", *["収入", "", "支出", ""] * 2]]
WIDE += [["区分", *["件", "額"] * 4], [*map(str, range(9))]]
HALVES = {1: 3, 3: 5, 5: 7, 7: 9}
SAME = [["区分", *WIDE[0][1:]], WIDE[1], ["", *["国内", ""] * 4], ["", *WIDE[2][1:]], WIDE[3]]


@each("titles", [[], [["表"]], [["表"], ["", "", "", "2025年"]]])
@each(
    ("rows", "ends", "groups", "third"),
    [
        (UNEVEN, {0: [2, 1, 2]}, [{0: 1, 1: 3, 3: 5, 5: 6}], "予算 支出 国内"),
        (WIDE, {}, [{1: 5, 5: 9}, HALVES], "予算 収入 額"),
        (SAME, {0: [3]}, [{0: 1, 1: 5, 5: 9}, *[HALVES] * 2], "予算 収入 国内 額"),
    ],
)
def test_the_rows_that_merged_cells_hold_together_are_one_header(titles, rows, ends, groups, third):
    top = len(titles)
    ends = {top + at: [top + last for last in lasts] for at, lasts in ends.items()}
    groups = [*[{}] * top, *groups, *[{}] * (len(rows) - len(groups))]
    found = sheet_header([*titles, *rows, rows[-1]], None, ends, (), groups)
    assert (found.top, found.row) == (top, top + len(rows) - 2)
    assert (found.names[0], found.names[2]) == ("区分", third)


@each("merged", [None, {}])
def test_a_text_over_all_columns_is_a_title_within_the_rows_that_the_user_names_too(merged):
    rows = [["", "インフル", "", "RS", ""], ["県", "報告", "定当", "報告", "定当"]]
    rows += [["東京", "1", "2", "3", "4"]] * 2
    found = sheet_header([["報告数"], *rows], range(3), merged)
    assert (found.skipped, found.names[:2]) == (("報告数",), ("県", "インフル 報告"))
    assert sheet_header([["県", ""], ["", "報告"], ["東京", "1"]], range(2)).names[0] == "県"
