"""Code that all views share: templates, translated words, numbers, addresses, and refusals.

Sentences of the library are in English; ``mdvec.japanese`` has them in Japanese.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

import anyio
import anyio.to_thread
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from mcp.server.mcpserver.exceptions import ToolError
from mdvec import search  # loaded on use: it imports NumPy
from mdvec.dates import MonthRange
from mdvec.errors import MdvecError
from mdvec.household import InvalidPage, in_english
from mdvec.japanese import in_japanese
from mdvec.manage import tools_so_far
from mdvec.text import file_size, local_time
from mdvec.tools import Tool, naming
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.calls import in_thread, trouble_in_english, trouble_in_japanese
from mdvec_mcp.server import Wiring
from mdvec_mcp.web.page.access import Access, is_led_here

Language = Literal["ja", "en"]
LANGUAGES: tuple[Language, ...] = ("ja", "en")
COOKIE = "mdvec_language"
_ARGUMENT = re.compile(r'(since|until)="YYYY-MM-DD"')
_COOKIES = {"language": (COOKIE, LANGUAGES), "theme": ("mdvec_theme", ("auto", "light", "dark"))}
CHOICE = "/look"
"""The address of the form that only sets cookies."""
_YEAR = 365 * 24 * 3600
MINUS = "\N{MINUS SIGN}"
MAX_FIELD_CHARS = 20_000
_MAX_VALUES = 200
_MAX_DIGITS = 12
_IN_TOOLS = ("list_sources", "reindex")
"""The server's tools for which the page has views instead."""
_NOT_TYPED = ("household", "sort")
_WRONG_FIELD = Markup(' autofocus aria-invalid="true" aria-describedby="refused"')
_MAX_YEARS = 6
T = TypeVar("T")
View = Callable[["Visit"], Awaitable[Response]]
_THREADS = 8
"""The number of views rendered at once; more wait. Clients' tools have their own threads."""
_VIEWS = {"search": "/", "money": "/money", "review": "/review", "data": "/data", "tools": "/tools"}
"""The views in the navigation, and their addresses."""


def language_of(request: Request) -> Language:
    """The language that the user chose, else the browser's first supported one, else Japanese."""
    chosen = request.cookies.get(COOKIE)
    wanted = [part.strip()[:2] for part in request.headers.get("accept-language", "").split(",")]
    for language in (chosen, *wanted):
        if language == "ja":
            return "ja"
        if language == "en":
            return "en"
    return "ja"


def words(language: Language, key: str, **values: object) -> str:
    """The words of a key, with ``{values}`` filled in; right-to-left values are isolated."""
    text = known_words()[key][LANGUAGES.index(language)]
    return text.format(**{name: _isolate_direction(value) for name, value in values.items()})


def _isolate_direction(value: object) -> object:
    """A right-to-left text between marks that isolate it from its surroundings."""
    is_turned = isinstance(value, str) and any(
        unicodedata.bidirectional(sign) in ("R", "AL") for sign in value
    )
    return f"\N{FIRST STRONG ISOLATE}{value}\N{POP DIRECTIONAL ISOLATE}" if is_turned else value


@cache
def known_words() -> dict[str, tuple[str, str]]:
    """All words, as Japanese and English, by key."""
    text = (Path(__file__).parent / "words.toml").read_text(encoding="utf-8")
    return {key: (ja, en) for key, (ja, en) in tomllib.loads(text).items()}


def translated(language: Language, sentence: str) -> str:
    """A sentence of the library in a language; an unknown sentence stays unchanged.

    The household's sentences are Japanese, all others English.
    """
    return in_japanese(sentence) if language == "ja" else in_english(sentence)


def _of_the_form(language: Language, sentence: str) -> str:
    """A refusal that names a form's labels instead of a tool's arguments."""
    quoted = {"ja": "「{}」", "en": "“{}”"}[language]
    return _ARGUMENT.sub(
        lambda match: quoted.format(words(language, f"row_{match[1]}")),
        translated(language, sentence),
    )


async def choose_look(request: Request) -> Response:
    """Store a choice of language or theme, and redirect back."""
    form = Query(request)
    here = form.text("here")
    # Only a path of this page: "//" or a backslash would begin another host.
    is_path = here.startswith("/") and not here.startswith(("//", "/\\"))
    response = RedirectResponse(here if is_path else "/", 303)
    for name, (cookie, allowed) in _COOKIES.items():
        if (value := form.text(name)) in allowed:
            response.set_cookie(cookie, value, _YEAR, httponly=True, samesite="lax")
    return response


def number(value: float) -> str:
    """A number with thousands separators."""
    return f"{value:,}".replace("-", MINUS)


