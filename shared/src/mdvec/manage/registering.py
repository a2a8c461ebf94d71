"""Adds, changes, lists and deletes tools, and validates the user's input.

Functions that take a tool's name raise ToolNotFound if no tool has it. All raise a DatabaseError if
the database is missing, or cannot be read or written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from mdvec import datasets, household, index
from mdvec.database import DatabaseError, DatabaseMissing, open_database
from mdvec.errors import MdvecError
from mdvec.files import ScanRules
from mdvec.household import Ledger
from mdvec.index import ChromaServer
from mdvec.manage.kind_code import KIND_CODE
from mdvec.platform import followed
from mdvec.settings import expanded
from mdvec.text import is_blank, is_visible
from mdvec.tools import (
    KINDS,
    Tool,
    ToolExists,
    ToolNotFound,
    checked_tool_name,
    name_for,
    only_import_of,
    registry,
)

MAX_TOOL_DESCRIPTION = 2_000
MAX_TITLE = 100
_KIND_OF_FOLDERS = "markdown"


class InvalidTool(MdvecError):
    """A tool's description, source or title is invalid."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class FilePatterns:
    """A tool's file patterns, as in .gitignore; None keeps the present ones, () removes them.

    ``defaults`` are the rules in the settings, for a tool without rules. ``endings`` are added to
    the tool's; () removes those that were added before, except what ``defaults`` have.
    """

    defaults: ScanRules
    endings: tuple[str, ...] | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None

    def checked(self) -> FilePatterns:
        """The same patterns; refused if one is invalid."""
        return replace(self, include=_valid(self.include), exclude=_valid(self.exclude))


def add_tool(
    database: Path,
    name: str,
    description: str,
    source: Path,
    kind: str,
    title: str | None = None,
    patterns: FilePatterns | None = None,
) -> Tool:
    """Add a folder, or a data file, as a tool; a missing database is created.

    Clients show ``title`` to people instead of the name; ``patterns`` say which files are imported.

    Raises:
        InvalidToolName, InvalidTool, ToolExists: the name, description, source, title or a
            pattern is refused.
        DatabaseError: the file cannot be created or written.
    """
    checked_tool_name(name)
    words, path = _checked_description(description), _checked_source(source, kind)
    shown = None if title is None else _checked_title(title)
    patterns = None if patterns is None else patterns.checked()
    with open_database(database, "create") as connection:
        others = [tool for tool in registry.list_tools(connection) if tool.name != name]
        _check_for_kind(name, kind, others)
        with connection:
            tool = registry.add_tool(connection, name, words, path, kind, shown)
            if patterns is not None:
                tool = registry.set_scan(connection, name, _with_patterns(None, patterns))
        return tool


def _check_for_kind(name: str, kind: str, others: Iterable[Tool]) -> None:
    """Refuse a name that clashes with those of other tools of its kind."""
    check = KIND_CODE[kind].name_check()
    check(name, [other.name for other in others if other.kind == kind])


