"""The rows of an export or a DataFrame, for the SQL behind charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mdvec.analysis.chart_columns import WantedColumn
from mdvec.analysis.errors import UnsupportedFrame
from mdvec.analysis.exact import (
    STORED_ROWS,
    column_types,
    create_stored_rows,
    export_connection,
    scan_of,
)
from mdvec.analysis.frames import as_frame, column_places, has_plain_index
from mdvec.analysis.loading import export_file
from mdvec.datasets.core.columns import Column
from mdvec.settings import Settings
from mdvec.text.quoting import identifier

if TYPE_CHECKING:
    import duckdb

ChartData = Any
"""The handle of an export, or a DataFrame or Series of polars or pandas."""


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a result; ``more`` tells whether it has others."""

    rows: list[list[Any]]
    more: bool


@dataclass(frozen=True, slots=True)
class ChartRows:
    """The table of one chart, ``source`` in SQL; its columns have their own names in ``shown``."""

    connection: duckdb.DuckDBPyConnection
    source: str
    shown: tuple[Column, ...]

    def columns(self, _source: str, /) -> tuple[Column, ...]:
        """The columns of the chart."""
        return self.shown

    def rows(self, source: str, sql: str, /, *, max_rows: int, max_bytes: int) -> FirstRows:  # noqa: ARG002 - they stay in this process
        """The first rows of a SELECT over the source."""
        cursor = self.connection.execute(sql.replace("{source}", source))
        found = [list(row) for row in cursor.fetchmany(max_rows + 1)]
        return FirstRows(found[:max_rows], len(found) > max_rows)


@contextmanager
def chart_rows(
    data: ChartData, wanted: Sequence[WantedColumn], settings: Settings, folder: Path | str | None
) -> Iterator[ChartRows]:
    """The wanted columns of an export or a frame, or without any all of them.

    Raises:
        NotAHandle, ExportMissing: see ``ExportFolder.path_of``.
        UnknownColumns: a column is wanted that the data lack.
        UnsupportedFrame: the data are neither a handle nor a frame that DuckDB can read.
    """
    zone = settings.analytics.zone
    if isinstance(data, str):
        path, types = export_file(data, settings, folder)
        with export_connection([path], time_zone=zone) as connection:
            create_stored_rows(connection, scan_of(path, types), types)
            yield _chosen(connection, [name for name, _ in column_types(connection)], wanted)
        return
    frame = as_frame(data, "a chart is made of the handle of an export, or of", "make one of it")
    with TemporaryDirectory() as made:
        is_polars = hasattr(frame, "write_parquet")
        file = Path(made) / "rows.parquet"
        with export_connection([file] if is_polars else [], time_zone=zone) as connection:
            if is_polars:
                names = _store_polars(connection, frame, file)
            else:
                names = _store_pandas(connection, frame)
            yield _chosen(connection, names, wanted)


def _chosen(
    connection: duckdb.DuckDBPyConnection, names: Sequence[str], wanted: Sequence[WantedColumn]
) -> ChartRows:
    """The wanted ones of the stored columns, which their owner calls by ``names``."""
    stored = [identifier(name) for name, _ in column_types(connection)]
    places = column_places(names, [one.name for one in wanted], "data")
    texts = [one.role == "name" for one in wanted]
    if not wanted:
        places, texts = list(range(len(names))), [False] * len(names)
    columns = ", ".join(
        f"CAST({stored[place]} AS VARCHAR)" if is_text else stored[place]
        for place, is_text in zip(places, texts, strict=True)
    )
    source = f"(SELECT {columns} FROM {STORED_ROWS})"
    kinds = [kind for _, kind in column_types(connection, source)]
    shown = (Column(names[place], kind) for place, kind in zip(places, kinds, strict=True))
    return ChartRows(connection, source, tuple(shown))


def _store_pandas(connection: duckdb.DuckDBPyConnection, frame: Any) -> list[str]:  # noqa: ANN401 - of pandas, which need not be installed
    """Make the rows of a frame the stored ones; return the names of its columns."""
    if not has_plain_index(frame):
        indexes = [name if name is not None else "index" for name in frame.index.names]
        frame = frame.reset_index(names=indexes, allow_duplicates=True)
    # DuckDB wants names that differ, whatever the case.
    numbered = frame.set_axis([f"c{place}" for place in range(frame.shape[1])], axis=1)
    connection.register(STORED_ROWS, numbered)
    return [str(name) for name in frame.columns]


def _store_polars(
    connection: duckdb.DuckDBPyConnection,
    frame: Any,  # noqa: ANN401 - of polars, which need not be installed
    file: Path,
) -> list[str]:
    """The same by a Parquet file, which needs no pyarrow."""
    import polars as pl

    names = [str(name) for name in frame.columns]
    numbered = frame.rename({name: f"c{place}" for place, name in enumerate(names)})
    # Parquet would have durations as bare numbers.
    spans = [name for name, kind in numbered.schema.items() if kind == pl.Duration]
    try:
        numbered.with_columns(pl.col(spans).dt.to_string("iso")).write_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise UnsupportedFrame(
            "the frame has columns of objects, which a chart cannot show; cast or drop them"
        ) from error
    create_stored_rows(connection, scan_of(file, None), None)
    return names
