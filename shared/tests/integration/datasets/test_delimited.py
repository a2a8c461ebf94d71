"""CSV to Parquet: nothing is lost, and a bad line is named."""

import csv
import io
import re
from datetime import date, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from source_folder import READER, converted, rows_in
from table_of_cases import each

from mdvec.datasets.interfaces.connection import parquet_scan
from mdvec.datasets.interfaces.csv_file import csv_to_parquet
from mdvec.files.problems import UnreadableFile

at = datetime.fromisoformat
NO_HEADER = "its header cannot be told from its first rows"


def written(header, rows, **dialect):
    text = io.StringIO(newline="")
    csv.writer(text, **dialect).writerows([header, *rows])
    return text.getvalue()


def imported(folder, data, name="data.csv"):
    """The types and rows of a file with these bytes."""
    source, target = folder / name, folder / "copy.part"
    others = {*folder.iterdir()} - {source}
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    csv_to_parquet(source, target)
    assert {*folder.iterdir()} - others == {source, target}
    found = READER.execute(f"SELECT * FROM {parquet_scan(target)}")
    types = {column[0]: str(column[1]) for column in found.description}
    rows = [list(row) for row in found.fetchall()]
    target.unlink()
    return types, rows


def columns(folder, named):
    """Each column's type and values; all columns are in one file, padded with empty cells."""
    longest = max(map(len, named.values()))
    filled = [[*values, *[""] * (longest - len(values))] for values in named.values()]
    types, rows = imported(folder, written(named, zip(*filled, strict=True)))
    read = zip(*rows, strict=True)
    return {
        name: (type_, list(values)[: len(named[name])])
        for (name, type_), values in zip(types.items(), read, strict=True)
    }


def test_a_column_whose_values_are_of_one_kind_gets_its_type(folder):
    moments = [at("2025-06-01 05:00"), at("2025-06-01 05:00:01.500"), at("2025-06-02")]
    wanted = {
        "whole": (["1", "-20", "0"], "BIGINT", [1, -20, 0]),
        "long": (["999999999999999999", "1"], "BIGINT", [999999999999999999, 1]),
        "decimal": (["1", "2.50", "-.5", "1e-05"], "DOUBLE", [1.0, 2.5, -0.5, 1e-05]),
        "midway": (["5.960464477539063e-08"], "DOUBLE", [2.0**-24]),  # not as rounded: …062
        "円": (["1,234円", "-¥12,345,678", "\\1"], "BIGINT", [1234, -12345678, 1]),
        "truth": (["TRUE", "false"], "BOOLEAN", [True, False]),
        "day": (["2025/06/01", "2025-6-2"], "DATE", [date(2025, 6, 1), date(2025, 6, 2)]),
        "moment": (["2025/6/1 5:00", "2025-06-01T05:00:01.5", "2025-06-02"], "TIMESTAMP", moments),
        "gaps": (["1", "", "NaN", "NA", "2"], "BIGINT", [1, None, None, None, 2]),
        "spaced": ([" 12 ", "3"], "BIGINT", [12, 3]),
        "other spaces": (["　6　", "7", "▲\u00a05"], "BIGINT", [6, 7, -5]),
        "spaces by days": (
            ["　2025/6/1", "2025/6/2\u00a0"],
            "DATE",
            [date(2025, 6, 1), date(2025, 6, 2)],
        ),
        "no end": (["2024-01-27", "9999-12-31"], "DATE", [date(2024, 1, 27), date(9999, 12, 31)]),
        "none": (["", ""], "VARCHAR", [None, None]),
    }
    found = columns(folder, {name: values for name, (values, _, _) in wanted.items()})
    assert found == {name: (type_, read) for name, (_, type_, read) in wanted.items()}


def test_a_column_that_would_lose_digits_stays_text(folder):
    named = {
        "leading zeros": ["00123", "00124"],
        "one leading zero": ["1", "2", "007"],
        "telephone": ["+81312345678"],
        "more digits than clients keep": ["1234567890123456789"],
        "a long fraction": ["0.1234567890123456789"],
        "long beside a fraction": ["1234567890123456", "0.5"],
        "codes, no powers": ["1e5", "2E3"],
        "over every number": ["1.5e999"],
        "commas elsewhere": ["1,234", "12,34"],
        "a comma as a point": ["1,23", "4,5"],
        "a pace, no time of day": ["5:30", "6:15"],
        "no year": ["0000-01-01"],
        "as programs write": ["1_000", "0x10"],
        "words": ["yes", "no"],
        "nothing but NA": ["NA", "NA"],
        "a dash": ["-", "a"],
        "full width from zero": ["０１２", "３"],
        "two kinds": ["1", "2025-01-01"],
    }
    assert columns(folder, named) == {name: ("VARCHAR", values) for name, values in named.items()}


