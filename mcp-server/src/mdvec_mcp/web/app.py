"""The web application: MCP at ``/mcp``, a health check at ``/health``, the page elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from mdvec import __version__
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mdvec_mcp.envelope import reply_to_unusable, without_lone_surrogates
from mdvec_mcp.web.gate import PATH, Gate, Rules
from mdvec_mcp.web.page_mount import PageMount

_HEALTH = "/health"


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """The limits of the HTTP server.

    Attributes:
        max_sessions: the number of sessions at the same time; more are refused with 503.
        session_seconds: a session without requests for this long ends.
        max_request_bytes: the size of a request; larger ones are refused with 413.
    """

    max_sessions: int = 256
    session_seconds: float = 1_800
    max_request_bytes: int = 2**20


def http_app(
    server: Server[dict[str, Any]], rules: Rules, limits: HttpLimits, page: PageMount | None = None
) -> ASGIApp:
    """The application, which refuses requests that violate ``rules`` or ``limits``."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        session_idle_timeout=limits.session_seconds,
        max_sessions=limits.max_sessions,
        max_request_body_size=limits.max_request_bytes,
        # The gate checks Host and Origin for all paths.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.routes.append(_health(page))
    app.router.redirect_slashes = False
    served: ASGIApp = EnvelopeCheck(app)
    if page is not None:
        served = _Beside(served, page)
    return Gate(RequestBodyLimitMiddleware(served, limits.max_request_bytes), rules)


class _Beside:
    """Passes the requests for MCP and for the health check to one application, others to a page."""

    def __init__(self, mcp: ASGIApp, page: ASGIApp) -> None:
        self._mcp = mcp
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        is_page = scope["type"] == "http" and scope["path"] not in (PATH, _HEALTH)
        await (self._page if is_page else self._mcp)(scope, receive, send)


def _health(page: PageMount | None) -> Route:
    """The health check; it also tells whose page is served."""
    told = {"status": "ok", "server": "mdvec", "version": __version__}
    if page is not None:
        told["page"] = page.key.id

    async def health(_request: Request) -> JSONResponse:
        return JSONResponse(told)

    return Route(_HEALTH, health, methods=["GET"])


class EnvelopeCheck:
    """Middleware that passes usable messages on and answers the others with an error.

    It reads the whole body into memory, so the body's size must already be limited.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one message."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            return
        text = without_lone_surrogates(body.decode(errors="replace"))
        reply = reply_to_unusable(text)
        if reply is not None:
            response = Response(reply, 400, media_type="application/json")
            await response(scope, receive, send)
            return
        waiting: list[Message] = [{"type": "http.request", "body": text.encode()}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, replay, send)


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None if the client disconnected before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
