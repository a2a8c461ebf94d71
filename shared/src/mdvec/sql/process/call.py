"""What the queries of one call have in common: their time, and the tables that they read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from mdvec.sql.core.refusals import out_of_time


@dataclass(slots=True)
class Call:
    """One call of a tool or command; all of its queries together have the time of one.

    Attributes:
        seconds: what its queries took; waiting for a turn does not count.
        reads: the names of the user's tables that they read.
    """

    seconds: float = 0.0
    reads: set[str] = field(default_factory=set)


_call: ContextVar[Call | None] = ContextVar("mdvec-sql-call", default=None)


@contextmanager
def one_call() -> Iterator[Call]:
    """Within this context, queries belong to one call."""
    call = Call()
    token = _call.set(call)
    try:
        yield call
    finally:
        _call.reset(token)


def time_left(limit: float) -> float:
    """The seconds that the next query may take.

    Raises:
        QueryStopped: the queries before it took all of them.
    """
    call = _call.get()
    left = limit - (0.0 if call is None else call.seconds)
    if left <= 0:
        raise out_of_time(limit)
    return left


def spend(seconds: float) -> None:
    """Count the seconds of a query."""
    if (call := _call.get()) is not None:
        call.seconds += seconds


def note_reads(names: Iterable[str]) -> None:
    """Remember which tables a query read."""
    if (call := _call.get()) is not None:
        call.reads.update(names)
