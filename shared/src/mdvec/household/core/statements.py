"""Compares statement files: which one is newer, and which rows it shows to be gone.

A file's modification time is only an upper bound for its download: copying or touching the file
makes it later. So where names and contents show that another file is newer, they win over times.
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
"""If a file lacks this many days with rows at the end of another file of the same name, it is an
old file that was put back, rather than a new one from which the last rows were deleted."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One version of a statement file.

    ``days`` are the sorted days of its rows, as YYYY-MM-DD, and ``accounts`` the accounts in them.
    ``is_whole``: it had no bad rows. ``seen`` numbers the import that first read it.
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


@dataclass(frozen=True, slots=True)
class Witness:
    """A statement with its rows by identity, placed among the others.

    ``age`` is its effective modification time, by which witnesses are ordered. ``outdone_by`` is
    a statement that must be newer although its time is older. ``end`` is the last day covered.
    """

    statement: Statement
    age: int
    rows: Mapping[str, Placed]
    outdone_by: Statement | None
    end: str

    def is_newer_than(self, other: Witness) -> bool:
        """Whether its time, name or rows are newer; files of a copied folder may share a time."""
        return self.age > other.age or _is_newer(
            self.statement, self.end, other.statement, other.end
        )

    def shows_gone(self) -> Iterator[str]:
        """The days that the file covers completely: rows missing on these days are gone."""
        name = self.statement.name
        if not (self.statement.is_whole and name.has_period and self.rows):
            return
        first = date.fromisoformat(name.first).toordinal()
        saved = date.fromisoformat(local_day(self.age)).toordinal()
        for day in range(first, min(date.fromisoformat(name.last).toordinal() + 1, saved)):
            yield date.fromordinal(day).isoformat()


class Standing(NamedTuple):
    """A transaction's latest row, from witness number ``by``, and which witness shows it gone."""

    row: Placed
    by: int
    gone: int | None


def local_day(time_ns: int) -> str:
    """The local day of a file's modification time; ``date.min`` if the time is impossible.

    File systems can store any time; with the earliest day, an impossible one proves nothing.
    """
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
        return moment.astimezone().date().isoformat()
    except (OverflowError, OSError, ValueError):
        return date.min.isoformat()


def in_order(said: Iterable[tuple[Statement, Mapping[str, Placed]]]) -> list[Witness]:
    """Orders statements, each with its rows by identity, from oldest to newest.

    A copy is as old as the oldest file with the same content. Regardless of times, a file is the
    newer of two if it has the higher number in "name (n)", or if it has rows on days that the
    other's name covers but its rows do not reach. If the number contradicts three or more days of
    rows, times decide. They also decide between files of one name without such numbers, unless
    one lacks the last three days of the other.
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
    """The last day that each statement covers: the day of its last row.

    Or that of a file of the same name with a lower number, if that has rows on fewer than three
    later days: the statement repeats it.
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
    """Whether names and rows show that ``one``, which does not end earlier, is newer."""
    if _outnumbers(one, other) or _outnumbers(other, one):
        return _outnumbers(one, other)
    name, others = one.name, other.name
    if end <= other_end or not others.has_period:
        return False
    missing = _days_between(one, other_end, min(end, others.last))
    return len(missing) >= (_STALE_DAYS if name.stem == others.stem else 1)


def _outnumbers(one: Statement, other: Statement) -> bool:
    """Whether ``one`` has the same name with a higher number.

    A lower number proves nothing if that file was first seen later: once a file is moved away or
    overwritten, its name can be used again.
    """
    name, others = one.name, other.name
    return name.stem == others.stem and name.number > others.number and other.seen <= one.seen


def _days_between(statement: Statement, after: str, last: str) -> list[str]:
    return [day for day in statement.days if after < day <= last]


def kin_of(
    witnesses: Sequence[Witness], known: Sequence[int], before: Mapping[str, int]
) -> list[int]:
    """Groups statements into families: those that share transactions, directly or indirectly.

    Files of two people may cover the same period and accounts of the same name, but share no
    transactions. ``known`` has each statement's family number so far, ``before`` that of each
    transaction; returns the family number of each statement, the smallest of merged families.
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
    """The standing of each transaction after all witnesses, which are ordered from the oldest.

    The newest witness that has a transaction determines its values. The transaction is gone if a
    newer witness of the same family covers its day completely, has rows of its account, and lacks
    it. A part of a split purchase is gone if a newer file has the purchase without that part.
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
