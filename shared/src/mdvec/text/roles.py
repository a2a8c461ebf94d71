"""Tells the words that carry a question's content from those that only ask (教えて, how)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from enum import Enum
from importlib import resources


class Role(Enum):
    """The role of a word in a sentence.

    Grammar (particles, auxiliaries, symbols) is never indexed. Words of asking (教えて, 何, how)
    and fillers (使い方, こと, the) are indexed like any other word, but a search uses them
    only if the question has no content words.
    """

    CONTENT = "content"
    ASKING = "asking"
    FILLER = "filler"
    GRAMMAR = "grammar"


_GRAMMAR = frozenset({"助詞", "助動詞", "補助記号", "空白"})
_FILLER_CLASSES = frozenset({"代名詞", "連体詞", "接続詞", "感動詞"})  # 感動詞: ねえ, ありがとう
_FILLER_SUBCLASSES = frozenset({("形状詞", "助動詞語幹")})  # よう, そう
_FILE = resources.files("mdvec.text") / "question_words.toml"
_WORDS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}


def role_of(normal_form: str, part_of_speech: Sequence[str] = ("", "")) -> Role:
    """The role of a word, given Sudachi's normalised form and part of speech.

    A word in letters is given in lower case, without a part of speech.
    """
    if part_of_speech[0] in _GRAMMAR:
        return Role.GRAMMAR
    if normal_form in _WORDS["asking"]:
        return Role.ASKING
    if (
        normal_form in _WORDS["joining"]
        or part_of_speech[0] in _FILLER_CLASSES
        or tuple(part_of_speech[:2]) in _FILLER_SUBCLASSES
    ):
        return Role.FILLER
    return Role.CONTENT
