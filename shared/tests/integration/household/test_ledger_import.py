"""Importing statement files into a ledger: each transaction once, and nothing lost silently."""

import subprocess
import sys
import zlib
from collections import Counter
from datetime import date
from pathlib import Path

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ledger_folder import HEADER, LedgerFolder, line

from mdvec.files.scanning import ScanRules, scan
from mdvec.household import Ledger
from mdvec.household.comparison import compare_periods
from mdvec.household.english import in_english
from mdvec.household.expense_lists import expense_list
from mdvec.household.finding import ListingOptions, find_transactions
from mdvec.household.interfaces import ledger_statements, ledger_sums
from mdvec.household.interfaces.marks import update_marks
from mdvec.household.month import monthly_household
from mdvec.household.reading import LedgerFile
from mdvec.household.report import FailedRow
from mdvec.household.row_filters import RowFilter

ROOT = Path(__file__).parents[4]
SAMPLE = ROOT / "docs" / "examples" / "household"


class FilledLedger(LedgerFolder):
    """A folder whose files have small numbers as times."""

    def write(self, path, *lines, saved=date.min, time=1):
        super().write(path, *lines)
        self.files[path] = (time, self.files[path][1])

    def one(self):
        (row,) = self.rows()
        return row

    def version(self):
        return ledger_sums.data_version(Ledger.undated(self.connection, self.tool))

    def decide(self, row, original):
        """Mark a row as the duplicate of an earlier one, as a user would."""
        self.connection.execute(
            "INSERT INTO duplicate_checks (tool_id, transaction_id_1, transaction_id_2, "
            "detection_date_tolerance, detection_amount_tolerance_abs, "
            "detection_amount_tolerance_pct, similarity_score, user_decision) "
            "VALUES (1, ?, ?, 0, '0', '0', 1.0, 'duplicate')",
            (original, row),
        )
        update_marks(Ledger.undated(self.connection, 1))


@pytest.fixture
def ledger():
    return FilledLedger()


def counts(report):
    return report.imported, report.updated, report.unchanged, len(report.failed)


def test_a_first_import_stores_every_row_as_its_file_has_it(ledger):
    ledger.write("2025.csv", line("a", memo="昼"), line("b", amount=""))
    report = ledger.import_()
    assert (report.files, counts(report), report.without_file) == (1, (2, 0, 0, 0), 0)
    first, second = ledger.rows()
    assert (first.date, first.amount, first.memo) == (date(2025, 7, 1), -100, "昼")
    assert (first.source_file, first.row_number, first.mf_id) == ("2025.csv", 2, "a")
    assert (first.counts, second.counts, second.amount) == (True, False, None)


def test_unchanged_files_are_not_opened(ledger):
    ledger.write("2025.csv", line("a"), line("b", amount="x"))
    ledger.files["asset.csv"] = (1, '"年月","合計（円）"\r\n'.encode("cp932"))
    first, version = ledger.import_(), ledger.version()
    again = ledger.import_()
    assert ledger.reads == []
    assert counts(again) == (0, 0, 1, 1)
    assert (again.failed, again.passed_over) == (first.failed, first.passed_over)
    assert again.failed == (FailedRow("2025.csv", 3, "金額 is not a number of yen"),)
    assert ledger.version() == version


def test_answers_say_how_many_rows_of_their_days_could_not_be_read(ledger):
    def told(month):
        answer = monthly_household(Ledger(ledger.connection, 1, date(2025, 9, 1)), period=month)
        return [note for note in answer.notes if "読めないか円でない行" in note]

    def note(files, rows):
        return (
            f"{files}に読めないか円でない行が {rows}件あり、"
            "別のファイルになければ合計に入っていません。"
            "行と理由（外貨は合計も）は mdvec import -n kakeibo --mode update で出ます"
        )

    ledger.write("7.csv", line("a"), line("b", amount="x"), line("c", day="2025/07/31"))
    ledger.write("8.csv", line("d", day="2025/08/01"), line("e", day="2025/08/09"))
    ledger.import_()
    assert (told("2025-07"), told("2025-08")) == ([note("7.csv", 1)], [])
    today, listing = date(2025, 9, 1), ListingOptions()
    for answer in (
        find_transactions(Ledger(ledger.connection, 1, today), RowFilter(query="店"), listing),
        expense_list(Ledger(ledger.connection, 1, today), "medical"),
    ):
        assert note("7.csv", 1) in answer.notes
    compared = compare_periods(
        Ledger(ledger.connection, 1, today), period="2025-08", base="2025-07"
    )
    assert [each for each in compared.notes if "読めないか円でない行" in each] == [note("7.csv", 1)]
    ledger.write("all.csv", line("f", amount="?"), line("g", amount="x"))
    ledger.import_()
    assert told("2025-08") == [note("all.csv", 2)]
    assert told("2025-07") == [note("7.csv ほか 1ファイル", 3)]
    assert "7.csv and others (1) have rows that cannot be read, or are not in yen: 3" in in_english(
        told("2025-07")[0]
    )
    ledger.write("7.csv", line("a"), line("b"), line("c", day="2025/07/31"), time=2)
    del ledger.files["all.csv"]
    ledger.import_()
    assert (told("2025-07"), told("2025-08")) == ([], [])


