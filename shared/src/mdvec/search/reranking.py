"""Puts the first candidates in the order that a reranker gives them, if the user has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from mdvec.embedding.embedder import ModelError
from mdvec.search.ranking import RankedChunk

MAX_RERANKED = 30
MAX_SECONDS = 5.0
"""How long scoring may take; loading the model is not counted."""


class Reranks(Protocol):
    """Scores passages; this is ``embedding.reranker.Reranker``, except in tests and studies."""

    def scores(self, question: str, passages: Sequence[str], seconds: float) -> list[float]:
        """How well each passage answers: more is better."""


def reranked(
    ranked: Sequence[RankedChunk], query: str, reranker: Reranks
) -> tuple[list[RankedChunk], str | None]:
    """The candidates with the first ones in a new order, and a note if that was not possible.

    A reranker says which passage answers best, not how likely it is to answer: the likelihoods
    stay with the places.
    """
    first, rest = list(ranked[:MAX_RERANKED]), list(ranked[MAX_RERANKED:])
    if len(first) < 2:
        return [*first, *rest], None
    try:
        scores = reranker.scores(query, [_text(one) for one in first], MAX_SECONDS)
    except ModelError as error:
        return [*first, *rest], f"not reranked: {error}"
    order = sorted(range(len(first)), key=lambda place: -scores[place])
    moved = [
        replace(first[place], likelihood=of_place.likelihood)
        for place, of_place in zip(order, first, strict=True)
    ]
    return [*moved, *rest], None


def _text(one: RankedChunk) -> str:
    chunk = one.chunk
    head = chunk.heading or chunk.title
    return f"{head}\n{chunk.content}" if head else chunk.content
