"""A dataset's own tool: what its tables are, and the answers to small queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcp_types import CallToolResult, ToolAnnotations
from mdvec.interfaces.database.tools import Tool
from pydantic import Field

from mdvec_mcp.analytics import Analytics
from mdvec_mcp.analytics_data import described, tables_of
from mdvec_mcp.core.analytics.guard import Answer
from mdvec_mcp.interfaces.mcp import analytics_models as models
from mdvec_mcp.interfaces.mcp.analytics_tools import Sql, answered

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer


def add_dataset_tool(server: MCPServer, tool: Tool, database: Path, analytics: Analytics) -> None:
    """Offer one dataset under its own name and description."""

    async def ask_dataset(
        query: Sql | None = None,
        statistics_only: Annotated[  # noqa: FBT002 - a tool's arguments have names
            bool, Field(description="Profile the query's result instead of returning rows.")
        ] = False,
        max_output_size: Annotated[
            int | None, Field(ge=200, le=1_000_000, description="Bytes the answer may have.")
        ] = None,
    ) -> Annotated[CallToolResult, models.DatasetModel]:
        def work() -> Answer:
            guard = analytics.guard.within(max_output_size)
            if query is None:
                return described(tool.name, tables_of(database, tool.name), guard)
            if statistics_only:
                return analytics.profile(query, None, None, None, exact=False, guard=guard)
            return analytics.ask(query, guard)

        return await answered(analytics, work)

    server.add_tool(
        ask_dataset,
        name=tool.name,
        description=f"{tool.description}\n\nA dataset for SQL: without a query it tells its "
        "tables, columns and periods; with one it answers with at most a few aggregated rows.",
        annotations=ToolAnnotations(
            read_only_hint=True, idempotent_hint=True, open_world_hint=False
        ),
        structured_output=True,
    )
