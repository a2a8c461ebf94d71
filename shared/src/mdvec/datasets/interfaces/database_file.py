"""Copies the tables of a .duckdb file to Parquet, in a child process that only reads the file."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdvec.datasets.core.understood import Understood
from mdvec.datasets.interfaces import database_child
from mdvec.datasets.interfaces.choices import file_state
from mdvec.datasets.interfaces.unpacking import work_folder
from mdvec.files import UnreadableFile, opened_within
from mdvec.platform import can_read, lock_bytes, path_of, python_child

_COPY = "copy.parquet"
_SECONDS = 60.0
_BYTES_A_SECOND = 2_000_000
_MODULE = "mdvec.datasets.interfaces.database_child"
_NAME = "source.duckdb"
_IN_USE = "another program has it open for writing; close it there, then import again"


@dataclass(frozen=True, slots=True)
class InnerTable:
    """A table or view in a .duckdb file."""

    schema: str
    table: str
    is_view: bool = False

    @property
    def label(self) -> str:
        """Its name, without the default schema."""
        return self.table if self.schema == "main" else f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """An open .duckdb file, and the child process that reads it.

    ``tables`` ends with the views. ``computed`` names the generated columns of each table, which
    are not copied.
    """

    process: subprocess.Popen[str]
    folder: Path
    seconds: float
    tables: tuple[InnerTable, ...]
    computed: Mapping[InnerTable, tuple[str, ...]]

    def copy(self, table: InnerTable, target: Path) -> None:
        """Write a table's rows to a Parquet file on the file system of the targets' folder.

        Raises:
            NotATable: the view cannot be read.
            UnreadableFile: the table cannot be copied; the message says why.
        """
        with unreadable_view() if table.is_view else nullcontext():
            request = [table.schema, table.table, _COPY, table.is_view]
            response = _request(self.process, request, self.seconds)
            if "error" in response:
                raise UnreadableFile(f"it cannot be copied ({response['error']})")
        (self.folder / _COPY).replace(target)


@contextmanager
def opened(file: Path, targets: Path, source: Path) -> Iterator[DatabaseFile]:
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
        _process(folder) as process,
    ):
        with _opened_log(file, source) as log:
            _copy(descriptor, log, folder)
        response = _request(process, _NAME, seconds)
        if "error" in response:
            reason = _why(response["error"].replace(_NAME, file.name))
            raise UnreadableFile(reason, may_pass=reason == _IN_USE)
        computed = {
            InnerTable(schema, table): tuple(columns or ())
            for schema, table, columns in response["tables"]
        }
        views = [InnerTable(schema, view, is_view=True) for schema, view in response["views"]]
        yield DatabaseFile(process, folder, seconds, (*computed, *views), computed)


def _opened_log(file: Path, source: Path) -> AbstractContextManager[int | None]:
    log = file.with_name(f"{file.name}.wal")
    if not log.exists():
        return nullcontext()
    return opened_within(log.resolve(), log if source == file else source)


def _copy(file: int, log: int | None, folder: Path) -> None:
    """Copy a file, and its log, which DuckDB replays when it opens the copy.

    On the file itself its views could tell where it is.

    Raises:
        UnreadableFile: it cannot be read, or another program is writing to it.
    """
    try:
        # DuckDB holds a write lock on the original; on the copy nothing would show it.
        lock_bytes(file, 0, 0, shared=True)
        shutil.copyfile(path_of(file), folder / _NAME)
        if log is not None:
            shutil.copyfile(path_of(log), folder / f"{_NAME}.wal")
    except BlockingIOError as error:
        raise UnreadableFile(_IN_USE, may_pass=True) from error
    except OSError as error:
        raise UnreadableFile.of_error(error) from error


@contextmanager
def _process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the child process; the first request names the file to open."""
    process = subprocess.Popen(
        **python_child(_MODULE),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        text=True,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _request(process: subprocess.Popen[str], request: object, seconds: float) -> dict[str, Any]:
    """Send the child a request and return its response.

    Raises:
        UnreadableFile: the child ended, or did not respond in time.
    """
    if process.stdin is None or process.stdout is None:
        raise AssertionError("the process was started with pipes")
    with suppress(BrokenPipeError):
        process.stdin.write(f"{json.dumps(request)}\n")
        process.stdin.flush()
    if not can_read(process.stdout.fileno(), seconds):
        process.kill()  # a late response would be taken for the next one
        raise UnreadableFile(f"reading it was stopped after {seconds:,.0f} s", may_pass=True)
    line = process.stdout.readline()
    if not line:
        raise UnreadableFile(
            f"reading it broke the process that did, which has {database_child.MEMORY_MB:,} MB"
        )
    response: dict[str, Any] = json.loads(line)
    return response


def _why(said: str) -> str:
    if "Could not set lock" in said or "already attached" in said:
        return _IN_USE
    if "not a valid DuckDB database" in said or "Could not read enough bytes" in said:
        return "it is not a complete DuckDB database; copy it again"
    return f"it cannot be opened as a DuckDB database ({said})"


class NotATable(UnreadableFile):
    """A file holds no tables; it is left out and named, which does not count as a failure."""


@contextmanager
def unreadable_view() -> Iterator[None]:
    """Within the block a view is read: if it fails, that is no failure of its file.

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
        label: its name in the file; "" if the file's own name says enough.
        copy: writes its rows to a Parquet file on the file system of the private copies, and
            returns how they were read; raises ``UnreadableFile``.
    """

    label: str
    copy: Callable[[Path], Understood]


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An open file with tables; ``left_out`` names what else is in it, with reasons."""

    tables: tuple[TableInFile, ...]
    left_out: tuple[tuple[str, str], ...] = ()
