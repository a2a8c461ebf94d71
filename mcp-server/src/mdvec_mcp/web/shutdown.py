"""Graceful shutdown: lets requests in progress finish before the server stops."""

from __future__ import annotations

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_STREAMS = b"subscriptions/listen"
"""The method whose response stays open as long as its client wants."""


class GracefulShutdown:
    """Middleware that counts requests in progress, and refuses new ones during shutdown."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._answering = 0
        self._stopping = False
        self._idle = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "POST" or _is_stream(scope):
            await self._app(scope, receive, send)
            return
        if self._stopping:
            await PlainTextResponse("this server is stopping\n", 503)(scope, receive, send)
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
        self._stopping = True
        self._idle = anyio.Event()
        if self._answering:
            with anyio.move_on_after(seconds):
                await self._idle.wait()


def _is_stream(scope: Scope) -> bool:
    return any(name == b"mcp-method" and value == _STREAMS for name, value in scope["headers"])
