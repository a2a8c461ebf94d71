"""The SDK's server, with error messages that a model can act on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, GetPromptResult, InputRequiredResult
from mcp_types import Tool as ToolDescription
from mdvec.log.activity import record
from mdvec.tools.names import own_name
from pydantic import ValidationError

from mdvec_mcp.arguments import settled_arguments, shown
from mdvec_mcp.compact_schema import compact_input, compact_output


class MdvecServer(MCPServer):
    """An MCP server that rejects unknown parameters and reports every error in one sentence."""

    def __init__(
        self, name: str, *, version: str, instructions: str, row_names: Collection[str] = ()
    ) -> None:
        # Subscriptions would be announced to clients, but no list changes while this server runs.
        super().__init__(name, version=version, instructions=instructions, subscriptions=False)
        self._row_names = row_names
        self._on_start: list[Callable[[], None]] = []
        self._on_close: list[Callable[[], None]] = []
        self._on_listed: list[Callable[[], None]] = []

    def add_tool(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        *more: Any,  # noqa: ANN401 - the SDK's
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Add a tool of the server's own, under another name where a row has its name."""
        own = own_name(name or fn.__name__, self._row_names)
        super().add_tool(fn, own, *more, **options)

    def add_row_tool(self, fn: Callable[..., Any], name: str, **options: Any) -> None:  # noqa: ANN401
        """Add the tool of a row, under the row's name."""
        super().add_tool(fn, name, **options)

    def on_start(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when serving begins."""
        self._on_start.append(callback)

    def on_listed(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` in a thread when the client first asks for the list of tools."""
        self._on_listed.append(callback)

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when serving ends."""
        self._on_close.append(callback)

    def start(self) -> None:
        """Start what the tools work with."""
        for callback in self._on_start:
            callback()

    def close(self) -> None:
        """Release what the tools hold: threads, ports, processes."""
        for callback in self._on_close:
            callback()

    async def answer(self, source: anyio.AsyncFile[str], target: anyio.AsyncFile[str]) -> None:
        """Answer one client's lines from ``source`` on ``target`` until ``source`` ends."""
        # The body of run_stdio_async, which cannot be given streams.
        lowlevel = self._lowlevel_server
        async with stdio_server(source, target) as (requests, responses):
            await lowlevel.run(requests, responses, lowlevel.create_initialization_options())

    async def list_tools(self) -> list[ToolDescription]:
        """The tools, with compact schemas; a client that lists them may soon search."""
        listed, self._on_listed = self._on_listed, []
        for callback in listed:
            threading.Thread(target=callback, daemon=True).start()
        return [
            tool.model_copy(
                update={
                    "input_schema": compact_input(tool.input_schema),
                    "output_schema": tool.output_schema and compact_output(tool.output_schema),
                }
            )
            for tool in await super().list_tools()
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: the tool is unknown or refuses the call; the text is for the model.
        """
        try:
            parameters = await self._known_parameters(name, arguments)
            settled = settled_arguments(name, arguments, parameters)
            return await self._call(name, settled, context)
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

    async def _call(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(_first_error(name, cause)) from error
            if isinstance(cause, ToolError):
                raise cause from cause.__cause__
            raise

    async def _known_parameters(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The schemas of the tool's parameters.

        An unknown tool or argument is refused; the SDK would ignore it or report it unclearly.
        """
        schemas = {tool.name: tool.input_schema for tool in await super().list_tools()}
        if name not in schemas:
            raise ToolError(
                f"there is no tool {name!r} here; the tools were read when this server started, "
                "so restart it after 'mdvec tool add' or 'mdvec tool enable'"
            )
        known: dict[str, Any] = schemas[name].get("properties", {})
        unknown = [key for key in arguments if key not in known]
        if unknown:
            raise ToolError(f"{name} has no parameter {unknown[0]!r}; it takes: {', '.join(known)}")
        return known


def _reason(error: BaseException) -> str:
    """The class of the error that a refusal was made from; its sentence may quote data."""
    while error.__cause__ is not None and isinstance(error, ToolError):
        error = error.__cause__
    return type(error).__name__


def _first_error(tool: str, error: ValidationError) -> str:
    """The first invalid argument in one sentence."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "arguments"
    if first["type"] == "missing":
        return f"{tool} needs the parameter {field!r}"
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{tool}: {field} {message[:1].lower()}{message[1:]}, not {shown(first['input'])}"
