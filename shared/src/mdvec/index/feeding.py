"""Sends the changes in a generation's outbox to its engine, until both hold the same."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

import apsw

from mdvec.errors import MdvecError
from mdvec.index import outbox
from mdvec.index.chroma import ChromaIndex
from mdvec.index.chroma_client import (
    SEARCH_SECONDS,
    WRITE_SECONDS,
    CollectionMissing,
    check_client_installed,
)
from mdvec.index.chroma_server import ChromaServer
from mdvec.index.nearest import EngineUnavailable
from mdvec.index.outbox import Collection
from mdvec.index.outside import engine_has_answered
from mdvec.index.tables import Tables

_BATCH = 1_000
_TOKEN_BYTES = 12

logger = logging.getLogger("mdvec")


class OtherWriter(MdvecError):
    """Another copy of the database has written to the collection."""

    def __init__(self, server: ChromaServer, tables: Tables) -> None:
        super().__init__(
            f"another copy of this database has changed the vectors of {tables.tool_name!r} in "
            f"{server.name}; import where that copy is, or give this one vectors of its own there: "
            "mdvec doctor --fix"
        )


class Feed:
    """Sends changes while an import makes them.

    If the engine does not answer, the changes stay in the outbox, ``trouble`` says why, and the
    import goes on; the next one sends them. Call outside of transactions. Only one process may
    feed a tool: the import's lock sees to that.

    Raises:
        ExtraMissing: an engine is set, but its client is not installed.
    """

    def __init__(self, connection: apsw.Connection, server: ChromaServer | None) -> None:
        if server is not None:
            check_client_installed()
        self.trouble: EngineUnavailable | None = None
        self._connection = connection
        self._server = server
        self._claimed: Collection | None = None

    def begin(self, tables: Tables) -> None:
        """Claim the collection of a generation, before anything is changed.

        Raises:
            OtherWriter: another copy of the database has written to it.
        """
        self._try(tables, self._index)

    def changed(self, tables: Tables) -> None:
        """Send the changes if they are many."""
        if self._is_ready(tables) and outbox.waiting_count(self._connection, tables) >= _BATCH:
            self._try(tables, self._send)

    def complete(self, tables: Tables) -> None:
        """Send all changes, compare what the engine has, and delete collections without use.

        Raises:
            OtherWriter: another copy of the database wrote to the collection meanwhile.
        """
        self._try(tables, self._complete)
        if self._server is not None and self.trouble is None:
            engine_has_answered(self._server)
            try:
                delete_retired(self._connection, self._server)
            except EngineUnavailable as error:
                logger.debug("[engine] %s", error)

    def _is_ready(self, tables: Tables) -> bool:
        is_possible = self._server is not None and self.trouble is None
        return is_possible and outbox.has_outbox(self._connection, tables)

    def _try(self, tables: Tables, work: Callable[[Tables], object]) -> None:
        if not self._is_ready(tables):
            return
        try:
            work(tables)
        except EngineUnavailable as error:
            self.trouble = error
            logger.debug("[engine] %s", error)

    def _index(self, tables: Tables) -> ChromaIndex:
        server = self._server or ChromaServer()
        known = outbox.collection(self._connection, tables)
        index = ChromaIndex(server, known.name, WRITE_SECONDS)
        if self._claimed is None or self._claimed.name != known.name:
            self._claimed = claim(self._connection, tables, server, index)
        return index

    def _send(self, tables: Tables) -> None:
        send(self._connection, tables, self._index(tables))

    def _complete(self, tables: Tables) -> None:
        index = self._index(tables)
        send(self._connection, tables, index)
        if index.count() != len(outbox.stored_ids(self._connection, tables)):
            enqueue_differences(self._connection, tables, index)
            send(self._connection, tables, index)
        if self._server and self._claimed and index.writer() != self._claimed.writer:
            raise OtherWriter(self._server, tables)


def claim(
    connection: apsw.Connection, tables: Tables, server: ChromaServer, index: ChromaIndex
) -> Collection:
    """Make sure that the collection is there and this file's, and mark it with a new token.

    The token is noted in the file before and after it is left in the collection, so that a kill in
    between is no other writer.

    Raises:
        OtherWriter: the collection has a token that this file never left.
    """
    known = outbox.collection(connection, tables)
    try:
        left = index.writer()
    except CollectionMissing:
        left = None
        index.prepare()
        with connection:
            outbox.enqueue_all(connection, tables)
    else:
        if is_other_writer(known, left):
            raise OtherWriter(server, tables)
        index.prepare()
    token = secrets.token_hex(_TOKEN_BYTES)
    with connection:
        outbox.set_collection(connection, tables, replace(known, writer=left, next=token))
    index.set_writer(token)
    claimed = replace(known, writer=token, next=None)
    with connection:
        outbox.set_collection(connection, tables, claimed)
    return claimed


def is_other_writer(known: Collection, left: str | None) -> bool:
    """Whether the token in a collection is none that this file has left there."""
    return left is not None and left not in (known.writer, known.next)


def send(
    connection: apsw.Connection, tables: Tables, index: ChromaIndex, most: int | None = None
) -> None:
    """Send changes, a batch at a time, each forgotten when the engine has taken it.

    ``most`` ends it with the batch that reaches so many; None sends all.
    """
    sent = 0
    while (most is None or sent < most) and (
        batch := outbox.next_batch(connection, tables, _BATCH)
    ):
        if batch.ids:
            index.put(batch.ids, batch.vectors)
        if batch.gone:
            index.drop(batch.gone)
        outbox.take_out(connection, tables, batch)
        sent += len(batch)


def differences(
    connection: apsw.Connection, tables: Tables, index: ChromaIndex
) -> tuple[list[int], list[int]]:
    """The ids that the engine lacks, and those that it has although their chunks are gone."""
    import numpy as np

    stored, known = outbox.stored_ids(connection, tables), index.ids()
    return np.setdiff1d(stored, known).tolist(), np.setdiff1d(known, stored).tolist()


def enqueue_differences(connection: apsw.Connection, tables: Tables, index: ChromaIndex) -> None:
    """Put into the outbox whatever makes the engine have exactly the stored chunks."""
    index.drop_foreign()
    with connection:
        lacking, extra = differences(connection, tables, index)
        outbox.enqueue(connection, tables, lacking, is_gone=False)
        outbox.enqueue(connection, tables, extra, is_gone=True)


def waiting_hint(
    connection: apsw.Connection, tables: Tables, server: ChromaServer | None
) -> str | None:
    """A sentence if an import left changes that its engine has not taken."""
    if server is None or not outbox.has_outbox(connection, tables):
        return None
    count = outbox.waiting_count(connection, tables)
    if not count:
        return None
    return (
        f"{server.name} has not taken {count:,} changes of vectors yet; all of them are kept, and "
        "a running server or the next import sends them "
        f"(mdvec import -n {tables.tool_name} --mode update)"
    )


def delete_retired(
    connection: apsw.Connection, server: ChromaServer, names: Iterable[str] | None = None
) -> None:
    """Delete the collections that no generation uses any more: all, or those of ``names``.

    Raises:
        EngineUnavailable: the server does not answer.
    """
    for name in outbox.retired(connection) if names is None else names:
        ChromaIndex(server, name, WRITE_SECONDS).retire()
        outbox.forget_retired(connection, name)


def delete_own(connection: apsw.Connection, server: ChromaServer, known: Collection) -> bool:
    """Delete a retired collection, unless another copy of the database has written to it.

    Returns whether it was this file's; in either case it is forgotten.

    Raises:
        EngineUnavailable: the server does not answer; the collection is deleted later.
    """
    index = ChromaIndex(server, known.name, SEARCH_SECONDS)
    is_own = True
    with suppress(CollectionMissing):
        is_own = not is_other_writer(known, index.writer())
        if is_own:
            index.retire()
    outbox.forget_retired(connection, known.name)
    return is_own
