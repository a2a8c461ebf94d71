"""Rows that were deleted in Money Forward: the newest file of their day no longer has them."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_folder import HEADER, JULY, LedgerFolder, at_noon, line

from mdvec.dates.months import Month, MonthRange
from mdvec.household import deciding, review
from mdvec.household.comparison import compare_periods
from mdvec.household.core.pair import DetectionOptions
from mdvec.household.core.sums import REASONS
from mdvec.household.deciding import ReviewDecision
from mdvec.household.interfaces.ledger_sums import counts, counts_unless_decided, left_out
from mdvec.household.month import combined_households, monthly_household
from mdvec.household.notes import list_notes, note_row
from mdvec.household.trend import category_trend, category_trend_summary

JULY_31, AUGUST_20 = date(2025, 7, 31), date(2025, 8, 20)
A, B = line("a", -500), line("b", -3200, "2025/07/05")


@pytest.mark.parametrize("name", [f"{JULY}.csv", f"{JULY} (1).csv", f"{JULY}(1).csv"])
@pytest.mark.parametrize("mode", ["update", "replace"])
@pytest.mark.parametrize("gone", ["a", "b"])
def test_a_row_that_the_newer_file_lacks_leaves_the_sums_and_stays_in_the_ledger(
    folder, name, mode, gone
):
    folder.write(f"{JULY}.csv", A, B)
    folder.import_()
    folder.write(name, B if gone == "a" else A, line("c"), saved=AUGUST_20)
    report = folder.import_(mode)
    assert [(row.path, row.missing_from) for row in report.removed] == [(f"{JULY}.csv", name)]
    assert folder.amounts().keys() == {"店a", "店b", "店c"} - {f"店{gone}"}
    assert (report.asked, report.deleted) == ((), 0)
    again = folder.import_()
    assert (again.removed, again.imported, again.updated) == ((), 0, 0)


def test_what_the_user_said_of_rows_stays_with_them_when_an_account_has_new_ids(folder):
    """Also of two equal rows; where one of them is gone, with the first."""
    bought = [(f"2025/07/{n:02}", f"店{n}") for n in range(1, 8)]
    bought += [("2025/07/20", "茶")] * 2 + [("2025/07/21", "宿")] * 2
    july = [line(f"old{n}", -500, day, shop=shop) for n, (day, shop) in enumerate(bought)]
    folder.write(f"{JULY}.csv", *july, line("card", -500, "2025/07/03", "店3 本店", "カード"))
    folder.import_()
    ids = {row.row_number - 2: row.id for row in folder.rows()}
    for n in (0, 7, 8, 9):
        note_row(folder.ledger, transaction_id=ids[n], note=f"メモ{n}", tags=["医療費控除"])
    review.detect(folder.ledger, DetectionOptions(min_similarity_score=0), by_user=True)
    (pair,) = (
        each.check_id
        for each in review.list_candidates(folder.ledger, limit=50).candidates
        if {each.transaction_1.id, each.transaction_2.id} == {ids[2], ids[11]}
    )
    deciding.confirm(folder.ledger, pair, ReviewDecision("duplicate", ids[11]))
    again = [row.replace("old", "new") for row in july[:-1]]
    folder.write(f"{JULY} (1).csv", *again, "1,2025/07/03,店3 本店,-500,カード,食費,食料品,,0,card",
                 saved=AUGUST_20)  # fmt: skip
    for mode in ("update", "update", "replace"):
        folder.import_(mode)
        rows = {row.id: row for row in folder.rows()}
        told = {each.row.id: each.row.counts for each in list_notes(folder.ledger).rows}
        assert told == {ids[0]: True, ids[7]: True, ids[8]: True, ids[9]: True}
        assert (rows[ids[2]].left_out, rows[ids[11]].counts) == ("duplicate", True)
        assert sum(row.counts for row in rows.values()) == len(july) - 1


def test_the_answers_on_a_month_report_removed_rows(folder):
    folder.write(f"{JULY}.csv", A, B, line("i", 9000, "2025/07/06").replace("食費", "収入"))
    folder.write(f"{JULY} (1).csv", A, saved=AUGUST_20)
    folder.import_()
    answer = monthly_household(folder.as_of(AUGUST_20), period="2025年7月")
    note = "新しい明細から消えた 2件（支出 3,200円、収入 9,000円）は集計していません"
    assert (answer.spending, answer.income, answer.counts.removed) == (500, 0, 2)
    assert note in answer.notes
    assert [row.left_out for row in answer.rows] == [None, "removed", "removed"]
    ledger = folder.as_of(AUGUST_20)
    compared = compare_periods(ledger, period="2025年7月", base="2025年7月")
    together = combined_households({"kakeibo": ledger}, period="2025年7月")
    counts = "※ 集計に使った明細は 1件、除いた明細は 2件（明細から消えたもの 2件）です。"
    for one in (compared, together):
        assert note in one.notes
        assert one.counts == answer.counts
        assert counts in one.text
    trend = category_trend(folder.as_of(AUGUST_20), category="食費")
    assert trend.months == MonthRange(Month(2025, 7), Month(2025, 7))
    assert "新しい明細から消えた 1件（支出 3,200円）は集計していません" in trend.notes
    assert note in category_trend(folder.as_of(AUGUST_20), category="貯蓄率").notes


WEAK = {
    "no period in the name": ("7月.csv", [A], AUGUST_20),
    "an excerpt": (f"{JULY}_食費.csv", [A], AUGUST_20),
    "another period": ("収入・支出詳細_2025-06-06_2025-07-04.csv", [A], AUGUST_20),
    "saved on that very day": (f"{JULY} (1).csv", [A], date(2025, 7, 5)),
    "a bad row": (f"{JULY} (1).csv", [A, line("x", "-1.5")], AUGUST_20),
    "no row of that account": (f"{JULY} (1).csv", [line("c", account="銀行")], AUGUST_20),
    "another person's": (f"{JULY} (1).csv", [line("z1"), line("z2")], AUGUST_20),
    "no rows": (f"{JULY} (1).csv", [], AUGUST_20),
    "no such day": ("収入・支出詳細_2025-07-01_2025-07-32.csv", [A], AUGUST_20),
}


@pytest.mark.parametrize("why", WEAK)
def test_weak_evidence_removes_nothing(folder, why):
    name, lines, saved = WEAK[why]
    folder.write("全期間.csv", A, B, saved=date(2025, 7, 5))
    folder.import_()
    folder.write(name, *lines, saved=saved)
    report = folder.import_()
    assert (report.removed, report.asked) == ((), ())
    assert folder.amounts()["店b"] == -3200


def test_the_last_row_of_an_account_is_asked_about_where_its_own_download_lacks_it(folder):
    """Deleted, or of an account that is no longer linked: nothing tells which."""
    cash = line("cash", -700, "2025/07/02", account="財布2")
    folder.write(f"{JULY}.csv", A, cash)
    folder.import_()
    folder.write("収入・支出詳細_2025-06-25_2025-07-24.csv", A, saved=AUGUST_20)
    assert folder.import_().asked == ()
    folder.write(f"{JULY} (1).csv", A, saved=AUGUST_20)
    report = folder.import_()
    assert [row.missing_from for row in report.asked] == [f"{JULY} (1).csv"]
    assert (report.removed, folder.amounts()["店cash"]) == ((), -700)
    assert len(folder.import_(accept=True).removed) == 1
    assert "店cash" not in folder.amounts()
    folder.import_(keep=(folder.row_id("cash"),))
    for mode in ("update", "replace"):
        assert folder.import_(mode).asked == ()
        assert folder.amounts()["店cash"] == -700


def test_of_two_files_with_one_time_neither_shows_the_others_rows_gone(folder):
    # A folder was copied: the one file ends later, because its period does.
    folder.write("収入・支出詳細_2025-06-25_2025-07-24.csv", A, B, line("c", -1, "2025/07/24"))
    folder.write(f"{JULY}.csv", A, line("d", -1, "2025/07/31"))
    for mode in ("update", "replace"):
        report = folder.import_(mode)
        assert (report.removed, report.asked) == ((), ())
        assert folder.amounts().keys() == {"店a", "店b", "店c", "店d"}
    folder.write(f"{JULY} (1).csv", A, line("d", -2, "2025/07/31"), saved=AUGUST_20)
    assert len(folder.import_().removed) == 2


def test_a_restored_row_stays_and_a_row_in_a_newer_file_returns(folder):
    folder.write(f"{JULY}.csv", A, B, line("c"))
    folder.write(f"{JULY} (1).csv", A, saved=AUGUST_20)
    assert len(folder.import_().removed) == 2
    report = folder.import_(keep=(folder.row_id("b"),))
    assert ([row.amount for row in report.returned], report.removed) == ([-3200], ())
    assert folder.amounts().keys() == {"店a", "店b"}
    folder.write(f"{JULY} (2).csv", A, line("c"), saved=AUGUST_20 + timedelta(1))
    report = folder.import_()
    assert ([row.amount for row in report.returned], report.removed) == ([-100], ())
    for mode in ("update", "replace"):
        folder.import_(mode)
        assert folder.amounts().keys() == {"店a", "店b", "店c"}


@pytest.mark.parametrize("time", [-(2**63), -1, 0, 2**63 - 1])
def test_a_file_with_an_impossible_time_is_imported_and_shows_nothing(folder, time):
    folder.write("all.csv", A, B)
    folder.import_()
    folder.write(f"{JULY} (1).csv", A)
    _, data = folder.files[f"{JULY} (1).csv"]
    folder.files[f"{JULY} (1).csv"] = (time, data)
    assert folder.import_().removed == ()
    assert folder.amounts().keys() == {"店a", "店b"}


def many(first, last):
    return [line(f"id{n}", -n, f"2025/07/{1 + n % 28:02}") for n in range(first, last)]


@pytest.mark.parametrize(
    ("left", "of", "asks"), [(21, 100, True), (20, 99, False), (21, 105, False)]
)
def test_many_removals_in_a_month_await_consent(folder, left, of, asks):
    folder.write(f"{JULY}.csv", *many(0, of))
    folder.import_()
    folder.write(f"{JULY} (1).csv", *many(left, of), saved=AUGUST_20)
    report = folder.import_()
    assert (len(report.asked), len(report.removed)) == ((left, 0) if asks else (0, left))
    assert len(folder.amounts()) == (of if asks else of - left)
    if asks:
        assert len(folder.import_().asked) == left
        folder.write(f"{JULY} (2).csv", *many(left, of), saved=AUGUST_20)
        assert (len(folder.import_().asked), len(folder.amounts())) == (left, of)
        report = folder.import_(accept=True)
        assert (len(report.removed), report.asked) == (left, ())
        assert len(folder.amounts()) == of - left


@pytest.mark.parametrize("path", ["export.csv", "backup/export.csv"])
@pytest.mark.parametrize("mode", ["update", "replace"])
def test_an_old_copy_with_a_newer_time_is_named_before_it_changes_many_rows(folder, path, mode):
    later = [line("x", -7, "2025/07/30"), line("y", -7, "2025/07/31")]
    folder.write("export.csv", *many(0, 30), *later)
    folder.import_()
    before = folder.amounts()
    old = [line(f"id{n}", -n - 1000, f"2025/07/{1 + n % 28:02}") for n in range(30)]
    folder.write(path, *old, saved=AUGUST_20)
    if (path, mode) == ("export.csv", "replace"):  # which forgets what no file has
        before = {shop: amount for shop, amount in before.items() if shop not in ("店x", "店y")}
    for _ in range(2):
        report = folder.import_(mode)
        (held,) = report.overruled
        assert (held.file_path, report.updated, folder.amounts()) == (path, 0, before)
        assert "may be an old copy" in held.reason
        assert "would change 30 rows, which stay" in held.reason
        folder.write("other.csv", line(f"other{_}", -1, "2025/07/29"))
        before |= {f"店other{_}": -1}
    report = folder.import_(accept=True)
    assert (report.overruled, folder.amounts()["店id3"]) == ((), -1003)
    folder.write("third.csv", line("third", -1, "2025/07/29"))
    report = folder.import_(mode)
    assert (report.overruled, folder.amounts()["店id3"]) == ((), -1003)


def test_pending_removals_count_and_the_answers_say_so(folder):
    folder.write(f"{JULY}.csv", line("kept", -5), *many(0, 30))
    folder.write(f"{JULY} (1).csv", line("kept", -5), saved=AUGUST_20)
    folder.import_()
    note = (
        "新しい明細から消えた 30件（支出 435円）を、確認待ちのため集計に含めています。"
        "外すには mdvec import -n kakeibo --mode update --accept-removals を実行してください"
    )
    answers: list[Callable[[], Any]] = [
        lambda: monthly_household(folder.as_of(AUGUST_20), period="2025年7月"),
        lambda: category_trend(folder.as_of(AUGUST_20), category="食費"),
        lambda: category_trend_summary(folder.as_of(AUGUST_20)),
    ]
    assert answers[0]().spending == 440
    for answer in answers:
        assert note in answer().notes
        assert note in answer().text
    income = monthly_household(folder.as_of(AUGUST_20), period="2025年7月", category="収入")
    assert note not in income.notes
    folder.import_(accept=True)
    assert answers[0]().spending == 5
    for answer in answers:
        assert "新しい明細から消えた 30件（支出 435円）は集計していません" in answer().notes
        assert note not in answer().notes


def test_every_question_leaves_out_the_same_rows(folder):
    flags = list(itertools.product([0, 1], [0, 1], [0, 1], [None, -5], ["", "食費"], REMOVALS))
    for number, (target, transfer, twice, amount, major, removal) in enumerate(flags):
        folder.connection.execute(
            "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, "
            "amount, description, category_major, category_minor, account, memo, is_target, "
            "is_transfer, is_duplicate, removal) VALUES (1, ?1, '', 'x', ?1, '2025-07-01', ?, "
            "'店', ?, '', '', '', ?, ?, ?, ?)",
            (number, amount, major, target, transfer, twice, removal),
        )
    rows = folder.rows()
    wanted = [row.id for row in rows if row.counts]
    assert len(wanted) == len(REMOVALS) - 1

    def ids(condition):
        found = folder.connection.execute(
            f"SELECT id FROM transactions AS t WHERE {condition} ORDER BY id"
        )
        return [row_id for (row_id,) in found]

    for condition in (counts(), counts("t"), f"{left_out()} IS NULL"):
        assert ids(condition) == wanted
    alone = [row.id for row in rows if replace(row, is_duplicate=False).counts]
    assert ids(counts_unless_decided("t")) == alone
    reasons = folder.connection.execute(f"SELECT {left_out()} FROM transactions ORDER BY id")
    assert [reason for (reason,) in reasons] == [row.left_out for row in rows]
    assert {row.left_out for row in rows} == {None, *REASONS}
    answer = monthly_household(folder.as_of(AUGUST_20), period="2025年7月")
    assert (answer.counts.used, answer.spending) == (len(wanted), 5 * len(wanted))


REMOVALS = [None, "asked", "kept", "removed"]


@dataclass
class History:
    """Money Forward's data day by day, and the files downloaded from it."""

    folder: LedgerFolder = field(default_factory=LedgerFolder)
    truth: dict[str, tuple[date, int]] = field(default_factory=dict)
    said: dict[str, int] = field(default_factory=dict)
    today: date = date(2025, 7, 1)
    downloads: int = 0

    def buy(self, days_ago, amount):
        day = max(self.today - timedelta(days_ago), date(2025, 6, 20))
        self.truth[f"id{len(self.truth)}"] = (day, -1 - amount)

    def edit(self, which, amount):
        if self.truth:
            name = sorted(self.truth)[which % len(self.truth)]
            self.truth[name] = (self.truth[name][0], amount)

    def delete(self, which, _):
        if self.truth:
            name = sorted(self.truth)[which % len(self.truth)]
            self.truth[name] = (self.truth[name][0], 0)

    def wait(self, days, _):
        self.today += timedelta(days)

    def download(self, period, _, *, numbered=False, touched=None):
        self.downloads += 1
        first, last = PERIODS[period % len(PERIODS)]
        lines = []
        for n in range((min(last, self.today) - first).days + 1):
            day = first + timedelta(n)
            lines.append(line(f"daily{day}", -7, f"{day:%Y/%m/%d}", shop="毎日"))
        for name, (day, amount) in self.truth.items():
            if first <= day <= min(last, self.today):
                if amount:
                    lines.append(line(name, amount, f"{day:%Y/%m/%d}"))
                    self.said[name] = amount
                elif day < self.today:
                    self.said.pop(name, None)
        stem = f"収入・支出詳細_{first}_{last}"
        taken = [name for name in self.folder.files if name.startswith(stem)]
        number = f" ({len(taken)})" if numbered and taken else ""
        self.folder.write(f"{stem}{number}.csv", *lines, saved=touched or self.today)
        path = f"{stem}{number}.csv"
        mtime, data = self.folder.files[path]
        self.folder.files[path] = (mtime + self.downloads, data)

    def counted(self):
        return {
            name.removeprefix("店"): amount
            for name, amount in self.folder.amounts().items()
            if name.startswith("店")
        }


