"""The tools that import what changed, tell how far that is, and how fresh each source is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ToolAnnotations
from mdvec.manage import registering
from mdvec.tools.rows import Tool
from pydantic import Field

from mdvec_mcp.calls import READ_ONLY, in_thread, refuse_empty_database, text_result
from mdvec_mcp.following import AnyContext, follow
from mdvec_mcp.freshness import FreshnessWatch

# Their answers load what an import needs, so the calls import them.
if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer

_IMPORTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

# The answers are structured, but these schemas are not listed: every conversation would pay.


def add_upkeep_tools(offer: Offer, freshness: FreshnessWatch) -> None:
    """Add reindex, reindex_status and list_sources."""
    _add_reindex(offer, freshness)
    _add_status(offer, freshness)
    _add_sources(offer, freshness)


def _add_reindex(offer: Offer, freshness: FreshnessWatch) -> None:
    async def reindex(
        ctx: AnyContext,
        tool: Annotated[str | None, Field(max_length=100, description="Default all.")] = None,
        wait: Annotated[  # noqa: FBT002 - a tool's arguments have names
            bool, Field(description="False returns at once; then see reindex_status.")
        ] = True,
    ) -> CallToolResult:
        from mdvec_mcp.upkeep.answers import outcome_text, outcome_values, started_values

        tools = await in_thread(lambda: _chosen(freshness, tool))
        runs = [freshness.start_import(one) for one in tools]
        if not wait:
            names = ", ".join(one.name for one in tools)
            text = f"importing {names} in the background; reindex_status tells how far it is"
            return text_result(text, started_values(runs))
        try:
            await follow(runs, ctx)
        finally:
            for run in runs:
                run.give_up()
        ends = [(run.tool, run.end) for run in runs]
        values = outcome_values(ends)
        if len(values["notes"]) and not values["tools"]:
            raise ToolError("; ".join(values["notes"]))
        return text_result(outcome_text(ends), values)

    offer.add_tool(
        reindex,
        description="Import what changed in the sources (files, statements, data), so that "
        "all tools answer from it.",
        annotations=_IMPORTS,
        structured_output=False,
    )


def _add_status(offer: Offer, freshness: FreshnessWatch) -> None:
    async def reindex_status() -> CallToolResult:
        from mdvec_mcp.upkeep.answers import imports_now

        imports = await in_thread(lambda: imports_now(freshness))
        text = "\n".join(str(one["text"]) for one in imports) or "no import runs or has run"
        return text_result(text, {"imports": imports})

    offer.add_tool(
        reindex_status,
        description="The imports that run or ended last.",
        annotations=READ_ONLY,
        structured_output=False,
    )


def _add_sources(offer: Offer, freshness: FreshnessWatch) -> None:
    async def list_sources() -> CallToolResult:
        from mdvec.sync import sources as reading

        from mdvec_mcp.upkeep.answers import source_text, source_values

        sources = await in_thread(lambda: reading.list_sources(freshness.database, freshness.rules))
        text = "\n".join(source_text(source) for source in sources)
        values = [source_values(source) for source in sources]
        return text_result(text or "no tool is active", {"sources": values})

    offer.add_tool(
        list_sources,
        description="What each tool reads, how fresh its index is, and which files failed and why.",
        annotations=READ_ONLY,
        structured_output=False,
    )


def _chosen(freshness: FreshnessWatch, name: str | None) -> Sequence[Tool]:
    """The active tool of that name, or all.

    Raises:
        ToolError: there is no such active tool; it names those that there are.
        DatabaseEmptied: there are no tools at all.
    """
    tools = registering.list_tools(freshness.database, active_only=True)
    chosen = [tool for tool in tools if name in (None, tool.name)]
    if not chosen:
        refuse_empty_database(freshness.database)
        if not tools:
            raise ToolError("no tool is active; enable one with: mdvec tool enable -n NAME")
        there = ", ".join(tool.name for tool in tools)
        raise ToolError(f"there is no active tool {name!r}; these are active: {there}")
    return chosen
