"""A stop by the user reaches DuckDB at once, whichever of its threads works."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


@contextmanager
def stoppable(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Interrupt what the connection does when a signal comes that means to stop.

    DuckDB looks for signals between the tasks of a query, but not while its caller waits for
    another of its threads: a third of the stops were heard only when the query was over.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are not its business
        yield
        return
    told, tells = os.pipe()
    os.set_blocking(tells, False)
    before = signal.set_wakeup_fd(tells, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(connection, told), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(tells)
        watcher.join()
        os.close(told)


def _watch(connection: duckdb.DuckDBPyConnection, told: int) -> None:
    """Read the numbers of the signals that come, until nobody can send any."""
    while numbers := os.read(told, 64):
        if any(signal.getsignal(number) is signal.default_int_handler for number in numbers):
            connection.interrupt()
