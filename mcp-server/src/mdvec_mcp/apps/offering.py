"""Offers the views to clients that show MCP Apps; other clients see what they always saw."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.apps import APP_MIME_TYPE, client_supports_apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import CallToolResult, ToolAnnotations
from mdvec.tools.names import own_name
from pydantic import Field

from mdvec_mcp.apps.addresses import VIEWS
from mdvec_mcp.calls import text_result

if TYPE_CHECKING:
    from mdvec_mcp.apps.pages import ChatPages
    from mdvec_mcp.offer import Offer
    from mdvec_mcp.server import Wiring

SHOW = "show_view"
_FILES = Path(__file__).parent
_STATIC = _FILES.parent / "web" / "page" / "static"
_MAX_FORM_CHARS = 100_000
_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)


def add_apps(wiring: Wiring, offer: Offer) -> None:
    """Give each tool that has a view the address of its app, and add the tool that apps call."""
    shown = {own_name(tool, offer.row_names): tool for tool in VIEWS}
    for name in shown.keys() & offer.tools.keys():
        uri = f"ui://mdvec/{shown[name]}"
        offer.add_resource(uri, "A view for the chat.", APP_MIME_TYPE, _reader(shown[name]))
        ui = {"resourceUri": uri}
        offer.tools[name] = offer.tools[name].model_copy(update={"meta": {"ui": ui}})
    if shown.keys() & offer.tools.keys():
        _add_show(wiring, offer)


def _add_show(wiring: Wiring, offer: Offer) -> None:
    @cache
    def pages() -> ChatPages:
        from mdvec_mcp.apps.pages import ChatPages

        return ChatPages(wiring)

    async def show_view(
        tool: Annotated[str, Field(max_length=100)] = "",
        arguments: dict[str, Any] | None = None,
        address: Annotated[str, Field(max_length=20_000)] = "",
        form: Annotated[str | None, Field(max_length=_MAX_FORM_CHARS)] = None,
        language: Annotated[str, Field(max_length=40)] = "ja",
    ) -> CallToolResult:
        from mdvec_mcp.apps.pages import form_of

        if tool in VIEWS:
            address = VIEWS[tool](arguments or {})
        shown = await pages().show(address, None if form is None else form_of(form), language)
        structured = {"address": shown.address, "status": shown.status, "body": shown.body}
        return text_result(f"{shown.address}: {shown.status}", structured)

    offer.add_tool(
        show_view,
        description="For mdvec's own views in the chat, not for models.",
        annotations=_CHANGES,
        structured_output=False,
    )
    name = own_name(SHOW, offer.row_names)
    ui = {"visibility": ["app"]}
    offer.tools[name] = offer.tools[name].model_copy(update={"meta": {"ui": ui}})


def _reader(tool: str) -> Callable[[], str]:
    """Returns the function that reads a tool's app: one file with the page's style and script."""

    def read() -> str:
        text = (_FILES / "shell.html").read_text(encoding="utf-8")
        parts = {
            "{style}": _STATIC / "page.css",
            "{script}": _STATIC / "page.js",
            "{shell}": _FILES / "shell.js",
        }
        for mark, file in parts.items():
            text = text.replace(mark, file.read_text(encoding="utf-8"))
        return text.replace("{tool}", tool)

    return read


async def for_this_client(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Middleware that hides the apps' files, and the tool they call, from clients without Apps."""
    result = await call_next(ctx)
    if not isinstance(result, dict) or client_supports_apps(ctx):
        return result
    if ctx.method == "tools/list":
        tools = [_without_app(tool) for tool in result["tools"] if not _is_for_apps(tool)]
        return {**result, "tools": tools}
    if ctx.method == "resources/list":
        files = [one for one in result["resources"] if one.get("mimeType") != APP_MIME_TYPE]
        return {**result, "resources": files}
    return result


def _is_for_apps(tool: dict[str, Any]) -> bool:
    visible: list[str] = tool.get("_meta", {}).get("ui", {}).get("visibility", ["model"])
    return "model" not in visible


def _without_app(tool: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in tool.get("_meta", {}).items() if key != "ui"}
    rest = {key: value for key, value in tool.items() if key != "_meta"}
    return {**rest, "_meta": meta} if meta else rest
