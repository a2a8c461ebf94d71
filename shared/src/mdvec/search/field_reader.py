"""Counts a question's terms in the fields of passages: titles, names, headings and texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from mdvec import index
from mdvec.search.core.fusion import is_foreign_prose
from mdvec.search.core.identifier_parts import has_part
from mdvec.search.core.lexical import NameMatch
from mdvec.search.word_lookup import WordsFound
from mdvec.text import (
    WORD_MARK,
    FieldCounts,
    Properties,
    QuestionTerms,
    Role,
    TermCounter,
    chunk_fields,
    field_terms,
    folded,
    is_katakana,
    is_only_amid,
    is_word_of,
    searched_names,
    without_head,
    words_in_context,
)

_folded = lru_cache(maxsize=512)(folded)
"""Cached, because a passage's terms are counted twice: as a whole and by sentence."""


@lru_cache(maxsize=4_096)
def _name_terms(name: str, *, has_words: bool) -> frozenset[str]:
    """The content terms of a title, alias or heading; cached, as many passages share one."""
    of_name = field_terms(name)
    terms = frozenset(of_name.words if has_words else of_name.plain)
    fillers = {word.term for word in words_in_context(name) if word.role is not Role.CONTENT}
    return (terms - fillers) or terms


class FieldReader:
    """Counts a question's terms in the fields of passages; ``properties`` are by document id.

    Plain terms are counted here; counts of words are stored.
    """

    def __init__(
        self,
        query: QuestionTerms,
        words_found: WordsFound,
        properties: Mapping[int, Properties],
    ) -> None:
        variants = words_found.variants
        self._properties = properties
        self._substituted = words_found.substituted.keys()
        self._within = {word: query.in_letters[word] for word in words_found.within}
        self._in_sentences = [term for term in query.all if term[0] != WORD_MARK]
        self._numbered = query.numbered
        self._spoken = frozenset(
            word
            for word, terms in variants.items()
            if word[0] != WORD_MARK and any(term[0] == WORD_MARK for term in terms)
            if not is_foreign_prose(query.letters)  # a text may have its words only in katakana
        )
        self._counter = TermCounter(query.plain)
        self._asked = {
            **{term: term for term in query.plain},
            **{term: word for word, terms in variants.items() for term in terms},
        }
        self._has_words = bool(query.words)
        self._spelled = query.in_cjk
        self._asked_alone = query.asked_alone
        self._pieces = {
            term: words
            for term, words in query.words_of.items()
            if words and words <= self._spelled.keys()
        }
        self._shared: dict[int, str] = {}
        self._unlike: dict[int, frozenset[str]] = {}
        # Many passages share a title, a path or a heading.
        self._counts_of = cache(lambda short: self._counter.counts(folded(short)))
        self._counts_above = cache(self._counted_above)
        self._match_of = cache(self._name_match)
        self._matches_of = cache(self._name_matches)

    def counts(
        self, chunk: index.StoredChunk, words: Mapping[str, FieldCounts]
    ) -> tuple[dict[str, FieldCounts], frozenset[str]]:
        """How often each term occurs in each field of a passage, given the counts of ``words``.

        Also returns the words in letters that the passage has only in katakana.
        """
        fields = chunk_fields(
            chunk.title,
            self._names_of(chunk),
            chunk.heading,
            chunk.content,
        )
        text = self._counter.counts(_folded(fields.text))
        counts = {term: (0, 0, 0, count) for term, count in text.items()}
        for term, above in self._counts_above(fields.title, fields.names, fields.heading).items():
            counts[term] = (*above, text.get(term, 0))
        spoken = self._spoken.intersection(words) - counts.keys()
        counts.update(words)
        for name, parts in self._numbered.items():
            if name in counts:  # a passage that has it also has its parts
                counts |= dict.fromkeys(parts - counts.keys(), counts[name])
        return counts, spoken

    def sentences(
        self, chunk: index.StoredChunk, counts: Mapping[str, FieldCounts]
    ) -> tuple[frozenset[str], ...]:
        """The counted terms, as spelled, of each sentence of a passage."""
        among = [term for term in self._in_sentences if term in counts and counts[term][-1]]
        if len(among) < 2:  # a single term is in some sentence
            return (frozenset(among),) if among else ()
        return tuple(self._counter.by_sentence(_folded(chunk.content), among))

    def inside(self, chunk: index.StoredChunk, counts: Mapping[str, FieldCounts]) -> frozenset[str]:
        """The counted terms that a passage has only inside other words, or as similar words.

        Cached by chunk, whose counts are always the same here.
        """
        if chunk.id not in self._unlike:
            self._unlike[chunk.id] = self._found_inside(chunk, counts)
        return self._unlike[chunk.id]

    def _found_inside(
        self, chunk: index.StoredChunk, counts: Mapping[str, FieldCounts]
    ) -> frozenset[str]:
        unlike = frozenset(self._substituted & counts.keys())
        text = f"{chunk.title}\n{chunk.file_path}\n{chunk.heading}\n{chunk.content}"
        unlike |= {
            word
            for word, spelling in self._within.items()
            if word in counts and not has_part(text, spelling)
        }
        return unlike | self._inside_words(chunk, counts)

    def _inside_words(
        self, chunk: index.StoredChunk, counts: Mapping[str, FieldCounts]
    ) -> frozenset[str]:
        """Words that a passage has only as parts of other words, and the counted terms in them."""
        pieces = self._pieces.keys() & counts.keys()
        lacking = {word for term in pieces for word in self._pieces[term] if word not in counts}
        if not (lacking or self._asked_alone):
            return frozenset()
        text = "\n".join((folded(chunk.title), folded(chunk.heading), _folded(chunk.content)))
        written = {word for word in lacking if self._spelled[word] in text}
        inside = {word for word in written if not is_word_of(self._spelled[word], text)}
        inside |= {
            word
            for word in self._asked_alone - inside
            if is_only_amid(self._spelled[word], text, sum(counts.get(word, ())))
        }
        # A part of an absent word is evidence (管理 of 管理者), except in katakana.
        absent = inside | {word for word in lacking - written if is_katakana(self._spelled[word])}
        return frozenset(term for term in pieces if self._pieces[term] <= absent) | inside

    def names(self, chunk: index.StoredChunk) -> tuple[NameMatch, ...]:
        """The question's terms in each of a passage's names: title, aliases, innermost heading."""
        return self._matches_of(chunk.title, chunk.heading, self._properties_of(chunk).aliases)

    def _names_of(self, chunk: index.StoredChunk) -> str:
        """The names of a passage's document, other than its title; cached by document."""
        if chunk.document_id not in self._shared:
            others = index.other_names(self._properties_of(chunk))
            names = searched_names(chunk.title, chunk.file_path, others)
            self._shared[chunk.document_id] = names
        return self._shared[chunk.document_id]

    def _properties_of(self, chunk: index.StoredChunk) -> Properties:
        return self._properties.get(chunk.document_id, index.NOT_DERIVED)

    def _counted_above(
        self, title: str, names: str, heading: str
    ) -> dict[str, tuple[int, int, int]]:
        """By term, the counts in the fields other than the text: title, names and heading."""
        first, second, third = map(self._counts_of, (title, names, heading))
        return {
            term: (first.get(term, 0), second.get(term, 0), third.get(term, 0))
            for term in {**first, **second, **third}
        }

    def _name_matches(
        self, title: str, heading: str, aliases: tuple[str, ...]
    ) -> tuple[NameMatch, ...]:
        innermost = without_head(heading).rpartition(" > ")[2]
        return tuple(self._match_of(name) for name in {title, innermost, *aliases} if name)

    def _name_match(self, name: str) -> NameMatch:
        terms = _name_terms(name, has_words=self._has_words)
        shared = self._asked.keys() & terms
        share = len(shared) / len(terms) if terms else 0.0
        return NameMatch(frozenset(self._asked[term] for term in shared), share)
