"""Scans a text once for line ends, sentence ends, and ranges that a cut should not split."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Mark = tuple[Literal["line", "sentence", "unbreakable"], int, int]
"""For a line or a sentence, its end and the start of the next one; for an unbreakable range such
as a link, its start and end."""

_BRACKETED = r"\[(?:[^\[\]\r\n]|\r?\n(?![ \t]*[\r\n])|\[[^\[\]\r\n]*\]){0,500}\]"
_TARGET = r"\([^()\r\n]*(?:\([^()\r\n]*\)[^()\r\n]*)*\)|\[[^\[\]\r\n]*\]"
_SCANNED = re.compile(
    rf"""
    (?=[\r\n!\[`<{{h「『（(*。｡！？?．.])(?:
    (?P<line>(?:\r\n|\r|\n)(?:[^\S\r\n]*(?:\r\n|\r|\n))*)
    | (?P<unbreakable>
        !?{_BRACKETED}(?:{_TARGET})?            # a link, an image or [[a wikilink]]
        | `+[^`\r\n]*`+
        | <!--(?:[^<]|<(?!!--)){{0,4000}}?-->
        | \{{/\*(?:[^{{]|\{{(?!/\*)){{0,4000}}?\*/\}}
        | <[A-Za-z/][^<>\r\n]*>
        | https?://[^\s<>、。「」（）()]+ )
    | (?P<quoted>
        「(?:[^「」\r\n]|「[^「」\r\n]*」){{0,160}}」
        | 『[^『』\r\n]{{0,160}}』
        | （[^（）\r\n]{{0,160}}）
        | \([^()\r\n]{{0,160}}\)
        | \*\*[^*\r\n]{{1,160}}\*\* )
    | (?P<sentence>[。｡！？!?．.][。｡！？!?．.」』）】)\]"'”’]*))
    """,
    re.VERBOSE,
)
_QUOTED_END = re.compile(r"[。｡！？!?][」』）)*]+$")
_GOES_ON = re.compile(r"[、，,とがはをにでもの]|って|という")
"""Text after a quotation that continues the sentence: 「はい。」と答えた."""
_ABBREVIATION = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]|\d{1,3}|etc|vs|cf|al|ex|Mrs?|Ms|Dr|Prof|St|Fig|No|Vol|pp|eds?"
    r"|approx|Inc|Ltd|Corp|Co|Jr|Sr|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$"
)
_MAX_ABBREVIATION = 8
_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff「『（【々]")
_BLANK = re.compile(r"[^\S\r\n]*")
_STRONG = "。｡！？"
MAX_LINE_READ = 4_000
"""How far back or on a line is read, so that a very long one costs no more."""


def marks(text: str, start: int, end: int) -> Iterator[Mark]:
    """The line ends, sentence ends within lines and unbreakable ranges, in order."""
    for match in _SCANNED.finditer(text, start, end):
        first, last = match.span()
        kind = match.lastgroup
        if kind == "sentence" and _opens_a_quotation(text, first, last):
            last -= 1
        if kind == "line":
            yield "line", first, last
        elif kind == "unbreakable":
            yield "unbreakable", first, last
        elif _is_sentence(text, first, last, end, is_quoted=kind == "quoted"):
            blank = _BLANK.match(text, last, end)
            yield "sentence", last, blank.end() if blank else last


def _is_sentence(text: str, first: int, last: int, end: int, *, is_quoted: bool) -> bool:
    """Whether ``text[first:last]`` ends a sentence and another follows on the same line."""
    if last >= end or text[last] in "\r\n":
        return False
    if is_quoted:
        return bool(_QUOTED_END.search(text, first, last)) and not _GOES_ON.match(text, last)
    if text[first] in _STRONG:
        closed = text[last - 1] not in _STRONG
        return not (closed and _GOES_ON.match(text, last)) and not text.startswith("と", last)
    if text[first] in "!?":
        return _ends_in_ascii(text, first, last)
    if text[first] == "．":
        return not (text[last].isalnum() and text[last].isascii()) and not text[last].isdigit()
    return _is_full_stop(text, first, last)


def _opens_a_quotation(text: str, first: int, last: int) -> bool:
    """Whether the straight mark behind a full stop begins what follows: 。"Dark mode" を選ぶ."""
    if last >= len(text) or text[last].isspace() or text[last - 1] != '"':
        return False
    line = max(text.rfind("\n", 0, first) + 1, first - MAX_LINE_READ)
    return text.count('"', line, last - 1) % 2 == 0


def _ends_in_ascii(text: str, first: int, last: int) -> bool:
    """Whether ``!`` or ``?`` ends a sentence: not in Yahoo!ニュース, ``a != b`` or ``?q=1``."""
    if text[last].isspace():
        return True
    return bool(_JAPANESE.match(text, last)) and bool(_JAPANESE.match(text, first - 1))


def _is_full_stop(text: str, first: int, last: int) -> bool:
    """Whether ``.`` ends a sentence: not after an abbreviation, nor before a lower-case letter."""
    if not text[last].isspace():
        return False
    if _ABBREVIATION.search(text, max(first - _MAX_ABBREVIATION, 0), first):
        return False
    following = text[last : last + 3].lstrip()[:1]
    return not (following.islower() and following.isascii())