def test_the_last_row_decides_as_much_as_the_first(folder):
    values = [str(number) for number in range(5_000)]
    lasts = {
        "same": "5000", "half": "0.5", "yen": "¥1,000", "word": "x", "spaced": "\u30007\u2003",
    }  # fmt: skip
    named = {name: [*values, last] for name, last in lasts.items()}
    late = {"late": "2025/06/01", "late, spaced": "\u20032025/06/01\u00a0"}
    dates = {name: [""] * 2_000 + ["2025/05/01"] * 2_000 + [last] for name, last in late.items()}
    found = columns(folder, {**named, **dates})
    assert {name: type_ for name, (type_, _) in found.items()} == {
        "same": "BIGINT", "half": "DOUBLE", "yen": "BIGINT", "word": "VARCHAR",
        "spaced": "BIGINT", "late": "DATE", "late, spaced": "DATE",
    }  # fmt: skip
    day = date(2025, 6, 1)
    assert [read[-1] for _, read in found.values()] == [5000, 0.5, 1000, "x", 7, day, day]


def test_moments_with_a_zone_are_moments(folder):
    converted(folder, "t\n2025-06-01T09:00:00+09:00\n2025-06-01 00:30:00Z\n")
    shown = rows_in(folder, "typeof(t), epoch(t)").fetchall()
    kind = "TIMESTAMP WITH TIME ZONE"
    assert shown == [(kind, 1748736000.0), (kind, 1748737800.0)]


ROWS = [["東京", "1"], ["髙島屋\n2階", "2"], ['say "x", y', "3"]]


@each(
    ("encoding", "end", "delimiter"),
    [
        ("utf-8", "\n", ","), ("utf-8-sig", "\r\n", ";"), ("cp932", "\r\n", "\t"),
        ("cp932", "\r", ","), ("utf-16", "\n", "|"),
    ],
)  # fmt: skip
def test_text_is_read_exactly_from_every_encoding_with_every_delimiter(
    folder, encoding, end, delimiter
):
    dialect = {"lineterminator": end, "quoting": csv.QUOTE_ALL, "delimiter": delimiter}
    types, rows = imported(folder, written(["店", "数"], ROWS, **dialect).encode(encoding))
    assert types == {"店": "VARCHAR", "数": "BIGINT"}
    assert rows == [[name, int(number)] for name, number in ROWS]


@each("title", ["売上 | 確定 | 全店", "売上;2025年6月", "a|b"])
def test_a_title_does_not_decide_about_the_delimiter(folder, title):
    text = f"{title}\n日付,店,金額\n2025/5/1,A,1\n2025/5/2,B,2\n"
    types, rows = imported(folder, text)
    assert types == {"日付": "DATE", "店": "VARCHAR", "金額": "BIGINT"}
    assert len(rows) == 2


@each("text", [",店,金額\n1,A,5\n2,B,6\n", "日付,,金額\n2025/5/1,A,5\n不明,B,未定\n2025/5/2,C,7\n"])
def test_a_header_that_leaves_a_column_without_a_name_is_one(folder, text):
    assert len(imported(folder, text)[1]) == text.count("\n") - 1


def test_a_tsv_is_split_at_tabs_only(folder):
    assert imported(folder, "a,b\n1,2\n", name="a.TSV") == ({"a,b": "VARCHAR"}, [["1,2"]])


def test_any_line_ends_are_read_and_blank_lines_skipped(folder):
    found = imported(folder, "a,b\n1,2\r\n\r\n3,4\n\n")
    assert found == ({"a": "BIGINT", "b": "BIGINT"}, [[1, 2], [3, 4]])


def test_an_empty_line_between_the_rows_of_one_column_is_a_row_of_null(folder):
    found = imported(folder, 'sep=;\n\nname\nbob\n\r\n"a\r\nb"\n\n\nlast\n\n')
    assert found == ({"name": "VARCHAR"}, [["bob"], [None], ["a\r\nb"], [None], [None], ["last"]])


