"""The embedder of a model behind an endpoint."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol

from mdvec.embedding.embedder import Backend, BadEmbedding, Embedder
from mdvec.embedding.remote.endpoint import Endpoint
from mdvec.embedding.remote.failures import EndpointUnusable

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


class RemoteBackend(Backend, Protocol):
    """A backend that sends texts to an endpoint; its methods may be called at the same time."""

    endpoint: Endpoint

    def measure_dimension(self) -> int:
        """The length of its vectors, by asking for one of them."""


class RemoteEmbedder(Embedder):
    """Embeds with a model behind an endpoint, in as many calls at once as there are threads."""

    def __init__(self, backend: RemoteBackend) -> None:
        super().__init__(backend)
        self._remote = backend
        self._lock = nullcontext()

    @property
    def endpoint(self) -> Endpoint:
        """Where texts and questions go."""
        return self._remote.endpoint

    def measure_dimension(self) -> int:
        """Send one fixed word (no user text), and return the length of its vector.

        Raises:
            ModelError: the endpoint does not answer.
        """
        return self._remote.measure_dimension()

    def _checked(self, encoded: Vectors, count: int) -> Vectors:
        try:
            return super()._checked(encoded, count)
        except BadEmbedding as error:  # every text would cost, and get no better vector
            raise EndpointUnusable(str(error)) from error
