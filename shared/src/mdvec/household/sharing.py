"""Finds pairs of rows of two households that may be one purchase or transfer, and decides them."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import apsw

from mdvec.dates import Days, Month
from mdvec.household.core.answers import answer_text
from mdvec.household.core.evidence import reasons_in_words
from mdvec.household.core.pair import (
    LIKELY,
    ComparedRow,
    DetectionOptions,
    DuplicateDetectionError,
    Pair,
    PairKind,
)
from mdvec.household.core.shown import shown_name
from mdvec.household.core.sums import MonthlySum, totals_of_rows
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.transfer_pairs import with_transfers
from mdvec.household.core.wording import format_currency, sums_in_words
from mdvec.household.deciding import (
    DECISIONS,
    Confirmation,
    InvalidDecision,
    KeepInTransfer,
    RowNotInCandidate,
)
from mdvec.household.interfaces.duplicate_checks import compared_rows, transactions_with_ids
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import counts
from mdvec.household.interfaces.marks import kept_rows
from mdvec.household.review import DuplicateResolutionError
from mdvec.log import record
from mdvec.tools import offered_name


class SharedDecision(NamedTuple):
    """A decision about two rows, by id; of a purchase, the row ``kept`` stays in the sums."""

    kept: int
    other: int
    decision: str
    is_transfer: bool
    both_count: bool


def shared_decisions(ledgers: Mapping[str, Ledger]) -> list[SharedDecision]:
    """The decisions about rows of these households, the oldest first."""
    ids = "(SELECT value FROM json_each(?1))"
    rows = _connection_of(ledgers).execute(
        f"SELECT a.id, b.id, s.decision, s.is_transfer, {counts('a')} AND {counts('b')} "
        f"FROM shared_pairs AS s {_ROWS} "
        f"WHERE s.kept_tool IN {ids} AND s.other_tool IN {ids} ORDER BY s.id",
        (json.dumps([ledger.tool_id for ledger in ledgers.values()]),),
    )
    return [SharedDecision(*row) for row in rows]


def _connection_of(ledgers: Mapping[str, Ledger]) -> apsw.Connection:
    """The connection to the database, which all the ledgers share."""
    return next(iter(ledgers.values())).connection


def rows_left_out_of_all(decisions: Iterable[SharedDecision]) -> set[int]:
    """The ids of rows that a sum over all households leaves out; one row of each purchase stays.

    A decision only matters if both of its rows count; otherwise the sum has at most one of them
    anyway.
    """
    decided = [each for each in decisions if each.decision == "duplicate" and each.both_count]
    purchases = [(each.kept, each.other) for each in decided if not each.is_transfer]
    return kept_rows(purchases).keys() | _rows_of_transfers(decided)


def _rows_of_transfers(decisions: Iterable[SharedDecision]) -> set[int]:
    return {row for each in decisions if each.is_transfer for row in (each.kept, each.other)}


_ROWS = (
    "JOIN transactions AS a ON a.tool_id = s.kept_tool AND a.identity = s.kept_identity "
    "JOIN transactions AS b ON b.tool_id = s.other_tool AND b.identity = s.other_identity"
)


def decide_shared(
    ledgers: Mapping[str, Ledger], rows: Sequence[int], decision: str, keep: int | None = None
) -> Confirmation:
    """Store the decision about two rows (ids) of two different households.

    Only the sum over all households changes. Of a purchase (``duplicate``) it counts the row
    ``keep``, by default the first; of a transfer (amounts of opposite signs) neither row. ``skip``
    withdraws a decision.

    Raises:
        InvalidDecision, RowNotInCandidate, KeepInTransfer: as ``deciding.confirm``.
        DuplicateResolutionError: the rows are not those of two households.
    """
    if decision not in DECISIONS:
        raise InvalidDecision(decision)
    with _connection_of(ledgers) as connection:
        by_id = {
            row.id: (name, row)
            for name, ledger in ledgers.items()
            for row in transactions_with_ids(ledger, rows).values()
        }
        households = sorted({name for name, _ in by_id.values()})
        if (len(set(rows)), len(by_id), len(households)) != (2, 2, 2):
            raise DuplicateResolutionError(
                "check_id を指定するか、家計簿のあいだの組なら transaction_ids に、別々の家計簿の"
                "取引IDを2件指定してください（household_report の households に並びます）"
            )
        if keep is not None and keep not in rows:
            raise RowNotInCandidate("keep", rows)
        is_transfer = math.prod(row.amount or 0 for _, row in by_id.values()) < 0
        if is_transfer and keep is not None:
            raise KeepInTransfer
        kept_id = rows[0] if keep is None else keep
        (other,) = set(rows) - {kept_id}
        _store(connection, decision, kept_id, other, is_transfer=is_transfer)
    record("decision", households=tuple(households), decision=decision)
    dropped = () if decision != "duplicate" else (kept_id, other) if is_transfer else (other,)
    message = _message(decision, by_id[kept_id][0], kept_id, other, is_transfer=is_transfer)
    shown = [
        f"- {_row_text(_shared_row(name, row))}" for name, row in (by_id[kept_id], by_id[other])
    ]
    return Confirmation(
        success=True,
        message=answer_text([message, *shown]),
        marked_transaction_id=dropped[0] if dropped else None,
        marked_transaction_ids=dropped,
    )


def _store(
    connection: apsw.Connection, decision: str, kept: int, other: int, *, is_transfer: bool
) -> None:
    """Replace the decision about two rows; ``skip`` only deletes it."""
    connection.execute(
        "DELETE FROM shared_pairs WHERE id IN (SELECT s.id FROM shared_pairs AS s "
        f"{_ROWS} WHERE (a.id, b.id) IN (VALUES (?1, ?2), (?2, ?1)))",
        (kept, other),
    )
    if decision != "skip":
        connection.execute(
            "INSERT INTO shared_pairs "
            "(kept_tool, kept_identity, other_tool, other_identity, decision, is_transfer) "
            "SELECT a.tool_id, a.identity, b.tool_id, b.identity, ?, ? "
            "FROM transactions AS a, transactions AS b WHERE a.id = ? AND b.id = ?",
            (decision, is_transfer, kept, other),
        )


def left_out_of_the_sum(ledgers: Mapping[str, Ledger], days: Days) -> tuple[list[MonthlySum], str]:
    """What the user's decisions leave out of the sum of these days over all households.

    Returns cells to add to the sum, which subtract these rows, and a note on them, "" for none.
    """
    decisions = shared_decisions(ledgers)
    transfers, gone = _rows_of_transfers(decisions), rows_left_out_of_all(decisions)
    dropped = [
        row
        for ledger in ledgers.values()
        for row in transactions_with_ids(ledger, gone).values()
        if days.first <= row.date <= days.last
    ]
    cells = [
        MonthlySum(Month.of(row.date), row.category_major, "", why, sign, sign * (row.amount or 0))
        for row in dropped
        for why, sign in ((None, -1), ("transfer" if row.id in transfers else "duplicate", 1))
    ]
    parts = [
        f"{what} {totals.rows:,}件"
        f"（{sums_in_words(totals.spending, totals.income) or '0円'}）"
        for what, moved in (("両方にある買い物", False), ("家計簿のあいだの振替", True))
        if (totals := totals_of_rows(
            (row.category_major, row.amount or 0)
            for row in dropped if (row.id in transfers) == moved
        )).rows
    ]  # fmt: skip
    if not parts:
        return cells, ""
    return cells, (
        f"判定により、合計だけから除いたもの: {'、'.join(parts)}。各家計簿の金額は変わりません"
    )


def _message(decision: str, household: str, kept_id: int, other: int, *, is_transfer: bool) -> str:
    undo = "取り消すには、同じ2件を skip で判定してください。"
    match decision:
        case "skip":
            return "判定を取り消しました。全家計簿の合計は、どちらの行も数えます。"
        case "not_duplicate":
            return f"別の取引として記録しました。今後候補に出ません。{undo}"
    if is_transfer:
        return (
            f"家計簿のあいだの振替として記録しました。全家計簿の合計は、"
            f"取引ID {kept_id} と {other} を数えません。各家計簿の金額は変わりません。{undo}"
        )
    return (
        f"同じ買い物として記録しました。全家計簿の合計は、{household} の取引ID {kept_id} だけを"
        f"数えます。各家計簿の金額は変わりません。{undo}"
    )


_AROUND = timedelta(days=45)
"""Rows so near to the period are compared too, since they show habits."""
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
    """Rows of two households that are likely one purchase or (``is_transfer``) one transfer.

    ``reasons`` are in Japanese. Nothing is decided yet: both rows count.
    """

    first: SharedRow
    second: SharedRow
    is_transfer: bool
    reasons: tuple[str, ...]


def pairs_across(ledgers: Mapping[str, Ledger], days: Days) -> list[SharedPair] | None:
    """The likely pairs of rows of two households with a row in ``days``; ``ledgers`` are by name.

    Pairs that were decided are left out. None if there are too many rows to compare.
    """
    homes: dict[int, str] = {}
    rows: list[ComparedRow] = []
    for name, ledger in ledgers.items():
        near = [
            row
            for row in compared_rows(ledger)
            if row.counts and days.first - row.date <= _AROUND and row.date - days.last <= _AROUND
        ]
        homes |= dict.fromkeys((row.id for row in near), name)
        rows += near
    decisions = shared_decisions(ledgers)
    decided = {frozenset((decision.kept, decision.other)) for decision in decisions}
    gone = rows_left_out_of_all(decisions)
    rows = [row for row in rows if row.id not in gone]
    twins = _twins(rows, homes)
    paired = {row_id for pair in twins for row_id in pair.ids}
    try:
        likely = _likely_pairs([row for row in rows if row.id not in paired], homes)
    except DuplicateDetectionError:
        return None
    return [
        SharedPair(
            _shared_row(homes[pair.first.id], pair.first),
            _shared_row(homes[pair.second.id], pair.second),
            pair.kind is PairKind.TRANSFER,
            reasons_in_words(pair.reasons),
        )
        for pair in (*twins, *likely)
        if homes[pair.first.id] != homes[pair.second.id]
        and frozenset(pair.ids) not in decided
        and any(days.first <= row.date <= days.last for row in (pair.first, pair.second))
    ]


def pairs_in_words(pairs: Iterable[SharedPair]) -> list[str]:
    """The pairs in Japanese, a line each, purchases first; only the largest ten of each kind."""
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
        yen = {
            pair.second.id: max(abs(pair.first.amount), abs(pair.second.amount)) for pair in group
        }
        twice = format_currency(sum(yen.values()))
        lines.append(f"{what}: {len(group):,}件（合計はどちらの行も数え、最大 {twice}多い{more}）")
        group.sort(key=lambda pair: (-abs(pair.first.amount), pair.first.day, pair.first.id))
        lines += [
            f"- {_row_text(pair.first)} と {_row_text(pair.second)}: {'。'.join(pair.reasons)}"
            for pair in group[:_MAX_TOLD]
        ]
    confirm = offered_name("confirm_duplicate")
    how = f"判定は {confirm} に check_id でなく transaction_ids（その2件）を渡します"
    return [*lines, how] if lines else []


def _twins(rows: Iterable[ComparedRow], homes: Mapping[int, str]) -> list[Pair]:
    """Pairs of equal rows of one account in two households; each row is in at most one pair."""
    alike: dict[tuple[object, ...], dict[str, list[ComparedRow]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        if row.account and row.amount:
            key = (row.date, row.amount, row.account, row.description)
            alike[key][homes[row.id]].append(row)
    return [
        Pair(one, other, 1.0, ("same_account",))
        for by_home in alike.values()
        if len(by_home) > 1
        for one, other in zip(*list(by_home.values())[:2], strict=False)
    ]


def _likely_pairs(rows: Iterable[ComparedRow], homes: Mapping[int, str]) -> list[Pair]:
    """The likely pairs of purchases and transfers.

    Raises:
        DuplicateDetectionError: there are too many rows to compare.
    """
    from mdvec.household.core.pairs import find_pairs  # loads NumPy

    # Within a household, equal rows of one account are two purchases; across households, they need
    # not be.
    others = [row._replace(account=f"{row.account}（{homes[row.id]}）") for row in rows]
    options = DetectionOptions()
    detected = with_transfers(find_pairs(others, options), others, options)
    return [pair for pair in detected.pairs if pair.score >= LIKELY]


def _shared_row(household: str, row: Transaction | ComparedRow) -> SharedRow:
    return SharedRow(household, row.id, row.date, row.description, row.amount or 0)


def _row_text(row: SharedRow) -> str:
    shop = shown_name(row.description)
    return f"{row.day} {shop} {format_currency(row.amount)}（{row.household}、ID {row.id}）"
