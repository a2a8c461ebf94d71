"""Sentences in both languages about a mapping: its open questions, and the evidence for it."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from mdvec.text import shown_name

Language = Literal["en", "ja"]
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class MappingSentence:
    """A sentence of ``mapping_sentences.toml``: its kind, the column, and the texts to show."""

    kind: str
    column: str = ""
    shown: str = ""

    def text(self, language: Language = "en") -> str:
        """The sentence in a language."""
        return _sentences()[self.kind][language].format(
            column=shown_name(self.column), shown=self.shown,
            quoted=json.dumps(self.column, ensure_ascii=False),
        )  # fmt: skip


@cache
def _sentences() -> dict[str, dict[Language, str]]:
    file = resources.files("mdvec.household") / "mapping_sentences.toml"
    return tomllib.loads(file.read_text("utf-8"))


def sentence_pairs() -> list[tuple[str, str]]:
    """Each sentence in Japanese and English, with placeholders named as in ``english.toml``."""
    places = {"column": "{any}", "shown": "{values}", "quoted": "{any2}"}
    pairs = []
    for each in _sentences().values():
        japanese, english = each["ja"].format(**places), each["en"].format(**places)
        # The translation treats quoted texts as names, which are the same in both languages.
        for at, quoted in enumerate(dict.fromkeys(_QUOTED.findall(japanese)), 3):
            japanese, english = (
                text.replace(quoted, f"{{any{at}}}") for text in (japanese, english)
            )
        pairs.append((japanese, english))
    return pairs
