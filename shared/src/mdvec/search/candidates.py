"""Finds a tool's candidates for a question, with the vector and the lexical retriever."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.embedding import ModelConstants, default_constants
from mdvec.index import (
    ChromaServer,
    ChunkRanges,
    EngineUnavailable,
    SignatureIndex,
    StoredChunk,
    StoredProperties,
    Tables,
    calibrated_constants,
    chunk_count,
    collection_of,
    document_frequencies,
    has_current_words,
    in_katakana,
    matching_chunks,
    nearest_among,
    nearest_in_collection,
    other_spellings,
    stored_chunks,
    stored_properties,
    word_counts,
)
from mdvec.search.core.fusion import ENGLISH_WORDS, SearchMode, is_foreign_prose
from mdvec.search.core.lexical import Candidate, CorpusStatistics, is_written_apart
from mdvec.search.field_reader import FieldReader
from mdvec.text import FieldCounts, QuestionTerms, in_other_kana, in_other_numerals, is_letters
from mdvec.timing import Stopwatch
from mdvec.tools import Tool

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

MIN_CANDIDATES = 60
"""Candidates per retriever; more if more hits are requested."""
MAX_ALL_CANDIDATES = 160
"""If filters leave at most this many chunks, all of them are candidates."""
MAX_COMPARED_EXACTLY = 2_048
"""If filters leave at most this many chunks, all their vectors are compared exactly."""


@dataclass(frozen=True, slots=True)
class ToolCandidates:
    """A tool's candidates for a question, and what is needed to score them.

    Attributes:
        tool: the tool.
        tables: its tables.
        query: the question's terms, without words if the tool's word index is outdated.
        variants: the terms of the index that each word is searched by: itself, or other spellings.
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
    variants: Mapping[str, tuple[str, ...]]
    chunks: tuple[StoredChunk, ...]
    words: Mapping[int, Mapping[str, FieldCounts]]
    statistics: CorpusStatistics
    properties: Mapping[int, StoredProperties]
    searched: int
    constants: ModelConstants
    trouble: str | None = None

    def candidates(self) -> list[Candidate]:
        """The chunks as input for the fusion."""
        read = FieldReader(self.query, self.variants, self.properties)
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
    found = _Lexical(query, {}, {}, ())
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
            found = _lexical_search(connection, names, query, 0 if few else limit, within)
            ids.update(found.chunk_ids)
    with stopwatch.stage("read_candidates"):
        chunks = stored_chunks(connection, names, sorted(ids), vector)
        words = {}
        if found.variants:
            words = word_counts(connection, names, ids, found.variants)
        total = chunk_count(connection, names)
    return ToolCandidates(
        tool, names, found.query, found.variants, tuple(chunks), words,
        CorpusStatistics(total, found.frequencies),
        stored_properties(connection, names, {chunk.document_id for chunk in chunks}),
        total if within is None else within.size,
        calibrated_constants(connection, str(tool.fingerprint)) or default_constants(tool.model),
        trouble,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Lexical:
    query: QuestionTerms
    variants: Mapping[str, tuple[str, ...]]
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
    if not has_current_words(connection, names):
        query = query.without_words()
    also = ENGLISH_WORDS if is_foreign_prose(query.letters) else ()
    wanted = list(dict.fromkeys([*query.all, *also]))
    frequencies = document_frequencies(connection, names, wanted)
    apart = {
        name for name, parts in query.numbered.items() if is_written_apart(name, parts, frequencies)
    }
    variants = {
        word: (
            *(
                (word, *in_other_kana(word), *in_other_numerals(word))
                if frequencies[word] or word in apart or in_other_numerals(word)
                else other_spellings(
                    connection, names, word, reading, is_known=word not in query.unknown
                )
            ),
            *(in_katakana(connection, names, word) if is_letters(word) else ()),
        )
        for word, reading in query.words.items()
    }
    others = [term for terms in variants.values() for term in terms if term not in frequencies]
    of_index = frequencies | document_frequencies(connection, names, others)
    spelled = {**{term: (term,) for term in query.plain}, **variants}
    searched = {term: of_index[term] for terms in spelled.values() for term in terms}
    chunk_ids = matching_chunks(connection, names, searched, limit, within)
    for word, terms in variants.items():
        frequencies[word] = sum(of_index[term] for term in terms)
    return _Lexical(query, variants, frequencies, chunk_ids)


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
        found = nearest_among(connection, names, vector, limit, within.ids().tolist())
    elif known := collection_of(connection, names):
        found = nearest_in_collection(connection, names, known, engine, vector, limit, within)
    else:
        found = SignatureIndex(connection, names).nearest(vector, limit, within)
    return [near.id for near in found]
