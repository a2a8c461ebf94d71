"""One question asked once, and ranked in all three modes: by both retrievers, and by each alone.

Every mode ranks the candidates of both retrievers, so that the legs differ in nothing but their
scores.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
from finding import MODES, TOOL, TOP
from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.search.candidates import Retriever
from mdvec.search.core.fusion import SearchMode
from mdvec.search.ranking import Pool, RankedChunk, pooled
from mdvec.text.questions import analyse_question
from mdvec.timing import Stopwatch
from mdvec.tools import registry
from mdvec.tools.registry import Tool

Ranked = dict[SearchMode, Sequence[RankedChunk]]


@dataclass(frozen=True)
class Legs:
    """A database that stays open, and the model that its questions are embedded with."""

    connection: apsw.Connection
    tool: Tool
    embedder: Embedder

    def ranked(self, words: str) -> Ranked:
        """What the question finds in each mode, best first."""
        pool = self.pool(words)
        return {mode: pool.ranked(mode).chunks for mode in MODES}

    def pool(self, words: str) -> Pool:
        """The candidates of both retrievers."""
        query = analyse_question(words)
        vector = embedded(self.embedder, words)
        retriever = Retriever(self.connection, TOP, "hybrid", Stopwatch())
        found = retriever.candidates(self.tool, query, vector)
        return pooled([found], query)


@contextmanager
def legs_of(database: Path, embedder: Embedder) -> Iterator[Legs]:
    """The benchmark's tool in a database."""
    with open_database(database, "read") as connection:
        yield Legs(connection, registry.get_tool(connection, TOOL), embedder)


@functools.cache
def embedded(embedder: Embedder, words: str) -> object:
    """The question's vector: the same words are asked of several databases."""
    return embedder.embed_query(words)
