"""The rows that were found: their sums, by shop, category, account or month, and themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import apsw

from mdvec.household.core.categories import INCOME
from mdvec.household.core.csv_text import span_at
from mdvec.household.core.found import MAX_GROUPS, OTHERS, FoundGroup, Totals
from mdvec.household.core.statement_text import row_heading
from mdvec.household.core.transaction import RowNote, Transaction
from mdvec.household.interfaces import subjects
from mdvec.household.interfaces.columns import Codes, LedgerColumns
from mdvec.household.interfaces.plans import notes_on
from mdvec.household.interfaces.subjects import RowMentions
from mdvec.index import StoredChunk, StoredText, documents
from mdvec.text import folded, named_dates
from mdvec.tools import Tool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


GroupBy = Literal["shop", "category", "account", "month"]


def totals_of(columns: LedgerColumns, chosen: Mask) -> Totals:
    """The exact sums of some rows."""
    import numpy as np

    amounts = columns.amounts[chosen]
    is_income = np.array(
        [category[0] == INCOME for category in columns.categories.values], np.bool_
    )
    income = is_income[columns.categories.places[chosen]]
    earned, balance = int(amounts[income].sum()), int(amounts.sum())
    return Totals(int(chosen.sum()), earned - balance, earned)


def found_groups(
    columns: LedgerColumns, chosen: Mask, group_by: GroupBy | None, month_starts_on: int
) -> tuple[FoundGroup, ...]:
    """The largest groups, and one of the others; months are all listed, in order."""
    match group_by:
        case None:
            return ()
        case "shop":
            largest, others = sums_by(columns, chosen, columns.shops, str)
        case "account":
            largest, others = sums_by(
                columns, chosen, columns.accounts, lambda account: account or "（口座なし）"
            )
        case "category":
            largest, others = sums_by(
                columns, chosen, columns.categories,
                lambda category: " > ".join(filter(None, category)) or "未分類",
            )  # fmt: skip
        case "month":
            codes = columns.months(month_starts_on)
            months, _ = sums_by(columns, chosen, codes, str, len(codes.values))
            return tuple(sorted(months, key=lambda group: group.name))
    if others is None:
        return largest
    return (*largest, FoundGroup(others.rows, others.spending, others.income, OTHERS))


def sums_by(
    columns: LedgerColumns,
    chosen: Mask,
    codes: Codes,
    name: Callable[[Any], str],
    most: int = MAX_GROUPS,
) -> tuple[tuple[FoundGroup, ...], Totals | None]:
    """The groups of equal values in a column with the largest sums, and the totals of the others.

    ``name`` gives a value's name.
    """
    import numpy as np

    places = codes.places[chosen]
    amounts = columns.amounts[chosen]
    is_income = np.array(
        [category[0] == INCOME for category in columns.categories.values], np.bool_
    )
    earned = np.where(is_income[columns.categories.places[chosen]], amounts, 0)
    size = len(codes.values)
    rows = np.bincount(places, minlength=size)
    balances, incomes = np.zeros(size, amounts.dtype), np.zeros(size, amounts.dtype)
    np.add.at(balances, places, amounts)
    np.add.at(incomes, places, earned)
    groups = [
        FoundGroup(
            int(rows[code]),
            int(incomes[code] - balances[code]),
            int(incomes[code]),
            name(codes.values[code]),
        )
        for code in np.flatnonzero(rows)
    ]
    groups.sort(key=lambda group: (-abs(group.balance), group.name))
    left = groups[most:]
    return tuple(groups[:most]), added(left) if left else None


def added(totals: Sequence[Totals]) -> Totals:
    """The sum of totals."""
    return Totals(
        sum(total.rows for total in totals),
        sum(total.spending for total in totals),
        sum(total.income for total in totals),
    )


_NUMBER = re.compile(r"\d[\d,]*")
_MAX_AMOUNT = 10**15


def rows_of_chunk(
    connection: apsw.Connection, tool: Tool, chunk: StoredChunk, question: str, limit: int
) -> Sequence[StoredChunk]:
    """The rows with a chunk's subject, each as the chunk of its place in its file.

    Those whose day, amount or note the question names come first, then the newest. A row has the
    id of its transaction, also at the end of its heading, and the present marks of the ledger.
    """
    rows = subjects.rows_like(connection, tool.id, chunk.chunk_index, _wanted(question), limit)
    files = {row.source_file for row in rows}
    texts = {path: documents.stored_text(connection, tool.tables, path) for path in files}
    noted = notes_on(connection, tool.id, [row.id for row in rows])
    return [_at_its_place(chunk, row, noted.get(row.id), texts[row.source_file]) for row in rows]


def _wanted(question: str) -> RowMentions:
    text = folded(question)
    numbers = (int(written.replace(",", "")) for written in _NUMBER.findall(text))
    days = [day.digits for day in named_dates(text)]
    # A day also yields its month, which would match other days.
    exact = [digits for digits in days if len(digits) == 8] or days
    return RowMentions(exact, [number for number in numbers if number < _MAX_AMOUNT], text)


def _at_its_place(
    chunk: StoredChunk, row: Transaction, note: RowNote | None, stored: StoredText | None
) -> StoredChunk:
    content = "" if stored is None else stored.content
    start, end, last_line = span_at(content, row.row_number)
    return replace(
        chunk,
        id=row.id,
        document_id=chunk.document_id if stored is None else stored.id,
        file_path=row.source_file,
        title="" if stored is None else stored.title,
        heading=f"{row_heading(row)}{note.in_words if note else ''} 取引ID {row.id}",
        content=content[start:end] or row.description,
        chunk_index=row.id,
        start_position=start,
        end_position=end,
        start_line=max(row.row_number, 1),
        end_line=max(last_line, 1),
    )
