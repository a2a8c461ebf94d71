"""A client that is told when a server's lists change."""

from __future__ import annotations

from typing import Any

import anyio
from anyio.abc import TaskStatus
from mcp import Client
from mcp.shared.subscriptions import ResourcesListChanged, ToolsListChanged
from mcp_types import ResourceListChangedNotification, ToolListChangedNotification

ALWAYS = {"search", "get_document", "reindex", "list_sources"}
"""The tools that a server has whatever its rows are."""


class Following:
    """An older client is told by its session (mode "legacy"), one of 2026 by subscription."""

    def __init__(self, transport: Any, mode: str) -> None:
        handler = self._take if mode == "legacy" else None
        self.client = Client(transport, mode=mode, message_handler=handler)
        self.tools_changed = anyio.Event()
        self.resources_changed = False

    async def _take(self, message: object) -> None:
        self.resources_changed |= isinstance(message, ResourceListChangedNotification)
        if isinstance(message, ToolListChangedNotification):
            self.tools_changed.set()

    async def subscribe(self, *, task_status: TaskStatus[None]) -> None:
        """Listen until cancelled."""
        listening = self.client.listen(tools_list_changed=True, resources_list_changed=True)
        async with listening as events:
            task_status.started()
            async for event in events:
                self.resources_changed |= isinstance(event, ResourcesListChanged)
                if isinstance(event, ToolsListChanged):
                    self.tools_changed.set()

    async def changed_tools(self) -> dict[str, str | None]:
        """The rows' tools, once the client was told that they changed."""
        await self.tools_changed.wait()
        self.tools_changed = anyio.Event()
        tools = (await self.client.list_tools()).tools
        return {
            tool.name: tool.description.split()[-1] for tool in tools if tool.name not in ALWAYS
        }

    async def told_of(self, name: str) -> dict[str, str | None]:
        """The rows' tools, once the client was told of this one."""
        while name not in (tools := await self.changed_tools()):
            pass
        return tools
