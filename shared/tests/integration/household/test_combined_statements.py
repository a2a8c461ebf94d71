"""Which file is newer, which rows are the same, and which decisions stay when files change."""

from collections import Counter
from datetime import date

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ledger_folder import HEADER, JULY, LedgerFolder, line
from table_of_cases import each

from mdvec.database import migrations
from mdvec.files.problems import Problem
from mdvec.household import deciding
from mdvec.household import review as duplicate_review
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.core.statements import StatementName, statement_name
from mdvec.household.deciding import ReviewDecision
from mdvec.household.interfaces.ledger_statements import DaysInDoubt

JULY_11, AUGUST_10, AUGUST_20 = date(2025, 7, 11), date(2025, 8, 10), date(2025, 8, 20)
DAYS = [line(f"day{n}", -n, f"2025/07/{n:02}") for n in range(10, 31)]


@each(
    ("path", "name"),
    [
        ("x.csv", StatementName("x", 0, "", "")),
        ("sub/x (12).CSV", StatementName("sub/x", 12, "", "")),
        ("enavi202508(1234) (1).csv", StatementName("enavi202508(1234)", 1, "", "")),
        ("enavi202508(1234).csv", StatementName("enavi202508(1234)", 0, "", "")),
        (f"{JULY}.csv", StatementName(JULY, 0, "2025-07-01", "2025-07-31")),
        (f"{JULY}（2）.csv", StatementName(JULY, 2, "2025-07-01", "2025-07-31")),
        ("2025-07-01_2025-07-31(1).csv",
         StatementName("2025-07-01_2025-07-31", 1, "2025-07-01", "2025-07-31")),
        ("x_2025-07-31_2025-07-01.csv", StatementName("x_2025-07-31_2025-07-01", 0, "", "")),
        ("x_2025-07-01_2025-07-31_食費.csv",
         StatementName("x_2025-07-01_2025-07-31_食費", 0, "", "")),
        ("12025-07-01_2025-07-31.csv", StatementName("12025-07-01_2025-07-31", 0, "", "")),
    ],
)  # fmt: skip
def test_a_name_has_a_period_and_a_number(path, name):
    assert statement_name(path) == name


