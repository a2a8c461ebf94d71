"""The fields of a chunk in the lexical index, and the terms of each field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mdvec.text.dates import named_dates
from mdvec.text.index_terms import folded, joined_words, terms_of_folded
from mdvec.text.morphology import WORD_MARK, Role, word_terms

FIELDS: Final = ("title", "names", "heading", "text")
"""The fields of a chunk; lists with one item per field are in this order."""
FieldCounts = tuple[int, int, int, int]
"""How often a term occurs in each field."""
_JOINS = re.compile(r"_|(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class ChunkFields:
    """The fields of a chunk.

    ``names`` has other names of the document, one per line: its path, aliases and tags.
    ``heading`` is the path of headings above the chunk, without the title.
    """

    title: str
    names: str
    heading: str
    text: str

    def each(self) -> tuple[str, str, str, str]:
        """The fields in the order of ``FIELDS``."""
        return self.title, self.names, self.heading, self.text


@dataclass(frozen=True, slots=True)
class FieldTerms:
    """The terms of a field.

    ``plain`` has pairs of characters and words as spelled, ``words`` the words in normalised
    form, ``readings`` the reading of each, and ``fillers`` the words that only ask (方法). A number
    or identifier with hyphens (0120-333-906, KX-9900) is also a word without them, in both.
    """

    plain: list[str]
    words: list[str]
    readings: dict[str, str]
    fillers: frozenset[str] = frozenset()


def chunk_fields(title: str, names: str, heading: str, text: str) -> ChunkFields:
    """The fields of a chunk, given the full path of its headings."""
    above = heading
    if heading == title:
        above = ""
    elif heading.startswith(f"{title} > "):
        above = heading[len(title) + 3 :]
    return ChunkFields(title, names, above, text)


def searched_names(title: str, file_path: str, others: Sequence[str] = ()) -> str:
    """The names by which a document is found: none if it has no title, as a file of records."""
    return document_names(file_path, others) if title else ""


def document_names(file_path: str, others: Sequence[str] = ()) -> str:
    """The names of a document, one per line.

    The first line is its path without the suffix, followed by the words in it if they are joined
    (read_me, readMe); then come the ``others``: aliases and tags.
    """
    return "\n".join([_path_names(file_path), *others])


@lru_cache(maxsize=4_096)
def _path_names(file_path: str) -> str:
    folder, _, name = file_path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    path = f"{folder}/{stem}" if folder else stem
    in_words = _JOINS.sub(" ", path)
    return path if in_words == path else f"{path} {in_words}"


def field_terms(text: str) -> FieldTerms:
    """The terms of one field."""
    text = folded(text)
    morphemes = word_terms(text)
    readings = {word.term: word.reading for word in morphemes}
    words = [word.term for word in morphemes]
    words += [WORD_MARK + day.digits for day in named_dates(text)]
    fillers = frozenset(word.term for word in morphemes if word.role is not Role.CONTENT)
    joined = [word for word, _, _ in joined_words(text)]
    readings |= {word: word for word in joined}
    return FieldTerms(terms_of_folded(text) + joined, words + joined, readings, fillers)
