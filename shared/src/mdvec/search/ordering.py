"""Post-processes a ranking: expands records, reranks, sorts by date, removes repeated texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import apsw

from mdvec.embedding import ModelError
from mdvec.index import NOT_DERIVED, StoredChunk, stored_properties
from mdvec.search.hits import of_documents
from mdvec.search.ranking import RankedChunk
from mdvec.text import composed
from mdvec.tools import KINDS, Tool

if TYPE_CHECKING:
    from mdvec.embedding import Reranker

MAX_RERANKED = 20
MAX_SECONDS = 5.0
"""How long reranking may take, in seconds; loading the model is not counted."""
_SHARE_OF_BEST = 0.5
"""Passages with at least this share of the best score are sorted by date."""


class Records(Protocol):
    """Reads the records of tools that consist of records."""

    def count(self, connection: apsw.Connection, tool: Tool) -> int:
        """How many records a search can find."""
        ...

    def of_chunk(
        self, connection: apsw.Connection, tool: Tool, chunk: StoredChunk, question: str, k: int
    ) -> Sequence[StoredChunk]:
        """At most ``k`` records of a chunk; those that the question names come first."""
        ...


def with_records(
    connection: apsw.Connection,
    ranked: Sequence[RankedChunk],
    question: str,
    k: int,
    records: Records,
) -> list[RankedChunk]:
    """The ``k`` best ranked chunks, with records in place of chunks that several records share."""
    chunks: list[RankedChunk] = []
    seen: set[tuple[int, int]] = set()
    for hit in ranked:
        if not KINDS[hit.tool.kind].is_made_of_records:
            chunks.append(hit)
            continue
        if len(seen) >= k:
            continue
        for row in records.of_chunk(connection, hit.tool, hit.chunk, question, k):
            if (hit.tool.id, row.id) not in seen and len(seen) < k:
                seen.add((hit.tool.id, row.id))
                chunks.append(replace(hit, chunk=row))
    return chunks


def newest_first(
    connection: apsw.Connection, ranked: Sequence[RankedChunk], k: int
) -> list[RankedChunk]:
    """The passages that answer about as well as the best, at least ``k``, newest first.

    Passages without a date come last.
    """
    if not ranked:
        return []
    least = _SHARE_OF_BEST * max(hit.scored.score for hit in ranked)
    good = sum(hit.scored.score >= least for hit in ranked)
    chosen = ranked[: max(good, k)]
    properties = of_documents(connection, chosen, stored_properties)
    return sorted(
        chosen, key=lambda hit: properties.get(hit.document, NOT_DERIVED).day or "", reverse=True
    )


def each_text_once(ranked: Sequence[RankedChunk]) -> list[RankedChunk]:
    """The ranked chunks without those that repeat the text of an earlier chunk of another document.

    Very short texts only count as the same under the same heading and title.
    """
    first_with: dict[tuple[object, ...], int] = {}
    once: list[RankedChunk] = []
    for hit in ranked:
        chunk, chunking = hit.chunk, hit.tool.chunking
        text = composed(chunk.content.strip())
        is_short = chunking is None or len(text) < chunking.min_chars
        about = (composed(chunk.title), composed(chunk.heading)) if is_short else ()
        position = first_with.setdefault((hit.tool.id, text, *about), len(once))
        if position < len(once) and once[position].chunk.document_id != chunk.document_id:
            once[position] = replace(once[position], also_in=(*once[position].also_in, hit))
        else:
            once.append(hit)
    return once


def reranked(
    ranked: Sequence[RankedChunk], query: str, reranker: Reranker
) -> tuple[list[RankedChunk], list[str]]:
    """The candidates with the first ones in a new order, and notes on the reranking.

    A reranker finds the best passage, but not how likely it is to answer, so each rank keeps its
    likelihood.
    """
    first, rest = list(ranked[:MAX_RERANKED]), list(ranked[MAX_RERANKED:])
    if len(first) < 2:
        return [*first, *rest], []
    try:
        scores = reranker.scores(query, [_text(hit) for hit in first], MAX_SECONDS)
    except ModelError as error:
        return [*first, *rest], [f"not reranked: {error}"]
    order = sorted(range(len(first)), key=lambda position: -scores[position])
    moved = [
        replace(first[position], likelihood=of_place.likelihood)
        for position, of_place in zip(order, first, strict=True)
    ]
    return [*moved, *rest], [f"the first {len(first)} were ordered by {reranker.name}"]


def _text(ranked: RankedChunk) -> str:
    chunk = ranked.chunk
    head = chunk.heading or chunk.title
    return f"{head}\n{chunk.content}" if head else chunk.content
