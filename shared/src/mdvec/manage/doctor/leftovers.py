"""Checks for leftovers of killed imports: tables, copies of data files, lock files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw

from mdvec.database.connection import open_database
from mdvec.datasets.copies import remove_unneeded_copies
from mdvec.datasets.interfaces import tables as datasets
from mdvec.index import table_changes
from mdvec.manage.doctor.findings import Finding, Installation
from mdvec.manage.import_tool import only_import_of
from mdvec.tools import rows as tools
from mdvec.tools.import_lock import is_being_imported, lock_file
from mdvec.tools.rows import Tool

_STAGED = re.compile(r"(?:documents|vectors)_(?P<name>.+)@\d+")
_DERIVED = re.compile(r"(?:signatures|fts|terms)_(?P<id>\d+)_(?P<generation>\d+)")


def check_leftovers(installation: Installation) -> Iterator[Finding]:
    """Find leftovers that no search and no running import uses."""
    database = installation.database
    with open_database(database, "read") as connection:
        rows = tools.list_tools(connection)
        found = [(tool, _leftovers(connection, tool)) for tool in rows]
    for tool, names in found:
        if is_being_imported(database, tool):
            yield Finding("ok", "leftovers", f"an import of {tool.name} is running")
            continue
        if lock_file(database, tool).exists():
            names.append(lock_file(database, tool).name)
        if names:
            yield Finding(
                "warning", "leftovers",
                f"an import of {tool.name} was killed and left {', '.join(sorted(names))}",
                "mdvec doctor --fix", partial(_remove, database, tool.name),
            )  # fmt: skip
    if not any(names for _, names in found):
        yield Finding("ok", "leftovers", "no import left anything")


def _leftovers(connection: apsw.Connection, tool: Tool) -> list[str]:
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    left = [str(name) for (name,) in names if _is_left(str(name), tool)]
    folder = datasets.snapshot_folder(connection, tool.id)
    if folder.is_dir():
        needed = {
            table.parquet.name
            for table in datasets.dataset_tables(connection, tool.id)
            if table.is_copy
        }
        left += [file.name for file in folder.iterdir() if file.name not in needed]
    return left


def _is_left(table: str, tool: Tool) -> bool:
    if staged := _STAGED.fullmatch(table):
        return staged["name"] == tool.name
    derived = _DERIVED.fullmatch(table)
    return (
        derived is not None
        and int(derived["id"]) == tool.id
        and int(derived["generation"]) != tool.generation
    )


def _remove(database: Path, name: str) -> None:
    """Drop a tool's leftovers; releasing the lock removes the lock file."""
    with open_database(database, "write") as connection:
        tool = tools.get_tool(connection, name)
        with only_import_of(database, tool, lambda _: None):
            current = tools.get_tool(connection, name).generation
            with connection:
                table_changes.drop_leftovers(connection, tool.id, tool.name, current=current)
            remove_unneeded_copies(connection, tool.id)
