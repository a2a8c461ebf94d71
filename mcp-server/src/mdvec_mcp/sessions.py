"""The clients of the older generation of the protocol, which are told of changes by session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)

_TELL_SECONDS = 1.0
"""Longer than this nobody waits for a client that does not read."""
_METHODS: dict[type[ServerEvent], str] = {
    ToolsListChanged: "notifications/tools/list_changed",
    PromptsListChanged: "notifications/prompts/list_changed",
    ResourcesListChanged: "notifications/resources/list_changed",
}
"""These clients cannot subscribe to a resource."""


class Sessions:
    """The open sessions that began with a handshake."""

    def __init__(self) -> None:
        self._open: set[Connection] = set()

    async def observe(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Announce at the handshake that lists change, and remember the session until it ends."""
        result = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(result, dict):
            for lists in ("tools", "prompts", "resources"):
                result["capabilities"][lists]["listChanged"] = True
        elif ctx.method == "notifications/initialized":
            # A session is made anew for each message; only the connection says when it ends.
            connection = ctx.session._connection  # noqa: SLF001 - there is no public way
            self._open.add(connection)
            connection.exit_stack.callback(self._open.discard, connection)
        return result

    async def tell(self, events: Sequence[ServerEvent]) -> None:
        """Tell every session what changed."""
        methods = [_METHODS[type(event)] for event in events if type(event) in _METHODS]
        if not methods:
            return
        async with anyio.create_task_group() as group:
            for connection in list(self._open):
                group.start_soon(_tell, connection, methods)


async def _tell(connection: Connection, methods: Sequence[str]) -> None:
    with anyio.move_on_after(_TELL_SECONDS):
        for method in methods:
            await connection.notify(method, None)
