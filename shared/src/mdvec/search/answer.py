"""Answers a question with ranked hits from one, several or all tools."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import apsw

from mdvec.database import KeptReader, open_database, snapshot
from mdvec.errors import MdvecError
from mdvec.index import NOT_DERIVED, ChromaServer, StoredChunk, stored_properties
from mdvec.log import PRIVATE, milliseconds, record
from mdvec.search.candidates import find_candidates
from mdvec.search.core.filters import (
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    NO_FILTERS,
    Filters,
    Returning,
    Sort,
)
from mdvec.search.core.fusion import NO_EVIDENCE, Evidence, SearchMode
from mdvec.search.filtering import Narrowed, explain_empty, narrow, without_document
from mdvec.search.hits import Hit, hits, of_documents
from mdvec.search.question_vectors import EmbedderOf, question_vectors, without_vectors
from mdvec.search.ranking import (
    MIN_SCORE,
    Pool,
    RankedChunk,
    Ranking,
    Reranks,
    each_text_once,
    pooled,
    ranked_together,
    reranked,
)
from mdvec.text import analyse_question, is_blank, on_one_line, quoted, shown_path, some_of
from mdvec.timing import Stopwatch
from mdvec.tools import KINDS, Tool, never_read, offered_name, registry, still_to_come

if TYPE_CHECKING:
    from mdvec.embedding import Vectors


_MAX_NAMED = 3


def why_fewer(count: int, k: int, searched: int) -> list[str]:
    """A note if there are fewer hits than requested although there are more passages."""
    if count >= min(k, searched):
        return []
    which = "no other passage" if count else "no passage"
    return [f"{which} stands out for this question"]


def not_mentioned(pool: Pool) -> list[str]:
    """Notes on words of the question that no text contains, and on what was searched instead."""
    in_front_matter = pool.only_in_front_matter
    absent = [*dict.fromkeys([*pool.absent, *pool.absent_nouns])]
    absent = [word for word in absent if word not in in_front_matter]
    notes = [f"nothing here mentions {_word_list(absent)}"] if absent else []
    notes += [
        f"words like {_word_list([word])} were searched for instead: {', '.join(others)}"
        for word, others in pool.substitutes.items()
    ]
    if inside := pool.only_inside:
        notes.append(f"{_word_list(inside)}: only inside longer words")
    for word, paths in in_front_matter.items():
        names = some_of([shown_path(path) for path in paths], _MAX_NAMED)
        notes.append(f"{_word_list([word])}: only in the front matter of {names}")
    return notes


def _word_list(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


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


_SHARE_OF_BEST = 0.5
"""Passages with at least this share of the best score are sorted by date."""


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


_MAX_ATTEMPTS = 3

_UNSURE = "nothing here seems to answer this; the nearest passages follow"

logger = logging.getLogger("mdvec")


class SearchRefused(MdvecError):
    """The search is not possible: an unusable question, or an unusable tool."""


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document of a tool, by its stored path."""

    tool: str
    file_path: str


