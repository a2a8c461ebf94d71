"""The page's words in Japanese and English, from words.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from starlette.requests import Request

Language = Literal["ja", "en"]
LANGUAGES: tuple[Language, ...] = ("ja", "en")
COOKIE = "mdvec_language"


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