EMPTY = [
    ",,", '"","",""', ',"",', ",", " ", '"" ,', " , , ", "\u3000,\u3000,", "\u3000",
    '\u00a0,"\u2003"', '"\u3000 ",',
]  # fmt: skip


@each(
    ("empty", "end", "large_from"),
    [
        (empty, end, 2**24 if (row + at) % 2 else 1)  # each with both ends, and in both sizes
        for row, empty in enumerate(EMPTY)
        for at, end in enumerate(("\n", "\r\n"))
    ],
)
def test_rows_without_a_filled_cell_are_left_out(folder, empty, end, large_from):
    row, words = f"1,NA,{end}", f'2,"a\n,,\nb",-{end}'
    text = f"a,b,c{end}{empty}{end}{row}{empty}{end}{words}" + f"{empty}{end}" * 900
    understood = converted(folder, text, large_from=large_from)
    assert rows_in(folder, "a, b").fetchall() == [(1, "NA"), (2, "a\n,,\nb")]
    assert "empty rows are left out: 902" in understood.notes


@each("last", ["\r\n3,4\r\n", ""])
def test_the_only_empty_row_is_found_at_either_line_end_and_at_the_end_of_the_file(folder, last):
    understood = converted(folder, f"a,b\r\n1,2\r\n,{last}")
    assert understood.notes == ("empty rows are left out: 1",)


def test_any_number_of_short_empty_rows_is_left_out(folder):
    names = ",".join(f"c{at}" for at in range(100))
    understood = converted(folder, f"{names}\n{'1,' * 99}1\n" + ",\n" * 11_000 + f"{'2,' * 99}2\n")
    assert rows_in(folder, "c0, c99").fetchall() == [(1, 1), (2, 2)]
    assert understood.notes == ("empty rows are left out: 11,000",)


@each(
    ("bad", "why"),
    [("3,4\n", "line 114: the row has 2 cells for 1,000 columns"),
     (f'"a"b{",1" * 999}\n', "a row below line 4 cannot be read as CSV")],
)  # fmt: skip
def test_no_short_empty_row_is_named_in_place_of_the_row_that_is_refused(folder, bad, why):
    names = ",".join(f"c{at}" for at in range(1_000))
    with pytest.raises(UnreadableFile, match=f"^{why}"):
        converted(folder, f"{names}\n{'1,' * 999}1\n\n" + ",\n" * 110 + bad)


def test_a_row_of_texts_that_mean_no_value_is_no_empty_row(folder):
    assert imported(folder, "a,b\n1,2\n-,NA\n3,4\n")[1] == [[1, 2], [None, None], [3, 4]]


def test_odd_column_names_work(folder):
    header = ['say "x"', "two\nlines", "日付", "A", "a", "", "it's; --"]
    types, rows = imported(folder, written(header, [list("1234567")]))
    assert list(types) == ['say "x"', "two\nlines", "日付", "A", "a_2", "column6", "it's; --"]
    assert rows == [[1, 2, 3, 4, 5, 6, 7]]


@each("delimiter", [",", ";", "\t"])
def test_a_quotation_mark_within_a_name_hides_no_delimiter(folder, delimiter):
    text = f'name{delimiter}"A" (x){delimiter}"B{delimiter}" (y)\nWorld{delimiter}1.5{delimiter}2\n'
    types, rows = imported(folder, text)
    assert (list(types), rows) == (["name", "A (x)", f"B{delimiter} (y)"], [["World", 1.5, 2]])


def test_a_header_alone_is_an_empty_table(folder):
    assert imported(folder, "a,b\n") == ({"a": "VARCHAR", "b": "VARCHAR"}, [])


