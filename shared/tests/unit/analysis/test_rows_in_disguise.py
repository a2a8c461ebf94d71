"""Rows are refused as lines, tables and JSON; in bulk, in any notation."""

import base64
import csv
import io
import json
import pprint
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from table_of_cases import each

from mdvec.analysis import validate_output

COLUMNS = ("day", "pace", "memo")
Rows = list[tuple[str, float, str]]


def rows_of(count: int) -> Rows:
    return [(f"2025-06-{n % 28 + 1:02d}", 270 + n / 4, f"朝の練習 {n}") for n in range(count)]


def dicts(rows: Rows) -> list[dict[str, object]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def figures(rows: Rows) -> np.ndarray:
    return np.array([[index, row[1]] for index, row in enumerate(rows)])


def delimited(rows: Rows, **how: object) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", **how).writerows([COLUMNS, *rows])
    return text.getvalue()


def records(rows: Rows) -> str:
    return "\n\n".join("\n".join(f"{k}: {v}" for k, v in row.items()) for row in dicts(rows))


def wide(rows: Rows) -> str:
    with pl.Config(tbl_rows=-1):
        return str(pl.DataFrame(dicts(rows)))


WRITTEN: dict[str, Callable[[Rows], str]] = {
    "JSON": lambda rows: json.dumps(dicts(rows), ensure_ascii=False),
    "JSON after words": lambda rows: "Result: " + json.dumps(dicts(rows)),
    "JSON within a sentence": lambda rows: f"結果は {json.dumps(dicts(rows))} でした。",
    "JSON, indented": lambda rows: "=> " + json.dumps(dicts(rows), indent=1),
    "JSON lines": lambda rows: "\n".join(map(json.dumps, dicts(rows))),
    "JSON lines with numbers": lambda rows: "\n".join(
        f"row {n}: {json.dumps(row)}" for n, row in enumerate(dicts(rows))
    ),
    "JSON after brackets": lambda rows: "[a [b (c {d " + json.dumps(dicts(rows)),
    "a list of Python": lambda rows: f"rows = {dicts(rows)}",
    "pprint": lambda rows: pprint.pformat(dicts(rows)),
    "an array": lambda rows: str(figures(rows)),
    "pandas": lambda rows: pd.DataFrame(dicts(rows)).to_string(),
    "a series": lambda rows: pd.Series([row[1] for row in rows]).to_string(),
    "polars": wide,
    "CSV": delimited,
    "CSV in quotes": lambda rows: delimited(rows, quoting=csv.QUOTE_ALL),
    "CSV of two columns": lambda rows: delimited(rows).replace("朝", "").replace(",270", " 270"),
    "TSV": lambda rows: delimited(rows, delimiter="\t"),
    "semicolons": lambda rows: delimited(rows, delimiter=";"),
    "Markdown": lambda rows: "\n".join(
        ["|day|pace|memo|", "|---|---|---|", *("|" + "|".join(map(str, row)) + "|" for row in rows)]
    ),
    "HTML on one line": lambda rows: pd.DataFrame(dicts(rows)).to_html().replace("\n", ""),
    "YAML": lambda rows: yaml.safe_dump(dicts(rows), allow_unicode=True),
    "YAML, flat": lambda rows: "\n".join(f"- {row[0]}" for row in rows),
    "with carriage returns": lambda rows: delimited(rows).replace("\n", "\r"),
    "with blank lines of no width": lambda rows: delimited(rows).replace("\n", "\n\u200b\n"),
    "with separators of Unicode": lambda rows: delimited(rows).replace("\n", "\u2028"),
}
LONG: dict[str, Callable[[Rows], str]] = {
    "base64": lambda rows: base64.b64encode(delimited(rows).encode()).decode(),
    "base64 in lines": lambda rows: base64.encodebytes(delimited(rows).encode()).decode(),
    "base64 in paragraphs": lambda rows: (
        base64.encodebytes(delimited(rows).encode()).decode().replace("\n", "\n\n")
    ),
    "hexadecimal": lambda rows: delimited(rows).encode().hex(),
    "a line": lambda rows: " ".join(row[2] for row in rows),
    "a line of pairs": lambda rows: " / ".join(f"{row[0]} {row[1]}" for row in rows),
    "columns": lambda rows: str({"pace": [row[1] for row in rows]}),
    "JSON by columns after words": lambda rows: (
        "df = " + json.dumps({"rows": [list(row) for row in rows]})
    ),
    "a list of tuples": lambda rows: f"-> {rows!r}",
    "an array's repr": lambda rows: "x = " + repr(figures(rows)[:, 1]),
    "an array on one line": lambda rows: np.array2string(
        figures(rows)[:, 1], max_line_width=10**6, threshold=10**6
    ),
    "HTML": lambda rows: pd.DataFrame(dicts(rows)).to_html(),
    "an HTML list": lambda rows: "".join(f"<li>{row[2]}</li>" for row in rows),
    "records": records,
    "with blank lines": lambda rows: delimited(rows).replace("\n", "\n\n"),
    "with lines of spaces": lambda rows: delimited(rows).replace("\n", "\n \t\n"),
    "one value a line": lambda rows: "\n\n".join(str(row[1]) for row in rows),
    "with spaces of no width": lambda rows: delimited(rows).replace("\n", "\u200b"),
    "with escaped ends of lines": lambda rows: repr(delimited(rows)),
    "a string of JSON": lambda rows: json.dumps(delimited(rows)),
    "with tags for ends of lines": lambda rows: delimited(rows).replace("\n", "<br>"),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@settings(max_examples=8)
@given(count=st.integers(17, 60))
def test_more_rows_than_allowed_are_refused_as_lines_tables_and_json(written, count):
    text = written(rows_of(count))
    assert validate_output(text)[0] is False, text
    assert validate_output(f"集計しました。\n\n{text}\n\n以上です。")[0] is False, text


@each("written", [*WRITTEN.values(), *LONG.values()])
def test_hundreds_of_rows_are_refused_in_every_form(written):
    assert validate_output(written(rows_of(500)))[0] is False


@each("written", WRITTEN.values())
def test_a_few_rows_pass_as_lines_tables_and_json(written):
    text = written(rows_of(3))
    assert validate_output(text) == (True, None), text


@each(
    "output",
    [
        "Result: " + json.dumps({"text": "x " * 24_500}),
        "x" * 90_000,
        "あいう " * 9_000,
        "\n\n".join(f"{n} {n * 2}" for n in range(500)),
        "<table>" + "<tr><td>1</td></tr>" * 200 + "</table>",
        "\n\n".join("1,2,3,4,5,6,7,8,9,0" * 60 for _ in range(14)),
    ],
)
def test_other_bulk_is_refused(output):
    assert validate_output(output)[0] is False


@each(
    "output",
    [
        "平均は 4:31/km、最速は 4:12/km でした。前半より後半が速く、心拍は 150 前後です。",
        "# 結果\n\n## 前半\n\n- 平均 4:35\n- 心拍 148\n\n## 後半\n\n- 平均 4:27\n- 心拍 152",
        "See [1], [2] and the note (p. 3).\n[1]: https://example.com/a/b?c=d",
        "\n".join(f"{n}. 手順{n}をします。" for n in range(1, 13)),
        "段落です。" * 200,
        "mean 271.3\nmedian 270.5\nmin 252.0\nmax 301.2\nn 1000",
        "SELECT date_trunc('month', day) AS m, sum(amount)\nFROM t\nGROUP BY m",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'pace'",
    ],
)
def test_ordinary_prose_passes(output):
    assert validate_output(output) == (True, None)
