"""The web application: MCP at ``/mcp``, a health check at ``/health``, the page elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from mdvec import __version__
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mdvec_mcp.web.envelope_check import EnvelopeCheck
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
