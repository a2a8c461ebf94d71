"""Makes Ctrl-C interrupt DuckDB at once, whichever of its threads is working."""

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
    """Interrupt the connection's query when a signal arrives that raises KeyboardInterrupt.

    DuckDB checks for signals between the tasks of a query, but not while the caller waits for
    another of its threads: a third of the interrupts took effect only after the query had ended.
    """
    if threading.current_thread() is not threading.main_thread():  # it gets no signals
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(connection, reader), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _watch(connection: duckdb.DuckDBPyConnection, reader: int) -> None:
    """Read signal numbers from the pipe until it is closed."""
    while numbers := os.read(reader, 64):
        if any(signal.getsignal(number) is signal.default_int_handler for number in numbers):
            connection.interrupt()
