"""The collections on a Chroma server that index the vectors of tools.

The file stays the source of truth. When an import ends, the vectors that it committed are sent to
the collection; until then a search compares new chunks exactly. Chunk ids are never reused and a
chunk's vector never changes, so comparing ids suffices to find missing vectors.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import apsw
from cachetools import TTLCache, cached

from mdvec.database import records
from mdvec.errors import MdvecError
from mdvec.index.chroma import (
    SEARCH_SECONDS,
    WRITE_SECONDS,
    ChromaIndex,
    ChromaServer,
    CollectionMissing,
)
from mdvec.index.nearest import EngineUnavailable, nearest_among, stored_vectors
from mdvec.index.tables import Tables
from mdvec.text import identifier

if TYPE_CHECKING:
    from mdvec.embedding import Vectors
    from mdvec.index.conditions import ChunkRanges

MAX_UNSENT = 2_000
"""How many new chunks a search compares exactly; if there are more, it searches only by words."""
_MAX_LACKING = 0.05
_CHECK_SECONDS, _PAUSE_SECONDS = 60, 5
"""A collection's size is checked once a minute; a server that failed is left alone for a while."""
_BATCH = 1_000
_RANDOM_BYTES = 12

_failed: dict[ChromaServer, tuple[float, str]] = {}
"""By server that failed: the monotonic time until which it gets no requests, and why it failed."""


class OtherWriter(MdvecError):
    """Another copy of the database has written to the collection."""

    def __init__(self, server: ChromaServer, tables: Tables) -> None:
        super().__init__(
            f"another copy of this database has changed the vectors of {tables.tool_name!r} in "
            f"{server.name}; import where that copy is, or give this one vectors of its own there: "
            "mdvec doctor --fix"
        )


@dataclass(frozen=True, slots=True)
class StoredCollection:
    """The file's record of a collection, which had ``size`` vectors after the last import.

    ``build`` is the random id that the last import from this file wrote into it, None before the
    first one. ``next_build`` is the id that an unfinished import was about to write, None if there
    is none. ``last_sent`` is the highest chunk id that was sent.
    """

    name: str
    build: str | None
    next_build: str | None
    last_sent: int
    size: int

    def is_changed_elsewhere(self, build: str | None) -> bool:
        """Whether a collection's build id was not written by this file."""
        return build is not None and build not in (self.build, self.next_build)


def collection_of(tables: Tables) -> StoredCollection | None:
    """The collection that indexes a generation; None if there is none."""
    where = "tool_id = ? AND generation = ?"
    rows = _collections(tables.connection, where, tables.tool_id, tables.generation)
    return rows[0] if rows else None


def unused_collections(connection: apsw.Connection) -> list[StoredCollection]:
    """The collections that no generation uses any more, but that the server may still have."""
    return _collections(connection, "generation IS NULL")


def _collections(connection: apsw.Connection, where: str, *values: int) -> list[StoredCollection]:
    cursor = connection.execute(
        "SELECT name, build, next_build, last_sent, size FROM vector_collections "
        f"WHERE {where} ORDER BY name",
        values,
    )
    return list(records(cursor, StoredCollection))


def begin_collection(tables: Tables) -> None:
    """Choose the name of a new collection for a generation; ``send_vectors`` creates it."""
    number, generation = tables.tool_id, tables.generation
    tables.execute(
        "INSERT INTO vector_collections (name, tool_id, generation) VALUES (?, ?, ?)",
        (f"mdvec-{number}-{generation}-{secrets.token_hex(_RANDOM_BYTES)}", number, generation),
    )


def leave_collection(tables: Tables) -> None:
    """Record that a generation no longer uses its collection, if it has one."""
    tables.execute(
        "UPDATE vector_collections SET generation = NULL WHERE tool_id = ? AND generation = ?",
        (tables.tool_id, tables.generation),
    )


def unsent_count(tables: Tables) -> int | None:
    """How many chunks were not sent to their collection yet; None if there is no collection."""
    known = collection_of(tables)
    if known is None:
        return None
    unsent = f"SELECT count(*) FROM {identifier(tables.vectors)} WHERE id > ?"
    return int(tables.execute(unsent, (known.last_sent,)).get)


def check_writer(tables: Tables, server: ChromaServer) -> None:
    """Raise OtherWriter if another copy of the database has written to a generation's collection.

    If the server does not answer, the import is not refused.
    """
    known = collection_of(tables)
    if known is not None:
        with suppress(EngineUnavailable):
            index = ChromaIndex(server, known.name, WRITE_SECONDS)
            if known.is_changed_elsewhere(index.build()):
                raise OtherWriter(server, tables)


