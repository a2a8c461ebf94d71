"""The tool of one dataset: describes its tables and answers small queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mdvec.tools import Tool
from pydantic import Field

from mdvec_mcp.analytics.core.guard import JsonAnswer
from mdvec_mcp.analytics.data import described_dataset, tables_of
from mdvec_mcp.analytics.guarded import RequestedData
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.tools import Sql, call_within_guard
from mdvec_mcp.calls import READ_ONLY, ToolReply

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

_MIN_OUTPUT_BYTES = 200
_WHAT = (
    "What this one dataset holds: its tables, columns and periods without a query; with one, a few "
    "aggregated rows (SQL over several sources: query)."
)


def add_dataset_tool(offer: Offer, tool: Tool, database: Path, analytics: Analytics) -> None:
    """Add the tool of one dataset, under its own name and description."""

    async def query_dataset(
        query: Sql | None = None,
        statistics_only: Annotated[  # noqa: FBT002 - a tool's arguments have names
            bool, Field(description="Return a profile of the result instead of rows.")
        ] = False,
        max_output_size: int | None = None,
    ) -> ToolReply:
        guard = analytics.guard.within(max_output_size)

        def work() -> JsonAnswer:
            if query is None:
                return described_dataset(tool, tables_of(database, tool.name), guard)
            if statistics_only:
                return analytics.summaries.profile(
                    query, None, None, None, exact=False, guard=guard
                )
            return analytics.small_answers.rows(query, guard)

        asked = RequestedData(query, tool.name)
        return await call_within_guard(analytics, work, asked, guard, runs_sql=query is not None)

    # The schema refuses sizes above the setting, which would otherwise be reduced silently.
    bounds = Field(ge=_MIN_OUTPUT_BYTES, le=analytics.guard.max_bytes, description="Maximum bytes.")
    query_dataset.__annotations__["max_output_size"] = Annotated[int | None, bounds]
    offer.add_tool(
        query_dataset,
        name=tool.name,
        title=tool.title,
        description=f"{_WHAT} {tool.description}",
        annotations=READ_ONLY,
        is_row=True,
    )
