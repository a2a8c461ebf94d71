"""Finds the headings of reStructuredText and AsciiDoc, most of which are underlined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from mdvec.text.display import display_width

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_SIGNS = re.compile(r"([!-/:-@\[-`{-~])\1*")
_MIN_UNDER_LONGER = 4
"""The minimum length of a line of signs that may be shorter than the title it marks."""
_NO_PARAGRAPH = re.compile(r"\s|\.\. |\Z")
"""The beginning of a line of reStructuredText after which a title needs no blank line."""
_NO_ADOC_PARAGRAPH = re.compile(r"\[.*\]\Z|:[\w-]+!?:|//|={1,6}[ \t]|\Z")
"""A line of AsciiDoc after which a title needs no blank line, such as an attribute or comment."""
_LEVELS = ("=", "-", "~", "^", "+")
"""AsciiDoc's signs below titles, from the first level on."""
_SECTION = re.compile(r"(={1,6})[ \t]+(\S.*)")
_BLOCK = re.compile(r"-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|`{3,}|--")
"""The first line of a block of AsciiDoc, which ends with the same line."""
_TITLE = re.compile(r"(?!\.).*\w")

Found = Iterator[tuple[int, str, int]]


def rst_headings(content: str) -> Found:
    """The level, the words and the start of each heading, as docutils finds them.

    Lines of signs below titles, and around them, have the levels of their first use.
    """
    styles: list[tuple[str, bool]] = []
    lines = _lines(content)
    used = -1
    for number, ((start, title), (_, under)) in enumerate(pairwise(lines)):
        above = lines[number - 1][1] if number - 1 > used else ""
        is_over = bool(above) and above == under
        if _SIGNS.fullmatch(under) is None or not title or _SIGNS.fullmatch(title):
            continue
        if not is_over and (title[0].isspace() or not _NO_PARAGRAPH.match(above)):
            continue
        if len(under) < min(display_width(title), _MIN_UNDER_LONGER):
            continue
        style = (under[0], is_over)
        styles += [style] if style not in styles else []
        used = number + 1
        yield styles.index(style) + 1, title.lstrip(), lines[number - 1][0] if is_over else start


def adoc_headings(content: str) -> Found:
    """The level, the words and the start of each heading, outside blocks."""
    lines = _lines(content)
    closing, used, may_begin = "", -1, True
    for number, (start, line) in enumerate(lines):
        under = lines[number + 1][1] if number + 1 < len(lines) else ""
        if number == used or closing:
            closing = "" if line == closing else closing
            may_begin = True
            continue
        if section := _SECTION.fullmatch(line):
            yield len(section[1]), section[2], start
        elif may_begin and _is_underlined(line, under):
            used = number + 1
            yield _LEVELS.index(under[0]) + 1, line, start
        elif _BLOCK.fullmatch(line) and any(line == later for _, later in lines[number + 1 :]):
            closing = line
        may_begin = bool(closing) or _NO_ADOC_PARAGRAPH.match(line) is not None


def _is_underlined(title: str, under: str) -> bool:
    """Whether a line of signs, at most one more or less, is below a title."""
    lengths = (len(title), display_width(title))
    return (
        under[:1] in _LEVELS
        and _SIGNS.fullmatch(under) is not None
        and _TITLE.match(title) is not None
        and any(abs(length - len(under)) <= 1 for length in lengths)
    )


def _lines(content: str) -> list[tuple[int, str]]:
    """Each line with its start, without spaces at its end."""
    return [(line.start(), line[1].rstrip()) for line in _LINE.finditer(content)]
