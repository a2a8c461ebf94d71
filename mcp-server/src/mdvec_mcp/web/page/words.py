"""The page's words in Japanese and English, from words.toml.

Sentences of the library are in English; sentences.toml has them in Japanese.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from starlette.requests import Request

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
        found = pattern.fullmatch(sentence)
        if found is not None:
            return japanese.format(**found.groupdict())
    return sentence


@cache
def known_sentences() -> tuple[tuple[str, str], ...]:
    """The table: sentences with ``{places}``, in English and in Japanese."""
    text = (Path(__file__).parent / "sentences.toml").read_text(encoding="utf-8")
    return tuple((one["en"], one["ja"]) for one in tomllib.loads(text)["sentence"])


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
