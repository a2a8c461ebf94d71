"""Finds rows without IDs whose amount changed in a later download of the same list.

A card lists a provisional amount first (a filling station's, a hotel's), and the final one later.
Rows without IDs are known by their amounts, so both are in the ledger; the user decides.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from mdvec.household.core.accounts import OTHERWISE
from mdvec.household.core.evidence import FINAL_DAYS
from mdvec.household.interfaces.ledger import Ledger


class _Line(NamedTuple):
    day: str
    amount: int
    description: str


_MIN_SHARED = OTHERWISE - 1


def changed_rows(ledger: Ledger) -> set[frozenset[int]]:
    """The ids of pairs of rows of one account and shop that replace each other in two files.

    The files agree on all but at most one in five rows of the days that both have.
    """
    pairs = [
        (account, *pair)
        for account, files in _files(ledger).items()
        for one, other in itertools.combinations(files, 2)
        for pair in _replaced(one, other)
    ]
    if not pairs:
        return set()
    ids: defaultdict[tuple[str, _Line], list[int]] = defaultdict(list)
    for number, account, *line in ledger.execute(
        "SELECT id, account, date, amount, description FROM transactions "
        "WHERE tool_id = ? AND mf_id = ''"
    ):
        ids[account, _Line(*line)].append(number)
    found = [(ids[account, line], ids[account, other]) for account, line, other in pairs]
    return {frozenset((*one, *other)) for one, other in found if len(one) == len(other) == 1}


def _files(ledger: Ledger) -> dict[str, list[set[_Line]]]:
    """The lines without IDs and balances of each file, by account."""
    rows = ledger.execute(
        "SELECT s.id, iif(s.scope = '', r.account, r.account || ' ' || s.scope), r.date, r.amount, "
        "r.description FROM ledger_files AS f "
        "JOIN ledger_statements AS s USING (tool_id, path, content_hash) "
        "JOIN statement_rows AS r ON r.statement_id = s.id WHERE f.tool_id = ? AND f.is_present "
        "AND r.mf_id = '' AND r.balance IS NULL AND r.amount NOT NULL"
    )
    files: defaultdict[tuple[str, int], set[_Line]] = defaultdict(set)
    for statement, account, *line in rows:
        files[account, statement].add(_Line(*line))
    accounts: defaultdict[str, list[set[_Line]]] = defaultdict(list)
    for (account, _), lines in files.items():
        accounts[account].append(lines)
    return accounts


def _replaced(one: set[_Line], other: set[_Line]) -> Iterator[tuple[_Line, _Line]]:
    """The lines of two files that differ in the amount alone, perhaps in the day as well."""
    first, last = max(min(one), min(other)).day, min(max(one), max(other)).day
    if first > last:
        return
    shared, *lost = (
        [line for line in lines if first <= line.day <= last]
        for lines in (one & other, one - other, other - one)
    )
    most = max(map(len, lost))
    if len(shared) < _MIN_SHARED or most * OTHERWISE > len(shared) + most:
        return
    for lines, others in ((lost[0], other - one), (lost[1], one - other)):
        for line in lines:
            fits = [each for each in others if _are_near(line, each)]
            if len(fits) == 1 and sum(_are_near(fits[0], each) for each in lines) == 1:
                yield line, fits[0]


def _are_near(line: _Line, other: _Line) -> bool:
    days = abs((date.fromisoformat(line.day) - date.fromisoformat(other.day)).days)
    return line.description == other.description and days <= FINAL_DAYS
