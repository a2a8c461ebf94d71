"""Values as people write them: amounts, percentages, Japanese dates, dashes for nothing."""

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_folder import converted, rows_in
from table_of_cases import each

from mdvec.datasets.core.understood import ReadingOptions
from mdvec.datasets.interfaces.typed_columns import MIN_WIDE_COLUMNS
from mdvec.files.problems import UnreadableFile

at = datetime.fromisoformat
ERAS = (("令和", 2018), ("平成", 1988), ("昭和", 1925), ("大正", 1911), ("明治", 1867))
CASES = {
    "dollar": (["$1,234", "-$5.50", "7"], "DOUBLE", [1234.0, -5.5, 7.0]),
    "percent": (["12.5%", "-3％", "0 %"], "DOUBLE", [12.5, -3.0, 0.0]),
    "triangle": (["▲500", "△1,200", "3"], "BIGINT", [-500, -1200, 3]),
    "yen": (["1,234円", "¥-5", "−6円"], "BIGINT", [1234, -5, -6]),
    "spaced yen": (["1,234 円", "¥ 5", "−6円"], "BIGINT", [1234, 5, -6]),
    "brackets": (["(500)", "(¥1,234)", "20"], "BIGINT", [-500, -1234, 20]),
    "dash": (["n/a", "1.5", "N/A"], "DOUBLE", [None, 1.5, None]),
    "dates": (["2025年6月1日", "2025年12月31日", "-"], "DATE",
              [date(2025, 6, 1), date(2025, 12, 31), None]),
    "eras": (["令和7年6月1日", "平成元年1月8日", "昭和64年1月7日"], "DATE",
             [date(2025, 6, 1), date(1989, 1, 8), date(1989, 1, 7)]),
    "full width": (["１２", "－３，４５６", "７"], "BIGINT", [12, -3456, 7]),
    "full date": (["２０２５年６月１日", "２０２５年１２月３１日", ""], "DATE",
                  [date(2025, 6, 1), date(2025, 12, 31), None]),
    "pound": (["£1,234.5", "-£2", "3"], "DOUBLE", [1234.5, -2.0, 3.0]),
    "euro": (["1.234,50 €", "-5 €", "€7"], "DOUBLE", [1234.5, -5.0, 7.0]),
    "euro point": (["€1,234.50", "€1,000", "5€"], "DOUBLE", [1234.5, 1000.0, 5.0]),
    "comma": (["1.234,5", "0,25", "-7"], "DOUBLE", [1234.5, 0.25, -7.0]),
    "which": (["1.234 €", "5 €", "2.000 €"], "VARCHAR", ["1.234 €", "5 €", "2.000 €"]),
    "which too": (["€1,234", "€5", ""], "VARCHAR", ["€1,234", "€5", None]),
    "day first": (["31/01/2025", "1/2/2025", "-"], "DATE",
                  [date(2025, 1, 31), date(2025, 2, 1), None]),
    "month first": (["01-31-2025", "2-1-2025", ""], "DATE",
                    [date(2025, 1, 31), date(2025, 2, 1), None]),
    "either": (["01/02/2025", "03/04/2025", "NA"], "VARCHAR", ["01/02/2025", "03/04/2025", "NA"]),
    "both": (["31/01/2025", "01/31/2025", ""], "VARCHAR", ["31/01/2025", "01/31/2025", None]),
    "no such day": (["31/01/2025", "31/02/2025", ""], "VARCHAR",
                    ["31/01/2025", "31/02/2025", None]),
    "moment": (["31.01.2025 9:05", "01.02.2025", ""], "TIMESTAMP",
               [at("2025-01-31 09:05"), at("2025-02-01"), None]),
    "names": (["Jan 1 2000", "December 31, 1999", "2-Feb-2001"], "DATE",
              [date(2000, 1, 1), date(1999, 12, 31), date(2001, 2, 2)]),
    "months": (["令和7年1月", "平成元年12月", "2025年2月"], "DATE",
               [date(2025, 1, 1), date(1989, 12, 1), date(2025, 2, 1)]),
    "moments": (["2025年4月1日 9時5分", "令和7年４月２日13時45分10秒", "2025年4月3日 9:05"],
                "TIMESTAMP",
                [at("2025-04-01 09:05"), at("2025-04-02 13:45:10"), at("2025-04-03 09:05")]),
    "no such hour": (["2025年4月1日 25時0分", "2025年4月1日 1時0分", ""], "VARCHAR",
                     ["2025年4月1日 25時0分", "2025年4月1日 1時0分", None]),
    "list": (["(1)", "(2)", "(3)"], "VARCHAR", ["(1)", "(2)", "(3)"]),
    "small brackets": (["(5)", "(0.5)", "7"], "DOUBLE", [-5.0, -0.5, 7.0]),
    "mixed": (["$5", "¥5", "5"], "VARCHAR", ["$5", "¥5", "5"]),
    "some percent": (["5%", "5", "6%"], "VARCHAR", ["5%", "5", "6%"]),
    "no day": (["2025年2月30日", "2025年6月1日", ""], "VARCHAR",
               ["2025年2月30日", "2025年6月1日", None]),
    "days of the week": (["2024年1月1日(月)", "2024年1月2日（火）", ""], "DATE",
                         [date(2024, 1, 1), date(2024, 1, 2), None]),
    "weekdays apart": (["2024/1/1 (月)", "2024/01/02(火)", ""], "DATE",
                       [date(2024, 1, 1), date(2024, 1, 2), None]),
    "dashes": (["-", "-", ""], "VARCHAR", ["-", "-", None]),
    "words": (["-", "a", "1"], "VARCHAR", ["-", "a", "1"]),
}  # fmt: skip


