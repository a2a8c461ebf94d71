"""The database format: ``schema.sql`` is the newest; numbered steps migrate older files to it.

To change the format, edit ``schema.sql`` and append a step that makes the same change to a file of
the format before. A released step is never edited, and imports nothing that may change.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw

APPLICATION_ID = 0x6D647663  # "mdvc"
_APPLICATION = slice(68, 72)
"""Its position in SQLite's header."""
OLDEST = 17
"""The format that the steps start from; no release wrote an older format."""
_SCHEMA = Path(__file__).with_name("schema.sql")


def m018_without_traces(connection: apsw.Connection) -> None:
    """Drop the columns and the option that only recorded how files before format 17 were read."""
    connection.execute("ALTER TABLE ledger_versions DROP COLUMN asks_first")
    connection.execute("ALTER TABLE ledger_versions DROP COLUMN text_format")
    connection.execute("UPDATE tools SET chunking = json_remove(chunking, '$.context')")


def m019_collections(connection: apsw.Connection) -> None:
    """Record what each collection on a Chroma server holds, instead of tables of unsent changes.

    ``generation`` is NULL once nothing uses the collection and the server may delete it. A table of
    changes had the collection in row 0, and a row for each chunk to be added or removed; the next
    import compares the ids, so only the first one to be added matters.
    """
    connection.execute(
        """
        CREATE TABLE IF NOT EXISTS vector_collections (
            name TEXT PRIMARY KEY,
            tool_id INTEGER NOT NULL,
            generation INTEGER,
            build TEXT,
            next_build TEXT,
            last_sent INTEGER NOT NULL DEFAULT 0,
            size INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID
        """
    )
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'outbox_[0-9]*_[0-9]*'"
    ).fetchall()
    for (table,) in tables:
        _, tool_id, generation = str(table).split("_")
        connection.execute(
            f"""
            INSERT INTO vector_collections (name, tool_id, generation, build, next_build, last_sent)
            SELECT collection ->> 'name', ?1, ?2, collection ->> 'writer', collection ->> 'next',
                coalesce(
                    (SELECT min(chunk_id) - 1 FROM {table} WHERE chunk_id > 0 AND NOT is_gone),
                    (SELECT seq FROM sqlite_sequence
                        WHERE name = 'vectors_' || (SELECT name FROM tools WHERE id = ?1)),
                    0)
            FROM {table} WHERE chunk_id = 0
            """,
            (int(tool_id), int(generation)),
        )
        connection.execute(f"DROP TABLE {table}")
    there = connection.execute("SELECT 1 FROM pragma_table_info('retired_collections')").fetchone()
    if there is not None:
        connection.execute(
            "INSERT OR IGNORE INTO vector_collections (name, tool_id) "
            "SELECT name, 0 FROM retired_collections"
        )
        connection.execute("DROP TABLE retired_collections")


def m020_sums(connection: apsw.Connection) -> None:
    """Add covering indexes for the sums of a household, and the user's other spellings of shops."""
    connection.execute("DROP INDEX idx_transactions_date")
    connection.execute("DROP INDEX idx_transactions_subject")
    connection.execute(
        """
        CREATE INDEX idx_transactions_date ON transactions
            (tool_id, date, category_major, amount, removal, is_duplicate, is_moved, is_transfer,
             is_target)
        """
    )
    connection.execute(
        """
        CREATE INDEX idx_transactions_subject ON transactions
            (tool_id, description, category_major, category_minor, memo, account, removal,
             is_duplicate, is_moved, is_transfer, is_target, date, amount)
        """
    )
    connection.execute(
        """
        CREATE TABLE shop_aliases (
            tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            spelling TEXT NOT NULL,
            PRIMARY KEY (tool_id, name, spelling)
        ) WITHOUT ROWID
        """
    )