def figure(value: object, name: str) -> object:
    """A statistic of a column, formatted by its name; values other than numbers stay unchanged."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if name == "null_rate":
        return f"{value:.1%}"
    return number(value if isinstance(value, int) else round(value, 3))


def percent(share: float) -> str:
    """A fraction of 1 as whole percent."""
    return f"{share:.0%}".replace("-", MINUS)


def tenths(value: float) -> str:
    """A number with one decimal, so that numbers align in a column."""
    return f"{value:,.1f}".replace("-", MINUS)


class Query:
    """The fields of the form that a request sends, else of its address.

    After a refusal, the fields of the address are without the typed fields.
    """

    def __init__(self, request: Request, fields: list[tuple[str, str]] | None = None) -> None:
        if fields is None:
            fields = getattr(request.state, "form", request.query_params.multi_items())
        if hasattr(request.state, "refused"):
            fields = [(name, value) for name, value in fields if name in _NOT_TYPED]
        self._fields = QueryParams(fields)

    def __contains__(self, name: str) -> bool:
        """Whether a field is present and not empty."""
        return bool(self._fields.get(name))

    def text(self, name: str) -> str:
        """A field's value; "" if it is missing."""
        return self._fields.get(name, "")[:MAX_FIELD_CHARS]

    def all(self, name: str) -> list[str]:
        """All values of a field."""
        return self._fields.getlist(name)[:_MAX_VALUES]

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """A field's value as a whole number within bounds; else the default."""
        text = self.text(name).strip()
        if not text.isdecimal() or len(text) > _MAX_DIGITS:
            return default
        return min(max(int(text), least), most)

    def others(self, *names: str) -> list[tuple[str, str]]:
        """The other fields of the same address, with their values."""
        return [(name, value) for name, value in self._fields.multi_items() if name not in names]

    def with_(self, **changes: str | int | None) -> str:
        """The query of the same address with other values; None removes a field."""
        new = [(name, str(value)) for name, value in changes.items() if value is not None]
        return urlencode([*self.others(*changes), *new])


def page_or_last(query: Query, work: Callable[[int], T]) -> T:
    """The requested page of a list; the last, if corrections or filters left fewer pages."""
    try:
        return work(query.number("page", 1, 1, 10**6))
    except (InvalidPage, search.NoListingPage) as error:
        return work(error.pages)


class BadValue(MdvecError):
    """A value of a form cannot be read; the reason is a key of ``words``."""

    def __init__(self, language: Language, reason: str, given: str) -> None:
        super().__init__(words(language, reason, given=given[:40]))


