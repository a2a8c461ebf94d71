"""Serves many clients over HTTP until the process gets a signal to stop."""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import dataclass
from http import HTTPStatus
from types import FrameType

import anyio
import uvicorn
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from mdvec import __version__
from mdvec.log import record
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mdvec_mcp.envelope import reply_to_unusable, without_lone_surrogates
from mdvec_mcp.protocol import MdvecServer, Sessions
from mdvec_mcp.search import ModelPool
from mdvec_mcp.web.gate import PATH, Gate, Rules
from mdvec_mcp.web.page.app import PageGuard
from mdvec_mcp.whole_requests import WholeRequests

_HEALTH = "/health"
_REFUSED = 400
MAX_CONNECTIONS = 600
"""More connections get 503; two per session, within the usual limit of open files."""
_FINISH_SECONDS = 5.0
_CLOSE_SECONDS = 2
_KEEP_ALIVE_SECONDS = 30
_STREAMS = b"subscriptions/listen"
"""The method whose response stays open until its client closes it."""


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
    server: MdvecServer, rules: Rules, limits: HttpLimits, page: PageGuard | None = None
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
    served: ASGIApp = MissedNotices(EnvelopeCheck(app), server.sessions)
    if page is not None:
        served = _route_mcp_and_page(served, page)
    return _recorded(Gate(RequestBodyLimitMiddleware(served, limits.max_request_bytes), rules))


def _recorded(app: ASGIApp) -> ASGIApp:
    """An application whose refusals are logged as events, without any content of the request."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= _REFUSED:
                record("refusal", program="mdvec-mcp", status=message["status"])
            await send(message)

        await app(scope, receive, told)

    return answer


def _route_mcp_and_page(mcp: ASGIApp, page: ASGIApp) -> ASGIApp:
    """Route requests for MCP and the health check to one application, others to the page."""

    async def passed_on(scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and scope["path"] not in (PATH, _HEALTH)
        await (page if is_page else mcp)(scope, receive, send)

    return passed_on


def _health(page: PageGuard | None) -> Route:
    """The health check, which also identifies the page served."""
    body = {"status": "ok", "server": "mdvec", "version": __version__}
    if page is not None:
        body["page"] = page.key_id

    async def health(_request: Request) -> JSONResponse:
        return JSONResponse(body)

    return Route(_HEALTH, health, methods=["GET"])


class MissedNotices:
    """Middleware that starts a session's stream with the notifications missed before.

    A client opens its stream after listing the tools, and reopens it when it breaks; the SDK drops
    notifications while no stream is open.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self._app = app
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; track whether it opens a stream."""
        session = _session_of(scope)
        if session is None:
            await self._app(scope, receive, send)
            return
        is_open = False

        async def begin(message: Message) -> None:
            nonlocal is_open
            await send(message)
            if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
                is_open = True
                for method in self._sessions.opened(session):
                    notice = json.dumps({"jsonrpc": "2.0", "method": method})
                    event = f"event: message\r\ndata: {notice}\r\n\r\n".encode()
                    await send({"type": "http.response.body", "body": event, "more_body": True})

        try:
            await self._app(scope, receive, begin)
        finally:
            if is_open:
                self._sessions.closed(session)


def _session_of(scope: Scope) -> str | None:
    """The session whose stream a request opens, if it does."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != PATH:
        return None
    return Headers(scope=scope).get(MCP_SESSION_ID_HEADER)


class EnvelopeCheck:
    """Middleware that passes on usable messages and answers other messages with an error.

    It reads the whole body into memory, so the body's size must already be limited.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one message."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
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


async def serve_http(
    server: MdvecServer,
    models: ModelPool,
    listening: socket.socket,
    rules: Rules,
    limits: HttpLimits,
    page: PageGuard | None = None,
) -> None:
    """Answer requests on a listening socket until SIGTERM or SIGINT."""
    app = GracefulShutdown(http_app(server, rules, limits, page))
    web = _Server(app)
    async with models.unloading_idle(), anyio.create_task_group() as tasks:
        tasks.start_soon(_stop, web, app)
        await web.serve(sockets=[listening])
        tasks.cancel_scope.cancel()
    server.close()


async def _stop(web: _Server, app: GracefulShutdown) -> None:
    await web.stop_requested.wait()
    await app.finish(_FINISH_SECONDS)
    web.should_exit = True


class _Server(uvicorn.Server):
    """A web server with an event for the first signal to stop; a second signal stops it at once."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", ws="none",
            server_header=False, limit_concurrency=MAX_CONNECTIONS, http=WholeRequests,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=_CLOSE_SECONDS,
        )  # fmt: skip
        super().__init__(config)
        self.stop_requested = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """Handle SIGINT and SIGTERM; unlike uvicorn's handler, does not re-raise the signal."""
        if self.stop_requested.is_set():
            self.should_exit = self.force_exit = True
        self._loop.call_soon_threadsafe(self.stop_requested.set)


class GracefulShutdown:
    """Middleware that counts requests in progress, and refuses new ones during shutdown.

    A request's state has the event ``stopping``, at which streams end.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._answering = 0
        self._stopping = anyio.Event()
        self._idle = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope.setdefault("state", {})["stopping"] = self._stopping
        if scope["type"] != "http" or scope["method"] != "POST" or _is_stream(scope):
            await self._app(scope, receive, send)
            return
        if self._stopping.is_set():
            stopping = PlainTextResponse("this server is stopping\n", 503)
            await _recorded(stopping)(scope, receive, send)
            return
        self._answering += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._answering -= 1
            if not self._answering:
                self._idle.set()

    async def finish(self, seconds: float) -> None:
        """Refuse new requests, and wait up to ``seconds`` for those in progress."""
        self._stopping.set()
        self._idle = anyio.Event()
        if self._answering:
            with anyio.move_on_after(seconds):
                await self._idle.wait()


def _is_stream(scope: Scope) -> bool:
    return any(name == b"mcp-method" and value == _STREAMS for name, value in scope["headers"])
