"""The tool of the folder that a server is started for; registers it if there is none."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mdvec.errors import MdvecError
from mdvec.manage.registering import add_tool, tools_so_far
from mdvec.platform import followed
from mdvec.settings import expanded
from mdvec.text import is_visible
from mdvec.tools import Tool, ToolExists, checked_tool_name, name_for

_KIND = "markdown"


class FolderRefused(MdvecError):
    """A folder cannot become a tool."""


def tool_of_folder(database: Path, folder: Path, name: str | None = None) -> Tool:
    """The tool that reads a folder of documents; registers one if there is none.

    A registered folder may be missing now: its imported documents can be searched.

    A missing database is created; without ``name`` the tool is named after the folder.

    Raises:
        FolderRefused: there is no such folder, its tool is disabled, or a tool of that name reads
            another folder.
        InvalidToolName: no tool can have that name.
        DatabaseError: the file cannot be created or written.
    """
    resolved = followed(expanded(folder))
    if name is not None:
        checked_tool_name(name)
    known = _registered_tool(database, resolved, name)
    if known is not None and not known.is_active:
        raise FolderRefused(
            f"the tool {known.name!r}, which reads {known.source}, is disabled; enable it with: "
            f"mdvec tool enable -n {known.name}, or leave --docs-dir out"
        )
    if known is not None:
        return known
    if not resolved.is_dir():
        raise FolderRefused(f"there is no folder {folder}; name one that exists")
    called = name or name_for(resolved.name, {tool.name for tool in tools_so_far(database)})
    words = f"The user's documents in the folder {resolved.name or resolved}."
    with suppress(ToolExists):  # another server that starts now registered it
        return add_tool(database, called, _printable(words), resolved, _KIND)
    known = _registered_tool(database, resolved, called)
    if known is None:
        raise FolderRefused(f"the tool {called!r} cannot be added; start the server again")
    return known


def _registered_tool(database: Path, folder: Path, name: str | None) -> Tool | None:
    """The tool of that name, or without a name the first tool that reads the folder."""
    tools = tools_so_far(database)
    if name is None:
        reading = [tool for tool in tools if (tool.source, tool.kind) == (folder, _KIND)]
        return max(reading, key=lambda tool: tool.is_active, default=None)
    named = next((tool for tool in tools if tool.name == name), None)
    if named is not None and (named.source, named.kind) != (folder, _KIND):
        raise FolderRefused(
            f"the tool {name!r} reads {named.source}, not {folder}; choose another --name"
        )
    return named


def _printable(words: str) -> str:
    return "".join(char if is_visible(char) else "?" for char in words)
