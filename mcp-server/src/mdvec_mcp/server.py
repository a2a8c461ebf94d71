"""The MCP server: its tools from the database's rows, its errors in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult
from mdvec import __version__
from mdvec.analysis.exports import ExportFolder
from mdvec.manage.registering import list_tools
from mdvec.settings import Settings
from mdvec.tools.rows import Tool
from pydantic import ValidationError

from mdvec_mcp.analytics.core.messages import Limits
from mdvec_mcp.analytics.data import KINDS, current_data
from mdvec_mcp.analytics.dataset_tool import add_dataset_tool
from mdvec_mcp.analytics.process.query_process import QueryProcess
from mdvec_mcp.analytics.prompt import IN_SHORT, add_analytics_prompt
from mdvec_mcp.analytics.reaper import Reaper
from mdvec_mcp.analytics.service import Analytics
from mdvec_mcp.analytics.tools import add_analytics_tools
from mdvec_mcp.charts.server import ChartServer
from mdvec_mcp.household.pictures import Charting
from mdvec_mcp.household.resources import add_household_resources
from mdvec_mcp.household.review_tools import add_duplicate_tools
from mdvec_mcp.household.tools import Asking, add_household_tools
from mdvec_mcp.search.model_pool import ModelPool
from mdvec_mcp.search.tools import (
    Searching,
    add_get_document,
    add_search_across,
    add_search_tool,
)


class MdvecServer(MCPServer):
    """The SDK's server, with messages that a model can act on."""

    def __init__(self, name: str, *, version: str, instructions: str) -> None:
        # Served, subscriptions would be promised to clients; nothing is ever published to them.
        super().__init__(name, version=version, instructions=instructions, subscriptions=False)
        self._at_beginning: list[Callable[[], None]] = []
        self._at_end: list[Callable[[], None]] = []

    def at_beginning(self, work: Callable[[], None]) -> None:
        """Have something begun when the server is served."""
        self._at_beginning.append(work)

    def at_end(self, work: Callable[[], None]) -> None:
        """Have something done when the client has gone."""
        self._at_end.append(work)

    def begin(self) -> None:
        """Do what was left for the beginning."""
        for work in self._at_beginning:
            work()

    def close(self) -> None:
        """Do what was left for the end."""
        for work in self._at_end:
            work()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; what it refuses comes back as one sentence.

        Raises:
            ToolError: the tool is unknown, or cannot do this; the text is for the model.
        """
        self._refuse_unknown(name, arguments)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(_sentence(name, cause)) from error
            if isinstance(cause, ToolError):
                raise cause from error
            raise

    def _refuse_unknown(self, name: str, arguments: dict[str, Any]) -> None:
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            raise ToolError(
                f"there is no tool {name!r} here; the tools were read when this server started, "
                "so restart it after 'mdvec tool add' or 'mdvec tool enable'"
            )
        known = tool.parameters.get("properties", {})
        unknown = [key for key in arguments if key not in known]
        if unknown:
            raise ToolError(f"{name} has no parameter {unknown[0]!r}; it takes: {', '.join(known)}")


def build_server(
    database: Path, tools: Sequence[Tool], models: ModelPool, settings: Settings
) -> MdvecServer:
    """A server that offers ``tools``; nothing is loaded yet."""
    server = MdvecServer("mdvec", version=__version__, instructions=_instructions(tools, database))
    searching = Searching(database, models, settings.search)
    analytics = _add_analytics(server, tools, database, settings)
    for tool in tools:
        if tool.kind == "dataset" and analytics is not None:
            add_dataset_tool(server, tool, database, analytics)
        else:
            add_search_tool(server, tool, searching)
    add_search_across(server, searching)
    add_get_document(server, searching)
    if any(tool.kind == "household" for tool in tools):
        _add_household(server, database, settings)
    return server


def _add_household(server: MdvecServer, database: Path, settings: Settings) -> None:
    """Offer what is there for households; which ones are active is looked up at each call."""

    def households() -> list[Tool]:
        return [tool for tool in list_tools(database, active_only=True) if tool.kind == "household"]

    asking = Asking(database, households)
    charts = ChartServer(settings.charts)
    server.at_end(charts.close)
    add_household_tools(server, asking, Charting(settings.charts, charts))
    add_household_resources(server, asking)
    add_duplicate_tools(server, database, households, settings.duplicates.options())


def _add_analytics(
    server: MdvecServer, tools: Sequence[Tool], database: Path, settings: Settings
) -> Analytics | None:
    """Offer SQL over the rows that have tables; None where there are none."""
    if not any(tool.kind in KINDS for tool in tools):
        return None
    limits = settings.analytics
    exports = ExportFolder(
        settings.analytics_folder, limits.export_ttl_seconds, limits.max_total_bytes
    )
    queries = QueryProcess(
        settings.analytics_folder,
        Limits(limits.max_seconds, limits.max_memory_mb, limits.max_export_bytes),
        lambda: current_data(database),
    )
    analytics = Analytics(queries, exports, limits)
    reaper = Reaper(analytics)
    server.at_end(reaper.close)
    server.at_end(queries.close)
    server.at_beginning(queries.warm)
    server.at_beginning(reaper.start)
    add_analytics_tools(server, analytics)
    add_analytics_prompt(server)
    return analytics


def _instructions(tools: Sequence[Tool], database: Path) -> str:
    if not tools:
        return (
            f"mdvec searches the user's own documents, but no tool is active in {database.name}. "
            'The user can add one in a terminal: mdvec tool add -n NAME -d "what is in it" '
            "-s FOLDER, then mdvec import -n NAME, or switch one on: mdvec tool enable -n NAME. "
            "Then restart this server."
        )
    names = ", ".join(tool.name for tool in tools if tool.kind != "dataset")
    searched = (
        f"Each of these tools searches one collection of the user's own documents: {names}. "
        "The tool search asks all of them at once, also those that were added since. "
        "Ask in the language of the documents, in whole questions; Japanese needs no spaces. "
        "Every hit names its file and lines; content is exactly what stands there, and "
        "get_document reads on."
    )
    parts = [
        searched if names else "",
        _household_instructions([tool.name for tool in tools if tool.kind == "household"]),
        IN_SHORT if any(tool.kind in KINDS for tool in tools) else "",
    ]
    return " ".join(part for part in parts if part)


def _household_instructions(names: Sequence[str]) -> str:
    if not names:
        return ""
    return (
        f"{', '.join(names)} holds the household's transactions: for sums, trends and charts use "
        "get_monthly_household and get_category_trend, which count rightly, rather than adding up "
        "hits; say which period and category was understood. Mark duplicates only when the user "
        "has decided."
    )


def _sentence(name: str, error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "arguments"
    if first["type"] == "missing":
        return f"{name} needs the parameter {field!r}"
    given = json.dumps(first["input"], ensure_ascii=False, default=str)
    shown = given if len(given) <= 60 else given[:60] + "…"
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{name}: {field} {message[:1].lower()}{message[1:]}, not {shown}"