OLDER_THAN_ITS_TIME = {
    "number": (f"{JULY}.csv", [], f"{JULY} (1).csv", []),
    "latest row": (f"sub/{JULY}.csv", DAYS[:1], f"{JULY}.csv", DAYS[:2]),
    "other period": (
        f"{JULY}.csv", DAYS[:1], "収入・支出詳細_2025-06-25_2025-07-24.csv", DAYS[:2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", OLDER_THAN_ITS_TIME)
@pytest.mark.parametrize("mode", ["update", "replace"])
def test_touching_an_old_file_does_not_restore_old_values(folder, why, mode):
    old, old_rows, new, new_rows = OLDER_THAN_ITS_TIME[why]
    folder.write(old, line("a", -1), *old_rows, saved=AUGUST_20)
    folder.write(new, line("a", -2), *new_rows, saved=AUGUST_10)
    report = folder.import_(mode)
    assert folder.amounts()["店a"] == -2
    said = "its time is later than that of {}, which {}, so that file takes precedence"
    expected: Problem = DaysInDoubt.of(old, said.format(new, "has rows of later days"))
    if why == "number":
        expected = Problem(old, said.format(new, "has the higher number"))
    assert report.overruled == (expected,)


def test_an_old_file_that_replaces_a_newer_one_changes_nothing(folder):
    folder.write(f"{JULY}.csv", line("a", -2), *DAYS, saved=AUGUST_10)
    folder.import_()
    before = folder.amounts()
    folder.write(f"{JULY}.csv", line("a", -1), *DAYS[:-3], saved=AUGUST_20)
    report = folder.import_()
    assert (folder.amounts(), report.removed, report.asked) == (before, (), ())
    said = "its former content had rows of later days, so that takes precedence until you "
    said += "import with --mode replace"
    assert report.overruled == (DaysInDoubt.of(f"{JULY}.csv", said),)
    assert folder.import_("replace").overruled == ()
    assert folder.amounts()["店a"] == -1


@each(
    ("path", "copy"),
    [(f"{JULY}.csv", ""), ("export.csv", ""), (f"{JULY}.csv", f"old/{JULY}.csv"),
     ("export.csv", "copy.csv")],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["update", "replace"])
@pytest.mark.parametrize("times", [(1, 2, 3, 4), (2, 3, 2, 3), (2, 1, 2, 1)])
def test_an_undone_change_is_imported_also_with_an_old_time(times, mode, path, copy):
    """What a path holds counts, as from a backup; a copy is as old as the first of its content."""
    folder = LedgerFolder()
    for day, amount in zip(times, [-1, -2, -1, -2], strict=True):
        folder.write(path, line("a", amount), *DAYS, saved=date(2025, 8, day))
        if copy:
            folder.write(copy, line("a", -1), *DAYS, saved=date(2025, 7, 31))
        folder.import_(mode)
        assert folder.amounts()["店a"] == amount
        report = folder.import_(mode)
        assert (report.imported, report.updated, report.overruled) == (0, 0, ())


@pytest.mark.parametrize("mode", ["update", "replace"])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_file_that_is_moved_onto_a_path_counts_before_what_was_there(folder, mode, at_once):
    folder.write("new.csv", line("a", -1), *DAYS, saved=AUGUST_10 if at_once else AUGUST_20)
    if not at_once:
        folder.import_()
    folder.write("export.csv", line("a", -2), *DAYS, saved=AUGUST_20 if at_once else AUGUST_10)
    folder.import_()
    folder.files["export.csv"] = folder.files.pop("new.csv")
    folder.import_(mode)
    assert folder.amounts()["店a"] == -1
    report = folder.import_(mode)
    assert (report.imported, report.updated) == (0, 0)


@pytest.mark.parametrize("accept", [False, True])
@pytest.mark.parametrize("mf_id", ["a", ""])
@pytest.mark.parametrize("rows", [5, 30])
def test_rows_of_a_shortened_file_return_with_its_backup(folder, accept, mf_id, rows):
    whole = [line(f"{mf_id and n}", -n - 1, "2025/07/05") for n in range(rows)]
    folder.write(f"{JULY}.csv", *whole, *DAYS, saved=AUGUST_10)
    folder.import_()
    before, backup = folder.amounts(), dict(folder.files)
    folder.write(f"{JULY}.csv", *DAYS, saved=AUGUST_20)
    report = folder.import_(accept=accept)
    assert len(report.removed) + len(report.asked) == rows
    folder.files = backup
    report = folder.import_()
    assert (report.removed, report.asked, report.overruled) == ((), (), ())
    assert folder.amounts() == before
    assert folder.import_("replace").updated == 0
    folder.files = {}
    folder.import_()
    assert folder.amounts() == before


@pytest.mark.parametrize("decision", ["duplicate", "not_duplicate", "skip"])
@pytest.mark.parametrize("away", [["a.csv"], ["b.csv"], ["a.csv", "b.csv"]])
def test_a_decision_survives_a_rebuild_without_the_file_and_its_return(folder, away, decision):
    folder.write("a.csv", line("a", -18700, shop="家具店"))
    folder.write("b.csv", line("b", -18700, shop="家具店", account="カード"))
    folder.write("c.csv", line("c"))
    folder.import_()
    duplicate_review.detect(folder.ledger, DetectionOptions())
    deciding.confirm(folder.ledger, 1, ReviewDecision(decision))
    wanted = state(folder)
    assert (wanted["marks"] == [("b", 1)]) == (decision == "duplicate")
    files = dict(folder.files)
    for mode in ("update", "replace"):
        for path in away:
            folder.files.pop(path, None)
        folder.import_("replace")
        assert state(folder)["pairs"] == []
        folder.files = dict(files)
        folder.import_(mode)
        assert state(folder) == wanted
    assert duplicate_review.detect(folder.ledger, DetectionOptions()).new_count == 0


def test_a_ledger_of_the_format_before_its_rows_were_stored_goes_on_as_it_was(folder):
    folder.write("deleted.csv", line("old", -9), line("", -3), saved=JULY_11)
    folder.write(f"{JULY}.csv", line("a", -1), line("b", -2))
    folder.write(f"{JULY} (1).csv", line("a", -4), line("c", -5), saved=AUGUST_20)
    folder.import_()
    del folder.files["deleted.csv"]
    folder.import_()
    rows_before = ledger(folder)
    run = folder.connection.execute
    run("DROP TABLE statement_rows")
    run("DROP TABLE account_doubts")
    for column in ("account_number", "scope", "kind"):
        run(f"ALTER TABLE ledger_statements DROP COLUMN {column}")
    run("UPDATE transactions SET statement_id = NULL WHERE mf_id = 'old'")
    for column in ("category_major", "category_minor"):
        run(f"ALTER TABLE row_notes DROP COLUMN {column}")
    run("ALTER TABLE dataset_tables DROP COLUMN reading")
    run("ALTER TABLE dataset_files DROP COLUMN sheet")
    run("PRAGMA user_version = 20")
    migrations.migrate(folder.connection)
    assert ledger(folder) == rows_before
    report = folder.import_()
    assert (report.imported, report.updated, report.deleted) == (0, 0, 0)
    assert ledger(folder) == rows_before
    folder.write(f"{JULY} (2).csv", line("a", -4), line("b", -2), saved=date(2025, 8, 21))
    assert [row.id for row in folder.import_().removed] == [folder.row_id("c")]
    assert sorted(rows(folder)) == [-9, -4, -3, -2]


def ledger(folder):
    return folder.connection.execute(
        "SELECT id, identity, amount, removal, source_file, row_number FROM transactions"
    ).fetchall()


def state(folder):
    run = folder.connection.execute
    return {
        "rows": run("SELECT id, identity FROM transactions ORDER BY id").fetchall(),
        "marks": run("SELECT mf_id, duplicate_of FROM transactions WHERE is_duplicate").fetchall(),
        "pairs": run(
            "SELECT id, transaction_id_1, transaction_id_2, user_decision, similarity_score, "
            "decided_at FROM duplicate_checks"
        ).fetchall(),
    }


@pytest.mark.parametrize("first", ["with.csv", "without.csv"])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_row_without_id_and_the_same_with_one_are_one(folder, first, at_once):
    files = {
        "with.csv": [line("a", -5), line("b", -5), line("c", -7)],
        "without.csv": [line("", -5), line("", -5), line("", -9)],
    }
    for path in sorted(files, key=lambda path: path != first):
        folder.write(path, *files[path])
        if not at_once:
            folder.import_()
    folder.import_()
    assert sorted(rows(folder)) == [-9, -7, -5, -5]
    for mode in ("replace", "update"):
        folder.import_(mode)
        assert sorted(rows(folder)) == [-9, -7, -5, -5]


def test_a_row_without_id_beside_the_same_with_one_in_one_file_is_another_purchase(folder):
    folder.write("a.csv", line("a"), line(""))
    folder.import_()
    folder.write("b.csv", line("a"), line(""), line(""))
    folder.import_()
    assert rows(folder) == [-100] * 3


def rows(folder):
    found = folder.connection.execute("SELECT amount FROM transactions WHERE removal IS NULL")
    return [amount for (amount,) in found]


@pytest.mark.parametrize("name", ["new.csv", f"{JULY} (1).csv"])
def test_an_edited_row_with_id_does_not_take_the_place_of_its_neighbour_without(folder, name):
    folder.write(f"{JULY}.csv", line("x5", -200), line("", -200), line("y", -1))
    folder.import_()
    folder.write(name, line("x5", -250), line("", -200), line("y", -1), saved=AUGUST_20)
    for mode in ("update", "replace"):
        folder.import_(mode)
        assert sorted(rows(folder)) == [-250, -200, -1]


@each(
    ("before", "edited"),
    [
        ({"x": -200, "y": -200}, {"x": -250, "y": -200}),
        ({"x": -200, "y": -200}, {"x": -200, "y": -250}),
        ({"x": -200}, {"x": -250, "y": -200}),
        ({"x": -200, "y": -250}, {"x": -250, "y": -250, "z": -200}),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_no_row_without_id_takes_the_place_of_another_that_an_edit_made_alike(
    before, edited, at_once
):
    """Two rows of one file that look like one edited row were one, and the other's money lost."""
    folder = LedgerFolder()
    exports = (before, True), (edited, True), (edited, False)
    for number, (world, has_ids) in enumerate(exports):
        lines = [line(mf_id if has_ids else "", amount) for mf_id, amount in world.items()]
        of_bank = line("b" if has_ids else "", -1, account="架空銀行")
        folder.write(f"{number}/{JULY}.csv", *lines, of_bank, saved=date(2025, 8, 10 + number))
        if not at_once:
            folder.import_()
    for mode in ("update", "replace"):
        folder.import_(mode)
        assert sorted(rows(folder)) == sorted([*edited.values(), -1])


def test_what_replace_forgot_does_not_return(folder):
    folder.write("c.csv", line("", -200), line("", -200))
    folder.import_()
    folder.write("c.csv", line("x", -200), saved=AUGUST_20)
    folder.import_("replace")
    folder.files.clear()
    folder.import_()
    assert rows(folder) == [-200]


def test_rows_keep_ids_and_notes_when_the_file_with_their_ids_left_an_older_ledger(folder):
    folder.write("with.csv", line("x1", -200), line("x2", -300))
    folder.import_()
    folder.write("without.csv", line("", -200), line("", -300), saved=AUGUST_20)
    folder.import_()
    del folder.files["with.csv"]
    folder.import_()
    ids = [row[0] for row in ledger(folder)]
    run = folder.connection.execute
    run("DELETE FROM statement_rows")  # as the format before had it: what the ledger has now
    run(
        "INSERT INTO statement_rows SELECT id, statement_id, identity, 0, row_number, date, amount,"
        " description, category_major, category_minor, account, memo, is_target, is_transfer, "
        "mf_id, NULL, 0 FROM transactions"
    )
    run("UPDATE ledger_files SET app_version = ''")
    report = folder.import_()
    assert (report.imported, report.deleted, [row[0] for row in ledger(folder)]) == (0, 0, ids)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.sampled_from([-1, -2, -3]), max_size=6),
    st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 6)), max_size=4),
    st.booleans(),
)
def test_files_with_and_without_ids_of_one_ledger_count_each_purchase_once(truth, files, at_once):
    """Each file is a section of the ledger; a file has all of its IDs or none."""
    folder = LedgerFolder()
    truth = sorted(truth)
    covered = set()
    for number, (has_ids, one, other) in enumerate(files):
        # All purchases of an amount, or none: that is what days do.
        low, high = sorted((one % 4 - 3, other % 4 - 3))
        part = [(n, amount) for n, amount in enumerate(truth) if low <= amount <= high]
        lines = [line(f"id{n}" if has_ids else "", amount) for n, amount in part]
        covered |= set(part)
        folder.write(f"{number}.csv", *lines)
        if not at_once:
            folder.import_()
    report = folder.import_()
    # Files that may be of two accounts both count, and the report asks.
    twice = Counter(rows(folder))
    twice.subtract(amount for _, amount in covered)
    assert min(twice.values(), default=0) >= 0
    assert report.account_doubts or not twice.total()


