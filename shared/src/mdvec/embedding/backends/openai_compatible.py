"""The backend of ``openai:<model>``: any endpoint that speaks OpenAI's embeddings protocol."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import httpx2

from mdvec.embedding.backends.remote import EndpointBackend
from mdvec.embedding.cards import ModelCard
from mdvec.embedding.endpoint import (
    Endpoint,
    EndpointFailure,
    EndpointRefused,
    EndpointUnusable,
    checked_vectors,
    openai_key,
)
from mdvec.embedding.endpoint_http import FIXED_WORD, Transient, failure_of, retry_after
from mdvec.embedding.options import BackendOptions

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

_ABOUT_DIMENSIONS = re.compile("dimension|matryoshka", re.IGNORECASE)


class OpenAIBackend(EndpointBackend):
    """A model behind an OpenAI-compatible endpoint; local endpoints are asked for their dimension.

    The user must allow anything sent to another machine.
    """

    def __init__(self, card: ModelCard, endpoint: Endpoint, options: BackendOptions) -> None:
        key = openai_key(card.name, options)
        super().__init__(card, endpoint, key, options.openai.timeout_seconds, options.retry)
        self.batch = options.openai.batch
        self._options = options.openai
        self._names_dimensions = self._options.dimensions is not None

    @cached_property
    def revision(self) -> str:
        """A hash of the prefixes; the endpoint does not say which weights it has."""
        prefixes = (self._options.query_prefix, self._options.document_prefix)
        return f"{zlib.crc32(json.dumps(prefixes).encode()):08x}" if any(prefixes) else "plain"

    @cached_property
    def dimension(self) -> int:
        """The length of every vector: configured, known, or asked from an endpoint on this machine.

        Raises:
            EndpointFailure: it is not known, or the endpoint does not answer.
        """
        if self.card.dimension:
            return self.card.dimension
        if not self.endpoint.is_local:
            raise EndpointFailure(
                f"how many dimensions {self.card.name!r} has is not known; set them in "
                f"[model.openai] dimensions (`mdvec model test {self.card.name}` asks "
                f"{self.endpoint.host} and shows them)"
            )
        return self.measure_dimension()

    def measure_dimension(self) -> int:
        """Ask the endpoint for the vector of one fixed word, no user text; return its length."""
        wanted = self._options.dimensions
        return int(self._of_question(FIXED_WORD, partial(self._send, wanted)).shape[1])

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, with the document prefix."""
        prefixed = [self._options.document_prefix + text for text in texts]
        return self._of_documents(prefixed, partial(self._send, self.dimension))

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question, with the query prefix."""
        prefixed = self._options.query_prefix + text
        return self._of_question(prefixed, partial(self._send, self.dimension))

    def _send(self, dimension: int | None, texts: Sequence[str], seconds: float) -> Vectors:
        """One request; repeated without the number of dimensions if the endpoint rejects it.

        Some servers reject it for models with a fixed dimension, even if it is the right one.
        """
        body: dict[str, object] = {
            "model": self._model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if dimension is None or not self._names_dimensions:
            return self._post(body, dimension, seconds)
        try:
            return self._post({**body, "dimensions": dimension}, dimension, seconds)
        except EndpointRefused as refused:
            if not _ABOUT_DIMENSIONS.search(str(refused)):
                raise
        self._names_dimensions = False
        return self._post(body, dimension, seconds)

    def _post(self, body: dict[str, object], dimension: int | None, seconds: float) -> Vectors:
        headers = {"Authorization": f"Bearer {self._key.value}"} if self._key.value else {}
        url = f"{self.endpoint.url}/embeddings"
        with self._reaching():
            answer = self._http.post(url, json=body, headers=headers, timeout=seconds)
        if not answer.is_success:
            wait = retry_after(answer.headers)
            raise failure_of(answer.status_code, _message(answer), wait, self._host, self._key)
        texts = body["input"]
        count = len(texts) if isinstance(texts, list) else 0
        return checked_vectors(_rows(answer, self._host), count, dimension, self._host)


def _message(answer: httpx2.Response) -> str:
    """The endpoint's error code and message, or the response body."""
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return answer.text
    if isinstance(error, dict):
        return " ".join(str(error[name]) for name in ("code", "message") if error.get(name))
    return str(error)


def _rows(answer: httpx2.Response, host: str) -> list[object]:
    """The vectors in the order of the texts; the response numbers them."""
    try:
        data = answer.json()
    except (ValueError, RecursionError):
        raise Transient("the answer is cut off or no JSON") from None
    items = data.get("data") if isinstance(data, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise EndpointUnusable(f"{host} answered without vectors; is base_url right?")
    indexes = [item.get("index", position) for position, item in enumerate(items)]
    if not all(type(index) is int for index in indexes) or {*indexes} != {*range(len(items))}:
        raise EndpointUnusable(f"{host} answered with vectors whose numbering is wrong")
    rows: list[object] = [None] * len(items)
    for index, item in zip(indexes, items, strict=True):
        rows[index] = item.get("embedding")
    return rows
