"""Compares statement files: which is newer, and which rows are gone for sure or need consent.

A file's modification time is only an upper bound for its download: copying or touching the file
makes it later. So if names and contents show that another file is newer, they outrank times.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from mdvec.household.core.connected import connected

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}\Z")
# Four digits are those of a card, as in enavi202508(1234).csv.
_COPY = re.compile(r"(?P<stem>.+?) ?\((?P<number>[0-9]{1,3})\)\Z", re.DOTALL)
_PERIOD = re.compile(
    r"(?:.*[^0-9])?(\d{4}-\d{2}-\d{2})_(\d{4}-\d{2}-\d{2})\Z", re.ASCII | re.DOTALL
)
_MAX_AT_ONCE = 20
_MAX_PERCENT = 20
UNKNOWN: Final = "?"
"""The kind of a file without IDs that older versions read, and that was deleted since."""
_STALE_DAYS = 3
"""If a file lacks this many days with rows at the end of another file of the same name, it is an
old file that was put back, rather than a new one from which the last rows were deleted."""


@dataclass(frozen=True, slots=True)
class StatementName:
    """The parts of a file's name.

    ``stem`` is its path without number and extension; ``number`` is the n of "name (n).csv", or
    0. ``first`` and ``last`` are the days of the period in the name, as YYYY-MM-DD, or "". A name
    that continues after the period counts as having none: the file is an excerpt, or edited.
    """

    stem: str
    number: int
    first: str
    last: str

    @property
    def has_period(self) -> bool:
        """Whether the name contains the period that the file covers."""
        return bool(self.first)


@lru_cache(maxsize=4096)
def statement_name(path: str) -> StatementName:
    """Parses a file's path."""
    stem = _ENDING.sub("", unicodedata.normalize("NFKC", path)).strip()
    number = 0
    copy = _COPY.fullmatch(stem)
    if copy is not None:
        stem, number = copy["stem"], int(copy["number"])
    return StatementName(stem, number, *_period(stem))


def _period(stem: str) -> tuple[str, str]:
    match = _PERIOD.fullmatch(stem.rpartition("/")[2])
    if match is None:
        return "", ""
    try:
        first, last = (date.fromisoformat(day) for day in match.groups())
    except ValueError:
        return "", ""
    return ("", "") if first > last else (first.isoformat(), last.isoformat())


@dataclass(frozen=True, slots=True)
class Statement:
    """One version of a statement file.

    ``days`` are the sorted days of its rows, as YYYY-MM-DD, and ``accounts`` the accounts in them.
    ``can_show_removals``: rows missing from it can be called gone; false if it had bad rows.
    ``first_seen`` numbers the import that first read it. ``account_number`` is "" if unknown;
    ``scope`` distinguishes its account from the first one of the same name, which has "". ``id`` is
    0 until it is stored, ``family`` the id of its family of files (``families_of``), 0 until then.
    ``kind`` is that of its file (``ParsedFile``), or ``UNKNOWN``.
    """

    path: str
    content_hash: str
    mtime_ns: int
    days: tuple[str, ...]
    accounts: frozenset[str]
    can_show_removals: bool
    first_seen: int = 0
    account_number: str = ""
    scope: str = ""
    id: int = 0
    family: int = 0
    kind: str = ""

    @property
    def name(self) -> StatementName:
        """The parts of its name."""
        return statement_name(self.path)

    @property
    def latest(self) -> str:
        """The last day with rows that is not after the file's modification time, or ""."""
        written = local_day(self.mtime_ns)
        return next((day for day in reversed(self.days) if day <= written), "")

    @property
    def key(self) -> tuple[str, str]:
        """Identifies this version of this file: path and content hash."""
        return self.path, self.content_hash


