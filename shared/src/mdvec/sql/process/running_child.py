"""The running child and its private folder; it is restarted when its data changed."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from mdvec.cancelling import raise_if_cancelled
from mdvec.datasets import Column
from mdvec.log import record
from mdvec.sql.core.refusals import (
    QueriesUnavailable,
    QueryError,
    error_named,
    no_room_to_start,
    out_of_memory,
    out_of_time,
    process_died,
)
from mdvec.sql.process.child_process import (
    ChildProcess,
    ChildTimeout,
    MemoryExceeded,
)
from mdvec.sql.process.messages import (
    Data,
    Message,
    QueryLimits,
    WireClosed,
    columns_in,
    missing_tables,
)

_LOCK = "lock"


class Spool:
    """A folder of one query process, removed when it closes.

    The child writes to ``work``, and reads the files of ``tables``, which the server puts there
    for one query; ``done``, which it cannot reach, holds finished files until the server moves
    them.

    Args:
        root: the folder in which it is made; spools left there by dead processes are removed.
    """

    def __init__(self, root: Path) -> None:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _turn(root):
            _remove_abandoned(root)
            self._folder = root.resolve() / f"spool_{secrets.token_hex(16)}"
            self._folder.mkdir(mode=0o700)
            # The system releases the lock when this process ends, however it ends.
            self._lock: int | None = os.open(self._folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.work, self.done = self._folder / "work", self._folder / "done"
        self.tables = self._folder / "tables"
        for folder in (self.work, self.done, self.tables):
            folder.mkdir(mode=0o700)

    def finish(self, name: str) -> Path:
        """Move a finished file out of the child's reach and return its new path.

        It becomes this process's file: beside a server of root's, the child has a user of its own.
        """
        finished = self.done / name
        (self.work / name).rename(finished)
        os.chown(finished, os.geteuid(), os.getegid())
        finished.chmod(0o600)
        return finished

    @contextmanager
    def showing(self, files: Iterable[Path]) -> Iterator[None]:
        """Within this context, the child can read these files under their names in ``tables``.

        A link shares the file, so that an export that expires meanwhile can be read to its end.
        """
        shown: list[Path] = []
        try:
            for file in files:
                shown.append(self.tables / file.name)
                try:
                    os.link(file, shown[-1], follow_symlinks=False)
                except OSError:  # a file system without links
                    shutil.copyfile(file, shown[-1], follow_symlinks=False)
            yield
        finally:
            for file in shown:
                file.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the files of a failed query."""
        if self.work.is_dir():
            for path in self.work.iterdir():
                path.unlink(missing_ok=True)

    def is_there(self) -> bool:
        """Whether it still exists; people delete cache folders to free disk space."""
        return all(folder.is_dir() for folder in (self.work, self.done, self.tables))

    def close(self) -> None:
        """Remove the folder and everything in it."""
        if self._lock is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = None


