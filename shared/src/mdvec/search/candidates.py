"""One tool's candidates for a question: what its two legs find, and what its index knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from mdvec.embedding.cards import CARDS
from mdvec.index import chunks as vectors
from mdvec.index import signature_cache as signed
from mdvec.index import tables
from mdvec.index import words as lexical
from mdvec.index.chunks import StoredChunk
from mdvec.index.tables import Tables
from mdvec.search.core.fusion import (
    ENGLISH_WORDS,
    Candidate,
    Knowledge,
    SearchMode,
    is_foreign_prose,
)
from mdvec.text.terms import TermCounter
from mdvec.timing import Stopwatch
from mdvec.tools.rows import Tool

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

LEG = 40
"""Candidates of a leg; at least so many, and at least as many as hits are wanted."""
_WIDE, _NARROW = 1_024, 320
"""How many chunks the signatures leave to their finer comparison, and that to the exact one."""


@dataclass(frozen=True, slots=True)
class ToolCandidates:
    """What a tool offers for a question: its chunks by number, with how the legs ranked them."""

    tool: Tool
    tables: Tables
    chunks: tuple[StoredChunk, ...]
    knowledge: Knowledge
    has_words: bool

    def candidates(self, query: Sequence[str]) -> list[Candidate]:
        """The chunks as the fusion wants them, for the question's different terms."""
        model = str(self.tool.model)
        trust = CARDS[model].vector_trust if model in CARDS else 1.0
        texts = [
            lexical.indexed_text(chunk.title, chunk.heading, chunk.content) for chunk in self.chunks
        ]
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
    """Both legs of one tool, within one snapshot of the database.

    Args:
        connection: within a read transaction.
        tool: its row in that transaction.
        query: the question's different terms.
        vector: the question's embedding; None leaves the vector leg out.
        k: how many hits are wanted.
        mode: which legs run; without a lexical index (a file of an older version) vectors do.
        stopwatch: takes the time of each stage.
    """
    names = Tables(tool.id, tool.name, tool.generation)
    indexed = tables.has_indexes(connection, names)
    limit = max(LEG, k)
    ids: set[int] = set()
    frequencies: dict[str, int] = {}
    if vector is not None:
        with stopwatch.stage("vector_search"):
            ids.update(nearest_chunks(connection, names, vector, limit, indexed=indexed))
    if indexed and mode != "vector":
        with stopwatch.stage("lexical_search"):
            also = ENGLISH_WORDS if is_foreign_prose(query) else ()
            wanted = list(dict.fromkeys([*query, *also]))
            frequencies = lexical.document_frequencies(connection, names, wanted)
            asked = {term: frequencies[term] for term in query}
            ids.update(lexical.matching_chunks(connection, names, asked, limit))
    with stopwatch.stage("read_candidates"):
        chunks = vectors.stored_chunks(connection, names, sorted(ids), vector)
        total = vectors.chunk_count(connection, names)
    return ToolCandidates(tool, names, tuple(chunks), Knowledge(total, frequencies), indexed)


def nearest_chunks(
    connection: apsw.Connection, names: Tables, vector: Vectors, limit: int, *, indexed: bool = True
) -> list[int]:
    """The chunks nearest to a vector: by signatures first, then exactly among what they leave."""
    if not indexed:
        return vectors.nearest_of_all(connection, names, vector, limit)
    likely = signed.likely_nearest(connection, names, vector, _WIDE, max(_NARROW, 4 * limit))
    return vectors.nearest(connection, names, vector, limit, likely)
