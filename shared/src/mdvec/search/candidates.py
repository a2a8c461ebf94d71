"""One tool's candidates for a question, found by the vector and the lexical retriever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.embedding.cards import CARDS
from mdvec.index.chunks import (
    StoredChunk,
    chunk_count,
    nearest,
    nearest_of_all,
    stored_chunks,
)
from mdvec.index.signature_cache import likely_nearest
from mdvec.index.tables import Tables, has_indexes
from mdvec.index.words import document_frequencies, indexed_text, matching_chunks
from mdvec.search.core.fusion import (
    ENGLISH_WORDS,
    Candidate,
    CorpusStatistics,
    SearchMode,
    is_foreign_prose,
)
from mdvec.text.terms import TermCounter
from mdvec.timing import Stopwatch
from mdvec.tools.rows import Tool

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

MIN_CANDIDATES = 40
"""Candidates per retriever; more if more hits are requested."""
_LONGLIST, SHORTLIST = 1_024, 320
"""Chunks kept by the first comparison of signatures, and by the second, finer one. Only the latter
are compared exactly."""


@dataclass(frozen=True, slots=True)
class ToolCandidates:
    """A tool's candidates for a question: chunks by id, and the statistics to score them."""

    tool: Tool
    tables: Tables
    chunks: tuple[StoredChunk, ...]
    statistics: CorpusStatistics
    has_words: bool

    def candidates(self, query: Sequence[str]) -> list[Candidate]:
        """The chunks as input of the fusion; ``query`` is the question's distinct terms."""
        model = str(self.tool.model)
        trust = CARDS[model].vector_trust if model in CARDS else 1.0
        texts = [indexed_text(chunk.title, chunk.heading, chunk.content) for chunk in self.chunks]
        terms = TermCounter(query)
        return [
            Candidate(
                terms.counts(text) if self.has_words else {},
                len(text),
                chunk.cosine,
                str(self.tool.fingerprint),
                trust,
            )
            for chunk, text in zip(self.chunks, texts, strict=True)
        ]


def find_candidates(
    connection: apsw.Connection,
    tool: Tool,
    query: list[str],
    vector: Vectors | None,
    k: int,
    mode: SearchMode,
    stopwatch: Stopwatch,
) -> ToolCandidates:
    """Run both retrievers over one tool.

    Args:
        connection: within a read transaction.
        tool: its row in that transaction.
        query: the question's distinct terms.
        vector: the question's embedding; None skips the vector retriever.
        k: the number of hits requested.
        mode: ``vector`` skips the lexical retriever, as does a file of an older version, which
            has no lexical index.
        stopwatch: records the time of each stage.
    """
    names = Tables(tool.id, tool.name, tool.generation)
    indexed = has_indexes(connection, names)
    limit = max(MIN_CANDIDATES, k)
    ids: set[int] = set()
    frequencies: dict[str, int] = {}
    if vector is not None:
        with stopwatch.stage("vector_search"):
            ids.update(nearest_chunks(connection, names, vector, limit, indexed=indexed))
    if indexed and mode != "vector":
        with stopwatch.stage("lexical_search"):
            also = ENGLISH_WORDS if is_foreign_prose(query) else ()
            wanted = list(dict.fromkeys([*query, *also]))
            frequencies = document_frequencies(connection, names, wanted)
            of_query = {term: frequencies[term] for term in query}
            ids.update(matching_chunks(connection, names, of_query, limit))
    with stopwatch.stage("read_candidates"):
        chunks = stored_chunks(connection, names, sorted(ids), vector)
        total = chunk_count(connection, names)
    return ToolCandidates(tool, names, tuple(chunks), CorpusStatistics(total, frequencies), indexed)


def nearest_chunks(
    connection: apsw.Connection, names: Tables, vector: Vectors, limit: int, *, indexed: bool = True
) -> list[int]:
    """The ids of the chunks nearest to a vector, preselected by their signatures."""
    if not indexed:
        return nearest_of_all(connection, names, vector, limit)
    likely = likely_nearest(connection, names, vector, _LONGLIST, max(SHORTLIST, 4 * limit))
    return nearest(connection, names, vector, limit, likely)
