"""Terms of a documentation that are asked for, taken by rule: nobody chose the easy ones."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from corpus import markdown_files
from finding import evenly
from mdvec.text.markdown import outline

OF_EACH = 32
_IDENTIFIER = re.compile(r"[a-z]+(?:[A-Z][a-z]*)+")
_JAPANESE = re.compile(r"[一-龯]{3,}|[ァ-ヶー]{4,}")
_MIN_FILES, _MAX_FILES = 2, 22


def asked_terms(corpus: Path) -> list[str]:
    """Identifiers and Japanese words, as many of each, evenly out of all that the rules allow.

    Identifiers are titles of documents in camelCase. Japanese words are runs of three kanji or
    four katakana in a heading, that stand in a few files but not in all.
    """
    texts = {path: path.read_text("utf-8") for path in markdown_files(corpus)}
    outlines = [outline(text, path.name) for path, text in texts.items()]
    identifiers = {read.title for read in outlines if _IDENTIFIER.fullmatch(read.title)}
    files = Counter(word for text in texts.values() for word in set(_JAPANESE.findall(text)))
    words = {
        word
        for read in outlines
        for heading in read.headings
        for word in _JAPANESE.findall(heading.words)
        if _MIN_FILES <= files[word] <= _MAX_FILES
    }
    return evenly(sorted(identifiers), OF_EACH) + evenly(sorted(words), OF_EACH)


def names(passages: Iterable[str], term: str) -> bool:
    """Whether any of the passages, their headings included, holds the term."""
    return any(_folded(term) in _folded(passage) for passage in passages)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
