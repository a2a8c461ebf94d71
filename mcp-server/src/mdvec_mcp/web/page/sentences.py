"""The library's own English sentences in Japanese, from sentences.toml, where a page shows them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from mdvec_mcp.web.page.words import Language

_PLACE = re.compile(r"\{(\w+)\}")
_MAX_CHARS = 2_000


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
