"""The user's choice of language and of light or dark, kept in cookies."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.web.page.words import COOKIE, LANGUAGES

_COOKIES = {"language": (COOKIE, LANGUAGES), "theme": ("mdvec_theme", ("auto", "light", "dark"))}
CHOICE = "/look"
"""The address of the only form that writes nothing but cookies."""
_YEAR = 365 * 24 * 3600


def routes() -> list[Route]:
    """The route that keeps a choice and goes back."""
    return [Route(CHOICE, _choose, methods=["POST"])]


async def _choose(request: Request) -> Response:
    form = request.state.form
    (here, *_) = form.get("here", ["/"])
    # Only a path of this page: "//" would begin another host, as would a backslash.
    is_path = here.startswith("/") and not here.startswith(("//", "/\\"))
    response = RedirectResponse(here if is_path else "/", 303)
    for field, (cookie, allowed) in _COOKIES.items():
        (value, *_) = form.get(field, [""])
        if value in allowed:
            response.set_cookie(cookie, value, _YEAR, httponly=True, samesite="lax")
    return response
