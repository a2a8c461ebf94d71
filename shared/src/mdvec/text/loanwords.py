"""Other spellings of a word: loanwords by sound, and the nearest known words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product

_CHECKED = re.compile(r"[a-z_][a-z0-9_]*|[\u30a1-\u30fa\u30fc]+")
_ONE_EDIT, _TWO_EDITS = 4, 8
_KANA = 0x60
"""The code point offset from hiragana to katakana."""
TO_KATAKANA = {place: place + _KANA for place in range(0x3041, 0x3097)}
"""Maps hiragana to katakana, for ``str.translate``."""
_TO_HIRAGANA = {katakana: hiragana for hiragana, katakana in TO_KATAKANA.items()}
_NUMBER = re.compile(r"=?\d+")
_FINAL_LENGTH = re.compile("=[\u30a1-\u30f6\u30fc]{3,}[\u30a1-\u30f6]ー?")
"""A katakana word whose final ー may be omitted; shorter words (バー) would become others."""
_V = re.compile("ヴ[ァィェォュ]?")
_B_OF_V = {"": "ブ", "ァ": "バ", "ィ": "ビ", "ェ": "ベ", "ォ": "ボ", "ュ": "ビュ"}
_ONE_KANA = re.compile("=(?:[\u3041-\u3096\u30fc]{2,}|[\u30a1-\u30f6\u30fc]{2,})")
MIN_LETTERS = 4
_MAX_DISTANCE, _FEW, _MAX_OF_MANY = 0.4, 4, 0.56
"""The largest edit distance from the katakana in Latin letters, as a share of the longer word; with
many equal consonants (``_FEW``), chance is less likely and the distance may be larger."""
_ALIKE = 0.05
"""Spellings whose distances differ by no more are the same word (サーバ, サーバー)."""
_WORD = re.compile(rf"[a-z]{{{MIN_LETTERS},24}}")
_KANA_ROWS = {
    "k": "カキクケコ", "g": "ガギグゲゴ", "s": "サシスセソザジズゼゾ", "t": "タチツテト",
    "d": "ダヂヅデド", "n": "ナニヌネノン", "h": "ハヒフヘホ", "b": "バビブベボヴ",
    "p": "パピプペポ", "m": "マミムメモ", "r": "ラリルレロ", "y": "ヤユヨ", "w": "ワヲ",
    "": "アイウエオ",
}  # fmt: skip
_CONSONANT = {kana: letter for letter, row in _KANA_ROWS.items() for kana in row}
_VOWEL = {kana: "aiueo"[place % 5] for row in _KANA_ROWS.values() if len(row) >= 5
          for place, kana in enumerate(row[:10]) if kana != "ヴ"}  # fmt: skip
_SMALL = dict(zip("ァィゥェォャュョ", "aiueoauo", strict=True))
# Replacements in a spelling before it is compared with katakana letter by letter.
_LETTERS = tuple(
    (re.compile(sound), letters)
    for sound, letters in (
        ("[eo]r$", "a"), ("oo|ou", "u"), ("ee|ea", "i"), ("ph|f", "h"),
        ("c(?=[eiy])|th", "s"), ("ck|c|q", "k"), ("x", "ks"), ("l", "r"), ("v", "b"),
        ("e$", ""), (r"([^aeiou])\1", r"\1"),
    )
)  # fmt: skip
_ADDED_VOWEL = re.compile(r"(?<=.[kstpbmrhg])u(?![aeiou])|(?<=.[td])o(?![aeiou])")
"""A vowel that katakana adds to a consonant (state: ステート)."""
# An ending that katakana mostly leaves out (handlers: ハンドラ).
_ENDINGS = re.compile(r"(?<=[a-z]{4})(?:ing|ed|es|s)$")
# The consonants of katakana for English letters, tried in order; several if they vary.
_SOUNDS = tuple(
    (re.compile(sound), spelled)
    for sound, spelled in (
        ("ck|cq|qu|q", ("k",)), ("ph|f", ("h",)), ("[ts]ion", ("sn",)), ("ture$", ("s",)),
        ("tch|ch", ("s", "t", "k")), ("sch|sh|th|j|z|sc(?=[eiy])|c(?=[eiy])", ("s",)),
        ("x", ("ks",)), ("^kn", ("n",)), ("^wr", ("r",)), ("ght", ("t",)),
        ("g(?=[eiy])", ("g", "s")), ("m(?=[bp])", ("n",)), ("r(?=[^aeiouyr]|$)|re$", ("", "r")),
        ("c", ("k",)), ("l", ("r",)), ("v", ("b",)), ("[aeiouyw]+", ("",)),
    )
)  # fmt: skip


def in_other_kana(term: str) -> tuple[str, ...]:
    """The term of a kana word in the other kana (ごみ: ゴミ); empty for other words."""
    if not _ONE_KANA.fullmatch(term):
        return ()
    return (term.translate(TO_KATAKANA | _TO_HIRAGANA),)


def written_otherwise(term: str) -> tuple[str, ...]:
    """The same word in other characters: a number in kanji or digits, katakana with a final ー.

    These become different terms: digits are the normalised form of kanji numbers, but a word in
    letters by themselves. The dictionary only unifies words that it has (サーバ and サーバー, but
    not ガスメータ).
    """
    if _NUMBER.fullmatch(term):
        return (term[1:],) if term[0] == "=" else (f"={term}",)
    if _FINAL_LENGTH.fullmatch(term):
        return (term[:-1] if term[-1] == "ー" else f"{term}ー",)
    return ()


def max_edits(word: str) -> int:
    """How many typing errors a word may have: 0 if it is short or not in letters or katakana."""
    if _CHECKED.fullmatch(word) is None or len(word) < _ONE_EDIT:
        return 0
    return 2 if len(word) >= _TWO_EDITS else 1


def nearest_spellings(word: str, known: Iterable[str], edits: int) -> list[str]:
    """The known words at the smallest edit distance, at most ``edits``; ヴァ counts as バ."""
    best: list[str] = []
    fewest = edits
    word = _with_b(word)
    letters = set(word)
    for other in known:
        spelled = _with_b(other)
        if len(letters.symmetric_difference(spelled)) > 2 * edits or not _CHECKED.fullmatch(other):
            continue
        needed = edit_distance(word, spelled, fewest)
        if needed < fewest:
            best, fewest = [other], needed
        elif needed == fewest:
            best.append(other)
    return best


def _with_b(word: str) -> str:
    if "ヴ" not in word:
        return word
    return _V.sub(lambda sound: _B_OF_V[sound[0][1:]], word)


def edit_distance(first: str, second: str, limit: int) -> int:
    """The number of letters omitted, added, changed or swapped; at most ``limit + 1``."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, above = above, current
    return min(above[-1], limit + 1)


