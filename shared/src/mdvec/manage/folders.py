"""Registers the folder that a server was started for, unless a tool already reads it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mdvec.database.connection import DatabaseMissing
from mdvec.errors import MdvecError
from mdvec.manage.registering import add_tool, list_tools
from mdvec.tools.names import checked_tool_name, name_for
from mdvec.tools.rows import Tool, ToolExists

_KIND = "markdown"


class FolderRefused(MdvecError):
    """A folder cannot become a tool."""


def tool_of_folder(database: Path, folder: Path, name: str | None = None) -> Tool:
    """The tool that reads a folder of documents; it is registered if there is none yet.

    A folder that was registered before need not be there now: what was imported is searched.

    Args:
        database: the database file; it is created if it is missing.
        folder: the folder.
        name: the tool's name; None takes that of the folder.

    Raises:
        FolderRefused: there is no such folder, its tool is disabled, or a tool of that name reads
            another.
        InvalidToolName: no tool can have that name.
        DatabaseError: the file cannot be created or written.
    """
    place = folder.expanduser().resolve()
    if name is not None:
        checked_tool_name(name)
    known = _known(database, place, name)
    if known is not None:
        return _checked_active(known)
    if not place.is_dir():
        raise FolderRefused(f"there is no folder {folder}; name one that exists with --docs-dir")
    called = name or name_for(place.name, {tool.name for tool in _tools(database)})
    words = f"The user's documents in the folder {place.name or place}."
    with suppress(ToolExists):  # another server, started at the same moment, registered it
        return add_tool(database, called, _printable(words), place, _KIND)
    known = _known(database, place, called)
    if known is None:
        raise FolderRefused(f"the tool {called!r} cannot be added; start the server again")
    return known


def _checked_active(tool: Tool) -> Tool:
    if not tool.is_active:
        raise FolderRefused(
            f"the tool {tool.name!r}, which reads {tool.source}, is disabled; enable it with: "
            f"mdvec tool enable -n {tool.name}, or leave --docs-dir out"
        )
    return tool


def _known(database: Path, place: Path, name: str | None) -> Tool | None:
    """The tool of that name, or without a name the first that reads the folder."""
    tools = _tools(database)
    if name is None:
        reading = [tool for tool in tools if (tool.source, tool.kind) == (place, _KIND)]
        return next(iter(sorted(reading, key=lambda tool: not tool.is_active)), None)
    for tool in tools:
        if tool.name == name and (tool.source, tool.kind) != (place, _KIND):
            raise FolderRefused(
                f"the tool {name!r} reads {tool.source}, not {place}; choose another --name"
            )
        if tool.name == name:
            return tool
    return None


def _tools(database: Path) -> list[Tool]:
    try:
        return list_tools(database, active_only=False)
    except DatabaseMissing:
        return []


def _printable(words: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in words)
