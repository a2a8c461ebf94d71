"""Finds the files of a combined table all of whose rows are in another of its files as well."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import duckdb

from mdvec.datasets.interfaces.connection import parquet_scan, safe_connection
from mdvec.datasets.interfaces.typed_columns import MIN_WIDE_COLUMNS
from mdvec.text import identifier

_MIN_ALIKE = 5
_MAX_NAMED = 3
_Repeated = tuple[str, int, str]
"""A file, the number of its rows, and the file that has them as well."""


def repeated_rows(parquet: Path, columns: Collection[str], file_column: str) -> Iterator[str]:
    """A note on files that another one repeats, as cumulative exports and second downloads do.

    Files of fewer than five different rows are passed over, as they may be alike by chance, and
    so are tables of 200 columns and more, which would take long.
    """
    if len(columns) >= MIN_WIDE_COLUMNS:
        return
    with safe_connection([parquet]) as connection:
        try:
            found = _repeated(connection, parquet_scan(parquet), columns, file_column)
        except duckdb.OutOfMemoryException:  # a note is not worth a failure
            return
    if found:
        shown = ", ".join(
            f"{file} ({rows:,}, in {other})" for file, rows, other in found[:_MAX_NAMED]
        )
        more = f" and {len(found) - _MAX_NAMED:,} more" if len(found) > _MAX_NAMED else ""
        yield f"all rows of {shown}{more} are in another file as well, and count more than once"


def _repeated(
    connection: duckdb.DuckDBPyConnection, scan: str, columns: Collection[str], file_column: str
) -> list[_Repeated]:
    """Such files. Two rows of each file, and then the files that share both, rule most out."""
    cells = ", ".join(map(identifier, columns))
    hashed = f"SELECT {identifier(file_column)} AS file, hash({cells}) AS mark FROM {scan}"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE files AS SELECT file, count(*) AS number, "
        f"min(mark) AS least, max(mark) AS most FROM ({hashed}) GROUP BY file"
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE seen AS SELECT DISTINCT file, mark FROM ({hashed}) "
        "WHERE mark IN (SELECT unnest([least, most]) FROM files)"
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE pairs AS SELECT one.file, one.number, two.file AS other "
        "FROM files AS one JOIN seen AS a ON a.mark = one.least "
        "JOIN seen AS b ON b.mark = one.most AND b.file = a.file "
        "JOIN files AS two ON two.file = a.file "
        "AND (two.number, two.file) > (one.number, one.file) "
        "QUALIFY row_number() OVER (PARTITION BY one.file ORDER BY two.number DESC, two.file) = 1"
    )
    if not connection.execute("SELECT 1 FROM pairs LIMIT 1").fetchone():
        return []
    return connection.execute(
        f"WITH marks AS (SELECT DISTINCT file, mark FROM ({hashed}) WHERE file IN "
        "(SELECT file FROM pairs UNION SELECT other FROM pairs)) "
        "SELECT pairs.file, any_value(number), any_value(other) FROM pairs "
        "JOIN marks AS a ON a.file = pairs.file "
        "LEFT JOIN marks AS b ON b.file = pairs.other AND b.mark = a.mark GROUP BY pairs.file "
        f"HAVING count(*) >= {_MIN_ALIKE} AND count(*) = count(b.mark) ORDER BY pairs.file"
    ).fetchall()
