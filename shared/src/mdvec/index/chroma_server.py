"""The address of a Chroma server, and the settings of the collections made there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Hnsw:
    """The settings of a collection's graph, under the names that Chroma gives them.

    Only ``ef_search`` can change later; the others hold from the next rebuild on.
    """

    space: Literal["cosine", "l2", "ip"] = "cosine"
    ef_construction: int = 200
    ef_search: int = 100
    max_neighbors: int = 16


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """Where the server is; ``token_env`` names the environment variable that holds its token."""

    url: str = "http://127.0.0.1:8000"
    tenant: str = "default_tenant"
    database: str = "default_database"
    token_env: str | None = None
    hnsw: Hnsw = Hnsw()

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"Chroma at {self.url}"
