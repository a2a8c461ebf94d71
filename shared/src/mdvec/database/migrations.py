"""The database format: ``schema.sql`` is the newest; numbered steps bring older files to it.

To change the format, edit ``schema.sql`` and append a step that makes the same change to a file of
the format before. A released step is never edited, and imports nothing that may change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw

APPLICATION_ID = 0x6D647663  # "mdvc"
OLDEST = 17
"""The format that the steps begin with; no release wrote an older one."""
_SCHEMA = Path(__file__).with_name("schema.sql")


def m018_without_traces(connection: apsw.Connection) -> None:
    """Drop the columns and the option that only told how files before format 17 were read."""
    connection.execute("ALTER TABLE ledger_versions DROP COLUMN asks_first")
    connection.execute("ALTER TABLE ledger_versions DROP COLUMN text_format")
    connection.execute("UPDATE tools SET chunking = json_remove(chunking, '$.context')")


STEPS: tuple[Callable[[apsw.Connection], None], ...] = (m018_without_traces,)
LATEST = OLDEST + len(STEPS)


def migrate(connection: apsw.Connection) -> None:
    """Create the schema in an empty file, or bring an older one to it, in one transaction.

    The file is empty, or of format ``OLDEST`` to ``LATEST``; one of ``LATEST`` is not written.
    """
    if format_of(connection) == LATEST:
        return
    with connection:
        # Read again: another process may have migrated the file meanwhile.
        number = format_of(connection)
        if number == 0:
            connection.execute(_SCHEMA.read_text(encoding="utf-8")).fetchall()
        else:
            for step in STEPS[number - OLDEST :]:
                step(connection)
        connection.execute(f"PRAGMA user_version = {LATEST:d}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")


def format_of(connection: apsw.Connection) -> int:
    """The number of a file's format; 0 if it is empty."""
    (number,) = connection.execute("PRAGMA user_version").fetchone() or (0,)
    return int(number)