def of_same_days(first: Statement, second: Statement) -> bool:
    """Whether only times tell which is newer: days and period are the same, contents differ."""
    spans = [each.days[:1] + each.days[-1:] for each in (first, second)]
    periods = [(each.name.first, each.name.last) for each in (first, second)]
    is_numbered = first.name.stem == second.name.stem and first.name.number != second.name.number
    return (
        spans[0] == spans[1] and periods[0] == periods[1]
        and first.content_hash != second.content_hash and not is_numbered
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankedStatement:
    """A statement with its rank among the others.

    ``effective_mtime_ns`` is its modification time, lowered to that of ``superseded_by``, a
    statement that must be newer although its time is older. ``end`` is the last day covered.
    """

    statement: Statement
    effective_mtime_ns: int
    superseded_by: Statement | None
    end: str

    def is_newer_than(self, other: RankedStatement) -> bool:
        """Whether it is newer by time, or by names and rows if times are equal, as in copies."""
        return self.effective_mtime_ns > other.effective_mtime_ns or _is_newer(
            self.statement, self.end, other.statement, other.end
        )

    @property
    def covered_days(self) -> tuple[str, str] | None:
        """The first and last day that the file covers completely: rows missing then are gone."""
        statement, name = self.statement, self.statement.name
        if not (statement.can_show_removals and name.has_period and statement.days):
            return None
        saved = date.fromisoformat(local_day(self.effective_mtime_ns)).toordinal()
        last = min(date.fromisoformat(name.last).toordinal(), saved - 1)
        if last < date.fromisoformat(name.first).toordinal():
            return None
        return name.first, date.fromordinal(last).isoformat()


class Remover(NamedTuple):
    """A statement (``newer``) that can prove rows of an older one gone, and on which days.

    ``is_again``: by their names, the newer file is a later download of the other. ``account`` is
    the only account whose rows it proves gone, "" for all accounts.
    """

    older: int
    newer: int
    first: str
    last: str
    is_again: bool
    account: str = ""


def local_day(time_ns: int) -> str:
    """The local day of a file's modification time; ``date.min`` if the time is impossible.

    File systems can store any time; as the earliest day, an impossible time proves nothing.
    """
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
        return moment.astimezone().date().isoformat()
    except (OverflowError, OSError, ValueError):
        return date.min.isoformat()


def rank_statements(statements: Sequence[Statement]) -> list[RankedStatement]:
    """Orders statements from oldest to newest.

    A copy is as old as the oldest file with the same content, and what a path held before is older
    than what it holds now. Regardless of times, a file is the newer of two if it has the higher
    number in "name (n)", or if it has rows on days that the other's name covers but its rows do not
    reach. If three or more days of rows contradict the number, times decide. Times also decide
    between files of one name without numbers, unless a file lacks the last three days of the other.
    """
    times, ends = _times(statements), _ends(statements)
    places = sorted(range(len(statements)), key=lambda n: (ends[n], statements[n].name.number))
    ranked: dict[int, RankedStatement] = {}
    for position in reversed(places):
        statement = statements[position]
        effective_mtime_ns, by = times[position], None
        for other, later in ranked.items():
            if later.effective_mtime_ns < effective_mtime_ns and _is_newer(
                later.statement, ends[other], statement, ends[position]
            ):
                effective_mtime_ns, by = later.effective_mtime_ns, later.statement
        ranked[position] = RankedStatement(statement, effective_mtime_ns, by, ends[position])
    places.sort(key=lambda n: (times[n], statements[n].path))
    places.sort(key=lambda n: (ranked[n].effective_mtime_ns, ends[n], statements[n].name.number))
    return [ranked[position] for position in places]


def _times(statements: Sequence[Statement]) -> list[int]:
    """The time of each statement: that of the oldest file with its content.

    It is lowered to before the times of all later versions at its path, since a file that was put
    back from a backup, with its old time, is what the user wants there. A version without rows
    proves nothing.
    """
    oldest: dict[str, int] = {}
    for statement in statements:
        known = oldest.get(statement.content_hash, statement.mtime_ns)
        oldest[statement.content_hash] = min(known, statement.mtime_ns)
    times = [oldest[statement.content_hash] for statement in statements]
    versions: dict[str, list[int]] = {}
    for position in sorted(range(len(statements)), key=lambda n: -statements[n].first_seen):
        statement = statements[position]
        others = versions.setdefault(statement.path, [])
        for later in others:
            if statements[later].first_seen > statement.first_seen:
                times[position] = min(times[position], times[later] - 1)
        if statement.days:
            others.append(position)
    return times


def _ends(statements: Sequence[Statement]) -> list[str]:
    """The last day that each statement covers: usually the day of its last row.

    If a file of the same name with a lower number has rows on fewer than three later days, its last
    day counts, too, as the statement is a later download of it.
    """
    ends = [statement.latest for statement in statements]
    stems: dict[str, list[int]] = {}
    for position, statement in enumerate(statements):
        stems.setdefault(statement.name.stem, []).append(position)
    for places in stems.values():
        places.sort(key=lambda n: statements[n].name.number)
        for rank, position in enumerate(places):
            for before in places[:rank]:
                if not _outnumbers(statements[position], statements[before]):
                    continue
                more = _days_between(statements[before], statements[position].latest, ends[before])
                if len(more) < _STALE_DAYS:
                    ends[position] = max(ends[position], ends[before])
    return ends


def _is_newer(statement: Statement, end: str, other: Statement, other_end: str) -> bool:
    """Whether names and rows show that ``statement``, which does not end earlier, is newer."""
    if _outnumbers(statement, other) or _outnumbers(other, statement):
        return _outnumbers(statement, other)
    name, others = statement.name, other.name
    if end <= other_end or not others.has_period:
        return False
    missing = [
        day for day in _days_between(statement, other_end, min(end, others.last))
        if day >= others.first
    ]  # fmt: skip
    return len(missing) >= (_STALE_DAYS if name.stem == others.stem else 1)


def _outnumbers(statement: Statement, other: Statement) -> bool:
    """Whether ``statement`` has the same name with a higher number.

    A lower number proves nothing if that file was first seen later: once a file is moved away or
    overwritten, its name can be used again.
    """
    name, others = statement.name, other.name
    return (
        name.stem == others.stem
        and name.number > others.number
        and other.first_seen <= statement.first_seen
    )


def _days_between(statement: Statement, after: str, last: str) -> list[str]:
    return [day for day in statement.days if after < day <= last]


def families_of(
    statements: Sequence[Statement], shared: Iterable[tuple[int, int]]
) -> dict[int, int]:
    """Groups statements into families: those that share transactions, directly or indirectly.

    Files of two people may cover the same period and accounts of the same name, but share no
    transactions. ``shared`` are pairs of ids of statements that have a transaction in common; the
    id of a family is its smallest statement's.
    """
    known = [(statement.id, statement.family or statement.id) for statement in statements]
    families = connected(itertools.chain(known, shared))
    return {statement.id: families[statement.id] for statement in statements}


def are_of_one_user(first: Statement, second: Statement) -> bool:
    """Whether the names show that two statements are downloads by one user.

    They are in one folder, and have names with a period as Money Forward gives, or the same name.
    Rows are no evidence: two people may both list an account, or pay equal amounts on one day.
    """
    folders = {each.path.rpartition("/")[0] for each in (first, second)}
    is_own_name = first.name.has_period and second.name.has_period
    return len(folders) == 1 and (is_own_name or first.name.stem == second.name.stem)


def doubtful_replacers(ranked: Sequence[RankedStatement]) -> Iterator[tuple[int, int]]:
    """Statements newer than another by time alone that lack its last days: maybe old copies.

    Yields the ids of the newer and of the older one. Files whose names state a period that ends
    before those days are left out.
    """
    for newer, each in enumerate(ranked):
        name, saved = each.statement.name, local_day(each.effective_mtime_ns)
        last = min(saved, name.last) if name.has_period else saved
        for older in range(newer):
            other = ranked[older].statement
            if (
                other.days
                and each.end
                and other.days[0] <= each.end < other.days[-1]
                and _days_between(other, each.end, last)
            ):
                yield each.statement.id, other.id


def removers(ranked: Sequence[RankedStatement], families: Mapping[int, int]) -> Iterator[Remover]:
    """Which statements can prove that rows of older ones are gone, the oldest statement first.

    ``families`` are by id. A row is gone if a newer statement of the same kind, family and scope
    covers its day completely, has rows of its account, and lacks it. A file of another kind shows
    nothing: Money Forward may never have had a purchase that the card's own file lists. If a file
    that was downloaded again has no rows of the account, the user is asked: the account may have
    been unlinked.
    """
    for index, newer in enumerate(ranked):
        covered = newer.covered_days
        if covered is None:
            continue
        first, last = covered
        for older in ranked[:index]:
            days = older.statement.days
            if (
                families[older.statement.id] == families[newer.statement.id]
                and older.statement.scope == newer.statement.scope
                and _are_of_one_kind(older.statement, newer.statement)
                and days
                and days[0] <= last
                and days[-1] >= first
                and newer.is_newer_than(older)
            ):
                again = older.statement.name.stem == newer.statement.name.stem
                yield Remover(older.statement.id, newer.statement.id, first, last, again)


def _are_of_one_kind(first: Statement, second: Statement) -> bool:
    kinds = {first.kind, second.kind}
    return len(kinds) == 1 or (UNKNOWN in kinds and "" not in kinds)


def decide_removals(
    gone: Mapping[str, tuple[str, str | None, bool]],
    rows_by_month: Mapping[str, int],
    *,
    accepted: bool,
) -> dict[str, str]:
    """The state of each vanished row, by identity: ``removed``, ``asked`` or ``kept``.

    ``gone`` has each row's day, its state so far, if any, and whether the newer file has rows of
    its account; ``rows_by_month`` counts the rows of each month (YYYY-MM) that were not removed
    before. A row that the user kept stays ``kept``, and an ``asked`` row stays so until all are
    ``accepted``. A newly vanished row is ``asked`` if the newer file has no rows of its account, or
    if more than 20 rows, and more than 20 %, of its month would leave at once.
    """
    leaving = Counter(day[:7] for day, before, _ in gone.values() if before in (None, "asked"))
    decided = {}
    for identity, (day, before, is_proved) in gone.items():
        is_many = are_many(leaving[day[:7]], rows_by_month.get(day[:7], 0))
        is_asked = before == "asked" or not is_proved or is_many
        is_settled = before in ("kept", "removed")
        state = "asked" if is_asked and not accepted else "removed"
        decided[identity] = before if before and is_settled else state
    return decided


def are_many(leaving: int, of_month: int) -> bool:
    """Whether so many of a month's rows change at once that the user has to be asked."""
    return leaving > _MAX_AT_ONCE and 100 * leaving > _MAX_PERCENT * of_month
