"""Finds a tool's candidates for a question, with the vector and the lexical retriever."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import apsw

from mdvec import index
from mdvec.embedding import ModelConstants, default_constants
from mdvec.search.core.fusion import SearchMode
from mdvec.search.core.lexical import Candidate, CorpusStatistics
from mdvec.search.field_reader import FieldReader
from mdvec.search.word_lookup import MIN_CANDIDATES, LexicalSearch, WordsFound, lexical_search
from mdvec.text import FieldCounts, Properties, QuestionTerms
from mdvec.timing import Stopwatch
from mdvec.tools import Tool

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

MAX_ALL_CANDIDATES = 160
"""If filters leave at most this many chunks, all of them are candidates."""
MAX_COMPARED_EXACTLY = 2_048
"""If filters leave at most this many chunks, all their vectors are compared exactly."""


@dataclass(frozen=True, slots=True)
class ToolCandidates:
    """A tool's candidates for a question, in the order of their ids, with the data for scoring.

    The ``query`` has no words if the tool's word index is outdated. ``words`` counts each word in
    each field, by chunk id; ``properties`` are by document id. ``searched`` is the number of chunks
    that passed the filters. ``trouble`` is the reason if the vector retriever could not be used.
    """

    tool: Tool
    query: QuestionTerms
    words_found: WordsFound
    chunks: tuple[index.StoredChunk, ...]
    words: Mapping[int, Mapping[str, FieldCounts]]
    statistics: CorpusStatistics
    properties: Mapping[int, Properties]
    searched: int
    constants: ModelConstants
    trouble: str | None = None

    def candidates(self) -> list[Candidate]:
        """The chunks as input for the fusion."""
        read = FieldReader(self.query, self.words_found, self.properties)
        return [
            self._candidate(read, chunk, *read.counts(chunk, self.words.get(chunk.id, {})))
            for chunk in self.chunks
        ]

    def _candidate(
        self,
        read: FieldReader,
        chunk: index.StoredChunk,
        counts: dict[str, FieldCounts],
        spoken: frozenset[str],
    ) -> Candidate:
        return Candidate(
            counts,
            len(chunk.title) + len(chunk.heading) + len(chunk.content),
            chunk.cosine,
            str(self.tool.fingerprint),
            self.constants.vector_trust,
            read.names(chunk),
            (self.tool.id, chunk.document_id),
            self.constants.likeness(chunk.cosine),
            read.sentences(chunk, counts),
            partial(read.inside, chunk, counts),  # few of a hundred candidates need it
            spoken,
        )


@dataclass(frozen=True, slots=True)
class Retriever:
    """Runs both retrievers over single tools, for ``k`` hits.

    ``connection`` is in the transaction that read the tools. ``engine`` is the server that indexes
    the vectors of tools whose index is not in the file.
    """

    connection: apsw.Connection
    k: int
    mode: SearchMode
    stopwatch: Stopwatch
    engine: index.ChromaServer | None = None

    def candidates(
        self,
        tool: Tool,
        query: QuestionTerms,
        vector: Vectors | None,
        within: index.ChunkRanges | None = None,
    ) -> ToolCandidates:
        """A tool's candidates for a query among the chunks ``within``; None means all chunks.

        The lexical retriever is skipped in mode ``vector``. The vector retriever is skipped if
        ``vector``, the question's embedding, is None.
        """
        tables = tool.tables_in(self.connection)
        limit, ids, trouble = max(MIN_CANDIDATES, self.k), set[int](), None
        if within is not None and within.size <= MAX_ALL_CANDIDATES:
            limit, ids = 0, set(within.ids().tolist())
        elif vector is not None:
            ids, trouble = self._nearest(tables, vector, limit, within)
        lexical = LexicalSearch(query)
        if self.mode != "vector":
            with self.stopwatch.stage("lexical_search"):
                lexical = lexical_search(tables, query, limit, within)
        ids.update(lexical.chunk_ids)
        with self.stopwatch.stage("read_candidates"):
            chunks = self._stored(tables, ids, vector)
            words = self._word_counts(tables, ids, lexical.words_found)
            total = index.chunk_count(tables)
        if not total:
            lexical = LexicalSearch(query)
        documents = {chunk.document_id for chunk in chunks}
        return ToolCandidates(
            tool, lexical.query, lexical.words_found, tuple(chunks), words,
            CorpusStatistics(total, lexical.frequencies),
            index.stored_properties(tables, documents),
            total if within is None else within.size,
            index.calibrated_constants(self.connection, str(tool.fingerprint))
            or default_constants(tool.model),
            trouble,
        )  # fmt: skip

    def _nearest(
        self,
        tables: index.Tables,
        vector: Vectors,
        limit: int,
        within: index.ChunkRanges | None,
    ) -> tuple[set[int], str | None]:
        """The ids of the nearest chunks, and the reason if they cannot be found now."""
        with self.stopwatch.stage("vector_search"):
            try:
                near = nearest_chunks(tables, vector, limit, within=within, engine=self.engine)
            except index.EngineUnavailable as error:
                return set(), str(error)
        return set(near), None

    def _stored(
        self, tables: index.Tables, ids: Collection[int], vector: Vectors | None
    ) -> list[index.StoredChunk]:
        """The chunks with these ids; in mode ``vector`` without those that have no vector yet."""
        chunks = index.stored_chunks(tables, sorted(ids), vector)
        if self.mode == "vector" and vector is not None:
            return [chunk for chunk in chunks if chunk.cosine is not None]
        return chunks

    def _word_counts(
        self, tables: index.Tables, ids: Collection[int], found: WordsFound
    ) -> dict[int, dict[str, FieldCounts]]:
        """The counts of the words found, by chunk; words found outside the index count once."""
        counts: dict[int, dict[str, FieldCounts]] = {}
        if found.variants:
            counts = index.word_counts(tables, ids, found.variants)
        for term, with_term in found.literal.items():
            for chunk_id in with_term:
                counts.setdefault(chunk_id, {}).setdefault(term, (0, 0, 0, 1))
        return counts


def nearest_chunks(
    tables: index.Tables,
    vector: Vectors,
    limit: int,
    *,
    within: index.ChunkRanges | None = None,
    engine: index.ChromaServer | None = None,
) -> list[int]:
    """The ids of the chunks nearest to a vector, preselected by the tool's vector index.

    With ``within``, only those chunks are compared; if they are few, all of them exactly.

    Raises:
        EngineUnavailable: the index is on another server, which cannot be used now.
    """
    if within is not None and within.size <= MAX_COMPARED_EXACTLY:
        return index.nearest_among(tables, vector, limit, within.ids().tolist())
    if known := index.collection_of(tables):
        return index.nearest_in_collection(tables, known, engine, vector, limit, within)
    return index.nearest_by_signatures(tables, vector, limit, within)
