"""The household's part of an import's report: the changes of its ledger."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, replace
from typing import Literal

from mdvec.files import PassingProblem, Problem
from mdvec.household.core.cells import NoRow
from mdvec.household.core.pair import CandidateCounts
from mdvec.household.core.passed_over import FileKind
from mdvec.household.core.shown import shown_name, shown_path
from mdvec.household.interfaces.accounts import (
    AccountDoubt,
    AccountSetApart,
    ListedAgain,
    RepeatedRows,
    RowsBeside,
)
from mdvec.household.interfaces.ledger_statements import DaysInDoubt, GoneRow, KnownFile
from mdvec.household.interfaces.two_lists import ListedTwice
from mdvec.household.reading import MayHaveRows, StatementFile, skipped
from mdvec.importing import ImportReport, ReportLine, notes
from mdvec.platform import shell_line
from mdvec.text import counted, some_of

LedgerMode = Literal["update", "replace"]

_MAX_PLACES, _MAX_GONE = 8, 3
_IF_ROWS = "; if these are rows of another table, give them a file of their own, below their header"


@dataclass(frozen=True, slots=True)
class FailedRow:
    """A row that could not be read: its file, its first line, and why."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class LinesLeftOut:
    """The lines of a file that are no rows for one reason, the value of a ``NoRow``."""

    path: str
    reason: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AccountNamed:
    """An account that is new and has the name of its kind of file, and the paths of its files.

    Other banks and issuers may have files of that kind.
    """

    account: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """The changes that an import made to the ledger; the fields are also those of its JSON."""

    # The number of statement files; other files; and files that could not be read.
    files: int = 0
    passed_over: tuple[Problem, ...] = ()
    unread: tuple[Problem, ...] = ()
    # ``rows_read`` is the sum of the next four. A row with newer values in another file counts as
    # unchanged.
    rows_read: int = 0
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: tuple[FailedRow, ...] = ()
    # How many rows of the ledger are in none of the files, the files that they were in, and how
    # many ``replace`` deleted.
    without_file: int = 0
    files_gone: tuple[str, ...] = ()
    deleted: int = 0
    # Rows that left the sums; rows that are gone but count until the user decides; rows that count
    # again.
    removed: tuple[GoneRow, ...] = ()
    asked: tuple[GoneRow, ...] = ()
    returned: tuple[GoneRow, ...] = ()
    # Files whose time is newer than their contents; files read now that are newer than another file
    # of the same days by their time alone.
    overruled: tuple[Problem, ...] = ()
    by_time: tuple[Problem, ...] = ()
    # Rows read now that their file's running balance contradicts; they are imported.
    misfits: tuple[FailedRow, ...] = ()
    # Lines of the files read now that are no rows: with the rows, those that failed or are listed
    # once, and the headers, these are all lines of a file that are not blank.
    left_out: tuple[LinesLeftOut, ...] = ()
    # The asset histories and their months.
    net_worth: tuple[Problem, ...] = ()
    # New accounts that only the kind of their files names.
    named: tuple[AccountNamed, ...] = ()
    # Accounts of files read now that balances alone tell from another of their name; pairs of
    # files that may be of one account; rows that several files have and that count once; rows that
    # only the older of two files of the same days has, and that count.
    set_apart: tuple[AccountSetApart, ...] = ()
    account_doubts: tuple[AccountDoubt, ...] = ()
    repeated: tuple[RepeatedRows, ...] = ()
    beside: tuple[RowsBeside, ...] = ()
    # Files with equal rows below several headers: files whose rows all count, and files read now
    # whose rows count once, as their balances are equal too.
    listed_again: tuple[ListedAgain, ...] = ()
    listed_once: tuple[ListedAgain, ...] = ()
    # Accounts that both their own files and Money Forward list.
    listed_twice: tuple[ListedTwice, ...] = ()
    # The files read now whose rows another file has under other IDs.
    linked_again: tuple[Problem, ...] = ()


