"""The known name that a name means: in any width, kana, case or number, or misspelt."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

from mdvec_mcp.analytics.core.mending.words import is_harmless, meanings

_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_MIN_LIKENESS = 0.7
_HIRAGANA_BETWEEN = re.compile(r"(?<=[\u4e00-\u9fff])[\u3041-\u3096]+")


def same_name(name: str) -> str:
    """A key that is equal for names that differ in width, kana, case or separators only."""
    flat = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s_\-ー・.]", "", flat.translate(_KATAKANA))


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like the name; None if none is like it."""
    there = list(dict.fromkeys(known))
    for key in (same_name, _without_okurigana):
        wanted = key(name)
        for one in there:
            if wanted and key(one) == wanted:
                return one
    keys = {same_name(one): one for one in there if not _narrows(name, one)}
    near = difflib.get_close_matches(same_name(name), keys, 1, _MIN_LIKENESS)
    if near:
        return keys[near[0]]
    kin = [one for key, one in keys.items() if _share_first_kanji(key, same_name(name))]
    if len(kin) == 1:
        return kin[0]
    begun = [one for key, one in keys.items() if _is_end(key, same_name(name))]
    return max(begun, key=len, default=None)


def _narrows(name: str, known: str) -> bool:
    """Whether a name is a narrower one than a known name at its end: tax_amount than amount."""
    words, base = meanings(name), meanings(known)
    more = [word for word in words if not any(word & one for one in base)]
    has_all = all(any(one & word for word in words) for one in base)
    is_at_end = bool(words) and any(words[-1] & one for one in base)
    return has_all and is_at_end and not all(map(is_harmless, more))


def _without_okurigana(name: str) -> str:
    return same_name(_HIRAGANA_BETWEEN.sub("", unicodedata.normalize("NFKC", name)))


def _share_first_kanji(one: str, other: str) -> bool:
    """Whether two short names, such as 店名 and 店舗, begin with the same kanji."""
    is_short = 0 < len(one) <= 4 and 0 < len(other) <= 4
    return is_short and one[0] == other[0] and "\u4e00" <= one[0] <= "\u9fff"


def _is_end(key: str, name: str) -> bool:
    """Whether a known name of some length begins or ends the name, as 売上 does 売上テーブル."""
    is_long = len(key) > 3 or (len(key) > 1 and "\u4e00" <= key[0] <= "\u9fff")
    return is_long and (name.startswith(key) or name.endswith(key))
