"""Tells whether a text has a word, alone or in a compound, or just its characters by chance."""

from __future__ import annotations

import re
from functools import lru_cache

from mdvec.text.index_terms import ONE_KANJI, RUNS
from mdvec.text.morphology import morphemes

_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]+")
_MIN_CHARS = 3
"""The minimum length of a part: shorter parts (オン, ログ) occur by chance in too many words."""


def is_katakana(word: str) -> bool:
    """Whether a folded word is all katakana."""
    return _KATAKANA.fullmatch(word) is not None


def is_word_of(word: str, folded_text: str) -> bool:
    """Whether a word in CJK stands in a text by itself or as a part of a compound.

    Words that the dictionary separates stand by themselves (サーバーコンポーネント). Within other
    katakana, the word is a part if the rest consists of words as well (ログファイル, but not
    ログイン); within other text, if it lies inside one word (参政 in 参政権, but not 人参 in
    外国人参政).
    """
    pattern, is_part = (_KATAKANA, _is_part) if is_katakana(word) else (RUNS, _is_within_words)
    runs = (match[0] for match in pattern.finditer(folded_text))
    return any(is_part(word, run) for run in runs if word in run)


def is_only_amid(word: str, folded_text: str, count: int) -> bool:
    """Whether all ``count`` occurrences of a word in a text are amid longer compounds in kanji.

    In such a compound the dictionary may be wrong about the word (人参 in 外国人参政権).
    """
    amid = folded_text.count(word) if re.fullmatch(f"{ONE_KANJI}+", word) else 0
    return 0 < amid >= count and not re.search(
        f"(?<!{ONE_KANJI}){word}|{word}(?!{ONE_KANJI})", folded_text
    )


@lru_cache(maxsize=4_096)
def _is_part(word: str, stretch: str) -> bool:
    for morpheme in morphemes(stretch):
        before, part, after = stretch[morpheme.start : morpheme.end].partition(word)
        if not part or (morpheme.is_known and len(word) < _MIN_CHARS and before + after):
            continue
        if all(_is_made_of_words(rest) for rest in (before, after) if rest):
            return True
    return False


@lru_cache(maxsize=4_096)
def _is_within_words(word: str, run: str) -> bool:
    """Whether a word occurs in a run: inside one of its words, or as several whole words."""
    words = morphemes(run)
    starts, ends = {other.start for other in words}, {other.end for other in words}
    return any(
        (start in starts and start + len(word) in ends)
        or any(other.start <= start and start + len(word) <= other.end for other in words)
        for start in (match.start() for match in re.finditer(re.escape(word), run))
    )


def _is_made_of_words(rest: str) -> bool:
    return len(rest) >= _MIN_CHARS and all(word.is_known for word in morphemes(rest))
