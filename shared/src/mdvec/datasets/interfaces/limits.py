"""Limits of memory, of time and of unpacked bytes for reading a data file, with any library."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mdvec.files import UnreadableFile
from mdvec.platform import limited_data, machine_memory, python_child
from mdvec.sizes import MEGABYTE

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError, ZstdFile
else:
    from backports.zstd import ZstdError, ZstdFile


_SECONDS = 60.0
_SHARE_OF_MACHINE = 4
_OUT_OF_MEMORY = {"MemoryError", "OutOfMemoryException", "NoMemError"}
"""The errors of Python, DuckDB and SQLite."""
_NO_THREAD = "can't start new thread"
"""Python's message if there is no memory for a thread."""
_BLOCK = 2**20
MAX_TIMES = 100
"""A file that unpacks to more than this many times its size is refused as a bomb."""
_ALWAYS_ALLOWED = 256 * MEGABYTE


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


def is_bomb(size: int, packed_size: int) -> bool:
    """Whether a file unpacks to suspiciously many bytes, as a zip bomb does."""
    return size > max(_ALWAYS_ALLOWED, MAX_TIMES * packed_size)


@contextmanager
def unpacked(source: Path, target: Path, packing: str) -> Iterator[Path]:
    """The path of a file with the unpacked content; it exists within the block.

    Args:
        source: the file, perhaps packed.
        target: a path to write to.
        packing: how it is packed, ``.gz`` or ``.zst``; "" yields ``source`` itself.

    Raises:
        UnreadableFile: it is not packed in this way, is damaged or ends early, or unpacks to
            suspiciously many bytes.
        OSError: the copy cannot be written.
    """
    if not packing:
        yield source
        return
    try:
        _unpack(source, target, packing)
        yield target
    finally:
        target.unlink(missing_ok=True)


def _unpack(source: Path, target: Path, packing: str) -> None:
    lines = size = 0
    try:
        packed = source.open("rb")
        packed_size = source.stat().st_size
    except OSError as error:
        raise UnreadableFile.of_error(error) from error
    with packed, target.open("wb") as copy:
        packed.seek(0)
        blocks = gzip.GzipFile(fileobj=packed) if packing == ".gz" else ZstdFile(packed)
        while block := _next_block(blocks, lines + 1):
            lines += block.count(b"\n")
            size += len(block)
            if is_bomb(size, packed_size):
                raise UnreadableFile(
                    f"it unpacks to more than {MAX_TIMES} times its size; unpack it yourself if "
                    "you trust it"
                )
            copy.write(block)


def _next_block(blocks: gzip.GzipFile | ZstdFile, line: int) -> bytes:
    try:
        return blocks.read1(_BLOCK)
    except EOFError as error:
        raise UnreadableFile(
            f"line {line}: the packed file ends early; download or pack it again"
        ) from error
    except (gzip.BadGzipFile, zlib.error, ZstdError) as error:
        if line == 1 and blocks.tell() == 0:
            kind = "gzip" if isinstance(blocks, gzip.GzipFile) else "Zstandard"
            raise UnreadableFile(f"it is not a {kind} file; pack it again") from error
        raise UnreadableFile(
            f"line {line}: the packed file is damaged; download or pack it again"
        ) from error
