"""Derives a shop's name from a description: normalised, without the branch number."""

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
"""Long-vowel marks after a character without a vowel: they stand for a dash."""
_NUMBER = re.compile(
    r"[ \-#*/:・.,_]+(?:no\.? ?)?[(\[]?[0-9]+(?:-[0-9]+)*[)\]]?(?:号店|号|番店|番|店)?$"
    r"|[(\[][0-9]+[)\]]$"
    r"|(?<![0-9.,\-])(?:0[0-9]{2,}|[0-9]{4,})(?:号店|号|番店|番|店)?$",
    re.MULTILINE,
)
"""A separate number at the end; directly after a letter only if as long as a branch code."""
_EDGES = " -#*/:・,_"


def shop_of(description: str) -> str:
    """The shop in a description: width, case, dashes and spaces normalised, no branch number.

    A description that is only a number, or invisible, is kept. The function is idempotent.
    """
    return shops_of([description])[description]


def shops_of(descriptions: Iterable[str]) -> dict[str, str]:
    """The shop of each description; much faster for many at once than one by one."""
    shops = {description: description for description in descriptions}
    left = list(shops)
    while left:
        found = _normalise([shops[description] for description in left])
        changed = [
            (description, shop)
            for description, shop in zip(left, found, strict=True)
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
    together = _DASHES.sub("-", unicodedata.normalize("NFKC", together)).replace("〜", "~")
    together = _INVISIBLE.sub("", unicodedata.normalize("NFKC", together.casefold()))
    together = _SPACES.sub(" ", _NO_LONG_VOWEL.sub("-", together))
    whole, cut = together.split("\n"), _NUMBER.sub("", together).split("\n")
    return [
        short.strip(_EDGES) or long.strip() or unicodedata.normalize("NFKC", text)
        for short, long, text in zip(cut, whole, texts, strict=True)
    ]
