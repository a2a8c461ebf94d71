"""Asks the page's views without a network: requests and responses within this process."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from mdvec.manage import PageKey
from starlette.types import ASGIApp

from mdvec_mcp.server import Wiring
from mdvec_mcp.web import Access, page_views

_SHOWN = ("/money", "/review", "/data")
"""The views that a chat may show and change; none of them shows folders or other files."""
_CONTENT = re.compile(rb"<main[^>]*>(.*)</main>", re.DOTALL)
_TEXTS = (b"text/html", b"text/plain", b"application/json")
_MAX_REDIRECTS = 2
_SESSION = "chat"
_URL = "%/?#[]=&+:;,@!$'()*~"
"""Characters that a view's address keeps; others, such as those of Japanese, are encoded."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a view responded: its address after redirects, its status, and its content.

    ``body`` is the content of its ``main`` element as HTML, or a JSON text.
    """

    address: str
    status: int
    body: str


class ChatPages:
    """The views of the page as a chat sees them; the application is built when first used.

    Args:
        wiring: what the server's tools share.
    """

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._app: ASGIApp | None = None

    async def show(
        self, address: str, form: Mapping[str, list[str]] | None, language: str
    ) -> Shown:
        """The view at an address like ``/money?period=…``; a ``form`` changes something.

        A chat's session needs no cookie and no token: whoever can call this tool can also call the
        tools that show and change the same things. A view outside of ``_SHOWN``, or a file to
        download, is answered with status 404.
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
        self, path: str, query: str, form: Mapping[str, list[str]] | None, language: str
    ) -> tuple[int, dict[bytes, bytes], bytes]:
        if self._app is None:
            access = Access(PageKey(secrets.token_bytes(32)), time.time_ns())
            self._app = page_views(self._wiring, access)[0]
        state = {"session": _SESSION, **({} if form is None else {"form": dict(form)})}
        scope = {
            "type": "http", "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 0),
            "method": "GET" if form is None else "POST", "path": path, "raw_path": path.encode(),
            "query_string": query.encode(), "root_path": "", "state": state,
            "headers": [(b"host", b"127.0.0.1"), (b"accept-language", language.encode())],
        }  # fmt: skip
        start: MutableMapping[str, Any] = {}
        body = bytearray()

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                body.extend(message.get("body", b""))

        await self._app(scope, receive, send)
        return start["status"], dict(start["headers"]), bytes(body)


def form_of(text: str) -> dict[str, list[str]]:
    """The fields of a form as a browser encodes it."""
    return parse_qs(text, keep_blank_values=True)


def _parts_of_shown(address: str) -> SplitResult | None:
    """The parts of the address of a view that a chat may show; None if it is none."""
    try:
        parts = urlsplit(quote(address, safe=_URL, errors="replace"))
    except ValueError:
        return None
    if parts.netloc or not any(_is_under(parts.path, shown) for shown in _SHOWN):
        return None
    return parts


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
