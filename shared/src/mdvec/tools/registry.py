"""The table of tools: each row is a source, its model and the state of its import.

Functions that take a name raise ToolNotFound if no tool has it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import apsw
from pydantic import TypeAdapter

from mdvec import __version__, index
from mdvec.converters import OPTIONAL_ENDINGS
from mdvec.database import DatabaseUnusable, has_table
from mdvec.errors import MdvecError
from mdvec.files import ScanRules
from mdvec.index import Tables
from mdvec.platform import shell_line
from mdvec.text import ChunkingOptions, InvalidChunking, cited, nearest_or_all, shortened, utc_time
from mdvec.tools.kinds import KINDS
from mdvec.tools.names import InvalidToolName, checked_tool_name


class ToolNotFound(MdvecError):
    """No tool has that name; the message suggests the nearest of the ``known`` ones."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        instead = nearest_or_all(name, known) if known else "add one with: mdvec tool add"
        super().__init__(f"there is no tool {cited(shortened(name))}; {instead}")


class ToolExists(MdvecError):
    """A tool has that name already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a tool {name!r} already; give another name, or change that one with: "
            f"mdvec tool update -n {name} …"
        )


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table ``tools``.

    ``kind`` is a key of ``mdvec.tools.kinds.KINDS``. ``model``, ``fingerprint``, ``dimension``
    and ``chunking`` are None until the first import; ``generation`` is 0 until then and counts
    rebuilds after it. Times are UTC, as ISO 8601. ``scan`` is None until an import has
    stored it. While an import is unfinished, ``import_files`` is how many files it found and
    ``import_done`` how many of them are stored; both are None otherwise. Clients show
    ``title`` to people instead of the name.
    """

    id: int
    name: str
    description: str
    source: Path
    kind: str
    is_active: bool
    model: str | None
    fingerprint: str | None
    dimension: int | None
    chunking: ChunkingOptions | None
    generation: int
    last_import_at: str | None
    created_at: str
    updated_at: str
    scan: ScanRules | None = None
    import_files: int | None = None
    import_done: int | None = None
    title: str | None = None

    def tables_in(self, connection: apsw.Connection) -> Tables:
        """The tables of its current generation in an open database."""
        return Tables(connection, self.id, self.name, self.generation)

    @property
    def rebuilt_by(self) -> str:
        """The command that builds it again with the model it has, whatever the settings name."""
        model = () if self.model is None else ("--model", self.model)
        return shell_line("mdvec", "import", "-n", self.name, "--mode", "replace", *model)


_OTHER_COLUMNS = {
    "source": "source_directory",
    "fingerprint": "embedding_fingerprint",
    "dimension": "embedding_dimension",
}
"""Columns whose names differ from the fields."""
_FIELDS = tuple(field.name for field in fields(Tool))
_TIMES = ("last_import_at", "created_at", "updated_at")
_CHUNKING: TypeAdapter[ChunkingOptions | None] = TypeAdapter(ChunkingOptions | None)
_SCAN: TypeAdapter[ScanRules | None] = TypeAdapter(ScanRules | None)
_SELECT = f"SELECT {', '.join(_OTHER_COLUMNS.get(name, name) for name in _FIELDS)} FROM tools"


def add_tool(
    connection: apsw.Connection,
    name: str,
    description: str,
    source: Path,
    kind: str,
    title: str | None = None,
) -> Tool:
    """Register a tool and create its tables.

    Raises:
        InvalidToolName: no tool can have that name.
        ToolExists: one already has it.
    """
    checked_tool_name(name)
    with connection:
        try:
            connection.execute(
                "INSERT INTO tools (name, description, source_directory, kind, title, app_version) "
                "VALUES (?, ?, ?, ?, nullif(?, ''), ?)",
                (name, description, str(source), kind, title, __version__),
            )
        except apsw.ConstraintError as error:
            raise ToolExists(name) from error
        tool = get_tool(connection, name)
        index.tables.create_tables(tool.tables_in(connection))
    return tool


def get_tool(connection: apsw.Connection, name: str) -> Tool:
    """The tool of that name.

    Raises:
        ToolNotFound: there is none.
    """
    matches = _tools(connection, "WHERE name = ?", name)
    if not matches:
        raise ToolNotFound(name, [tool.name for tool in list_tools(connection)])
    return matches[0]


