"""The backend of ``gemini:<model>``: Google's Gemini through google-genai (an extra).

Retries, time limits and checks are those of all endpoints, not the library's.
"""

from __future__ import annotations

import json
import math
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2
from google import genai
from google.genai import errors, types

from mdvec.embedding.backends.use import ApproximateTokens
from mdvec.embedding.cards import ModelCard, model_of
from mdvec.embedding.endpoint import Endpoint, EndpointUnusable, checked_vectors, gemini_key
from mdvec.embedding.endpoint_http import (
    FOR_QUESTIONS,
    QUESTION_SECONDS,
    Transient,
    failure_of,
    http_client,
    retry_after,
    seconds_in,
    transport_reason,
    with_retries,
)
from mdvec.embedding.options import BackendOptions, RetryOptions

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

_API_VERSION = "v1beta"


@dataclass(frozen=True, slots=True)
class Generation:
    """How a generation of models is told what a text is for: by a task type, or by a prefix."""

    mark: str
    query_task: str | None
    document_task: str | None
    query_prefix: str = ""
    document_prefix: str = ""


FIRST = Generation("tasks", "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT")
SECOND = Generation("prefixes", None, None, "task: search result | query: ", "title: none | text: ")


def generation_of(model: str) -> Generation:
    """The generation of a model: only the first ones know task types."""
    return FIRST if model.startswith(("gemini-embedding-001", "text-embedding")) else SECOND


class GeminiBackend(ApproximateTokens):
    """A model of Google's; nothing is sent before the first call that embeds."""

    def __init__(self, card: ModelCard, endpoint: Endpoint, options: BackendOptions) -> None:
        """Read the key.

        Raises:
            KeyMissing: no variable holds it.
        """
        super().__init__(card.max_tokens)
        self.card = card
        self.endpoint = endpoint
        self.batch = options.gemini.batch_size
        self.dimension = options.gemini.output_dimensionality
        self._model = model_of(card.name)
        self._generation = generation_of(self._model)
        self.revision = self._generation.mark
        self._seconds = options.gemini.timeout_seconds
        self._retry = options.retry
        self._key = gemini_key(card.name, options)
        http = http_client(self._seconds, is_local=endpoint.is_local)
        weakref.finalize(self, http.close)
        # Each is given, as the library would otherwise take it from the environment.
        self._client = genai.Client(
            vertexai=False,
            api_key=self._key.value,
            http_options=types.HttpOptions(
                base_url=endpoint.url, api_version=_API_VERSION, httpx_client=http
            ),
        )

    def measure_dimension(self) -> int:
        """Ask for the vector of one fixed word (no user text), and return its length."""
        return int(self.encode_query("mdvec").shape[-1])

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, as documents to be found."""
        kind = self._generation
        prefixed = [self._generation.document_prefix + text for text in texts]
        return self._embed(prefixed, kind.document_task, self._seconds, self._retry)

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question."""
        kind, seconds = self._generation, min(self._seconds, QUESTION_SECONDS)
        return self._embed([kind.query_prefix + text], kind.query_task, seconds, FOR_QUESTIONS)

    def _embed(
        self, texts: Sequence[str], task: str | None, seconds: float, retry: RetryOptions
    ) -> Vectors:
        def send(sent: Sequence[str], left: float) -> Vectors:
            # The second generation answers a list of strings with one vector for all of them.
            contents = [types.Content(parts=[types.Part(text=text)]) for text in sent]
            config = types.EmbedContentConfig(
                task_type=task,
                output_dimensionality=self.dimension,
                http_options=types.HttpOptions(timeout=math.ceil(left * 1000)),
            )
            answer = self._request(
                lambda: self._client.models.embed_content(
                    model=self._model, contents=contents, config=config
                )
            )
            rows = [vector.values for vector in answer.embeddings or []]
            return checked_vectors(rows, len(sent), self.dimension, self.endpoint.host)

        total = seconds if retry is FOR_QUESTIONS else math.inf
        return with_retries(send, texts, retry, self.endpoint.host, seconds, total)

    def _request(
        self, send: Callable[[], types.EmbedContentResponse]
    ) -> types.EmbedContentResponse:
        """The library's answer, its errors translated."""
        host = self.endpoint.host
        try:
            return send()
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            wait = retry_after(headers) or _wait_in(error.details)
            said = str(error.message or error.status or "")
            raise failure_of(error.code, said, wait, host, self._key) from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise Transient(self._key.hidden_in(transport_reason(error))) from None
        except (errors.UnknownApiResponseError, json.JSONDecodeError, RecursionError):
            raise Transient("the answer is cut off or no JSON") from None
        except ValueError as error:  # the library's models refuse what is no answer of Gemini's
            raise EndpointUnusable(
                f"{host} answered with something else than vectors ({type(error).__name__})"
            ) from None


def _wait_in(details: object) -> float | None:
    """The seconds that an error's details ask for."""
    error = details.get("error", details) if isinstance(details, dict) else {}
    entries = error.get("details", []) if isinstance(error, dict) else []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and "retryDelay" in entry:
            return seconds_in(str(entry["retryDelay"]))
    return None
