"""HTTP connections that time out, so that idle clients cannot block others."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MAX_CONNECTIONS = 100
REQUEST_SECONDS = 10.0
"""A connection is closed if it has no request after this long."""
_MAX_ROUNDS = 3  # how often that is checked of a connection with requests before it is closed


class TimedConnection(H11Protocol):
    """An HTTP/1.1 connection that is closed when it is idle, or when there are too many.

    A connection beyond MAX_CONNECTIONS closes the oldest idle one, or the oldest of all if none
    is idle. So a client that opens many sockets and sends nothing loses its own.
    """

    timeout_seconds = REQUEST_SECONDS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, and close another if there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._rounds = 0
        self._start_timer()
        if len(self.connections) > MAX_CONNECTIONS:
            # All are of this class: web sockets are not served.
            others: Any = self.connections - {self}
            min(others, key=lambda other: (other.is_answering, other.since)).abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._timer.cancel()
        super().connection_lost(exc)

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def abort(self) -> None:
        """Close the connection at once, without sending what is left."""
        self.connections.discard(self)
        self.transport.abort()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.timeout_seconds, self._check)

    def _check(self) -> None:
        self._rounds += 1
        if self.is_answering and self._rounds < _MAX_ROUNDS:
            self._start_timer()
        else:
            self.abort()
