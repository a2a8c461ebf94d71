"""Lexical terms: what a text is found by when its words matter, with or without spaces.

Japanese runs words together, so a run of Japanese characters becomes its overlapping pairs
(食費管理: 食費, 費管, 管理): a word of two characters or more is found wherever it stands, and an
unspaced question shares its pairs with the passage that answers it. Its kanji, which mean
something each, and its longer stretches of kanji or katakana, which mostly are words, are terms
too: with them the right passage comes first more often (docs/benchmarks.md). Other scripts part
words themselves.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_KANJI = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_CJK = f"{_KANJI}{_KATAKANA}\u3041-\u3096\u309d-\u309f"
_RUNS = re.compile(f"([{_CJK}]+)|([^\\W{_CJK}]+)")
_ONE_KANJI = re.compile(f"[{_KANJI}]")
_STRETCHES = re.compile(f"[{_KANJI}]{{3,}}|[{_KATAKANA}]{{3,}}")
_CJK_START = re.compile(f"[{_CJK}]")
_CROSSING = re.compile(f"[\u3041-\u3096][{_KANJI}{_KATAKANA}]")
_HIRAGANA = "\u3041-\u3096\u309d-\u309f\u30fc"
_HIRAGANA_ALONE = re.compile(f"[{_HIRAGANA}]+")
# At the start of a question or a clause, or after a space: there a word begins. After a space
# that follows other letters it may also be a particle (venv の使い方).
_WORDS_OF_HIRAGANA = re.compile(
    rf"(?:^\W*|[、。,.!?;:(\[{{「『【〈《“‘]\s*|(?<=[{_CJK}])\s+|(?<!\s)\s+(?![はがをのにへとでもや]))"
    f"([{_HIRAGANA}]+)"
)
_LONGEST = 64


def terms(text: str) -> list[str]:
    """The terms of ``text``, repeated as often as they stand there.

    Full- and half-width forms, upper and lower case are one (NFKC, case folded). A run of CJK
    characters gives its pairs, its kanji and its stretches of three or more kanji or katakana, a
    run of one that character; any other run of letters, digits and underscores is a word.
    Stretches and words are cut off after 64 characters.
    """
    found: list[str] = []
    for match in _RUNS.finditer(_folded(text)):
        run, word = match.groups()
        if word is not None:
            found.append(word[:_LONGEST])
        elif len(run) == 1:
            found.append(run)
        else:
            found += [run[place : place + 2] for place in range(len(run) - 1)]
            found += _ONE_KANJI.findall(run)
            found += [stretch[:_LONGEST] for stretch in _STRETCHES.findall(run)]
    return found


def question_terms(question: str) -> list[str]:
    """The different terms that a question is searched and scored by, in their order.

    Behind a word, hiragana is mostly grammar and manners (について, の, を…てください): terms of
    hiragana alone count only where a word begins with them (ごみの日), or where the question holds
    nothing else.
    """
    different = list(dict.fromkeys(terms(question)))
    begun = {
        term for stretch in _WORDS_OF_HIRAGANA.findall(_folded(question)) for term in terms(stretch)
    }
    telling = [term for term in different if term in begun or not _HIRAGANA_ALONE.fullmatch(term)]
    return telling or different


class WantedTerms:
    """Terms to be counted in many texts."""

    def __init__(self, wanted: Iterable[str]) -> None:
        different = dict.fromkeys(wanted)
        self._cjk = [term for term in different if _CJK_START.match(term)]
        letter = f"[^\\W{_CJK}]"
        words = [
            re.escape(term) + (f"{letter}*" if len(term) == _LONGEST else "")
            for term in different
            if not _CJK_START.match(term)
        ]
        self._words = re.compile(f"(?<!{letter})(?:{'|'.join(words)})(?!{letter})")
        self._any_words = bool(words)

    def counts(self, text: str) -> dict[str, int]:
        """How often each of the terms stands in ``text``; those that do not are left out.

        For CJK terms any place counts, so that a stretch is found within a longer one.
        """
        folded = _folded(text)
        counts = {term: count for term in self._cjk if (count := folded.count(term))}
        if self._any_words:
            counts |= Counter(word[:_LONGEST] for word in self._words.findall(folded))
        return counts


def crosses_words(term: str) -> bool:
    """Whether a pair most likely joins two words: where kanji or katakana follow hiragana.

    A particle ends there and a word begins (へ移 in 「createRootへ移行」); endings, which belong
    to their word, stand the other way round.
    """
    return _CROSSING.fullmatch(term) is not None


def is_letters(term: str) -> bool:
    """Whether a term is a word of a script that parts its words, not a part of a CJK run."""
    return _CJK_START.match(term) is None


def _folded(text: str) -> str:
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return text.casefold()
