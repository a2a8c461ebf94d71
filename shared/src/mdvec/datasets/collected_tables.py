"""The tables of a dataset as an import collects them: each has a SQL name of its own."""

from __future__ import annotations

from mdvec.datasets.core.grouping import FileGroup
from mdvec.datasets.core.names import table_name
from mdvec.datasets.interfaces.tables import DatasetTable, FileTable
from mdvec.files.endings import split_ending
from mdvec.files.scan import UnreadableFile
from mdvec.tools.rows import Tool


class TableNameTaken(UnreadableFile):
    """Another file's table has the SQL name that this one would have."""


class CollectedTables:
    """Tables by their SQL names."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._by_name: dict[str, FileTable] = {}

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def put(self, table: FileTable) -> None:
        """Add a table, under the name that it has."""
        self._by_name[table.table.name] = table

    def free_name(self, path: str, inner_table: str) -> str:
        """The SQL name of a file's table.

        Raises:
            TableNameTaken: another file's table has it.
        """
        return self._if_free(self._name(path, inner_table))

    def free_group_name(self, group: FileGroup) -> str:
        """The SQL name of the table of a group of files.

        Raises:
            TableNameTaken: another file's table has it.
        """
        parts = [group.name] if group.name else []
        return self._if_free(table_name(self._tool.name, *parts))

    def _if_free(self, name: str) -> str:
        other = self._by_name.get(name)
        if other is not None:
            raise TableNameTaken(
                f"its table would be called {name}, as that of {other.table.origin} is; "
                "rename one of them"
            )
        return name

    def of_files(self) -> list[FileTable]:
        """The tables with the files they are from, in the order in which they were added."""
        return list(self._by_name.values())

    def ordered(self) -> list[DatasetTable]:
        """The tables by name."""
        return [self._by_name[name].table for name in sorted(self._by_name)]

    def _name(self, path: str, inner_table: str) -> str:
        parts = [inner_table] if inner_table else []
        if self._tool.source.is_dir():
            parts.insert(0, split_ending(path)[0])
        return table_name(self._tool.name, *parts)