def imported(folder, text):
    converted(folder, text)
    found = rows_in(folder)
    columns = zip(found.description, zip(*found.fetchall(), strict=True), strict=True)
    return {name: (str(kind), list(values)) for (name, kind, *_), values in columns}


def lines(named):
    rows = [named, *zip(*named.values(), strict=True)]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)


@pytest.mark.parametrize("width", [0, MIN_WIDE_COLUMNS])
def test_values_as_people_write_them_are_typed_only_where_all_fit(folder, width):
    texts = {name: case[0] for name, case in CASES.items()}
    found = imported(folder, lines(texts | {f"x{n}": ["a", "b", "c"] for n in range(width)}))
    assert {name: found[name] for name in CASES} == {
        name: (kind, values) for name, (_, kind, values) in CASES.items()
    }


@settings(max_examples=6)
@given(st.lists(st.dates(date(1868, 10, 23), date(2099, 12, 31)), min_size=1, max_size=20))
def test_every_date_is_read_from_its_era(one_folder, days):
    def era(day):
        name, before = next((name, year) for name, year in ERAS if day.year > year)
        return f"{name}{day.year - before}年{day.month}月{day.day}日"

    found = imported(one_folder, lines({"d": list(map(era, days))}))
    assert found == {"d": ("DATE", days)}


@settings(max_examples=6)
@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=20))
def test_every_amount_is_read_with_its_sign(one_folder, amounts):
    amounts = [7, *amounts]  # numbers in brackets alone are asked about
    texts = {
        "triangle": [f"▲{-n:,}" if n < 0 else f"{n:,}" for n in amounts],
        "yen": [f"{n:,}円" for n in amounts],
        "brackets": [f"({-n:,})" if n <= -100 else f"{n:,}" for n in amounts],
    }
    found = imported(one_folder, lines(texts))
    assert {name: values for name, (_, values) in found.items()} == dict.fromkeys(texts, amounts)


def test_a_line_that_names_the_separator_is_no_header_and_counts_as_a_line(folder):
    assert imported(folder, "sep=;\r\na;b\r\n1,5;x\r\n") == {
        "a": ("DOUBLE", [1.5]), "b": ("VARCHAR", ["x"]),
    }  # fmt: skip
    with pytest.raises(UnreadableFile, match=r"line 3: the row has 1 cell for 2"):
        imported(folder, "sep=;\na;b\n1\n")


