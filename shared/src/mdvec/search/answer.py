"""Answers a question with ranked hits from one, several or all tools."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mdvec import index
from mdvec.database import KeptReader, open_database, snapshot
from mdvec.errors import MdvecError
from mdvec.index import ChromaServer, documents
from mdvec.log import PRIVATE, milliseconds, record
from mdvec.search.candidates import Retriever, ToolCandidates
from mdvec.search.core.filters import (
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    MAX_TEXT_CHARS,
    NO_FILTERS,
    Filters,
    Returning,
    Sort,
)
from mdvec.search.core.fusion import NO_EVIDENCE, Evidence, SearchMode
from mdvec.search.core.typed import TypedQuery
from mdvec.search.filtering import (
    Narrowed,
    about_excluded,
    explain_empty,
    left_by_exact,
    narrow,
    only_subjects,
    searched_tools,
    without_document,
)
from mdvec.search.hits import Hit, hits
from mdvec.search.notes import beyond_hits, not_mentioned, unsure, why_fewer, without_vectors
from mdvec.search.ordering import Records, each_text_once, newest_first, reranked, with_records
from mdvec.search.question_vectors import EmbedderOf, question_vectors
from mdvec.search.ranking import MIN_SCORE, RankedChunk, Ranking, pooled, ranked_together
from mdvec.text import (
    analyse_question,
    folded,
    is_blank,
    matter_of,
    on_one_line,
    quoted,
    readable_chunk,
)
from mdvec.timing import Stopwatch
from mdvec.tools import KINDS, Tool, never_read, not_imported, offered_name, registry, still_to_come

if TYPE_CHECKING:
    from mdvec.embedding import Reranker, Vectors

_MAX_ATTEMPTS = 3
_LIKE_CHARS = 400
"""How many characters of a document's beginning are used as the query for similar documents."""
_OF_SIGNS = "the query is signs alone, so only passages with these as written were looked for"

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
    documents that pass ``filters`` are searched. ``sort`` orders the hits; ``newest`` sorts by date
    the hits that answer about as well as the best. ``queries`` are further queries for the same
    thing; all results are ranked together. ``related_to`` names a document by its path, name or
    alias: its own passages are not searched, as they would be found first, and its text is the
    query if ``query`` is blank.
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
    related_to: str | None = None

    @property
    def all_queries(self) -> list[str]:
        """Every query once."""
        return list(dict.fromkeys([self.query, *self.queries]))

    def with_typed(self, typed: TypedQuery) -> Question:
        """The question with the filters typed in its query; a query of filters alone stays text.

        Raises:
            InvalidFilter: a filter cannot be parsed.
        """
        filters = self.filters.also(typed.path, typed.tags, typed.exact, typed.exclude)
        return replace(self, query=typed.words or self.query, filters=filters)

    @property
    def as_written(self) -> Question | None:
        """A question of symbols alone (🍣), which no index has, as an exact text; None if other."""
        signs = " ".join(self.query.split())
        is_other = any(map(str.isalnum, signs)) or is_blank(folded(signs))
        if self.queries or is_other or len(signs) > MAX_TEXT_CHARS:
            return None
        exact = (*self.filters.exact, signs)
        return replace(self, filters=replace(self.filters, exact=exact))

    def with_next_query(self) -> Question:
        """The question with the first of ``queries`` as its query."""
        return replace(self, query=self.queries[0], queries=self.queries[1:])


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits in the requested order, out of ``total_chunks`` passages and records in ``tools``.

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
        is_unsure = self.is_asked and self.results and not self.confident
        return unsure(self.evidence) if is_unsure else None


