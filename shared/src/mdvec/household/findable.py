"""Lets a search find rows by what the user decided about them, before the next import."""

from __future__ import annotations

import apsw

from mdvec.household.interfaces import subjects
from mdvec.index import change_headings
from mdvec.tools import list_tools


def follow_decisions(connection: apsw.Connection, tool_id: int) -> None:
    """Bring the words by which a household's rows are found up to its categories and notes.

    Nothing is embedded: vectors follow with the next import. Call within the transaction that
    changed the rows or notes.
    """
    tool = next(
        (candidate for candidate in list_tools(connection) if candidate.id == tool_id), None
    )
    if tool is None or not tool.generation:
        return
    headings = subjects.changed_headings(connection, tool.tables)
    change_headings(connection, tool.tables, headings)
