"""Notifies clients of the older protocol versions, which have sessions, of changes."""

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

_MAX_TELL_SECONDS = 1.0
"""The longest wait for a client that does not read."""
_METHODS: dict[type[ServerEvent], str] = {
    ToolsListChanged: "notifications/tools/list_changed",
    PromptsListChanged: "notifications/prompts/list_changed",
    ResourcesListChanged: "notifications/resources/list_changed",
}
"""The notification of each event; sessions get none about single resources."""


class Sessions:
    """The open sessions that began with a handshake (``initialize``)."""

    def __init__(self) -> None:
        self._open: set[Connection] = set()

    async def observe(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Announce ``listChanged`` at the handshake, and track the session until it ends."""
        result = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(result, dict):
            for lists in ("tools", "prompts", "resources"):
                result["capabilities"][lists]["listChanged"] = True
        elif ctx.method == "notifications/initialized":
            # The SDK makes a session object per message; only the connection knows when it ends.
            connection = ctx.session._connection  # noqa: SLF001 - there is no public way
            self._open.add(connection)
            connection.exit_stack.callback(self._open.discard, connection)
        return result

    async def tell(self, events: Sequence[ServerEvent]) -> None:
        """Notify every session of changes."""
        methods = [_METHODS[type(event)] for event in events if type(event) in _METHODS]
        if not methods:
            return
        async with anyio.create_task_group() as group:
            for connection in list(self._open):
                group.start_soon(_tell, connection, methods)


async def _tell(connection: Connection, methods: Sequence[str]) -> None:
    with anyio.move_on_after(_MAX_TELL_SECONDS):
        for method in methods:
            await connection.notify(method, None)
