"""Decides whether words name a row's shop or memo, in any width, kana or spelling."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from mdvec.household.core.shop_names import TO_KATAKANA
from mdvec.text import folded, morphemes

_SMALL = str.maketrans("ァィゥェォッャュョヮ", "アイウエオツヤユヨワ")
_LONE_MARKS = str.maketrans("\u309b\u309c", "\u3099\u309a")
"""Voicing marks that are characters of their own, mapped to combining ones."""
_DASHES = re.compile("[\u2010-\u2015\u2043\u2212\u2500\u2501]")
_HYPHEN_AFTER_KANA = re.compile("(?<=[\u30a1-\u30fa\u30fc])-(?![0-9a-z])")
_NO_LONG_VOWEL = re.compile("(?<=[んンっッ])ー")
"""A long-vowel mark that stands for a hyphen: セブンーイレブン."""
_NO_WORD = re.compile(r"[\W_]+")
_VOICED = re.compile("[\u3099\u309a]")
_KEPT = 16_384
"""The number of texts that each function caches, in a server that runs for weeks."""


@lru_cache(maxsize=_KEPT)
def plain_text(text: str) -> str:
    """A text without differences of width, case and dashes; voicing marks join the kana before."""
    return _NO_LONG_VOWEL.sub("-", _DASHES.sub("-", folded(text.translate(_LONE_MARKS))))


@lru_cache(maxsize=_KEPT)
def _kana_forms(text: str) -> tuple[tuple[str, str], ...]:
    """The forms in which a text is compared, each with the text it was made from, as long.

    Hiragana become katakana, small kana large; a hyphen after kana stands for ー or for nothing.
    """
    plain = plain_text(text).translate(TO_KATAKANA)
    written = dict.fromkeys(_HYPHEN_AFTER_KANA.sub(put, plain) for put in ("ー", ""))
    return tuple((form.translate(_SMALL), form) for form in written)


def _same_kana(reading: str) -> str:
    """A reading in the form that readings are compared in."""
    return _kana_forms(reading)[0][0]


@lru_cache(maxsize=_KEPT)
def _unvoiced(form: str) -> str:
    """A form without its voicing marks, as some banks print it: ダイソー is タイソー."""
    return unicodedata.normalize("NFC", _VOICED.sub("", unicodedata.normalize("NFD", form)))


@dataclass(frozen=True, slots=True)
class ShopAlias:
    """A shop's name, and the spellings that statements have for it.

    ``asked`` are names that people use in questions, but that in a row could mean something else,
    so rows are not searched for them.
    """

    name: str
    spellings: tuple[str, ...]
    asked: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names that a question may use."""
        return (self.name, *self.spellings, *self.asked)


class Aliases:
    """The additional spellings to search for words of a question.

    They are those of shops, and the user's ``own`` pairs of a name and another spelling. A pair
    applies to questions for its name, and for the other names of the shop of that name.
    """

    def __init__(
        self, aliases: Iterable[ShopAlias] = (), own: Iterable[tuple[str, str]] = ()
    ) -> None:
        shops = [(alias.names, alias.spellings) for alias in aliases]
        added = []
        for name, spelling in own:
            same = [names for names, _ in shops if spelling_key(name) in map(spelling_key, names)]
            added.append(((name, spelling, *itertools.chain(*same)), (spelling,)))
        self._of: dict[str, dict[str, str]] = {}
        for names, spellings in (*shops, *added):
            for name in names:
                spelled = {spelling_key(spelling): spelling for spelling in spellings}
                self._of.setdefault(spelling_key(name), {}).update(spelled)

    def of(self, words: str) -> Sequence[str]:
        """The other spellings of the shop that the words name; none if they name none."""
        key = spelling_key(words)
        return [spelling for other, spelling in self._of.get(key, {}).items() if other != key]


NO_ALIASES = Aliases()


def spelling_key(words: str) -> str:
    """A key that is equal for spellings that differ only in width, case, kana and signs."""
    return _NO_WORD.sub("", _kana_forms(words)[-1][0])


_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u30fc]+")
OR = "|"
"""Separates alternatives in a question."""
_MIN_READING = 3
"""Too many words share a shorter reading."""
_MIN_UNSURE = 4
"""Shorter kana are ambiguous without voicing marks and small kana."""


