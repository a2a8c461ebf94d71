"""Duplicates in invented ledgers: how many are found, and how many that are shown are right?"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path

from mdvec.household.core.pair import LIKELY, ComparedRow, DetectionOptions
from mdvec.household.core.pairs import find_pairs
from processes import Bench
from results import Row

FOLDER = Path(__file__).with_name("duplicates")
YEAR, EACH = 2025, 25
MIN_RECALL, MIN_PRECISION = 0.75, 0.85
Ids = tuple[int, int]


@dataclass
class Household:
    """A ledger's rows, and the pairs of ids that are one purchase, two, or need no question."""

    name: str
    rows: list[ComparedRow] = field(default_factory=list)
    same: set[Ids] = field(default_factory=set)
    two: set[Ids] = field(default_factory=set)

    def add(self, day: date, account: str, content: str, amount: int, category: str) -> int:
        """Add a row; returns its id."""
        number = len(self.rows) + 1
        major, _, minor = category.partition("/")
        self.rows.append(
            ComparedRow(number, day, amount, content, major, minor, account, f"id{number}")
        )
        return number


@dataclass(frozen=True, slots=True)
class Quality:
    """What a search with the default options shows as one purchase."""

    same: int
    two: int
    found: int
    shown_two: int
    shown: int

    @property
    def recall(self) -> float:
        """The share of the duplicates that are found."""
        return self.found / self.same

    @property
    def precision(self) -> float:
        """The share of duplicates among all pairs that are shown, lookalikes or not."""
        return self.found / max(self.shown, 1)


def measure(_: Bench) -> list[Row]:
    """Both halves."""
    rows = []
    for half in ("tuning", "untouched"):
        quality = measured(households(half))
        met = half == "untouched" or None
        rows += [
            Row(
                f"{half} half: duplicates found, of {quality.same}",
                f"{quality.found} ({quality.recall:.0%})",
                f"≥ {MIN_RECALL:.0%}",
                met and quality.recall >= MIN_RECALL,
            ),
            Row(
                f"{half} half: shown as one purchase, and right",
                f"{quality.found} of {quality.shown} ({quality.precision:.0%}); "
                f"of {quality.two} lookalikes {quality.shown_two}",
                f"≥ {MIN_PRECISION:.0%}",
                met and quality.precision >= MIN_PRECISION,
            ),
        ]
    return rows


def measured(of: list[Household]) -> Quality:
    """The quality over several ledgers."""
    same = two = found = shown_two = shown = 0
    for household in of:
        pairs = likely_pairs(household)
        same, two = same + len(household.same), two + len(household.two)
        found += len(pairs & household.same)
        shown_two += len(pairs & household.two)
        shown += len(pairs)
    return Quality(same, two, found, shown_two, shown)


def likely_pairs(household: Household) -> set[Ids]:
    """The pairs that a search with the default options calls one purchase."""
    found = find_pairs(household.rows, DetectionOptions())
    return {(one.first.id, one.second.id) for one in found.pairs if one.score >= LIKELY}


def households(half: str) -> list[Household]:
    """The ledgers of a half."""
    written = tomllib.loads((FOLDER / f"{half}.toml").read_text("utf-8"))
    chance = random.Random(half)
    return [_household(one, chance) for one in written["household"]]


def _household(written: dict[str, str], chance: random.Random) -> Household:
    household = Household(written["name"])
    for line in written["regular"].strip().splitlines():
        _add_regular(household, [part.strip() for part in line.split(";")])
    first = min(row.date for row in household.rows)
    for line in written["everyday"].strip().splitlines():
        _add_everyday(household, [part.strip() for part in line.split(";")], first, chance)
    for line in written["cases"].strip().splitlines():
        _add_case(household, line)
    return household


def _add_regular(household: Household, line: list[str]) -> None:
    kind, often, until, account, content, amount, category = line
    ids = [
        household.add(day, account, content, int(amount), category)
        for day in _days(often, *map(_day, until.split("-")))
    ]
    if kind == "two":
        household.two.add((ids[0], ids[1]))


def _days(often: str, first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        day = first + timedelta(number)
        if (
            often == "daily"
            or (often == "weekdays" and day.weekday() < 5)
            or often == f"month {day.day}"
            or often == f"{day:%a}".lower()
        ):
            yield day


def _add_everyday(
    household: Household, line: list[str], first: date, chance: random.Random
) -> None:
    account, content, amounts, category = line
    low, high = map(int, amounts.split("-"))
    for _ in range(EACH):
        day = first + timedelta(chance.randrange(90))
        household.add(day, account, content, -chance.randint(low, high), category)


def _add_case(household: Household, line: str) -> None:
    kind, _, rest = line.partition(";")
    ids, needs_no_question = [], False
    for row in rest.split("||"):
        day, account, content, amount, category, *flags = (part.strip() for part in row.split(";"))
        if flags:
            needs_no_question = True  # the row does not count, so it is never compared
        else:
            ids.append(household.add(_day(day), account, content, int(amount), category))
    if not needs_no_question:
        {"same": household.same, "two": household.two, "row": set()}[kind].update(
            combinations(ids, 2)
        )


def _day(text: str) -> date:
    month, day = map(int, text.split("/"))
    return date(YEAR, month, day)