BLOCKS = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([-1, -2, -3])), max_size=5),
    min_size=1,
    max_size=3,
)


@settings(max_examples=20, deadline=None)
@given(st.lists(BLOCKS, min_size=1, max_size=3), st.booleans())
def test_the_last_block_with_an_id_determines_the_parts_of_its_purchase(files, at_once):
    assume(all(files.count(blocks) == 1 for blocks in files))  # a copy is as old as its original
    folder = LedgerFolder()
    wanted: dict[str, set[tuple[str, int]]] = {}
    for number, blocks in enumerate(files, 1):
        text = ""
        for block in blocks:
            text += "\r\n".join([HEADER, *[line(name, amount) for name, amount in block], ""])
            wanted |= {
                name: {(name, amount) for of, amount in block if of == name} for name, _ in block
            }
        folder.put(f"{number}.csv", text, saved=date(2025, 8, number))
        if not at_once:
            folder.import_()
    folder.import_()
    for mode in ("update", "replace"):
        folder.import_(mode)
        found = folder.connection.execute(
            "SELECT mf_id, amount FROM transactions WHERE removal IS NULL"
        ).fetchall()
        assert sorted(found) == sorted(row for rows in wanted.values() for row in rows)


def test_a_file_that_replaces_rows_of_the_same_days_by_its_time_alone_is_named(folder):
    folder.write(f"{JULY}.csv", line("a", -500), line("b", -70, "2025/07/31"))
    assert folder.import_().by_time == ()
    backup = f"old/{JULY}.csv"
    rows = (line("a", -300), line("b", -70, "2025/07/31"))
    folder.write(backup, *rows, saved=date(2025, 9, 1))
    (named,) = folder.import_().by_time
    assert (named.file_path, f"days of {JULY}.csv" in named.reason) == (backup, True)
    assert sorted(folder.amounts().values()) == [-300, -70]
    assert folder.import_().by_time == ()
    del folder.files[backup]
    folder.import_("replace")
    assert sorted(folder.amounts().values()) == [-500, -70]


