"""Finds the nearest chunks of a generation whose vectors an engine outside the file indexes."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import apsw
from cachetools import TTLCache

from mdvec.index import outbox
from mdvec.index.chroma import ChromaIndex
from mdvec.index.chroma_client import SEARCH_SECONDS, CollectionMissing
from mdvec.index.chroma_server import ChromaServer
from mdvec.index.exact import nearest_among
from mdvec.index.nearest import EngineUnavailable, Near
from mdvec.index.ranges import ChunkRanges
from mdvec.index.tables import Tables
from mdvec.text.quoting import identifier

if TYPE_CHECKING:
    from mdvec.embedding.embedder import Vectors

MAX_WAITING = 2_000
"""Up to so many changes may wait: added chunks are compared exactly, deleted ones left out."""
_MAX_LACKING = 0.05
_CHECK_SECONDS, _PAUSE_SECONDS = 60, 5
"""A collection's size is checked once a minute; a server that failed is left alone for a while."""

_lock = Lock()
_checked: TTLCache[str, bool] = TTLCache(256, _CHECK_SECONDS)
_failed: TTLCache[ChromaServer, str] = TTLCache(16, _PAUSE_SECONDS)


def nearest_outside(
    connection: apsw.Connection,
    tables: Tables,
    server: ChromaServer | None,
    vector: Vectors,
    limit: int,
    within: ChunkRanges | None = None,
) -> list[Near]:
    """The chunks nearest to a vector: the engine's, and those that wait for it, compared exactly.

    Raises:
        EngineUnavailable: no engine is set, it does not answer, or it lacks too many chunks.
    """
    if server is None:
        raise EngineUnavailable(
            "its vectors are in Chroma; name the server in [index], or bring them back into the "
            f"file with: mdvec import -n {tables.tool_name} --mode update"
        )
    new, gone = outbox.waiting(connection, tables, MAX_WAITING + 1)
    if len(new) + gone > MAX_WAITING:
        raise EngineUnavailable(
            f"{server.name} has not got all of its vectors yet; send them with: "
            f"mdvec import -n {tables.tool_name} --mode update"
        )
    known = outbox.collection(connection, tables)
    index = ChromaIndex(server, known.name, SEARCH_SECONDS)
    with _lock:
        reason = _failed.get(server)
        is_checked = known.name in _checked
    if reason is not None:
        raise EngineUnavailable(reason)
    try:
        if not is_checked:
            _check_size(connection, tables, server, index, len(new))
        found = index.nearest(vector, limit + gone, within)
    except CollectionMissing:
        raise
    except EngineUnavailable as error:
        with _lock:
            _failed[server] = str(error)
        raise
    with _lock:
        _checked[known.name] = True
    ids = {near.id for near in found}
    ids.update(new if within is None else set(new).intersection(within.ids().tolist()))
    return nearest_among(connection, tables, vector, limit, ids)


def engine_has_answered(server: ChromaServer) -> None:
    """Let searches ask a server again at once, as it has answered."""
    with _lock:
        _failed.pop(server, None)


def _check_size(
    connection: apsw.Connection,
    tables: Tables,
    server: ChromaServer,
    index: ChromaIndex,
    waiting: int,
) -> None:
    """Check that the collection is not much smaller than it should be.

    An import may be changing it, so that a few chunks more or fewer mean nothing.
    """
    (stored,) = connection.execute(
        f"SELECT count(*) FROM {identifier(tables.vectors)}"
    ).fetchone() or (0,)
    expected = int(stored) - waiting
    if index.count() < expected * (1 - _MAX_LACKING):
        raise CollectionMissing(
            f"{server.name} lacks vectors of it; send them with: mdvec doctor --fix"
        )
