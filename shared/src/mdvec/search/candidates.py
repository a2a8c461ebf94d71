"""Finds a tool's candidates for a question, with the vector and the lexical retriever."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import apsw

from mdvec.embedding import ModelConstants, default_constants
from mdvec.index import (
    NOT_DERIVED,
    ChromaServer,
    ChunkRanges,
    EngineUnavailable,
    SignatureIndex,
    StoredChunk,
    StoredProperties,
    Tables,
    calibrated_constants,
    chunk_count,
    chunks_with,
    collection_of,
    document_frequencies,
    documents_with,
    has_usable_words,
    in_katakana,
    matching_chunks,
    nearest_among,
    nearest_in_collection,
    nearest_words,
    other_names,
    other_spellings,
    stored_chunks,
    stored_properties,
    word_counts,
    words_containing,
)
from mdvec.search.core.fusion import ENGLISH_WORDS, SearchMode, is_foreign_prose
from mdvec.search.core.lexical import Candidate, CorpusStatistics, NameMatch, is_written_apart
from mdvec.text import (
    FieldCounts,
    QuestionTerms,
    TermCounter,
    chunk_fields,
    field_terms,
    folded,
    has_part,
    in_other_kana,
    in_other_numerals,
    is_katakana,
    is_letters,
    is_word_of,
    searched_names,
)
from mdvec.timing import Stopwatch
from mdvec.tools import Tool

if TYPE_CHECKING:
    from mdvec.embedding import Vectors


_folded = lru_cache(maxsize=512)(folded)
"""Folds a passage's text, which is counted as a whole and by sentence."""
_name_terms = lru_cache(maxsize=4_096)(field_terms)
"""The terms of a title, alias or heading: many passages share it, and many questions find it."""


class FieldReader:
    """Counts a question's terms in the fields of passages.

    Args:
        query: the question's terms. Plain terms are counted here; counts of words are stored.
        found: the terms of the index that each word is searched by, and how they are like it.
        properties: the properties of the passages' documents, by document id.
    """

    def __init__(
        self,
        query: QuestionTerms,
        found: WordsFound,
        properties: Mapping[int, StoredProperties],
    ) -> None:
        variants = found.variants
        self._properties = properties
        self._substituted = found.substituted.keys()
        self._within = {word: query.in_letters[word] for word in found.within}
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
        """The counted terms that a passage has only inside other words, or something like them."""
        unlike = frozenset(self._substituted & counts.keys())
        text = f"{chunk.title}\n{chunk.file_path}\n{chunk.heading}\n{chunk.content}"
        unlike |= {
            word
            for word, spelling in self._within.items()
            if word in counts and not has_part(text, spelling)
        }
        return unlike | self._inside_katakana(chunk, counts)

    def _inside_katakana(
        self, chunk: StoredChunk, counts: Mapping[str, FieldCounts]
    ) -> frozenset[str]:
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
            name_terms = _name_terms(name)
            terms = set(name_terms.words if self._has_words else name_terms.plain)
            terms = (terms - name_terms.fillers) or terms
            shared = [self._asked[term] for term in terms if term in self._asked]
            share = len(shared) / len(terms) if terms else 0.0
            self._named[name] = NameMatch(frozenset(shared), share)
        return self._named[name]


MIN_CANDIDATES = 60
"""Candidates per retriever; more if more hits are requested."""
MAX_ALL_CANDIDATES = 160
"""If filters leave at most this many chunks, all of them are candidates."""
_MIN_PART = 3
"""Characters of a part of an identifier: fewer are in too many words by chance."""
_MAX_LOOKED_FOR = 3
"""How many words that no index has are looked for in the texts themselves."""
MAX_COMPARED_EXACTLY = 2_048
"""If filters leave at most this many chunks, all their vectors are compared exactly."""


