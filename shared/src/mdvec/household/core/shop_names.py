"""Estimates, from 0 to 1, how likely two descriptions name the same shop.

A description is compared by its letters and by its sound, without company forms, branches and the
words of the payment service it went through.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from mdvec.text import morphemes

_DASHES = re.compile("[‐‑‒–—―⁃−─━﹘]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)
_SPACES = re.compile(r"[^\S\n ]+| {2,}")
_NO_LONG_VOWEL = re.compile("ー(?:(?<![ぁ-んァ-ヺー]ー)|(?<=[んンっッ]ー))")
"""Long-vowel marks after a character that cannot be lengthened: they stand for a dash."""
_NUMBER = re.compile(
    r"[ \-#*/:・.,_]+(?:no\.? ?)?[(\[]?[0-9]+(?:-[0-9]+)*[)\]]?(?:号店|号|番店|番|店)?$"
    r"|[(\[][0-9]+[)\]]$"
    r"|(?<![0-9.,\-])(?:0[0-9]{2,}|[0-9]{4,})(?:号店|号|番店|番|店)?$",
    re.MULTILINE,
)
"""A number at the end: a separate one, or a number as long as a branch code after a letter."""
_EDGES = " -#*/:・,_"


def shop_of(description: str) -> str:
    """The shop in a description: width, case, dashes and spaces normalised, no branch number.

    A description that is only a number, or invisible, is kept. The function is idempotent.
    """
    return shops_of([description])[description]


def as_written(shop: str, text: str) -> str:
    """A shop's name with the capitals it has in ``text``; unchanged if it is not in there."""
    plain = _in_plain_letters(text)
    at = plain.casefold().find(shop)
    written = plain[at : at + len(shop)]
    return written if at >= 0 and written.casefold() == shop else shop


def _in_plain_letters(text: str) -> str:
    return _DASHES.sub("-", unicodedata.normalize("NFKC", text)).replace("〜", "~")


def shops_of(descriptions: Iterable[str]) -> dict[str, str]:
    """The shop of each description; much faster than ``shop_of`` for each."""
    shops = {description: description for description in descriptions}
    left = list(shops)
    while left:
        normalised = _normalise([shops[description] for description in left])
        changed = [
            (description, shop)
            for description, shop in zip(left, normalised, strict=True)
            if shop != shops[description]
        ]
        shops.update(changed)
        left = [description for description, _ in changed]
    return shops


def _normalise(texts: Sequence[str]) -> list[str]:
    """Normalises each text and strips one number at its end.

    The texts are processed as the lines of a single text.
    """
    together = "\n".join(" ".join(text.split()) for text in texts)
    together = unicodedata.normalize("NFKC", _in_plain_letters(together).casefold())
    together = _INVISIBLE.sub("", together)
    together = _SPACES.sub(" ", _NO_LONG_VOWEL.sub("-", together))
    whole, cut = together.split("\n"), _NUMBER.sub("", together).split("\n")
    return [
        short.strip(_EDGES) or long.strip() or unicodedata.normalize("NFKC", text)
        for short, long, text in zip(cut, whole, texts, strict=True)
    ]


