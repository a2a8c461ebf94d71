"""Collects an import's tables under their names in SQL."""

from __future__ import annotations

from mdvec.datasets.core.grouping import table_name
from mdvec.datasets.interfaces.dataset_tables import DatasetTable
from mdvec.files import UnreadableFile, split_ending
from mdvec.tools import Tool


class TableNameTaken(UnreadableFile):
    """Another file's table has the SQL name that this one would have."""


class CollectedTables(dict[str, DatasetTable]):
    """Tables by their SQL names, in the order in which they were added."""

    def __init__(self, tool: Tool) -> None:
        super().__init__()
        self._tool = tool

    def put(self, table: DatasetTable) -> None:
        """Add a table under its name."""
        self[table.name] = table

    def free_name(self, path: str, inner_table: str) -> str:
        """The SQL name of a file's table.

        Raises:
            TableNameTaken: another file's table has it.
        """
        file = split_ending(path)[0] if self._tool.source.is_dir() else ""
        return self.free(file, inner_table)

    def free(self, *parts: str) -> str:
        """The SQL name of a table that is named after ``parts``, the words of a file or group.

        Raises:
            TableNameTaken: another file's table has it.
        """
        name = table_name(self._tool.name, *filter(None, parts))
        if other := self.get(name):
            remedy = "rename one of them"
            if other.combined and other.combined.group.is_chosen:
                remedy = "give --table another name, or rename the file"
            raise TableNameTaken(
                f"its table would be called {name}, as that of {other.origin} is; {remedy}"
            )
        return name
