"""Queries on a ledger: its months, categories, sums, and pages of its rows."""

from __future__ import annotations

from datetime import date
from typing import Any

import apsw

from mdvec.dates.months import Month, MonthRange
from mdvec.household.core.categories import INCOME, Category
from mdvec.household.core.subjects import Subject, Total
from mdvec.household.core.sums import MonthlySum
from mdvec.household.core.transaction import Transaction
from mdvec.household.interfaces.counting import counts, in_ledger, left_out
from mdvec.household.interfaces.rows import TRANSACTION_COLUMNS, read_transaction


def tool_name(connection: apsw.Connection, tool_id: int) -> str:
    """The name of the household's tool."""
    row = connection.execute("SELECT name FROM tools WHERE id = ?", (tool_id,)).fetchone()
    return "" if row is None else str(row[0])


def months_with_rows(connection: apsw.Connection, tool_id: int) -> list[Month]:
    """Every month with rows, in order."""
    # A step through the index for each month: counting every row takes a hundred times as long.
    rows = connection.execute(
        "WITH RECURSIVE present(month) AS (SELECT substr(min(date), 1, 7) FROM transactions "
        f"WHERE tool_id = ?1 AND {in_ledger()} "
        "UNION ALL SELECT (SELECT substr(min(date), 1, 7) FROM transactions "
        f"WHERE tool_id = ?1 AND date > month || '-31' AND {in_ledger()}) "
        "FROM present WHERE month IS NOT NULL) "
        "SELECT month FROM present WHERE month IS NOT NULL",
        (tool_id,),
    )
    return [Month.from_iso(str(month)) for (month,) in rows]


def rows_at_most(connection: apsw.Connection, tool_id: int, months: MonthRange, most: int) -> int:
    """The number of rows in these months, but at most ``most``."""
    where, values = _where(tool_id, months, None)
    rows = connection.execute(
        "SELECT count(*) FROM "
        f"(SELECT 1 FROM transactions WHERE {where} AND {in_ledger()} LIMIT ?)",
        (*values, most),
    )
    return int(str(rows.fetchall()[0][0]))


def last_day(connection: apsw.Connection, tool_id: int, months: MonthRange) -> date | None:
    """The day of the last row in these months."""
    where, values = _where(tool_id, months, None)
    row = connection.execute(
        f"SELECT max(date) FROM transactions WHERE {where} AND {in_ledger()}", values
    ).fetchone()
    return None if row is None or row[0] is None else date.fromisoformat(str(row[0]))


def rows_by_month(
    connection: apsw.Connection, tool_id: int, months: MonthRange
) -> dict[Month, int]:
    """The number of rows by month; months without rows are missing."""
    where, values = _where(tool_id, months, None)
    rows = connection.execute(
        "SELECT substr(date, 1, 7), count(*) FROM transactions "
        f"WHERE {where} AND {in_ledger()} GROUP BY 1",
        values,
    )
    return {Month.from_iso(str(month)): int(str(count)) for month, count in rows}


def category_names(connection: apsw.Connection, tool_id: int) -> list[tuple[str, str]]:
    """Every combination of 大項目 and 中項目 in the ledger."""
    # The plus keeps SQLite off the index: reading the table through is seven times as fast as
    # looking up each of its rows.
    rows = connection.execute(
        "SELECT DISTINCT category_major, category_minor FROM transactions WHERE +tool_id = ?",
        (tool_id,),
    )
    return [(str(major), str(minor)) for major, minor in rows]


def monthly_sums(
    connection: apsw.Connection,
    tool_id: int,
    months: MonthRange,
    subject: Subject | None,
    *,
    by_minor: bool,
) -> list[MonthlySum]:
    """Sums by month and category, and by the reason why rows do not count.

    Without ``by_minor``, sums are by 大項目, and ``category_minor`` is "".
    """
    minor_column = "category_minor" if by_minor else "''"
    where, values = _where(tool_id, months, subject)
    rows = connection.execute(
        f"SELECT substr(date, 1, 7), category_major, {minor_column}, {left_out()}, count(*), "
        f"coalesce(sum(amount), 0) FROM transactions WHERE {where} GROUP BY 1, 2, 3, 4",
        values,
    )
    return [
        MonthlySum(
            month=Month.from_iso(str(month)),
            category_major=str(major),
            category_minor=str(minor),
            left_out=None if reason is None else str(reason),
            rows=int(str(count)),
            amount=int(str(amount)),
        )
        for month, major, minor, reason, count, amount in rows
    ]