def test_renamed_files_give_their_rows_the_new_names_and_nothing_else(ledger):
    ledger.write("a.csv", line("a"), time=1)
    ledger.write("b.csv", line("b"), time=2)
    ledger.import_()
    before, version = ledger.rows(), ledger.version()
    ledger.files = {"b.csv": ledger.files["a.csv"], "a (1).csv": ledger.files["b.csv"]}
    assert counts(ledger.import_()) == (0, 0, 2, 0)
    assert [row.source_file for row in ledger.rows()] == ["b.csv", "a (1).csv"]
    assert [row.id for row in ledger.rows()] == [row.id for row in before]
    assert ledger.version() > version
    assert ledger_sums.rows_by_file(Ledger.undated(ledger.connection, 1)) == {
        "a (1).csv": 1,
        "b.csv": 1,
    }
    ledger.import_()
    assert ledger.reads == []


def test_an_id_with_other_values_is_an_update_and_keeps_its_number_and_decision(ledger):
    ledger.write("7.csv", line("a"), line("b"))
    ledger.import_()
    first, second = ledger.rows()
    ledger.decide(second.id, first.id)
    ledger.write("7b.csv", line("a", amount=-90), line("b", memo="x"), line("c"), time=2)
    for mode in ("update", "replace"):
        report = ledger.import_(mode)
        assert (report.without_file, report.deleted) == (0, 0)
        rows = ledger.rows()
        assert [(row.id, row.amount, row.memo) for row in rows[:2]] == [
            (first.id, -90, ""), (second.id, -100, "x"),
        ]  # fmt: skip
        assert (rows[1].is_duplicate, rows[1].duplicate_of) == (True, first.id)


def test_two_different_rows_with_one_id_are_the_parts_of_a_split_purchase(ledger):
    ledger.write("a.csv", line("a", -600), line("a", -400), line("a", -400))
    assert counts(ledger.import_()) == (2, 0, 1, 0)
    assert [row.amount for row in ledger.rows()] == [-600, -400]


def test_files_that_are_gone_or_have_fewer_rows_are_named_if_no_other_has_their_rows(ledger):
    for name, rows in (("a", "abc"), ("b", "de"), ("c", "fg"), ("d", "h")):
        ledger.write(f"{name}.csv", *(line(each) for each in rows))
    assert ledger.import_().files_gone == ()
    ledger.write("a.csv", line("a"), time=2)
    ledger.write("copy.csv", line("d"), line("e"), time=3)
    del ledger.files["b.csv"], ledger.files["d.csv"]
    for mode, gone in (
        ("update", ("a.csv", "d.csv")),
        ("update", ("a.csv", "d.csv")),
        ("replace", ()),
    ):
        report = ledger.import_(mode)
        assert (report.files_gone, report.without_file) == (gone, 3 if gone else 0)


@pytest.mark.parametrize("trouble", ["unreadable", "login page", "other file", "damaged"])
def test_replace_deletes_nothing_while_a_file_cannot_be_read(ledger, trouble):
    ledger.write("a.csv", line("a"))
    ledger.write("b.csv", line("b"))
    ledger.import_()
    del ledger.files["b.csv"]
    _, good = ledger.files["a.csv"]
    data = {"login page": b"<html>", "other file": b"a,b\n", "damaged": good + b"\xfd"}
    ledger.files["a.csv"] = (2, data.get(trouble, good))
    ledger.broken = {"a.csv"} if trouble == "unreadable" else set()
    for mode in ("replace", "update"):
        report = ledger.import_(mode)
        assert [problem.file_path for problem in report.unread] == ["a.csv"]
        assert (report.deleted, report.without_file, len(ledger.rows())) == (0, 1, 2)
    ledger.broken, ledger.files["a.csv"] = set(), (3, good)
    assert ledger.import_("replace").deleted == 1
    assert ledger.one().mf_id == "a"


def test_replace_deletes_nothing_when_not_all_files_could_be_seen(ledger):
    ledger.write("a.csv", line("a"))
    ledger.import_()
    ledger.files = {}
    assert ledger.import_("replace", complete=False).deleted == 0
    assert ledger.import_("replace").deleted == 1


def test_a_row_that_became_unreadable_is_not_deleted_on_replace(ledger):
    ledger.write("a.csv", line("a"), line("b"))
    ledger.import_()
    ledger.write("a.csv", line("a"), line("b", amount="-10.5"), time=2)
    report = ledger.import_("replace")
    assert (counts(report), report.deleted, report.without_file) == ((0, 0, 1, 1), 0, 1)
    assert [row.mf_id for row in ledger.rows()] == ["a", "b"]


