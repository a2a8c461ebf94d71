"""The fields of a chunk in the lexical index, and the terms of each field."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from mdvec.dates import ENGLISH_MONTH, month_named, year_of_era
from mdvec.text.folding import folded
from mdvec.text.index_terms import joined_words, placed_terms
from mdvec.text.morphology import WORD_MARK, word_terms

_MONTH = rf"(?P<name>{ENGLISH_MONTH})\.?"
_ERA = r"(?P<era>明治|大正|昭和|平成|令和|(?<![a-z\d_-])[shr])"
_NUMBERS = (
    r"(?P<year>(?:19|20)\d\d)(?P<sign>[-/._])(?P<month>\d{1,2})(?:(?P=sign)(?P<day>\d{1,2}))?"
)
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?<!\d)(?<!\d[./-]){_NUMBERS}(?![\d])",
        r"(?<![\d.])(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![\d.])",
        rf"{_ERA}(?P<year>\d{{1,2}})(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign)(?P<day>\d{{1,2}})(?!\d)",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)\s*年\s*(?P<month>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*日)?",
        rf"{_ERA}\s*(?P<year>\d{{1,2}}|元)\s*年\s*(?P<month>\d{{1,2}})\s*月"
        r"(?:\s*(?P<day>\d{1,2})\s*日)?",
        rf"(?<![a-z]){_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>(?:19|20)\d\d)(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>(?:19|20)\d\d)(?!\d)",
        rf"(?<![a-z]){_MONTH},?\s+(?P<year>(?:19|20)\d\d)(?!\d)",
    )
)
_ANY_YEAR = re.compile(r"(?:19|20)\d\d|年|[rhs]\d{1,2}[-/.]")
FieldCounts = tuple[int, int, int, int]
"""How often a term occurs in each field."""
_JOINS = re.compile(r"_|(?<=[a-z0-9])(?=[A-Z])")
_DAY_IN_DIGITS = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])?(?!\d)"
)
"""A day or a month in a file name; elsewhere, six digits are as often an amount or a number."""


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A day (digits 20241205) or a month (202412) in a text, from ``start`` to ``end``."""

    digits: str
    start: int
    end: int


def named_dates(folded_text: str) -> list[NamedDate]:
    """The days and months in a folded text; a day also yields its month."""
    if _ANY_YEAR.search(folded_text) is None:
        return []
    dates: list[NamedDate] = []
    for form in _FORMS:
        for match in form.finditer(folded_text):
            if not any(
                earlier.start < match.end() and match.start() < earlier.end for earlier in dates
            ):
                dates += _dates(match)
    return dates


def _dates(match: re.Match[str]) -> list[NamedDate]:
    parts = {"era": None, "name": None, "month": None, "day": None, **match.groupdict()}
    year = 1 if parts["year"] == "元" else int(str(parts["year"]))
    year = year_of_era(parts["era"], year) if parts["era"] else year
    month = int(parts["month"] or month_named(str(parts["name"])))
    try:
        day = date(year, month, int(parts["day"] or 1))
    except ValueError:
        return []
    month_only = NamedDate(f"{day:%Y%m}", match.start(), match.end())
    if parts["day"] is None:
        return [month_only]
    return [NamedDate(f"{day:%Y%m%d}", match.start(), match.end()), month_only]


class ChunkFields(NamedTuple):
    """The fields of a chunk.

    ``names`` has other names of the document, one per line: its path, aliases and tags.
    ``heading`` is the path of headings above the chunk, without the title.
    """

    title: str
    names: str
    heading: str
    text: str


FIELDS: Final = ChunkFields._fields
"""The names of the fields; lists with one item per field are in this order."""


@dataclass(frozen=True, slots=True)
class FieldTerms:
    """The terms of a field.

    ``plain`` has pairs of characters and words as spelled, ``words`` the words in normalised
    form, and ``readings`` the reading of each word. A number or identifier with hyphens
    (0120-333-906, KX-9900) is also a single term, without the hyphens, in ``plain`` and in
    ``words``.
    """

    plain: list[str]
    words: list[str]
    readings: dict[str, str]


def chunk_fields(title: str, names: str, heading: str, text: str) -> ChunkFields:
    """The fields of a chunk, given the full path of its headings."""
    above = "" if heading == title else heading.removeprefix(f"{title} > ")
    return ChunkFields(title, names, above, text)


def searched_names(title: str, file_path: str, others: Sequence[str] = ()) -> str:
    """The names by which a document is found; "" without a title, as for a file of records."""
    return document_names(file_path, others) if title else ""


def document_names(file_path: str, others: Sequence[str] = ()) -> str:
    """The names of a document, one per line.

    The first line is its path without the suffix, followed by the separate words if they are joined
    in it (read_me, readMe), and by 2023-07 for news202307. Then come ``others``: aliases and tags.
    """
    return "\n".join([_path_names(file_path), *others])


@lru_cache(maxsize=4_096)
def _path_names(file_path: str) -> str:
    folder, _, name = file_path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    path = f"{folder}/{stem}" if folder else stem
    in_words = _DAY_IN_DIGITS.sub(
        _spaced_date, _JOINS.sub(" ", unicodedata.normalize("NFKC", path))
    )
    return path if folded(in_words) == folded(path) else f"{path} {in_words}"


def _spaced_date(day: re.Match[str]) -> str:
    return f" {'-'.join(filter(None, day.groups()))} "


def field_terms(text: str) -> FieldTerms:
    """The terms of one field."""
    text = folded(text)
    morphemes = word_terms(text)
    readings = {word.term: word.reading for word in morphemes}
    words = [word.term for word in morphemes]
    words += [WORD_MARK + day.digits for day in named_dates(text)]
    joined = [word for word, _, _ in joined_words(text)]
    readings |= {word: word for word in joined}
    plain = [term for term, _, _ in placed_terms(text)]
    return FieldTerms(plain + joined, words + joined, readings)