class FolderServed(InvalidTool):
    """Another tool has this source, so every answer would appear twice."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(
            f"the tool {tool.name!r} has {str(tool.source)!r} already; "
            "import it again, or give another name to have the folder twice"
        )


def tools_of_source(database: Path, source: Path, kind: str) -> list[Tool]:
    """The tools of a kind with this source; [] if there is no database."""
    path = followed(expanded(source))
    tools = tools_so_far(database)
    return [tool for tool in tools if (tool.source, tool.kind) == (path, kind)]


def tools_so_far(database: Path, *, active_only: bool = False) -> list[Tool]:
    """All tools, or the active ones, by name; [] if there is no database."""
    try:
        return list_tools(database, active_only=active_only)
    except DatabaseMissing:
        return []


def update_tool(
    database: Path,
    name: str,
    description: str | None,
    source: Path | None,
    title: str | None = None,
    patterns: FilePatterns | None = None,
) -> Tool:
    """Change a tool's description, source or title, or which files its next import includes.

    None leaves a value unchanged; an empty title removes it. If a value is refused, nothing is
    changed.

    Raises:
        ToolNotFound, InvalidTool: there is no such tool, or a new value is refused.
    """
    words = None if description is None else _checked_description(description)
    shown = None if title is None else _checked_title(title)
    patterns = None if patterns is None else patterns.checked()
    with open_database(database, "write") as connection:
        with connection:
            tool = registry.get_tool(connection, name)
            path = None if source is None else _checked_source(source, tool.kind)
            if patterns is not None:
                registry.set_scan(connection, name, _with_patterns(tool.scan, patterns))
            registry.update_tool(connection, name, words, path, shown)
        return registry.get_tool(connection, name)


def _with_patterns(rules: ScanRules | None, patterns: FilePatterns) -> ScanRules:
    rules = rules or patterns.defaults
    formats, extensions = rules.formats, rules.extensions
    if patterns.endings == ():
        added = {end for end in formats if end not in patterns.defaults.extensions}
        formats, extensions = (), tuple(end for end in extensions if end not in added)
    elif patterns.endings is not None:
        formats = tuple(dict.fromkeys((*formats, *patterns.endings)))
        extensions = tuple(dict.fromkeys((*extensions, *formats)))
    return replace(
        rules,
        extensions=extensions,
        formats=formats,
        has_own_exclude=rules.has_own_exclude if patterns.exclude is None else True,
        include=rules.include if patterns.include is None else patterns.include,
        exclude=rules.exclude if patterns.exclude is None else patterns.exclude,
    )


def set_active(database: Path, name: str, *, active: bool) -> Tool:
    """Enable or disable a tool."""
    with open_database(database, "write") as connection:
        return registry.set_active(connection, name, active=active)


def delete_tool(
    database: Path,
    name: str,
    on_notice: Callable[[str], None] = lambda _: None,
    engine: ChromaServer | None = None,
) -> Tool:
    """Delete a tool and its imported data; its source stays.

    ``engine`` is the server with its vectors. These are deleted too, unless another copy of the
    database has changed them; then ``on_notice`` gets a sentence.
    """
    with open_database(database, "write") as connection:
        known = index.collection_of(registry.get_tool(connection, name).tables_in(connection))
        tool = registry.delete_tool(connection, name)
        datasets.remove_snapshots(datasets.snapshot_folder(connection, tool.id))
        if known is not None and engine is None:
            on_notice(
                f"the vectors of {name} are still in Chroma; name the server in [index], then "
                "delete them there: mdvec doctor --fix"
            )
        elif known is not None and engine is not None:
            try:
                index.delete_unused_collections(connection, engine)
            except index.EngineUnavailable as error:
                on_notice(
                    f"{error}; the vectors of {name} are still there until the next import or "
                    "mdvec doctor --fix deletes them"
                )
    return tool


def find_tool(database: Path, name: str) -> Tool:
    """The tool of that name."""
    with open_database(database, "read") as connection:
        return registry.get_tool(connection, name)


def list_tools(database: Path, *, active_only: bool) -> list[Tool]:
    """All tools, or the active ones, by name."""
    with open_database(database, "read") as connection:
        return registry.list_tools(connection, active_only=active_only)


def offered_state(database: Path) -> tuple[list[Tool], list[int]] | None:
    """The active tools, and the data versions of their ledgers; None if the database is empty."""
    with open_database(database, "read") as connection:
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            return None
        rows = registry.list_tools(connection, active_only=True)
        ledgers = [row.id for row in rows if KINDS[row.kind].has_ledger]
        return rows, [
            household.data_version(Ledger.undated(connection, ledger)) for ledger in ledgers
        ]


def models_in_use(database: Path) -> set[str]:
    """The models of imported tools; none if the database cannot be read."""
    try:
        tools = list_tools(database, active_only=False)
    except DatabaseError:
        return set()
    return {tool.model for tool in tools if tool.model is not None}


def _checked_description(description: str) -> str:
    words = " ".join(description.split())
    if is_blank(words) or len(words) > MAX_TOOL_DESCRIPTION:
        raise InvalidTool(
            "a tool needs a description of 1 to "
            f"{MAX_TOOL_DESCRIPTION:,} characters that tells a model what it contains"
        )
    if not words.isprintable():
        raise InvalidTool("the description contains unprintable characters; remove them")
    return words


def _checked_title(title: str) -> str:
    words = " ".join(title.split())
    if len(words) > MAX_TITLE or not words.isprintable():
        raise InvalidTool(f"a title has at most {MAX_TITLE} characters, all of them printable")
    return words


def _valid(patterns: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The patterns without blank ones."""
    if patterns is None:
        return None
    non_blank = tuple(pattern for pattern in patterns if pattern.strip())
    for pattern in non_blank:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except (GitIgnorePatternError, re.error) as error:
            raise InvalidTool(
                f"{pattern!r} is not a valid pattern; write it as in .gitignore, e.g. drafts/ or "
                "*.md"
            ) from error
    return non_blank