class Naming(IntEnum):
    """Whether words name a text, or only occur as letters inside one of its words."""

    NOT = 0
    INSIDE = 1
    NAMED = 2


class _Word(NamedTuple):
    """A word of a text: normalised form, reading in katakana, and character positions."""

    term: str
    reading: str
    start: int
    end: int
    is_kana: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """Words of a question that no space separates, and their ``letters`` without other characters.

    ``kana`` are the forms of the words and of their reading, each with the text it was made from.
    ``spelling`` is another spelling that is searched in place of the question's words; "" if these
    themselves are searched. A text must contain ``signed`` (a word with a minus in it) as it is.
    """

    words: tuple[_Word, ...]
    letters: str
    kana: tuple[tuple[str, str], ...]
    spelling: str = ""
    signed: str = ""


class WordsAsked:
    """The words of a question for rows.

    A row's texts must have all parts between spaces, of any of the alternatives that ``OR``
    separates; a shop's other spellings are alternatives too, and ``used`` are those that named a
    text so far. Parts after a minus, asked for by ``excluded``, must not be in a row. In a shop's
    name (``is_name``), ``OR`` and minus are parts of the name.
    """

    def __init__(self, query: str, aliases: Aliases = NO_ALIASES, *, is_name: bool = False) -> None:
        text = plain_text(query)
        plain = [each.split() for each in ([text] if is_name else text.split(OR))]
        dashed = {} if is_name else {word: excluded_word(word) for each in plain for word in each}
        parts = [[word for word in each if dashed.get(word) is None] for each in plain]
        self._alternatives = [
            alternatives
            for each in parts
            for words in _spellings(each, aliases)
            if (alternatives := _parts(words))
        ]
        left_out = OR.join(filter(None, dashed.values()))
        self.excluded = WordsAsked(left_out, aliases) if left_out else None
        self.used: dict[str, None] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for, and nothing to leave out."""
        return not self._alternatives and (self.excluded is None or self.excluded.is_empty)

    def naming(self, texts: Sequence[str]) -> Naming:
        """Whether the words name a row's texts, of which the first is its shop.

        Without words, every row is named.
        """
        namings = Naming.NOT if self._alternatives else Naming.NAMED
        for parts in self._alternatives:
            # Another spelling is only looked for in the shop's text: OK in a memo may be a word.
            naming = min(
                max(_naming(part, text) for text in (texts[:1] if part.spelling else texts))
                for part in parts
            )
            if naming is Naming.NAMED:
                self.used.update(dict.fromkeys(part.spelling for part in parts if part.spelling))
                return naming
            namings = max(namings, naming)
        return namings


def excluded_word(word: str) -> str | None:
    """What a word of a question excludes, by dashes of any kind; None if it is looked for.

    Dashes alone exclude nothing (""); ー is a letter.
    """
    plain = plain_text(word)
    if not plain.startswith("-"):
        return None
    return plain.lstrip("-") if _letters_only(plain) else ""


def _spellings(words: Sequence[str], aliases: Aliases) -> list[list[tuple[str, str]]]:
    """All spellings of the words; each word with the alias that it comes from, or ""."""
    if any(map(excluded_word, words)):
        return [[(word, "") for word in words]]
    spelled = ([(word, ""), *((alias, alias) for alias in aliases.of(word))] for word in words)
    whole = aliases.of(" ".join(words)) if len(words) > 1 else ()
    return [*map(list, itertools.product(*spelled)), *([(alias, alias)] for alias in whole)]


def _parts(words: Iterable[tuple[str, str]]) -> tuple[_Part, ...]:
    return tuple(
        part
        for word, spelling in words
        for each in plain_text(word).split()
        if (part := _part(each, spelling)) is not None
    )


def _part(text: str, spelling: str) -> _Part | None:
    letters = _letters_only(text)
    if not letters:
        return None
    words = _words(text)
    kana = list(_kana_forms(text)) if _KANA.search(text) else []
    reading = "".join(word.reading for word in words)
    if len(reading) >= _MIN_READING and _KANA.fullmatch(reading) and not _KANA.fullmatch(text):
        kana += _kana_forms(reading)
    return _Part(words, letters, tuple(kana), spelling, text if excluded_word(text) else "")


def _naming(part: _Part, text: str) -> Naming:
    if not text or part.signed not in plain_text(text):  # most rows have no memo
        return Naming.NOT
    words = _words(text)
    if _has_words(part.words, words) or _is_read_alike(part, words):
        return Naming.NAMED
    inside = part.letters in _letters_only(text)
    if inside and _stands_alone(part.letters, text):
        return Naming.NAMED
    respelled = _matches_kana(part, text)
    return Naming.INSIDE if inside and respelled is Naming.NOT else respelled


def _matches_kana(part: _Part, text: str) -> Naming:
    """Whether a text has the words in the kana of statements: ﾌｱﾐﾘ-ﾏ-ﾄ, ビツクカメラ, タイソー.

    Word boundaries are checked in the text with the usual spelling in place of this kana.
    """
    naming = Naming.NOT
    for form, written in _kana_forms(text) if part.kana else ():
        is_unvoiced = _unvoiced(form) == form
        for kana, usual in part.kana:
            at = form.find(kana)
            if at < 0 and is_unvoiced and len(kana) >= _MIN_UNSURE:
                at = form.find(_unvoiced(kana))
            if at < 0:
                continue
            end = at + len(kana)
            repaired = f"{written[:at]}{usual}{written[end:]}"
            if _is_apart(repaired, at, end) or _is_apart(written, at, end):
                return Naming.NAMED
            if len(kana) >= _MIN_UNSURE:
                naming = Naming.INSIDE
    return naming


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether ``start`` and ``end`` are word boundaries of a text."""
    words = _words(text)
    starts = {word.start for word in words} | {0}
    ends = {word.end for word in words} | {len(text)}
    begins = start in starts or _NO_WORD.fullmatch(text[start - 1]) is not None
    return begins and (end in ends or _NO_WORD.fullmatch(text[end]) is not None)


