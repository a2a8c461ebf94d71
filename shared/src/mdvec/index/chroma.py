"""The vector index of a generation as a collection on a Chroma server: ids and vectors only."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from mdvec.index.chroma_client import (
    CollectionMissing,
    client,
    known_collection,
    translated_errors,
)
from mdvec.index.chroma_server import ChromaServer
from mdvec.index.nearest import Near
from mdvec.index.ranges import ChunkRanges

if TYPE_CHECKING:
    import numpy as np
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

    from mdvec.embedding.embedder import Vectors

_WRITER = "mdvec_writer"
_IDS_AT_ONCE = 50_000
_MAX_ID_DIGITS = 19


class ChromaIndex:
    """A ``NearestIndex`` on a server; each request may take ``seconds``.

    Every method raises ``EngineUnavailable`` if the server does not answer, and
    ``CollectionMissing`` if it does not have the collection.
    """

    def __init__(self, server: ChromaServer, name: str, seconds: float) -> None:
        self._server = server
        self._name = name
        self._seconds = seconds

    def prepare(self) -> None:
        """Create the collection, empty, unless it is there."""
        try:
            self._collection()
        except CollectionMissing:
            with translated_errors(self._server):
                client(self._server, self._seconds).create_collection(
                    self._name,
                    embedding_function=None,
                    configuration={"hnsw": asdict(self._server.hnsw)},
                    get_or_create=True,
                )
            return
        self._set_search_width()

    def put(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add chunks; those that are there already stay once."""
        scaled = self._scaled(vectors)
        with translated_errors(self._server):
            for part in self._parts(len(ids)):
                self._collection().upsert(ids=list(map(str, ids[part])), embeddings=scaled[part])

    def drop(self, ids: Sequence[int]) -> None:
        """Remove chunks; unknown ids are ignored."""
        with translated_errors(self._server):
            for part in self._parts(len(ids)):
                self._collection().delete(ids=list(map(str, ids[part])))

    def nearest(self, vector: Vectors, limit: int, within: ChunkRanges | None = None) -> list[Near]:
        """The chunks that the graph finds, nearest first."""
        only = None if within is None else list(map(str, within.ids().tolist()))
        if only == []:
            return []
        query = self._scaled(vector.reshape(1, -1))
        with translated_errors(self._server):
            found = self._collection().query(
                query_embeddings=query, n_results=limit, ids=only, include=["distances"]
            )
        distances = found["distances"] or [[]]
        half = 2.0 if self._server.hnsw.space == "l2" else 1.0
        return [
            Near(int(chunk_id), 1.0 - distance / half)
            for chunk_id, distance in zip(found["ids"][0], distances[0], strict=True)
            if _is_own(chunk_id)
        ]

    def count(self) -> int:
        """The number of chunks in the collection."""
        with translated_errors(self._server):
            return int(self._collection().count())

    def ids(self) -> NDArray[np.int64]:
        """The ids of all chunks in the collection."""
        import numpy as np

        own = [int(one) for one in self._listed() if _is_own(one)]
        return np.sort(np.array(own, dtype=np.int64))

    def drop_foreign(self) -> None:
        """Remove what no mdvec has put there."""
        foreign = [one for one in self._listed() if not _is_own(one)]
        with translated_errors(self._server):
            for part in self._parts(len(foreign)):
                self._collection().delete(ids=foreign[part])

    def _listed(self) -> list[str]:
        found: list[str] = []
        with translated_errors(self._server):
            while True:
                page = self._collection().get(include=[], limit=_IDS_AT_ONCE, offset=len(found))
                found += page["ids"]
                if len(page["ids"]) < _IDS_AT_ONCE:
                    return found

    def retire(self) -> None:
        """Delete the collection, if it is there."""
        try:
            with translated_errors(self._server):
                client(self._server, self._seconds).delete_collection(self._name)
        except CollectionMissing:
            return
        known_collection.cache_clear()

    def writer(self) -> str | None:
        """The token that the last import left in the collection."""
        known_collection.cache_clear()
        stored = (self._collection().metadata or {}).get(_WRITER)
        return None if stored is None else str(stored)

    def set_writer(self, token: str) -> None:
        """Leave the token of this import in the collection."""
        with translated_errors(self._server):
            self._collection().modify(metadata={_WRITER: token})

    def settings(self) -> dict[str, object]:
        """The settings of the collection's graph, as the server has them."""
        with translated_errors(self._server):
            return dict(self._collection().configuration_json.get("hnsw") or {})

    def _set_search_width(self) -> None:
        wanted = self._server.hnsw.ef_search
        if self.settings().get("ef_search") != wanted:
            with translated_errors(self._server), warnings.catch_warnings():
                # The client calls every collection without an embedding function deprecated.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._collection().modify(configuration={"hnsw": {"ef_search": wanted}})
            known_collection.cache_clear()

    def _collection(self) -> Collection:
        return known_collection(self._server, self._seconds, self._name)

    def _parts(self, count: int) -> Iterator[slice]:
        size = int(client(self._server, self._seconds).get_max_batch_size())
        return (slice(first, first + size) for first in range(0, count, size))

    def _scaled(self, vectors: Vectors) -> Vectors:
        """Vectors scaled so that their distance in the collection's space gives their cosine."""
        if self._server.hnsw.space == "cosine" or not len(vectors):
            return vectors
        import numpy as np

        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        scaled: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
        return scaled


def _is_own(name: str) -> bool:
    """Whether an id in a collection is one that mdvec gives; others may write there, too."""
    return name.isascii() and name.isdigit() and len(name) < _MAX_ID_DIGITS
