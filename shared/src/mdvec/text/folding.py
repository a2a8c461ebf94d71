"""Makes one spelling of texts that are written differently: width, case, variants of kanji."""

from __future__ import annotations

import re
import unicodedata

KANJI = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
NAME_FORMS = "髙﨑嵜邊邉齋齊濱濵德淸槗𠮷栁桒圡"
_NAME_FORM = re.compile(f"[{NAME_FORMS}]")
_COMMON_FORMS = str.maketrans(NAME_FORMS, "高崎崎辺辺斎斎浜浜徳清橋吉柳桑土")
_COMPANY = rf"(?<![{KANJI}{KATAKANA}a-zA-Z0-9])\(([株有])\)(?=[^\W_])"
_COMPANIES = {"株": "株式会社", "有": "有限会社"}
"""Abbreviations of company types before a name; after a word (数量(株)), they may be units.

Their pattern is compiled where it is first needed, as most programs load this module.
"""
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)


def composed(text: str) -> str:
    """``text`` with が as one character; macOS, for example, splits it in two in file names."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def without_invisible(text: str) -> str:
    """``text`` without zero-width characters and variation selectors."""
    return _INVISIBLE.sub("", text)


def folded(text: str) -> str:
    """``text`` without differences of width and case, and without invisible characters.

    Variant kanji in names (髙橋, 渡邊) become the common forms (高橋, 渡辺), and ㈱ before a name
    becomes 株式会社.
    """
    if text.isascii():
        return text.lower()
    text = without_invisible(text)
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    if _NAME_FORM.search(text):
        text = text.translate(_COMMON_FORMS)
    if "(株)" in text or "(有)" in text:
        text = re.sub(_COMPANY, lambda sign: _COMPANIES[sign[1]], text)
    return text.casefold()
