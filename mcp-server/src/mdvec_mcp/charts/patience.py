"""HTTP connections that nobody else's can crowd out: idle ones go when there are too many."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST_CONNECTIONS = 100
REQUEST_SECONDS = 10.0
"""A connection without a request under way is kept for so long, and any other for thrice that."""
_ROUNDS = 3


class PatientProtocol(H11Protocol):
    """A connection that ends when it asks for nothing, and gives way when there are too many.

    With a new one too many, the oldest that has no request under way is closed, or else the
    oldest of all: a client that opens sockets and says nothing closes its own.
    """

    patience = REQUEST_SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, and let another go if there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._rounds = 0
        self._later()
        if len(self.connections) > MOST_CONNECTIONS:
            # Others of this class alone are in there: web sockets are not served.
            others: Any = self.connections - {self}
            min(others, key=lambda other: (other.answers, other.since)).give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it, and its time."""
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def answers(self) -> bool:
        """Whether a request is under way."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def give_up(self) -> None:
        """End it at once, whatever is still to be sent."""
        self.connections.discard(self)
        self.transport.abort()

    def _later(self) -> None:
        self._timer = self.loop.call_later(self.patience, self._look)

    def _look(self) -> None:
        self._rounds += 1
        if self.answers and self._rounds < _ROUNDS:
            self._later()
        else:
            self.give_up()