def m021_statement_rows(connection: apsw.Connection) -> None:
    """Add the rows of statements, from which the ledger is derived; copy those it has now.

    The next import reads every file again (none has a recorded version) and adds the rest. A row
    whose statement is no longer known gets an empty statement of its own file.
    """
    connection.execute(
        """
        CREATE TABLE statement_rows (
            id INTEGER PRIMARY KEY,
            statement_id INTEGER NOT NULL REFERENCES ledger_statements(id) ON DELETE CASCADE,
            identity TEXT NOT NULL,
            block INTEGER NOT NULL,
            row_number INTEGER NOT NULL,
            date DATE NOT NULL,
            amount INTEGER,
            description TEXT NOT NULL,
            category_major TEXT NOT NULL,
            category_minor TEXT NOT NULL,
            account TEXT NOT NULL,
            memo TEXT NOT NULL,
            is_target INTEGER NOT NULL,
            is_transfer INTEGER NOT NULL,
            mf_id TEXT NOT NULL,
            balance INTEGER
        )
        """
    )
    connection.execute("CREATE INDEX idx_statement_rows_statement ON statement_rows (statement_id)")
    connection.execute(
        "INSERT OR IGNORE INTO ledger_statements (tool_id, path, content_hash, mtime_ns, days, "
        "accounts, is_whole, kin) SELECT DISTINCT tool_id, source_file, '', 0, '[]', '[]', 0, 0 "
        "FROM transactions AS t "
        "WHERE NOT EXISTS (SELECT 1 FROM ledger_statements AS s WHERE s.id = t.statement_id)"
    )
    connection.execute(
        """
        INSERT INTO statement_rows (statement_id, identity, block, row_number, date, amount,
            description, category_major, category_minor, account, memo, is_target, is_transfer,
            mf_id)
        SELECT coalesce(
                (SELECT s.id FROM ledger_statements AS s WHERE s.id = t.statement_id),
                (SELECT s.id FROM ledger_statements AS s WHERE s.tool_id = t.tool_id
                    AND s.path = t.source_file AND s.content_hash = '')),
            identity, 0, row_number, date, amount, description,
            coalesce(filed_major, category_major), coalesce(filed_minor, category_minor), account,
            memo, is_target, is_transfer, mf_id
        FROM transactions AS t ORDER BY statement_id, row_number, id
        """
    )
    connection.execute("UPDATE ledger_files SET app_version = ''")
    connection.execute(
        "ALTER TABLE ledger_statements ADD COLUMN account_number TEXT NOT NULL DEFAULT ''"
    )
    connection.execute("ALTER TABLE ledger_statements ADD COLUMN scope TEXT")
    connection.execute(
        """
        CREATE TABLE account_doubts (
            first INTEGER NOT NULL REFERENCES ledger_statements(id) ON DELETE CASCADE,
            second INTEGER NOT NULL REFERENCES ledger_statements(id) ON DELETE CASCADE,
            rows INTEGER NOT NULL,
            PRIMARY KEY (first, second)
        ) WITHOUT ROWID
        """
    )


def m022_row_categories(connection: apsw.Connection) -> None:
    """Add the category that a user gives to one row, next to its note and tags."""
    for column in ("category_major", "category_minor"):
        connection.execute(f"ALTER TABLE row_notes ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")


def m023_readings(connection: apsw.Connection) -> None:
    """Keep what an import reported on how a table's files were read, for later questions."""
    connection.execute("ALTER TABLE dataset_tables ADD COLUMN reading TEXT NOT NULL DEFAULT ''")


def m024_sheets(connection: apsw.Connection) -> None:
    """Record the name of a workbook's only sheet; the next import of the file knows it."""
    connection.execute("ALTER TABLE dataset_files ADD COLUMN sheet TEXT")


def m025_unsaid(connection: apsw.Connection) -> None:
    """Record what a statement's row leaves open; the next import reads every file again.

    The rows of deleted files count as saying everything, as they did.
    """
    connection.execute("ALTER TABLE statement_rows ADD COLUMN unsaid INTEGER NOT NULL DEFAULT 0")
    connection.execute("UPDATE ledger_files SET app_version = ''")


def m026_kinds(connection: apsw.Connection) -> None:
    """Record the kind of each statement's file; the next import reads every file again.

    Of deleted files, those with Money Forward's IDs are its own; a mapping's have a longer one.
    """
    connection.execute("ALTER TABLE ledger_statements ADD COLUMN kind TEXT NOT NULL DEFAULT ''")
    connection.execute(
        "UPDATE ledger_statements SET kind = '?' WHERE NOT EXISTS (SELECT 1 FROM statement_rows "
        "AS r WHERE r.statement_id = ledger_statements.id AND r.identity = 'id:' || r.mf_id)"
    )
    connection.execute("UPDATE ledger_files SET app_version = ''")


STEPS: tuple[Callable[[apsw.Connection], None], ...] = (
    m018_without_traces,
    m019_collections,
    m020_sums,
    m021_statement_rows,
    m022_row_categories,
    m023_readings,
    m024_sheets,
    m025_unsaid,
    m026_kinds,
)
LATEST = OLDEST + len(STEPS)


def migrate(connection: apsw.Connection) -> None:
    """Create the schema in an empty file, or migrate an older file to it, in one transaction.

    The file is empty, or of format ``OLDEST`` to ``LATEST``; a file of ``LATEST`` is not written.
    """
    if format_of(connection) == LATEST:
        return
    with connection:
        # Read again: another process may have migrated the file meanwhile.
        number = format_of(connection)
        if number == 0:
            connection.execute(_SCHEMA.read_text(encoding="utf-8")).fetchall()
        else:
            for step in STEPS[number - OLDEST :]:
                step(connection)
        connection.execute(f"PRAGMA user_version = {LATEST:d}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")


def is_own_format(file: Path) -> bool:
    """Whether a file is a database of mdvec, of any format."""
    with suppress(OSError), file.open("rb") as stream:
        return is_own_header(stream.read(_APPLICATION.stop))
    return False


def is_own_header(start: bytes) -> bool:
    """Whether a SQLite file with this header is a database of mdvec."""
    return int.from_bytes(start[_APPLICATION]) == APPLICATION_ID


def format_of(connection: apsw.Connection) -> int:
    """The number of a file's format; 0 if it is empty."""
    (number,) = connection.execute("PRAGMA user_version").fetchone() or (0,)
    return int(number)
