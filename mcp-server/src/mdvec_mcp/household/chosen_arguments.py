"""Refuses the arguments that do not belong to what a tool was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from mcp.server.mcpserver.exceptions import ToolError


def refuse_others(
    choice: str, takes: tuple[str, ...], given: Mapping[str, object], needs: tuple[str, ...] = ()
) -> None:
    """Refuse a call with arguments that ``choice`` does not take, or without one that it needs.

    Arguments that are None were not given.

    Raises:
        ToolError: says in one sentence what the choice takes.
    """
    named = {name for name, value in given.items() if value is not None}
    others = [name for name in given if name in named and name not in takes]
    if others:
        raise ToolError(
            f"{choice} は {'、'.join(others)} を使いません。使える引数: {'、'.join(takes)}"
        )
    missing = [name for name in needs if name not in named]
    if missing:
        raise ToolError(
            f"{choice} には {'、'.join(missing)} が必要です。使える引数: {'、'.join(takes)}"
        )
