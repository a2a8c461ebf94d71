"""Copies the tables of a .duckdb file to Parquet, in a child process that only reads the file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mdvec.datasets.core.understood import Understood
from mdvec.datasets.interfaces import database_child
from mdvec.datasets.interfaces.dataset_tables import file_state, logs_of
from mdvec.datasets.interfaces.snapshots import copy_with_logs, work_folder
from mdvec.files import UnreadableFile, opened_within
from mdvec.platform import Worker, lock_bytes, python_child

COMPUTED = "it is a computed column; only columns that hold values are copied"
_COPY = "copy.parquet"
_SECONDS = 60.0
_BYTES_A_SECOND = 2_000_000
_MODULE = "mdvec.datasets.interfaces.database_child"
_NAME = "source.duckdb"
_IN_USE = "another program has it open for writing; close it there, then import again"


@contextmanager
def open_duckdb_file(file: Path, targets: Path, source: Path) -> Iterator[OpenedFile]:
    """Open a file of a source for reading; its tables can be copied into the folder ``targets``.

    A child process with limits reads it: see ``database_child``.

    Raises:
        UnreadableFile: it is not a DuckDB database, is damaged, or open in another program.
        SnapshotsUnwritable: the folder of copies cannot be written.
    """
    size, _ = file_state(file)
    seconds = _SECONDS + size / _BYTES_A_SECOND
    with (
        opened_within(file, source) as descriptor,
        work_folder(targets) as folder,
        closing(Worker(**python_child(_MODULE), cwd=folder)) as worker,
    ):
        # The child reads a copy, so that views cannot reveal the file's path. A program that has
        # the database open holds a lock on the original, so the lock is tried there.
        _lock(descriptor)
        copy_with_logs(descriptor, file, source, folder / _NAME, logs_of(file))
        ask = partial(_request, worker, seconds)
        response = ask({"file": _NAME})
        if "error" in response:
            reason = _explain(response["error"].replace(_NAME, file.name))
            raise UnreadableFile(reason, may_pass=reason == _IN_USE)
        tables: list[TableInFile] = []
        left_out: list[tuple[str, str]] = []
        for schema, name, computed, is_view in response["tables"]:
            label = name if schema == "main" else f"{schema}.{name}"
            left_out += [(f"{label}.{column}", COMPUTED) for column in computed or ()]
            table = {"schema": schema, "table": name, "target": _COPY, "is_view": is_view}
            request = partial(ask, table)
            tables.append(
                TableInFile(label, partial(_copy_table, request, folder / _COPY, is_view=is_view))
            )
        yield OpenedFile(tuple(tables), tuple(left_out))


def _copy_table(
    request: Callable[[], dict[str, Any]], copy: Path, target: Path, *, is_view: bool
) -> Understood:
    """Have the child write a table's rows to ``copy``, and move them to ``target``."""
    with unreadable_view() if is_view else nullcontext():
        response = request()
        if "error" in response:
            raise UnreadableFile(f"it cannot be copied ({response['error']})")
    copy.replace(target)
    return Understood().with_notes(*response["notes"])


def _lock(file: int) -> None:
    try:
        lock_bytes(file, 0, 0, shared=True)
    except BlockingIOError as error:
        raise UnreadableFile(_IN_USE, may_pass=True) from error
    except OSError as error:
        raise UnreadableFile.of_error(error) from error


def _request(worker: Worker, seconds: float, request: dict[str, Any]) -> dict[str, Any]:
    """Send the child a request and return its response.

    Raises:
        UnreadableFile: the child ended, or did not respond in time.
    """
    deadline = time.monotonic() + seconds
    try:
        worker.send(request, deadline)
        return worker.receive(deadline)
    except TimeoutError as error:
        worker.process.kill()  # a late response would be taken for that of the next request
        raise UnreadableFile(
            f"reading it was stopped after {seconds:,.0f} s", may_pass=True
        ) from error
    except EOFError as error:
        raise UnreadableFile(
            f"reading it broke the process that did, which has {database_child.MEMORY_MB:,} MB"
        ) from error


def _explain(message: str) -> str:
    if "Could not set lock" in message or "already attached" in message:
        return _IN_USE
    if "not a valid DuckDB database" in message or "Could not read enough bytes" in message:
        return "it is not a complete DuckDB database; copy it again"
    return f"it cannot be opened as a DuckDB database ({message})"


class NotATable(UnreadableFile):
    """A file or view is no table; it is reported as left out, not as a failure."""


@contextmanager
def unreadable_view() -> Iterator[None]:
    """In this block, a failure to read a view does not count as a failure of its file.

    Raises:
        NotATable: reading it failed.
    """
    try:
        yield
    except UnreadableFile as error:
        raise NotATable(f"it is a view that cannot be read ({error})") from error


@dataclass(frozen=True, slots=True)
class TableInFile:
    """A table in a file.

    Attributes:
        label: its name in the file; "" if the file's name is enough.
        copy: writes its rows to a Parquet file on the file system of the private copies, and
            returns how they were read; raises ``UnreadableFile``.
        name: its name in the file, if it has one although the label is "".
    """

    label: str
    copy: Callable[[Path], Understood]
    name: str = ""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An open file with tables; ``left_out`` names what else is in it, with reasons."""

    tables: tuple[TableInFile, ...]
    left_out: tuple[tuple[str, str], ...] = ()
