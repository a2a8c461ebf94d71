"""The tables as resources, with completion of the names of tables and columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mcp.server.mcpserver.exceptions import ResourceError, ToolError

from mdvec_mcp.analytics.core.discovery import compared_name
from mdvec_mcp.analytics.core.guard import JsonAnswer
from mdvec_mcp.analytics.guarded import RequestedData
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.tools import call_within_guard
from mdvec_mcp.calls import in_thread

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

_TABLES = "data://tables"
_TABLE = "data://tables/{table}{?column,start}"
_JSON = "application/json"


def add_table_resources(offer: Offer, analytics: Analytics) -> None:
    """Add the list of tables, and the columns of each."""

    async def tables() -> str:
        return await _read(analytics, analytics.listing.handles, RequestedData())

    async def table_columns(table: str, column: str = "", start: str = "1") -> str:
        number = int(start) if start.isdecimal() and 0 < int(start) < 10**6 else 1
        describe = partial(analytics.descriptions.describe, table, column or None, number)
        return await _read(analytics, describe, RequestedData(table))

    async def names(_given: dict[str, str]) -> list[str]:
        return await in_thread(lambda: list(analytics.queries.tables()))

    async def columns(given: dict[str, str]) -> list[str]:
        known = await in_thread(analytics.queries.tables)
        there = {compared_name(name): found for name, found in known.items()}
        return [column.name for column in there.get(compared_name(given.get("table", "")), ())]

    offer.add_resource(_TABLES, "The tables that SQL can query, with columns", _JSON, tables)
    offer.resources.add_template(
        table_columns,
        _TABLE,
        description="A table's columns (those whose names hold `column`): types, samples, keys, "
        "periods, joins",
        mime_type=_JSON,
    )
    offer.completions |= {(_TABLE, "table"): names, (_TABLE, "column"): columns}


async def _read(analytics: Analytics, work: Callable[[], JsonAnswer], asked: RequestedData) -> str:
    guard = analytics.listing.guard
    try:
        found = await call_within_guard(
            analytics, work, asked, guard, runs_sql=asked.sql is not None
        )
    except ToolError as error:
        raise ResourceError(str(error)) from error
    return found.text