_VOWEL |= {"ン": "", "ヴ": "u", "ヤ": "a", "ユ": "u", "ヨ": "o", "ワ": "a", "ヲ": "o"}


def katakana_of(word: str, known: Iterable[str]) -> list[str]:
    """The known katakana words that best spell an English word."""
    candidates = list(known)
    return _nearest(word, candidates) or _nearest(_ENDINGS.sub("", word), candidates)


def _nearest(word: str, known: Sequence[str]) -> list[str]:
    keys = english_keys(word)
    distances = {
        other: _distance(word, _katakana_sound(other)[1])
        for other in known
        if _katakana_sound(other)[0] in keys
    }
    nearest = min(distances.values(), default=1.0)
    fewest = min(map(len, keys), default=0)
    most = _MAX_OF_MANY if fewest >= _FEW else _MAX_DISTANCE
    return [
        other for other, distance in distances.items() if distance <= min(nearest + _ALIKE, most)
    ]


def first_kana(word: str) -> str:
    """The kana with which a word's katakana may begin; "" if it is no English word."""
    letters = {key[0] for key in english_keys(word) if len(key) > 1}
    return "".join(_KANA_ROWS["" if letter == "A" else letter] for letter in sorted(letters)) + (
        "ヤユヨワ" if "A" in letters else ""
    )


@lru_cache(maxsize=256)
def english_keys(word: str) -> frozenset[str]:
    """The consonants of an English word as katakana may have them; "A" is an initial vowel."""
    if not _WORD.fullmatch(word):
        return frozenset()
    parts: list[tuple[str, ...]] = []
    position = 0
    collapsed = re.sub(r"([^aeiouc])\1", r"\1", word)
    while position < len(collapsed):
        for sound, spelled in _SOUNDS:
            match = sound.match(collapsed, position)
            if match:
                parts.append(spelled)
                position = match.end()
                break
        else:
            parts.append((collapsed[position],))
            position += 1
    front = "A" if word[0] in "aeiouyw" else ""
    return frozenset(front + "".join(spelled) for spelled in product(*parts[:16]))


@lru_cache(maxsize=16_384)
def _katakana_sound(word: str) -> tuple[str, str]:
    """The consonants of a word in katakana, and the word in Latin letters."""
    consonants, latin = "", ""
    for kana in word:
        if kana in _SMALL:
            if kana in "ャュョ" and consonants.endswith("t"):
                consonants = consonants[:-1] + "s"  # チャ
            latin = latin[:-1] + _SMALL[kana]
        elif kana in _CONSONANT:
            letter = _CONSONANT[kana]
            consonants += letter if letter not in ("y", "w") else ""
            latin += letter + _VOWEL[kana]
    front = "A" if word[:1] and _CONSONANT.get(word[0], "") in ("", "y", "w") else ""
    return front + consonants, latin


def _distance(word: str, latin: str) -> float:
    """The edit distance as a share of the longer word."""
    for sound, letters in _LETTERS:
        word = sound.sub(letters, word)
    latin = _ADDED_VOWEL.sub("", latin)
    longest = max(len(word), len(latin))
    return edit_distance(word, latin, longest) / longest