@contextmanager
def _turn(root: Path) -> Iterator[None]:
    """Wait until no other process makes a spool here.

    A folder whose lock is not yet held looks abandoned to the others.
    """
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems cannot lock a folder
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_abandoned(root: Path) -> None:
    for folder in root.glob("spool_*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:
            # Another process is creating or removing it right now.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # its process still runs
        finally:
            os.close(lock)


logger = logging.getLogger("mdvec")


class ChildDied(Exception):
    """The child ended without answering; ``reason`` is for the model."""

    def __init__(self, reason: QueryError) -> None:
        super().__init__(str(reason))
        self.reason = reason


class RunningChild:
    """At most one child at a time, with its spool; not thread-safe.

    Args:
        spool_root: the folder in which the spool is made.
        limits: the limits of one query.
        warn: gets a sentence about tables that could not be loaded.
    """

    def __init__(self, spool_root: Path, limits: QueryLimits, warn: Callable[[str], None]) -> None:
        self._spool_root = spool_root
        self._limits = limits
        self._warn = warn
        self._spool: Spool | None = None
        self._process: ChildProcess | None = None
        self._data: Data | None = None
        self.tables: dict[str, tuple[Column, ...]] = {}

    @property
    def pid(self) -> int | None:
        """The child's process id; None when none runs."""
        return None if self._process is None else self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether a child was started and not yet ended."""
        return self._process is not None

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
                raise _not_started(f"no folder for exports: {error}") from error
        return self._spool

    def is_ready_for(self, data: Data) -> bool:
        """Whether a live child has these data, and its spool still exists; any thread may ask."""
        process, spool = self._process, self._spool
        return (
            process is not None
            and process.alive()
            and data == self._data
            and spool is not None
            and spool.is_there()
        )

    @property
    def data(self) -> Data:
        """The data that the child holds."""
        assert self._data is not None  # noqa: S101 - asked after a request only
        return self._data

    def restart(self, data: Data) -> None:
        """Replace the child by one with these data.

        Raises:
            QueryError: no child could be started.
        """
        self.kill()
        if self._spool is not None and not self._spool.is_there():
            self._spool.close()
            self._spool = None
        self.start(data)

    def start(self, data: Data) -> None:
        """Start a child when none is running.

        Raises:
            QueryError: it could not be started.
        """
        work, limits = self.spool.work, self._limits
        try:
            process = ChildProcess(_config(data, limits, self.spool), work, limits.memory_mb)
        except (WireClosed, ChildTimeout, MemoryExceeded, OSError) as error:
            raise _not_started(repr(error)) from error
        ready = process.ready
        if "broken" in ready:
            process.kill()
            raise _not_started(ready["broken"])
        if "error" in ready:
            process.kill()
            raise error_named(ready["error"], ready["message"])
        self._process, self._data = process, data
        record(
            "query_process",
            landlock=ready["landlock"],
            seccomp=ready["seccomp"],
            own_user=ready["own_user"],
            memory_mb=limits.memory_mb,
        )
        self.tables = {name: columns_in(columns) for name, columns in ready["tables"].items()}
        for warning in missing_tables(ready["missing"]):
            self._warn(warning)

    def request(self, message: Message, seconds: float) -> Message:
        """Send a request to the running child and return its response within ``seconds``.

        Raises:
            QueryError: the child refused it, or DuckDB could not run it.
            ChildDied: there was no response, and the child was killed.
            Cancelled: the call was cancelled, and the child stopped.
        """
        limits = self._limits
        if self._process is None:
            raise ChildDied(process_died())
        try:
            response = self._process.request(message, seconds)
        except (ChildTimeout, MemoryExceeded, WireClosed) as error:
            self.kill()
            match error:
                case ChildTimeout():
                    reason: QueryError = out_of_time(limits.seconds)
                case MemoryExceeded():
                    reason = out_of_memory(limits.memory_mb)
                case _:
                    reason = process_died()
            logger.info("analytics: the query process died during a query: %s", reason)
            raise ChildDied(reason) from error
        if "error" in response:
            self.spool.clear()
            raise_if_cancelled()
            raise error_named(response["error"], response["message"])
        return response

    def interrupt(self) -> None:
        """End the child from another thread; a request under way then gets no response."""
        if (process := self._process) is not None:
            process.stop()

    def kill(self) -> None:
        """Kill the child, and remove its unfinished files."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            if self._spool is not None:
                self._spool.clear()

    def close(self) -> None:
        """End the child and remove its spool."""
        process, self._process = self._process, None
        if process is not None:
            process.end()
        if self._spool is not None:
            self._spool.close()


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
    """The refusal when no child can be started; the reason, which may quote data, is logged."""
    logger.warning(
        "analytics: the query process did not start: %s",
        reason,
        extra={"event": "query_process_failed"},
    )
    return QueriesUnavailable(
        "the process that runs queries did not start; the server's log says why, and "
        "[analytics] max_memory_mb may be too small for these data"
    )
