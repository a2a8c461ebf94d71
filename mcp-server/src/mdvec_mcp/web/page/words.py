"""The page's words in Japanese and English, how it writes numbers, and the look chosen.

Sentences of the library are in English; sentences.toml has them in Japanese.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from mdvec.text import local_time
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

Language = Literal["ja", "en"]
LANGUAGES: tuple[Language, ...] = ("ja", "en")
COOKIE = "mdvec_language"
_PLACE = re.compile(r"\{(\w+)\}")
_MAX_CHARS = 2_000


def language_of(request: Request) -> Language:
    """The language that the user chose, else the first known one of the browser, else Japanese."""
    chosen = request.cookies.get(COOKIE)
    wanted = [part.strip()[:2] for part in request.headers.get("accept-language", "").split(",")]
    for language in (chosen, *wanted):
        if language == "ja":
            return "ja"
        if language == "en":
            return "en"
    return "ja"


def words(language: Language, key: str, **values: object) -> str:
    """The words of a key, with ``{values}`` filled in.

    Raises:
        KeyError: there are no such words.
    """
    text = known_words()[key][LANGUAGES.index(language)]
    return text.format(**values) if values else text


@cache
def known_words() -> dict[str, tuple[str, str]]:
    """All words, as Japanese and English, by key."""
    text = (Path(__file__).parent / "words.toml").read_text(encoding="utf-8")
    return {key: (ja, en) for key, (ja, en) in tomllib.loads(text).items()}


def told(language: Language, sentence: str) -> str:
    """A sentence of the library in a language; one that is not in the table stays as it is."""
    if language != "ja" or len(sentence) > _MAX_CHARS:
        return sentence
    for pattern, japanese in _known():
        match = pattern.fullmatch(sentence)
        if match is not None:
            return japanese.format(**match.groupdict())
    return sentence


@cache
def known_sentences() -> tuple[tuple[str, str], ...]:
    """The table: sentences with ``{places}``, in English and in Japanese."""
    text = (Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8")
    return tuple((sentence["en"], sentence["ja"]) for sentence in tomllib.loads(text)["sentence"])


@cache
def _known() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(_pattern(english)), japanese) for english, japanese in known_sentences()
    )


def _pattern(english: str) -> str:
    """What matches a sentence whatever is in its places."""
    parts = _PLACE.split(english)
    return "".join(
        f"(?P<{part}>.+?)" if number % 2 else re.escape(part) for number, part in enumerate(parts)
    )


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


MINUS = "\N{MINUS SIGN}"


def number(value: float) -> str:
    """A number with separators of thousands."""
    return f"{value:,}".replace("-", MINUS)


def figure(value: object, name: str) -> object:
    """A figure of a column by its name; what is no number stays as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if name == "null_rate":
        return f"{value:.1%}"
    return number(value if isinstance(value, int) else round(value, 3))


def percent(share: float) -> str:
    """A fraction of 1 as whole percent."""
    return f"{share:.0%}".replace("-", MINUS)


def tenths(value: float) -> str:
    """A number with one decimal, so that those of a column stand below one another."""
    return f"{value:,.1f}".replace("-", MINUS)


def local(utc: str | None) -> str:
    """A time of the database where the user is; "" if there is none."""
    return local_time(utc) or ""