PERIODS = [
    (date(2025, 7, 1), date(2025, 7, 31)),
    (date(2025, 6, 25), date(2025, 7, 24)),
    (date(2025, 6, 1), date(2025, 7, 31)),
]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["buy", "buy", "edit", "delete", "wait", "download", "import"]),
        st.integers(0, 12),
        st.integers(0, 3),
    ),
    max_size=30,
)


@settings(max_examples=20, deadline=None)
@given(STEPS, st.booleans(), st.randoms(use_true_random=False))
def test_sums_are_those_of_the_newest_download_of_each_day(steps, numbered, chance):
    history = History()
    for step, one, other in [*steps, ("import", 0, 0)]:
        if step == "download":
            history.download(one, other, numbered=numbered)
        elif step == "import":
            files = list(history.folder.files.items())
            chance.shuffle(files)
            history.folder.files = dict(files)
            history.folder.import_(accept=True)
            if numbered and chance.random() < 0.3:
                history.folder.import_("replace", accept=True)
        else:
            getattr(history, step)(one, -1 - other if step == "edit" else other)
    # A day on which nothing else was bought shows no purse; the row of every day does.
    assert history.counted() == history.said
    if numbered:
        fresh = LedgerFolder(files=history.folder.files)
        fresh.import_(accept=True)
        assert fresh.amounts() == history.folder.amounts()