PERIODS = ("2025-07-01_2025-07-31", "2025-08-01_2025-08-31", "2025-07-15_2025-08-14")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dates(date(2025, 7, 1), date(2025, 8, 31)), min_size=1, max_size=6),
    st.dictionaries(
        st.dates(date(2025, 6, 25), date(2025, 9, 5)), st.sampled_from(PERIODS),
        min_size=1, max_size=6,
    ),
)  # fmt: skip
@example(
    [date(2025, 7, 1), date(2025, 8, 27)],
    {date(2025, 7, 28): PERIODS[0], date(2025, 7, 29): PERIODS[1], date(2025, 7, 30): PERIODS[1]},
)
def test_each_row_is_that_of_the_last_saved_file_of_its_day_also_of_days_to_come(days, saves):
    folder = LedgerFolder()
    wanted: dict[str, int] = {}
    for number, (saved, period) in enumerate(sorted(saves.items()), 1):
        first, last = map(date.fromisoformat, period.split("_"))
        edited = {f"id{n}": day for n, day in enumerate(days) if first <= day <= last}
        rows = [line(mf_id, -number, f"{day:%Y/%m/%d}") for mf_id, day in edited.items()]
        folder.write(f"収入・支出詳細_{period}.csv", *rows, saved=saved)
        wanted |= {f"店{mf_id}": -number for mf_id in edited}
        folder.import_()
        assert folder.amounts() == wanted
