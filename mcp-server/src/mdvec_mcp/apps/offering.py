"""Offers the views to clients that show MCP Apps; for other clients nothing changes."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

import anyio
from mcp.server.apps import APP_MIME_TYPE
from mcp_types import ToolAnnotations
from mdvec import manage
from mdvec.tools import own_name
from pydantic import Field
from starlette.types import ASGIApp

from mdvec_mcp import web
from mdvec_mcp.calls import ToolReply
from mdvec_mcp.server import Wiring

if TYPE_CHECKING:
    from mdvec_mcp.offer import Offer
    from mdvec_mcp.server import Wiring

_SHOWN = ("/money", "/review", "/data")
"""The views that a chat may show and use for changes; none of them shows folders or files."""
_CONTENT = re.compile(rb"<main[^>]*>(.*)</main>", re.DOTALL)
_TEXTS = (b"text/html", b"text/plain", b"application/json", b"image/svg+xml")
_MAX_REDIRECTS = 2
_SESSION = "chat"
_URL = "%/?#[]=&+:;,@!$'()*~"
"""Characters that stay as they are in a view's address; others, such as Japanese, are encoded."""
Arguments = Mapping[str, Any]
_APP = "ui://mdvec/view"
_FILES = Path(__file__).parent
_STATIC = _FILES.parent / "web" / "page" / "static"
_MAX_FORM_CHARS = 100_000
_MAX_ADDRESS_CHARS = 400_000
"""The longest address: it may contain a whole query, with up to nine characters for each one."""
_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The response of a view: its address after redirects, its status, and its content.

    ``body`` is the content of its ``main`` element as HTML, or a JSON text.
    """

    address: str
    status: int
    body: str


class ChatPages:
    """The page's views for a chat; the application is built on first use."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._app: ASGIApp | None = None

    async def show(
        self, address: str, form: Sequence[tuple[str, str]] | None, language: str
    ) -> Shown:
        """Request the view at an address like ``/money?period=…``; posts ``form`` if given.

        No cookie or token is needed: a client that can call this tool can also call the tools that
        show and change the same data. Views outside of ``_SHOWN`` and downloads get status 404.
        """
        for _ in range(_MAX_REDIRECTS):
            parts = _parts_of_shown(address)
            if parts is None:
                return Shown(address, 404, "")
            status, headers, body = await self._ask(parts.path, parts.query, form, language)
            if status != 303:
                break
            address, form = headers.get(b"location", b"/money").decode(), None
        if not headers[b"content-type"].startswith(_TEXTS):
            return Shown(address, 404, "")
        content = _CONTENT.search(body)
        return Shown(address, status, (content[1] if content else body).decode())

    async def _ask(
        self, path: str, query: str, form: Sequence[tuple[str, str]] | None, language: str
    ) -> tuple[int, dict[bytes, bytes], bytes]:
        if self._app is None:
            access = web.Access(manage.PageKey(secrets.token_bytes(32)), time.time_ns())
            self._app = web.page_views(self._wiring, access)[0]
        state = {"session": _SESSION, **({} if form is None else {"form": form})}
        scope = {
            "type": "http", "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 0),
            "method": "GET" if form is None else "POST", "path": path, "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "state": state,
            "headers": [(b"host", b"127.0.0.1"), (b"accept-language", language.encode())],
        }  # fmt: skip
        start: MutableMapping[str, Any] = {}
        body = bytearray()

        unread = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not unread:
                await anyio.sleep_forever()  # a chat never disconnects
            return unread.pop()

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                body.extend(message.get("body", b""))

        await self._app(scope, receive, send)
        return start["status"], dict(start["headers"]), bytes(body)


def _parts_of_shown(address: str) -> SplitResult | None:
    """The parts of a view's address; None if a chat may not show it."""
    try:
        parts = urlsplit(quote(address, safe=_URL, errors="replace"))
    except ValueError:
        return None
    is_shown = f"{parts.path}/".startswith(tuple(f"{view}/" for view in _SHOWN))
    return parts if is_shown and not parts.netloc else None


def _address(path: str, arguments: Arguments, same: tuple[str, ...] = (), **fields: object) -> str:
    """The address of a household's view; fields in ``same`` are named like the arguments."""
    unchanged = {name: arguments.get(name) for name in same}
    return _with_query(path, {"household": arguments.get("tool"), **fields, **unchanged})


def _with_query(path: str, fields: Mapping[str, object]) -> str:
    present = {name: value for name, value in fields.items() if value is not None}
    return f"{path}?{urlencode(present, doseq=True, errors='replace')}"


def _money(arguments: Arguments) -> str:
    year, month = arguments.get("year"), arguments.get("month")
    is_month = isinstance(year, int) and isinstance(month, int)
    period = arguments.get("period") or (f"{year}-{month:02}" if is_month else None)
    return _address("/money", arguments, ("category", "page"), period=period)


def _report(arguments: Arguments) -> str:
    """The address of a report's view: that of plans, or of the later period of a comparison."""
    path = "/money" if arguments.get("report") == "compare" else "/money/plan"
    return _address(path, arguments, ("period", "category"))


def _review(arguments: Arguments) -> str:
    decided = "1" if arguments.get("skip_checked") is False else None
    return _address("/review", arguments, decided=decided)


def _profile(arguments: Arguments) -> str:
    columns = arguments.get("columns")
    days = arguments.get("date_range")
    first, last = days if isinstance(days, list) and len(days) == 2 else (None, None)
    return _with_query(
        "/data/table",
        {
            "name": arguments.get("table_or_query"),
            "date_column": arguments.get("date_column"),
            "since": first,
            "until": last,
            "column": columns if isinstance(columns, list) else None,
            "all": 1,  # includes what a browser would request later
        },
    )


def _query(arguments: Arguments) -> str | None:
    """The address of a SELECT that is drawn; None for other results, which the text shows."""
    sql, chart, values = (arguments.get(name) for name in ("query", "chart", "parameters"))
    is_drawn = chart is not None and values is None
    return _with_query("/data", {"sql": sql, "chart": chart}) if is_drawn else None


VIEWS: dict[str, Callable[[Arguments], str | None]] = {
    "get_monthly_household": _money,
    "get_category_trend": partial(
        _address, "/money/trend", same=("category", "period", "start_month", "end_month")
    ),
    "household_report": _report,
    "detect_duplicates": partial(_address, "/review"),
    "list_duplicate_candidates": _review,
    "profile": _profile,
    "query": _query,
}
"""By tool, a function from a call's arguments to its view's address, or None without a view."""


def add_apps(wiring: Wiring, offer: Offer) -> None:
    """Give each tool with a view the App that draws it, and add the tool that the App calls.

    Does nothing without structured content, in which an App gets its view's address.
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
    pages = ChatPages(wiring)

    @offer.tool(
        description="For mdvec's own views in the chat, not for models.",
        annotations=_CHANGES,
        meta={"ui": {"visibility": ["app"]}},
    )
    async def show_view(
        address: Annotated[str, Field(max_length=_MAX_ADDRESS_CHARS)],
        form: Annotated[str | None, Field(max_length=_MAX_FORM_CHARS)] = None,
        language: Annotated[str, Field(max_length=40)] = "ja",
    ) -> ToolReply:
        fields = None if form is None else parse_qsl(form, keep_blank_values=True)
        shown = await pages.show(address, fields, language)
        return ToolReply(f"{shown.address}: {shown.status}", partial(asdict, shown))


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
