"""Unpacks gzip and Zstandard files into temporary copies, and refuses bombs."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mdvec.files import UnreadableFile
from mdvec.sizes import MEGABYTE

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError, ZstdFile
else:
    from backports.zstd import ZstdError, ZstdFile

_BLOCK = 2**20
MAX_TIMES = 100
"""A file that unpacks to more than this many times its size is refused as a bomb."""
_ALWAYS_ALLOWED = 256 * MEGABYTE


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
