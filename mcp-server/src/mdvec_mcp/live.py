"""Keeps what the server offers up to date with the rows of the database."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mdvec.database.connection import Connection, DatabaseError, open_database
from mdvec.tools.kinds import KINDS
from mdvec.tools.rows import Tool, list_tools
from mdvec.tools.unfinished import described_tool

from mdvec_mcp.file_stamp import FileStamp, stamp_of
from mdvec_mcp.offer import Offer

logger = logging.getLogger("mdvec")


@dataclass(frozen=True, slots=True)
class _State:
    """What the offer depends on."""

    rows: list[Tool]
    ledgers: tuple[int, ...]

    def shown_fields(self) -> list[tuple[object, ...]]:
        """The part of the rows that the offer shows or uses; an import may change their tags."""
        return [
            (
                (row.name, row.title, row.kind, described_tool(row)),
                (row.model, row.last_import_at, row.generation),
            )
            for row in self.rows
        ]


class LiveOffer:
    """The offer of a database's active rows, and its changes. Thread-safe.

    While the file is missing, emptied or unreadable, the last offer stays: its tools say what
    happened to the database.

    Args:
        database: the database file.
        rows: its active rows.
        make: makes the offer of rows.
    """

    def __init__(
        self, database: Path, rows: Sequence[Tool], make: Callable[[Sequence[Tool]], Offer]
    ) -> None:
        self._database = database
        self._make = make
        self._lock = threading.Lock()
        self._seen: FileStamp | None = None
        self._state = _State(list(rows), ())
        self._knows_ledgers = False
        self.offer = make(rows)

    def poll(self) -> list[ServerEvent]:
        """Read the rows again if the file has changed, and return the events for clients.

        Costs two stat calls while nothing changes.
        """
        with self._lock:
            stamp = stamp_of(self._database)
            if stamp is None or stamp == self._seen:
                return []
            self._seen = stamp if stamp.is_settled() else None
            try:
                state = _read(self._database)
                return [] if state is None else self._apply(state)
            except DatabaseError as error:
                logger.info("the tools stay as they are: %s", error)
                return []

    def _apply(self, state: _State) -> list[ServerEvent]:
        old, was, knew = self.offer, self._state, self._knows_ledgers
        if state.shown_fields() != was.shown_fields():
            self.offer = self._make(state.rows)
        self._state, self._knows_ledgers = state, True
        events: list[ServerEvent] = []
        if _listed(old) != _listed(self.offer):
            events.append(ToolsListChanged())
        if old.resources.keys() != self.offer.resources.keys():
            events.append(ResourcesListChanged())
        if old.prompts.keys() != self.offer.prompts.keys():
            events.append(PromptsListChanged())
        if knew and state.ledgers != was.ledgers:
            events += [ResourceUpdated(uri) for uri in self.offer.resources]
        return events


def _listed(offer: Offer) -> list[tuple[object, ...]]:
    return [
        (tool.name, tool.title, tool.description, tool.parameters) for tool in offer.tools.values()
    ]


def _read(database: Path) -> _State | None:
    """The rows and the versions of the ledgers; None if the file was emptied."""
    with open_database(database, "read") as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone() or (0,)
        if not version:
            return None
        rows = list_tools(connection, active_only=True)
        return _State(rows, _ledger_versions(connection, rows))


def _ledger_versions(connection: Connection, rows: Sequence[Tool]) -> tuple[int, ...]:
    ledgers = [row.id for row in rows if KINDS[row.kind].has_ledger]
    if not ledgers:
        return ()
    from mdvec.household.interfaces.rows import data_version

    return tuple(data_version(connection, row) for row in ledgers)
