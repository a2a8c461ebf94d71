"""The notes and tags on rows, by the row's id."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import apsw

from mdvec.household.core.row_note import RowNote

_NOTES = (
    "SELECT t.id, n.note, n.tags FROM row_notes AS n JOIN transactions AS t "
    "ON t.tool_id = n.tool_id AND t.identity = n.identity WHERE n.tool_id = ?"
)


def all_notes(connection: apsw.Connection, tool_id: int) -> dict[int, RowNote]:
    """The note of each row that has one."""
    return _read(connection.execute(_NOTES, (tool_id,)))


def notes_on(
    connection: apsw.Connection, tool_id: int, row_ids: Iterable[int]
) -> dict[int, RowNote]:
    """The notes on some rows."""
    ids = json.dumps(list(row_ids))
    # From the ids on, in this order: SQLite would go through all rows of the ledger.
    of_rows = (
        "SELECT t.id, n.note, n.tags FROM json_each(?) AS one "
        "CROSS JOIN transactions AS t ON t.id = one.value "
        "CROSS JOIN row_notes AS n ON n.tool_id = t.tool_id AND n.identity = t.identity "
        "WHERE n.tool_id = ?"
    )
    return _read(connection.execute(of_rows, (ids, tool_id)))


def _read(rows: Iterable[tuple[Any, ...]]) -> dict[int, RowNote]:
    return {row_id: RowNote(note, tuple(json.loads(tags))) for row_id, note, tags in rows}