PAST_ERA = "years past an era's end go on, 昭和65年 is 1990"
DECISIONS = [
    ("31/01/2025 1/2/2025", "DATE", "the day comes first"),
    ("1/2/2025 1/31/2025", "DATE", "the month comes first"),
    ("1/2/2025 3/4/2025", "VARCHAR",
     "the day or the month may come first; it stays text until --read 'x=date:dmy' "
     "or 'x=date:mdy'"),
    ("令和7年1月 令和7年2月", "DATE", "the first day of the month"),
    ("平成30年12月 平成32年4月", "DATE", f"the first day of the month, {PAST_ERA}"),
    ("昭和64年1月7日 平成31年5月1日", "DATE", ""),
    ("昭和６５年１月３日 令和７年１月１日", "DATE", PAST_ERA),
    ("R7.1.31 H31/4/30", "VARCHAR",
     "the letter may be an era's, R for 令和; it stays text until --read 'x=date'"),
    ("R7.1.31 R7.2.30", "VARCHAR", ""),
    ("1,5 2,75", "DOUBLE", "the comma is the decimal sign"),
    ("0,500 1,234", "DOUBLE", "the comma is the decimal sign"),
    ("1,234 1,234,567", "BIGINT", ""),
    ("1,234円 5", "BIGINT", ""),
    ("(1,234) 500", "BIGINT", "numbers in brackets are negative"),
    ("（400） ▲5", "BIGINT", "numbers in brackets are negative"),
    ("(400) (300)", "VARCHAR",
     "it may be negative, or not; it stays text until --read 'x=number' or 'x=number:plus'"),
    ("(400) 0", "VARCHAR", ""),
    ("1,234 2,345", "VARCHAR",
     "1,234 may be 1234 or 1.234; it stays text until --read 'x=number' or "
     "'x=comma'"),
]  # fmt: skip
"""The values of a column, its type, and what decided it."""
POINTS = [
    ("1.234 2.500", "VARCHAR"), ("1.234 5", "VARCHAR"), ("1.234 1.234.567", "VARCHAR"),
    ("0.500 1.234", "DOUBLE"), ("1.5 1.234", "DOUBLE"), ("1 2", "BIGINT"),
]  # fmt: skip
"""The values of a column beside decimal commas, and its type."""


@each(("values", "kind", "decision"), DECISIONS)
def test_the_whole_column_decides_and_the_report_says_what(folder, values, kind, decision):
    understood = converted(folder, "".join(f"{cell};\n" for cell in ["x", *values.split()]))
    column = understood.columns[0]
    assert (column.type, column.decision) == (kind, decision)


def test_the_columns_of_a_wide_file_are_decided_as_those_of_a_narrow_one(folder):
    texts = [values.split() for values, _, _ in DECISIONS]
    texts += [values.split() for values, _ in POINTS]
    decided = []
    for width in (0, MIN_WIDE_COLUMNS):
        cells = texts + [["a", "b"]] * width
        rows = [[f"c{n}" for n in range(len(cells))], *zip(*cells, strict=True)]
        understood = converted(folder, "".join(";".join(row) + "\n" for row in rows))
        columns = understood.columns[: len(texts)]
        decided.append([(column.type, column.decision) for column in columns])
    assert decided[0] == decided[1]
    assert sum(" stays text until " in decision for _, decision in decided[0]) > 4


@each(("values", "kind"), POINTS)
def test_points_beside_decimal_commas_are_asked_about(folder, values, kind):
    first, second = values.split()
    rows = [["x", "y"], [first, "12,50"], [second, "3,10"]]
    understood = converted(folder, "".join(";".join(row) + "\n" for row in rows))
    x, y = understood.columns[:2]
    assert (x.type, y.type) == (kind, "DOUBLE")
    assert ("--read 'x=comma' or 'x=number'" in x.decision) == (kind == "VARCHAR")


