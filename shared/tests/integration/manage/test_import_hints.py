"""Hints of an import about files that the tool's kind does not read."""

import errno
import os

import pytest
from source_folder import SourceFolder

from mdvec.files.scanning import ScanRules, scan
from mdvec.household.reading import MayHaveRows
from mdvec.importing import ImportRefused
from mdvec.manage import registering

HEADER = "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID"
STATEMENT = f"{HEADER}\r\n1,2025/07/01,スーパー,-1200,カード,食費,食料品,,0,a\r\n".encode("cp932")


@pytest.fixture(params=["markdown", "household", "dataset"])
def kind(request):
    return request.param


def tool(tmp_path, kind):
    return SourceFolder(tmp_path / "files", tmp_path / "vectors.sqlite", kind=kind)


def test_an_import_without_files_names_the_endings_it_saw(tmp_path, kind):
    made = tool(tmp_path, kind)
    for name in ("a.pdf", "b.PDF", "c.docx", "sub/d.pdf", "LICENSE"):
        (made.folder / name).parent.mkdir(exist_ok=True)
        (made.folder / name).write_bytes(b"x")
    (hint,) = made.import_("new").hints
    assert hint.startswith(
        f"no file in {made.folder} was imported: their names end in "
        ".pdf (3), no ending (1), .docx (1), and "
    )
    assert {"markdown": ".md", "household": ".csv", "dataset": ".parquet"}[kind] in hint


def test_an_import_of_an_empty_folder_says_that_it_is_empty(tmp_path, kind):
    made = tool(tmp_path, kind)
    (hint,) = made.import_("new").hints
    assert hint.startswith(f"{made.folder} contains no files to import")


def test_a_folder_that_cannot_be_read_is_not_called_empty(tmp_path, kind, monkeypatch):
    made = tool(tmp_path, kind)

    def refuse(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    report = made.import_("new")
    assert ([problem.file_path for problem in report.failed], report.hints) == (["."], ())


def test_files_that_the_patterns_leave_out_are_named_as_the_reason(tmp_path, kind):
    made = tool(tmp_path, kind)
    (made.folder / "a.md").write_text("# 題\n\n本文。\n", encoding="utf-8")
    (made.folder / "a.csv").write_bytes(STATEMENT)
    left_out = (
        "the patterns of the tool (include, exclude) leave out files that are there; "
        "mdvec tool update changes them"
    )
    nothing = registering.FilePatterns(made.rules, include=("*.nothing",))
    registering.update_tool(made.database, made.name, None, None, patterns=nothing)
    assert made.import_("new").hints == (f"{made.folder} contains no files to import; {left_out}",)
    everything = registering.FilePatterns(made.rules, include=())
    registering.update_tool(made.database, made.name, None, None, patterns=everything)
    made.import_()
    registering.update_tool(made.database, made.name, None, None, patterns=nothing)
    with pytest.raises(ImportRefused, match="put the files back") as raised:
        made.import_()
    assert str(raised.value).endswith(f"; {left_out}")


def test_statement_files_in_another_kind_of_tool_suggest_a_household(tmp_path, kind):
    made = tool(tmp_path, kind)
    (made.folder / "7.csv").write_bytes(STATEMENT * 100)
    (made.folder / "a.md").write_text("# 題\n\n本文。\n", encoding="utf-8")
    hints = made.import_("new").hints
    assert [hint for hint in hints if "--kind household" in hint] == [
        "7.csv contains Money Forward transactions; for sums, trends and charts add a household: "
        f"mdvec tool add --kind household -n NAME -d DESCRIPTION -s {made.folder}"
    ][: kind != "household"]


def test_statements_of_several_months_in_a_dataset_suggest_a_household_too(tmp_path):
    made = tool(tmp_path, "dataset")
    for month in (6, 7):
        (made.folder / f"2025-{month:02}.csv").write_bytes(STATEMENT)
    report = made.import_("new")
    assert [table.origin for table in report.details.tables] == ["*.csv"]
    (hint,) = [hint for hint in report.hints if "--kind household" in hint]
    assert hint.startswith("2025-06.csv contains Money Forward transactions")


def test_a_banks_statement_in_another_kind_of_tool_is_named_with_its_bank(tmp_path, kind):
    made = tool(tmp_path, kind)
    statement = (
        "年月日,お引出し,お預入れ,お取り扱い内容,残高,メモ,ラベル\r\n2025/7/2,110,,手数料,890,,\r\n"
    )
    (made.folder / "7.csv").write_bytes(statement.encode("cp932"))
    (made.folder / "a.md").write_text("# 題\n\n本文。\n", encoding="utf-8")
    hints = made.import_("new").hints
    assert any(hint.startswith("7.csv contains 三井住友銀行 trans") for hint in hints) == (
        kind != "household"
    )


def test_a_table_with_a_day_a_text_and_an_amount_is_not_said_to_be_a_service_s(tmp_path):
    made = tool(tmp_path, "dataset")
    (made.folder / "a.csv").write_text("日付,内容,金額\n2024/4/1,会議費,1000\n", encoding="utf-8")
    assert made.import_("new").hints == ()


def test_neither_links_nor_pipes_are_opened_for_a_hint(tmp_path):
    made = tool(tmp_path, "markdown")
    (tmp_path / "secret.csv").write_bytes(STATEMENT)
    (made.folder / "7.csv").symlink_to(tmp_path / "secret.csv")
    os.mkfifo(made.folder / "8.csv")
    (hint,) = made.import_("new").hints
    assert "household" not in hint


def test_other_files_of_a_household_are_listed_with_advice(tmp_path):
    made = tool(tmp_path, "household")
    names = ["a.xlsx", "b.XLS", "c.numbers", "d.ods", "e.txt"]
    for name in names:
        (made.folder / name).write_bytes(b"x")
    (made.folder / "7.csv").write_bytes(STATEMENT)
    report = made.import_("new")
    assert [problem.file_path for problem in report.details.ledger.passed_over] == names
    workbook = "it is a workbook; save its sheet as CSV in the same folder"
    assert report.details.ledger.passed_over[0] == MayHaveRows("a.xlsx", workbook)
    assert "rename it to .csv" in report.details.ledger.passed_over[-1].reason
    assert (report.added, report.failed, report.hints) == (1, (), ())


def test_a_sheet_with_tabs_is_read(tmp_path):
    made = tool(tmp_path, "household")
    text = STATEMENT.decode("cp932").replace(",", "\t")
    (made.folder / "7.tsv").write_bytes(text.encode("utf-16"))
    report = made.import_("new")
    assert (report.added, report.details.ledger.passed_over, report.hints) == (1, (), ())


def test_excluded_files_and_macos_metadata_give_no_hints(tmp_path):
    for name in ("._a.pdf", "b.pdf", "c.tmp", "d.md"):
        (tmp_path / name).write_bytes(b"x")
    assert scan(tmp_path, ScanRules((".md",), ("*.tmp",), 10**6), "notes").others == ("b.pdf",)
