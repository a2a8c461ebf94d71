"""Ranks the candidates of all tools in one pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from mdvec.embedding import ModelError
from mdvec.index import StoredChunk, Tables
from mdvec.search.candidates import ToolCandidates
from mdvec.search.core.confidence import FIRST, Evidence, evidence
from mdvec.search.core.fusion import Scored, SearchMode, fuse
from mdvec.search.core.lexical import Candidate, CorpusStatistics, is_written_apart
from mdvec.text import WORD_MARK, QuestionTerms, is_katakana, is_letters
from mdvec.tools import Tool

_MIN_SCORE = 0.005
"""Passages below this score are unrelated to the question and are left out."""


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A candidate with its score, and its rank by each retriever's score, from 1.

    ``likelihood`` estimates the probability that it answers.
    """

    tool: Tool
    tables: Tables
    chunk: StoredChunk
    scored: Scored
    likelihood: float
    vector_rank: int
    lexical_rank: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates, best first, and the evidence that one of them answers."""

    chunks: list[RankedChunk]
    evidence: Evidence

    @property
    def is_confident(self) -> bool:
        """Whether the first candidate is likely enough to answer."""
        return bool(self.chunks) and self.evidence.is_confident


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of all tools; ``owners`` has the tool and chunk of each."""

    query: QuestionTerms
    statistics: CorpusStatistics
    candidates: Sequence[Candidate]
    owners: Sequence[tuple[ToolCandidates, StoredChunk]]

    @property
    def absent(self) -> tuple[str, ...]:
        """Names that the question asks about and no passage has, as spelled in the question."""
        frequencies = self.statistics.frequencies
        named_otherwise = {
            name
            for name, parts in self.query.numbered.items()
            if is_written_apart(name, parts, frequencies)
        }.union(*(parts for date, parts in self.query.dates.items() if frequencies.get(date)))
        return tuple(
            spelling
            for term, spelling in self.query.names.items()
            if frequencies.get(term) == 0 and term not in named_otherwise
        )

    def ranked(self, mode: SearchMode) -> Ranking:
        """The candidates, best first."""
        scored = fuse(self.query, self.statistics, self.candidates, mode)
        order = sorted(range(len(scored)), key=lambda position: -scored[position].score)
        first_evidence = evidence(
            [
                (self.candidates[position], scored[position].own_coverage)
                for position in order[:FIRST]
            ],
            self.statistics.chunks,
            self.absent,
        )
        if mode == "vector" or not self.statistics.frequencies:
            first_evidence = replace(first_evidence, coverage=None)
        best = scored[order[0]].score if order else 0.0
        vector_ranks = _ranks(
            [-chunk.cosine if chunk.cosine is not None else 2 for _, chunk in self.owners]
        )
        lexical_ranks = _ranks([-fused.lexical for fused in scored])
        ranked = [
            RankedChunk(
                of.tool,
                of.tables,
                chunk,
                fused,
                first_evidence.likelihood(best - fused.score),
                vector_rank,
                lexical_rank,
            )
            for (of, chunk), fused, vector_rank, lexical_rank in zip(
                self.owners, scored, vector_ranks, lexical_ranks, strict=True
            )
            if fused.score >= _MIN_SCORE
        ]
        return Ranking(sorted(ranked, key=lambda hit: -hit.scored.score), first_evidence)


def pooled(tool_candidates: Sequence[ToolCandidates], query: QuestionTerms) -> Pool:
    """The pool of the candidates of all tools, with common idf statistics."""
    frequencies: Counter[str] = Counter()
    for of_tool in tool_candidates:
        frequencies.update(of_tool.statistics.frequencies)
    if all(not of_tool.query.words for of_tool in tool_candidates):
        query = query.without_words()
    query = replace(query, misspelt=_misspelt(tool_candidates, query))
    return Pool(
        query,
        CorpusStatistics(
            sum(of_tool.statistics.chunks for of_tool in tool_candidates), frequencies
        ),
        [candidate for of_tool in tool_candidates for candidate in of_tool.candidates()],
        [(of_tool, chunk) for of_tool in tool_candidates for chunk in of_tool.chunks],
    )


def _misspelt(tool_candidates: Sequence[ToolCandidates], query: QuestionTerms) -> frozenset[str]:
    """The words without a dictionary's entry that no tool has, but perhaps one in another spelling.

    One in letters without such a spelling may also be a word of another language.
    """
    searched_by = {
        word: {term for of_tool in tool_candidates for term in of_tool.variants.get(word, ())}
        for word in query.unknown & query.words.keys()
    }
    return frozenset(
        word
        for word, terms in searched_by.items()
        if word not in terms and (terms or is_katakana(word.removeprefix(WORD_MARK)))
        if not _is_loanword(word, terms)
    )


def _is_loanword(word: str, terms: Collection[str]) -> bool:
    """Whether an English word was found in katakana."""
    return is_letters(word) and any(term[0] == WORD_MARK for term in terms)


def _ranks(keys: Sequence[float]) -> list[int]:
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks = [0] * len(keys)
    for rank, position in enumerate(order, 1):
        ranks[position] = rank
    return ranks


MAX_RERANKED = 20
MAX_SECONDS = 5.0
"""How long scoring may take; loading the model is not counted."""


class Reranks(Protocol):
    """Scores passages; this is ``embedding.reranker.Reranker``, except in tests and studies."""

    name: str

    def scores(self, question: str, passages: Sequence[str], seconds: float) -> list[float]:
        """How well each passage answers: more is better."""


def reranked(
    ranked: Sequence[RankedChunk], query: str, reranker: Reranks
) -> tuple[list[RankedChunk], list[str]]:
    """The candidates with the first ones in a new order, and a note on what was done.

    A reranker says which passage answers best, not how likely it is to answer: the likelihoods
    stay with the places.
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