@dataclass(frozen=True, slots=True)
class WordsFound:
    """What the index of words has of a question's words.

    Attributes:
        variants: the terms of the index that each word is searched by: itself, or other spellings.
        substituted: the words searched by the nearest spellings, because the texts have neither
            them nor another spelling of them.
        within: the words in letters that the texts have only inside longer ones.
        unwritten: the names and nouns that stand in no document, by term.
        literal: the chunks that have a name or noun where the index does not look (an address, a
            tag), by term.
    """

    variants: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    substituted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    within: frozenset[str] = frozenset()
    unwritten: frozenset[str] = frozenset()
    literal: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCandidates:
    """A tool's candidates for a question, and what is needed to score them.

    Attributes:
        tool: the tool.
        tables: its tables.
        query: the question's terms, without words if the tool's word index is outdated.
        found: what the index of words has of the question's words.
        chunks: the candidates, by id.
        words: how often each word occurs in each field, by chunk id.
        statistics: the number of chunks, and of those that contain each term.
        properties: the properties of the candidates' documents, by document id.
        searched: the number of chunks that passed the filters.
        constants: how far the model's cosines are trusted.
        trouble: why the vector retriever could not be used, if it could not.
    """

    tool: Tool
    tables: Tables
    query: QuestionTerms
    found: WordsFound
    chunks: tuple[StoredChunk, ...]
    words: Mapping[int, Mapping[str, FieldCounts]]
    statistics: CorpusStatistics
    properties: Mapping[int, StoredProperties]
    searched: int
    constants: ModelConstants
    trouble: str | None = None

    def candidates(self) -> list[Candidate]:
        """The chunks as input for the fusion."""
        read = FieldReader(self.query, self.found, self.properties)
        counts = {
            chunk.id: read.counts(chunk, self.words.get(chunk.id, {})) for chunk in self.chunks
        }
        return [
            Candidate(
                counts[chunk.id],
                len(chunk.title) + len(chunk.heading) + len(chunk.content),
                chunk.cosine,
                str(self.tool.fingerprint),
                self.constants.vector_trust,
                read.names(chunk),
                (self.tool.id, chunk.document_id),
                self.constants.likeness(chunk.cosine),
                read.inside(chunk, counts[chunk.id]),
                read.sentences(chunk, counts[chunk.id]),
            )
            for chunk in self.chunks
        ]


