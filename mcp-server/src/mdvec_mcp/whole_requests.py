"""Closes HTTP connections whose request does not arrive in time, to make room for others."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class WholeRequests(H11Protocol):
    """HTTP/1.1 with a time limit for a request to arrive.

    The time starts with the connection or the request's first byte. Between requests, uvicorn's
    limit for idle connections applies.
    """

    arrival_seconds = 30.0
    _ending: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
        elif self._ending is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that has ended."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._ending = self.loop.call_later(self.arrival_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
