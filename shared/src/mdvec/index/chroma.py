"""Chroma as the vector index: the settings of a server, its client, and a collection there.

Only ids and vectors are sent. Chroma's own client has no time limit; here a server gets a few
seconds to answer a search, and more to receive vectors.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from mdvec.index.nearest import EngineUnavailable
from mdvec.installation import this_installation
from mdvec.section import SettingsSection, bounded

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from mdvec.embedding import Vectors
    from mdvec.index.conditions import ChunkRanges

SEARCH_SECONDS, WRITE_SECONDS = 3.0, 120.0
_CONNECT_SECONDS = 3.0
_IDS_AT_ONCE = 50_000
_BUILD = "mdvec_writer"
_EXTRA = this_installation().adding_extra("chroma")


class Hnsw(SettingsSection):
    """``[index.hnsw]``: the settings of a collection's graph, under Chroma's names.

    Only ``ef_search`` can change later; changes of the others apply from the next rebuild on.
    """

    space: Literal["cosine", "l2", "ip"] = "cosine"
    ef_construction: int = bounded(200, 1, 10_000)
    ef_search: int = bounded(100, 1, 10_000)
    max_neighbors: int = bounded(16, 2, 1_000)


class ChromaServer(SettingsSection):
    """Where the server is; ``token_env`` names the environment variable that holds its token."""

    url: Annotated[str, AfterValidator(lambda url: url.rstrip("/"))] = Field(
        "http://127.0.0.1:8000", pattern=r"^https?://[^/\s@?#]+/?$", repr=False,
        description="a server's address, such as 'http://127.0.0.1:8000', without a user or a key",
    )  # fmt: skip
    tenant: str = Field("default_tenant", min_length=1, description="a tenant's name")
    database: str = Field("default_database", min_length=1, description="a database's name")
    token_env: str | None = Field(
        None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", repr=False,
        description="the name of the environment variable that holds the token",
    )  # fmt: skip
    hnsw: Hnsw = Hnsw()

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"Chroma at {self.url}"

    @property
    def token(self) -> str:
        """The token in the environment, or an empty string."""
        return os.environ.get(self.token_env or "", "").strip()


class CollectionMissing(EngineUnavailable):
    """The server does not have the collection, or the collection lacks vectors."""


class ExtraMissing(EngineUnavailable):
    """Chroma's client is not installed."""

    def __init__(self) -> None:
        super().__init__(f"[index] engine = 'chroma' needs Chroma's client; install it: {_EXTRA}")


def check_client_installed() -> None:
    """Raise ExtraMissing if Chroma's client is not installed; it is not imported."""
    if importlib.util.find_spec("chromadb") is None:
        raise ExtraMissing