def _checked_source(source: Path, kind: str) -> Path:
    path = followed(expanded(source))
    if path.is_dir():
        return path
    if not KINDS[kind].takes_file:
        if path.is_file():
            raise InvalidTool(
                f"{source} is a file; a tool of the kind {kind!r} needs a folder "
                "(--kind dataset takes a data file)"
            )
        raise InvalidTool(f"there is no folder {source}; name one that exists with --source")
    if not path.is_file():
        raise InvalidTool(
            f"there is no file or folder {source}; name one that exists with --source"
        )
    endings = KINDS[kind].endings or ()
    if not path.name.lower().endswith(endings):
        raise InvalidTool(
            f"{source} cannot be a {kind}; name a file that ends in {', '.join(endings)}, "
            "or a folder of such files"
        )
    return path


def rename_tool(database: Path, name: str, to: str, on_notice: Callable[[str], None]) -> Tool:
    """Rename a tool with its tables; nothing is imported again.

    Waits for a running import of the tool; ``on_notice`` then gets a sentence.

    Raises:
        InvalidToolName, ToolExists: the new name is refused.
    """
    with open_database(database, "write") as connection:
        locked = registry.get_tool(connection, name)
        with only_import_of(database, locked, on_notice), connection:
            tool = registry.get_tool(connection, name)
            if tool.id != locked.id:  # meanwhile another tool got its name
                raise ToolNotFound(name, ())
            others = [other for other in registry.list_tools(connection) if other.id != tool.id]
            _check_for_kind(to, tool.kind, others)
            renamed = registry.rename_tool(connection, tool, to)
            datasets.rename_tables(connection, tool.id, name, to)
    return renamed


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
    printable = "".join(char if is_visible(char) else "?" for char in words)
    with suppress(ToolExists):  # another server that starts now registered it
        return add_tool(database, called, printable, resolved, _KIND_OF_FOLDERS)
    known = _registered_tool(database, resolved, called)
    if known is None:
        raise FolderRefused(f"the tool {called!r} cannot be added; start the server again")
    return known


def _registered_tool(database: Path, folder: Path, name: str | None) -> Tool | None:
    """The tool of that name, or without a name the first tool that reads the folder."""
    tools = tools_so_far(database)
    if name is None:
        reading = [tool for tool in tools if (tool.source, tool.kind) == (folder, _KIND_OF_FOLDERS)]
        return max(reading, key=lambda tool: tool.is_active, default=None)
    named = next((tool for tool in tools if tool.name == name), None)
    if named is not None and (named.source, named.kind) != (folder, _KIND_OF_FOLDERS):
        raise FolderRefused(
            f"the tool {name!r} reads {named.source}, not {folder}; choose another --name"
        )
    return named
