"""Splits text into terms for the lexical index, with or without spaces between words.

Japanese has no spaces, so a run of Japanese characters becomes overlapping pairs (食費管理: 食費,
費管, 管理): a word of two or more characters is found anywhere, and a question shares pairs with
the passage that answers it. Single kanji, which carry meaning, and stretches of kanji or katakana,
which are mostly words, are terms too: they improve the ranking. In other scripts a term is a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

from mdvec.text.folding import KANJI, KATAKANA, folded

CJK = f"{KANJI}{KATAKANA}\u3041-\u3096\u309d-\u309f"
"""The characters of Japanese words, for use within [] in a pattern."""
RUNS = re.compile(f"([{CJK}]+)|([^\\W{CJK}]+)")
_LETTERS = re.compile(f"[^\\W{CJK}]+")
ONE_KANJI = f"[{KANJI}]"
_ONE_KANJI = re.compile(ONE_KANJI)
_STRETCHES = re.compile(f"[{KANJI}]{{3,}}|[{KATAKANA}]{{3,}}")
_CJK_START = re.compile(f"[{CJK}]")
_CROSSING = re.compile(f"[\u3041-\u3096][{KANJI}{KATAKANA}]")
_SENTENCE = re.compile(r"[^。!?\n]{2,}")
"""A sentence or line of folded text."""
MAX_TERM = 64
HYPHENS = "\u2010-\u2013\u2212\u30fc-"
_JOINED = re.compile(
    r"(?<![0-9_-])(?P<number>\d{1,3}(?:,\d{3})+)(?!,?\d)(?P<unit>(?:[a-z][a-z0-9]*)?)"
    r"(?![a-z0-9_]|-[a-z0-9])"
    rf"|(?<![a-z0-9_-])[a-z0-9]+(?:[{HYPHENS}][a-z0-9]+)+(?![a-z0-9_-])"
)
"""Digits in groups, perhaps beside a unit (48,260km), or with letters, in folded text; Japanese may
adjoin them (KX-9900へ)."""
_SEPARATORS = re.compile(f"[,{HYPHENS}]")
_MIN_JOINED = 3
"""The minimum length of an identifier; fewer characters may meet by chance (数千m-1万m)."""
_DIGIT = re.compile(r"\d")
MIN_DIGITS = 6
"""Fewer digits joined by hyphens (3-4) are a range or a score, not one number."""


def terms(text: str) -> list[str]:
    """The terms of ``text``, each as often as it occurs.

    Width and case do not matter (NFKC, case folded). A run of CJK characters yields its pairs, its
    kanji and its stretches of three or more kanji or katakana; a single CJK character is a term.
    Any other run of letters, digits and underscores is a word. Stretches and words are cut off
    after 64 characters.
    """
    return [term for term, _, _ in placed_terms(folded(text))]


def placed_terms(text: str) -> list[tuple[str, int, int]]:
    """The terms of a folded text, each with its start and end."""
    placed: list[tuple[str, int, int]] = []
    for match in RUNS.finditer(text):
        run, word = match.groups()
        first = match.start()
        if word is not None or len(run) == 1:
            placed.append((match[0][:MAX_TERM], first, match.end()))
            continue
        placed += [
            (run[offset : offset + 2], first + offset, first + offset + 2)
            for offset in range(len(run) - 1)
        ]
        for parts in (_ONE_KANJI, _STRETCHES):
            placed += [
                (part[0][:MAX_TERM], first + part.start(), first + part.end())
                for part in parts.finditer(run)
            ]
    return placed


def joined_words(folded_text: str) -> list[tuple[str, int, int]]:
    """The numbers in groups (0120-333-906, 1,234) and identifiers with hyphens (KX-9900).

    Each is a word without its separators, with its start and end in the text. A number with a unit
    is returned twice: without the unit, and with it.
    """
    joined: list[tuple[str, int, int]] = []
    for match in _JOINED.finditer(folded_text):
        word, first = _SEPARATORS.sub("", match[0]), match.start()
        digits = sum(map(str.isdecimal, word))
        is_identifier = 0 < digits < len(word) >= _MIN_JOINED
        if match["unit"]:
            joined.append((_SEPARATORS.sub("", match["number"]), first, match.end("number")))
        is_one = match["number"] or digits >= MIN_DIGITS or is_identifier
        if is_one and len(word) <= MAX_TERM:
            joined.append((word, first, match.end()))
    return joined


def spelled_parts(question: str, among: Collection[str]) -> list[str]:
    """The stretches of a question that consist of some of its terms, each once, in order.

    Overlapping pairs are joined: サー, ーバ and バー become サーバー.
    """
    text = folded(question)
    spans: list[tuple[int, int]] = []
    placed = sorted((start, end) for term, start, end in placed_terms(text) if term in among)
    for start, end in placed:
        if spans and start < spans[-1][1]:
            start, last = spans.pop()
            end = max(end, last)
        spans.append((start, end))
    return list(dict.fromkeys(text[start:end] for start, end in spans))


class TermCounter:
    """Counts a fixed set of terms in many texts."""

    def __init__(self, terms: Iterable[str]) -> None:
        different = dict.fromkeys(terms)
        self._cjk = [term for term in different if not is_letters(term)]
        self._words = dict.fromkeys(filter(is_letters, different)).keys()
        self._runs = _LETTERS if all(map(_LETTERS.fullmatch, self._words)) else self._as_written()

    def _as_written(self) -> re.Pattern[str]:
        """A pattern that finds the words, some of which contain signs (C++)."""
        letter = _LETTERS.pattern.removesuffix("+")
        words = "|".join(map(re.escape, self._words))
        return re.compile(f"(?<!{letter})(?:{words})(?!{letter})")

    def _words_in(self, text: str, among: Collection[str]) -> list[str]:
        """Each occurrence in a folded text of some words in letters."""
        if not any(map(text.__contains__, among)):
            return []
        return [word for run in self._runs.findall(text) if (word := run[:MAX_TERM]) in among]

    def counts(self, text: str) -> dict[str, int]:
        """How often each term occurs in a folded text; absent terms have no entry.

        CJK terms count anywhere, even inside a longer stretch.
        """
        cjk = () if text.isascii() else self._cjk
        counts = {term: count for term in cjk if (count := text.count(term))}
        if words := self._words_in(text, self._words):
            counts |= Counter(words)
        return counts

    def by_sentence(self, text: str, among: Collection[str]) -> set[frozenset[str]]:
        """For each sentence or line of a folded text, the terms ``among`` that occur in it."""
        words = set(filter(is_letters, among))
        cjk = set(among) - words
        has_digits = any(map(_DIGIT.search, words))
        term_sets: set[frozenset[str]] = set()
        for sentence in _SENTENCE.findall(text):
            terms = [term for term in cjk if term in sentence]
            terms += self._words_in(sentence, words)
            if has_digits and _SEPARATORS.search(sentence):
                terms += words.intersection(word for word, _, _ in joined_words(sentence))
            if terms:
                term_sets.add(frozenset(terms))
        return term_sets


def crosses_words(term: str) -> bool:
    """Whether a pair probably spans two words: hiragana followed by kanji or katakana.

    Between them a particle ends and a word begins (へ移 in 「createRootへ移行」). In the reverse
    order, they are a word with its ending.
    """
    return _CROSSING.fullmatch(term) is not None


@lru_cache(maxsize=4_096)
def is_letters(term: str) -> bool:
    """Whether a term is a word in a script with spaces, not CJK."""
    return _CJK_START.match(term) is None


def is_kanji(character: str) -> bool:
    """Whether ``character`` is a single kanji."""
    return _ONE_KANJI.fullmatch(character) is not None