def search(
    database: Path,
    question: Question,
    embedder_of: EmbedderOf,
    engine: ChromaServer | None = None,
    reranker: Reranker | None = None,
    records: Records | None = None,
    kept: KeptReader | None = None,
    has_begun: Callable[[str], bool] = lambda _: False,
) -> Answer:
    """Find the passages that answer a question best.

    A tool without documents gives no hits. A tool is searched by words alone (or left out in mode
    ``vector``), with a note, if its model is not available but another tool's is, if its endpoint
    fails, or if its vectors are on a server (``engine``) that does not answer. ``reranker``
    reorders the first candidates; if it cannot, a note says so. ``records`` reads tools of records;
    without it their chunks are returned. ``kept`` lends connections to the database. ``has_begun``
    tells, for a tool's name, whether an import runs, even if it has no lock yet.

    Raises:
        SearchRefused: the question is blank or too long, the ``related_to`` document does not
            exist, a named tool is disabled or has no texts, or a tool is being rebuilt.
        ToolNotFound: a named tool does not exist.
        ModelError: no tool's model is available, or each tool was imported with a different model.
    """
    source, is_asked = None, not is_blank(question.query)
    if question.related_to is not None:
        source, like = query_like(database, question.tools, question.related_to)
        question = question if is_asked else replace(question, query=like)
    _check(question)
    about_query = []
    if source is not None and not is_asked and is_blank(question.query.partition("\n")[2]):
        about_query = [f"{quoted(source.file_path)} has no text, so only its title was looked for"]
    written = question.as_written if source is None else None
    stopwatch = Stopwatch()
    opened = open_database(database, "read") if kept is None else kept.connection()
    with opened as connection:
        searching = _Search(
            connection, question, source, is_asked, stopwatch, engine, reranker, records, has_begun
        )
        answer = None
        if written is not None:
            answer = replace(searching, question=written, is_asked=False).answer(embedder_of)
        if answer is not None and answer.results:
            about_query = [_OF_SIGNS]
        else:
            answer = searching.answer(embedder_of)
        answer = replace(answer, notes=(*about_query, *answer.notes))
    _log(question, answer, stopwatch)
    return answer


def _check(question: Question) -> None:
    if len(question.queries) > MAX_QUERIES:
        raise SearchRefused(
            f"{len(question.queries)} further queries are too many; give at most {MAX_QUERIES}"
        )
    # A client's broken text arrives as U+FFFD alone.
    blank = [is_blank(query.replace("\ufffd", "")) for query in question.all_queries]
    if blank[0]:
        raise SearchRefused("the query is blank; ask something")
    if any(blank):
        raise SearchRefused("one of the further queries (queries, --also) is blank; leave it out")
    for query in question.all_queries:
        if len(query) > MAX_QUERY_CHARS:
            raise SearchRefused(
                f"the query has {len(query):,} characters; shorten it to {MAX_QUERY_CHARS:,}"
            )


