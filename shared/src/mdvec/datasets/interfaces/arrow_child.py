"""The child process that reads an Arrow file with polars.

Run as ``python -m mdvec.datasets.interfaces.arrow_child``. On a damaged file polars can panic on
threads of its own, and writes their stacks to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mdvec.datasets.core.cells import duration

if TYPE_CHECKING:
    import polars as pl

_STREAM_MARK = b"\xff\xff\xff\xff"
_FILE_MARK = b"ARROW1"
_OLD_MARK = b"FEA1"


class _NotRead(Exception):
    """The file is of a kind that is not read; the message says which."""


def main() -> None:
    """Convert one file; prints its columns' names, or why it cannot be converted."""
    descriptor, target, texts = json.loads(sys.stdin.readline())
    sys.stdout.write(json.dumps(_converted(descriptor, Path(target), texts)))


def _converted(descriptor: int, target: Path, texts: list[str]) -> dict[str, Any]:
    import polars as pl

    try:
        frame = _lazy(descriptor)
        kinds = frame.collect_schema()
        names = kinds.names()
        cast = [
            # polars 2 has no cast of durations to text.
            pl.col(name).map_elements(duration, return_dtype=pl.String)
            if kinds[name] == pl.Duration
            else pl.col(name).cast(pl.String)
            for name in names
            if name in texts or kinds[name] == pl.Duration
        ]
        (frame.with_columns(cast) if cast else frame).sink_parquet(target)
    except _NotRead as error:
        return {"why": str(error)}
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        return {"error": str(error).partition("\n")[0]}
    return {"names": names}


def _lazy(descriptor: int) -> pl.LazyFrame:
    import polars as pl

    start = os.pread(descriptor, len(_FILE_MARK), 0)
    if start.startswith(_STREAM_MARK):
        os.lseek(descriptor, 0, os.SEEK_SET)
        # polars reads from the descriptor itself, past what a buffer would have taken.
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            return pl.read_ipc_stream(stream).lazy()
    if start.startswith(_OLD_MARK):
        raise _NotRead("it is Feather of version 1; write it again as version 2 or Parquet")
    if start != _FILE_MARK:
        raise _NotRead("it is not an Arrow file; write it again")
    return pl.scan_ipc(f"/dev/fd/{descriptor}")


if __name__ == "__main__":
    main()
