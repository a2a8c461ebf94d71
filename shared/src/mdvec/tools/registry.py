"""The table of tools: each row is a source, its model and the state of its import."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from mdvec import __version__
from mdvec.database import DatabaseUnusable
from mdvec.errors import MdvecError
from mdvec.files import ScanRules
from mdvec.index import Tables, table_changes, tables
from mdvec.text import ChunkingOptions, InvalidChunking
from mdvec.tools.kinds import KINDS
from mdvec.tools.names import checked_tool_name


class ToolNotFound(MdvecError):
    """No tool has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no tool {name!r}; list the tools with: mdvec tool ls --all")


class ToolExists(MdvecError):
    """A tool has that name already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a tool {name!r} already; change it with: mdvec tool update -n {name} …"
        )


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table ``tools``.

    ``kind`` is a key of ``mdvec.tools.kinds.KINDS``. ``model``, ``fingerprint``, ``dimension``
    and ``chunking`` are None until the first import; ``generation`` is 0 until then and counts
    rebuilds after it. Times are UTC, as SQLite writes them. ``scan`` is None until an import has
    stored it. While an import is unfinished, ``import_files`` is how many files it found and
    ``import_done`` how many of them are stored; both are None otherwise. ``title`` is what clients
    show to people in place of the name.
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

    @property
    def tables(self) -> Tables:
        """The tables of its current generation."""
        return Tables(self.id, self.name, self.generation)


_COLUMNS = (
    "id", "name", "description", "source_directory", "kind", "is_active", "model",
    "embedding_fingerprint", "embedding_dimension", "chunking", "generation", "last_import_at",
    "created_at", "updated_at", "scan", "import_files", "import_done", "title",
)  # fmt: skip


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
        tables.create_tables(connection, tool.tables)
    return tool


def get_tool(connection: apsw.Connection, name: str) -> Tool:
    """The tool of that name.

    Raises:
        ToolNotFound: there is none.
    """
    found = _tools(connection, "WHERE name = ?", (name,))
    if not found:
        raise ToolNotFound(name)
    return found[0]


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

    Raises:
        ToolNotFound: there is no such tool.
    """
    with connection:
        get_tool(connection, name)
        connection.execute(
            "UPDATE tools SET description = coalesce(?, description), "
            "source_directory = coalesce(?, source_directory), "
            "title = nullif(coalesce(?, title), ''), updated_at = CURRENT_TIMESTAMP "
            "WHERE name = ?",
            (description, None if source is None else str(source), title, name),
        )
    return get_tool(connection, name)


def set_scan(connection: apsw.Connection, name: str, rules: ScanRules) -> Tool:
    """Set the scan rules of a tool, for its next import.

    Raises:
        ToolNotFound: there is no such tool.
    """
    with connection:
        get_tool(connection, name)
        connection.execute(
            "UPDATE tools SET scan = ?, updated_at = CURRENT_TIMESTAMP WHERE name = ?",
            (json.dumps(rules.json_fields(), ensure_ascii=False), name),
        )
    return get_tool(connection, name)


def rename_tool(connection: apsw.Connection, tool: Tool, name: str) -> Tool:
    """Give a tool and its tables another name; call within a transaction.

    Raises:
        InvalidToolName: no tool can have that name.
        ToolExists: another tool has it.
    """
    checked_tool_name(name)
    try:
        connection.execute(
            "UPDATE tools SET name = ?, updated_at = CURRENT_TIMESTAMP WHERE id = ?",
            (name, tool.id),
        )
    except apsw.ConstraintError as error:
        raise ToolExists(name) from error
    table_changes.rename_tables(connection, tool.name, name)
    return get_tool(connection, name)


def set_active(connection: apsw.Connection, name: str, *, active: bool) -> Tool:
    """Enable or disable a tool.

    Raises:
        ToolNotFound: there is no such tool.
    """
    with connection:
        get_tool(connection, name)
        connection.execute(
            "UPDATE tools SET is_active = ?, updated_at = CURRENT_TIMESTAMP WHERE name = ?",
            (active, name),
        )
    return get_tool(connection, name)


def delete_tool(connection: apsw.Connection, name: str) -> Tool:
    """Delete a tool with all its documents and vectors.

    Raises:
        ToolNotFound: there is no such tool.
    """
    with connection:
        tool = get_tool(connection, name)
        table_changes.drop_all_tables(connection, tool.id, tool.name)
        connection.execute("DELETE FROM tools WHERE id = ?", (tool.id,))
    return tool


def _tools(connection: apsw.Connection, which: str, values: tuple[str, ...] = ()) -> list[Tool]:
    """The rows that ``which`` selects; none if the database is still empty."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'tools'").fetchone():
        return []
    rows = connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM tools {which}", values)
    return [_tool(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _tool(row: dict[str, Any]) -> Tool:
    """A tool from its row's values by column."""
    try:
        kind = KINDS[row["kind"]].name
        chunking, scan = _chunking(row["chunking"]), _scan(row["scan"])
    except (ValueError, TypeError, KeyError, InvalidChunking) as error:
        raise DatabaseUnusable(
            f"the database's row of the tool {row['name']!r} is damaged; "
            "put back a copy of the file"
        ) from error
    return Tool(
        id=row["id"],
        name=row["name"],
        description=row["description"],
        source=Path(row["source_directory"]),
        kind=kind,
        is_active=bool(row["is_active"]),
        model=row["model"],
        fingerprint=row["embedding_fingerprint"],
        dimension=row["embedding_dimension"],
        chunking=chunking,
        generation=row["generation"],
        last_import_at=row["last_import_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        scan=scan,
        import_files=row["import_files"],
        import_done=row["import_done"],
        title=row["title"],
    )


def _chunking(stored: object) -> ChunkingOptions | None:
    if not isinstance(stored, str):
        return None
    options = json.loads(stored)
    return ChunkingOptions(**{**options, "heading_levels": tuple(options["heading_levels"])})


def _scan(stored: object) -> ScanRules | None:
    if not isinstance(stored, str):
        return None
    rules = json.loads(stored)
    return ScanRules(
        tuple(map(str, rules["extensions"])),
        tuple(map(str, rules["exclude"])),
        int(rules["max_bytes"]),
        tuple(map(str, rules.get("include", ()))),
    )
