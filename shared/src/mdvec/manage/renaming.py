"""Gives a tool another name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mdvec.database.connection import open_database
from mdvec.datasets.interfaces import tables as datasets
from mdvec.manage.import_tool import only_import_of
from mdvec.tools import rows as tools
from mdvec.tools.kinds import KINDS, load_code
from mdvec.tools.rows import Tool, ToolNotFound


def rename_tool(database: Path, name: str, to: str, on_notice: Callable[[str], None]) -> Tool:
    """Rename a tool with its tables; nothing is imported again.

    An import of the tool that runs is waited for; ``on_notice`` says so.

    Raises:
        ToolNotFound: there is no such tool.
        InvalidToolName, ToolExists: the new name is refused.
        DatabaseError: the file is missing or cannot be written.
    """
    with open_database(database, "write") as connection:
        found = tools.get_tool(connection, name)
        with only_import_of(database, found, on_notice), connection:
            tool = tools.get_tool(connection, name)
            if tool.id != found.id:  # while this waited, another one got its name
                raise ToolNotFound(name)
            check = KINDS[tool.kind].name_check
            if check is not None:
                others = [other for other in tools.list_tools(connection) if other.id != tool.id]
                load_code(check)(to, [other.name for other in others if other.kind == tool.kind])
            renamed = tools.rename_tool(connection, tool, to)
            datasets.rename_tables(connection, tool.id, name, to)
    return renamed