@settings(max_examples=15, deadline=None)
@given(STEPS, st.randoms(use_true_random=False))
def test_numbered_files_are_ordered_despite_their_times(steps, chance):
    history = History()
    for step, one, other in steps:
        if step == "download":
            history.download(0, other, numbered=True)
        elif step != "import":
            getattr(history, step)(one, -1 - other if step == "edit" else other)
    copied = date(2025, 12, 1)
    for path, (_, data) in history.folder.files.items():
        history.folder.files[path] = (at_noon(copied) + chance.randrange(10**9), data)
    history.folder.import_(accept=True)
    assert history.counted() == history.said


def test_in_a_joined_file_later_blocks_override_earlier_ones(folder):
    other = "ID,日付,金額（円）,内容,大項目"
    folder.put("joined.csv", "\r\n".join([
        HEADER, line("a", -1), line("b", -2), HEADER, line("b", -3),
        other, "c,2025/07/02,-4,店,食費", "a,2025/07/01,-5,店,食費", "a,2025/07/01,-6,店,食費", "",
    ]))  # fmt: skip
    report = folder.import_()
    assert (report.failed, report.imported) == ((), 4)
    rows = folder.connection.execute(
        "SELECT mf_id, amount FROM transactions ORDER BY mf_id, amount"
    ).fetchall()
    assert rows == [("a", -6), ("a", -5), ("b", -3), ("c", -4)]


def test_a_second_replace_changes_nothing_although_the_first_forgot_what_files_were(folder):
    """Neither the ranks of files nor what waits for an answer may hang on forgotten contents."""
    days = {n: line(f"id{n}", -n, f"2025/07/{n:02}") for n in range(1, 9)}
    folder.write("x.csv", *days.values(), saved=date(2025, 8, 11))
    folder.import_()
    folder.write(f"{JULY}.csv", days[2], days[4], saved=date(2025, 8, 13))
    folder.import_()
    folder.write("x.csv", days[1], days[2], days[3], saved=date(2025, 8, 10))
    folder.import_("replace")
    before = folder.amounts()
    assert folder.import_("replace").deleted == 0
    assert folder.amounts() == before