def yen_of(language: Language, amount: str) -> int:
    """An amount as people write it (separators, full-width digits, ¥ or 円), or BadValue."""
    text = unicodedata.normalize("NFKC", amount).replace(",", "").strip()
    text = text.removeprefix("¥").removesuffix("円").strip()
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise BadValue(language, "bad_amount", amount)
    return int(text)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a form was refused, and the values typed into it."""

    sentence: str
    typed: Query

    def flag(self, name: str) -> Markup:
        """HTML attributes that mark a field if the refusal quotes its value."""
        value = self.typed.text(name).strip()
        is_wrong = bool(value) and value in self.sentence
        return _WRONG_FIELD if is_wrong else Markup()


def address_fields(fields: Mapping[str, object]) -> str:
    """Fields as the query of an address; a list has several values, None removes a field."""
    present = {name: value for name, value in fields.items() if value is not None}
    return urlencode(present, doseq=True)


@dataclass(frozen=True, slots=True)
class Periods:
    """Periods in words that tools understand; "" if the ledger has no such months."""

    before: str
    after: str
    offered: tuple[str, ...]


def periods_around(
    shown: MonthRange, known: MonthRange, requested: MonthRange | None = None
) -> Periods:
    """The periods of equal length before and after a view's, and the latest months and years.

    ``requested`` are the requested months; only those with data may be ``shown``.
    """
    requested = requested or shown
    years = range(known.last.year, max(known.first.year, known.last.year - _MAX_YEARS) - 1, -1)
    months = [known.last, *([known.last.plus(-1)] if len(known) > 1 else [])]
    return Periods(
        before=_shifted(requested, -len(requested)) if shown.first > known.first else "",
        after=_shifted(requested, len(requested)) if shown.last < known.last else "",
        offered=(*map(str, months), *(f"{year}年" for year in years)),
    )


def _shifted(months: MonthRange, by: int) -> str:
    first, last = months.first.plus(by), months.last.plus(by)
    if (first.month, last) == (1, first.plus(11)):
        return f"{first.year}年"
    return str(first) if first == last else f"{first}〜{last}"


@cache
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
    environment.filters["local_time"] = lambda utc: local_time(utc) or ""
    return environment


@dataclass(frozen=True, slots=True)
class Views:
    """What all views use; ``digest`` is a hash of the static files, for their addresses."""

    wiring: Wiring
    access: Access
    digest: str
    templates: Environment = field(default_factory=_environment)
    threads: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(_THREADS))

    @property
    def is_read_only(self) -> bool:
        """Whether the page changes nothing, and so shows no forms for changes."""
        return self.wiring.settings.server.read_only

    def route(
        self, path: str, view: View, *, changes: bool = False, has_form: bool = False
    ) -> Route:
        """A route whose errors become a page; with ``changes`` it takes POST requests.

        A view that ``has_form`` is shown again if refused, with the values typed and the reason.
        """

        async def answered(request: Request) -> Response:
            visit = self.visit(request)
            instead = dict.fromkeys(_IN_TOOLS, words(visit.language, "in_tools"))
            naming.set(lambda tool: instead.get(tool, tool))
            try:
                return await view(visit)
            except (ToolError, MdvecError) as error:
                shown = await self._refused_view(visit, view, str(error)) if has_form else None
                return shown or visit.page("trouble.html", status=400, sentence=str(error))

        return Route(path, answered, methods=["POST"] if changes else ["GET"])

    async def _refused_view(self, visit: Visit, view: View, sentence: str) -> Response | None:
        """The view without the values typed; None if it is still refused."""
        typed, state = visit.query, visit.request.state
        if "part" in typed or not typed.others(*_NOT_TYPED):
            return None
        state.refused = Refused(sentence, typed)
        try:
            return await view(self.visit(visit.request))
        except (ToolError, MdvecError):
            del state.refused
            return None

    def visit(self, request: Request) -> Visit:
        """A visit with all that the view needs for this request."""
        return Visit(self, request, Query(request))

    def tools(self, *, active_only: bool) -> list[Tool]:
        """The tools of the database; none if there is no database."""
        return tools_so_far(self.wiring.database, active_only=active_only)

    async def not_found(self, request: Request, _error: Exception) -> Response:
        """The page for an unknown address."""
        return self.visit(request).refusal("no_page", 404)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request, with the fields of its form or address, and the means to answer it."""

    views: Views
    request: Request
    query: Query

    @property
    def wiring(self) -> Wiring:
        """The services of the server's tools."""
        return self.views.wiring

    @property
    def language(self) -> Language:
        """The language of the answer."""
        return language_of(self.request)

    @property
    def undo(self) -> Query:
        """The fields that offer an undo: none if a link on another site led to the view."""
        return Query(self.request, []) if is_led_here(self.request) else self.query

    @property
    def refused(self) -> str:
        """Why the form that this visit shows again was refused; "" if no form was."""
        return getattr(self.request.state, "not_done", "")

    @property
    def is_server_stopping(self) -> bool:
        """Whether the server is stopping and waits for its streams to end."""
        stopping = getattr(self.request.state, "stopping", None)
        return stopping is not None and stopping.is_set()

    async def run(self, work: Callable[[], T]) -> T:
        """Run blocking work in a thread; its MdvecErrors become ToolErrors."""
        wording = trouble_in_japanese if self.language == "ja" else trouble_in_english
        return await in_thread(work, wording, limiter=self.views.threads)

    async def run_while_awaited(self, work: Callable[[], T]) -> T | None:
        """As ``run``, but returns None if the work was stopped because the browser went away."""
        outcome: T | None = None
        refusal: ToolError | None = None
        async with anyio.create_task_group() as tasks:

            async def end_with_browser() -> None:
                while (await self.request.receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(end_with_browser)
            try:
                outcome = await self.run(work)
            except ToolError as error:  # the task group would wrap it in a group of errors
                refusal = error
            tasks.cancel_scope.cancel()
        if refusal is not None:
            raise refusal
        return outcome

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
        """A rendered template in the language of the request."""
        request, views, language = self.request, self.views, self.language
        session = getattr(request.state, "session", None)
        path = request.scope["path"]
        view = next((name for name in _VIEWS if path.startswith(f"/{name}")), "search")
        # A POST request cannot be shown again.
        here = f"{path}?{request.url.query}" if request.method != "POST" else _VIEWS[view]
        refused: Refused | None = getattr(request.state, "refused", None)
        text = views.templates.get_template(template).render(
            query=self.query,
            refused=self.refused,
            given=self.query if refused is None else refused.typed,
            reason="" if refused is None else _of_the_form(language, refused.sentence),
            flag=(lambda _name: "") if refused is None else refused.flag,
            t=partial(words, language),
            translated=partial(translated, language),
            language=language,
            theme=request.cookies.get("mdvec_theme", "auto"),
            csrf="" if session is None else views.access.csrf_token(session),
            static=f"/static/{views.digest}",
            here=here.rstrip("?"),
            nav=_VIEWS.items(),
            view=view,
            is_open=session is not None,
            read_only=views.is_read_only,
            **values,
        )
        return HTMLResponse(text, 400 if refused is not None or self.refused else status)

    def refusal(self, reason: str, status: int) -> Response:
        """A page with a reason, which is a key of ``words``."""
        return self.page("trouble.html", status=status, sentence=words(self.language, reason))


class ChangedMeanwhile(MdvecError):
    """A form would overwrite a change that was made after the form was shown."""

    def __init__(self) -> None:
        super().__init__(
            "it was changed elsewhere meanwhile, so nothing was written; look at its present "
            "values, and repeat what you still want to change"
        )


V = TypeVar("V", bound=Visit)


def or_again(
    answer: Callable[[V], Awaitable[Response]], show: Callable[[V], Awaitable[Response]]
) -> Callable[[V], Awaitable[Response]]:
    """The answer to a form; a refused form is shown again, with what was typed and the reason."""

    async def answered(visit: V) -> Response:
        try:
            return await answer(visit)
        except ToolError as error:
            visit.request.state.not_done = str(error)
            return await show(visit)

    return answered