def left_open(ledger: LedgerReport, tool_name: str) -> list[Problem]:
    """What ``list_sources`` reports until the next import: rows in no sum, and why."""
    reasons: dict[str, list[str]] = {}
    for path, of_file in itertools.groupby(ledger.failed, lambda row: row.path):
        first, *others = of_file
        command = f"mdvec household map {shell_line(path)} -n {tool_name}"
        reasons[path] = [
            f"{counted(1 + len(others), 'row')} cannot be read, the first in line {first.line}: "
            f"{first.reason}; how the file is read: {command}"
        ]
    for each in ledger.overruled:
        if isinstance(each, DaysInDoubt):
            reasons.setdefault(each.file_path, []).append(each.reason)
    unread = [
        PassingProblem(each.file_path, each.reason)
        for each in ledger.passed_over
        if isinstance(each, MayHaveRows)
    ]
    return [*unread, *(Problem(path, "; ".join(said)) for path, said in reasons.items())]


def with_files(
    report: LedgerReport,
    known: Iterable[KnownFile],
    contents: Iterable[StatementFile],
    accounts: Set[str],
) -> LedgerReport:
    """A report of changes, completed by the files with ``known`` rows and those read now.

    ``accounts`` had rows before.
    """
    files = sorted(known, key=lambda file: file.path)
    reads = sorted(contents, key=lambda read: read.file.path)
    others = [(file.path, file.passed_over) for file in files if file.passed_over]
    failed = tuple(FailedRow(file.path, *bad) for file in files for bad in file.bad_rows)
    rows_read = sum(file.rows for file in files)
    named: dict[str, list[str]] = {}
    for read in reads:
        if read.parsed.rows and read.parsed.named and read.parsed.named not in accounts:
            named.setdefault(read.parsed.named, []).append(read.file.path)
    return replace(
        report,
        files=sum(not file.passed_over for file in files),
        passed_over=tuple(
            skipped(path, what) for path, what in others if what.kind is not FileKind.NET_WORTH
        ),
        rows_read=rows_read,
        unchanged=rows_read - report.imported - report.updated - len(failed),
        failed=failed,
        misfits=tuple(
            FailedRow(read.file.path, *misfit) for read in reads for misfit in read.parsed.misfits
        ),
        left_out=tuple(itertools.chain.from_iterable(map(_left_out, reads))),
        net_worth=tuple(
            skipped(path, what) for path, what in others if what.kind is FileKind.NET_WORTH
        ),
        listed_once=tuple(
            ListedAgain(
                read.file.path,
                len(read.parsed.repeated),
                sum(abs(row.amount or 0) for row in read.parsed.repeated),
            )
            for read in reads
            if read.parsed.repeated
        ),
        named=tuple(AccountNamed(account, tuple(paths)) for account, paths in named.items()),
    )


def _left_out(read: StatementFile) -> Iterator[LinesLeftOut]:
    for reason in NoRow:
        lines = tuple(line for line, why in read.parsed.left_out if why is reason)
        if lines:
            yield LinesLeftOut(read.file.path, reason.value, lines)


