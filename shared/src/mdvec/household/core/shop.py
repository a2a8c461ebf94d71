"""Which shop a row is of: its description in one spelling, without the number of the branch."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_DASHES = re.compile("[‐‑‒–—―⁃−─━﹘]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)
_SPACES = re.compile(r"[^\S\n ]+| {2,}")
_NO_LONG_VOWEL = re.compile("ー(?:(?<![ぁ-んァ-ヺー]ー)|(?<=[んンっッ]ー))")
"""Marks of a long vowel behind what has no vowel to lengthen: a dash was meant."""
_NUMBER = re.compile(
    r"[ \-#*/:・.,_]+(?:no\.? ?)?[(\[]?[0-9]+(?:-[0-9]+)*[)\]]?(?:号店|号|番店|番|店)?$"
    r"|[(\[][0-9]+[)\]]$"
    r"|(?<![0-9.,\-])(?:0[0-9]{2,}|[0-9]{4,})(?:号店|号|番店|番|店)?$",
    re.MULTILINE,
)
"""A number at the end that stands apart; one right behind a letter if it has a code's length."""
_EDGES = " -#*/:・,_"


def shop_of(description: str) -> str:
    """The shop in a description: widths, case, dashes and spaces are one, a branch's number is off.

    What is nothing but a number, or nothing that can be seen, stays. Applied to its own result it
    changes nothing.
    """
    return shops_of([description])[description]


def shops_of(descriptions: Iterable[str]) -> dict[str, str]:
    """The shop of each description; many together take a fraction of the time."""
    shops = {description: description for description in descriptions}
    left = list(shops)
    while left:
        found = _folded([shops[description] for description in left])
        changed = [
            (description, shop)
            for description, shop in zip(left, found, strict=True)
            if shop != shops[description]
        ]
        shops.update(changed)
        left = [description for description, _ in changed]
    return shops


def _folded(texts: Sequence[str]) -> list[str]:
    """Each text with its spelling made one and the number at its end off, once.

    They are worked on as the lines of one text.
    """
    together = "\n".join(" ".join(text.split()) for text in texts)
    together = _DASHES.sub("-", unicodedata.normalize("NFKC", together)).replace("〜", "~")
    together = _INVISIBLE.sub("", unicodedata.normalize("NFKC", together.casefold()))
    together = _SPACES.sub(" ", _NO_LONG_VOWEL.sub("-", together))
    whole, cut = together.split("\n"), _NUMBER.sub("", together).split("\n")
    return [
        short.strip(_EDGES) or long.strip() or unicodedata.normalize("NFKC", text)
        for short, long, text in zip(cut, whole, texts, strict=True)
    ]
