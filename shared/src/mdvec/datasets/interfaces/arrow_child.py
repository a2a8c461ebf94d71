"""The child process that reads an Arrow file with polars.

Run as ``python -m mdvec.datasets.interfaces.arrow_child``. On a damaged file polars can panic on
threads of its own, and writes their stacks to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl

from mdvec.datasets.core.cells import duration
from mdvec.datasets.core.duckdb_types import MAX_DIGITS, long_decimals
from mdvec.platform import path_of, read_start

_STREAM_MARK = b"\xff\xff\xff\xff"
_FILE_MARK = b"ARROW1"
_OLD_MARK = b"FEA1"
_LIMIT = 2**63
_LONG_DECIMALS = "Int256"
"""The type in polars' message about decimals that it cannot read."""


class _NotRead(Exception):
    """The file has content that is not supported; the message says which."""


def main() -> None:
    """Convert the file that is STDIN; prints its columns' names, or why it cannot be converted."""
    target, *texts = sys.argv[1:]
    sys.stdout.write(json.dumps(_convert(sys.stdin.fileno(), Path(target), texts)))


def _convert(descriptor: int, target: Path, texts: list[str]) -> dict[str, Any]:
    try:
        frame = _lazy(descriptor)
        kinds = frame.collect_schema()
        names = kinds.names()
        for name, kind in kinds.items():
            if _digits(kind) > MAX_DIGITS:
                return {"why": long_decimals(name)}
        exact = _exact_types(frame, kinds)
        cast = [
            # polars 2 has no cast of durations to text.
            pl.col(name).map_elements(duration, return_dtype=pl.String)
            if kinds[name] == pl.Duration
            else pl.col(name).cast(pl.String)
            for name in names
            if name in texts or kinds[name] == pl.Duration
        ]
        cast += [pl.col(name).cast(kind) for name, kind in exact.items() if name not in texts]
        types = exact | {name: pl.String() for name in names if kinds[name] == pl.Duration}
        notes = [
            f"{name}: {kinds[name]} → {kind}, which keeps it exactly"
            for name, kind in types.items()
            if kind != pl.Int64 and name not in texts
        ]
        (frame.with_columns(cast) if cast else frame).sink_parquet(target)
    except _NotRead as error:
        return {"why": str(error)}
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        if _LONG_DECIMALS in str(error):
            return {"why": "it has decimals of 256 bits; write them with 128 bits, or as text"}
        return {"error": str(error).partition("\n")[0]}
    return {"names": names, "notes": notes}


def _digits(kind: pl.DataType) -> int:
    """The number of digits of the longest decimals in a type."""
    if isinstance(kind, pl.Decimal):
        return kind.precision or 0
    return max(map(_digits, _inner(kind)), default=0)


def _inner(kind: pl.DataType) -> list[pl.DataType]:
    if isinstance(kind, pl.Struct):
        return [pl_type for field in kind.fields if isinstance(pl_type := field.dtype, pl.DataType)]
    inner = getattr(kind, "inner", None)
    return [inner] if isinstance(inner, pl.DataType) else []


def _exact_types(frame: pl.LazyFrame, kinds: pl.Schema) -> dict[str, pl.DataType]:
    """Exact types for 128-bit integers: the first that fits all values, or text.

    DuckDB reads them from Parquet as bytes.
    """
    wide = [name for name, kind in kinds.items() if kind in (pl.Int128, pl.UInt128)]
    exact: dict[str, pl.DataType] = {
        name: _as_text(kind) for name, kind in kinds.items() if _as_text(kind) != kind
    }
    for name in wide:
        ends = frame.select(least=pl.col(name).min(), most=pl.col(name).max()).collect()
        least, most = (end or 0 for end in ends.row(0))
        if least >= -_LIMIT and most < _LIMIT:
            exact[name] = pl.Int64()
        elif max(-least, most) < 10**MAX_DIGITS:
            exact[name] = pl.Decimal(MAX_DIGITS, 0)
    return exact


def _as_text(kind: pl.DataType) -> pl.DataType:
    """A type with its 128-bit integers as text, at any depth."""
    if kind in (pl.Int128, pl.UInt128):
        return pl.String()
    if isinstance(kind, pl.Struct):
        return pl.Struct(
            [
                pl.Field(field.name, _as_text(inner))
                for field, inner in zip(kind.fields, _inner(kind), strict=True)
            ]
        )
    if isinstance(kind, pl.List):
        return pl.List(_as_text(_inner(kind)[0]))
    if isinstance(kind, pl.Array):
        return pl.Array(_as_text(_inner(kind)[0]), kind.size)
    return kind


def _lazy(descriptor: int) -> pl.LazyFrame:
    start = read_start(descriptor, len(_FILE_MARK))
    if start.startswith(_STREAM_MARK):
        # polars reads from the descriptor, and would miss what a buffer has already read.
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            return pl.read_ipc_stream(stream).lazy()
    if start.startswith(_OLD_MARK):
        raise _NotRead("it is Feather of version 1; write it again as version 2 or Parquet")
    if start != _FILE_MARK:
        raise _NotRead("it is not an Arrow file; write it again")
    return pl.scan_ipc(path_of(descriptor))


if __name__ == "__main__":
    main()
