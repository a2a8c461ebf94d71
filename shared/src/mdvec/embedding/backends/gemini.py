"""The backend of ``gemini:<model>``: Google's Gemini through google-genai (an extra).

Retries, time limits and checks are the same as for all endpoints, not the library's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from google import genai
from google.genai import errors, types

from mdvec.embedding.backends.remote import EndpointBackend
from mdvec.embedding.cards import ModelCard
from mdvec.embedding.endpoint import Endpoint, EndpointUnusable, checked_vectors, gemini_key
from mdvec.embedding.endpoint_http import Transient, failure_of, retry_after, seconds_in
from mdvec.embedding.options import BackendOptions

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

_API_VERSION = "v1beta"


@dataclass(frozen=True, slots=True)
class Generation:
    """How requests to a generation of models state the use of a text: by task type or prefix."""

    mark: str
    query_task: str | None
    document_task: str | None
    query_prefix: str = ""
    document_prefix: str = ""


FIRST = Generation("tasks", "RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT")
SECOND = Generation("prefixes", None, None, "task: search result | query: ", "title: none | text: ")


def generation_of(model: str) -> Generation:
    """The generation of a model; only models of the first generation know task types."""
    return FIRST if model.startswith(("gemini-embedding-001", "text-embedding")) else SECOND


class GeminiBackend(EndpointBackend):
    """A Gemini model."""

    def __init__(self, card: ModelCard, endpoint: Endpoint, options: BackendOptions) -> None:
        key = gemini_key(card.name, options)
        super().__init__(card, endpoint, key, options.gemini.timeout_seconds, options.retry)
        self.batch = options.gemini.batch_size
        self.dimension = options.gemini.output_dimensionality
        self._generation = generation_of(self._model)
        self.revision = self._generation.mark
        # Every option is passed: the library would read a missing one from the environment.
        self._client = genai.Client(
            vertexai=False,
            api_key=key.value,
            http_options=types.HttpOptions(
                base_url=endpoint.url, api_version=_API_VERSION, httpx_client=self._http
            ),
        )

    def measure_dimension(self) -> int:
        """Ask for the vector of one fixed word (no user text), and return its length."""
        return int(self.encode_query("mdvec").shape[-1])

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, as documents to be found."""
        kind = self._generation
        prefixed = [kind.document_prefix + text for text in texts]
        return self._of_documents(prefixed, partial(self._send, kind.document_task))

    def encode_query(self, text: str) -> Vectors:
        """The vector of a question, as one row."""
        kind = self._generation
        return self._of_question(kind.query_prefix + text, partial(self._send, kind.query_task))

    def _send(self, task: str | None, texts: Sequence[str], seconds: float) -> Vectors:
        """One request, with the library's errors translated."""
        # For a list of plain strings, the second generation returns a single vector.
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        config = types.EmbedContentConfig(
            task_type=task,
            output_dimensionality=self.dimension,
            http_options=types.HttpOptions(timeout=math.ceil(seconds * 1000)),
        )
        try:
            with self._reaching():
                answer = self._client.models.embed_content(
                    model=self._model, contents=contents, config=config
                )
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            wait = retry_after(headers) or _wait_in(error.details)
            message = str(error.message or error.status or "")
            raise failure_of(error.code, message, wait, self._host, self._key) from None
        except (errors.UnknownApiResponseError, json.JSONDecodeError, RecursionError):
            raise Transient("the answer is cut off or no JSON") from None
        except ValueError as error:  # the library could not validate the response
            raise EndpointUnusable(
                f"{self._host} answered with something else than vectors ({type(error).__name__})"
            ) from None
        rows = [vector.values for vector in answer.embeddings or []]
        return checked_vectors(rows, len(texts), self.dimension, self._host)


def _wait_in(details: object) -> float | None:
    """The seconds that an error's details ask for."""
    error = details.get("error", details) if isinstance(details, dict) else {}
    entries = error.get("details", []) if isinstance(error, dict) else []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and "retryDelay" in entry:
            return seconds_in(str(entry["retryDelay"]))
    return None
