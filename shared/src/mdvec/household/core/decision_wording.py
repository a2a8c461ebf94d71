"""The answers to decisions about duplicates and transfers, with their Japanese messages.

Each message states the result and the next possible step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.household.core.transaction import Transaction

_MAX_IDS = 20


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The result of a decision; the rows that no longer count, the first of them by itself too."""

    success: bool
    message: str
    marked_transaction_id: int | None
    marked_transaction_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Restoration:
    """The result of restoring a marked row."""

    success: bool
    message: str


def decision_message(
    decision: str,
    kept_id: int,
    rows: Sequence[Transaction],
    marked_before: Sequence[int],
    *,
    is_new: bool,
    is_transfer: bool,
    is_bill: bool = False,
) -> str:
    """Message after a candidate was decided; ``rows`` are as they are now."""
    if is_bill:
        return bill_message(decision, rows[0], marked_before, is_new=is_new)
    if is_transfer:
        return transfer_message(decision, rows, marked_before, is_new=is_new)
    kept_row = next(row for row in rows if row.id == kept_id)
    others = [row for row in rows if row.id != kept_id]
    if not is_new:
        return already_decided_message(decision, others)
    if decision == "duplicate":
        return mark_message(kept_row, others)
    return rejection_message(rows, marked_before, open_again=decision == "skip")


def transfer_message(
    decision: str, rows: Sequence[Transaction], marked_before: Sequence[int], *, is_new: bool
) -> str:
    """Message after a candidate that may be a transfer was decided."""
    ids = "、".join(str(row.id) for row in rows)
    noted = "記録しました" if is_new else "既に記録されています"
    freed = f"取引ID {ids} は再び集計に含まれます。" if marked_before else ""
    match decision:
        case "duplicate":
            return (
                f"振替として{noted}。取引ID {ids} は収入にも支出にも入りません。"
                "取り消すには restore_duplicate にどちらかの取引IDを渡してください。"
            )
        case "not_duplicate":
            return f"振替ではないと{noted}。この組は今後候補に出ません。{freed}"
    return f"保留にしました。この組は候補に残ります。{freed}"


def bill_message(
    decision: str, bill: Transaction, marked_before: Sequence[int], *, is_new: bool
) -> str:
    """Message after a card's bill was decided."""
    noted = "記録しました" if is_new else "既に記録されています"
    freed = f"取引ID {bill.id} は再び集計に含まれます。" if marked_before else ""
    match decision:
        case "duplicate":
            return (
                f"カードの請求として{noted}。取引ID {bill.id} は支出に入らず、カードの明細が"
                "入ります。取り消すには restore_duplicate にこの取引IDを渡してください。"
                "このカードの請求をいつもそうするときは、alike で判定してください。"
            )
        case "not_duplicate":
            return f"カードの請求ではないと{noted}。この候補は今後出ません。{freed}"
    return f"保留にしました。この候補は残ります。{freed}"


def mark_message(kept_row: Transaction, marked: Sequence[Transaction]) -> str:
    """Message after rows were marked as duplicates of the row that stays."""
    ids = "、".join(str(row.id) for row in marked)
    chain = ""
    if kept_row.is_duplicate:
        chain = (
            f"取引ID {kept_row.id} も重複のため、残る取引は取引ID {kept_row.duplicate_of} です。"
        )
    return (
        f"重複として記録しました。取引ID {kept_row.id} を残し、取引ID {ids} を今後の集計から"
        f"除外しました。{chain}取り消すには restore_duplicate に除外した取引IDを渡してください。"
    )


def bulk_message(
    decision: str,
    candidates: int,
    marked: Sequence[int],
    *,
    is_transfer: bool,
    is_bill: bool = False,
) -> str:
    """Message after several candidates were decided at once."""
    what = "カードの請求" if is_bill else "振替" if is_transfer else "重複"
    match decision:
        case "duplicate":
            ids = "、".join(map(str, marked[:_MAX_IDS]))
            more = f"、ほか{len(marked) - _MAX_IDS}件" if len(marked) > _MAX_IDS else ""
            done = (
                f"{what}として記録し、取引{len(marked)}件（取引ID {ids}{more}）を今後の集計から"
                "除外しました"
            )
        case "not_duplicate":
            done = f"{what}ではないと記録しました。今後候補に出ません"
        case _:
            done = "保留にしました。候補に残ります"
    if is_bill and decision == "duplicate":
        done += "。このカードの今後の請求も、カードの明細と一致すればそうします"
    return (
        f"{candidates}件の候補を{done}。まとめて戻すには、同じ check_id と alike で"
        "もう一度判定してください。"
    )


def rejection_message(
    rows: Sequence[Transaction], marked_before: Sequence[int], *, open_again: bool
) -> str:
    """Message after a candidate was rejected or skipped; a row may have been marked before."""
    word = "保留にしました。この組は候補に残ります。" if open_again else (
        "重複ではないと記録しました。この組は今後候補に出ません。"
    )  # fmt: skip
    for row in rows:
        if row.is_duplicate:
            return (
                f"{word}取引ID {row.id} は別の組で取引ID {row.duplicate_of} の重複と"
                "判定されているため、フラグはそのままです。"
            )
    freed = "、".join(str(row.id) for row in rows if row.id in marked_before)
    return f"{word}取引ID {freed} のフラグを外しました。" if freed else word


def already_decided_message(decision: str, others: Sequence[Transaction]) -> str:
    """Message if the same decision had already been made."""
    match decision:
        case "duplicate":
            ids = "、".join(str(row.id) for row in others)
            return (
                f"この組は既に重複として記録されています。取引ID {ids} は集計から除外されています。"
            )
        case "not_duplicate":
            return "この組は既に重複ではないと記録されています。"
    return "この組は既に保留になっています。候補に残ります。"


def restoration_message(
    row: Transaction, *, was_marked: bool, transfers: Sequence[int] = (), is_bill: bool = False
) -> str:
    """Message after a row was restored, or had not been marked.

    ``transfers`` are the other ends of the transfers that it was an end of.
    """
    if not was_marked:
        return f"取引ID {row.id} は重複や振替としてマークされていません。変更はありません。"
    sums = (
        "再び集計に含まれます。"
        if row.counts
        else "計算対象外などの取引のため、集計には含まれません。"
    )
    if is_bill:
        return f"取引ID {row.id} を戻しました。{sums}「カードの請求ではない」と記録しました。"
    if transfers:
        others = "、".join(map(str, transfers))
        return (
            f"取引ID {row.id} と、振替の相手の取引ID {others} を戻しました。{sums}"
            "その組は「振替ではない」と記録しました。"
        )
    return (
        f"取引ID {row.id} を復元しました。{sums}重複としていた組は「重複ではない」と記録しました。"
    )
