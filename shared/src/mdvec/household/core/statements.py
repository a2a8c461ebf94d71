"""Files of transactions as witnesses: which is newer, and what a file shows to be gone.

A file's time is only the latest moment at which it can have been downloaded: a copy, or a touch,
makes it later. So a file is never newer than one that its own contents and name show to be newer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple

from mdvec.household.core.file_names import StatementName, statement_name
from mdvec.household.core.identity import is_part, main_part
from mdvec.household.core.placed import Placed

_NONE: frozenset[str] = frozenset()
_STALE_DAYS = 3
"""So many days of rows that a file of the same name had, and this lacks at its end, show that it
is an old one that was put back, and not one from which the last rows were deleted."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A file of transactions in one of its states.

    ``days`` are the days of its rows in order, as YYYY-MM-DD, ``accounts`` those that it has rows
    of; ``is_whole``: it was read without a bad row. ``seen`` numbers the import that first met it.
    """

    path: str
    content_hash: str
    mtime_ns: int
    days: tuple[str, ...]
    accounts: frozenset[str]
    is_whole: bool
    seen: int = 0

    @property
    def name(self) -> StatementName:
        """What its name says."""
        return statement_name(self.path)

    @property
    def latest(self) -> str:
        """The day of the last row that had happened when the file was last written, or ""."""
        written = local_day(self.mtime_ns)
        return next((day for day in reversed(self.days) if day <= written), "")

    @property
    def key(self) -> tuple[str, str]:
        """What tells one state of one file from all others."""
        return self.path, self.content_hash


@dataclass(frozen=True, slots=True)
class Witness:
    """A statement with its place among others: they are in the order of ``age``, a time.

    ``rows`` is what it says of each identity. ``outdone_by`` is the statement that is shown to
    be newer although its time is older; ``end`` is the day up to which it knows.
    """

    statement: Statement
    age: int
    rows: Mapping[str, Placed]
    outdone_by: Statement | None
    end: str

    def is_newer_than(self, other: Witness) -> bool:
        """Whether times, names or rows show it; files of a copied folder may all have one time."""
        return self.age > other.age or _is_newer(
            self.statement, self.end, other.statement, other.end
        )

    def shows_gone(self) -> Iterator[str]:
        """The days of which the file tells everything, if it does of any."""
        name = self.statement.name
        if not (self.statement.is_whole and name.has_period and self.rows):
            return
        first = date.fromisoformat(name.first).toordinal()
        saved = date.fromisoformat(local_day(self.age)).toordinal()
        for day in range(first, min(date.fromisoformat(name.last).toordinal() + 1, saved)):
            yield date.fromordinal(day).isoformat()


class Standing(NamedTuple):
    """What becomes of a transaction: its last row, from which witness, and which shows it gone."""

    row: Placed
    by: int
    gone: int | None


def local_day(time_ns: int) -> str:
    """The day of a file's time, where this computer is; the first day of all if there is none.

    A disk may hold any time, and what nobody can have seen shows nothing.
    """
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
        return moment.astimezone().date().isoformat()
    except (OverflowError, OSError, ValueError):
        return date.min.isoformat()


def in_order(said: Iterable[tuple[Statement, Mapping[str, Placed]]]) -> list[Witness]:
    """Statements with what they say, the oldest first.

    A copy is as old as the oldest file of its content. Of two files one is the newer, whatever
    their times, if it has the higher number of "name (n)", or if it has rows of days that the
    other covers by its name, but ends before. Where the number speaks against three days of rows
    or more, time decides; so it does between files of one name without such a number between
    them, unless one lacks the last three days of the other.
    """
    pairs = list(said)
    oldest: dict[str, int] = {}
    for statement, _ in pairs:
        known = oldest.get(statement.content_hash, statement.mtime_ns)
        oldest[statement.content_hash] = min(known, statement.mtime_ns)
    ends = _ends([statement for statement, _ in pairs])
    places = sorted(range(len(pairs)), key=lambda n: (ends[n], pairs[n][0].name.number))
    found: dict[int, Witness] = {}
    for place in reversed(places):
        statement, rows = pairs[place]
        age, by = oldest[statement.content_hash], None
        for other, witness in found.items():
            if witness.age < age and _is_newer(
                witness.statement, ends[other], statement, ends[place]
            ):
                age, by = witness.age, witness.statement
        found[place] = Witness(statement, age, rows, by, ends[place])
    places.sort(key=lambda n: pairs[n][0].path)
    places.sort(key=lambda n: (found[n].age, ends[n], pairs[n][0].name.number))
    return [found[place] for place in places]


def _ends(statements: Sequence[Statement]) -> list[str]:
    """For each statement the day up to which it knows: that of its last row.

    Or that of a file of the same name with a lower number, which it repeats, unless that has
    rows of three days more.
    """
    ends = [statement.latest for statement in statements]
    stems: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        stems.setdefault(statement.name.stem, []).append(place)
    for places in stems.values():
        places.sort(key=lambda n: statements[n].name.number)
        for rank, place in enumerate(places):
            for before in places[:rank]:
                if not _outnumbers(statements[place], statements[before]):
                    continue
                more = _days_between(statements[before], statements[place].latest, ends[before])
                if len(more) < _STALE_DAYS:
                    ends[place] = max(ends[place], ends[before])
    return ends


def _is_newer(one: Statement, end: str, other: Statement, other_end: str) -> bool:
    """Whether names and rows show ``one``, which does not end earlier, to be the newer."""
    if _outnumbers(one, other) or _outnumbers(other, one):
        return _outnumbers(one, other)
    name, others = one.name, other.name
    if end <= other_end or not others.has_period:
        return False
    missing = _days_between(one, other_end, min(end, others.last))
    return len(missing) >= (_STALE_DAYS if name.stem == others.stem else 1)


def _outnumbers(one: Statement, other: Statement) -> bool:
    """Whether ``one`` has the higher number of one name.

    That says nothing of a file that came only after the other was known: a name is free again
    when its file was moved away, or is overwritten.
    """
    name, others = one.name, other.name
    return name.stem == others.stem and name.number > others.number and other.seen <= one.seen


def _days_between(statement: Statement, after: str, last: str) -> list[str]:
    return [day for day in statement.days if after < day <= last]


def kin_of(
    witnesses: Sequence[Witness], known: Sequence[int], before: Mapping[str, int]
) -> list[int]:
    """Which statements tell of one ledger: those that share a transaction, or share one with kin.

    Two people's files may be of one period and have accounts of one name. ``known`` numbers the
    families that were known before, ``before`` names that of each transaction; what is returned
    are such numbers, the smallest of each.
    """
    above: dict[int, int] = {}

    def root(number: int) -> int:
        while (up := above.setdefault(number, number)) != number:
            above[number] = above.get(up, up)
            number = up
        return number

    owners = dict(before)
    for witness, number in zip(witnesses, known, strict=True):
        for identity in witness.rows:
            owner = owners.setdefault(identity, number)
            if owner != number and (one := root(owner)) != (other := root(number)):
                above[max(one, other)] = min(one, other)
    return [root(number) for number in known]


def settle(witnesses: Sequence[Witness], kin: Sequence[int]) -> dict[str, Standing]:
    """What becomes of each transaction, once every witness has spoken, the oldest first.

    The last one that has it says what it is. It is gone if a newer one shows its day without it:
    one that tells everything of that day, has rows of its account, and is kin of the one that
    had it last; and a part of a split purchase is gone with the next file that has the purchase
    without it.
    """
    standing: dict[str, Standing] = {}
    by_day: dict[str, set[str]] = {}
    for number, witness in enumerate(witnesses):
        for identity, row in witness.rows.items():
            before = standing.get(identity)
            if before is None or before.row.day != row.day:
                if before is not None:
                    by_day[before.row.day].discard(identity)
                by_day.setdefault(row.day, set()).add(identity)
            standing[identity] = Standing(row, number, None)
        for day in witness.shows_gone():
            for identity in by_day.get(day, _NONE).difference(witness.rows):
                known = standing[identity]
                if (
                    known.gone is None
                    and kin[known.by] == kin[number]
                    and known.row.account in witness.statement.accounts
                    and witness.is_newer_than(witnesses[known.by])
                ):
                    standing[identity] = known._replace(gone=number)
    return standing | dict(_lost_parts(standing))


def _lost_parts(standing: Mapping[str, Standing]) -> Iterator[tuple[str, Standing]]:
    for identity in filter(is_part, standing):
        known = standing[identity]
        main = main_part(identity) if known.gone is None else None
        whole = None if main is None else standing.get(main)
        if whole is not None and whole.by > known.by and whole.row.mf_id:
            yield identity, known._replace(gone=whole.by)