def test_two_tools_never_mix_and_a_deleted_tool_takes_its_ledger_with_it(ledger):
    other = FilledLedger(ledger.connection, tool=2)
    for each in (ledger, other):
        each.write("a.csv", line("a"), line("b"))
        each.import_()
    first, second = ledger.rows()
    ledger.connection.execute(
        "INSERT INTO duplicate_checks (tool_id, transaction_id_1, transaction_id_2, "
        "detection_date_tolerance, detection_amount_tolerance_abs, detection_amount_tolerance_pct, "
        "similarity_score) VALUES (1, ?, ?, 0, '0', '0', 1)",
        (first.id, second.id),
    )
    other_version, kept = other.version(), other.rows()
    ledger.connection.execute("DELETE FROM tools WHERE id = 1")
    assert (ledger.rows(), ledger_statements.known_files(Ledger.undated(ledger.connection, 1))) == (
        [],
        {},
    )
    assert ledger.connection.execute("SELECT count(*) FROM duplicate_checks").fetchall() == [(0,)]
    assert other.rows() == kept
    assert other.version() == other_version


def test_every_change_of_a_row_or_a_decision_gives_the_data_another_version(ledger):
    run = ledger.connection.execute
    versions = [ledger.version()]
    for change in (
        lambda: ledger.write("a.csv", line("a"), line("b")) or ledger.import_(),
        lambda: run("UPDATE transactions SET is_duplicate = 1 WHERE mf_id = 'b'"),
        lambda: run("UPDATE transactions SET is_moved = 1 WHERE mf_id = 'b'"),
        lambda: run(
            "INSERT INTO duplicate_checks SELECT NULL, 1, min(id), max(id), 0, '0', '0', 1, '', "
            "NULL, NULL, NULL, '', 1, 0, NULL FROM transactions"
        ),
        lambda: run("UPDATE duplicate_checks SET user_decision = 'skip'"),
        lambda: run("DELETE FROM duplicate_checks"),
        lambda: ledger.write("a.csv", line("a", memo="x"), line("b")) or ledger.import_(),
        lambda: ledger.write("a.csv", line("a", memo="x")) or ledger.import_("replace"),
        lambda: ledger.write("b.csv", line("a", memo="x"), time=2) or ledger.import_(),
    ):
        change()
        versions.append(ledger.version())
    assert all(before < after for before, after in zip(versions, versions[1:], strict=False))


def test_an_import_that_cannot_be_written_leaves_the_ledger_as_it_was(ledger):
    ledger.write("a.csv", line("a"))
    ledger.import_()
    before = ledger.rows()
    ledger.connection.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON main.ledger_files "
        "BEGIN SELECT raise(ABORT, 'disk full'); END"
    )
    ledger.write("b.csv", line("a", memo="x"), line("b"), time=2)
    with pytest.raises(apsw.ConstraintError):
        ledger.import_()
    assert ledger.rows() == before


def test_a_path_in_another_unicode_form_is_the_same_file(tmp_path):
    decomposed = "カ\u3099ス.csv"
    (tmp_path / decomposed).write_bytes(f"{HEADER}\r\n{line('a')}\r\n".encode())
    (found,) = scan(tmp_path, ScanRules((".csv",), (), 10**6), "kakeibo").files
    file = LedgerFile.of(tmp_path, found)
    assert file.path == "ガス.csv"
    assert file.read().startswith(HEADER.encode())


LINES = st.builds(
    line,
    mf_id=st.sampled_from(["", "", "a", "b", "c"]),
    amount=st.sampled_from([-1, -2, "", "1.5"]),
    shop=st.sampled_from(["店", "～"]),
    memo=st.sampled_from(["", "x", "y"]),
)
FOLDERS = st.dictionaries(
    st.sampled_from(["1.csv", "2.csv", "3.csv"]),
    st.tuples(st.lists(LINES, max_size=5), st.integers(1, 3)),
)


_WITHOUT_ID = "1,2025/07/01,店,-1,財布,食費,食料品,,0,"


def fill(ledger, folder, *, by_content=False):
    ledger.files = {}
    for path, (lines, time) in folder.items():
        time = 0 if by_content else time
        # A file that changed within its size has another time at least.
        ledger.write(path, *lines, time=(time << 32) + zlib.crc32("\n".join(lines).encode()))


def contents(ledger):
    return list(
        ledger.connection.execute(
            "SELECT identity, source_file, row_number, amount, memo FROM transactions "
            "WHERE tool_id = ? AND removal IS NULL ORDER BY identity",
            (ledger.tool,),
        )
    )


