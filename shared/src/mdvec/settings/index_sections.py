"""The sections ``[index]`` and ``[index.hnsw]``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mdvec.index.chroma import ChromaServer, Hnsw
from mdvec.settings.section import SettingsSection


class HnswSettings(SettingsSection):
    """``[index.hnsw]``: the graph that a Chroma server makes for a tool's vectors."""

    space: Literal["cosine", "l2", "ip"] = Field("cosine", description="'cosine', 'l2' or 'ip'")
    ef_construction: int = Field(Hnsw().ef_construction, ge=1, le=10_000, description="1 to 10000")
    ef_search: int = Field(Hnsw().ef_search, ge=1, le=10_000, description="1 to 10000")
    max_neighbors: int = Field(Hnsw().max_neighbors, ge=2, le=1_000, description="2 to 1000")


class IndexSettings(SettingsSection):
    """``[index]``: what indexes the vectors: the database file, or a Chroma server."""

    engine: Literal["sqlite", "chroma"] = Field("sqlite", description="'sqlite' or 'chroma'")
    url: str = Field(
        ChromaServer().url, pattern=r"^https?://[^/\s@?#]+/?$", repr=False,
        description="a server's address, such as 'http://127.0.0.1:8000', without a user or a key",
    )  # fmt: skip
    tenant: str = Field(ChromaServer().tenant, min_length=1, description="a tenant's name")
    database: str = Field(ChromaServer().database, min_length=1, description="a database's name")
    token_env: str | None = Field(
        None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", repr=False,
        description="the name of the environment variable that holds the token",
    )  # fmt: skip

    hnsw: HnswSettings = HnswSettings()

    def server(self) -> ChromaServer | None:
        """The server that indexes the vectors; None if the database file does."""
        if self.engine == "sqlite":
            return None
        graph = Hnsw(**self.hnsw.model_dump())
        return ChromaServer(self.url.rstrip("/"), self.tenant, self.database, self.token_env, graph)
