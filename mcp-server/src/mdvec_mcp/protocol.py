"""The MCP server, based on the SDK's low-level server; its handlers use the current offer.

The SDK's `MCPServer` rebuilds each tool's schema, does not pass the client to its list handlers,
and hides its low-level server, which the transports here need. The handlers here show each client
one consistent offer, which depends on whether it draws Apps.
"""

from __future__ import annotations

import base64
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeVar

import anyio
import anyio.to_thread
import mcp_types
import pydantic_core
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool as McpTool
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mdvec import sql
from mdvec.log import record
from mdvec.text import cited, nearest_texts, shortened
from mdvec.tools import FOLDED, naming
from pydantic import BaseModel, TypeAdapter

from mdvec_mcp.arguments import run_checked, shown
from mdvec_mcp.calls import ToolReply
from mdvec_mcp.live_offer import LiveOffer

_MAX_TELL_SECONDS = 1.0
"""The longest wait for a client that does not read."""
_METHODS: dict[type[ServerEvent], str] = {
    ToolsListChanged: "notifications/tools/list_changed",
    PromptsListChanged: "notifications/prompts/list_changed",
    ResourcesListChanged: "notifications/resources/list_changed",
}
"""The notification of each event; changes of single resources have none."""
Structured = Literal["auto", "always", "never"]
"""Who gets structured content: clients with Apps if an App draws it, all, or nobody."""
_Request = ServerRequestContext[Any, Any]
_Templates = mcp_types.ListResourceTemplatesResult
_POLL_SECONDS = 1.0
_MAX_COMPLETIONS = 100  # the limit of the protocol
M = TypeVar("M", bound=BaseModel)


@dataclass(slots=True)
class _Stream:
    """A session's HTTP stream of notifications; ``missed`` are those sent while it was closed."""

    is_open: bool = False
    missed: dict[str, None] = field(default_factory=dict)


