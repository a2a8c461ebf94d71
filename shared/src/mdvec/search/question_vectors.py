"""Embeds a question with the models of the tools that are searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

import apsw

from mdvec.embedding import (
    Embedder,
    EndpointFailure,
    ModelError,
    QuestionNotAllowed,
    RemoteEmbedder,
)
from mdvec.search.core.fusion import SearchMode
from mdvec.timing import Stopwatch
from mdvec.tools import Tool, is_endpoint_allowed

if TYPE_CHECKING:
    from mdvec.embedding import Vectors

EmbedderOf = Callable[[str], AbstractContextManager[Embedder]]
"""A context with the embedder of the model of that name, for one search."""


class ModelDiffers(ModelError):
    """The installed model is not the one that the tool was imported with."""


def question_vectors(
    connection: apsw.Connection,
    requested: Sequence[Tool],
    query: str,
    mode: SearchMode,
    embedder_of: EmbedderOf,
    stopwatch: Stopwatch,
) -> tuple[dict[str, Vectors], list[str]]:
    """The question's vectors by fingerprint, and a note for each tool that gets none.

    Raises:
        ModelError: no tool's model can embed it, and searching by words alone is no alternative.
    """
    vectors: dict[str, Vectors] = {}
    refused: list[tuple[Tool, ModelError]] = []
    failed: dict[str, EndpointFailure] = {}
    for tool in requested:
        if mode == "lexical" or tool.model is None or tool.fingerprint in vectors:
            continue
        try:
            if tool.model in failed:
                raise failed[tool.model]
            vectors[str(tool.fingerprint)] = _vector(
                connection, tool, query, embedder_of, stopwatch
            )
        except ModelError as error:
            refused.append((tool, error))
            # The questions of another tool may be allowed to go to this endpoint.
            if isinstance(error, EndpointFailure) and not isinstance(error, QuestionNotAllowed):
                failed[tool.model] = error
    # An endpoint's failure may be temporary; a missing model has to be installed.
    words_answer = mode == "hybrid" and any(isinstance(e, EndpointFailure) for _, e in refused)
    if refused and not vectors and not words_answer:
        raise refused[-1][1]
    how = "left out" if mode == "vector" else "searched by words alone"
    return vectors, [
        f"{tool.name} was {how}: {error}"
        for tool, error in refused
        if tool.fingerprint not in vectors
    ]


def _vector(
    connection: apsw.Connection,
    tool: Tool,
    query: str,
    embedder_of: EmbedderOf,
    stopwatch: Stopwatch,
) -> Vectors:
    with ExitStack() as held:
        with stopwatch.stage("model_load"):
            embedder = held.enter_context(embedder_of(str(tool.model)))
        if embedder.fingerprint != tool.fingerprint:
            raise ModelDiffers(
                f"the tool {tool.name!r} was imported with {tool.fingerprint}, but this "
                f"installation has {embedder.fingerprint}; build it again with: {tool.rebuilt_by}"
            )
        _check_allowed(connection, tool, embedder)
        with stopwatch.stage("query_embedding"):
            return embedder.embed_query(query)


def _check_allowed(connection: apsw.Connection, tool: Tool, embedder: Embedder) -> None:
    """Check that a question may go where the embedder sends it.

    Raises:
        QuestionNotAllowed: the user has not allowed this for the tool.
    """
    if not isinstance(embedder, RemoteEmbedder) or embedder.endpoint.is_local:
        return
    if not is_endpoint_allowed(connection, tool.id, embedder.endpoint.origin):
        raise QuestionNotAllowed(
            f"you have not allowed its questions to go to {embedder.endpoint.host}; to be asked: "
            f"mdvec import -n {tool.name} --mode update"
        )
