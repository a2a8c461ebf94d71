"""The tools that import what changed, and tell what each source is and how fresh its index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from mdvec.tools import Tool
from pydantic import Field, WithJsonSchema

from mdvec_mcp.calls import READ_ONLY, ToolReply, in_thread
from mdvec_mcp.database_trouble import refuse_empty_database
from mdvec_mcp.freshness import AnyContext, FreshnessWatch, follow
from mdvec_mcp.offer import Offer

# Their answers load what an import needs, so the calls import them.

_IMPORTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_TEXT = WithJsonSchema({"type": "string"})
_WAIT_SECONDS = 15
_MAX_WAIT_SECONDS = 120


def add_upkeep_tools(offer: Offer, freshness: FreshnessWatch) -> None:
    """Add reindex and list_sources."""
    _add_reindex(offer, freshness)
    _add_sources(offer, freshness)


def _add_reindex(offer: Offer, freshness: FreshnessWatch) -> None:
    async def reindex(
        ctx: AnyContext,
        tool: Annotated[
            str | None, Field(max_length=100, description="Default all."), _TEXT
        ] = None,
        wait: Annotated[
            int,
            Field(
                ge=0,
                le=_MAX_WAIT_SECONDS,
                description="Seconds; then it goes on in the background.",
            ),
        ] = _WAIT_SECONDS,
    ) -> ToolReply:
        from mdvec_mcp.upkeep.answers import outcome

        tools = await in_thread(lambda: _chosen(freshness, tool))
        runs = [freshness.start_import(one) for one in tools]
        try:
            await follow(runs, ctx, lambda _, waited: waited >= wait)
            for run in runs:
                run.want(is_automatic=True)  # what still runs goes on
        finally:
            for run in runs:
                run.give_up()
        reply = outcome(runs)
        if all(run.has_failed for run in runs):
            raise ToolError(reply.text.replace("note: ", ""))
        return reply

    offer.add_tool(
        reindex,
        description="Import what changed in the sources (files, statements, data), so that all "
        "tools answer from it: refresh, update, sync. 取り込み直す、更新する。",
        annotations=_IMPORTS,
    )


def _add_sources(offer: Offer, freshness: FreshnessWatch) -> None:
    async def list_sources() -> ToolReply:
        from mdvec_mcp.upkeep.answers import source_list

        return await in_thread(lambda: source_list(freshness))

    offer.add_tool(
        list_sources,
        description="List the sources: what each tool reads, its tags, how fresh or up to date its "
        "index is, until when statements reach, imports that run, and files that failed and why. "
        "情報源、取り込みの状態。",
        annotations=READ_ONLY,
    )


def _chosen(freshness: FreshnessWatch, name: str | None) -> Sequence[Tool]:
    """The served tool of that name, or all.

    Raises:
        ToolError: there is no such active tool; it names those that there are.
        DatabaseEmptied: there are no tools at all.
    """
    tools = freshness.served()
    chosen = [tool for tool in tools if name in (None, tool.name)]
    if not chosen:
        refuse_empty_database(freshness.database)
        if not tools:
            raise ToolError("no tool is active; enable one with: mdvec tool enable -n NAME")
        there = ", ".join(tool.name for tool in tools)
        raise ToolError(f"there is no active tool {name!r}; these are active: {there}")
    return chosen