@each(
    ("text", "is_values"),
    [
        # Names that look like values: years, dates and ranges over numbers, counted columns.
        (",2020,2021\na,5,6\n", False),
        ("2023,2022\n5,6\n", False),
        ("地域,2020\n東京,1\n", False),
        ("店,2025-01-01,2025-01-02\na,5,6\n", False),
        ("店,0-9,10-19\na,5,6\n", False),
        # Dates over texts that go on by even steps: days, weeks, months; one column may be empty.
        (
            "氏名,2025/06/01(日),2025/06/02(月),2025/06/03(火)\n佐藤,早番,休,\n鈴木,休,早番,\n",
            False,
        ),
        ("氏名,2025/6/29,2025/6/30,2025/7/1\n佐藤,○,×,○\n", False),
        ("氏名,2025/6/15,2025/6/8,2025/6/1,計\n佐藤,○,×,○,x\n", False),
        ("氏名,令和6年12月,令和7年1月,令和7年2月\n佐藤,○,×,○\n", False),
        (",0,1\na,5,6\n", False),
        ("0,1,2,3,4\n9,8,7,6,5\n", False),
        ("true,q1,1月,x2,-\n5,6,7,y,z\n", False),
        # Values: a date stands over dates only.
        ("2025-01-01,a,5\n2025-01-02,b,6\n", True),
        ("令和7年1月1日,5\n令和7年1月2日,\n", True),
        ("2025/06/01(日),x\n2025/06/02(月),y\n", True),
    ],
)
def test_a_first_line_of_values_is_a_row_and_one_of_names_is_none(folder, text, is_values):
    understood = converted(folder, text)
    first = text.partition("\n")[0].split(",")
    names = [column.name for column in understood.columns]
    numbered = [f"column{number}" for number in range(1, len(first) + 1)]
    assert names == (numbered if is_values else [cell or "column1" for cell in first])
    assert str(understood).count("no header") == is_values
    ((count,),) = rows_in(folder, "count(*)").fetchall()
    assert count == text.count("\n") - (not is_values)


@each(
    "text",
    [
        "2020,2020\n1,2\n", "2020\n1\n", "2020,1234\n1,2\n", ",5\na,6\n", "店,1,2\na,5,6\n",
        "a,2023\nb,2024\n", "a,5\nb,x\n", "2025-01-01,5\n,6\n", "a,5\n",
        "true,x\nfalse,y\n", "6月1日,a\n6月2日,b\n",
        "2025/06/01(日),x\n未定,y\n2025/06/02(月),z\n", "A社,2025/6/1\nB社,未定\n",
        "佐藤,2024/1/5,2024/3/31\n鈴木,未定,未定\n田中,未定,未定\n",
        "佐藤,2024/1/5,2024/3/31,2024/4/5\n鈴木,未定,未定,未定\n",
        "氏名,2025/6/1,2025/6/2\n佐藤,○,×\n", "氏名,2025/6/1,2025/6/2,2025/6/3\n",
        "氏名,2025/6/1,2025/6/2,2025/6/3\n佐藤,○,×,2025/7/1\n鈴木,×,○,○\n",
        "R7.6.1,x\nR7.6.15,y\n", "1e5,x\n2e5,y\n", "12万円,x\n5万円,y\n", "NA,bob\n5,ann\n",
    ],
)  # fmt: skip
def test_a_first_line_that_may_be_both_is_asked_about(folder, text):
    with pytest.raises(UnreadableFile, match="cannot be told from its first rows"):
        converted(folder, text)


