"""The query process: started, asked under limits, and replaced when it dies or the data change."""

from __future__ import annotations

import errno
import itertools
import logging
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path

import psutil

from mdvec.cancelling import Cancelled, cancelled_by, is_cancelled, raise_if_cancelled
from mdvec.datasets import Column
from mdvec.log import record
from mdvec.platform import Worker, python_child
from mdvec.sizes import MEGABYTE
from mdvec.sql.core.refusals import (
    QueriesUnavailable,
    QueryStopped,
    error_of,
    no_room_to_start,
    out_of_memory,
    out_of_time,
)
from mdvec.sql.process.messages import Data, Message, QueryLimits, columns_in, missing_tables
from mdvec.sql.process.spool import Spool

logger = logging.getLogger("mdvec")

GRACE_SECONDS = 0.5
"""How long a query has to stop by itself before its process is killed."""
CANCELLED_GRACE_SECONDS = 0.2
"""The grace of a cancelled query, which is shorter as the next query may wait for the child."""
START_SECONDS = 120.0
_MAX_BYTES = 64 * MEGABYTE
_MODULE = "mdvec.sql.child.main"
_ALLOCATORS = {
    # Freed memory is returned together with its address space, which is also limited.
    "DUCKDB_JE_MALLOC_CONF": "retain:false,dirty_decay_ms:500,muzzy_decay_ms:0,narenas:2",
}


