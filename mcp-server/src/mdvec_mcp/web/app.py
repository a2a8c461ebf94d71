"""The web application: MCP at ``/mcp``, a health check at ``/health``."""

from __future__ import annotations

from dataclasses import dataclass

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from mdvec import __version__
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from mdvec_mcp.web.envelope_check import EnvelopeCheck
from mdvec_mcp.web.gate import PATH, Gate, Rules


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the HTTP server.

    Attributes:
        max_sessions: the number of sessions at the same time; more are refused with 503.
        session_seconds: a session without requests for this long ends.
        max_request_bytes: the size of a request; larger ones are refused with 413.
    """

    max_sessions: int = 256
    session_seconds: float = 1_800
    max_request_bytes: int = 2**20


def http_app(server: MCPServer, rules: Rules, limits: Limits) -> ASGIApp:
    """The application, which refuses requests that violate ``rules`` or ``limits``."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        session_idle_timeout=limits.session_seconds,
        max_sessions=limits.max_sessions,
        max_request_body_size=limits.max_request_bytes,
        # The gate checks Host and Origin for all paths.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.router.routes.append(Route("/health", _health, methods=["GET"]))
    app.router.redirect_slashes = False
    return Gate(RequestBodyLimitMiddleware(EnvelopeCheck(app), limits.max_request_bytes), rules)


async def _health(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "server": "mdvec", "version": __version__})
