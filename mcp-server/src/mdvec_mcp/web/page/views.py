"""What all views share: the templates, the words of the language, threads, and error pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from mcp.server.mcpserver.exceptions import ToolError
from mdvec.errors import MdvecError
from mdvec.text import file_size
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from mdvec_mcp.calls import in_thread
from mdvec_mcp.database_trouble import trouble_in_english, trouble_in_japanese
from mdvec_mcp.server import Wiring
from mdvec_mcp.web.page.access import Access
from mdvec_mcp.web.page.words import (
    figure,
    language_of,
    local,
    number,
    percent,
    tenths,
    told,
    words,
)

T = TypeVar("T")
View = Callable[[Request], Awaitable[Response]]
_THREADS = 8
"""So many views at once; more wait, and the tools of clients have threads of their own."""
_VIEWS = {"search": "/", "money": "/money", "review": "/review", "data": "/data", "tools": "/tools"}
"""The views in the navigation, and their addresses."""


@dataclass(frozen=True, slots=True)
class Views:
    """The environment of the views.

    Attributes:
        wiring: what the server's tools share.
        access: who may see the page.
        digest: stands for the state of the static files, in their addresses.
    """

    wiring: Wiring
    access: Access
    digest: str
    _templates: Environment = field(default_factory=lambda: _environment())
    _threads: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(_THREADS))

    @property
    def is_read_only(self) -> bool:
        """Whether the page changes nothing, and so draws no forms that would."""
        return self.wiring.settings.server.read_only

    def route(self, path: str, view: View, *, changes: bool = False) -> Route:
        """A route whose errors become a page; it ``changes`` something or shows something."""

        async def answered(request: Request) -> Response:
            try:
                return await view(request)
            except (ToolError, MdvecError) as error:
                return self.page(request, "trouble.html", status=400, sentence=str(error))

        return Route(path, answered, methods=["POST"] if changes else ["GET"])

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Run blocking work in a thread.

        Raises:
            ToolError: it raised an MdvecError.
        """
        wording = trouble_in_japanese if language_of(request) == "ja" else trouble_in_english
        return await in_thread(work, wording, limiter=self._threads)

    def page(
        self,
        request: Request,
        template: str,
        *,
        status: int = 200,
        **values: Any,  # noqa: ANN401
    ) -> HTMLResponse:
        """A template filled in, in the language of the request."""
        language = language_of(request)
        session = getattr(request.state, "session", None)
        path = request.scope["path"]
        view = next((name for name in _VIEWS if path.startswith(f"/{name}")), "search")
        # What only takes forms cannot be shown again.
        here = f"{path}?{request.url.query}" if request.method != "POST" else _VIEWS[view]
        text = self._templates.get_template(template).render(
            t=partial(words, language),
            told=partial(told, language),
            language=language,
            theme=request.cookies.get("mdvec_theme", "auto"),
            csrf="" if session is None else self.access.csrf_token(session),
            static=f"/static/{self.digest}",
            here=here.rstrip("?"),
            nav=_VIEWS.items(),
            view=view,
            is_open=session is not None,
            read_only=self.is_read_only,
            **values,
        )
        return HTMLResponse(text, status)

    def refusal(self, request: Request, reason: str, status: int) -> Response:
        """A page with a reason, which is a key of the words."""
        sentence = words(language_of(request), reason)
        return self.page(request, "trouble.html", status=status, sentence=sentence)

    def closed(self, request: Request) -> Response:
        """What a browser without a cookie sees."""
        return self.page(request, "closed.html", status=403)

    async def not_found(self, request: Request, _error: Exception) -> Response:
        """What an unknown address shows."""
        return self.refusal(request, "no_page", 404)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        auto_reload=False,
    )  # fmt: skip
    environment.filters["number"] = number
    environment.filters["figure"] = figure
    environment.filters["tenths"] = tenths
    environment.filters["size"] = file_size
    environment.filters["percent"] = percent
    environment.filters["local_time"] = local
    return environment
