"""The migrations that create the household's tables."""

from __future__ import annotations

import apsw

_SCHEMA = """
CREATE TABLE transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    mf_id TEXT NOT NULL,
    source_file TEXT NOT NULL,
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
    is_duplicate INTEGER NOT NULL DEFAULT 0,
    duplicate_of INTEGER REFERENCES transactions(id) ON DELETE SET NULL,
    duplicate_checked INTEGER NOT NULL DEFAULT 0,
    duplicate_checked_at DATETIME,
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (tool_id, identity)
);
CREATE INDEX idx_transactions_date ON transactions (tool_id, date);
CREATE INDEX idx_transactions_amount ON transactions (tool_id, amount);
CREATE INDEX idx_transactions_duplicate_of ON transactions (duplicate_of);
CREATE TABLE duplicate_checks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    transaction_id_1 INTEGER NOT NULL REFERENCES transactions(id) ON DELETE CASCADE,
    transaction_id_2 INTEGER NOT NULL REFERENCES transactions(id) ON DELETE CASCADE,
    detection_date_tolerance INTEGER NOT NULL,
    detection_amount_tolerance_abs TEXT NOT NULL,
    detection_amount_tolerance_pct TEXT NOT NULL,
    similarity_score REAL NOT NULL,
    detected_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    user_decision TEXT CHECK (user_decision IN ('duplicate', 'not_duplicate', 'skip')),
    decided_at DATETIME,
    UNIQUE (transaction_id_1, transaction_id_2),
    CHECK (transaction_id_1 < transaction_id_2)
);
CREATE INDEX idx_duplicate_checks_decision ON duplicate_checks (tool_id, user_decision);
CREATE INDEX idx_duplicate_checks_second ON duplicate_checks (transaction_id_2);
CREATE TABLE ledger_files (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    is_present INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bad_rows TEXT NOT NULL,
    passed_over TEXT NOT NULL,
    app_version TEXT NOT NULL,
    PRIMARY KEY (tool_id, path)
) WITHOUT ROWID;
CREATE TABLE ledger_versions (
    tool_id INTEGER PRIMARY KEY REFERENCES tools(id) ON DELETE CASCADE,
    version INTEGER NOT NULL DEFAULT 0,
    without_file INTEGER NOT NULL DEFAULT 0
);
CREATE TRIGGER ledger_versions_begun AFTER INSERT ON tools BEGIN
    INSERT INTO ledger_versions (tool_id) VALUES (NEW.id);
END;
INSERT INTO ledger_versions (tool_id) SELECT id FROM tools;
CREATE TRIGGER transactions_updated AFTER UPDATE OF
    date, amount, description, category_major, category_minor, account, memo, is_target,
    is_transfer, mf_id, is_duplicate, duplicate_of, duplicate_checked
ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
CREATE TRIGGER transactions_deleted AFTER DELETE ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = OLD.tool_id;
END;
CREATE TRIGGER duplicate_checks_updated AFTER UPDATE ON duplicate_checks BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
CREATE TRIGGER duplicate_checks_deleted AFTER DELETE ON duplicate_checks BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = OLD.tool_id;
END;
"""
_STATEMENTS = """
CREATE TABLE ledger_statements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    days TEXT NOT NULL,
    accounts TEXT NOT NULL,
    is_whole INTEGER NOT NULL,
    kin INTEGER NOT NULL,
    seen INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tool_id, path, content_hash)
);
ALTER TABLE transactions ADD COLUMN statement_id INTEGER;
ALTER TABLE transactions ADD COLUMN removal TEXT
    CHECK (removal IN ('asked', 'removed', 'kept'));
ALTER TABLE transactions ADD COLUMN removed_by INTEGER;
ALTER TABLE transactions ADD COLUMN removed_at DATETIME;
CREATE INDEX idx_transactions_removal ON transactions (tool_id, removal)
    WHERE removal IS NOT NULL;
CREATE TRIGGER transactions_removal AFTER UPDATE OF removal ON transactions
WHEN NEW.removal IS NOT OLD.removal BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
ALTER TABLE ledger_versions ADD COLUMN asks_first INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger_versions ADD COLUMN is_indexed INTEGER NOT NULL DEFAULT 0;
CREATE TABLE departed_pairs (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    check_id INTEGER NOT NULL,
    transaction_id_1 INTEGER NOT NULL,
    identity_1 TEXT NOT NULL,
    transaction_id_2 INTEGER NOT NULL,
    identity_2 TEXT NOT NULL,
    detection_date_tolerance INTEGER NOT NULL,
    detection_amount_tolerance_abs TEXT NOT NULL,
    detection_amount_tolerance_pct TEXT NOT NULL,
    similarity_score REAL NOT NULL,
    detected_at DATETIME NOT NULL,
    user_decision TEXT NOT NULL,
    decided_at DATETIME,
    PRIMARY KEY (tool_id, check_id)
) WITHOUT ROWID;
INSERT INTO ledger_statements
    (tool_id, path, content_hash, mtime_ns, days, accounts, is_whole, kin)
SELECT tool_id, path, content_hash, mtime_ns,
    (SELECT json_group_array(date) FROM (
        SELECT DISTINCT date FROM transactions AS t
        WHERE t.tool_id = f.tool_id AND t.source_file = f.path ORDER BY date)),
    '[]', 0, 0
FROM ledger_files AS f WHERE passed_over = '';
UPDATE ledger_statements SET kin = id;
UPDATE transactions SET statement_id = (SELECT s.id FROM ledger_statements AS s
    WHERE s.tool_id = transactions.tool_id AND s.path = transactions.source_file);
UPDATE ledger_files SET app_version = '';
UPDATE ledger_versions SET asks_first = 1 WHERE tool_id IN (SELECT tool_id FROM transactions);
"""
_REVIEW = """
ALTER TABLE duplicate_checks ADD COLUMN kept_id INTEGER;
ALTER TABLE duplicate_checks ADD COLUMN reasons TEXT NOT NULL DEFAULT '';
ALTER TABLE duplicate_checks ADD COLUMN is_announced INTEGER NOT NULL DEFAULT 1;
ALTER TABLE departed_pairs ADD COLUMN kept_id INTEGER;
ALTER TABLE departed_pairs ADD COLUMN reasons TEXT NOT NULL DEFAULT '';
"""


