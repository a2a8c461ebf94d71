"""The examples of docs/analysis.md give the output shown there."""

import doctest
from pathlib import Path

import duckdb
from mdvec import analysis
from mdvec.analysis.exports import ExportFolder

PAGE = Path(__file__).parents[1] / "docs" / "analysis.md"
RUN = """
    SELECT 1001 AS activity_id, i AS second, 270 + (i % 20 + 1) * 0.5 AS pace,
        120 + i // 50 AS heart_rate
    FROM range(1000) AS t(i)
"""


def test_every_example_of_the_page_is_true(tmp_path, monkeypatch):
    monkeypatch.setenv("MDVEC_ANALYTICS_FOLDER", str(tmp_path / "exports"))
    finished = tmp_path / "finished"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({RUN}) TO '{finished}' (FORMAT parquet)")
    exports = ExportFolder(tmp_path / "exports", 3600, 10**9)
    handle = exports.place(finished).handle

    text = PAGE.read_text(encoding="utf-8")
    names = {"handle": handle, "pictures": tmp_path}
    page = doctest.DocTestParser().get_doctest(text, names, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    result = runner.run(page, out=said.append)
    assert not said, "".join(said)
    assert result.attempted >= 15


def test_the_page_documents_everything_in_the_module():
    text = PAGE.read_text(encoding="utf-8")
    offered = set(dir(analysis)) - {"OutputGuard", "ExportFolder", "ExportFormat"}
    assert {name for name in offered if name not in text} == set()
