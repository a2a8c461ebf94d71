"""A question into ranked hits."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from mdvec.core.text.tokens import is_blank
from mdvec.errors import MdvecError
from mdvec.interfaces.database import documents, tools, vectors
from mdvec.interfaces.database.sqlite import open_database, snapshot
from mdvec.interfaces.database.tables import Tables
from mdvec.interfaces.database.tools import Tool
from mdvec.interfaces.database.vectors import Neighbour
from mdvec.interfaces.embedding.embedder import Embedder
from mdvec.timing import Stopwatch

if TYPE_CHECKING:
    from mdvec.interfaces.embedding.embedder import Vectors

MAX_QUERY_CHARS = 4_000
MAX_K = 50
_REBUILDS_TO_FOLLOW = 3

logger = logging.getLogger("mdvec")


class SearchRefused(MdvecError):
    """A question that cannot be answered as it is."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that answers a question.

    ``score`` is the cosine of question and chunk, 0 to 1, higher is better. Positions count
    characters of the stored document from 0, lines count from 1; ``content`` is exactly what
    stands there. ``heading`` is the path of headings above it.
    """

    file_path: str
    heading: str
    content: str
    score: float
    chunk_index: int
    start_position: int
    end_position: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one tool, best first, out of ``total_chunks``."""

    tool: str
    query: str
    results: tuple[Hit, ...]
    total_chunks: int


EmbedderOf = Callable[[str], AbstractContextManager[Embedder]]
"""Holds the model of that name for as long as one search needs it."""


def search(database: Path, name: str, query: str, k: int, embedder_of: EmbedderOf) -> Answer:
    """Find the ``k`` chunks of a tool that are nearest to a question.

    A tool without documents answers with no hits.

    Raises:
        SearchRefused: the question is blank or too long, or the tool is switched off.
        ToolNotFound: there is no such tool.
        ModelError: the tool's model is not here, or is not the one that it was imported with.
    """
    _check_query(query)
    stopwatch = Stopwatch()
    with open_database(database, "read") as connection:
        for _ in range(_REBUILDS_TO_FOLLOW):
            tool = _active_tool(connection, name)
            if tool.model is None:
                return Answer(name, query, (), 0)
            vector = _query_vector(tool, query, embedder_of, stopwatch)
            with snapshot(connection), stopwatch.stage("vector_search"):
                now = _active_tool(connection, name)
                if now.fingerprint == tool.fingerprint:
                    found = Tables(now.id, now.name, now.generation)
                    neighbours = vectors.nearest(connection, found, vector, k)
                    total = documents.count(connection, found).chunks
                    break
        else:
            raise SearchRefused(f"the tool {name!r} is being rebuilt; ask again in a moment")
    answer = Answer(name, query, tuple(_hit(neighbour) for neighbour in neighbours), total)
    _log(answer, stopwatch)
    return answer


def _check_query(query: str) -> None:
    if is_blank(query):
        raise SearchRefused("the query is blank; ask something")
    if len(query) > MAX_QUERY_CHARS:
        raise SearchRefused(
            f"the query has {len(query):,} characters; {MAX_QUERY_CHARS:,} is the most"
        )


def _active_tool(connection: apsw.Connection, name: str) -> Tool:
    tool = tools.get_tool(connection, name)
    if not tool.is_active:
        raise SearchRefused(
            f"the tool {name!r} is disabled; enable it with: mdvec tool enable -n {name}"
        )
    return tool


def _query_vector(tool: Tool, query: str, embedder_of: EmbedderOf, stopwatch: Stopwatch) -> Vectors:
    with ExitStack() as held:
        with stopwatch.stage("model_load"):
            embedder = held.enter_context(embedder_of(str(tool.model)))
        _check_fingerprint(tool, embedder)
        with stopwatch.stage("query_embedding"):
            return embedder.embed_query(query)


def _check_fingerprint(tool: Tool, embedder: Embedder) -> None:
    if embedder.fingerprint != tool.fingerprint:
        raise SearchRefused(
            f"the tool {tool.name!r} was imported with {tool.fingerprint}, but this installation "
            f"has {embedder.fingerprint}; build it again with: "
            f"mdvec import -n {tool.name} --mode replace"
        )


def _hit(neighbour: Neighbour) -> Hit:
    return Hit(
        file_path=neighbour.file_path,
        heading=neighbour.heading,
        content=neighbour.content,
        score=round(min(max(1.0 - neighbour.distance, 0.0), 1.0), 4),
        chunk_index=neighbour.chunk_index,
        start_position=neighbour.start_position,
        end_position=neighbour.end_position,
        start_line=neighbour.start_line,
        end_line=neighbour.end_line,
    )


def _log(answer: Answer, stopwatch: Stopwatch) -> None:
    logger.debug("[search] tool=%s: %d hits", answer.tool, len(answer.results))
    for number, hit in enumerate(answer.results, 1):
        logger.debug(
            "[search]   [%d] score=%.2f file=%s heading=%r",
            number, hit.score, hit.file_path, hit.heading,
        )  # fmt: skip
    stopwatch.log("search")