def tool_with_id(connection: apsw.Connection, number: int) -> Tool | None:
    """The tool with that id, whatever its name is now; None if it was deleted."""
    return next(iter(_tools(connection, "WHERE id = ?", number)), None)


def list_tools(connection: apsw.Connection, *, active_only: bool = False) -> list[Tool]:
    """All tools, or the active ones, by name."""
    return _tools(connection, "WHERE is_active ORDER BY name" if active_only else "ORDER BY name")


def update_tool(
    connection: apsw.Connection,
    name: str,
    description: str | None,
    source: Path | None,
    title: str | None = None,
) -> Tool:
    """Change the values that are not None; an empty title removes it.

    If the source changes, endpoints that were allowed for its texts must be allowed again.
    """
    if source is not None and has_table(connection, "allowed_endpoints"):
        connection.execute(
            "DELETE FROM allowed_endpoints WHERE tool_id = "
            "(SELECT id FROM tools WHERE name = ? AND source_directory <> ?)", (name, str(source)),
        )  # fmt: skip
    return _set(
        connection, name,
        "description = coalesce(?, description), "
        "source_directory = coalesce(?, source_directory), "
        "title = nullif(coalesce(?, title), '')",
        description, None if source is None else str(source), title,
    )  # fmt: skip


def set_scan(connection: apsw.Connection, name: str, rules: ScanRules) -> Tool:
    """Set the scan rules of a tool, for its next import."""
    return _set(connection, name, "scan = ?", _as_stored(rules))


def rename_tool(connection: apsw.Connection, tool: Tool, name: str) -> Tool:
    """Give a tool and its tables another name; call within a transaction.

    Raises:
        InvalidToolName: no tool can have that name, or the tool has it already.
        ToolExists: another tool has it.
    """
    checked_tool_name(name)
    if name == tool.name:
        raise InvalidToolName(f"the tool is called {name!r} already; give another name")
    try:
        connection.execute(
            "UPDATE tools SET name = ?, updated_at = CURRENT_TIMESTAMP WHERE id = ?",
            (name, tool.id),
        )
    except apsw.ConstraintError as error:
        raise ToolExists(name) from error
    index.table_changes.rename_tables(connection, tool.name, name)
    return get_tool(connection, name)


def set_active(connection: apsw.Connection, name: str, *, active: bool) -> Tool:
    """Enable or disable a tool."""
    return _set(connection, name, "is_active = ?", active)


def _set(connection: apsw.Connection, name: str, columns: str, *values: str | bool | None) -> Tool:
    with connection:
        get_tool(connection, name)
        connection.execute(
            f"UPDATE tools SET {columns}, updated_at = CURRENT_TIMESTAMP WHERE name = ?",
            (*values, name),
        )
    return get_tool(connection, name)


def delete_tool(connection: apsw.Connection, name: str) -> Tool:
    """Delete a tool with all its documents and vectors."""
    with connection:
        tool = get_tool(connection, name)
        index.table_changes.drop_all_tables(connection, tool.id, tool.name)
        connection.execute("DELETE FROM tools WHERE id = ?", (tool.id,))
    return tool


def _tools(connection: apsw.Connection, which: str, *values: str | int) -> list[Tool]:
    """The tools that ``which`` selects; none if the database is empty."""
    if not has_table(connection, "tools"):
        return []
    rows = connection.execute(f"{_SELECT} {which}", values)
    return [_tool(dict(zip(_FIELDS, row, strict=True))) for row in rows]


def _tool(row: dict[str, Any]) -> Tool:
    """A tool from its row's values by field."""
    try:
        return Tool(
            **row
            | {
                "source": Path(row["source"]),
                "kind": KINDS[row["kind"]].name,
                "is_active": bool(row["is_active"]),
                "chunking": _CHUNKING.validate_json(row["chunking"] or "null"),
                "scan": _stored_rules(row["scan"]),
                **{name: utc_time(row[name]) for name in _TIMES},
            }
        )
    except (ValueError, TypeError, KeyError, InvalidChunking) as error:
        raise DatabaseUnusable(
            f"the database's row of the tool {row['name']!r} is damaged; "
            "put back a backup with: mdvec restore FILE"
        ) from error


