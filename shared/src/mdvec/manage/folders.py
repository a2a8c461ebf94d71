"""Registers a server's folder as a tool, lists folders in the home, and copies the samples."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import mdvec
from mdvec.errors import MdvecError
from mdvec.manage.registering import add_tool, tools_so_far
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
    resolved = folder.expanduser().resolve()
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
    return "".join(char if char.isprintable() else "?" for char in words)


MAX_FOLDERS = 500
_MAX_PATH_CHARS = 4_096


class OutsideHome(MdvecError):
    """A path is outside the home or does not exist; the message says what to name."""


@dataclass(frozen=True, slots=True)
class HomeFolder:
    """A folder within the home, and its visible subfolders by name.

    ``path`` is relative to the home, "" for the home itself; ``parent`` is None there.
    """

    path: str
    parent: str | None
    folders: tuple[str, ...]
    is_cut: bool


def within_home(typed: str, home: Path) -> Path:
    """Resolve a path that a user typed: absolute, ``~/…``, or relative to the home.

    Raises:
        OutsideHome: it leads out of the home, perhaps by a link, or does not exist.
    """
    refused = OutsideHome(
        f"{typed[:200]!r} is not a folder or file within your home, {home}; name one that is, or "
        "add others in a terminal: mdvec tool add"
    )
    if not typed or len(typed) > _MAX_PATH_CHARS or "\0" in typed:
        raise refused
    relative = typed.removeprefix("~/") if typed != "~" else ""
    try:
        path = Path(os.path.realpath(home / relative, strict=True))
    except (OSError, ValueError) as error:
        raise refused from error
    if not path.is_relative_to(os.path.realpath(home)):
        raise refused
    return path


def home_folder(path: str, home: Path) -> HomeFolder:
    """The folder at a path relative to the home.

    Raises:
        OutsideHome: there is no such folder, or it cannot be read.
    """
    top = Path(os.path.realpath(home))
    folder = within_home(path or "~", home)
    shown = folder.relative_to(top).as_posix() if folder != top else ""
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]  # fmt: skip
    except OSError as error:
        raise OutsideHome(f"the folder {path!r} cannot be read ({error.strerror})") from error
    parent = None if folder == top else folder.parent.relative_to(top).as_posix().removeprefix(".")
    named = sorted(name for name in names if name.isprintable())
    return HomeFolder(shown, parent, tuple(named[:MAX_FOLDERS]), len(named) > MAX_FOLDERS)


_SAMPLES = ("notes", "household", "household-habits")
_NO_DATA = shutil.ignore_patterns("*.py", "__pycache__", ".gitattributes")


class SamplesNotWritten(MdvecError):
    """The samples cannot be written into that folder."""


def copy_samples(folder: Path) -> dict[str, Path]:
    """Copy the samples into a folder; returns the folder of each, by name.

    Raises:
        SamplesNotWritten: one exists already, or the folder cannot be written.
    """
    copies = {name: folder / name for name in _SAMPLES}
    for copy in copies.values():
        if copy.exists():
            raise SamplesNotWritten(f"{copy} exists already; choose another folder")
    try:
        for name, copy in copies.items():
            shutil.copytree(_samples_folder() / name, copy, ignore=_NO_DATA)
    except OSError as error:
        raise SamplesNotWritten(f"{folder} cannot be written ({error.strerror})") from error
    return copies


def _samples_folder() -> Path:
    """The folder of the samples: next to the code in a wheel, under docs in a checkout."""
    package = Path(mdvec.__file__).parent
    in_wheel = package / "samples"
    return in_wheel if in_wheel.is_dir() else package.parents[2] / "docs" / "examples"
