"""The page as a web application: its views, and the checks of every request."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import parse_qsl

from mdvec.manage import PageKey
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mdvec_mcp.server import Wiring
from mdvec_mcp.web.page import (
    accounts_view,
    data_view,
    money_view,
    plan_view,
    review_view,
    rows_view,
    search_view,
    tools_view,
)
from mdvec_mcp.web.page.access import COOKIE_SECONDS, Access, is_local, is_own
from mdvec_mcp.web.page.views import CHOICE, Views, choose_look

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
STATIC = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
Answer = Callable[[Request], Awaitable[Response]]
_ONWARDS = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>mdvec</title>'
    '<link rel="icon" href="/static/{digest}/icon.svg">'
    '<meta http-equiv="refresh" content="0;url=/"></head><body><a href="/">mdvec</a></body></html>'
)
"""A page instead of a redirect, which browsers would attribute to the opening file and so send
no strict cookies."""


class PageGuard:
    """Middleware that checks requests; an accepted request's state has its session and form."""

    def __init__(self, app: ASGIApp, views: Views) -> None:
        self._app = app
        self._views = views
        self.key_id = views.access.key.id

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

        refused = await self._refusal(request)
        if refused is not None:
            await refused(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    async def _refusal(self, request: Request) -> Response | None:
        if not is_local(request):
            return PlainTextResponse("the page is for this machine alone\n", 403)
        if request.method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("the page answers GET and POST\n", 405)
        # The routed path; Starlette builds request.url from the Host header.
        path = request.scope["path"]
        if path == "/open" or path.startswith("/static/"):
            return None
        if not is_own(request):
            return PlainTextResponse(
                "another page may neither look at this one nor change anything\n", 403
            )
        session = self._views.access.session(request)
        if session is None:
            return self._views.visit(request).page("closed.html", status=403)
        request.state.session = session
        if request.method != "POST":
            return None
        if self._views.is_read_only and path != CHOICE:
            return self._views.visit(request).refusal("read_only", 403)
        return await self._form_refused(request, session)

    async def _form_refused(self, request: Request, session: str) -> Response | None:
        """Read a form, and refuse it if it lacks the session's token."""
        try:
            text = (await request.body()).decode()
            fields = parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
        except ValueError:
            return PlainTextResponse("this is not a form\n", 400)
        token = next((value for name, value in fields if name == "csrf"), "")
        if not self._views.access.is_csrf_token(session, token):
            return self._views.visit(request).refusal("stale_form", 403)
        # Addresses are made of a form's fields, and the token belongs in none.
        request.state.form = [(name, value) for name, value in fields if name != "csrf"]
        return None


def page_app(wiring: Wiring, key: PageKey) -> PageGuard:
    """The application; ``key`` signs its cookies, and only codes made from now on are accepted."""
    app, views = page_views(wiring, Access(key, time.time_ns()))
    return PageGuard(app, views)


def page_views(wiring: Wiring, access: Access) -> tuple[Starlette, Views]:
    """The views without the checks of a browser's requests.

    A request's state must have its session and, if it changes something, its form.
    """
    files = {file.name: file.read_bytes() for file in STATIC.iterdir()}
    digest = hashlib.sha256(b"".join(files[name] for name in sorted(files))).hexdigest()[:12]
    views = Views(wiring, access, digest)
    routes = [
        Route("/open", _opening(access, digest)),
        Route(f"/static/{digest}/{{name}}", _static(files)),
        Route(CHOICE, choose_look, methods=["POST"]),
        *search_view.routes(views),
        *data_view.routes(views),
        *money_view.routes(views),
        *rows_view.routes(views),
        *plan_view.routes(views),
        *accounts_view.routes(views),
        *review_view.routes(views),
        *tools_view.routes(views),
    ]
    app = Starlette(routes=routes, exception_handlers={404: views.not_found})
    app.router.redirect_slashes = False
    return app, views


def _opening(access: Access, digest: str) -> Answer:
    async def opened(request: Request) -> Response:
        cookie = access.admit(request.query_params.get("code", ""))
        # A browser without a valid code may already have a cookie, which the first view checks.
        response = HTMLResponse(_ONWARDS.format(digest=digest), 403 if cookie is None else 200)
        if cookie is not None:
            response.set_cookie(
                access.cookie_name, cookie, max_age=COOKIE_SECONDS, httponly=True, samesite="lax"
            )
        return response

    return opened


def _static(files: dict[str, bytes]) -> Answer:
    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            return PlainTextResponse("there is no such file\n", 404)
        kind = _TYPES[Path(name).suffix]
        return Response(files[name], headers=_FOR_EVER, media_type=kind)

    return static