class ChromaIndex:
    """A collection on a server, for vectors of length 1; a request may take ``seconds``.

    Every method raises ``EngineUnavailable`` if the server does not answer, and all but
    ``prepare`` and ``retire`` raise ``CollectionMissing`` if it does not have the collection.
    """

    def __init__(self, server: ChromaServer, name: str, seconds: float) -> None:
        self._server = server
        self._name = name
        self._seconds = seconds

    def prepare(self) -> None:
        """Create the collection unless it exists, and set its ``ef_search``."""
        graph = self._server.hnsw
        with translated_errors(self._server), warnings.catch_warnings():
            # The client warns of every collection without an embedding function.
            warnings.simplefilter("ignore", DeprecationWarning)
            collection = client(self._server, self._seconds).get_or_create_collection(
                self._name, embedding_function=None, configuration={"hnsw": graph.model_dump()}
            )
            if collection.configuration_json["hnsw"]["ef_search"] != graph.ef_search:
                collection.modify(configuration={"hnsw": {"ef_search": graph.ef_search}})

    def put(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add chunks; existing ones are not duplicated."""
        with translated_errors(self._server):
            for part in self._parts(len(ids)):
                self._collection().upsert(ids=list(map(str, ids[part])), embeddings=vectors[part])

    def drop(self, ids: Sequence[int]) -> None:
        """Remove chunks; unknown ids are ignored."""
        with translated_errors(self._server):
            for part in self._parts(len(ids)):
                self._collection().delete(ids=list(map(str, ids[part])))

    def nearest(self, vector: Vectors, limit: int, within: ChunkRanges | None = None) -> list[int]:
        """The ids of the chunks that the graph finds, nearest first."""
        only = None if within is None else list(map(str, within.ids().tolist()))
        if only == []:
            return []
        with translated_errors(self._server):
            answer = self._collection().query(
                query_embeddings=vector.reshape(1, -1), n_results=limit, ids=only, include=[]
            )
        return [int(name) for name in answer["ids"][0] if _is_chunk(name)]

    def count(self) -> int:
        """The number of vectors in the collection, including those of other programs."""
        with translated_errors(self._server):
            return int(self._collection().count())

    def ids(self) -> list[int]:
        """The ids of all chunks in the collection, in order."""
        names: list[str] = []
        with translated_errors(self._server):
            for first in range(0, self.count(), _IDS_AT_ONCE):
                page = self._collection().get(include=[], limit=_IDS_AT_ONCE, offset=first)
                names += page["ids"]
        return sorted(int(name) for name in names if _is_chunk(name))

    def retire(self) -> None:
        """Delete the collection, if it exists."""
        try:
            with translated_errors(self._server):
                client(self._server, self._seconds).delete_collection(self._name)
        except CollectionMissing:
            return
        _known_collection.cache_clear()

    def build(self) -> str | None:
        """The random id that the last import left in the collection."""
        with translated_errors(self._server):
            collection = client(self._server, self._seconds).get_collection(
                self._name, embedding_function=None
            )
        build = (collection.metadata or {}).get(_BUILD)
        return None if build is None else str(build)

    def set_build(self, build: str) -> None:
        """Record the id of this import in the collection."""
        with translated_errors(self._server):
            self._collection().modify(metadata={_BUILD: build})

    def _collection(self) -> Collection:
        return _known_collection(self._server, self._seconds, self._name)

    def _parts(self, count: int) -> Iterator[slice]:
        """Slices of at most as many items as the server accepts at once."""
        size = int(client(self._server, self._seconds).get_max_batch_size())
        return (slice(first, first + size) for first in range(0, count, size))


def _is_chunk(name: str) -> bool:
    """Whether an id in a collection can be a chunk's; other programs may write there, too."""
    return name.isascii() and name.isdigit() and len(name) < len(str(2**63))


@functools.lru_cache(maxsize=8)
def client(server: ChromaServer, seconds: float) -> ClientAPI:
    """The client of a server, with a time limit for each request.

    Raises:
        EngineUnavailable: the server does not answer, or refuses the client.
    """
    check_client_installed()
    headers = _headers(server)
    with translated_errors(server):
        import chromadb
        import httpx

        # The constructor below has no time limit, so check that the server answers.
        beat = f"{server.url.rstrip('/')}/api/v2/heartbeat"
        httpx.get(beat, timeout=_CONNECT_SECONDS, headers=headers).raise_for_status()
        made = chromadb.HttpClient(
            host=server.url.rstrip("/"),
            headers=headers,
            tenant=server.tenant,
            database=server.database,
            # Explicit settings are not read from the working folder's .env or the environment.
            settings=chromadb.Settings(
                _env_file=None,
                anonymized_telemetry=False,
                chroma_server_host=server.url.rstrip("/"),
                chroma_server_http_port=8000,
                chroma_server_headers=headers,
                chroma_client_auth_provider=None,
                chroma_otel_collection_endpoint="",
            ),
        )
        # There is no public way to set a time limit.
        made._server._session.timeout = httpx.Timeout(seconds, connect=_CONNECT_SECONDS)  # noqa: SLF001
    return made


@functools.lru_cache(maxsize=64)
def _known_collection(server: ChromaServer, seconds: float, name: str) -> Collection:
    with translated_errors(server):
        return client(server, seconds).get_collection(name, embedding_function=None)


@contextmanager
def translated_errors(server: ChromaServer) -> Iterator[None]:
    """Turn any error of the client into ``EngineUnavailable``, with the reason in a few words."""
    try:
        yield
    except EngineUnavailable:
        raise
    except Exception as error:  # the client raises ValueError, its own, httpx's and plain Exception
        if type(error).__name__ == "NotFoundError" and "ollection" in str(error):
            _known_collection.cache_clear()
            raise CollectionMissing(
                f"{server.name} does not have these vectors; send them with: mdvec doctor --fix"
            ) from error
        # Servers quote what they refuse, so the token is replaced.
        words = " ".join(str(error).split()) or type(error).__name__
        words = words.replace(server.token, "[token]") if server.token else words
        raise EngineUnavailable(
            f"{server.name} did not answer ({words[:200].rstrip('.')})"
        ) from error


def _headers(server: ChromaServer) -> dict[str, str]:
    if server.token_env is None:
        return {}
    if not (server.token and server.token.isascii() and server.token.isprintable()):
        raise EngineUnavailable(
            f"the variable {server.token_env}, which [index] token_env names, is not set, or has "
            "characters that no token has"
        )
    return {"Authorization": f"Bearer {server.token}", "X-Chroma-Token": server.token}
