"""An update that reads only the files that a change can reach, against one that reads all."""

import calendar
from datetime import date

from hypothesis import example, given, settings
from hypothesis import strategies as st
from ledger_folder import LedgerFolder, line

STATEMENT = "(SELECT path || content_hash FROM ledger_statements AS s WHERE s.id = {0})"
STATE = (
    "SELECT identity, source_file, row_number, date, amount, description, account, removal, "
    f"{STATEMENT.format('statement_id')}, {STATEMENT.format('removed_by')} "
    "FROM transactions ORDER BY identity",
    "SELECT path, content_hash, mtime_ns, days, accounts, is_whole, seen, "
    f"{STATEMENT.format('o.kin')} FROM ledger_statements AS o ORDER BY path, content_hash",
    "SELECT * FROM ledger_files ORDER BY path",
    "SELECT without_file FROM ledger_versions",
)


class Opened(LedgerFolder):
    """A folder that can be read anew, and compared."""

    def forget_version(self):
        """Let the next import read every file."""
        self.connection.execute("UPDATE ledger_files SET app_version = ''")

    def contents(self):
        return {path: data for path, (_, data) in self.files.items()}

    def state(self):
        return [self.connection.execute(sql).fetchall() for sql in STATE]


def month_of(number):
    last = calendar.monthrange(2025, number)[1]
    return f"収入・支出詳細_2025-{number:02}-01_2025-{number:02}-{last}"


def filled(months):
    folder = Opened()
    for number in months:
        rows = [line(f"{number}x{n}", day=f"2025/{number:02}/{n:02}") for n in range(1, 6)]
        folder.write(f"{month_of(number)}.csv", *rows)
    folder.import_()
    return folder


def test_a_changed_row_opens_its_own_file_only():
    folder = filled(range(1, 7))
    rows = [line(f"3x{n}", day=f"2025/03/{n:02}", amount=-100 - n) for n in range(1, 6)]
    folder.write(f"{month_of(3)}.csv", *rows, saved=date(2025, 9, 1))
    report = folder.import_()
    assert folder.reads == [f"{month_of(3)}.csv"]
    assert (report.updated, report.unchanged, report.rows_read) == (5, 25, 30)


ROWS = st.lists(
    st.tuples(st.integers(1, 12), st.integers(1, 4), st.integers(1, 3), st.sampled_from("AB")),
    max_size=6,
)
"""ID, month of the row, amount, and account."""
FILES = st.tuples(
    st.integers(1, 4), st.sampled_from(["", " (1)", " 抜粋", "b"]), ROWS, st.integers(1, 20)
)
"""Month of the name, what follows it, rows, and the day of September when it was saved."""


def put(folder, written, number=0):
    """Write a file; its time tells ``number``: a size and a time stand for a content."""
    month, ending, rows, saved = written
    lines = [
        line(f"i{number}", day=f"2025/{when:02}/{1 + number % 9:02}", amount=-amount, account=whose)
        for number, when, amount, whose in rows
    ]
    name = f"明細{month}" if ending == "b" else f"{month_of(month)}{ending}"
    folder.write(f"{name}.csv", *lines, saved=date(2025, 9, saved))
    time, data = folder.files[f"{name}.csv"]
    folder.files[f"{name}.csv"] = (time + number, data)


@settings(max_examples=8)
@given(st.lists(FILES, min_size=3, max_size=6), st.lists(FILES, min_size=1, max_size=4))
@example(  # a file that may be an old copy moves a row into a month without any
    [(1, "", [], 1), (2, "", [], 1), (1, "", [(1, 1, 1, "A"), (2, 3, 1, "A")], 1)],
    [(1, " 抜粋", [(1, 2, 1, "A")], 1)],
)
def test_the_ledger_is_the_same_as_if_every_file_was_read(first, later):
    folder, control = Opened(), Opened()
    for one in first:
        put(folder, one)
        put(control, one)
    assert folder.import_() == control.import_()
    for number, one in enumerate(later, 1):
        before = folder.contents()
        put(folder, one, number)
        put(control, one, number)
        report = folder.import_()
        if folder.contents() != before:  # else only times changed
            control.forget_version()
        assert report == control.import_()
        assert folder.state() == control.state()
