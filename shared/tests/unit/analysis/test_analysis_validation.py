"""Which outputs are small enough for a model."""

import json

import pandas as pd
import polars as pl
import pytest
from table_of_cases import each

from mdvec.analysis import output_guard, validate_output

WHAT_TO_DO = "; aggregate, or use safe_summary_table and safe_json_output"


def table(rows, between="  "):
    lines = [("pace", "rate"), *((str(n), str(n * 2)) for n in range(rows))]
    return "\n".join(between.join(line) for line in lines)


@each(
    "output",
    [
        "",
        "ペースは平均 4:31 でした。",
        '{"平均":4.5}',
        json.dumps({"text": "x" * 1000}),
        json.dumps(list(range(10))),
        json.dumps({"rows": [{"n": n} for n in range(10)]}),
        json.dumps({"values": list(range(100))}),
        json.dumps({"bins": [{"min": n, "max": n + 1, "count": 5} for n in range(20)]}),
        table(10),
        table(10, " | "),
        table(10, ","),
        "結果です。\n\n" + table(10) + "\n\n" + '{"n": 3}\n以上。',
        "\n\n".join("段落です。\n二行目です。" for _ in range(40)),
        "[1] 参考文献\n[メモ](note.md) も見る。",
    ],
)
def test_small_outputs_pass(output):
    assert validate_output(output) == (True, None)


@each(
    ("output", "why"),
    [
        (json.dumps({"text": "x" * 1100}), "JSON has 1,112 bytes, at most 1,024 are allowed"),
        (json.dumps({"店": "あ" * 340}, ensure_ascii=False),
         "JSON has 1,031 bytes, at most 1,024 are allowed"),
        (json.dumps(list(range(11))), "a JSON list has 11 rows, at most 10 are allowed"),
        (json.dumps([[[n] for n in range(12)]]), "a JSON list has 12 rows, at most 10 are allowed"),
        ("まとめ:\n" + json.dumps(list(range(11))) + "\nでした。",
         "a JSON list has 11 rows, at most 10 are allowed"),
        ("\n".join('{"n":1}' for _ in range(11)),
         "there are 11 JSON values, at most 10 are allowed"),
        (("結果\n" + json.dumps({"text": "x" * 600}) + "\n") * 2,
         "JSON has 1,224 bytes, at most 1,024 are allowed"),
        (table(11), "a table has 11 rows, at most 10 are allowed"),
        ("表:\n" + table(12) + "\n以上", "a table has 12 rows, at most 10 are allowed"),
        ("\n".join(map(str, range(16))), "16 lines stand together, at most 15 are allowed"),
        ("\n\n".join(map(str, range(101))),
         "there are 101 lines of data, at most 100 are allowed"),
        ("\n\n".join(["x" * 1000] * 9),
         "lines of data have 9,000 bytes, at most 8,192 are allowed"),
        (str([{"n": n} for n in range(200)]), "a line has 2,290 bytes, at most 1,024 are allowed"),
        ("段落です。" * 280, "a line has 4,200 bytes, at most 4,096 are allowed"),
        ("あ" * 40_000, "the output has more than 100,000 bytes"),
    ],
)  # fmt: skip
def test_large_outputs_are_refused_with_a_reason(output, why):
    assert validate_output(output) == (False, why + WHAT_TO_DO)


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_frames_that_the_guard_shortens_pass_and_others_do_not(frame):
    long = frame({"pace": range(1000), "rate": range(1000)})
    with output_guard():
        assert validate_output(str(long)) == (True, None)
    rows = str(long) if frame is pl.DataFrame else long.to_string()
    if frame is pl.DataFrame:
        with pl.Config(tbl_rows=50):
            rows = str(long)
    assert validate_output(rows)[0] is False


@each(
    "hostile",
    [
        "[" * 99_000,
        "[\n" * 49_000,
        "a" * 99_999,
        " " * 99_999,
        "," * 99_999,
        '{"a":' * 19_000,
        "\n" * 99_999,
        " \n" * 49_000,
        "[f" + "a." * 45_000 + "]",
        "[1" + " " * 90_000 + "]",
        "[1," * 33_000,
        "['" * 30_000,
        "<tr " * 24_000,
        "</tr" * 19_000,
        "[x(" + "(" * 90_000,
    ],
)
def test_no_output_takes_long_or_breaks_it(hostile):
    valid, _ = validate_output(hostile)
    assert valid in {True, False}


def test_what_is_not_text_is_not_valid():
    said = "an output is a text, not NoneType; pass what is printed"
    assert validate_output(None) == (False, said)