@settings(max_examples=8, deadline=None)
@given(st.lists(FOLDERS, min_size=1, max_size=4))
@example(  # a row gets the amount of its neighbour without ID, whose file is deleted
    [{"1.csv": ([line("a", -2), _WITHOUT_ID], 1)}, {"2.csv": ([f"{_WITHOUT_ID}a"], 2)}]
)
@example(  # a row without ID looks like two IDs, of which the ledger knows one
    [
        {"1.csv": ([line("a", -2)], 1), "2.csv": ([_WITHOUT_ID], 3)},
        {"1.csv": ([f"{_WITHOUT_ID}a"], 1)},
        {"2.csv": ([line("", -1, memo="x"), line("a", -2)], 3), "3.csv": ([f"{_WITHOUT_ID}b"], 1)},
    ]
)
def test_importing_the_same_files_again_changes_nothing(folders):
    ledger = FilledLedger()
    for folder in folders:
        fill(ledger, folder)
        ledger.import_()
        before = contents(ledger)
        touched = {f"x{path}": value for path, value in folder.items()}
        for again in (folder, touched, folder):
            fill(ledger, again)
            report = ledger.import_()
            assert report.imported == report.updated == report.deleted == 0
        assert contents(ledger) == before


@settings(max_examples=8, deadline=None)
@given(st.lists(FOLDERS, min_size=2, max_size=4))
@example(  # a row goes on as one that only a former file has
    [
        {"1.csv": ([_WITHOUT_ID], 1), "2.csv": ([f"{_WITHOUT_ID}b"], 1)},
        {"1.csv": ([f"{_WITHOUT_ID}a"], 1)},
    ]
)
@example(  # a row loses its ID in a file that has a bad row now
    [
        {"2.csv": ([line("a", -1)], 1)},
        {"2.csv": ([_WITHOUT_ID, line("", "1.5")], 1)},
    ]
)
def test_after_replace_the_ledger_is_what_a_first_import_of_the_files_makes(folders):
    ledger, fresh = FilledLedger(), FilledLedger()
    for folder in folders:
        # A copy is as old as the first of its content that was ever there.
        fill(ledger, folder, by_content=True)
        ledger.import_()
    report = ledger.import_("replace")
    fill(fresh, folders[-1], by_content=True)
    assert fresh.import_().rows_read == report.rows_read
    wanted, found = Counter(contents(fresh)), Counter(contents(ledger))
    if report.failed:  # a damaged file keeps what it held before, whose IDs name rows of today
        assert found.total() >= report.without_file
    else:
        assert (found, report.without_file) == (wanted, 0)


def test_the_generator_makes_the_sample_to_the_byte(tmp_path):
    tool = ROOT / "docs" / "examples" / "household" / "household_sample.py"
    subprocess.run([sys.executable, str(tool), str(tmp_path)], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in SAMPLE.glob("*.csv")}
    assert sum(map(len, made.values())) < 200_000


def test_the_sample_is_read_whole_and_holds_every_quirk(ledger):
    for path in sorted(SAMPLE.glob("*.csv")):
        ledger.files[path.name] = (1, path.read_bytes())
    report = ledger.import_()
    assert [problem.file_path for problem in report.net_worth] == ["資産推移月次.csv"]
    assert (report.files, report.unread, report.failed, report.updated) == (25, (), (), 0)
    rows = ledger.rows()
    assert 24 * 45 <= len(rows) == report.imported
    assert len({(row.date.year, row.date.month) for row in rows}) == 24
    both = [row for row in rows if date(2025, 6, 25) <= row.date <= date(2025, 7, 24)]
    assert report.unchanged == len(both)
    assert {(row.is_target, row.is_transfer) for row in rows} == {
        (True, False), (False, False), (True, True), (False, True),
    }  # fmt: skip
    assert any(row.amount == 0 for row in rows)
    assert any(row.amount == -128_000 and "\n" in row.memo for row in rows)
    assert any("\n" in row.description for row in rows)
    assert any(row.amount > 0 and row.category_major == "食費" for row in rows)
    assert any(row.category_major == "未分類" for row in rows)
    assert any(row.category_major and not row.category_minor for row in rows)
    assert {letter for row in rows for letter in row.description} >= set("髙①㈱～ﾃﾞ")
    assert [row.date for row in rows if not row.mf_id] == [date(2024, 7, 20), date(2025, 7, 19)]
    zoo = [row for row in rows if "動物園" in row.description]
    assert len({row.mf_id for row in zoo}) == len(zoo) == 2
    furniture = [row for row in rows if row.amount == -18_700]
    assert [(row.date.day, row.account) for row in furniture] == [
        (7, "ピコペイ"),
        (8, "そらカード"),
    ]
    encodings = {data[:3] == b"\xef\xbb\xbf" for _, data in ledger.files.values()}
    assert encodings == {True, False}