def find_candidates(
    connection: apsw.Connection,
    tool: Tool,
    query: QuestionTerms,
    vector: Vectors | None,
    k: int,
    mode: SearchMode,
    stopwatch: Stopwatch,
    within: ChunkRanges | None = None,
    engine: ChromaServer | None = None,
) -> ToolCandidates:
    """Run both retrievers over one tool.

    Args:
        connection: within a read transaction.
        tool: its row in that transaction.
        query: the question's terms.
        vector: the question's embedding; None skips the vector retriever.
        k: the number of hits requested.
        mode: ``vector`` skips the lexical retriever.
        stopwatch: records the time of each stage.
        within: the chunks to search; None for all.
        engine: the server that indexes the vectors of tools whose index is not in the file.
    """
    names = Tables(tool.id, tool.name, tool.generation)
    limit = max(MIN_CANDIDATES, k)
    few = within is not None and within.size <= MAX_ALL_CANDIDATES
    ids: set[int] = set(within.ids().tolist()) if within is not None and few else set()
    lexical = _Lexical(query, WordsFound(), {}, ())
    trouble = None
    if vector is not None and not few:
        with stopwatch.stage("vector_search"):
            try:
                ids.update(
                    nearest_chunks(connection, names, vector, limit, within=within, engine=engine)
                )
            except EngineUnavailable as error:
                trouble = str(error)
    if mode != "vector":
        with stopwatch.stage("lexical_search"):
            lexical = _lexical_search(connection, names, query, 0 if few else limit, within)
            ids.update(lexical.chunk_ids)
    with stopwatch.stage("read_candidates"):
        chunks = stored_chunks(connection, names, sorted(ids), vector)
        if mode == "vector" and vector is not None:  # some may still wait for their vectors
            chunks = [chunk for chunk in chunks if chunk.cosine is not None]
        words: dict[int, dict[str, FieldCounts]] = {}
        if lexical.found.variants:
            words = word_counts(connection, names, ids, lexical.found.variants)
        for term, with_term in lexical.found.literal.items():
            for chunk_id in with_term:
                words.setdefault(chunk_id, {}).setdefault(term, (0, 0, 0, 1))
        total = chunk_count(connection, names)
    if not total:
        lexical = _Lexical(query, WordsFound(), {}, ())
    return ToolCandidates(
        tool, names, lexical.query, lexical.found, tuple(chunks), words,
        CorpusStatistics(total, lexical.frequencies),
        stored_properties(connection, names, {chunk.document_id for chunk in chunks}),
        total if within is None else within.size,
        calibrated_constants(connection, str(tool.fingerprint)) or default_constants(tool.model),
        trouble,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Lexical:
    query: QuestionTerms
    found: WordsFound
    frequencies: Mapping[str, int]
    chunk_ids: Collection[int]


def _lexical_search(
    connection: apsw.Connection,
    names: Tables,
    query: QuestionTerms,
    limit: int,
    within: ChunkRanges | None,
) -> _Lexical:
    """Look up the question's terms in the index; find at most ``limit`` chunks that have them."""
    if not has_usable_words(connection, names):
        query = query.without_words()
    also = ENGLISH_WORDS if is_foreign_prose(query.letters) else ()
    wanted = list(dict.fromkeys([*query.all, *also]))
    frequencies = document_frequencies(connection, names, wanted)
    apart = {
        name for name, parts in query.numbered.items() if is_written_apart(name, parts, frequencies)
    }
    found = _words_found(connection, names, query, frequencies, apart)
    spelled_names = {**query.names, **query.nouns}
    variants = found.variants
    others = [term for terms in variants.values() for term in terms if term not in frequencies]
    of_index = frequencies | document_frequencies(connection, names, others)
    spelled = {**{term: (term,) for term in query.plain}, **variants}
    searched = {term: of_index[term] for terms in spelled.values() for term in terms}
    chunk_ids = matching_chunks(connection, names, searched, limit, within)
    for word, terms in variants.items():
        frequencies[word] = sum(of_index[term] for term in terms)
    looked_for = _looked_for(connection, names, query, found, frequencies, of_index)
    unwritten = frozenset(term for term, documents in looked_for.items() if documents == [])
    literal = {
        term: chunks_with(connection, names, spelled_names[term], documents, MIN_CANDIDATES, within)
        for term, documents in looked_for.items()
        if documents and len(spelled_names[term]) >= _MIN_PART
        if is_letters(spelled_names[term])  # pairs find the rest
    }
    for term, with_term in literal.items():
        frequencies[term] = frequencies.get(term, 0) + len(with_term)
    return _Lexical(
        query,
        replace(found, unwritten=unwritten, literal=literal),
        frequencies,
        {*chunk_ids, *(chunk_id for ids in literal.values() for chunk_id in ids)},
    )


def _words_found(
    connection: apsw.Connection,
    names: Tables,
    query: QuestionTerms,
    frequencies: Mapping[str, int],
    apart: Collection[str],
) -> WordsFound:
    """What each word is searched by: what is written before what is like it.

    A word that occurs nowhere is looked for inside longer words in letters, then in another
    spelling of the same reading, and only then among the nearest spellings.
    """
    variants: dict[str, tuple[str, ...]] = {}
    substituted: dict[str, tuple[str, ...]] = {}
    within: set[str] = set()
    for word, reading in query.words.items():
        spelling = query.in_letters.get(word, "")
        terms: Sequence[str] = (word, *in_other_kana(word), *in_other_numerals(word))
        if not (frequencies[word] or word in apart or in_other_numerals(word)):
            terms = other_spellings(connection, names, word, reading)
            if not terms and len(spelling) >= _MIN_PART and not frequencies.get(spelling):
                terms = words_containing(connection, names, spelling)
                within.update([word] if terms else [])
            if not terms and word in query.unknown:
                terms = nearest_words(connection, names, word)
                substituted |= {word: tuple(terms)} if terms else {}
        if is_letters(word):
            katakana = in_katakana(connection, names, word)
            if katakana and not terms and query.names.get(word, "").istitle():
                substituted[word] = tuple(katakana)  # a guess at how a name is spoken
            terms = (*terms, *katakana)
        variants[word] = tuple(terms)
    return WordsFound(variants, substituted, frozenset(within))


def _looked_for(
    connection: apsw.Connection,
    names: Tables,
    query: QuestionTerms,
    found: WordsFound,
    frequencies: Mapping[str, int],
    of_index: Mapping[str, int],
) -> dict[str, list[int] | None]:
    """The documents whose text has a name or noun that no index has, by term."""
    absent = [
        (term, spelling)
        for term, spelling in {**query.names, **query.nouns}.items()
        if term in found.substituted or not frequencies.get(term)
        if not of_index.get(folded(spelling))
        if not _is_named_otherwise(term, query, frequencies)
    ]
    return {
        term: documents_with(connection, names, spelling)
        for term, spelling in absent[:_MAX_LOOKED_FOR]
    }


def _is_named_otherwise(term: str, query: QuestionTerms, frequencies: Mapping[str, int]) -> bool:
    """Whether the texts have a name apart from its number, or the date that it is a part of."""
    parts = query.numbered.get(term)
    if parts is not None and is_written_apart(term, parts, frequencies):
        return True
    return any(term in of_date and frequencies.get(date) for date, of_date in query.dates.items())


def nearest_chunks(
    connection: apsw.Connection,
    names: Tables,
    vector: Vectors,
    limit: int,
    *,
    within: ChunkRanges | None = None,
    engine: ChromaServer | None = None,
) -> list[int]:
    """The ids of the chunks nearest to a vector, preselected by the tool's vector index.

    With ``within``, only those chunks are compared; if they are few, all of them exactly.

    Raises:
        EngineUnavailable: the index is on another server, which cannot be used now.
    """
    if within is not None and within.size <= MAX_COMPARED_EXACTLY:
        nearest = nearest_among(connection, names, vector, limit, within.ids().tolist())
    elif known := collection_of(connection, names):
        nearest = nearest_in_collection(connection, names, known, engine, vector, limit, within)
    else:
        nearest = SignatureIndex(connection, names).nearest(vector, limit, within)
    return [near.id for near in nearest]