TO_KATAKANA: Final = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_SMALL: Final = str.maketrans(
    "ァィゥェォッャュョヮヵヶヴヂヅヲ", "アイウエオツヤユヨワカケブジズオ"
)
_SYLLABLES: Final = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモラリルレロ"
    "ガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポ"
)
_LETTERS_OF: Final = itertools.product(("", *"kstnhmrgzdbp"), "aiueo")
_ROMAN: Final = {
    kana: consonant + vowel
    for kana, (consonant, vowel) in zip(_SYLLABLES, _LETTERS_OF, strict=True)
} | {"ヤ": "ya", "ユ": "yu", "ヨ": "yo", "ワ": "wa", "ン": "n"}
_LONG_U: Final = re.compile("(?<=[オコソトノホモヨロゴゾドボポウクスツヌフムユルグズブプ])ウ")
_LONG_O: Final = re.compile("(?<=[オコソトノホモヨロゴゾドボポ])オ")
_LONG_I: Final = re.compile("(?<=[エケセテネヘメレゲゼデベペ])イ")
_LATIN: Final = tuple(
    (re.compile(found), put)
    for found, put in (
        ("sch|sh", "s"), ("ch", "t"), ("th", "s"), ("ph", "h"), ("ck", "k"), ("tsu", "tu"),
        ("c(?=[eiy])", "s"), ("(?<=[aeiou])r(?=[^aeiou]|$)", ""), ("[cq]", "k"), ("l", "r"),
        ("v", "b"), ("f", "h"), ("j", "z"), ("x", "ks"),
    )
)  # fmt: skip
_REPEATED: Final = re.compile(r"(.)\1+")
_NOT_CONSONANT: Final = re.compile("[^bdghkmnprstwz]+")


def _plain_kana(reading: str) -> str:
    """A reading in katakana without small ones, long vowels and marks: トキヨガス for 東京ガス."""
    text = unicodedata.normalize("NFKC", reading).translate(TO_KATAKANA).casefold()
    text = _letters(text.translate(_SMALL))
    return _LONG_I.sub("", _LONG_O.sub("", _LONG_U.sub("", text)))


def roman(kana: str) -> str:
    """Plain kana in Latin letters; Latin letters are respelled as if written in kana."""
    text = "".join(_ROMAN.get(character, character) for character in kana)
    for pattern, put in _LATIN:
        text = pattern.sub(put, text)
    return _REPEATED.sub(r"\1", text)


def consonants(romanised: str) -> str:
    """The consonants of a name, without repetitions: ``nkr`` for UNIQLO and ユニクロ."""
    return _REPEATED.sub(r"\1", _NOT_CONSONANT.sub("", romanised))


_COMPANY: Final = re.compile(
    r"株式会社|有限会社|合同会社|[(（]?(?:株|有|同)[)）]|[(（]\s*カブ?\s*[)）]?|カ[)）]"
    r"|\b(?:inc|ltd|k\.?k|co\.?,? ?ltd)\b\.?"
    r"|(?<=\w)(?:[./-]?(?:co\.jp|com|ne\.jp|jp)(?:/bill)?)\b",
    re.IGNORECASE,
)
_SERVICE: Final = re.compile(
    r"""
    ^ (?: v?デビット [\ 0-9]* | 楽天sp\  | (?: エア[-ー]ペイ | スクエア | stripe )\  )
    | ^ (?: paypay | ペイペイ | sq | airpay | au\ ?pay | dバライ | dbarai | d払い | メルペイ )
      \ ?[*\ ]\ ?
    | [\ /] (?: id | qp | quicpay | nfc | visa | edy | nanaco | suica ) $
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BRANCH: Final = re.compile(r"(?<=\w)[ ・][^ ・]{1,10}(?:支?店|テン)$|(?<=\w\w) [^ ]{1,6}$")
_GENERIC: Final = re.compile("(?:代|料金|料|費)$")
_MIN_PART: Final = 3
_LONG_BEGINNING: Final = 4
_MIN_CONSONANTS: Final = 3
_ABBREVIATED: Final = 0.8
_ONLY_CONSONANTS: Final = 0.85
_SEEMS_ALIKE: Final = 0.72
SPELLINGS: Final = 4
"""How many ``ShopName.spellings`` there are."""


@dataclass(frozen=True, slots=True)
class ShopName:
    """A shop's name for comparison: its letters, and its sound in kana and in Latin letters."""

    letters: str
    kana: str
    roman: str

    @property
    def spellings(self) -> tuple[frozenset[str], ...]:
        """The pairs of adjacent letters in each spelling, the last one of consonants alone.

        Close names share three pairs of one of the first spellings, or all but one of the shorter
        name's pairs; or all pairs of consonants of the name that has fewer.
        """
        spellings = (self.letters, self.kana, self.roman, consonants(self.roman))
        return tuple(map(letter_pairs, spellings))


def shop_name(description: str) -> ShopName:
    """The shop's name in a description."""
    text = unicodedata.normalize("NFKC", description).strip()
    text = _SERVICE.sub("", text).strip() or text
    text = _COMPANY.sub(" ", text).strip() or text
    whole = shop_of(text)
    short = _BRANCH.sub("", whole).strip()
    text = short if len(_letters(short)) > 1 else whole
    if len(_letters(text)) < 2:
        text = description
    text = _GENERIC.sub("", text) if len(text) > 2 else text
    kana = _plain_kana(reading(text))
    return ShopName(_letters(text), kana, roman(kana))


def closeness(shop: ShopName, other: ShopName) -> float:
    """How likely two names are the same shop's: 1 for the same letters or sound, 0 for nothing."""
    if not (shop.letters and other.letters):
        return 0.0
    if shop.letters == other.letters or shop.kana == other.kana:
        return 1.0
    return max(
        _shared_parts(shop.letters, other.letters),
        _shared_parts(shop.kana, other.kana),
        _latin(shop, other),
    )


def is_named_in(account: ShopName, description: ShopName) -> float:
    """How likely a description names an account, as PAYPAY*マツモトキヨシ names PayPay."""
    if not (account.letters and description.letters):
        return 0.0
    for whole, part in (
        (description.letters, account.letters),
        (description.kana, account.kana),
        (description.roman, account.roman),
    ):
        if len(part) >= _MIN_PART and (whole.startswith(part) or part.startswith(whole)):
            return 1.0
    return closeness(account, description)


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in plain if character.isalnum() and character != "ー")


