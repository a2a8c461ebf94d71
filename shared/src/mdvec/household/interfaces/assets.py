"""The table of assets by month."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from mdvec.dates.months import Month
from mdvec.household.core.assets import AssetMonth


def put_months(
    connection: apsw.Connection, tool_id: int, path: str, months: Iterable[AssetMonth]
) -> None:
    """Store months in place of those that are known; call within a transaction."""
    for one in months:
        key = (tool_id, str(one.month))
        connection.execute("DELETE FROM asset_months WHERE tool_id = ? AND month = ?", key)
        connection.executemany(
            "INSERT INTO asset_months (tool_id, month, kind, amount, source_file) "
            "VALUES (?, ?, ?, ?, ?)",
            ((*key, kind, amount, path) for kind, amount in one.amounts.items()),
        )


def forget_months(connection: apsw.Connection, tool_id: int) -> None:
    """Delete every month; call within a transaction."""
    connection.execute("DELETE FROM asset_months WHERE tool_id = ?", (tool_id,))


def months_with_assets(connection: apsw.Connection, tool_id: int) -> list[AssetMonth]:
    """Every month, the earliest first."""
    found: dict[str, dict[str, int]] = {}
    for month, kind, amount in connection.execute(
        "SELECT month, kind, amount FROM asset_months WHERE tool_id = ? ORDER BY month, kind",
        (tool_id,),
    ):
        found.setdefault(str(month), {})[str(kind)] = int(str(amount))
    return [AssetMonth(Month.from_iso(month), amounts) for month, amounts in found.items()]
