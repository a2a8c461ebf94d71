"""Tries a model out: one question, its time, and the length of its vector."""

from __future__ import annotations

import time
from dataclasses import dataclass

from mdvec.embedding import catalog
from mdvec.embedding.options import DEFAULT_OPTIONS, BackendOptions
from mdvec.embedding.remote.embedder import RemoteEmbedder

QUESTION = "mdvec"
"""What is asked; nothing of the user's."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How a model answered; times are in seconds. ``host`` is None for a model that runs here."""

    name: str
    host: str | None
    dimension: int
    load_seconds: float
    question_seconds: float


def try_model(name: str, options: BackendOptions = DEFAULT_OPTIONS) -> Trial:
    """Load a model, and embed one question; an endpoint, also on another machine, gets one word.

    Raises:
        UnknownModel: there is no model of that name.
        ModelError: it cannot be used, or its endpoint does not answer.
    """
    began = time.perf_counter()
    chosen = catalog.choose(name, options).card.name
    embedder = catalog.load(chosen, options)
    loaded = time.perf_counter()
    host = None
    if isinstance(embedder, RemoteEmbedder):
        dimension, host = embedder.measure_dimension(), embedder.endpoint.host
    else:
        dimension = len(embedder.embed_query(QUESTION))
    return Trial(
        chosen, host, dimension, round(loaded - began, 3), round(time.perf_counter() - loaded, 3)
    )
