"""One child and the queue for it; its tables are brought up to date before each query."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from mdvec.cancelling import cancelled_by, raise_if_cancelled
from mdvec.errors import MdvecError
from mdvec.sql.core.refusals import QueriesUnavailable
from mdvec.sql.process.messages import Data, Message
from mdvec.sql.process.running_child import ChildDied, RunningChild
from mdvec.sql.process.table_registry import Remaking


class Lane:
    """Sends requests to a child, which it replaces when that died or its data changed.

    Only the thread whose turn it is calls ``prepare``, ``request`` and ``close``.

    Args:
        child: the child, not yet started.
        remaking: fills a new child with the materialized tables; None holds none of them.
        data: returns the user's tables at this moment.
        warm: has ``prepare`` called soon, in a turn of its own.
    """

    def __init__(
        self,
        child: RunningChild,
        remaking: Remaking | None,
        data: Callable[[], Data],
        warm: Callable[[], None],
    ) -> None:
        self.child = child
        self.last_used = time.monotonic()
        self._remaking = remaking
        self._data = data
        self._warm = warm
        self._is_whole = threading.Event()
        self._closed = False

    def is_ready(self) -> bool:
        """Whether a live child holds the current data and every table; any thread may ask."""
        return self._is_whole.is_set() and self.child.is_ready_for(self._data())

    def prepare(self) -> None:
        """Have a child running that holds the current data and every materialized table.

        Raises:
            QueryError: none could be started.
        """
        if self._closed:
            raise QueriesUnavailable("the server is shutting down and takes no more queries")
        data = self._data()
        if self.child.is_ready_for(data):
            return
        self._is_whole.clear()
        self.child.restart(data)
        if self._remaking is not None:
            self._remaking.remake_all()
        if not self.child.is_running:
            self.child.start(data)
        self._is_whole.set()

    def request(self, message: Message) -> Message:
        """The child's response; when the child dies, the next one is started.

        Raises:
            QueryError: it was refused, failed, or broke the child.
            Cancelled: the call was cancelled.
        """
        try:
            # Cancelled half-way, it would lose tables that other queries need.
            with cancelled_by(None):
                self.prepare()
            return self.child.request(message)
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
            self._is_whole.clear()
            self.child.close()

    def close(self) -> None:
        """End the child and remove its folder."""
        with suppress(MdvecError):
            self.child.close()


_CANCELLATION_CHECK_SECONDS = 0.05


class NoTurn(Exception):
    """No turn came in time."""


@dataclass(eq=False)
class _Waiting:
    """One who waits for the first free of some places."""

    places: Sequence[int]


@dataclass
class Turns:
    """Gives each place to one thread at a time."""

    _busy: set[int] = field(default_factory=set)
    _queue: list[_Waiting] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def turn(self, places: Sequence[int], seconds: float) -> Iterator[int]:
        """Wait for the first free of these places, which is this thread's until the block ends.

        Raises:
            NoTurn: none came free in ``seconds``.
            Cancelled: the work of this thread was cancelled meanwhile.
        """
        slot = self._take(places, seconds)
        try:
            yield slot
        finally:
            with self._changed:
                self._busy.discard(slot)
                self._changed.notify_all()

    def _take(self, places: Sequence[int], seconds: float) -> int:
        deadline = time.monotonic() + seconds
        mine = _Waiting(places)
        with self._changed:
            self._queue.append(mine)
            try:
                while (slot := self._given().get(mine)) is None:
                    raise_if_cancelled()
                    if time.monotonic() > deadline:
                        raise NoTurn
                    self._changed.wait(_CANCELLATION_CHECK_SECONDS)
                raise_if_cancelled()
                self._busy.add(slot)
                return slot
            finally:
                self._queue.remove(mine)
                self._changed.notify_all()

    def _given(self) -> dict[_Waiting, int]:
        """The place that each waiting thread can take now; those who came first choose first."""
        given: dict[_Waiting, int] = {}
        taken = set(self._busy)
        for waiting in self._queue:
            slot = next((slot for slot in waiting.places if slot not in taken), None)
            if slot is not None:
                given[waiting] = slot
                taken.add(slot)
        return given
