"""The household's part of an import's report: the changes of its ledger."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from mdvec.files import Problem
from mdvec.household.core.moneyforward import KEPT
from mdvec.household.core.pair import CandidateCounts
from mdvec.household.interfaces.accounts import AccountDoubt, ListedAgain, RepeatedRows
from mdvec.household.interfaces.ledger_statements import OVERRULED, GoneRow, KnownFile
from mdvec.household.reading import StatementFile, may_have_rows
from mdvec.importing import ImportReport, ReportLine, notes
from mdvec.platform import shell_line
from mdvec.text import counted, shown_name

LedgerMode = Literal["update", "replace"]


@dataclass(frozen=True, slots=True)
class FailedRow:
    """A row that could not be read: its file, its first line, and why."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """The changes that an import made to the ledger; the names are those of its JSON."""

    # The files: those of statements, other ones, and those that could not be read.
    files: int = 0
    passed_over: tuple[Problem, ...] = ()
    unread: tuple[Problem, ...] = ()
    # The sum of the next four; a row with newer values in another file counts as unchanged.
    rows_read: int = 0
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: tuple[FailedRow, ...] = ()
    # How many rows of the ledger are in none of the files, and how many ``replace`` deleted.
    without_file: int = 0
    deleted: int = 0
    # Rows that left the sums, that are gone but count until the user decides, that count again.
    removed: tuple[GoneRow, ...] = ()
    asked: tuple[GoneRow, ...] = ()
    returned: tuple[GoneRow, ...] = ()
    # Files whose time is newer than their contents, and those read now that are newer than
    # another of the same days by their time alone.
    overruled: tuple[Problem, ...] = ()
    by_time: tuple[Problem, ...] = ()
    # Rows read now that their file's running balance contradicts; they are imported.
    misfits: tuple[FailedRow, ...] = ()
    # The asset histories and their months.
    net_worth: tuple[Problem, ...] = ()
    # Pairs of files that may be of one account, and rows that files share and that count once.
    account_doubts: tuple[AccountDoubt, ...] = ()
    repeated: tuple[RepeatedRows, ...] = ()
    # Files with equal rows below several headers, which all count; those read now whose count
    # once, as their balances are equal, too.
    listed_again: tuple[ListedAgain, ...] = ()
    listed_once: tuple[ListedAgain, ...] = ()
    # The files read now whose rows another file has under other IDs.
    linked_again: tuple[Problem, ...] = ()


def left_open(ledger: LedgerReport, tool_name: str) -> list[Problem]:
    """What list_sources says of files until another import: which rows no sum has, and why."""
    reasons: dict[str, list[str]] = {}
    for path, of_file in itertools.groupby(ledger.failed, lambda row: row.path):
        first, *others = of_file
        command = f"mdvec household map {shell_line(path)} -n {tool_name}"
        reasons[path] = [
            f"{counted(1 + len(others), 'row')} cannot be read, the first in line {first.line}: "
            f"{first.reason}; how the file is read: {command}"
        ]
    for each in ledger.overruled:
        if each.reason.endswith(OVERRULED):
            reasons.setdefault(each.file_path, []).append(each.reason)
    problems = [Problem(path, "; ".join(said)) for path, said in reasons.items()]
    return [*may_have_rows(ledger.passed_over), *problems]


def with_files(
    report: LedgerReport, known: Iterable[KnownFile], contents: Iterable[StatementFile]
) -> LedgerReport:
    """A report of changes, with the files whose rows are ``known`` and those that were read now."""
    files = sorted(known, key=lambda file: file.path)
    reads = sorted(contents, key=lambda read: read.file.path)
    others = [Problem(file.path, file.passed_over) for file in files if file.passed_over]
    failed = tuple(FailedRow(file.path, *bad) for file in files for bad in file.bad_rows)
    rows_read = sum(file.rows for file in files)
    return replace(
        report,
        files=sum(not file.passed_over for file in files),
        passed_over=tuple(other for other in others if not other.reason.startswith(KEPT)),
        unread=tuple(read.unread for read in reads if read.unread),
        rows_read=rows_read,
        unchanged=rows_read - report.imported - report.updated - len(failed),
        failed=failed,
        misfits=tuple(
            FailedRow(read.file.path, *misfit) for read in reads for misfit in read.misfits
        ),
        net_worth=tuple(other for other in others if other.reason.startswith(KEPT)),
        listed_once=tuple(
            ListedAgain(
                read.file.path,
                len(read.repeated),
                sum(abs(row.amount or 0) for row in read.repeated),
            )
            for read in reads
            if read.repeated
        ),
    )


@dataclass(frozen=True, slots=True)
class HouseholdReport:
    """A household's part of an import's report.

    ``candidates`` are the unreported ones that are likely, None if none were looked for.
    ``followed_bills`` more bills left the sums by the user's decision on all bills of their card.
    """

    ledger: LedgerReport
    candidates: CandidateCounts | None
    followed_bills: int = 0

    def json_fields(self) -> dict[str, object]:
        """Its JSON fields."""
        found = self.candidates
        return {
            "ledger": asdict(self.ledger),
            "duplicate_candidates": found and found.purchases,
            "transfer_candidates": found and found.transfers,
            "bill_candidates": found and found.bills,
        }

    def lines(self, report: ImportReport) -> list[ReportLine]:
        """The printed summary of the import."""
        sentences = [f"{counted(report.chunks, 'row')} can be searched, {report.embedded}"]
        for count, (one, several, what) in zip(self.candidates or _NONE, _FOUND, strict=True):
            if count:
                sentences.append(
                    f"{count} new {one if count == 1 else several} {what}; "
                    "ask your client to review the duplicates"
                )
        if self.followed_bills:
            sentences.append(
                f"left out of the sums, as decided for all bills of the card: "
                f"{counted(self.followed_bills, 'card bill')}"
            )
        return [*_ledger_lines(report.tool, self.ledger), *map(ReportLine, sentences)]


_NONE = CandidateCounts(0, 0, 0)
_FOUND = (
    ("pair is", "pairs are", "likely one purchase booked twice"),
    (
        "pair is", "pairs are",
        "likely the two ends of a transfer, counted as spending and as income",
    ),
    ("card bill equals", "card bills equal", "the card's own rows, so both count"),
)  # fmt: skip
"""What is said of each of ``CandidateCounts``: of one, of several, and what they are."""


def _ledger_lines(name: str, ledger: LedgerReport) -> list[ReportLine]:
    lines = [
        ReportLine(
            f"{name}: {counted(ledger.files, 'file')}, {counted(ledger.rows_read, 'row')} read: "
            f"{ledger.imported} imported, {ledger.updated} updated, {ledger.unchanged} unchanged, "
            f"{len(ledger.failed)} failed; {ledger.deleted} deleted, "
            f"{ledger.without_file} in the ledger have no file left"
        ),
        *_rows("failed", ledger.failed),
    ]
    if ledger.misfits:
        one = "was imported, but does not fit the running balance"
        more = "were imported, but do not fit the running balance"
        fitting = one if len(ledger.misfits) == 1 else more
        misfits = f"{counted(len(ledger.misfits), 'row')} {fitting}"
        lines += [ReportLine(f"{misfits} of the file"), *_rows("balance", ledger.misfits)]
    if ledger.returned:
        lines.append(ReportLine(f"counted again: {counted(len(ledger.returned), 'row')}"))
        again = [f"{_row_text(row)}, in {shown_name(row.path)}" for row in ledger.returned]
        lines += notes("again", again)
    lines += [_note("older than its time", problem) for problem in ledger.overruled]
    lines += [_note("newer by its time", problem) for problem in ledger.by_time]
    lines += [_note("linked again", problem) for problem in ledger.linked_again]
    for word, rows, sentence in (
        (
            "removed",
            ledger.removed,
            f"{counted(len(ledger.removed), 'row')} left the sums, gone from the newest file of "
            f"their day; to keep one: mdvec import -n {name} --mode update --restore-removed ID",
        ),
        (
            "gone?",
            ledger.asked,
            "gone from the newest file of their day, but still counted: "
            f"{counted(len(ledger.asked), 'row')}; to leave them out: "
            f"mdvec import -n {name} --mode update --accept-removals",
        ),
    ):
        if rows:
            lines += [ReportLine(sentence), *notes(word, list(map(_gone_row_text, rows)))]
    lines += [
        ReportLine(
            f"{shown_name(doubt.first)} and {shown_name(doubt.second)} {_why_doubtful(doubt)} of "
            f"both count; to {_answer_to(doubt, name)}"
        )
        for doubt in ledger.account_doubts
    ]
    lines += [
        ReportLine(
            f"{counted(each.rows, 'row')} of {shown_name(each.account)} ({each.yen:,} yen) "
            f"{'is' if each.rows == 1 else 'are'} in {shown_name(each.first)} and in "
            f"{shown_name(each.last)}, and counted once, like instalments; add a purchase that was "
            "booked late to a CSV of your own"
        )
        for each in ledger.repeated
    ]
    lines += [
        ReportLine(
            f"{shown_name(each.path)} lists {counted(each.rows, 'row')} ({each.yen:,} yen) in "
            f"more than one section, {said}"
        )
        for files, said in (
            (ledger.listed_once, "with equal balances, and counted once"),
            (
                ledger.listed_again,
                "and all count; if the same account was downloaded twice, delete the repeated part "
                "of the file",
            ),
        )
        for each in files
    ]
    lines += [_note("kept", problem) for problem in ledger.net_worth]
    return [*lines, *(_note("passed over", problem) for problem in ledger.passed_over)]


def _rows(word: str, rows: Iterable[FailedRow]) -> list[ReportLine]:
    return notes(word, [f"{shown_name(row.path)}:{row.line}: {row.reason}" for row in rows])


def _why_doubtful(doubt: AccountDoubt) -> str:
    if not doubt.has_new_ids:
        return f"may be of one account or of two: {counted(doubt.rows, 'equal row')}"
    return (
        f"have other IDs for {counted(doubt.rows, 'row')} of {shown_name(doubt.account)} (spent: "
        f"{doubt.spending:,} yen, received: {doubt.income:,} yen), perhaps linked again: those"
    )


def _answer_to(doubt: AccountDoubt, name: str) -> str:
    if doubt.is_listed or doubt.has_new_ids:
        return "decide about these pairs: detect_duplicates, a tool of the server"
    return (
        f"name an account: mdvec household map FILE -n {name} --account NAME "
        "--set 'files = \"FILE\"' --save"
    )


def _note(word: str, problem: Problem) -> ReportLine:
    return ReportLine(f"{word}: {shown_name(problem.file_path)}: {problem.reason}", is_note=True)


def _gone_row_text(row: GoneRow) -> str:
    path, newer = shown_name(row.path), shown_name(row.missing_from)
    where = f"in {path} before, not as it is now" if path == newer else f"in {path}, not in {newer}"
    words = "; your note on it, or decision about it, goes with it" if row.has_words else ""
    return f"{_row_text(row)}, {where}{words}"


def _row_text(row: GoneRow) -> str:
    amount = "no amount" if row.amount is None else f"{row.amount:,} yen"
    name, account = shown_name(row.description), shown_name(row.account)
    return f"{row.id}: {row.date} {name} {amount} ({account})"
