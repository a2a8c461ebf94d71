"""Counts a question's terms in the title, names, headings and text of passages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from mdvec.index import NOT_DERIVED, StoredChunk, StoredProperties, other_names
from mdvec.search.core.lexical import NameMatch
from mdvec.text import (
    FieldCounts,
    QuestionTerms,
    TermCounter,
    chunk_fields,
    field_terms,
    folded,
    is_katakana,
    is_word_of,
    searched_names,
)

_folded = lru_cache(maxsize=512)(folded)
"""Folds a passage's text, which is counted as a whole and by sentence."""
_name_terms = lru_cache(maxsize=4_096)(field_terms)
"""The terms of a title, alias or heading: many passages share it, and many questions find it."""


class FieldReader:
    """Counts a question's terms in the fields of passages.

    Args:
        query: the question's terms. Plain terms are counted here; counts of words are stored.
        variants: the terms of the index that each word is searched by.
        properties: the properties of the passages' documents, by document id.
    """

    def __init__(
        self,
        query: QuestionTerms,
        variants: Mapping[str, tuple[str, ...]],
        properties: Mapping[int, StoredProperties],
    ) -> None:
        self._properties = properties
        self._plain = query.plain
        self._counter = TermCounter(query.plain)
        self._asked = {
            **{term: term for term in query.plain},
            **{term: word for word, terms in variants.items() for term in terms},
        }
        self._has_words = bool(query.words)
        self._katakana = query.katakana
        self._pieces = {
            term: words
            for term, words in query.words_of.items()
            if is_katakana(term) and words and words <= query.katakana.keys()
        }
        self._short: dict[str, dict[str, int]] = {}
        self._named: dict[str, NameMatch] = {}

    def counts(
        self, chunk: StoredChunk, words: Mapping[str, FieldCounts]
    ) -> dict[str, FieldCounts]:
        """How often each term occurs in each field of a passage, given the counts of ``words``."""
        fields = chunk_fields(
            chunk.title,
            searched_names(chunk.title, chunk.file_path, other_names(self._of(chunk))),
            chunk.heading,
            chunk.content,
        )
        title, names, heading = map(self._counted, (fields.title, fields.names, fields.heading))
        text = self._counter.counts(_folded(fields.text))
        plain = {
            term: (
                title.get(term, 0), names.get(term, 0), heading.get(term, 0), text.get(term, 0)
            )
            for term in {**title, **names, **heading, **text}
        }  # fmt: skip
        return {**plain, **words}

    def sentences(
        self, chunk: StoredChunk, counts: Mapping[str, FieldCounts]
    ) -> tuple[frozenset[str], ...]:
        """The counted plain terms that stand together in each sentence of a passage."""
        among = [term for term in self._plain if term in counts and counts[term][-1]]
        return tuple(self._counter.by_sentence(_folded(chunk.content), among)) if among else ()

    def inside(self, chunk: StoredChunk, counts: Mapping[str, FieldCounts]) -> frozenset[str]:
        """The counted pieces of words in katakana that a passage has only inside other words."""
        pieces = self._pieces.keys() & counts.keys()
        lacking = {word for term in pieces for word in self._pieces[term] if word not in counts}
        if not lacking:
            return frozenset()
        text = "\n".join((folded(chunk.title), folded(chunk.heading), _folded(chunk.content)))
        absent = {word for word in lacking if not is_word_of(self._katakana[word], text)}
        return frozenset(term for term in pieces if self._pieces[term] <= absent)

    def names(self, chunk: StoredChunk) -> tuple[NameMatch, ...]:
        """The question's terms in each of a passage's names: title, aliases, innermost heading."""
        innermost = chunk.heading.rpartition(" > ")[2]
        names = {chunk.title, innermost, *self._of(chunk).aliases}
        return tuple(self._name(name) for name in names if name)

    def _of(self, chunk: StoredChunk) -> StoredProperties:
        return self._properties.get(chunk.document_id, NOT_DERIVED)

    def _counted(self, short: str) -> dict[str, int]:
        """The counts of a field that many passages share; cached."""
        if short not in self._short:
            self._short[short] = self._counter.counts(folded(short))
        return self._short[short]

    def _name(self, name: str) -> NameMatch:
        if name not in self._named:
            found = _name_terms(name)
            terms = set(found.words if self._has_words else found.plain)
            terms = (terms - found.fillers) or terms
            asked = [self._asked[term] for term in terms if term in self._asked]
            share = len(asked) / len(terms) if terms else 0.0
            self._named[name] = NameMatch(frozenset(asked), share)
        return self._named[name]
