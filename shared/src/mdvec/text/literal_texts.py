"""Literal texts in a question: names with signs (C++, next.config.js), versions, paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mdvec.text.fields import named_dates
from mdvec.text.index_terms import MAX_TERM

Placed = tuple[str, int, int]
"""A part of a folded text, with its start and end."""
_SIGNED = re.compile(r"(?<!\w)([a-z]\w{0,9})(?:\+\+|#)(?!\w)", re.ASCII)
"""A name that ends in a sign, in folded text (C++, F#)."""
_WRITTEN = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z][\w-]*"
    r"|(?<![\w.:])v?\d+(?:[.:]\d+)+(?!\w|[.:]\d)"
    r"|(?<![\w/])(?:/[\w.-]*\w){2,}"
    r"|(?<![\w-])--[a-z][\w-]*\w",
    re.ASCII,
)
"""Literal texts, in folded text: a URL, a version (15.3.1), an IP address or a time, a path, a long
option. The index has only their parts, which are not specific: 15, 3 and 1."""
_WITH_SIGNS = re.compile(r"\w+(?:[-.:/?#@!$&*+=%~\\]+\w+)+", re.ASCII)
"""Letters and digits with signs between them, in folded text (file.name, cmd+o)."""
_WHOLE_NAME = re.compile(
    r"(?<![\w.:/@-])(?=[\w.-]*[a-z]{3})[a-z]\w*(?:\.[a-z]\w*|-[a-z]\w*)+(?![\w:/@-]|\.\w)", re.ASCII
)
"""A name with dots or hyphens, in folded text (next.config.js, ts-node), but no abbreviation (e.g).
"""
_ONLY_HYPHENS = re.compile(r"[\w-]+", re.ASCII)
_MOST_WRITTEN, _WRITTEN_IN = 3, 100
"""More literal texts, or a longer question, mean a pasted log, whose times no document has."""


def names_with_sign(text: str) -> list[Placed]:
    """The names with a sign at their end, and literal texts other than days."""
    matches = [*_SIGNED.finditer(text)]
    if len(text) <= _WRITTEN_IN:
        written = [*_WRITTEN.finditer(text)]
        if len(written) <= _MOST_WRITTEN:
            matches += written
    return without_days(text, [(match[0], *match.span()) for match in matches])


def whole_names(text: str, known: Sequence[Placed]) -> list[Placed]:
    """The names with dots or hyphens in a folded text, without parts of ``known`` texts."""
    matches = _WHOLE_NAME.finditer(text) if len(text) <= _WRITTEN_IN else ()
    names = [*_apart([(match[0], *match.span()) for match in matches], known)]
    return names if len(names) <= _MOST_WRITTEN else []


def texts_with_signs(text: str, known: Sequence[Placed]) -> tuple[str, ...]:
    """The texts with signs between letters or digits, without days and ``known`` texts."""
    matches = _WITH_SIGNS.finditer(text) if len(text) <= _WRITTEN_IN else ()
    placed = [
        (match[0], *match.span())
        for match in matches
        if len(match[0]) <= MAX_TERM and not _ONLY_HYPHENS.fullmatch(match[0])
    ]
    others = [word for word, _, _ in _apart(without_days(text, placed), known)]
    return tuple(dict.fromkeys(others)) if len(others) <= _MOST_WRITTEN else ()


def without_days(text: str, placed: Sequence[Placed]) -> list[Placed]:
    """Those of the parts of a text that no day or month in it overlaps."""
    days = [(day.digits, day.start, day.end) for day in named_dates(text)]
    return [*_apart(placed, days)]


def _apart(placed: Sequence[Placed], known: Sequence[Placed]) -> Iterator[Placed]:
    """The parts that overlap none of the ``known`` ones."""
    for word, start, end in placed:
        if not any(start < last and first < end for _, first, last in known):
            yield word, start, end
