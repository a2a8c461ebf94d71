"""An offer that follows no database, for tests of the server around it."""

from __future__ import annotations

from dataclasses import dataclass

from mcp.server.subscriptions import ServerEvent
from mdvec_mcp.offer import Offer


@dataclass(frozen=True)
class FixedOffer:
    """What a `LiveOffer` is to the server, without a database that changes."""

    offer: Offer

    def poll(self) -> list[ServerEvent]:
        """Nothing changes."""
        return []
