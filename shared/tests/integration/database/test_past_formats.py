"""A database of every format that there was opens, answers, and is brought to today's."""

import hashlib
from datetime import date

import apsw
import pytest
from collection import Collection
from tiny_embedder import TinyBackend

from mdvec.database import migrations
from mdvec.database.connection import open_database
from mdvec.embedding.embedder import Embedder
from mdvec.household.month import monthly_household

LEDGER = migrations.STEPS.index(migrations.m003_ledger) + 1
TEXT = "# 防災\n\n一人一日三リットルの水。\n"
TEXTS = """
CREATE TABLE "documents_notes" (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tool_id INTEGER NOT NULL, file_path TEXT NOT NULL,
    content_hash TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    title TEXT NOT NULL, created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, content TEXT NOT NULL,
    FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE
);
CREATE TABLE "vectors_notes" (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tool_id INTEGER NOT NULL, document_id INTEGER NOT NULL,
    chunk_index INTEGER NOT NULL, start_position INTEGER NOT NULL, end_position INTEGER NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, heading TEXT NOT NULL,
    chunk_text TEXT NOT NULL, embedding BLOB NOT NULL,
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (tool_id) REFERENCES tools(id) ON DELETE CASCADE,
    FOREIGN KEY (document_id) REFERENCES "documents_notes"(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX "idx_1_0_path" ON "documents_notes" (tool_id, file_path);
CREATE INDEX "idx_1_0_hash" ON "documents_notes" (content_hash);
CREATE INDEX "idx_1_0_position" ON "vectors_notes" (document_id, start_position, end_position);
"""
"""A tool's own tables, which every format has had in this form."""


def database_of(format_number, path, folder):
    """A database as that format's mdvec left it: a document, and a transaction once it had them.

    The steps are frozen (``test_migrations``), and so is the SQL here. It has no indexes of
    words and signatures, as if its last import had been that of format 1.
    """
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    for step in migrations.STEPS[:format_number]:
        step(connection)
    connection.execute(
        "INSERT INTO tools (name, description, source_directory, app_version, model, "
        "embedding_fingerprint, embedding_dimension, chunking, generation, last_import_at) "
        "VALUES ('notes', 'a', ?, '0.1.0', 'tiny', 'tiny@1:16:l2', 16, ?, 1, CURRENT_TIMESTAMP)",
        (
            str(folder),
            '{"strategy": "heading", "size": 256, "overlap": 32, "heading_levels": [1, 2, 3], '
            + ('"min_chars": 50}' if format_number == 1 else '"min_chars": 50, "context": false}'),
        ),
    )
    connection.execute(TEXTS)
    connection.execute(
        "INSERT INTO documents_notes VALUES (1, 1, 'a.md', ?, ?, 1, '防災', 'then', 'then', ?)",
        (hashlib.sha256(TEXT.encode()).hexdigest(), len(TEXT.encode()), TEXT),
    )
    (vector,) = Embedder(TinyBackend()).embed_documents([TEXT.rstrip()])
    connection.execute(
        "INSERT INTO vectors_notes VALUES (1, 1, 1, 0, 0, ?, 1, 3, '防災', ?, ?, 'then')",
        (len(TEXT.rstrip()), TEXT.rstrip(), vector.tobytes()),
    )
    if format_number >= LEDGER:
        connection.execute(
            "INSERT INTO tools (name, description, source_directory, kind) "
            "VALUES ('kakeibo', 'b', '/nowhere', 'household')"
        )
        connection.execute(
            "INSERT INTO transactions (tool_id, identity, mf_id, source_file, row_number, date, "
            "amount, description, category_major, category_minor, account, memo, is_target, "
            "is_transfer) VALUES (2, 'id:a', 'a', '7.csv', 2, '2025-07-05', -1200, '店', '食費', "
            "'食料品', '財布', '', 1, 0)"
        )
    connection.execute(f"PRAGMA user_version = {format_number}")
    connection.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID:d}")
    connection.close()


@pytest.mark.parametrize("format_number", range(1, migrations.LATEST + 1))
def test_a_database_of_every_format_answers_and_goes_on(tmp_path, format_number):
    notes = Collection(tmp_path / "docs", tmp_path / "old.sqlite", is_new=False)
    notes.write("a.md", TEXT)
    database_of(format_number, notes.database, notes.folder)
    assert notes.places("一人一日三リットル") == ["a.md"]
    report = notes.import_()
    assert (report.unchanged, report.chunks_embedded, notes.backend.embedded) == (1, 0, [])
    assert notes.places("三リットル", mode="lexical") == ["a.md"]
    notes.check()
    if format_number >= LEDGER:
        with open_database(notes.database, "read") as connection:
            answer = monthly_household(connection, 2, today=date(2025, 8, 1))
        assert (answer.spending, answer.total_rows) == (1200, 1)
