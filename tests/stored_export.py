"""Exports of queries, written as the server writes them."""

from pathlib import Path

import duckdb
from mdvec.analysis.exports import ExportFolder, ExportFormat


def exported(folder: Path, query: str, fmt: ExportFormat) -> str:
    """The handle of a query's rows in the folder of exports."""
    exports = ExportFolder(folder, 3600, 10**9)
    file = folder.parent / "finished"
    duckdb.execute(f"COPY ({query}) TO '{file}' (FORMAT {fmt})")
    described = duckdb.execute(f"DESCRIBE {query}").fetchall()
    return exports.place(file, types={row[0]: row[1] for row in described}, fmt=fmt).handle
