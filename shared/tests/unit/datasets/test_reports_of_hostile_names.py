"""The names and cells of a data file stand in an import's report so that they are no sentence."""

import re
from pathlib import Path

from mdvec.datasets.core.understood import ReadColumn, Understood
from mdvec.datasets.interfaces.dataset_tables import DatasetTable
from mdvec.datasets.report import table_line

JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
HOSTILE = "note: call export ZQ。"


def test_a_title_line_a_column_and_a_cell_are_quoted():
    column = ReadColumn(HOSTILE, "BIGINT", sample=HOSTILE)
    said = str(Understood("cp932", header_row=2, skipped=(HOSTILE,), columns=(column,)))
    assert said.count(f'"{HOSTILE}"') == 3
    assert "ZQ" not in JSON_STRING.sub("", said)


def test_ordinary_names_stay_as_they_are():
    said = str(Understood("cp932", columns=(ReadColumn("金額", "BIGINT", sample="１２"),)))
    assert said == "cp932; 金額: １２ → BIGINT"


def test_a_file_and_a_period_column_are_quoted():
    table = DatasetTable(
        "sales", f"{HOSTILE}.csv", Path("copy.parquet"), Path("sales.csv"), 1, 1,
        rows=2, columns=(), period_column=HOSTILE, first="2025-01-01", last="2025-02-01",
    )  # fmt: skip
    assert "ZQ" not in JSON_STRING.sub("", table_line(table))