def requested_tools(connection: apsw.Connection, names: Sequence[str] | None) -> list[Tool]:
    """The named tools, or all active tools with texts.

    Raises:
        SearchRefused: a named tool is disabled or has no texts.
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
            raise SearchRefused(
                f"{tool.name!r} contains tables, not texts; query it in SQL with the server's "
                f"tools {offered_name('query')} and {tool.name}"
            )
    return requested


def query_like(
    database: Path, tools: Sequence[str] | None, file_path: str
) -> tuple[SourceDocument, str]:
    """A document by its path, name or alias, and a query for similar documents.

    Raises:
        SearchRefused: no tool has such a document.
    """
    with open_database(database, "read") as connection, snapshot(connection):
        requested = requested_tools(connection, tools)
        for tool in requested:
            if tool.model is None or KINDS[tool.kind].is_made_of_records:
                continue
            named = index.documents_called(tool.tables_in(connection), file_path)
            path = documents.path_meant(tool.tables_in(connection), named)
            stored = documents.stored_text(tool.tables_in(connection), path or file_path)
            if stored is not None:
                body = stored.content[matter_of(stored.content, stored.file_path).body :]
                text = readable_chunk(stored.file_path, body)[:_LIKE_CHARS]
                return SourceDocument(tool.name, stored.file_path), f"{stored.title}\n{text}"
        waiting = not_imported(connection, requested, file_path)
    missing = f"no document {quoted(file_path)} here; hits and listings name them"
    raise SearchRefused(waiting or missing)


@dataclass(frozen=True, slots=True)
class _Found:
    """The results of one query: candidates of each tool with texts, their ranking, and notes."""

    of_tools: list[ToolCandidates]
    ranking: Ranking
    about_words: list[str]


@dataclass(frozen=True, slots=True)
class _Search:
    """A question about an open database, and the services that help to answer it.

    ``source`` is the document that results should be related to, if any; ``is_asked`` is False if
    the query is only the text of that document.
    """

    connection: apsw.Connection
    question: Question
    source: SourceDocument | None
    is_asked: bool
    stopwatch: Stopwatch
    engine: ChromaServer | None
    reranker: Reranker | None
    records: Records | None
    has_begun: Callable[[str], bool]

    def answer(self, embedder_of: EmbedderOf) -> Answer:
        """The answer from one consistent state of the tools, with vectors of the models in it.

        Raises:
            SearchRefused: a tool was rebuilt during each attempt.
        """
        for _ in range(_MAX_ATTEMPTS):
            tools = requested_tools(self.connection, self.question.tools)
            vectors, notes = self._vectors(tools, embedder_of)
            with snapshot(self.connection):
                requested = requested_tools(self.connection, self.question.tools)
                now = {(tool.id, tool.fingerprint): tool for tool in requested}
                then = [(tool.id, tool.fingerprint) for tool in tools]
                if now.keys() >= set(then):
                    return self._answered([now[tool] for tool in then], vectors, notes)
        raise SearchRefused("a tool is being rebuilt; ask again in a moment")

    def _vectors(
        self, tools: Sequence[Tool], embedder_of: EmbedderOf
    ) -> tuple[dict[str, dict[str, Vectors]], list[str]]:
        """The vectors of each query by fingerprint, and notes on the tools that get none."""
        embedded = {
            query: question_vectors(
                self.connection, tools, query, self.question.mode, embedder_of, self.stopwatch
            )
            for query in self.question.all_queries
        }
        notes = dict.fromkeys(note for _, of_query in embedded.values() for note in of_query)
        return {query: vectors for query, (vectors, _) in embedded.items()}, [*notes]

    def _answered(
        self,
        tools: Sequence[Tool],
        vectors: Mapping[str, Mapping[str, Vectors]],
        notes: Sequence[str],
    ) -> Answer:
        """The answer of the tools to the queries in ``vectors``; its notes begin with ``notes``."""
        question = self.question
        with self.stopwatch.stage("filter"):
            narrowed = [self._narrowed(tool) for tool in tools]
        results = {
            query: self._find(query, of_query, tools, narrowed)
            for query, of_query in vectors.items()
        }
        ranking = ranked_together(
            {query: result.ranking for query, result in results.items()}, question.k
        )
        of_tools = results[question.query].of_tools  # the same passages for every query
        within = searched_tools(tools, narrowed)
        total = sum(self._count(of_tool) for of_tool in of_tools if of_tool.tool in within)
        searched = sum(of_tool.searched for of_tool in of_tools)
        ranked = self._with_records(ranking.chunks)
        ordered, about_order = self._ordered(ranked, tools)
        with self.stopwatch.stage("passages"):
            shown, omitted = hits(
                self.connection, ordered, question.returning, question.k, question.max_chars
            )
        return Answer(
            tools=tuple(tool.name for tool in within),
            query=question.query,
            results=tuple(shown),
            total_chunks=total,
            confident=ranking.is_confident,
            is_asked=self.is_asked,
            evidence=ranking.evidence,
            truncated=omitted > 0 or any(hit.truncated for hit in shown),
            notes=(
                *notes,
                *(note for left in narrowed for note in left.notes),
                *about_excluded(
                    "passage",
                    ((tool, left.excluded) for tool, left in zip(tools, narrowed, strict=True)),
                ),
                *beyond_hits(
                    shown,
                    omitted,
                    *left_by_exact(self.connection, question.filters, tools, narrowed),
                ),
                *without_vectors(
                    (of_tool for result in results.values() for of_tool in result.of_tools),
                    question.mode,
                ),
                *self._about_tools(tools, none_passes=total > 0 and not searched),
                *self._about_words(tools, results.values(), is_confident=ranking.is_confident),
                *why_fewer(len(ranked), question.k, searched),
                *about_order,
            ),
            seconds={name: round(spent, 6) for name, spent in self.stopwatch.seconds.items()},
        )

    def _narrowed(self, tool: Tool) -> Narrowed:
        """What the filters leave of a tool, without the document that the question is about."""
        left = narrow(self.connection, tool, self.question.filters)
        if self.source is None or tool.name != self.source.tool:
            return left
        return without_document(self.connection, tool, left, self.source.file_path)

    def _find(
        self,
        text: str,
        vectors: Mapping[str, Vectors],
        tools: Sequence[Tool],
        narrowed: Sequence[Narrowed],
    ) -> _Found:
        """What a query finds in the passages that the filters leave."""
        query, mode = analyse_question(text), self.question.mode
        retriever = Retriever(self.connection, self.question.k, mode, self.stopwatch, self.engine)
        of_tools = [
            retriever.candidates(tool, query, vectors.get(str(tool.fingerprint)), left.chunks)
            for tool, left in zip(tools, narrowed, strict=True)
            if tool.model is not None
        ]
        with self.stopwatch.stage("fusion"):
            pool = pooled(of_tools, query)
            # Passages with the exact text are hits, however low their score for the question.
            least = 0.0 if self.question.filters.exact else MIN_SCORE
            ranking = pool.ranked(mode if vectors or mode == "vector" else "lexical", least)
        return _Found(of_tools, ranking, not_mentioned(pool))

    def _count(self, of_tool: ToolCandidates) -> int:
        """The number of passages of a tool, or of its records."""
        if self.records is not None and _is_made_of_records(of_tool.tool):
            return self.records.count(self.connection, of_tool.tool)
        return of_tool.statistics.chunks

    def _with_records(self, ranked: list[RankedChunk]) -> list[RankedChunk]:
        if self.records is None:
            return ranked
        question = self.question
        return with_records(self.connection, ranked, question.query, question.k, self.records)

    def _ordered(
        self, ranked: list[RankedChunk], tools: Sequence[Tool]
    ) -> tuple[list[RankedChunk], list[str]]:
        """The chunks in the order that the question asks for, and notes on the reranking."""
        question, notes = self.question, list[str]()
        if self.reranker is not None:
            with self.stopwatch.stage("reranking"):
                ranked, notes = reranked(ranked, question.query, self.reranker)
        if question.sort == "newest":
            ranked = newest_first(self.connection, ranked, question.k)
        if question.returning == "chunk" and not any(map(_is_made_of_records, tools)):
            ranked = each_text_once(ranked)
        return ranked, notes

    def _about_tools(self, tools: Sequence[Tool], *, none_passes: bool) -> list[str]:
        """Notes on data that are still to be imported, and on why nothing passes the filters."""
        lacking = (
            still_to_come(self.connection, tool, has_begun=self.has_begun(tool.name))
            for tool in tools
        )
        notes = [note for note in lacking if note is not None]
        of_notes = [tool for tool in tools if not _is_made_of_records(tool)]
        if none_passes and of_notes:
            notes.append(explain_empty(self.connection, of_notes, self.question.filters))
        return notes

    def _about_words(
        self, tools: Sequence[Tool], found: Iterable[_Found], *, is_confident: bool
    ) -> list[str]:
        """Notes on words that no text has, and on files not read that may have the answer."""
        if self.question.related_to is not None:
            return []
        notes = [*dict.fromkeys(note for result in found for note in result.about_words)]
        if is_confident and not notes:
            return []
        if all(map(_is_made_of_records, tools)) and self.question.filters.is_empty:
            return [*notes, *map(only_subjects, tools)]
        of_notes = (tool for tool in tools if not _is_made_of_records(tool))
        unread = (never_read(self.connection, tool) for tool in of_notes)
        return [*notes, *(note for note in unread if note is not None)]


def _is_made_of_records(tool: Tool) -> bool:
    return KINDS[tool.kind].is_made_of_records


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