@dataclass(frozen=True, slots=True)
class Question:
    """A query to some tools, or to all active tools with texts (``tools`` is None).

    ``k`` is the maximum number of hits, ``max_chars`` the maximum total length of their text. Only
    documents that pass ``filters`` are searched. ``sort`` orders the hits; ``newest`` sorts those
    that answer about as well as the best by date. ``queries`` are further queries for the same
    thing; their results are ranked together. ``related_to`` is a document whose own passages are
    not searched, as they would be found first; ``is_asked`` is False if ``query`` is only its text.
    """

    query: str
    tools: tuple[str, ...] | None = None
    k: int = 5
    mode: SearchMode = "hybrid"
    returning: Returning = "chunk"
    max_chars: int = 12_000
    filters: Filters = NO_FILTERS
    sort: Sort = "relevance"
    queries: tuple[str, ...] = ()
    related_to: SourceDocument | None = None
    is_asked: bool = True

    @property
    def all_queries(self) -> list[str]:
        """Every query once."""
        return list(dict.fromkeys([self.query, *self.queries]))


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits in the requested order, out of ``total_chunks``, passages and records, in ``tools``.

    ``confident`` says whether the best hit probably answers, judging by ``evidence``.
    ``truncated`` says whether the budget cut or omitted a hit. ``notes`` are sentences on what
    could not be searched as requested, and on why there are fewer hits than requested.
    ``seconds`` is the time of each stage.
    """

    tools: tuple[str, ...]
    query: str
    results: tuple[Hit, ...]
    total_chunks: int
    confident: bool = False
    is_asked: bool = True
    evidence: Evidence = NO_EVIDENCE
    truncated: bool = False
    notes: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def first_sentence(self) -> str | None:
        """The sentence before the hits, if there is a question and the answer is not confident."""
        return _UNSURE if self.is_asked and self.results and not self.confident else None


def search(
    database: Path,
    question: Question,
    embedder_of: EmbedderOf,
    engine: ChromaServer | None = None,
    reranker: Reranks | None = None,
    records: Records | None = None,
    kept: KeptReader | None = None,
) -> Answer:
    """Find the passages that answer a question best.

    A tool without documents gives no hits. If a tool's model is not available but another's is, if
    its endpoint fails, or if its vectors are on a server (``engine``) that does not answer, the
    tool is searched by words alone, or left out if the mode is ``vector``, with a note.
    ``reranker`` reorders the first candidates, or leaves them with a note. ``records`` reads tools
    of records; without it their chunks are returned. ``kept`` lends connections to the database.

    Raises:
        SearchRefused: the question is blank or too long, a tool that it names is disabled or has
            no texts, or a tool is being rebuilt.
        ToolNotFound: there is no tool of that name.
        ModelError: no tool's model is available, or each tool was imported with another one.
    """
    _check(question)
    stopwatch = Stopwatch()
    opened = open_database(database, "read") if kept is None else kept.connection()
    with opened as connection:
        for _ in range(_MAX_ATTEMPTS):
            requested = requested_tools(connection, question.tools)
            vectors = []
            notes = list[str]()
            for query in question.all_queries:
                of_query, why_without = question_vectors(
                    connection, requested, query, question.mode, embedder_of, stopwatch
                )
                vectors.append(of_query)
                notes += [note for note in why_without if note not in notes]
            with snapshot(connection):
                now = {tool.id: tool for tool in requested_tools(connection, question.tools)}
                if all(_is_same(tool, now.get(tool.id)) for tool in requested):
                    current = [now[tool.id] for tool in requested]
                    answer = _answer(
                        connection,
                        current,
                        question,
                        vectors,
                        notes,
                        stopwatch,
                        engine,
                        reranker,
                        records,
                    )
                    break
        else:
            raise SearchRefused("a tool is being rebuilt; ask again in a moment")
    _log(question, answer, stopwatch)
    return answer


def no_texts_message(name: str) -> str:
    """Why a dataset can be neither searched nor read, and what to do instead."""
    return (
        f"{name!r} contains tables, not texts; query it in SQL with the server's tools "
        f"{offered_name('query')} and {name}"
    )


def _check(question: Question) -> None:
    if len(question.queries) > MAX_QUERIES:
        raise SearchRefused(
            f"{len(question.queries)} further queries are too many; give at most {MAX_QUERIES}"
        )
    for query in question.all_queries:
        if is_blank(query):
            raise SearchRefused("the query is blank; ask something")
        if len(query) > MAX_QUERY_CHARS:
            raise SearchRefused(
                f"the query has {len(query):,} characters; shorten it to {MAX_QUERY_CHARS:,}"
            )


def requested_tools(connection: apsw.Connection, names: Sequence[str] | None) -> list[Tool]:
    """The named tools, or all active ones with texts.

    Raises:
        SearchRefused: one is disabled or has no texts.
    """
    if names is None:
        active = registry.list_tools(connection, active_only=True)
        return [tool for tool in active if KINDS[tool.kind].has_texts]
    requested = [registry.get_tool(connection, name) for name in dict.fromkeys(names)]
    for tool in requested:
        if not tool.is_active:
            raise SearchRefused(
                f"the tool {tool.name!r} is disabled; "
                f"enable it with: mdvec tool enable -n {tool.name}"
            )
        if not KINDS[tool.kind].has_texts:
            raise SearchRefused(no_texts_message(tool.name))
    return requested


def _is_same(tool: Tool, now: Tool | None) -> bool:
    return now is not None and now.fingerprint == tool.fingerprint


def _answer(
    connection: apsw.Connection,
    requested: Sequence[Tool],
    question: Question,
    vectors: Sequence[dict[str, Vectors]],
    notes: list[str],
    stopwatch: Stopwatch,
    engine: ChromaServer | None,
    reranker: Reranks | None,
    records: Records | None,
) -> Answer:
    with stopwatch.stage("filter"):
        narrowed = [_narrowed(connection, tool, question) for tool in requested]
    rankings: dict[str, Ranking] = {}
    about_words: list[str] = []
    for text, of_query in zip(question.all_queries, vectors, strict=True):
        query = analyse_question(text)
        pools = [
            find_candidates(
                connection, tool, query, of_query.get(str(tool.fingerprint)), question.k,
                question.mode, stopwatch, left.chunks, engine,
            )
            for tool, left in zip(requested, narrowed, strict=True)
            if tool.model is not None
        ]  # fmt: skip
        with stopwatch.stage("fusion"):
            has_vectors = bool(of_query) or question.mode == "vector"
            pool = pooled(pools, query)
            # A passage with an exact text matches, however unlike the rest of the question.
            least = 0.0 if question.filters.exact else MIN_SCORE
            rankings[text] = pool.ranked(question.mode if has_vectors else "lexical", least)
        about_words += [note for note in not_mentioned(pool) if note not in about_words]
    ranking = ranked_together(rankings, question.k)
    notes += [note for left in narrowed for note in left.notes]
    notes += without_vectors(pools, question.mode)
    notes += [note for note in (still_to_come(connection, tool) for tool in requested) if note]
    of_records = [tool for tool in requested if KINDS[tool.kind].is_made_of_records]
    total = sum(
        records.count(connection, pool.tool)
        if records is not None and pool.tool in of_records
        else pool.statistics.chunks
        for pool in pools
    )
    searched = sum(pool.searched for pool in pools)
    of_notes = [tool for tool in requested if tool not in of_records]
    if total and not searched and of_notes:
        notes.append(explain_empty(connection, of_notes, question.filters))
    ranked = ranking.chunks
    if records is not None:
        ranked = with_records(connection, ranked, question.query, question.k, records)
    if question.related_to is None:
        notes += about_words
        is_sure = ranking.is_confident and not about_words
        notes += [] if is_sure else _never_read(connection, of_notes)
    notes += why_fewer(len(ranked), question.k, searched)
    if reranker is not None:
        with stopwatch.stage("reranking"):
            ranked, rerank_notes = reranked(ranked, question.query, reranker)
        notes += rerank_notes
    if question.sort == "newest":
        ranked = newest_first(connection, ranked, question.k)
    if question.returning == "chunk" and not of_records:
        ranked = each_text_once(ranked)
    with stopwatch.stage("passages"):
        shown, truncated = hits(
            connection, ranked, question.returning, question.k, question.max_chars
        )
    return Answer(
        tools=tuple(tool.name for tool in requested),
        query=question.query,
        results=tuple(shown),
        total_chunks=total,
        confident=ranking.is_confident,
        is_asked=question.is_asked,
        evidence=ranking.evidence,
        truncated=truncated,
        notes=tuple(notes),
        seconds={name: round(spent, 6) for name, spent in stopwatch.seconds.items()},
    )


def _never_read(connection: apsw.Connection, tools: Sequence[Tool]) -> list[str]:
    """Notes on files that could not be read, which may have what was not found."""
    return [note for tool in tools if (note := never_read(connection, tool))]


def _narrowed(connection: apsw.Connection, tool: Tool, question: Question) -> Narrowed:
    """What the filters leave of a tool, without the document that the question is about."""
    left, source = narrow(connection, tool, question.filters), question.related_to
    if source is None or tool.name != source.tool:
        return left
    return without_document(connection, tool, left, source.file_path)


def _log(question: Question, answer: Answer, stopwatch: Stopwatch) -> None:
    logger.debug("[search] query=%s, top_k=%d", quoted(question.query), question.k, extra=PRIVATE)
    logger.debug("[search] tools=%s: %d hits", ",".join(answer.tools), len(answer.results))
    for number, hit in enumerate(answer.results, 1):
        logger.debug(
            "[search]   [%d] score=%.2f file=%s:%d heading=%s",
            number, hit.score, on_one_line(hit.file_path), hit.start_line, quoted(hit.heading),
            extra=PRIVATE,
        )  # fmt: skip
    stopwatch.log("search")
    record(
        "search",
        query=question.query,
        tools=answer.tools,
        k=question.k,
        hits=len(answer.results),
        ms=milliseconds(stopwatch.total),
    )
