"""Finds rows of two households that may be one purchase, or a transfer between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import apsw

from mdvec.dates.days import Days
from mdvec.household.core.compared import ComparedRow
from mdvec.household.core.detection import LIKELY, DetectionOptions, DuplicateDetectionError
from mdvec.household.core.pairs import find_pairs
from mdvec.household.core.review_reasons import reasons_in_words
from mdvec.household.core.transfer_pairs import with_transfers
from mdvec.household.core.wording import format_currency
from mdvec.household.interfaces.checks import compared_rows
from mdvec.household.interfaces.shared_pairs import rows_told_twice, shared_decisions
from mdvec.household.readings import reading
from mdvec.text.one_line import shown_name
from mdvec.tools.names import offered_name

_AROUND = timedelta(days=45)
"""Rows this near to the period show what is a habit."""
_MAX_TOLD = 10


@dataclass(frozen=True, slots=True)
class SharedRow:
    """A row of one of the households; ``amount`` in yen, signed."""

    household: str
    id: int
    day: date
    description: str
    amount: int


@dataclass(frozen=True, slots=True)
class SharedPair:
    """Rows of two households that are likely one purchase or, ``is_transfer``, one transfer.

    ``reasons`` are in Japanese. Nothing is decided yet: both rows count.
    """

    first: SharedRow
    second: SharedRow
    is_transfer: bool
    reasons: tuple[str, ...]


def pairs_across(
    connection: apsw.Connection, tools: Mapping[str, int], days: Days
) -> list[SharedPair] | None:
    """The likely pairs of rows of two households (tool ids by name), one of them in ``days``.

    Decided pairs are not among them. None if there are too many to compare.
    """
    first, last = _widened(days)
    homes: dict[int, str] = {}
    rows: list[ComparedRow] = []
    for name, tool_id in tools.items():
        near = [row for row in compared_rows(connection, tool_id) if first <= row.date <= last]
        homes |= dict.fromkeys((row.id for row in near), name)
        rows += near
    decisions = shared_decisions(connection, tools.values())
    decided = {frozenset((one.kept, one.other)) for one in decisions}
    gone = rows_told_twice(decisions)
    rows = [row for row in rows if row.id not in gone]
    twins = _twins(rows, homes)
    paired = {row.id for pair in twins for row in pair}
    # One account's rows are two purchases, but only within a household.
    others = [
        row._replace(account=f"{row.account}（{homes[row.id]}）")
        for row in rows
        if row.id not in paired
    ]
    options = DetectionOptions()
    try:
        found = with_transfers(find_pairs(others, options, reading=reading), others, options)
    except DuplicateDetectionError:
        return None
    by_id = {row.id: row for row in rows}
    candidates: list[tuple[ComparedRow, ComparedRow, bool, tuple[str, ...]]] = [
        (one, other, False, ("same_account",)) for one, other in twins
    ]
    candidates += [
        (by_id[pair.first.id], by_id[pair.second.id], pair.is_transfer, pair.reasons)
        for pair in found.pairs
        if pair.score >= LIKELY
    ]
    return [
        SharedPair(_shared(one, homes), _shared(other, homes), moves, reasons_in_words(codes))
        for one, other, moves, codes in candidates
        if homes[one.id] != homes[other.id]
        and frozenset((one.id, other.id)) not in decided
        and any(days.first <= row.date <= days.last for row in (one, other))
    ]


def told_pairs(pairs: Iterable[SharedPair]) -> list[str]:
    """The pairs in Japanese, purchases first, a line each; the largest ten of each kind."""
    lines = []
    for is_transfer, what in (
        (False, "同じ買い物が両方に入っているらしい組"),
        (True, "家計簿のあいだの振替らしい組"),
    ):
        group = [pair for pair in pairs if pair.is_transfer == is_transfer]
        if not group:
            continue
        is_cut = len(group) > _MAX_TOLD
        more = f"、大きい {_MAX_TOLD}件を示し、判定すると次を示します" if is_cut else ""
        lines.append(f"{what}: {len(group):,}件（合計はどちらの行も数えています{more}）")
        group.sort(key=lambda pair: (-abs(pair.first.amount), pair.first.day, pair.first.id))
        lines += [
            f"- {_row_text(pair.first)} と {_row_text(pair.second)}: {'。'.join(pair.reasons)}"
            for pair in group[:_MAX_TOLD]
        ]
    confirm = offered_name("confirm_duplicate")
    how = f"判定は {confirm} に check_id でなく transaction_ids（その2件）を渡します"
    return [*lines, how] if lines else []


def _widened(days: Days) -> tuple[date, date]:
    first = max(days.first.toordinal() - _AROUND.days, 1)
    last = min(days.last.toordinal() + _AROUND.days, date.max.toordinal())
    return date.fromordinal(first), date.fromordinal(last)


def _twins(
    rows: Iterable[ComparedRow], homes: Mapping[int, str]
) -> list[tuple[ComparedRow, ComparedRow]]:
    """Rows of one account that two households have alike, each in one pair."""
    alike: dict[tuple[object, ...], dict[str, list[ComparedRow]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        if row.account and row.amount:
            key = (row.date, row.amount, row.account, row.description)
            alike[key][homes[row.id]].append(row)
    return [
        pair
        for by_home in alike.values()
        if len(by_home) > 1
        for pair in zip(*list(by_home.values())[:2], strict=False)
    ]


def _shared(row: ComparedRow, homes: Mapping[int, str]) -> SharedRow:
    return SharedRow(homes[row.id], row.id, row.date, row.description, row.amount)


def _row_text(row: SharedRow) -> str:
    shop = shown_name(row.description)
    return f"{row.day} {shop} {format_currency(row.amount)}（{row.household}、ID {row.id}）"