def m003_ledger(connection: apsw.Connection) -> None:
    """Create the tables of transactions, duplicate checks and statement files."""
    connection.execute(_SCHEMA).fetchall()


def m005_statements(connection: apsw.Connection) -> None:
    """Record versions of statement files, removals of rows, and decisions on removed pairs.

    The next import reads every file again and, in a ledger that has rows, only lists the rows it
    would remove.
    """
    connection.execute(_STATEMENTS).fetchall()


def m010_review(connection: apsw.Connection) -> None:
    """Record which row of a pair stays, why it is a candidate, and whether the user knows of it.

    A pair without ``kept_id`` keeps its first row, as all did before.
    """
    connection.execute(_REVIEW).fetchall()


def m011_subjects(connection: apsw.Connection) -> None:
    """Record whether the chunks of a household are its subjects, and find the rows of each.

    The next import of a household stores its texts again, from the vectors that it has.
    """
    there = connection.execute("SELECT name FROM pragma_table_info('ledger_versions')").get
    if "text_format" not in there:
        connection.execute(
            "ALTER TABLE ledger_versions ADD COLUMN text_format INTEGER NOT NULL DEFAULT 1"
        )
    connection.execute(
        "CREATE INDEX IF NOT EXISTS idx_transactions_subject ON transactions "
        "(tool_id, description, category_major, category_minor, memo, account, removal)"
    )
    connection.execute("UPDATE ledger_versions SET is_indexed = 0")