class Child:
    """Manages at most one child process with its spool, and replaces it when the data change.

    Unless noted otherwise, only the thread that has the turn may call a method.

    Args:
        spool_root: the folder in which the spool is made.
        limits: the limits of one query.
        data: returns the user's tables at this moment.
        warn: gets each warning about tables that could not be loaded.
        died: called when a child ended without a response; it may start the next one.
    """

    def __init__(
        self,
        spool_root: Path,
        limits: QueryLimits,
        data: Callable[[], Data],
        warn: Callable[[str], None],
        died: Callable[[], None],
    ) -> None:
        self._spool_root = spool_root
        self._limits = limits
        self._current_data = data
        self._warn = warn
        self._died = died
        self._spool: Spool | None = None
        self._worker: Worker | None = None
        self._numbers = itertools.count()
        self._data: Data | None = None
        self._closed = False
        self.last_used = time.monotonic()
        self.tables: dict[str, tuple[Column, ...]] = {}
        self.missing: list[str] = []

    @property
    def pid(self) -> int | None:
        """The child's process id; None if none runs."""
        return None if self._worker is None else self._worker.process.pid

    @property
    def data(self) -> Data:
        """The child's data."""
        assert self._data is not None  # noqa: S101 - asked after a request only
        return self._data

    @property
    def spool(self) -> Spool:
        """The folder of the child's files, made when it is first needed.

        Raises:
            QueriesUnavailable: it could not be made.
        """
        if self._spool is None:
            try:
                self._spool = Spool(self._spool_root)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise no_room_to_start() from error
                raise QueriesUnavailable(
                    f"the exports folder cannot be written ({error.strerror}); check [analytics] "
                    "folder and the space left there"
                ) from error
        return self._spool

    def is_ready(self) -> bool:
        """Whether a live child has the current data, and its spool still exists.

        Any thread may call this.
        """
        worker, spool = self._worker, self._spool
        return (
            worker is not None
            and worker.process.poll() is None
            and self._current_data() == self._data
            and spool is not None
            and spool.is_there()
        )

    def prepare(self) -> None:
        """Ensure that a child process with the current data is running.

        Raises:
            QueryError: none could be started.
        """
        if self._closed:
            raise QueriesUnavailable("the server is shutting down and takes no more queries")
        if self.is_ready():
            return
        self._kill()
        if self._spool is not None and not self._spool.is_there():
            self._spool.close()
            self._spool = None
        with cancelled_by(None):  # otherwise the next query would have to start a child
            self._start(self._current_data())

    def request(self, message: Message, seconds: float) -> Message:
        """Send a request to the prepared child; returns its response.

        Raises:
            QueryError: the child refused it, DuckDB could not run it, or it was stopped or crashed.
            Cancelled: the call was cancelled, and the child stopped.
        """
        try:
            response = self._response(message, seconds)
        except QueryStopped as reason:
            self._kill()
            self._died()
            logger.info("analytics: the query process died during a query: %s", reason)
            raise_if_cancelled()
            raise
        finally:
            self.last_used = time.monotonic()
        if "error" in response:
            self.spool.clear()
            raise_if_cancelled()
            raise error_of(response)
        return response

    def refuse(self) -> None:
        """Make every later request raise QueriesUnavailable; any thread may call it."""
        self._closed = True

    def interrupt(self) -> None:
        """Kill the child from another thread; a request under way then gets no response."""
        if (worker := self._worker) is not None:
            worker.process.kill()

    def rest(self, seconds: float) -> None:
        """End a child that was unused for ``seconds``; the next request starts another child."""
        if self._worker is not None and time.monotonic() - self.last_used > seconds:
            self.close()

    def close(self) -> None:
        """End the child and remove its spool."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close(GRACE_SECONDS)
        if self._spool is not None:
            self._spool.close()

    def _start(self, data: Data) -> None:
        config = _config(data, self._limits, self.spool)
        with ExitStack() as failing:
            try:
                process = python_child(_MODULE, **_ALLOCATORS)
                worker = Worker(**process, cwd=self.spool.work, max_bytes=_MAX_BYTES)
                failing.callback(worker.close)
                deadline = time.monotonic() + START_SECONDS
                worker.send(config, deadline)
                ready = worker.receive(deadline, partial(self._check_memory, worker))
            except (EOFError, OSError, QueryStopped) as error:
                raise _not_started(repr(error)) from error
            if "broken" in ready:
                raise _not_started(ready["broken"])
            if "tables" not in ready:
                raise error_of(ready)
            failing.pop_all()
        self._worker, self._data = worker, data
        walls = {name: ready[name] for name in ("landlock", "seccomp", "own_user")}
        record("query_process", **walls, memory_mb=self._limits.memory_mb)
        self.tables = {name: columns_in(columns) for name, columns in ready["tables"].items()}
        self.missing = missing_tables(ready["missing"], data.parquet)
        for warning in self.missing:
            self._warn(warning)

    def _response(self, message: Message, seconds: float) -> Message:
        """Send a request and wait for the response; if this raises, the child must be killed.

        After ``seconds``, or when this thread's work is cancelled, the child gets the message to
        stop, and responds with an error.

        Raises:
            QueryStopped: it did not respond in time, uses too much memory, or has ended.
        """
        worker, number = self._worker, next(self._numbers)
        assert worker is not None  # noqa: S101 - prepared in the same turn
        watch, deadline = partial(self._check_memory, worker), time.monotonic() + seconds
        try:
            with cancelled_by(None):  # the child must get whole messages
                worker.send(message | {"id": number}, deadline)
            with suppress(TimeoutError, Cancelled):
                return worker.receive(deadline, watch)
            grace = CANCELLED_GRACE_SECONDS if is_cancelled() else GRACE_SECONDS
            deadline = time.monotonic() + grace
            with cancelled_by(None):
                worker.send({"do": "stop", "id": number}, deadline)
                return worker.receive(deadline, watch)
        except TimeoutError as error:
            raise out_of_time(self._limits.seconds) from error
        except EOFError as error:
            raise QueryStopped(
                "the query broke the process that ran it, and a new one was started; simplify it"
            ) from error

    def _check_memory(self, worker: Worker) -> None:
        with suppress(psutil.Error):
            process = psutil.Process(worker.process.pid)
            if process.memory_info().rss > self._limits.memory_mb * MEGABYTE:
                raise out_of_memory(self._limits.memory_mb)

    def _kill(self) -> None:
        """Kill the child, and remove its unfinished files."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()
            if self._spool is not None:
                self._spool.clear()


def _config(data: Data, limits: QueryLimits, spool: Spool) -> Message:
    """The first message to a child: its limits and its tables."""
    return {
        "limits": asdict(limits),
        "spool": str(spool.work),
        "shown": str(spool.tables),
        "database": str(data.database.absolute()),
        "tables": [
            [table.name, str(table.path.absolute()), str(table.folder or table.path)]
            for table in data.parquet
        ],
        "households": [[tool_id, name] for tool_id, name, _ in data.households],
        "month_starts_on": data.month_starts_on,
    }


def _not_started(reason: str) -> QueriesUnavailable:
    """The error for a child that did not start; the reason, which may quote data, is logged."""
    logger.warning(
        "analytics: the query process did not start: %s",
        reason,
        extra={"event": "query_process_failed"},
    )
    return QueriesUnavailable(
        "the process that runs queries did not start; the server's log says why, and "
        "[analytics] max_memory_mb may be too small for these data"
    )
