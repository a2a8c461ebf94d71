"""Decisions about rows of two households, which a sum over both counts once or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import apsw

from mdvec.dates.days import Days
from mdvec.dates.months import Month
from mdvec.household.core.categories import INCOME
from mdvec.household.core.decision_wording import Confirmation
from mdvec.household.core.sums import MonthlySum
from mdvec.household.core.transaction import Transaction
from mdvec.household.core.wording import format_currency
from mdvec.household.deciding import DECISIONS, InvalidDecision, KeepInTransfer, RowNotInCandidate
from mdvec.household.interfaces.checks import transactions_with_ids
from mdvec.household.interfaces.shared_pairs import (
    delete_shared,
    put_shared,
    rows_told_twice,
    shared_decisions,
)
from mdvec.household.review import DuplicateResolutionError
from mdvec.log.activity import record


class NotOfTwoHouseholds(DuplicateResolutionError):
    """The rows named are not one row each of two households."""

    def __init__(self) -> None:
        super().__init__(
            "check_id を指定するか、家計簿のあいだの組なら transaction_ids に、別々の家計簿の"
            "取引IDを2件指定してください（household_report の households に並びます）"
        )


@dataclass(frozen=True, slots=True)
class SharedLeftOut:
    """The rows of a period that a sum over households leaves out, as cells to subtract.

    ``text`` says which, or is "".
    """

    cells: tuple[MonthlySum, ...]
    text: str


def decide_shared(
    connection: apsw.Connection,
    tools: Mapping[str, int],
    rows: Sequence[int],
    decision: str,
    keep: int | None = None,
) -> Confirmation:
    """Store the decision about two rows, one of each of two households (tool ids by name).

    Only the sum over all households changes: of a purchase (``duplicate``) it counts the row
    ``keep``, by default the first; of a transfer (amounts of opposite signs) neither row.
    ``skip`` takes a decision back.

    Raises:
        InvalidDecision, RowNotInCandidate, KeepInTransfer: as ``deciding.confirm``.
        NotOfTwoHouseholds: the rows are not those of two households.
    """
    if decision not in DECISIONS:
        raise InvalidDecision(decision)
    with connection:
        found = {
            name: of_it
            for name, tool_id in tools.items()
            if (of_it := transactions_with_ids(connection, tool_id, rows))
        }
        if len(set(rows)) != 2 or [len(of_it) for of_it in found.values()] != [1, 1]:
            raise NotOfTwoHouseholds
        if keep is not None and keep not in rows:
            raise RowNotInCandidate("keep", rows)
        by_id = {row.id: (name, row) for name, of_it in found.items() for row in of_it.values()}
        is_transfer = _is_transfer([row for _, row in by_id.values()])
        if is_transfer and keep is not None:
            raise KeepInTransfer
        kept = rows[0] if keep is None else keep
        (other,) = set(rows) - {kept}
        if decision == "skip":
            delete_shared(connection, kept, other)
        else:
            put_shared(connection, kept, other, decision, is_transfer=is_transfer)
    record("decision", households=tuple(sorted(found)), decision=decision)
    dropped = () if decision != "duplicate" else (kept, other) if is_transfer else (other,)
    message = _message(decision, by_id[kept][0], kept, other, is_transfer=is_transfer)
    return Confirmation(
        success=True,
        message=message,
        marked_transaction_id=dropped[0] if dropped else None,
        marked_transaction_ids=dropped,
    )


def left_out_of_the_sum(
    connection: apsw.Connection, tools: Mapping[str, int], days: Days
) -> SharedLeftOut:
    """What the sum of these days over all households leaves out by the user's decisions."""
    decisions = shared_decisions(connection, tools.values())
    transfers = {row for one in decisions if one.is_transfer for row in (one.kept, one.other)}
    dropped = [
        row
        for tool_id in tools.values()
        for row in transactions_with_ids(connection, tool_id, rows_told_twice(decisions)).values()
        if days.first <= row.date <= days.last
    ]
    cells = tuple(
        MonthlySum(Month.of(row.date), row.category_major, "", None, -1, -(row.amount or 0))
        for row in dropped
    )
    told = [
        (what, group)
        for what, moved in (("両方にある買い物", False), ("家計簿のあいだの振替", True))
        if (group := [row for row in dropped if (row.id in transfers) == moved])
    ]
    if not told:
        return SharedLeftOut((), "")
    parts = "、".join(f"{what} {len(group):,}件（{_yen(group)}）" for what, group in told)
    return SharedLeftOut(
        cells, f"判定により、合計だけから除いたもの: {parts}。各家計簿の金額は変わりません"
    )


def _is_transfer(rows: Sequence[Transaction]) -> bool:
    one, other = (row.amount or 0 for row in rows)
    return (one < 0) != (other < 0) and one != 0 and other != 0


def _yen(rows: Sequence[Transaction]) -> str:
    earned = sum(row.amount or 0 for row in rows if row.category_major == INCOME)
    spent = -sum(row.amount or 0 for row in rows if row.category_major != INCOME)
    sums = [f"{name} {format_currency(yen)}" for name, yen in (("支出", spent), ("収入", earned))
            if yen]  # fmt: skip
    return "、".join(sums) or "0円"


def _message(decision: str, household: str, kept: int, other: int, *, is_transfer: bool) -> str:
    undo = "取り消すには、同じ2件を skip で判定してください。"
    match decision:
        case "skip":
            return "判定を取り消しました。全家計簿の合計は、どちらの行も数えます。"
        case "not_duplicate":
            return f"別の取引として記録しました。今後候補に出ません。{undo}"
    if is_transfer:
        return (
            f"家計簿のあいだの振替として記録しました。全家計簿の合計は、取引ID {kept} と {other} を"
            f"数えません。各家計簿の金額は変わりません。{undo}"
        )
    return (
        f"同じ買い物として記録しました。全家計簿の合計は、{household} の取引ID {kept} だけを"
        f"数えます。各家計簿の金額は変わりません。{undo}"
    )
