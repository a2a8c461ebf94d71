"""An offer that follows no database, for tests of the server around it."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcp.server.subscriptions import ServerEvent
from mdvec_mcp.offer import Offer


@dataclass(frozen=True)
class FixedOffer:
    """What a `LiveOffer` is to the server, without a database that changes."""

    offer: Offer
    changes: list[ServerEvent] = field(default_factory=list)

    def poll(self) -> list[ServerEvent]:
        """The changes that a test put there since the last time."""
        events = self.changes[:]
        self.changes.clear()
        return events
