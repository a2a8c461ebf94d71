"""Answers a question, and logs it in one line."""

from __future__ import annotations

import time
from pathlib import Path

from mdvec.index.chroma import ChromaServer
from mdvec.log.activity import milliseconds, record
from mdvec.search.question_vectors import EmbedderOf
from mdvec.search.reranking import Reranks
from mdvec.search.search import Answer, Question, search


def answer_question(
    database: Path,
    question: Question,
    embedder_of: EmbedderOf,
    engine: ChromaServer | None = None,
    reranker: Reranks | None = None,
) -> Answer:
    """Find the passages that answer a question best, as ``search`` does."""
    began = time.perf_counter()
    answer = search(database, question, embedder_of, engine, reranker)
    record(
        "search",
        query=question.query,
        tools=answer.tools,
        k=question.k,
        hits=len(answer.results),
        ms=milliseconds(time.perf_counter() - began),
    )
    return answer
