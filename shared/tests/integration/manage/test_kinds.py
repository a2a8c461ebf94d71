"""The table of kinds: each entry can be loaded, and each kind's report has its fields."""

import apsw
import pytest
from collection import Collection
from source_folder import SourceFolder

from mdvec.database.connection import DatabaseUnusable
from mdvec.importing.job import Importer, ReportLine
from mdvec.manage.kind_code import KIND_CODE
from mdvec.manage.registering import list_tools
from mdvec.tools.kinds import KINDS
from mdvec.tools.status import KindStatus

ROWS = (
    "計算対象,日付,内容,金額（円）,保有金融機関,大項目,中項目,メモ,振替,ID\n"
    "1,2025/07/01,スーパー,-1200,銀行,食費,食料品,,0,a\n"
)
SHARED = [
    "tool", "mode", "model", "added", "updated", "deleted", "unchanged", "failed", "chunks",
    "chunks_embedded", "seconds", "chunks_pending", "undecided",
]  # fmt: skip


def imported(tmp_path, kind, file, text):
    source = tmp_path / "source"
    source.mkdir()
    (source / file).write_text(text, encoding="utf-8")
    return SourceFolder(source, tmp_path / "db.sqlite", "mine", kind=kind).import_("new")


def test_every_kind_has_its_code():
    assert list(KIND_CODE) == list(KINDS)
    for code in KIND_CODE.values():
        assert isinstance(code.importer(), Importer)
        assert isinstance(code.status(), KindStatus)
        assert callable(code.name_check())


def test_a_report_has_the_same_fields_for_every_kind_null_where_a_kind_has_none(tmp_path):
    files = {
        "markdown": ("a.md", "# A\n\nText."),
        "household": ("a.csv", ROWS),
        "dataset": ("a.csv", "n\n1\n"),
    }
    assert list(files) == list(KINDS)
    for kind, (file, text) in files.items():
        folder = tmp_path / kind
        folder.mkdir()
        found = imported(folder, kind, file, text).json_fields()
        assert list(found) == [
            *SHARED,
            "ledger", "duplicate_candidates", "transfer_candidates", "bill_candidates", "dataset",
            "hints",
        ]  # fmt: skip
        own = {name for name in found if found[name] is not None} - {*SHARED, "hints"}
        assert own <= set(KINDS[kind].report_fields)
        assert bool(own) == bool(KINDS[kind].report_fields)


def test_a_household_reports_its_ledger_and_its_texts(tmp_path):
    report = imported(tmp_path, "household", "a.csv", ROWS)
    taken, searched = report.lines()
    assert taken == ReportLine(
        "mine: 1 file, 1 row read: 1 imported, 0 updated, 0 unchanged, 0 failed; "
        "0 deleted, 0 in the ledger have no file left"
    )
    assert searched.text.startswith("1 row can be searched, 1 embedded with tiny in ")


def test_a_dataset_names_its_tables(tmp_path):
    summary, table = imported(tmp_path, "dataset", "a.csv", "n\n1\n").lines()
    counts = "mine: 1 added, 0 updated, 0 deleted, 0 unchanged, 0 failed; 1 table, 1 row in "
    assert summary.text.startswith(counts)
    assert table == ReportLine("mine__a: 1 row, 1 column, from a.csv")


def test_a_tool_of_an_unknown_kind_counts_as_damaged(tmp_path):
    made = Collection(tmp_path / "notes", tmp_path / "db.sqlite")
    connection = apsw.Connection(str(made.database))
    connection.execute("UPDATE tools SET kind = 'podcast'")
    connection.close()
    with pytest.raises(DatabaseUnusable, match="row of the tool 'notes' is damaged"):
        list_tools(made.database, active_only=False)
