"""The migrations that create what a household's user decides beyond duplicates, and its assets."""

from __future__ import annotations

import apsw

_SCHEMA = """
CREATE TABLE budgets (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    category_major TEXT NOT NULL,
    category_minor TEXT NOT NULL,
    per TEXT NOT NULL CHECK (per IN ('month', 'year')),
    amount INTEGER NOT NULL CHECK (amount > 0),
    set_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tool_id, category_major, category_minor, per)
) WITHOUT ROWID;
CREATE TABLE category_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    shop TEXT NOT NULL,
    category_major TEXT NOT NULL,
    category_minor TEXT NOT NULL,
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (tool_id, shop)
);
ALTER TABLE transactions ADD COLUMN filed_major TEXT;
ALTER TABLE transactions ADD COLUMN filed_minor TEXT;
CREATE TABLE row_notes (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    note TEXT NOT NULL,
    tags TEXT NOT NULL,
    noted_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tool_id, identity)
) WITHOUT ROWID;
CREATE TRIGGER row_notes_follow AFTER UPDATE OF identity ON transactions BEGIN
    UPDATE OR REPLACE row_notes SET identity = NEW.identity
    WHERE tool_id = OLD.tool_id AND identity = OLD.identity;
END;
CREATE TABLE asset_months (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    month TEXT NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    source_file TEXT NOT NULL,
    PRIMARY KEY (tool_id, month, kind)
) WITHOUT ROWID;
UPDATE ledger_files SET app_version = '' WHERE passed_over <> '';
"""

_TRANSFERS = """
ALTER TABLE duplicate_checks ADD COLUMN of_transfer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE departed_pairs ADD COLUMN of_transfer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transactions ADD COLUMN is_moved INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER transactions_moved AFTER UPDATE OF is_moved ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
"""
_DECISIONS = """
ALTER TABLE duplicate_checks ADD COLUMN batch INTEGER;
ALTER TABLE departed_pairs ADD COLUMN batch INTEGER;
CREATE INDEX idx_duplicate_checks_batch ON duplicate_checks (batch);
CREATE TEMP TABLE decided AS
SELECT *, dense_rank() OVER (ORDER BY tool_id, user_decision, decided_at) AS batch FROM (
    SELECT id, tool_id, user_decision, decided_at FROM duplicate_checks
    UNION SELECT check_id, tool_id, user_decision, decided_at FROM departed_pairs
) WHERE user_decision NOT NULL;
UPDATE duplicate_checks SET batch = d.batch
FROM temp.decided AS d WHERE d.id = duplicate_checks.id;
UPDATE departed_pairs SET batch = d.batch
FROM temp.decided AS d WHERE d.id = departed_pairs.check_id;
DROP TABLE temp.decided;
CREATE TABLE shared_pairs (
    id INTEGER PRIMARY KEY,
    kept_tool INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    kept_identity TEXT NOT NULL,
    other_tool INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    other_identity TEXT NOT NULL,
    decision TEXT NOT NULL,
    is_transfer INTEGER NOT NULL,
    decided_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (kept_tool, kept_identity, other_tool, other_identity)
);
CREATE INDEX idx_shared_pairs_other ON shared_pairs (other_tool, other_identity);
CREATE TRIGGER shared_pairs_follow AFTER UPDATE OF identity ON transactions BEGIN
    UPDATE OR REPLACE shared_pairs SET kept_identity = NEW.identity
    WHERE kept_tool = OLD.tool_id AND kept_identity = OLD.identity;
    UPDATE OR REPLACE shared_pairs SET other_identity = NEW.identity
    WHERE other_tool = OLD.tool_id AND other_identity = OLD.identity;
END;
"""


def m012_plans(connection: apsw.Connection) -> None:
    """Create the tables of budgets, category rules, notes on rows, and assets by month.

    A row whose category a rule changed keeps its file's category in ``filed_major`` and
    ``filed_minor``. The next import reads the files again that were passed over: some hold assets.
    """
    connection.execute(_SCHEMA).fetchall()


def m013_transfers(connection: apsw.Connection) -> None:
    """Record pairs that may be transfers, and the rows that the user decided to be (``is_moved``).

    ``is_transfer`` of a row stays what its file says.
    """
    connection.execute(_TRANSFERS).fetchall()


def m015_decisions(connection: apsw.Connection) -> None:
    """Record which pairs were decided by one request, and decisions about two households' rows.

    So far a request was told by its second. The numbers (``batch``) are those of requests, over all
    households; undecided pairs have none.
    """
    connection.execute(_DECISIONS).fetchall()
