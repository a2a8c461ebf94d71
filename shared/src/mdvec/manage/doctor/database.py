"""Checks the database: format, integrity, permissions, disk, indexes, engine, and leftovers."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import apsw

from mdvec import index
from mdvec.database import (
    DatabaseMissing,
    format_of,
    is_writable,
    network_trouble,
    open_database,
    open_to_others,
    read_only_index,
    remove_index,
    size_on_disk,
    snapshot,
)
from mdvec.datasets import can_read_all, dataset_tables, snapshot_folder
from mdvec.index import chunks
from mdvec.manage.backup import WORKING_FOLDER
from mdvec.manage.compacting import remove_leftovers
from mdvec.manage.doctor.findings import Finding, fixable
from mdvec.platform import folders_left, remove_folders_left
from mdvec.settings import Loaded
from mdvec.sizes import MEGABYTE
from mdvec.text import file_size, identifier, some_of
from mdvec.tools import KINDS, Tool, is_being_imported, lock_file, only_import_of, registry

_MAX_ERRORS = 10
_PRIVATE = 0o600
_HOW_TO_RESTORE = (
    "put back a backup with: mdvec restore FILE; without one, move the file away and import again, "
    "which loses decisions, budgets, rules, notes and saved questions"
)
_MIN_FREE = 50 * MEGABYTE
_COMFORTABLE = 500 * MEGABYTE
_STAGED = re.compile(r"(?P<kind>documents|vectors|options)_(?P<name>.+)@\d+")
_DERIVED = re.compile(r"(?:signatures|fts|terms)_(?P<id>\d+)_(?P<generation>\d+)")
_BYTES_PER_NUMBER = 4


def check_database(installation: Loaded) -> Iterator[Finding]:
    """Check the file's integrity, format and permissions.

    Raises:
        DatabaseError: it cannot be opened; the message says why.
    """
    path = installation.settings.database_path
    if (read_only := read_only_index(path)) is not None:
        sentence = f"{read_only} is read-only, so the database beside it cannot be written"
        yield fixable("trouble", sentence, partial(remove_index, path), f"removed {read_only}")
    try:
        with open_database(path, "read") as connection:
            size, number = file_size(size_on_disk(path)), format_of(connection)
            if number:
                yield Finding("ok", f"{path} ({size}) has format {number}")
                yield from _integrity(connection)
            else:
                sentence = f"{path} is empty; if it had tools, their content is lost"
                yield Finding("warning", sentence, "mdvec restore FILE")
    except DatabaseMissing:
        remedy = 'mdvec tool add -n NAME -d "what it contains" -s FOLDER'
        yield Finding("warning", f"there is no database at {path} yet", remedy)
        return
    if not is_writable(path):
        yield Finding("warning", f"{path} or its folder cannot be written; imports fail")
    if trouble := network_trouble(path):
        yield Finding("trouble", f"{trouble}; imports are refused")
    for file, mode in open_to_others(path).items():
        yield Finding(
            "warning", f"other users can open {file} ({mode:04o})",
            f"chmod 600 {shlex.quote(str(file))}", partial(file.chmod, _PRIVATE),
            f"only its owner can open {file} now",
        )  # fmt: skip


def _integrity(connection: apsw.Connection) -> Iterator[Finding]:
    messages = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({_MAX_ERRORS})")]
    if messages != ["ok"]:
        yield Finding("trouble", f"the file is damaged: {messages[0]}", _HOW_TO_RESTORE)
        return
    orphans = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    if orphans:
        yield Finding("trouble", f"{orphans} rows belong to rows that are gone", _HOW_TO_RESTORE)
    else:
        yield Finding("ok", "its pages and references are whole")


def check_disk(installation: Loaded) -> Iterator[Finding]:
    """Check that imports, rebuilds and mdvec compact have enough space."""
    database = installation.settings.database_path
    folder = database.absolute().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    size = size_on_disk(database) if database.is_file() else 0
    free_space = f"{file_size(free)} free in {folder}"
    if free < _MIN_FREE:
        yield Finding("warning", f"only {free_space}; imports may fail", "make room")
    elif free < max(_COMFORTABLE, 2 * size):
        yield Finding(
            "warning",
            f"{free_space}: too little for a rebuild or mdvec compact of {file_size(size)}",
            "free some disk space",
        )  # fmt: skip
    else:
        yield Finding("ok", free_space)


def check_leftovers(installation: Loaded) -> Iterator[Finding]:
    """Find leftovers of imports that neither a search nor a running import uses."""
    database = installation.settings.database_path
    with open_database(database, "read") as connection:
        rows = registry.list_tools(connection)
        leftovers = [(tool, _leftovers(connection, tool)) for tool in rows]
    folder = database.absolute().parent
    copies = [left.name for left in folders_left(folder, WORKING_FOLDER)]
    if copies:
        sentence = f"a backup or restore was killed and left {', '.join(copies)} in {folder}"
        remove = partial(remove_folders_left, folder, WORKING_FOLDER)
        yield fixable("warning", sentence, remove, f"removed {', '.join(copies)}")
    for tool, names in leftovers:
        if is_being_imported(database, tool):
            yield Finding("ok", f"an import of {tool.name} is running")
            continue
        if lock_file(database, tool).exists():
            names.append(lock_file(database, tool).name)
        if names:
            sentence = f"an import of {tool.name} did not end and left {', '.join(sorted(names))}"
            done = f"removed what an unfinished import of {tool.name} left"
            yield fixable("warning", sentence, partial(_remove, database, tool.name), done)
    if not (copies or any(names for _, names in leftovers)):
        yield Finding("ok", "no import and no backup left anything")


def _leftovers(connection: apsw.Connection, tool: Tool) -> list[str]:
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    left = [str(name) for (name,) in names if _is_left(str(name), tool)]
    folder = snapshot_folder(connection, tool.id)
    if folder.is_dir():
        needed = {
            table.parquet.name for table in dataset_tables(connection, tool.id) if table.is_copy
        }
        left += [file.name for file in folder.iterdir() if file.name not in needed]
    return left


def _is_left(table: str, tool: Tool) -> bool:
    if staged := _STAGED.fullmatch(table):
        is_needed = staged["kind"] == "options" and tool.import_files is not None
        return staged["name"] == tool.name and not is_needed
    derived = _DERIVED.fullmatch(table)
    return (
        derived is not None
        and int(derived["id"]) == tool.id
        and int(derived["generation"]) != tool.generation
    )


def _remove(database: Path, name: str) -> None:
    """Drop a tool's leftovers; its lock file is removed with the lock."""
    with _without_imports(database, name) as (connection, tool):
        remove_leftovers(connection, tool)


