"""Answers HTTP requests whose JSON-RPC envelope is unusable, as the STDIO server does."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mdvec_mcp.envelope import reply_to_unusable, without_lone_surrogates


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
