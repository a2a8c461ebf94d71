"""The base class of backends behind endpoints: its client, and the time limits of requests."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2

from mdvec.embedding.backends.use import ApproximateTokens
from mdvec.embedding.cards import ModelCard, model_of
from mdvec.embedding.endpoint import Endpoint, Key
from mdvec.embedding.endpoint_http import (
    FOR_QUESTIONS,
    QUESTION_SECONDS,
    Transient,
    http_client,
    transport_reason,
    with_retries,
)
from mdvec.embedding.options import RetryOptions

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

    Send = Callable[[Sequence[str], float], Vectors]


class EndpointBackend(ApproximateTokens):
    """A model behind an endpoint; nothing is sent before the first text is to be embedded."""

    def __init__(
        self, card: ModelCard, endpoint: Endpoint, key: Key, seconds: float, retry: RetryOptions
    ) -> None:
        """Prepare a client whose requests take at most ``seconds``."""
        super().__init__(card.max_tokens)
        self.card, self.endpoint = card, endpoint
        self._model, self._host = model_of(card.name), endpoint.host
        self._key, self._seconds, self._retry = key, seconds, retry
        self._http = http_client(seconds, is_local=endpoint.is_local)
        weakref.finalize(self, self._http.close)

    def _of_documents(self, texts: Sequence[str], send: Send) -> Vectors:
        """What ``send`` returns for texts, with the configured retries."""
        return with_retries(send, texts, self._retry, self._host, self._seconds)

    def _of_question(self, text: str, send: Send) -> Vectors:
        """What ``send`` returns for a question, with few retries, since somebody waits."""
        seconds = min(self._seconds, QUESTION_SECONDS)
        return with_retries(send, [text], FOR_QUESTIONS, self._host, seconds, seconds)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Turn transport errors into ``Transient``, so that the request is repeated."""
        try:
            yield
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise Transient(self._key.hidden_in(transport_reason(error))) from None
