"""One child, which is brought up to date before each query and replaced when it died."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from mdvec.cancelling import cancelled_by, raise_if_cancelled
from mdvec.errors import MdvecError
from mdvec.sql.core.refusals import QueriesUnavailable
from mdvec.sql.process.messages import Data, Message
from mdvec.sql.process.running_child import ChildDied, RunningChild


class Lane:
    """Sends requests to a child, which it replaces when that died or its data changed.

    Only the thread whose turn it is calls ``prepare``, ``request`` and ``close``.

    Args:
        child: the child, not yet started.
        data: returns the user's tables at this moment.
        warm: has ``prepare`` called soon, in a turn of its own.
    """

    def __init__(
        self, child: RunningChild, data: Callable[[], Data], warm: Callable[[], None]
    ) -> None:
        self.child = child
        self.last_used = time.monotonic()
        self._data = data
        self._warm = warm
        self._closed = False

    def is_ready(self) -> bool:
        """Whether a live child holds the current data; any thread may ask."""
        return self.child.is_ready_for(self._data())

    def prepare(self) -> None:
        """Have a child running that holds the current data.

        Raises:
            QueryError: none could be started.
        """
        if self._closed:
            raise QueriesUnavailable("the server is shutting down and takes no more queries")
        data = self._data()
        if not self.child.is_ready_for(data):
            with cancelled_by(None):  # cancelled half-way, the next query would wait for it
                self.child.restart(data)

    def request(self, message: Message, seconds: float) -> Message:
        """The response of the prepared child; when it dies, the next one is started.

        Raises:
            QueryError: it was refused, failed, or broke the child.
            Cancelled: the call was cancelled.
        """
        try:
            return self.child.request(message, seconds)
        except ChildDied as died:
            self._warm()
            raise_if_cancelled()
            raise died.reason from died
        finally:
            self.last_used = time.monotonic()

    def refuse(self) -> None:
        """Have every later request raise QueriesUnavailable; any thread may call it."""
        self._closed = True

    def rest(self, seconds: float) -> None:
        """End a child without use for ``seconds``; the next request starts another."""
        if self.child.is_running and time.monotonic() - self.last_used > seconds:
            self.child.close()

    def close(self) -> None:
        """End the child and remove its folder."""
        with suppress(MdvecError):
            self.child.close()
