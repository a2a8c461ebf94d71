"""Removes the private copies of data files that no table needs any more."""

from __future__ import annotations

import apsw

from mdvec.datasets.interfaces import tables as datasets
from mdvec.datasets.interfaces.snapshots import Snapshots, remove_snapshots
from mdvec.tools import rows as tools


def remove_unneeded_copies(connection: apsw.Connection, tool_id: int) -> None:
    """Remove a dataset's copies that no table needs, and all those of tools that are gone."""
    folder = datasets.snapshot_folder(connection, tool_id)
    root = folder.parent
    folders = list(root.iterdir()) if root.is_dir() else []
    here = {str(tool.id) for tool in tools.list_tools(connection)}
    for other in folders:
        if other.name not in here:
            remove_snapshots(other)
    needed = datasets.dataset_tables(connection, tool_id)
    Snapshots(folder).keep_only({table.parquet.name for table in needed if table.is_copy})