def record_model(
    connection: apsw.Connection,
    tool: Tool,
    generation: int,
    model: tuple[str, str, int],
    chunking: ChunkingOptions,
) -> None:
    """Record a generation with its model (name, fingerprint, dimension) and its chunking."""
    connection.execute(
        "UPDATE tools SET model = ?, embedding_fingerprint = ?, embedding_dimension = ?, "
        "chunking = ?, generation = ? WHERE id = ?",
        (*model, json.dumps(asdict(chunking)), generation, tool.id),
    )


def begin_import(
    connection: apsw.Connection, tool: Tool, rules: ScanRules, files: int, done: int
) -> None:
    """Record an import's scan rules, how many files it found, and how many of them are stored."""
    connection.execute(
        "UPDATE tools SET scan = ?, import_files = ?, import_done = ? WHERE id = ?",
        (_rules_for_later(connection, tool, rules), files, done, tool.id),
    )


def count_done(connection: apsw.Connection, tool: Tool, done: int) -> None:
    """Record how many of the files are stored so far."""
    connection.execute("UPDATE tools SET import_done = ? WHERE id = ?", (done, tool.id))


def record_import(connection: apsw.Connection, tool: Tool, rules: ScanRules) -> None:
    """Record that an import has finished, and the scan rules it used."""
    connection.execute(
        "UPDATE tools SET last_import_at = CURRENT_TIMESTAMP, app_version = ?, scan = ?, "
        "import_files = NULL, import_done = NULL WHERE id = ?",
        (__version__, _rules_for_later(connection, tool, rules), tool.id),
    )


def record_failed_import(connection: apsw.Connection, tool: Tool, reason: str) -> None:
    """Record why an unattended import failed; the next finished import clears it."""
    connection.execute(
        "INSERT OR REPLACE INTO import_failures (tool_id, path, reason) "
        "SELECT id, '', ?2 FROM tools WHERE id = ?1",
        (tool.id, reason),
    )


def _rules_for_later(connection: apsw.Connection, tool: Tool, rules: ScanRules) -> str:
    """The rules to store: the import's, unless the user set others meanwhile."""
    now = tool_with_id(connection, tool.id)
    later = rules if now is None or now.scan is None or now.scan == tool.scan else now.scan
    return _as_stored(later)


def _as_stored(rules: ScanRules) -> str:
    known = {name: value for name, value in asdict(rules).items() if value is not None}
    return json.dumps(known, ensure_ascii=False)


def _stored_rules(stored: str | None) -> ScanRules | None:
    """The rules of a tool; earlier versions stored them without their origin.

    Endings that [scan] has only if somebody names them then count as stated for the tool.
    """
    rules = _SCAN.validate_json(stored or "null")
    if rules is None:
        return None
    known = json.loads(stored or "{}")
    if "has_own_exclude" not in known:
        rules = replace(rules, has_own_exclude=None if rules.exclude else False)
    if "formats" not in known:
        added = tuple(end for end in rules.extensions if end in OPTIONAL_ENDINGS)
        rules = replace(rules, formats=added)
    return rules


def lock_file(database: Path, tool: Tool) -> Path:
    """The lock file of a tool's imports; an import removes it when it ends."""
    return Path(f"{database}.import-{tool.id}.lock")


def allow_endpoint(connection: apsw.Connection, tool_id: int, origin: str) -> None:
    """Record that a tool's texts and questions may go to the endpoints at ``origin``."""
    with connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS allowed_endpoints (tool_id INTEGER NOT NULL "
            "REFERENCES tools(id) ON DELETE CASCADE, origin TEXT NOT NULL, "
            "PRIMARY KEY (tool_id, origin)) WITHOUT ROWID"
        )
        connection.execute(
            "INSERT OR IGNORE INTO allowed_endpoints VALUES (?, ?)", (tool_id, origin)
        )


def is_endpoint_allowed(connection: apsw.Connection, tool_id: int, origin: str) -> bool:
    """Whether the user has allowed the endpoints at ``origin`` for a tool."""
    if not has_table(connection, "allowed_endpoints"):
        return False
    allowed = "SELECT 1 FROM allowed_endpoints WHERE tool_id = ? AND origin = ?"
    return connection.execute(allowed, (tool_id, origin)).get is not None
