"""An endpoint: where texts go, whether that is this machine, and its model as an embedder."""

from __future__ import annotations

import ipaddress
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from mdvec.embedding.embedder import Backend, BadEmbedding, Embedder
from mdvec.embedding.remote.answers import EndpointUnusable

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model's texts go; ``terms`` is a sentence on what happens to them there."""

    url: str
    terms: str = ""

    @property
    def host(self) -> str:
        """Its host, with the port if it has one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def origin(self) -> str:
        """Its scheme, host and port: what a user allows texts to go to."""
        return f"{urlsplit(self.url).scheme}://{self.host}"

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def is_encrypted(self) -> bool:
        """Whether texts are encrypted on their way."""
        return urlsplit(self.url).scheme == "https"


@dataclass(frozen=True, slots=True)
class Sending:
    """What the user is asked to allow: a tool's texts and questions go to an endpoint."""

    tool: str
    model: str
    endpoint: Endpoint

    def sentence(self) -> str:
        """What goes where, and what happens to it there."""
        where = self.endpoint
        safety = "" if where.is_encrypted else ", unencrypted"
        terms = f" {where.terms}" if where.terms else ""
        return (
            f"{self.tool}: its texts, and later questions about them, go to {where.host} "
            f"({self.model}{safety}).{terms}"
        )


def is_loopback(host: str) -> bool:
    """Whether a host means this machine; names below ``localhost`` may be looked up elsewhere."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