def page_of_rows(
    connection: apsw.Connection,
    tool_id: int,
    months: MonthRange,
    subject: Subject | None,
    *,
    offset: int,
    limit: int,
) -> list[Transaction]:
    """A page of rows by date, whether they count or not."""
    where, values = _where(tool_id, months, subject)
    rows = connection.execute(
        f"SELECT {TRANSACTION_COLUMNS} FROM transactions WHERE {where} "
        "ORDER BY date, id LIMIT ? OFFSET ?",
        (*values, limit, offset),
    )
    return [read_transaction(row) for row in rows]


def _where(
    tool_id: int, months: MonthRange, subject: Subject | None
) -> tuple[str, tuple[int | str, ...]]:
    # Dates are text, YYYY-MM-DD: the 31st of any month is at or after its last day.
    where = "tool_id = ? AND date BETWEEN ? AND ?"
    values: tuple[int | str, ...] = (tool_id, f"{months.first}-01", f"{months.last}-31")
    of_subject, names = _of_subject(subject)
    return where + of_subject, (*values, *names)


def _of_subject(subject: Subject | None) -> tuple[str, tuple[str, ...]]:
    if subject is Total.SPENDING:
        return " AND category_major <> ?", (INCOME,)
    if not isinstance(subject, Category):
        return "", ()
    if subject.minor is None:
        return " AND category_major = ?", (subject.major,)
    return " AND category_major = ? AND category_minor = ?", (subject.major, subject.minor)


def planned_sums(
    connection: apsw.Connection,
    tool_id: int,
    months: MonthRange,
    subject: Subject | None,
    today: date,
) -> list[MonthlySum]:
    """Sums of the counting rows dated after today, by month and 大項目."""
    where, values = _where(tool_id, months, subject)
    rows = connection.execute(
        "SELECT substr(date, 1, 7), category_major, count(*), sum(amount) FROM transactions "
        f"WHERE {where} AND date > ? AND {counts()} GROUP BY 1, 2",
        (*values, today.isoformat()),
    )
    return [_counted_sum(row) for row in rows]


def pending_removal_sums(
    connection: apsw.Connection, tool_id: int, months: MonthRange, subject: Subject | None
) -> list[MonthlySum]:
    """Sums of the rows that vanished but count until the user confirms, by month and 大項目."""
    where, values = _where(tool_id, months, subject)
    rows = connection.execute(
        "SELECT substr(date, 1, 7), category_major, count(*), sum(amount) "
        "FROM transactions INDEXED BY idx_transactions_removal "
        f"WHERE {where} AND removal = 'asked' AND {counts()} GROUP BY 1, 2",
        values,
    )
    return [_counted_sum(row) for row in rows]


def _counted_sum(row: tuple[Any, ...]) -> MonthlySum:
    month, major, rows, amount = row
    return MonthlySum(
        month=Month.from_iso(month),
        category_major=major,
        category_minor="",
        left_out=None,
        rows=rows,
        amount=amount,
    )


def rows_outside(
    connection: apsw.Connection, tool_id: int, months: MonthRange, limit: int
) -> tuple[int, list[Transaction]]:
    """The number of rows before or after these months, and the first of them."""
    where = f"tool_id = ? AND (date < ? OR date > ?) AND {in_ledger()}"
    values = (tool_id, f"{months.first}-01", f"{months.last}-31")
    counted = connection.execute(f"SELECT count(*) FROM transactions WHERE {where}", values)
    rows = connection.execute(
        f"SELECT {TRANSACTION_COLUMNS} FROM transactions WHERE {where} ORDER BY date, id LIMIT ?",
        (*values, limit),
    )
    return int(str(counted.fetchall()[0][0])), [read_transaction(row) for row in rows]