@lru_cache(maxsize=16_384)
def letter_pairs(text: str) -> frozenset[str]:
    """The pairs of adjacent letters; of a single letter, that letter."""
    return frozenset(map(str.__add__, text, text[1:])) or frozenset((text,) if text else ())


def _shared_parts(name: str, other: str) -> float:
    short, long = sorted((name, other), key=len)
    if len(short) >= _MIN_PART and short in long:
        return 0.95
    first, second = letter_pairs(short), letter_pairs(long)
    both = len(first & second)
    dice = 2 * both / (len(first) + len(second)) if first and second else 0.0
    # An abbreviation of the beginnings of two parts: マツキヨ, スタバ.
    is_short = len(short) >= _MIN_PART and short[:2] == long[:2] and short[2:] in long[2:]
    begins = short[:_LONG_BEGINNING]
    begins_alike = len(begins) == _LONG_BEGINNING and begins.isalpha() and long.startswith(begins)
    return max(dice, _ABBREVIATED) if is_short or begins_alike else dice


def _latin(shop: ShopName, other: ShopName) -> float:
    """The similarity (0 to 1) of a name in Latin letters without a known reading to one in kana."""
    is_mixed = re.search("[a-z]", shop.kana + other.kana) is not None
    if shop.kana.isascii() == other.kana.isascii() and not is_mixed:
        return 0.0
    short, long = sorted((consonants(shop.roman), consonants(other.roman)), key=len)
    # Too many longer names begin with the same few consonants.
    least = _MIN_CONSONANTS if short == long else _MIN_CONSONANTS + 1
    if len(short) >= least and long.startswith(short):
        return _ONLY_CONSONANTS
    ratio = SequenceMatcher(None, shop.roman, other.roman, autojunk=False).ratio()
    return ratio if ratio >= _SEEMS_ALIKE else 0.0


_KANJI = re.compile("[\u3400-\u9fff々〆a-zA-Z]")


def reading(text: str) -> str:
    """A text in katakana, including words in Latin letters that the dictionary can read.

    A text without kanji and Latin letters, or without a dictionary, is returned unchanged.
    """
    if not _KANJI.search(text):
        return text
    return " ".join(morpheme.reading for morpheme in morphemes(text)) or text
