"""Limits of memory and time for reading a data file, with any library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mdvec.files import UnreadableFile
from mdvec.platform import limited_data, machine_memory, python_child
from mdvec.sizes import MEGABYTE

_SECONDS = 60.0
_SHARE_OF_MACHINE = 4
_OUT_OF_MEMORY = {"MemoryError", "OutOfMemoryException", "NoMemError"}
"""The errors of Python, DuckDB and SQLite."""
_NO_THREAD = "can't start new thread"
"""Python's message if there is no memory for a thread."""


@contextmanager
def limited_memory(megabytes: int | None) -> Iterator[None]:
    """Within the block, limits the additional memory of this process and of its child processes.

    Only Linux enforces the limit. Imports run in their own process, so searches are not affected.

    Args:
        megabytes: the limit; None for a quarter of the machine's memory.

    Raises:
        UnreadableFile: the block needs more memory; it replaces the library's error.
    """
    megabytes = megabytes or machine_memory() // _SHARE_OF_MACHINE // MEGABYTE
    try:
        with limited_data(megabytes * MEGABYTE):
            yield
    except Exception as error:  # each library has its own error
        if not _is_out_of_memory(error):
            raise
        raise UnreadableFile(
            f"reading it needs more than {megabytes:,} MB of memory; split it, or set "
            "[analytics] max_import_mb higher"
        ) from error


def _is_out_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        if type(error).__name__ in _OUT_OF_MEMORY or str(error) == _NO_THREAD:
            return True
        error = error.__cause__ or error.__context__
    return False


def run_child(
    module: str, *arguments: str, source: Path | int, stdout: int | IO[bytes], bytes_a_second: int
) -> subprocess.CompletedProcess[bytes]:
    """Run a module of mdvec in a child process, with a file (or its descriptor) as its input.

    Raises:
        UnreadableFile: the file could not be opened, or the child exceeded its time: a minute, plus
            a second for each ``bytes_a_second`` of the file.
    """
    try:
        with open(source, "rb", closefd=isinstance(source, Path)) as stream:
            return subprocess.run(
                **python_child(module, *arguments),
                stdin=stream,
                stdout=stdout,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS + os.fstat(stream.fileno()).st_size / bytes_a_second,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise UnreadableFile(
            f"reading it was stopped after {error.timeout:,.0f} s", may_pass=True
        ) from error
    except OSError as error:
        raise UnreadableFile.of_error(error) from error