class Sessions:
    """The open sessions, which began with a handshake (``initialize``)."""

    def __init__(self) -> None:
        self._open: set[Connection] = set()
        self._streams: dict[str, _Stream] = {}

    def opened(self, session: str) -> list[str]:
        """Record that a session's stream opened; returns the methods of notifications it missed."""
        stream = self._streams.get(session)
        if stream is None:
            return []
        missed, stream.missed, stream.is_open = list(stream.missed), {}, True
        return missed

    def closed(self, session: str) -> None:
        """Record that a session's stream closed; from now on, missed notifications are recorded."""
        if session in self._streams:
            self._streams[session].is_open = False

    def _follow_stream(self, connection: Connection) -> None:
        if session := connection.session_id:
            self._streams[session] = _Stream()
            connection.exit_stack.callback(self._streams.pop, session, None)

    async def observe(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Announce ``listChanged`` at the handshake, and track the session until it ends.

        Requests of a session run under its name. An HTTP request without a session counts as a
        separate session, so that no other client can use or replace what it creates; for turns, it
        counts together with other requests of the same program.
        """
        session = ctx.session._connection.session_id or ""  # noqa: SLF001
        client = ""
        if not session and ctx.request is not None:
            session = f"{sql.ALONE}{secrets.token_hex(16)}"
            client = str(params.client_info) if (params := ctx.session.client_params) else ""
        with sql.in_session(session, client):
            result = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(result, dict):
            self._follow_stream(ctx.session._connection)  # noqa: SLF001
            for lists in ("tools", "prompts", "resources"):
                result["capabilities"][lists]["listChanged"] = True
        elif ctx.method == "notifications/initialized":
            # The SDK creates a session object per message; only the connection knows its end.
            connection = ctx.session._connection  # noqa: SLF001 - no public API
            self._open.add(connection)
            connection.exit_stack.callback(self._open.discard, connection)
        return result

    async def tell(self, events: Sequence[ServerEvent]) -> None:
        """Notify every session of changes, once per list."""
        listed = (_METHODS[type(event)] for event in events if type(event) in _METHODS)
        methods = list(dict.fromkeys(listed))
        if not methods:
            return
        for stream in self._streams.values():
            if not stream.is_open:
                stream.missed.update(dict.fromkeys(methods))
        async with anyio.create_task_group() as group:
            for connection in list(self._open):
                group.start_soon(_tell, connection, methods)


async def _tell(connection: Connection, methods: Sequence[str]) -> None:
    with anyio.move_on_after(_MAX_TELL_SECONDS):
        for method in methods:
            await connection.notify(method, None)


class MdvecServer(Server[dict[str, Any]]):
    """An MCP server that rejects unknown parameters and reports every error in one sentence.

    What it offers can change while it serves; clients are notified. Call ``follow`` before serving.
    ``on_listed`` are called in threads when a client next requests the list of tools.
    """

    def __init__(
        self, name: str, *, version: str, structured: Structured = "auto", language: str = "ja"
    ) -> None:
        self.on_listed: list[Callable[[], None]] = []
        self.on_close: list[Callable[[], None]] = []
        self.sessions = Sessions()
        self._subscribed = InMemorySubscriptionBus()
        self._structured, self._language = structured, language
        super().__init__(
            name, version=version, lifespan=lambda _: self._refreshing(),
            get_tool_input_schema=lambda _tool: None,  # no tool has parameters in headers
            on_list_tools=self._list_tools, on_call_tool=self._call_tool,
            on_list_resources=self._list_resources, on_read_resource=self._read_resource,
            on_list_resource_templates=self._list_templates,
            on_list_prompts=self._list_prompts, on_get_prompt=self._get_prompt,
            on_subscriptions_listen=ListenHandler(self._subscribed),
        )  # fmt: skip
        self.middleware.append(self.sessions.observe)
        self.extensions[EXTENSION_ID] = {}

    def follow(self, live: LiveOffer) -> None:
        """Serve the offer of ``live``, updated by each refresh."""
        self._live, self.offer = live, live.offer
        self.instructions = self.offer.instructions
        if self.offer.completions:
            params = mcp_types.CompleteRequestParams
            self.add_request_handler("completion/complete", params, self._complete)

    @asynccontextmanager
    async def _refreshing(self) -> AsyncIterator[dict[str, Any]]:
        """Refresh the offer periodically while a transport serves."""

        async def refresh() -> None:
            while True:
                await anyio.sleep(_POLL_SECONDS)
                await self.refresh()

        async with anyio.create_task_group() as group:
            group.start_soon(refresh)
            yield {}
            group.cancel_scope.cancel()

    async def refresh(self) -> None:
        """Update the offer from the database, and notify clients of changes."""
        events = await anyio.to_thread.run_sync(self._live.poll, abandon_on_cancel=True)
        self.follow(self._live)
        for event in events:
            await self._subscribed.publish(event)
        await self.sessions.tell(events)

    def close(self) -> None:
        """Release the resources of the tools: threads, ports, processes."""
        for callback in self.on_close:
            callback()

    async def _list_tools(self, ctx: _Request, _params: object) -> mcp_types.ListToolsResult:
        listed, self.on_listed = self.on_listed, []
        for callback in listed:
            threading.Thread(target=callback, daemon=True).start()
        draws = client_supports_apps(ctx)
        tools = [tool for tool in self.offer.tools.values() if draws or not _is_for_apps(tool)]
        return mcp_types.ListToolsResult(
            tools=[self._listed_tool(tool, draws=draws) for tool in tools]
        )

    def _listed_tool(self, tool: McpTool, *, draws: bool) -> mcp_types.Tool:
        """A tool as listed for a client that draws Apps (``draws``) or for others."""
        meta = {key: value for key, value in (tool.meta or {}).items() if draws or key != "ui"}
        kind = self.offer.answers.get(tool.name) if self._structured == "always" else None
        return mcp_types.Tool(
            name=tool.name, title=tool.title, description=tool.description,
            input_schema=tool.parameters, annotations=tool.annotations, _meta=meta or None,
            output_schema=kind and _schema_of(kind),
        )  # fmt: skip

    async def _call_tool(
        self, ctx: _Request, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        arguments = params.arguments or {}
        try:
            tool = await self._known_tool(params.name, draws=client_supports_apps(ctx))
            naming.set(self.offer.named)
            language = self._language if tool.name in self.offer.answers else None
            reply = await run_checked(tool, arguments, Context(request_context=ctx), language)
        except ToolError as error:
            # The message may quote data; the class of its cause does not.
            record("refusal", tool=params.name, error=type(error.__cause__ or error).__name__)
            return mcp_types.CallToolResult(
                content=[mcp_types.TextContent(text=str(error))], is_error=True
            )
        return mcp_types.CallToolResult(
            content=[mcp_types.TextContent(text=reply.text), *reply.blocks],
            structured_content=self._structured_content(tool, arguments, reply, ctx),
        )

    async def _known_tool(self, name: str, *, draws: bool) -> McpTool:
        """The tool of that name; for a former name, the refusal says what to call instead."""
        if name not in self.offer.tools:
            await self.refresh()  # it may have just been added
        tool = self.offer.tools.get(name)
        if tool is not None and (draws or not _is_for_apps(tool)):
            return tool
        if name in FOLDED:
            called, arguments = FOLDED[name]
            now = self.offer.named(called)
            call = f"; call {now}{arguments}" if now in self.offer.tools else f": {now}"
            raise ToolError(f"{name} is part of another tool now{call}")
        if name in self.offer.left_out:
            raise ToolError(f"there is no tool {self.offer.named(name)} here now")
        near = nearest_texts(name, self.offer.tools, least=0.6)
        instead = f"nearest: {', '.join(near)}" if near else "list the tools again"
        raise ToolError(
            f"there is no tool {cited(shortened(name))} here now; {instead}. If it was disabled, "
            "the user can bring it back in a terminal: mdvec tool enable -n NAME"
        )

    def _structured_content(
        self, tool: McpTool, arguments: dict[str, Any], reply: ToolReply, ctx: _Request
    ) -> dict[str, Any] | None:
        """The answer as data; for an App, its text and the address of its view."""
        is_whole = self._structured == "always" or _is_for_apps(tool)
        data = reply.data() if is_whole and reply.data is not None else None
        address_of = self.offer.views.get(tool.name) if client_supports_apps(ctx) else None
        view = address_of and address_of(arguments)
        return data if view is None else {**(data or {"text": reply.text}), "view": view}

    async def _list_resources(
        self, ctx: _Request, _params: object
    ) -> mcp_types.ListResourcesResult:
        draws = client_supports_apps(ctx)
        files = self.offer.resources.list_resources()
        shown = [file for file in files if draws or file.mime_type != APP_MIME_TYPE]
        return mcp_types.ListResourcesResult(resources=_listed_as(mcp_types.Resource, shown))

    async def _list_templates(self, _ctx: _Request, _params: object) -> _Templates:
        templates = _listed_as(mcp_types.ResourceTemplate, self.offer.resources.list_templates())
        return _Templates(resource_templates=templates)

    async def _read_resource(
        self, ctx: _Request, params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult | mcp_types.InputRequiredResult:
        try:
            context = Context(request_context=ctx)
            resource = await self.offer.resources.get_resource(params.uri, context)
            if isinstance(resource, mcp_types.InputRequiredResult):  # no resource requests input
                return resource
            content = await resource.read()
        except ResourceError as error:
            is_missing = isinstance(error, ResourceNotFoundError)
            code = mcp_types.INVALID_PARAMS if is_missing else mcp_types.INTERNAL_ERROR
            raise MCPError(code, str(error), {"uri": str(params.uri)}) from error
        known = {"uri": params.uri, "mime_type": resource.mime_type}
        if isinstance(content, str):
            text = mcp_types.TextResourceContents(text=content, **known)
            return mcp_types.ReadResourceResult(contents=[text])
        blob = mcp_types.BlobResourceContents(blob=base64.b64encode(content).decode(), **known)
        return mcp_types.ReadResourceResult(contents=[blob])

    async def _list_prompts(self, _ctx: _Request, _params: object) -> mcp_types.ListPromptsResult:
        prompts = _listed_as(mcp_types.Prompt, self.offer.prompts.values())
        return mcp_types.ListPromptsResult(prompts=prompts)

    async def _get_prompt(
        self, ctx: _Request, params: mcp_types.GetPromptRequestParams
    ) -> mcp_types.GetPromptResult:
        prompt = self.offer.prompts.get(params.name)
        if prompt is None:
            there = ", ".join(self.offer.prompts)
            which = f"there is: {there}" if there else "this server has none now"
            raise MCPError(
                mcp_types.INVALID_PARAMS, f"there is no prompt {shown(params.name)}; {which}"
            )
        known = [argument.name for argument in prompt.arguments or ()]
        if wrong := [name for name in params.arguments or () if name not in known]:
            message = f"the prompt {prompt.name} has no argument {shown(wrong[0])}"
            raise MCPError(mcp_types.INVALID_PARAMS, f"{message}; it takes: {', '.join(known)}")
        rendered = await prompt.render(params.arguments, Context(request_context=ctx))
        messages = pydantic_core.to_jsonable_python(rendered)
        return mcp_types.GetPromptResult(description=prompt.description, messages=messages)

    async def _complete(
        self, _ctx: _Request, params: mcp_types.CompleteRequestParams
    ) -> mcp_types.CompleteResult:
        """The values of a resource template's argument that contain the typed text."""
        uri = params.ref.uri if isinstance(params.ref, mcp_types.ResourceTemplateReference) else ""
        complete = self.offer.completions.get((uri, params.argument.name))
        arguments = (params.context.arguments if params.context else None) or {}
        values = [] if complete is None else await complete(arguments)
        typed = params.argument.value.casefold()
        fitting = [value for value in values if typed in value.casefold()]
        fitting.sort(key=lambda value: not value.casefold().startswith(typed))
        first, total = fitting[:_MAX_COMPLETIONS], len(fitting)
        completion = mcp_types.Completion(values=first, total=total, has_more=total > len(first))
        return mcp_types.CompleteResult(completion=completion)


def _listed_as(kind: type[M], items: Iterable[BaseModel]) -> list[M]:
    """Convert the SDK's items to those of protocol lists."""
    return [kind.model_validate(item.model_dump(include={*kind.model_fields})) for item in items]


@lru_cache(maxsize=64)
def _schema_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - also a union of classes
    """The schema of an answer, made once: those of all tools take longer than a list of tools."""
    return {"type": "object", **TypeAdapter(kind).json_schema(mode="serialization")}


def _is_for_apps(tool: McpTool) -> bool:
    """Whether the tool is only for Apps."""
    return "model" not in (tool.meta or {}).get("ui", {}).get("visibility", ["model"])
