"""Whether katakana found in a text are a word of it, or lie inside another (ポート: パスポート)."""

from __future__ import annotations

import re
from functools import lru_cache

from mdvec.text.morphology import morphemes

_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]+")
_MIN_CHARS = 3
"""Characters of a part: shorter ones (オン, ログ) begin or end too many words by chance."""


def is_katakana(word: str) -> bool:
    """Whether a folded word is written in katakana alone."""
    return _KATAKANA.fullmatch(word) is not None


def is_word_of(word: str, folded_text: str) -> bool:
    """Whether a word in katakana stands in a text by itself or as a part of a compound.

    Words that the dictionary splits stand by themselves (サーバーコンポーネント). Of others, the
    word is a part if the rest is made of words as well (ログファイル, but not ログイン).
    """
    return any(
        _is_part(word, stretch)
        for stretch in set(_KATAKANA.findall(folded_text))
        if word in stretch
    )


@lru_cache(maxsize=4_096)
def _is_part(word: str, stretch: str) -> bool:
    for one in morphemes(stretch):
        before, found, after = stretch[one.start : one.end].partition(word)
        if not found or (one.is_known and len(word) < _MIN_CHARS and before + after):
            continue
        if all(_is_made_of_words(rest) for rest in (before, after) if rest):
            return True
    return False


def _is_made_of_words(rest: str) -> bool:
    return len(rest) >= _MIN_CHARS and all(word.is_known for word in morphemes(rest))