@dataclass(frozen=True, slots=True)
class HouseholdReport:
    """A household's part of an import's report.

    ``candidates`` counts the likely candidates not reported before; None without a search.
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
        for count, (one, several, what) in zip(self.candidates or (0, 0, 0), _FOUND, strict=True):
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


_FOUND = (
    ("pair is", "pairs are", "likely one purchase booked twice"),
    ("pair is", "pairs are", "likely the two ends of a transfer, of which at least one counts"),
    ("card bill equals", "card bills equal", "the card's own rows, so both count"),
)  # fmt: skip
"""For each of ``CandidateCounts``: the words for one, for several, and what they are."""


def _ledger_lines(name: str, ledger: LedgerReport) -> list[ReportLine]:
    misfits, returned, removed, asked = (
        counted(len(rows), "row")
        for rows in (ledger.misfits, ledger.returned, ledger.removed, ledger.asked)
    )
    one = "was imported, but does not fit the running balance"
    several = "were imported, but do not fit the running balance"
    update = f"mdvec import -n {name} --mode update"
    return [
        ReportLine(
            f"{name}: {counted(ledger.files, 'file')}, {counted(ledger.rows_read, 'row')} read: "
            f"{ledger.imported} imported, {ledger.updated} updated, {ledger.unchanged} unchanged, "
            f"{len(ledger.failed)} failed; {ledger.deleted} deleted, "
            f"{ledger.without_file} in the ledger have no file left"
        ),
        *([ReportLine(_gone_text(ledger.files_gone, name))] if ledger.files_gone else []),
        *notes("failed", list(map(_line_text, ledger.failed))),
        *_listed(
            f"{misfits} {one if len(ledger.misfits) == 1 else several} of the file",
            "balance",
            map(_line_text, ledger.misfits),
        ),
        *_left_out_lines(ledger.left_out),
        *_listed(
            f"counted again: {returned}",
            "again",
            (f"{_row_text(row)}, in {shown_path(row.path)}" for row in ledger.returned),
        ),
        *_of_files("older than its time", ledger.overruled),
        *_of_files("newer by its time", ledger.by_time),
        *_of_files("linked again", ledger.linked_again),
        *_listed(
            f"{removed} left the sums, gone from the newest file of their day; to keep one: "
            f"{update} --restore-removed ID",
            "removed",
            map(_gone_row_text, ledger.removed),
        ),
        *_listed(
            f"gone from the newest file of their day, but still counted: {asked}; to leave them "
            f"out: {update} --accept-removals",
            "gone?",
            map(_gone_row_text, ledger.asked),
        ),
        *([ReportLine(_named_text(ledger.named, name))] if ledger.named else []),
        *(ReportLine(_apart_text(each, name)) for each in ledger.set_apart),
        *(ReportLine(_doubt_text(doubt, name)) for doubt in ledger.account_doubts),
        *map(ReportLine, map(_repeated_text, ledger.repeated)),
        *map(ReportLine, map(_beside_text, ledger.beside)),
        *(
            ReportLine(f"{_sections_text(each)}, with equal balances, and counted once")
            for each in ledger.listed_once
        ),
        *(
            ReportLine(
                f"{_sections_text(each)}, and all count; if the same account was downloaded "
                "twice, delete the repeated part of the file"
            )
            for each in ledger.listed_again
        ),
        *itertools.chain.from_iterable(map(_twice_lines, ledger.listed_twice)),
        *_of_files("kept", ledger.net_worth),
        *_passed_over_lines(ledger.passed_over),
    ]


def _gone_text(paths: Sequence[str], name: str) -> str:
    files = some_of(list(map(shown_path, paths)), _MAX_GONE)
    return (
        f"gone or changed since, with rows that the ledger keeps: {files}; to delete the rows that "
        f"are in no file now: mdvec import -n {name} --mode replace"
    )


def _left_out_lines(left_out: Sequence[LinesLeftOut]) -> Iterator[ReportLine]:
    """A note on the lines left out for each reason, with the places of the first ones."""
    for reason in NoRow:
        files = [each for each in left_out if each.reason == reason.value]
        if files:
            count = sum(len(each.lines) for each in files)
            places = [
                f"{shown_path(each.path)}:{span}" for each in files for span in _spans(each.lines)
            ]
            shown = some_of(places, _MAX_PLACES)
            said = f"lines left out, {reason.value}: {count:,} ({shown})"
            advice = _IF_ROWS if reason is NoRow.LIKE_A_ROW else ""
            yield ReportLine(f"{said}{advice}", is_note=True)


def _spans(lines: Iterable[int]) -> Iterator[str]:
    """Line numbers, in order, with those that follow one another as one: 1-6."""
    for _, run in itertools.groupby(enumerate(sorted(lines)), lambda each: each[1] - each[0]):
        first, *others = (line for _, line in run)
        yield f"{first}-{others[-1]}" if others else str(first)


def _listed(sentence: str, word: str, rows: Iterable[str]) -> list[ReportLine]:
    """The sentence, and a note on each of the rows; empty without rows."""
    noted = notes(word, list(rows))
    return [ReportLine(sentence), *noted] if noted else []


def _of_files(word: str, problems: Iterable[Problem]) -> Iterator[ReportLine]:
    for each in problems:
        yield ReportLine(f"{word}: {shown_path(each.file_path)}: {each.reason}", is_note=True)


def _passed_over_lines(problems: Iterable[Problem]) -> Iterator[ReportLine]:
    """A note on each file; on the first alone of those with one reason, such as a bank's months.

    Their names differ in numbers alone, so one mapping may read them all.
    """
    alike: dict[tuple[str, str], list[Problem]] = {}
    for each in problems:
        key = each.file_path, each.reason
        if isinstance(each, MayHaveRows):
            about = each.reason.replace(shell_line(each.file_path), "")
            key = re.sub(r"\d+", "0", each.file_path), about
        alike.setdefault(key, []).append(each)
    for first, *others in alike.values():
        more = f" and {len(others)} more whose names differ in numbers alone" if others else ""
        said = f"passed over: {shown_path(first.file_path)}{more}: {first.reason}"
        yield ReportLine(said, is_note=True)


def _line_text(row: FailedRow) -> str:
    return f"{shown_path(row.path)}:{row.line}: {row.reason}"


def _named_text(named: Sequence[AccountNamed], name: str) -> str:
    file = shell_line(named[0].paths[0]) if len(named) == 1 else "FILE"
    accounts = ", ".join(
        f"{shown_name(each.account)} ({shown_path(each.paths[0])}{' …' * (len(each.paths) > 1)})"
        for each in named
    )
    return (
        f"called after their kind of file: {accounts}; to name an account: "
        f"mdvec household map {file} -n {name} --account NAME --save"
    )


def _apart_text(each: AccountSetApart, name: str) -> str:
    path, account = shown_path(each.paths[0]), shown_name(each.account)
    why = f"balances contradict those of {shown_path(each.other)}"
    if len(each.paths) == 1:
        return f"{path} is counted as {account}: its {why}; {_how_to_name(name)}"
    are_counted = f"{len(each.paths):,} files, such as {path}, are counted as {account}"
    return f"{are_counted}: their {why}; {_how_to_name(name, 'FOLDER/*')}"


def _how_to_name(name: str, files: str = "FILE") -> str:
    return (
        f"to name an account: mdvec household map FILE -n {name} --account NAME "
        f"--set 'files = \"{files}\"' --save"
    )


def _doubt_text(doubt: AccountDoubt, name: str) -> str:
    why = f"may be of one account or of two: {counted(doubt.rows, 'equal row')}"
    answer = _how_to_name(name)
    if doubt.has_new_ids:
        why = (
            f"have other IDs for {counted(doubt.rows, 'row')} of {shown_name(doubt.account)} "
            f"(spent: {doubt.spending:,} yen, received: {doubt.income:,} yen), perhaps linked "
            "again: those"
        )
    if doubt.is_listed or doubt.has_new_ids:
        answer = "to decide about these pairs: detect_duplicates, a tool of the server"
    first, second = shown_path(doubt.first), shown_path(doubt.second)
    return f"{first} and {second} {why} of both count; {answer}"


def _repeated_text(each: RepeatedRows) -> str:
    return (
        f"{counted(each.rows, 'row')} of {shown_name(each.account)} ({each.yen:,} yen) "
        f"{'is in' if each.rows == 1 else 'are in several files, the largest amount in'} "
        f"{shown_path(each.first)} and in {shown_path(each.last)}, and counted once, like "
        "instalments; add a purchase that was booked late to a CSV of your own"
    )


def _beside_text(each: RowsBeside) -> str:
    return (
        f"{counted(each.rows, 'row')} of {shown_path(each.older)} ({each.yen:,} yen) "
        f"{'is' if each.rows == 1 else 'are'} not in {shown_path(each.newer)}, of the same days, "
        "and counted beside its rows; if the former is a preliminary or older list, move it out of "
        "the folder, and import with --mode replace"
    )


def _sections_text(each: ListedAgain) -> str:
    return (
        f"{shown_path(each.path)} lists {counted(each.rows, 'row')} ({each.yen:,} yen) in more "
        "than one section"
    )


def _twice_lines(each: ListedTwice) -> list[ReportLine]:
    """What two lists of an account have in common, and a note on each row of only one of them."""
    both = f"{shown_path(each.own)} and {shown_path(each.listed)}"
    said = (
        f"{counted(each.rows, 'row')} of {shown_name(each.account)} are in files such as {both}, "
        f"and counted once; in one kind of them only, and counted: {len(each.only):,}"
    )
    only = (f"{_row_text(row)}, in {shown_path(row.path)}" for row in each.only)
    return [ReportLine(said), *notes("only there", list(only))]


def _gone_row_text(row: GoneRow) -> str:
    path, newer = shown_path(row.path), shown_path(row.missing_from)
    where = f"in {path} before, not as it is now" if path == newer else f"in {path}, not in {newer}"
    words = "; your note on it, or decision about it, goes with it" if row.has_words else ""
    return f"{_row_text(row)}, {where}{words}"


def _row_text(row: GoneRow) -> str:
    amount = "no amount" if row.amount is None else f"{row.amount:,} yen"
    name, account = shown_name(row.description), shown_name(row.account)
    return f"{row.id}: {row.date} {name} {amount} ({account})"