@contextmanager
def _without_imports(database: Path, name: str) -> Iterator[tuple[apsw.Connection, Tool]]:
    """A connection for writing, and a tool that is not imported during the block."""
    with open_database(database, "write") as connection:
        locked = registry.get_tool(connection, name)
        with only_import_of(database, locked, lambda _: None):
            yield connection, registry.get_tool(connection, name)


def check_copies(installation: Loaded) -> Iterator[Finding]:
    """Read every row of the copies of data files: queries read nothing else."""
    database = installation.settings.database_path
    with open_database(database, "read") as connection, snapshot(connection):
        tables = {
            tool.name: dataset_tables(connection, tool.id)
            for tool in registry.list_tools(connection)
            if KINDS[tool.kind].has_data_files
        }
    for name, of_tool in tables.items():
        copied = [table for table in of_tool if table.is_copy]
        bad = [table.name for table in copied if table.is_lost or not can_read_all(table.parquet)]
        if bad:
            yield Finding(
                "trouble",
                f"{name}: queries cannot read {some_of(bad, _MAX_ERRORS)}; "
                "the copies of the files are damaged or gone",
                f"mdvec import -n {name} --mode update --checksum",
            )  # fmt: skip
        elif copied:
            yield Finding("ok", f"{name}: every row can be read")


def check_indexes(installation: Loaded) -> Iterator[Finding]:
    """Check that exactly the stored chunks have vectors, words and signatures."""
    database = installation.settings.database_path
    with open_database(database, "read") as connection, snapshot(connection):
        for tool in registry.list_tools(connection):
            if KINDS[tool.kind].has_texts and tool.generation:
                yield _of_tool(connection, database, tool)


def _of_tool(connection: apsw.Connection, database: Path, tool: Tool) -> Finding:
    tables = tool.tables_in(connection)
    count, pending = chunks.chunk_count(tables), index.pending_count(tables)
    vectors = identifier(tables.vectors)
    size = _BYTES_PER_NUMBER * (tool.dimension or 0)
    sql = f"SELECT count(*) FROM {vectors} WHERE length(embedding) <> {size:d}"
    wrong = _number(connection, sql) - pending
    if wrong:
        return Finding(
            "trouble",
            f"{tool.name}: {wrong} of {count} vectors do not have the {tool.dimension} dimensions "
            f"of {tool.fingerprint}",
            tool.rebuilt_by,
        )  # fmt: skip
    reason = _reason_to_rebuild(connection, tool, count, pending)
    if reason is None:
        so_far = f"its index of words has all {count} chunks, and that of vectors {count - pending}"
        whole = f"all indexes have its {count} chunks"
        return Finding("ok", f"{tool.name}: {so_far if pending else whole}")
    if is_being_imported(database, tool):
        return Finding("ok", f"{tool.name}: an import is running")
    rebuild = partial(rebuild_indexes, database, tool.name)
    return fixable(
        "trouble", f"{tool.name}: {reason}", rebuild, f"{tool.name}: built its search indexes again"
    )


def rebuild_indexes(database: Path, name: str) -> None:
    """Rebuild a tool's indexes from its stored chunks, without embedding anything.

    Raises:
        DatabaseError: the file cannot be written.
    """
    with _without_imports(database, name) as (connection, tool), connection:
        chunks.rebuild_indexes(tool.tables_in(connection))


