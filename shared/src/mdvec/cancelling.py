"""Cancels work that its caller no longer wants; long work checks between its steps.

The event is in a context variable, not a parameter, so that every stage of a ``Stopwatch`` can
check it. The threads that anyio starts for a request inherit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

_cancellation: ContextVar[Event | None] = ContextVar("mdvec-cancellation", default=None)


class Cancelled(KeyboardInterrupt):
    """The caller no longer wants the result.

    Like Ctrl-C, it passes every error handler, and an import keeps what it has finished.
    """


@contextmanager
def cancelled_by(event: Event | None) -> Iterator[None]:
    """Within this context, work ends at its next step once ``event`` is set.

    With None it runs to its end.
    """
    token = _cancellation.set(event)
    try:
        yield
    finally:
        _cancellation.reset(token)


def is_cancelled() -> bool:
    """Whether the work of this thread was cancelled."""
    event = _cancellation.get()
    return event is not None and event.is_set()


def raise_if_cancelled() -> None:
    """End the work of this thread if it was cancelled.

    Raises:
        Cancelled: the work was cancelled.
    """
    if is_cancelled():
        raise Cancelled
