"""Turns to run queries, round robin by session; and the time limit that queries of a call share."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from mdvec.cancelling import raise_if_cancelled
from mdvec.sql.core.refusals import out_of_time

_CANCELLATION_CHECK_SECONDS = 0.05
ALONE = "request "
"""The prefix of the session of a request without one, which ends with the request."""
_SECONDS_BETWEEN_QUERIES = 1.0
"""How long after a query its session still counts as one that waits for a turn."""
_caller: ContextVar[tuple[str, str]] = ContextVar("mdvec-sql-caller", default=("", ""))
"""The session, and the client."""
_call: ContextVar[Call] = ContextVar("mdvec-sql-call")


@contextmanager
def in_session(session: str, client: str = "") -> Iterator[None]:
    """Within this context, turns and named tables belong to this session.

    If the ``client`` is known, turns are shared among its sessions.
    """
    token = _caller.set((session, client))
    try:
        yield
    finally:
        _caller.reset(token)


def current_session() -> str:
    """The session of this context; "" if there is only one, as over STDIO."""
    return _caller.get()[0]


class NoTurn(Exception):
    """No turn came in time."""


@dataclass(eq=False)
class _Waiting:
    """A thread that waits until one of ``places`` is free."""

    session: str
    places: Sequence[int]


@dataclass
class Turns:
    """Gives each place to one thread at a time."""

    _busy: dict[int, str] = field(default_factory=dict)
    _queue: list[_Waiting] = field(default_factory=list)
    _ended: dict[str, float] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def turn(self, places: Sequence[int], seconds: float) -> Iterator[int]:
        """Wait until one of these places is free, and reserve it for the block.

        Raises:
            NoTurn: no place became free within ``seconds``.
            Cancelled: the work of this thread was cancelled meanwhile.
        """
        mine = _Waiting(_caller.get()[1] or current_session(), places)
        place = self._take(mine, seconds)
        try:
            yield place
        finally:
            with self._changed:
                del self._busy[place]
                self._ended[mine.session] = time.monotonic()
                # Other threads of this session now queue behind all sessions that are already
                # waiting.
                self._queue.sort(key=lambda waiting: waiting.session == mine.session)
                self._changed.notify_all()

    def _take(self, mine: _Waiting, seconds: float) -> int:
        deadline = time.monotonic() + seconds
        with self._changed:
            self._queue.append(mine)
            try:
                while (place := self._free_places().get(mine)) is None:
                    raise_if_cancelled()
                    if time.monotonic() > deadline:
                        raise NoTurn
                    self._changed.wait(_CANCELLATION_CHECK_SECONDS)
                raise_if_cancelled()
                self._busy[place] = mine.session
                return place
            finally:
                self._queue.remove(mine)
                self._changed.notify_all()

    def _free_places(self) -> dict[_Waiting, int]:
        """The place that each waiting thread can take now.

        The session that has waited longest chooses first, so each waits for at most one turn of
        every other session. In it, the thread that has waited longest gets the first place, and the
        latest thread a second place: programs with the same name share a session, and should wait
        for at most one slow query of another program.
        """
        granted: dict[_Waiting, int] = {}
        busy, running = set(self._busy), Counter(self._busy.values())
        since = time.monotonic() - _SECONDS_BETWEEN_QUERIES
        self._ended = {name: ended for name, ended in self._ended.items() if ended > since}
        asking = {*self._ended, *(waiting.session for waiting in self._queue)}
        for place in sorted({place for waiting in self._queue for place in waiting.places} - busy):
            able = [
                waiting
                for waiting in self._queue
                if place in waiting.places
                and waiting not in granted
                and not (running[waiting.session] and asking - {waiting.session})
            ]
            if able:
                same = [waiting for waiting in able if waiting.session == able[0].session]
                granted[same[0] if place == same[0].places[0] else same[-1]] = place
                running[able[0].session] += 1
        return granted


@dataclass(slots=True)
class Call:
    """A call of a tool or command, whose queries share the time limit of one query.

    ``seconds`` is the time used so far, without waiting for turns. ``reads`` are the names of the
    tables that were read, ``noted`` the sources that were checked for traps.
    """

    seconds: float = 0.0
    reads: set[str] = field(default_factory=set)
    noted: set[str] = field(default_factory=set)

    def time_left(self, limit: float) -> float:
        """The seconds that the next query may take.

        Raises:
            QueryStopped: earlier queries of the call used up the time.
        """
        left = limit - self.seconds
        if left <= 0:
            raise out_of_time(limit)
        return left

    def is_first_run_of(self, source: str) -> bool:
        """Whether the call runs this source for the first time, as it is checked only once."""
        is_first = source not in self.noted
        self.noted.add(source)
        return is_first


@contextmanager
def one_call() -> Iterator[Call]:
    """Within this context, queries belong to one call."""
    call = Call()
    token = _call.set(call)
    try:
        yield call
    finally:
        _call.reset(token)


def current_call() -> Call:
    """The call of this context; without one, each query is a call of its own."""
    return _call.get(Call())
