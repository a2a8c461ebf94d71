"""Offers the views to clients that show MCP Apps; other clients see what they always saw."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcp.server.apps import APP_MIME_TYPE
from mcp_types import ToolAnnotations
from mdvec.tools import own_name
from pydantic import Field

from mdvec_mcp.apps.addresses import VIEWS
from mdvec_mcp.calls import ToolReply

if TYPE_CHECKING:
    from mdvec_mcp.apps.pages import ChatPages
    from mdvec_mcp.offer import Offer
    from mdvec_mcp.server import Wiring

_APP = "ui://mdvec/view"
_FILES = Path(__file__).parent
_STATIC = _FILES.parent / "web" / "page" / "static"
_MAX_FORM_CHARS = 100_000
_MAX_ADDRESS_CHARS = 400_000
"""A view's address may hold a whole query, each character of which takes up to nine."""
_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)


def add_apps(wiring: Wiring, offer: Offer) -> None:
    """Give each tool that has a view the App that draws it, and add the tool that the App calls.

    Without structured content no App knows its view's address.
    """
    if wiring.settings.server.structured == "never":
        return
    shown = {own_name(tool, offer.row_names): view for tool, view in VIEWS.items()}
    offer.views = {name: view for name, view in shown.items() if name in offer.tools}
    if not offer.views:
        return
    offer.add_resource(_APP, "The view of an answer, for the chat.", APP_MIME_TYPE, _app)
    for name in offer.views:
        meta = {**(offer.tools[name].meta or {}), "ui": {"resourceUri": _APP}}
        offer.tools[name] = offer.tools[name].model_copy(update={"meta": meta})
    _add_show(wiring, offer)


def _add_show(wiring: Wiring, offer: Offer) -> None:
    @cache
    def pages() -> ChatPages:
        from mdvec_mcp.apps.pages import ChatPages

        return ChatPages(wiring)

    async def show_view(
        address: Annotated[str, Field(max_length=_MAX_ADDRESS_CHARS)],
        form: Annotated[str | None, Field(max_length=_MAX_FORM_CHARS)] = None,
        language: Annotated[str, Field(max_length=40)] = "ja",
    ) -> ToolReply:
        from mdvec_mcp.apps.pages import form_of

        shown = await pages().show(address, None if form is None else form_of(form), language)
        data = {"address": shown.address, "status": shown.status, "body": shown.body}
        return ToolReply(f"{shown.address}: {shown.status}", lambda: data)

    offer.add_tool(
        show_view,
        description="For mdvec's own views in the chat, not for models.",
        annotations=_CHANGES,
        meta={"ui": {"visibility": ["app"]}},
    )


def _app() -> str:
    """The App: one file with the page's style and script."""
    text = (_FILES / "shell.html").read_text(encoding="utf-8")
    parts = {
        "{style}": _STATIC / "page.css",
        "{script}": _STATIC / "page.js",
        "{shell}": _FILES / "shell.js",
    }
    for mark, file in parts.items():
        text = text.replace(mark, file.read_text(encoding="utf-8"))
    return text