@each(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"\n\n", "it is empty"),
        (b"1,2\n3,4\n", NO_HEADER),
        (b", \n1,2\n", "its first line is empty"),
        (
            b"a,b\n1,2\n3\n",
            "line 3: the row has 1 cell for 2 columns; it was split at ',': --delimiter names "
            "another, --header-row another line of names",
        ),
        ("a,b,c\n1,2,3\n,\n\u3000\n4,5\n".encode(), "line 5: the row has 2 cells"),
        (b'a,b\n1,2\n"x\ny",2,3\n', "line 3: the row has at least 3 cells"),
        (b'a,b\n1,2\n3,"x\n', "line 3: a quotation mark opens a cell that is never closed"),
        (b'a,b\n1,"""x ""y""\n\n3,4\n""\n', "line 2: a quotation mark opens a cell that"),
        (b'a,b\n"","\n""x', "line 2: a quotation mark opens a cell that"),
        (b'a,b\n"x"y,2\n', "line 2: it is not valid CSV"),
        (b'a,b\n1,"x\n\n3,4\n\n', "line 2: a quotation mark opens a cell that"),
        (b'a,b\n1,2\r\n"x"y,2\n', "line 3: it is not valid CSV"),
        (b"a,b\n1,\0\n", "it contains NUL bytes"),
        (b"a,b\n1,\xff\xff\xff\n", "it is neither UTF-8 nor cp932"),
        (b"a,b\n1,\xa0\n", "it is neither UTF-8 nor cp932"),
        (
            "売上表,,単位\n日付,店,金額\n\n2025/5/1,A,1\n".encode(),
            r'FILE: 1 "売上表 \| \| 単位", 2 "日付 \| 店 \| 金額", '
            r'4 "2025/5/1 \| A \| 1"$',
        ),
        ("作成者,山田,\n部署,営業,\n,,\n日付,店,金額\n2025/5/1,A,1\n".encode(), NO_HEADER),
        ("一覧\n作成日,2025/5/1,\n日付,店,金額\n2025/5/1,A,1\n".encode(), NO_HEADER),
        (b"a,b,,d,e\n,,,,\nv,w,x,y,z\n1,2,3,4,5\n", NO_HEADER),
        ("備品,\n品名,置き場\n机,1階\n椅子,2階\n".encode(), NO_HEADER),
        ("備品,,,\n6月1日現在,,,（人）\n名,場,数,外\n机,あ,い,う\n".encode(), NO_HEADER),
        ("一覧,,,\n,a,,\n,,c,d\n東,1,2,3\n".encode(), NO_HEADER),
        *(
            (
                f"{start}統計名：,家計,,,,,\n表番号：,10,,,,,\n,,,11,12,13,14\n"
                "コード,地域,月,米,麦,豆,茶\n1,全国,5月,1,2,3,4\n1,東京,5月,4,5,6,7\n".encode(),
                rf'{row} "コード \| 地域 \| 月',
            )
            for start, row in (("", 4), ("調査,,,,,,\n\n", 6))
        ),
        (
            f'売上{"x" * 99},,\n,,\n店,"2024/5/1\n",2024/5/2\n"""x",1,2\n'.encode()
            + b"y,1,2\n" * 9,
            rf'1 "売上{"x" * 57}…", 4 "店 \| 2024/5/1 \| 2024/5/2", 5 "\\"x \| 1 \| 2"$',
        ),
        (
            "報告書,,\n作成,佐藤,\n部署,営業,\n宛先,田中,\n期間,5月,\n場所,東京,\n版,二,\n"
            "店,品,数\nA,りんご,1\n".encode(),
            r'1 "報告書 [^…]* 3 "部署 [^…]*", …, 7 "版 [^,]*, 8 "店 \| 品 \| 数", 9 "A [^,]*$',
        ),
        # A first line of nothing but blanks, which has no cell in the columns of the table.
        (" \n,品名,6/1,6/2\n,りんご,3,4\n,みかん,5,6\n".encode(), r'-for FILE: 2 "品名 \| 6/1'),
        (",\n,,品名,6/1,6/2\n,,りんご,3,4\n,,みかん,5,6\n".encode(), r'2 "品名 \| 6/1 \| 6/2"'),
        # Without a header, the first line would say how many columns there are.
        ("名簿\n氏名,住所\n佐藤,東京\n鈴木,大阪\n".encode(), r"left out\), with -m update --for"),
        (b"<!DOCTYPE html>\n<p>log in</p>\n", "it is a web page"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_leaves_nothing(folder, data, why):
    with pytest.raises(UnreadableFile, match=why):
        converted(folder, data)
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("start", "repeated", "times", "end", "why"),
    [
        (b"", b"a,", 10_001, b"b\n1", "it has more than 10,000 columns"),
        (b"a,b\n1,", b"x", 2**26 + 1, b"", "line 2 has more than 64 MB"),
        pytest.param(b'a,b\n1,"', b"x", 2**25, b'"\n', "line 2: the row has more than 32 MB",
                     marks=pytest.mark.soak),
    ],
)  # fmt: skip
def test_a_file_that_is_too_wide_says_so(folder, start, repeated, times, end, why):
    with pytest.raises(UnreadableFile, match=why):
        converted(folder, start + repeated * times + end)
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


