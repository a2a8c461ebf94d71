"""The SDK's server, extended with live updates and error messages that a model can act on."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.apps import Apps
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts import PromptManager
from mcp.server.mcpserver.resources import ResourceManager
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    InputRequiredResult,
    PromptReference,
    ResourceTemplateReference,
)
from mcp_types import Tool as ToolDescription
from mdvec.log.activity import record
from pydantic import BaseModel, ValidationError

from mdvec_mcp.argument_wording import ArgumentWording, wording_for
from mdvec_mcp.arguments import checked_arguments, shown
from mdvec_mcp.sessions import Sessions

if TYPE_CHECKING:
    from mdvec_mcp.live import LiveOffer
    from mdvec_mcp.offer import Offer

_POLL_SECONDS = 1.0
_MAX_COMPLETIONS = 100  # the protocol's


class MdvecServer(MCPServer):
    """An MCP server that rejects unknown parameters and reports every error in one sentence.

    Its tools, resources and prompts can change while it serves, over any transport; clients are
    notified.
    """

    def __init__(self, name: str, *, version: str) -> None:
        self._sessions = Sessions()
        self._subscribed = InMemorySubscriptionBus()
        super().__init__(
            name, version=version, lifespan=_refreshing, subscriptions=self._subscribed,
            middleware=[self._sessions.observe], extensions=[Apps()],
        )  # fmt: skip
        self._live: LiveOffer | None = None
        self._presented: Offer | None = None
        self._completes = False
        self._on_close: list[Callable[[], None]] = []
        self._on_listed: list[Callable[[], None]] = []

    def follow(self, live: LiveOffer) -> None:
        """Offer what ``live`` offers, now and after each change."""
        self._live = live
        self.present(live.offer)

    def present(self, offer: Offer) -> None:
        """Replace everything that the server offers."""
        self._presented = offer
        self._tool_manager = ToolManager(tools=list(offer.tools.values()))
        self._resource_manager = ResourceManager(resources=list(offer.resources.values()))
        for template in offer.resource_templates.values():
            self._resource_manager.add_template(
                template.fn, template.uri_template, template.name,
                description=template.description, mime_type=template.mime_type,
            )  # fmt: skip
        if offer.completions and not self._completes:
            self._completes = True
            self.completion()(self._completed)  # type: ignore[no-untyped-call]
        self._prompt_manager = PromptManager()
        for prompt in offer.prompts.values():
            self._prompt_manager.add_prompt(prompt)
        self._lowlevel_server.instructions = offer.instructions

    async def refresh(self) -> None:
        """Offer what the database contains now, and notify the clients of changes."""
        if self._live is None:
            return
        events = await anyio.to_thread.run_sync(self._live.poll, abandon_on_cancel=True)
        if self._live.offer is not self._presented:
            self.present(self._live.offer)
        await self.announce(events)

    async def announce(self, events: Sequence[ServerEvent]) -> None:
        """Tell the clients: those that subscribed, and all sessions of older protocols."""
        for event in events:
            await self._subscribed.publish(event)
        await self._sessions.tell(events)

    def on_listed(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` in a thread when a client next asks for the list of tools."""
        self._on_listed.append(callback)

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when serving ends."""
        self._on_close.append(callback)

    def close(self) -> None:
        """Release what the tools hold: threads, ports, processes."""
        for callback in self._on_close:
            callback()

    async def answer(self, source: anyio.AsyncFile[str], target: anyio.AsyncFile[str]) -> None:
        """Answer one client's messages from ``source`` on ``target`` until ``source`` ends."""
        # The body of run_stdio_async, which takes no streams.
        lowlevel = self._lowlevel_server
        async with stdio_server(source, target) as (requests, responses):
            await lowlevel.run(requests, responses, lowlevel.create_initialization_options())

    async def list_tools(self) -> list[ToolDescription]:
        """The tools; also runs the ``on_listed`` callbacks, since the client may soon search."""
        listed, self._on_listed = self._on_listed, []
        for callback in listed:
            threading.Thread(target=callback, daemon=True).start()
        return await super().list_tools()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: the tool is unknown or refuses the call; the text is for the model.
        """
        try:
            tool = await self._known_tool(name)
            wording, known = wording_for(tool.fn), _parameters(tool.fn_metadata.arg_model)
            checked = checked_arguments(name, arguments, known, wording)
            return await self._call(name, checked, context, wording)
        except ToolError as error:
            record("refusal", tool=name, error=_reason(error))
            raise

    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Get a prompt.

        Raises:
            MCPError: there is no such prompt, or it has no such argument.
        """
        known = {
            prompt.name: [argument.name for argument in prompt.arguments or ()]
            for prompt in await self.list_prompts()
        }
        if name not in known:
            names = f"; there is: {', '.join(known)}" if known else "; this server has none now"
            raise MCPError(INVALID_PARAMS, f"there is no prompt {shown(name)}{names}")
        for argument in arguments or ():
            if argument not in known[name]:
                raise MCPError(
                    INVALID_PARAMS,
                    f"the prompt {name} has no argument {shown(argument)}; "
                    f"it takes: {', '.join(known[name])}",
                )
        return await super().get_prompt(name, arguments, context)

    async def _completed(
        self,
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """The values of a resource template's argument that hold what was typed."""
        offered = self._presented.completions if self._presented is not None else {}
        uri = ref.uri if isinstance(ref, ResourceTemplateReference) else ""
        complete = offered.get((uri, argument.name))
        if complete is None:
            return None
        typed = argument.value.casefold()
        values = await complete((context.arguments if context else None) or {})
        fitting = [value for value in values if typed in value.casefold()]
        fitting.sort(key=lambda value: not value.casefold().startswith(typed))
        more = len(fitting) > _MAX_COMPLETIONS
        return Completion(values=fitting[:_MAX_COMPLETIONS], total=len(fitting), has_more=more)

    async def _call(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None,
        wording: ArgumentWording,
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(wording.first_error(name, cause, shown)) from error
            if isinstance(cause, ToolError):
                raise cause from cause.__cause__
            raise

    async def _known_tool(self, name: str) -> Tool:
        """The tool; an unknown one is refused, which the SDK would report unclearly."""
        if self._tool_manager.get_tool(name) is None:
            await self.refresh()  # it may have been added a moment ago
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            raise ToolError(
                f"there is no tool {name!r} here now; list the tools again. If it was disabled, "
                "the user can bring it back in a terminal: mdvec tool enable -n NAME"
            )
        return tool


@asynccontextmanager
async def _refreshing(server: MCPServer[Any]) -> AsyncIterator[dict[str, Any]]:
    """Refresh the offer periodically while a transport serves."""

    async def refresh() -> None:
        while isinstance(server, MdvecServer):
            await anyio.sleep(_POLL_SECONDS)
            await server.refresh()

    async with anyio.create_task_group() as group:
        group.start_soon(refresh)
        yield {}
        group.cancel_scope.cancel()


@cache
def _parameters(arguments: type[BaseModel]) -> dict[str, Any]:
    """The full schemas of a tool's parameters; the listed ones do not say where null is allowed."""
    known: dict[str, Any] = arguments.model_json_schema(by_alias=True).get("properties", {})
    return known


def _reason(error: BaseException) -> str:
    """The class name of the error behind a refusal, whose message may quote data."""
    while error.__cause__ is not None and isinstance(error, ToolError):
        error = error.__cause__
    return type(error).__name__