@each(
    "text",
    [
        *(
            f"{title}\n店,{names}\n東京,{cells}\n"
            for title in ("売上一覧,,,", "売上一覧", "売上一覧,,,単位：円", ",水,木,金")
            for names in ("2024/5/1,2024/5/2,2024/5/3", "5/1,5/2,5/3", "2024/5/1,2024/5/2,合計")
            for cells in ("5,6,7", "早,遅,休")
            if not (title == ",水,木,金" and names.startswith("5/1"))
        ),
        "売上一覧,,,\n,2024/5/1,2024/5/2,2024/5/3\n,水,木,金\n東京,5,6,7\n",
        "売上一覧,,,\n店,2024/5/1,2024/5/2,2024/5/3\n東京,○,×,2024/7/1\n大阪,×,○,○\n",
        "売上一覧,一月,2024/5/31,\n店,2021,2022,2023\n東京,5,6,7\n",
        "勤務表,,,,,\n氏名,1,2,3,4,5\n佐藤,早,遅,休,早,早\n",
        "一覧,,,単位：円\n店,商品,担当,備考\n東京,りんご,佐藤,新\n",
        *(
            f"{title}\n{names}\n"
            for title in ("勤務表,営業部,,,,", "勤務表,営業部,夜,,,")
            for names in (
                "氏名,21,22,23,24,25\n佐藤,8,8,0,8,8\n鈴木,8,0,8,8,8",
                "氏名,16,20,24,25,29\n佐藤,早,遅,休,早,早\n鈴木,休,早,遅,早,遅",
                "番号,氏名,1,2,3,4\n10,佐藤,早,遅,休,早\n20,鈴木,休,早,遅,早",
                "店,品,色,担当,箱,棚\nA,りんご,赤,佐藤,あ,い\nB,梨,青,鈴木,う,え",
            )
        ),
        "売上,,単位：円\n店,4月,5月\nA,早,遅\nB,遅,早\n",
        "会員番号,来店予定,,\nP-1,2024/4/1,2024/4/8,2024/4/15\n20,未,未,未\n30,未,未,未\n",
    ],
)  # fmt: skip
def test_a_first_line_with_gaps_over_a_line_that_may_name_columns_is_asked_about(folder, text):
    with pytest.raises(UnreadableFile, match="cannot be told from its first rows"):
        converted(folder, text)
    understood = converted(folder, text, reading=ReadingOptions(header_row=2))
    names = text.split("\n")[1].split(",")
    assert [column.name for column in understood.columns] == [name or "column1" for name in names]


@each(
    "text",
    [
        "部署,担当,内容,\n総務部,田中,発注,\n営業部,佐藤,見積書,至急\n経理部,高橋,請求書,\n",
        "氏名,住所,,メール\n佐藤,東京,一番地,a@b\n鈴木,大阪,二番地,c@d\n高橋,京都,三番地,e@f\n",
        "書名,著者,\n雪国,川端,\nこころ,夏目,既読\n羅生門,芥川,\n",
    ],
)
def test_a_list_with_a_column_without_a_name_is_read(folder, text):
    understood = converted(folder, text)
    assert [column.name for column in understood.columns][:2] == text.split("\n")[0].split(",")[:2]


