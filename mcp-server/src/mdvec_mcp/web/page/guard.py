"""Checks every request of the page: where it comes from, its cookie, and its token if it changes.

Adds to every response the headers that keep a browser from running or loading anything foreign.
"""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mdvec_mcp.web.page.access import is_local, is_own
from mdvec_mcp.web.page.views import Views
from mdvec_mcp.web.page.words import CHOICE

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PRIVATE = "no-store"
_MAX_FIELDS = 500


class PageGuard:
    """Middleware in front of the views; a passed request has its session and form in its state."""

    def __init__(self, app: ASGIApp, views: Views) -> None:
        self._app = app
        self._views = views

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        request = Request(scope, receive)
        scope.setdefault("state", {})

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", _PRIVATE)
            await send(message)

        refused = await self._refused(request)
        if refused is not None:
            await refused(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    async def _refused(self, request: Request) -> Response | None:
        if not is_local(request):
            return PlainTextResponse("the page is for this machine alone\n", 403)
        if request.method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("the page answers GET and POST\n", 405)
        # Not request.url, which Starlette builds from the Host header: the path that is routed.
        path = request.scope["path"]
        if path == "/open" or path.startswith("/static/"):
            return None
        if not is_own(request):
            return PlainTextResponse(
                "another page may neither look at this one nor change anything\n", 403
            )
        session = self._views.access.session(request)
        if session is None:
            return self._views.closed(request)
        request.state.session = session
        if request.method != "POST":
            return None
        if self._views.is_read_only and path != CHOICE:
            return self._views.refusal(request, "read_only", 403)
        return await self._form_refused(request, session)

    async def _form_refused(self, request: Request, session: str) -> Response | None:
        """Read a form, and refuse it without the session's token."""
        try:
            text = (await request.body()).decode()
            fields = parse_qs(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            return PlainTextResponse("this is not a form\n", 400)
        (token, *_) = fields.get("csrf", [""])
        if not self._views.access.is_csrf_token(session, token):
            return self._views.refusal(request, "stale_form", 403)
        request.state.form = fields
        return None
