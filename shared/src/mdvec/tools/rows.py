"""The table of tools: a row is a collection, its folder, its model and its state."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import apsw

from mdvec import __version__
from mdvec.database.connection import DatabaseUnusable
from mdvec.errors import MdvecError
from mdvec.files.scan import ScanRules
from mdvec.index import tables
from mdvec.text.chunking import ChunkingOptions, InvalidChunking
from mdvec.tools.names import checked_tool_name

Kind = Literal["markdown", "household", "dataset"]


class ToolNotFound(MdvecError):
    """No tool has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no tool {name!r}; see what there is with: mdvec tool ls --all")


class ToolExists(MdvecError):
    """A tool has that name already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a tool {name!r} already; change it with: mdvec tool update -n {name} …"
        )


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of ``tools``.

    ``model``, ``fingerprint``, ``dimension`` and ``chunking`` are set by the first import;
    ``generation`` is 0 until then and counts its rebuilds after. Times are UTC, as SQLite
    writes them. ``scan`` is None until an import of this format has stored it. While an import
    has not finished, ``import_files`` is how many files it found, and ``import_done`` how many of
    them are in; both are None otherwise.
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


_COLUMNS = (
    "id, name, description, source_directory, kind, is_active, model, embedding_fingerprint, "
    "embedding_dimension, chunking, generation, last_import_at, created_at, updated_at"
)
_LATER_COLUMNS = "scan, import_files, import_done"


def add_tool(
    connection: apsw.Connection, name: str, description: str, source: Path, kind: Kind
) -> Tool:
    """Register a tool and make its tables.

    Raises:
        InvalidToolName: no tool can be called that.
        ToolExists: one is.
    """
    checked_tool_name(name)
    with connection:
        try:
            connection.execute(
                "INSERT INTO tools (name, description, source_directory, kind, app_version) "
                "VALUES (?, ?, ?, ?, ?)",
                (name, description, str(source), kind, __version__),
            )
        except apsw.ConstraintError as error:
            raise ToolExists(name) from error
        tool = get_tool(connection, name)
        tables.create_tables(connection, tables.Tables(tool.id, name, 0))
    return tool


def get_tool(connection: apsw.Connection, name: str) -> Tool:
    """The tool of that name.

    Raises:
        ToolNotFound: there is none.
    """
    if _is_new(connection):
        raise ToolNotFound(name)
    row = connection.execute(
        f"SELECT {_columns(connection)} FROM tools WHERE name = ?", (name,)
    ).fetchone()
    if row is None:
        raise ToolNotFound(name)
    return _tool(row)


def list_tools(connection: apsw.Connection, *, active_only: bool = False) -> list[Tool]:
    """All tools, or the active ones, by name."""
    if _is_new(connection):
        return []
    where = "WHERE is_active" if active_only else ""
    rows = connection.execute(f"SELECT {_columns(connection)} FROM tools {where} ORDER BY name")
    return [_tool(row) for row in rows]


def update_tool(
    connection: apsw.Connection, name: str, description: str | None, source: Path | None
) -> Tool:
    """Change what is given and leave the rest.

    Raises:
        ToolNotFound: there is no such tool.
    """
    with connection:
        get_tool(connection, name)
        connection.execute(
            "UPDATE tools SET description = coalesce(?, description), "
            "source_directory = coalesce(?, source_directory), updated_at = CURRENT_TIMESTAMP "
            "WHERE name = ?",
            (description, None if source is None else str(source), name),
        )
    return get_tool(connection, name)


def set_active(connection: apsw.Connection, name: str, *, active: bool) -> Tool:
    """Switch a tool on or off.

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
        tables.drop_all_tables(connection, tool.id, tool.name)
        connection.execute("DELETE FROM tools WHERE id = ?", (tool.id,))
    return tool


def record_model(
    connection: apsw.Connection,
    tool: Tool,
    generation: int,
    model: tuple[str, str, int],
    chunking: ChunkingOptions,
) -> None:
    """Tie a tool's generation to a model (name, fingerprint, dimension) and a way of cutting."""
    connection.execute(
        "UPDATE tools SET model = ?, embedding_fingerprint = ?, embedding_dimension = ?, "
        "chunking = ?, generation = ? WHERE id = ?",
        (*model, json.dumps(asdict(chunking)), generation, tool.id),
    )


def begin_import(
    connection: apsw.Connection, tool: Tool, rules: ScanRules, files: int, done: int
) -> None:
    """Note what an import takes, how many files it found, and how many of them are in already."""
    connection.execute(
        "UPDATE tools SET scan = ?, import_files = ?, import_done = ? WHERE id = ?",
        (json.dumps(asdict(rules), ensure_ascii=False), files, done, tool.id),
    )


def count_done(connection: apsw.Connection, tool: Tool, done: int) -> None:
    """Note how many of the files are in by now."""
    connection.execute("UPDATE tools SET import_done = ? WHERE id = ?", (done, tool.id))


def record_import(connection: apsw.Connection, tool: Tool, rules: ScanRules) -> None:
    """Note that an import came to its end, and what it took."""
    connection.execute(
        "UPDATE tools SET last_import_at = CURRENT_TIMESTAMP, app_version = ?, scan = ?, "
        "import_files = NULL, import_done = NULL WHERE id = ?",
        (__version__, json.dumps(asdict(rules), ensure_ascii=False), tool.id),
    )


def _columns(connection: apsw.Connection) -> str:
    """What is read of a row; a file of an older format, which readers leave as it is, has less."""
    found = connection.execute(
        "SELECT 1 FROM pragma_table_info('tools') WHERE name = 'import_done'"
    ).fetchone()
    return f"{_COLUMNS}, {_LATER_COLUMNS}" if found else f"{_COLUMNS}, NULL, NULL, NULL"


def _is_new(connection: apsw.Connection) -> bool:
    """Whether the file is empty: made, but never written."""
    found = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'tools'").fetchone()
    return found is None


def _tool(row: apsw.SQLiteValues) -> Tool:
    try:
        chunking, scan = _chunking(row[9]), _scan(row[14])
    except (ValueError, TypeError, KeyError, InvalidChunking) as error:
        raise DatabaseUnusable(
            f"the database's row of the tool {row[1]!r} is damaged; put back a copy of the file"
        ) from error
    source, is_active = Path(str(row[3])), bool(row[5])
    fields = (
        *row[:3],
        source,
        row[4],
        is_active,
        *row[6:9],
        chunking,
        *row[10:14],
        scan,
        *row[15:],
    )
    return Tool(*fields)  # type: ignore[arg-type]


def _chunking(stored: object) -> ChunkingOptions | None:
    if not isinstance(stored, str):
        return None
    options = json.loads(stored)
    return ChunkingOptions(
        **{"context": False, **options, "heading_levels": tuple(options["heading_levels"])}
    )


def _scan(stored: object) -> ScanRules | None:
    if not isinstance(stored, str):
        return None
    rules = json.loads(stored)
    return ScanRules(
        tuple(map(str, rules["extensions"])),
        tuple(map(str, rules["exclude"])),
        int(rules["max_bytes"]),
    )