@each(
    ("text", "titles", "row", "found"),
    [
        ("売上一覧\n2025年度\n\n店;数;額\n東;1;2\n", ("売上一覧", "2025年度"), 4,
         {"店": "東", "数": 1, "額": 2}),
        ("売上一覧,,\n店,数,額\n東,1,2\n", ("売上一覧",), 2, {"店": "東", "数": 1, "額": 2}),
        ("一覧\n店,2023,2024\n東,1,2\n", ("一覧",), 2, {"店": "東", "2023": 1, "2024": 2}),
        ("a,,\nb,c,d\ne,f,g\n", ("a",), 2, {"b": "e", "c": "f", "d": "g"}),
        ("一覧,,\n,,\n名称,住所,備考\nあ館,東京,山田\nい館,大阪,佐藤\n", ("一覧",), 3,
         {"名称": "あ館", "住所": "東京", "備考": "山田"}),
        # A text that comes again, a number, and dates over dates are of the first record.
        ("店,点検,,,\n本,2024/4/1,2024/5/1,2024/6/1,休\n支,未,未,未,休\n", (), 1,
         {"店": "本", "点検": "2024/4/1", "column3": "2024/5/1", "column4": "2024/6/1",
          "column5": "休"}),
        ("番号,支払日,,\n1001,2024/4/25,2024/5/25,2024/6/25\n1002,2024/4/10,,\n", (), 1,
         {"番号": 1001, "支払日": date(2024, 4, 25), "column3": date(2024, 5, 25),
          "column4": date(2024, 6, 25)}),
        (",a,b,c\nx,1,2,3\ny,4,5,6\n", (), 1, {"column1": "x", "a": 1, "b": 2, "c": 3}),
        (",名,職\n甲,林,医師\n乙,森,教師\n", (), 1, {"column1": "甲", "名": "林", "職": "医師"}),
        ("氏名,,年齢,級\n林,男,20,21\n森,女,未定,未定\n原,女,30,31\n", (), 1,
         {"氏名": "林", "column2": "男", "年齢": "20", "級": "21"}),
        ("日付,,メモ\n2024/5/1,晴,会議\n不明,雨,出張\n2024/5/3,雪,休み\n2024/5/4,雷,祭\n", (), 1,
         {"日付": "2024/5/1", "column2": "晴", "メモ": "会議"}),
        (",x\na,b\nc,d\n", (), 1, {"column1": "a", "x": "b"}),
        ("x,\n1,b\n2,d\n", (), 1, {"x": 1, "column2": "b"}),
        ("a,b\nc,d\n", (), 1, {"a": "c", "b": "d"}),
        ("id,name,,,\n1,Bob,3,4,5\n2,Al,3,4,5\n", (), 1,
         {"id": 1, "name": "Bob", "column3": 3, "column4": 4, "column5": 5}),
        ("日,店,額,,,\n2024-01-01,A,1,,,\n" + "2024-01-02,B,2,済,x,y\n" * 3, (), 1,
         {"日": date(2024, 1, 1), "店": "A", "額": 1, "column4": None, "column5": None,
          "column6": None}),
        ("Q1,Q2\n無回答,無回答\n無回答,非該当\n5,4\n2,3\n1,1\n", (), 1,
         {"Q1": "無回答", "Q2": "無回答"}),
    ],
)  # fmt: skip
def test_title_lines_are_skipped_where_evident_and_said(folder, text, titles, row, found):
    understood = converted(folder, text)
    assert (understood.skipped, understood.header_row) == (titles, row)
    are_texts = all(isinstance(value, str) for value in found.values())
    assert ("names the columns: --header-row" in str(understood)) == bool(titles and are_texts)
    rows = rows_in(folder)
    assert dict(zip([c[0] for c in rows.description], rows.fetchone(), strict=True)) == found


WESTERN = "Straße; Café „Zoë’s“ – déjà vu; 12 €; niño; ÉCOLE; Ångström; 5 m²"


@each(
    ("text", "encoding", "is_taken"),
    [
        (WESTERN, "cp1252", True),
        ("x £5", "latin-1", True),
        ("Ørsted; Österreich; 20°C", "latin-1", True),
        ("20°C; 5½", "latin-1", False),
        ("Wałęsa", "cp1250", False),
        ("Привет мир", "cp1251", False),
        ("café été", "mac_roman", False),
        ("中文测试", "gbk", False),
    ],
)
def test_western_text_is_guessed_by_its_letters(folder, text, encoding, is_taken):
    data = f"a|b\n{text}|1\n".encode(encoding)
    if not is_taken:
        with pytest.raises(UnreadableFile, match="as UTF-8, or name its encoding with --encoding"):
            converted(folder, data)
        return
    understood = converted(folder, data)
    assert (understood.encoding, understood.is_guess) == ("cp1252", True)
    ((read,),) = rows_in(folder, "a").fetchall()
    assert read == text


def test_a_header_of_too_few_names_is_not_taken_for_a_title(folder):
    with pytest.raises(UnreadableFile, match="line 2: the row has at least 2 cells for 1 column"):
        converted(folder, "name\nTokyo,1\nOsaka,2\n")
