"""Converts Feather and Arrow files to Parquet, if polars is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mdvec.datasets.core.reading import AS_TEXT
from mdvec.datasets.core.understood import ReadColumn, Understood
from mdvec.files.scan import UnreadableFile

if TYPE_CHECKING:
    import polars as pl

_STREAM_MARK = b"\xff\xff\xff\xff"
_FILE_MARK = b"ARROW1"


def arrow_to_parquet(source: Path, target: Path, columns: Mapping[str, str]) -> Understood:
    """Convert ``source``, an Arrow file or stream; some columns become text.

    Raises:
        UnreadableFile: it is not an Arrow file, ends early, holds a type that Parquet lacks, or
            polars is not installed.
    """
    try:
        import polars as pl
    except ImportError as error:
        raise UnreadableFile(
            "reading .feather and .arrow needs polars: install mdvec-shared[arrow], or write the "
            "table as Parquet"
        ) from error
    try:
        frame = _lazy(source)
        kinds = frame.collect_schema()
        names = kinds.names()
        texts = [
            pl.col(name).cast(pl.String)
            for name in names
            if columns.get(name) == AS_TEXT or kinds[name] == pl.Duration
        ]
        (frame.with_columns(texts) if texts else frame).sink_parquet(target)
    except (pl.exceptions.PolarsError, OSError, pl.exceptions.PanicException) as error:
        said = str(error).partition("\n")[0].replace(str(source), "the file")
        raise UnreadableFile(f"it cannot be read as an Arrow file ({said})") from error
    return Understood(columns=tuple(ReadColumn(name, "") for name in names))


def _lazy(source: Path) -> pl.LazyFrame:
    import polars as pl

    # polars reads from the descriptor itself, past what a buffer would have taken.
    with source.open("rb", buffering=0) as stream:
        stream.seek(0)
        start = stream.read(len(_FILE_MARK))
        stream.seek(0)
        if start.startswith(_STREAM_MARK):
            return pl.read_ipc_stream(stream).lazy()
    if start.startswith(b"FEA1"):
        raise UnreadableFile("it is Feather of version 1; write it again as version 2 or Parquet")
    if start != _FILE_MARK:
        raise UnreadableFile("it is not an Arrow file; write it again")
    return pl.scan_ipc(source)