def _reason_to_rebuild(
    connection: apsw.Connection, tool: Tool, count: int, pending: int
) -> str | None:
    tables = tool.tables_in(connection)
    if not (index.has_word_indexes(tables) and index.has_vector_index(tables)):
        return "its search indexes are missing"
    vectors = identifier(tables.vectors)
    # FTS5 keeps a row here for each row of a contentless table.
    rows = identifier(f"{tables.fts}_docsize")
    missing = _number(
        connection, f"SELECT count(*) FROM {vectors} WHERE id NOT IN (SELECT id FROM {rows})"
    )
    extra = _number(
        connection, f"SELECT count(*) FROM {rows} WHERE id NOT IN (SELECT id FROM {vectors})"
    )
    if missing or extra:
        return f"its index of words lacks {missing} of {count} chunks and has {extra} too many"
    if not index.has_signatures(tables):
        return None  # a server has the vectors; ``check_engine`` compares them
    signed = _number(
        connection,
        f"SELECT coalesce(sum(length(signatures)), 0) FROM {identifier(tables.signatures)} "
        "WHERE first_chunk > 0",
    )
    centred = index.read_build(tables).centre is not None
    signatures = signed / index.entry_type(tool.dimension or 1, centred=centred).itemsize
    if signatures != count - pending:
        return f"it has {signatures:g} signatures for {count - pending} vectors"
    return None


def _number(connection: apsw.Connection, sql: str) -> int:
    return int(connection.execute(sql).get)


def check_engine(installation: Loaded) -> Iterator[Finding]:
    """Check that the configured engine has exactly the vectors of every tool."""
    server, database = installation.settings.vector_engine, installation.settings.database_path
    with open_database(database, "read") as connection, snapshot(connection):
        indexed = [
            (tool, index.collection_of(tool.tables_in(connection)))
            for tool in registry.list_tools(connection)
            if KINDS[tool.kind].has_texts and tool.generation
        ]
        unused = index.unused_collections(connection)
    if server is None:
        outside = [tool.name for tool, known in indexed if known is not None]
        for name in outside:
            sentence = f"{name}: its vectors are in Chroma, but [index] engine is 'sqlite'"
            anew = partial(_index, database, name, None, anew=True)
            yield fixable("trouble", sentence, anew, f"{name}: indexed its vectors again")
        if not outside:
            yield Finding("ok", "the database file indexes the vectors")
        return
    try:
        with index.translated_errors(server):
            index.client(server, index.WRITE_SECONDS).heartbeat()
    except index.ExtraMissing as error:
        yield Finding("trouble", str(error))
        return
    except index.EngineUnavailable as error:
        sentence = f"{error}; searches use words alone until it does"
        yield Finding("trouble", sentence, "chroma run --path FOLDER")
        return
    yield Finding("ok", f"{server.name} answers")
    for tool, known in indexed:
        yield _engine_of_tool(database, tool, known, server)
    if unused:
        collections = f"{len(unused)} collections in {server.name}"
        sentence = f"{collections} are not used any more"
        delete = partial(_delete_unused, database, server)
        yield fixable("warning", sentence, delete, f"deleted {collections}")


def _engine_of_tool(
    database: Path, tool: Tool, known: index.StoredCollection | None, server: index.ChromaServer
) -> Finding:
    """Check that the server has exactly a tool's vectors, and that only this file writes them."""
    name = tool.name
    anew = partial(_index, database, name, server, anew=True)
    send = partial(_index, database, name, server, anew=False)
    indexed = f"{name}: indexed its vectors again"
    sent = f"{name}: sent its vectors to {server.name}"
    if is_being_imported(database, tool):
        return Finding("ok", f"an import of {name} is running")
    if known is None:
        return fixable(
            "warning", f"{name}: its vectors are not in {server.name} yet", anew, indexed
        )
    collection = index.ChromaIndex(server, known.name, index.WRITE_SECONDS)
    try:
        if known.is_changed_elsewhere(collection.build()):
            others = "another copy of this database has changed its vectors in"
            return fixable("trouble", f"{name}: {others} {server.name}", anew, indexed)
        with open_database(database, "read") as connection, snapshot(connection):
            lacking, extra = index.differences(tool.tables_in(connection), collection)
    except index.CollectionMissing:
        return fixable("trouble", f"{name}: {server.name} does not have its vectors", send, sent)
    if lacking or extra:
        numbers = f"lacks {len(lacking):,} vectors and has {len(extra):,} too many"
        return fixable("trouble", f"{name}: {server.name} {numbers}", send, sent)
    return Finding("ok", f"{name}: {server.name} has exactly its vectors")


def _index(database: Path, name: str, server: index.ChromaServer | None, *, anew: bool) -> None:
    """Send the vectors that a server lacks; ``anew`` first begins a new index there or here."""
    with _without_imports(database, name) as (connection, tool):
        if anew:
            with connection:
                index.rebuild_vector_index(tool.tables_in(connection), outside=server is not None)
        if server is not None:
            index.send_vectors(tool.tables_in(connection), server, compare=True)


def _delete_unused(database: Path, server: index.ChromaServer) -> None:
    with open_database(database, "write") as connection:
        index.delete_unused_collections(connection, server)