@each(
    ("below", "lines"),
    [
        ("\n商品,数\nりんご,3\n", ("5",)),
        (",\n,\n表2,\n商品,数\nりんご,3\n, \n品,個\n柿,4\n", ("7, 10",)),
        ('"大\n\n阪",5\n京都,-\n', ()),
        ("\n京都,不明\n奈良,6\n", ("5",)),
        ("\n京都,6\n", ()),
    ],
)
def test_the_header_of_a_table_below_an_empty_line_is_named(folder, below, lines):
    read = converted(folder, f"店,額\n東京,1\n神戸,2\n{below}".encode("cp932"))
    header = "another table's header may be in line {}; give each table its own file"
    empty = ("empty rows are left out: 3",) if below.startswith(",") else ()
    assert read.notes == (*map(header.format, lines), *empty)


def text_of(value):
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime():
            return value.isoformat(" ")
        case date():
            return f"{value:%Y/%m/%d}"
        case _:
            return str(value)


@each("cell", ["x\r", "\r", "a\rb", "a\r\n", '"\r\n', "\n\r\n\r"])
def test_a_cell_may_hold_any_ends_of_lines(folder, cell):
    rows = [[f"x{cell}", "1"], ["y", "2"], [f"y{cell}", "3"]]
    text = written(["c0", "c1"], rows, lineterminator="\n", quoting=csv.QUOTE_ALL)
    _, read = imported(folder, text)
    assert read == [[text, int(number)] for text, number in rows]


DAYS = st.dates(date(1900, 1, 1), date(2099, 12, 31))
MOMENTS = st.datetimes(at("1900-01-01"), at("2099-12-31"))
WORDS = st.text(st.sampled_from("abcあいう漢字 ,;\"'\n\r-/:.0123456789¥"), min_size=1, max_size=8)
OF_A_KIND = {
    "BIGINT": st.integers(-(10**18) + 1, 10**18 - 1),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "BOOLEAN": st.booleans(),
    "DATE": DAYS,
    "TIMESTAMP": MOMENTS,
    "VARCHAR": WORDS.map(lambda word: f"x{word}"),
}


@settings(max_examples=10)
@given(data=st.data())
def test_what_is_read_back_equals_what_was_written(one_folder, data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(OF_A_KIND)), min_size=1, max_size=4))
    row = st.tuples(*[st.none() | OF_A_KIND[kind] for kind in kinds])
    rows = data.draw(st.lists(row.filter(any), min_size=1, max_size=8))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-16"]))
    header = [f"c{number}" for number in range(len(kinds))]
    # A single column of texts with ";" may as well be a title over two columns.
    quoting = csv.QUOTE_ALL if len(kinds) == 1 else csv.QUOTE_MINIMAL
    text = written(header, [[text_of(value) for value in row] for row in rows], quoting=quoting)
    types, read = imported(one_folder, text.encode(encoding))
    assert [tuple(row) for row in read] == rows
    for number, kind in enumerate(kinds):
        if any(row[number] is not None for row in rows):
            assert types[f"c{number}"] in (kind, "DOUBLE" if kind == "BIGINT" else kind)


@settings(max_examples=10)
@example(values=["+1"])
@given(values=st.lists(st.text(st.sampled_from("0123456789.,-¥/ eE+"), min_size=1, max_size=10)))
def test_numbers_keep_all_their_digits(one_folder, values):
    values = ["0", *values]
    type_, read = columns(one_folder, {"key": ["k"] * len(values), "v": values})["v"]
    for text, value in zip(values, read, strict=True):
        bare = text.strip(" ").replace("¥", "").replace(",", "")
        if value is None:
            assert bare in ("", "-")
        elif type_ == "VARCHAR":
            assert value == text
        elif type_ == "BIGINT":
            assert str(value) == bare.removeprefix("+")  # a sign, as the column has a 0
        elif type_ == "DOUBLE":
            assert value == float(bare)
            assert not re.match(r"-?0\d", bare)
