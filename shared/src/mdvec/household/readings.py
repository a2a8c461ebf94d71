"""Reads descriptions aloud: the reading form of Sudachi's dictionary."""

from __future__ import annotations

import re

from mdvec.text import morphemes

_KANJI = re.compile("[\u3400-\u9fff々〆a-zA-Z]")


def reading(text: str) -> str:
    """A text in katakana, words in Latin letters too if the dictionary reads them.

    Without kanji and Latin letters, or without a dictionary, the text itself.
    """
    if not _KANJI.search(text):
        return text
    return " ".join(morpheme.reading for morpheme in morphemes(text)) or text
