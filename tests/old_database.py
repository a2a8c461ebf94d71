"""A copy of the database of format 17 that lies in ``format_17``, with its sources.

The last mdvec that wrote the format made it: ``git show 92e715e0:tests/format_17/make.py``. All
people, shops and amounts are invented.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw

_FORMAT_17 = Path(__file__).with_name("format_17")
_PLACES = (("tools", "source_directory"), ("dataset_tables", "source"),
           ("dataset_tables", "combined"))  # fmt: skip


def database_of_format_17(folder: Path) -> Path:
    """Copy it into ``folder``."""
    shutil.copytree(_FORMAT_17, folder)
    database = folder / "vectors.sqlite"
    connection = apsw.Connection(str(database))
    for table, column in _PLACES:
        connection.execute(
            f"UPDATE {table} SET {column} = replace({column}, '/sources', ?)",
            (str(folder / "sources"),),
        )
    connection.close()
    return database
