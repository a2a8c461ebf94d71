"""The turns of queries at a few processes: first come, first served, and each wait cancellable."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mdvec.cancelling import raise_if_cancelled

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
        place = self._take(places, seconds)
        try:
            yield place
        finally:
            with self._changed:
                self._busy.discard(place)
                self._changed.notify_all()

    def _take(self, places: Sequence[int], seconds: float) -> int:
        deadline = time.monotonic() + seconds
        mine = _Waiting(places)
        with self._changed:
            self._queue.append(mine)
            try:
                while (place := self._given().get(mine)) is None:
                    raise_if_cancelled()
                    if time.monotonic() > deadline:
                        raise NoTurn
                    self._changed.wait(_CANCELLATION_CHECK_SECONDS)
                raise_if_cancelled()
                self._busy.add(place)
                return place
            finally:
                self._queue.remove(mine)
                self._changed.notify_all()

    def _given(self) -> dict[_Waiting, int]:
        """The place that each waiting thread can take now; those who came first choose first."""
        given: dict[_Waiting, int] = {}
        taken = set(self._busy)
        for one in self._queue:
            place = next((place for place in one.places if place not in taken), None)
            if place is not None:
                given[one] = place
                taken.add(place)
        return given