def send_vectors(tables: Tables, server: ChromaServer, *, compare: bool = False) -> None:
    """Make a generation's collection hold exactly the stored vectors; call after the commit.

    If the counts and the build ids agree, nothing is sent, unless ``compare`` is set. A new build
    id is recorded in the file before and after it is written to the collection, so that a process
    killed in between is not mistaken for another copy. The import's lock ensures that only one
    process sends.

    Raises:
        OtherWriter: another copy of the database has written to the collection.
        EngineUnavailable: the server does not answer; the next call sends what is missing.
    """
    assert not tables.connection.in_transaction  # noqa: S101 - the build id must be in the file first
    known = collection_of(tables)
    if known is None:
        return
    index = ChromaIndex(server, known.name, WRITE_SECONDS)
    index.prepare()
    _failed.pop(server, None)
    left = index.build()
    if known.is_changed_elsewhere(left):
        raise OtherWriter(server, tables)
    stored = _stored_ids(tables)
    newest = stored[-1] if stored else 0
    is_same = left == known.build and newest <= known.last_sent and index.count() == len(stored)
    if is_same and not compare:
        return
    build = secrets.token_hex(_RANDOM_BYTES)
    _note(tables.connection, known.name, "build = ?, next_build = ?", left, build)
    index.set_build(build)
    lacking, extra = differences(tables, index)
    index.drop(extra)
    for first in range(0, len(lacking), _BATCH):
        ids = lacking[first : first + _BATCH]
        chosen = f"id IN ({','.join(map(str, ids))})"
        index.put(ids, stored_vectors(tables, chosen))
    if index.build() != build:
        raise OtherWriter(server, tables)
    changes = "build = ?, next_build = NULL, last_sent = ?, size = ?"
    _note(tables.connection, known.name, changes, build, newest, len(stored))


def differences(tables: Tables, index: ChromaIndex) -> tuple[list[int], list[int]]:
    """The ids of chunks that a collection lacks, and its ids without a chunk."""
    stored, there = set(_stored_ids(tables)), set(index.ids())
    return sorted(stored - there), sorted(there - stored)


def _stored_ids(tables: Tables) -> list[int]:
    return tables.column(f"SELECT id FROM {identifier(tables.vectors)} ORDER BY id")


def _note(connection: apsw.Connection, name: str, changes: str, *values: str | int | None) -> None:
    with connection:
        connection.execute(
            f"UPDATE vector_collections SET {changes} WHERE name = ?", (*values, name)
        )


def delete_unused_collections(connection: apsw.Connection, server: ChromaServer) -> None:
    """Delete the collections that no generation uses, but not those that another copy has changed.

    Raises:
        EngineUnavailable: the server does not answer; they are deleted later.
    """
    for known in unused_collections(connection):
        index = ChromaIndex(server, known.name, WRITE_SECONDS)
        with suppress(CollectionMissing):
            # Collections of older versions have no build id in the file.
            if known.build is None or not known.is_changed_elsewhere(index.build()):
                index.retire()
        with connection:
            connection.execute("DELETE FROM vector_collections WHERE name = ?", (known.name,))


def nearest_in_collection(
    tables: Tables,
    known: StoredCollection,
    server: ChromaServer | None,
    vector: Vectors,
    limit: int,
    within: ChunkRanges | None = None,
) -> list[int]:
    """The ids of the chunks nearest to a vector; those not sent yet are compared exactly.

    Raises:
        EngineUnavailable: no server is set, it does not answer, or it lacks too many vectors.
    """
    if server is None:
        raise EngineUnavailable(
            "its vectors are in Chroma; name the server in [index], or bring them back into the "
            f"file with: mdvec import -n {tables.tool_name} --mode update"
        )
    unsent = f"SELECT id FROM {identifier(tables.vectors)} WHERE id > ? LIMIT ?"
    new = set(tables.column(unsent, (known.last_sent, MAX_UNSENT + 1)))
    if len(new) > MAX_UNSENT:
        raise EngineUnavailable(
            f"{server.name} does not have all of its vectors yet; send them with: "
            f"mdvec import -n {tables.tool_name} --mode update"
        )
    pause_ends, reason = _failed.get(server, (0.0, ""))
    if time.monotonic() < pause_ends:
        raise EngineUnavailable(reason)
    try:
        ids = _ids_near(server, known, vector, limit, within)
    except CollectionMissing:
        raise
    except EngineUnavailable as error:
        _failed[server] = (time.monotonic() + _PAUSE_SECONDS, str(error))
        raise
    ids |= new if within is None else new.intersection(within.ids().tolist())
    return nearest_among(tables, vector, limit, ids)


def _ids_near(
    server: ChromaServer,
    known: StoredCollection,
    vector: Vectors,
    limit: int,
    within: ChunkRanges | None,
) -> set[int]:
    if _size(server, known.name, known.build) < known.size * (1 - _MAX_LACKING):
        raise CollectionMissing(
            f"{server.name} lacks vectors of it; send them with: mdvec doctor --fix"
        )
    index = ChromaIndex(server, known.name, SEARCH_SECONDS)
    return {*index.nearest(vector, limit, within)}


@cached(TTLCache(64, _CHECK_SECONDS), lock=Lock())
def _size(server: ChromaServer, name: str, _build: str | None) -> int:
    """The size of a collection, requested once a minute and after each import that changed it."""
    return ChromaIndex(server, name, SEARCH_SECONDS).count()