def _has_words(wanted: Sequence[_Word], words: Sequence[_Word]) -> bool:
    """Whether the words follow one another in a text."""
    size = len(wanted)
    return size > 0 and any(
        all(map(_is_same, wanted, words[first : first + size]))
        for first in range(len(words) - size + 1)
    )


def _is_same(word: _Word, other: _Word) -> bool:
    """Whether two words have the same normalised form, or, one being in kana, the same reading."""
    if word.term == other.term:
        return True
    is_kana = word.is_kana or other.is_kana
    return is_kana and _is_same_reading(word.reading, other.reading)


def _is_same_reading(reading: str, other: str) -> bool:
    """Whether two readings are the same; in longer ones, small kana equal large ones."""
    if reading == other:
        return len(reading) >= _MIN_READING
    return len(reading) >= _MIN_UNSURE and _same_kana(reading) == _same_kana(other)


def _is_read_alike(part: _Part, words: Sequence[_Word]) -> bool:
    """Whether adjoining words have the part's reading, and they or the part are all kana."""
    reading = "".join(word.reading for word in part.words)
    if all(word.is_kana for word in part.words):
        reading = part.kana[0][1]
    if len(reading) < _MIN_READING:
        return False
    for first in range(len(words)):
        read = ""
        for last in range(first, len(words)):
            read += words[last].reading
            if len(read) >= len(reading):
                break
        span = words[first : last + 1]
        if _is_same_reading(read, reading) and any(
            all(w.is_kana for w in side) for side in (part.words, span)
        ):
            return True
    return False


def _stands_alone(letters: str, text: str) -> bool:
    """Whether the letters begin and end where words of the text do."""
    plain = plain_text(text)
    places = [position for position, letter in enumerate(plain) if not _NO_WORD.fullmatch(letter)]
    bare = "".join(plain[position] for position in places)
    return any(
        _is_apart(plain, places[match.start()], places[match.start() + len(letters) - 1] + 1)
        for match in re.finditer(f"(?={re.escape(letters)})", bare)
    )


@lru_cache(maxsize=_KEPT)
def _words(text: str) -> tuple[_Word, ...]:
    plain = plain_text(text)
    return tuple(
        _Word(
            morpheme.term, morpheme.reading, morpheme.start, morpheme.end,
            _KANA.fullmatch(plain[morpheme.start : morpheme.end]) is not None,
        )
        for morpheme in morphemes(plain)
    )  # fmt: skip


@lru_cache(maxsize=_KEPT)
def _letters_only(text: str) -> str:
    return _NO_WORD.sub("", plain_text(text))
