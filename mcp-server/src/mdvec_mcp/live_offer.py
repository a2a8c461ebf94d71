"""Keeps what the server offers up to date with the database."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mdvec.database import DatabaseError, FileStamp, stamp_of
from mdvec.manage import offered_state
from mdvec.tools import Tool, described_tool

from mdvec_mcp.offer import Offer

logger = logging.getLogger("mdvec")


class LiveOffer:
    """Keeps the offer that ``make`` builds from a database's active tools up to date. Thread-safe.

    While the file is missing, emptied or unreadable, the last offer stays; its tools report what
    happened to the database.
    """

    def __init__(
        self, database: Path, rows: Sequence[Tool], make: Callable[[Sequence[Tool]], Offer]
    ) -> None:
        self._database = database
        self._make = make
        self._lock = threading.Lock()
        self._seen: FileStamp | None = None
        self._shown = _shown_fields(rows)
        self._ledgers: list[int] | None = None
        self.offer = make(rows)

    def poll(self) -> list[ServerEvent]:
        """Read the tools again if the file has changed, and return the events for clients.

        Takes two stat calls if nothing has changed.
        """
        with self._lock:
            stamp = stamp_of(self._database)
            if stamp is None or stamp == self._seen:
                return []
            self._seen = stamp if stamp.is_settled() else None
            try:
                state = offered_state(self._database)
            except DatabaseError as error:
                logger.info("the tools stay as they are: %s", error)
                return []
            return [] if state is None else self._follow(*state)

    def _follow(self, rows: Sequence[Tool], ledgers: list[int]) -> list[ServerEvent]:
        old, shown = self.offer.lists(), _shown_fields(rows)
        if shown != self._shown:
            self.offer = self._make(rows)
        was, self._shown, self._ledgers = self._ledgers, shown, ledgers
        now = self.offer.lists()
        events = [event for event, items in now.items() if items != old[event]]
        if was not in (None, ledgers):
            events += [ResourceUpdated(str(uri)) for uri in now[ResourcesListChanged()]]
        return events


def _shown_fields(rows: Sequence[Tool]) -> list[tuple[object, ...]]:
    """The fields of the rows that the offer depends on."""
    return [
        (row.name, row.title, row.kind, described_tool(row), row.model, row.last_import_at,
         row.generation)
        for row in rows
    ]  # fmt: skip
