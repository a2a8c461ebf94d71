"""Sentences in both languages about a mapping: its open questions, and the evidence for it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from mdvec.text import shown_name

Language = Literal["en", "ja"]


@dataclass(frozen=True, slots=True)
class MappingSentence:
    """A sentence of ``mapping_sentences.toml``: about a column, and what is in it."""

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
    """Each sentence in Japanese and English; its placeholders are named as in ``english.toml``."""
    places = {place: f"{{any{at}}}" for at, place in enumerate(("column", "shown", "quoted"), 1)}
    return [
        (each["ja"].format(**places), each["en"].format(**places)) for each in _sentences().values()
    ]
