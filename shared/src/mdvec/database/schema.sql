-- The whole schema of a new database; migrations.py has the steps from an older format.
--
-- Each tool also has tables of its own, for its documents, their passages with vectors, and the
-- indexes derived from them (mdvec/index/tables.py). Tables that are made when they are first
-- needed belong to no format: allowed_endpoints, paid_vectors, model_constants.
--
-- Times without a note are UTC as text, money is whole yen, and _ns are nanoseconds.

-- The tools: each is a folder (or a data file) that is imported, under a name.
CREATE TABLE tools (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE NOT NULL,
    description TEXT NOT NULL,
    source_directory TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'markdown',  -- a key of mdvec.tools.kinds.KINDS
    is_active BOOLEAN NOT NULL DEFAULT 1,
    app_version TEXT,
    model TEXT,
    embedding_fingerprint TEXT,
    embedding_dimension INTEGER,
    chunking TEXT,                          -- mdvec.text.options.ChunkingOptions, as JSON
    generation INTEGER NOT NULL DEFAULT 0,  -- counts rebuilds; 0 until the first import
    last_import_at DATETIME,
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    scan TEXT,                              -- mdvec.files.scan.ScanRules, as JSON
    import_files INTEGER,                   -- of an unfinished import: files found,
    import_done INTEGER,                    -- and how many of them are stored; else NULL
    title TEXT                              -- what clients show to people in place of the name
);

-- The files that each tool's last import could not import, and why; path '' is a whole import that
-- failed while nobody watched.
CREATE TABLE import_failures (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    size INTEGER,
    mtime_ns INTEGER,
    PRIMARY KEY (tool_id, path)
) WITHOUT ROWID;

-- A household's ledger: the current state of every row that its statements have or had, derived from
-- statement_rows by each import (mdvec/household/interfaces/derivation.py).
CREATE TABLE transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    identity TEXT NOT NULL,      -- what makes it the same row in another file: 'id:…' or 'row:…'
    mf_id TEXT NOT NULL,         -- the ID that its file gives it, or ''
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
    is_transfer INTEGER NOT NULL,                -- what its file says
    is_duplicate INTEGER NOT NULL DEFAULT 0,     -- by the user's decision, left out of the sums
    duplicate_of INTEGER REFERENCES transactions(id) ON DELETE SET NULL,
    duplicate_checked INTEGER NOT NULL DEFAULT 0,
    duplicate_checked_at DATETIME,               -- no longer written, and never read
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    statement_id INTEGER,                        -- the statement that its day and amount are from
    removal TEXT                                 -- set once a newer statement lacks the row
        CHECK (removal IN ('asked', 'removed', 'kept')),
    removed_by INTEGER,                          -- that statement
    removed_at DATETIME,
    filed_major TEXT,                            -- its file's category, if a rule changed it
    filed_minor TEXT,
    is_moved INTEGER NOT NULL DEFAULT 0,         -- by the user's decision, a transfer
    UNIQUE (tool_id, identity)
);
-- These two have all that sums need: a sum by day, or by shop and category, reads an index through.
CREATE INDEX idx_transactions_date ON transactions
    (tool_id, date, category_major, amount, removal, is_duplicate, is_moved, is_transfer, is_target);
CREATE INDEX idx_transactions_subject ON transactions
    (tool_id, description, category_major, category_minor, memo, account, removal, is_duplicate,
     is_moved, is_transfer, is_target, date, amount);
CREATE INDEX idx_transactions_amount ON transactions (tool_id, amount);
CREATE INDEX idx_transactions_duplicate_of ON transactions (duplicate_of);
CREATE INDEX idx_transactions_removal ON transactions (tool_id, removal)
    WHERE removal IS NOT NULL;

-- The files of a household as they were at its last import, with what could not be read in them.
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
    app_version TEXT NOT NULL,   -- the version and the mappings that read it
    PRIMARY KEY (tool_id, path)
) WITHOUT ROWID;

-- The contents that those files had over time: a newer statement can show rows to be gone.
CREATE TABLE ledger_statements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL,
    days TEXT NOT NULL,                -- the days of its rows, as JSON
    accounts TEXT NOT NULL,            -- as JSON
    is_whole INTEGER NOT NULL,         -- whether it can show rows to be gone
    kin INTEGER NOT NULL,              -- the smallest id of the statements of its family
    seen INTEGER NOT NULL DEFAULT 0,   -- the number of the import that first saw it
    account_number TEXT NOT NULL DEFAULT '',  -- by its text or name; '=': by a person
    scope TEXT,                        -- what tells its account from the first one of that name
    kind TEXT NOT NULL DEFAULT '',     -- its mapping's name; '': Money Forward's; '?': unknown
    UNIQUE (tool_id, path, content_hash)
);

-- The rows of those statements, as their files have them. A file that was overwritten or deleted keeps
-- the rows that no newer statement has.
CREATE TABLE statement_rows (
    id INTEGER PRIMARY KEY,      -- grows from line to line within a statement
    statement_id INTEGER NOT NULL REFERENCES ledger_statements(id) ON DELETE CASCADE,
    identity TEXT NOT NULL,      -- as far as its file alone tells
    block INTEGER NOT NULL,      -- the number of the header above it, from 0, in a joined file
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
    balance INTEGER,             -- of its account after it, if the file says so
    unsaid INTEGER NOT NULL DEFAULT 0  -- flags of values that its file does not say (core/cells.py)
);
CREATE INDEX idx_statement_rows_statement ON statement_rows (statement_id);

-- Pairs of statements of which nothing tells whether they are of one account; both count.
CREATE TABLE account_doubts (
    first INTEGER NOT NULL REFERENCES ledger_statements(id) ON DELETE CASCADE,
    second INTEGER NOT NULL REFERENCES ledger_statements(id) ON DELETE CASCADE,
    rows INTEGER NOT NULL,       -- that are equal in both
    PRIMARY KEY (first, second)
) WITHOUT ROWID;

-- One row a tool: a number that every change of the ledger raises, by which caches know it.
CREATE TABLE ledger_versions (
    tool_id INTEGER PRIMARY KEY REFERENCES tools(id) ON DELETE CASCADE,
    version INTEGER NOT NULL DEFAULT 0,
    without_file INTEGER NOT NULL DEFAULT 0,  -- rows that no file has any more
    is_indexed INTEGER NOT NULL DEFAULT 0     -- whether the search has the ledger's present rows
);
CREATE TRIGGER ledger_versions_begun AFTER INSERT ON tools BEGIN
    INSERT INTO ledger_versions (tool_id) VALUES (NEW.id);
END;
CREATE TRIGGER transactions_updated AFTER UPDATE OF
    date, amount, description, category_major, category_minor, account, memo, is_target,
    is_transfer, mf_id, is_duplicate, duplicate_of, duplicate_checked
ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
CREATE TRIGGER transactions_deleted AFTER DELETE ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = OLD.tool_id;
END;
CREATE TRIGGER transactions_removal AFTER UPDATE OF removal ON transactions
WHEN NEW.removal IS NOT OLD.removal BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
CREATE TRIGGER transactions_moved AFTER UPDATE OF is_moved ON transactions BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;

-- Pairs of rows of one household that may be one purchase or a transfer, and the decisions.
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
    kept_id INTEGER,                          -- the row that stays; NULL: the first
    reasons TEXT NOT NULL DEFAULT '',
    is_announced INTEGER NOT NULL DEFAULT 1,  -- whether the user knows of the pair
    of_transfer INTEGER NOT NULL DEFAULT 0,
    batch INTEGER,                            -- pairs decided by one request share it
    UNIQUE (transaction_id_1, transaction_id_2),
    CHECK (transaction_id_1 < transaction_id_2)
);
CREATE INDEX idx_duplicate_checks_decision ON duplicate_checks (tool_id, user_decision);
CREATE INDEX idx_duplicate_checks_second ON duplicate_checks (transaction_id_2);
CREATE INDEX idx_duplicate_checks_batch ON duplicate_checks (batch);
CREATE TRIGGER duplicate_checks_updated AFTER UPDATE ON duplicate_checks BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = NEW.tool_id;
END;
CREATE TRIGGER duplicate_checks_deleted AFTER DELETE ON duplicate_checks BEGIN
    UPDATE ledger_versions SET version = version + 1 WHERE tool_id = OLD.tool_id;
END;

-- Decisions on pairs whose rows were deleted, kept until the rows return.
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
    kept_id INTEGER,
    reasons TEXT NOT NULL DEFAULT '',
    of_transfer INTEGER NOT NULL DEFAULT 0,
    batch INTEGER,
    PRIMARY KEY (tool_id, check_id)
) WITHOUT ROWID;

-- Decisions about one row of each of two households, which a sum over both counts once or never.
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

-- The user's notes and tags on rows, by the row's identity, so that they outlive a rebuild.
CREATE TABLE row_notes (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    note TEXT NOT NULL,
    tags TEXT NOT NULL,
    noted_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    category_major TEXT NOT NULL DEFAULT '',  -- the row's own, before any rule; '' for none
    category_minor TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tool_id, identity)
) WITHOUT ROWID;
CREATE TRIGGER row_notes_follow AFTER UPDATE OF identity ON transactions BEGIN
    UPDATE OR REPLACE row_notes SET identity = NEW.identity
    WHERE tool_id = OLD.tool_id AND identity = OLD.identity;
END;

-- The user's rules: rows of shops whose name contains a text get a category.
CREATE TABLE category_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    shop TEXT NOT NULL,
    category_major TEXT NOT NULL,
    category_minor TEXT NOT NULL,
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (tool_id, shop)
);

-- The user's other spellings of shops: who asks for a name also gets the rows with the spelling.
CREATE TABLE shop_aliases (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    spelling TEXT NOT NULL,
    PRIMARY KEY (tool_id, name, spelling)
) WITHOUT ROWID;

-- The user's budgets: of a category (both names '': all spending), by month or by year.
CREATE TABLE budgets (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    category_major TEXT NOT NULL,
    category_minor TEXT NOT NULL,
    per TEXT NOT NULL CHECK (per IN ('month', 'year')),
    amount INTEGER NOT NULL CHECK (amount > 0),
    set_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tool_id, category_major, category_minor, per)
) WITHOUT ROWID;

-- What a household owned at the end of each month, by kind of asset, from its files.
CREATE TABLE asset_months (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    month TEXT NOT NULL,
    kind TEXT NOT NULL,
    amount INTEGER NOT NULL,
    source_file TEXT NOT NULL,
    PRIMARY KEY (tool_id, month, kind)
) WITHOUT ROWID;

-- The data files that a dataset's last import read completely, and what in them became no table.
CREATE TABLE dataset_files (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    left_out TEXT NOT NULL,
    app_version TEXT NOT NULL,
    sheet TEXT,                  -- the name of its only table; NULL: not known, or it has several
    PRIMARY KEY (tool_id, path)
) WITHOUT ROWID;

-- The tables of a dataset: each is a Parquet file, the user's own or a copy beside the database.
CREATE TABLE dataset_tables (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    inner_table TEXT NOT NULL,   -- the table of a file that holds several, else ''
    source TEXT NOT NULL,
    snapshot TEXT,               -- the name of the copy; NULL: the user's own file is read
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    columns TEXT NOT NULL,       -- names and types, as JSON
    period_column TEXT,
    period_first TEXT,
    period_last TEXT,
    combined TEXT,               -- the files of a table that combines several, as JSON
    reading TEXT NOT NULL DEFAULT '', -- what the import said of how its files were read
    PRIMARY KEY (tool_id, name)
) WITHOUT ROWID;

-- How a dataset's files are to be read, where the user says so.
CREATE TABLE dataset_choices (
    tool_id INTEGER NOT NULL REFERENCES tools(id) ON DELETE CASCADE,
    pattern TEXT NOT NULL,
    setting TEXT NOT NULL,
    column_name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tool_id, pattern, setting, column_name)
) WITHOUT ROWID;

-- Saved questions in SQL, with their parameters as JSON, under names of the whole database.
CREATE TABLE saved_queries (
    name TEXT PRIMARY KEY,
    sql TEXT NOT NULL,
    description TEXT NOT NULL,
    parameters TEXT NOT NULL,
    saved_at TEXT NOT NULL
) WITHOUT ROWID;

-- The collections on a Chroma server ([index] engine = "chroma"), and what each holds. A collection
-- without a generation is used by nothing any more, and the server may delete it.
CREATE TABLE vector_collections (
    name TEXT PRIMARY KEY,
    tool_id INTEGER NOT NULL,
    generation INTEGER,
    build TEXT,                             -- who wrote it last, and
    next_build TEXT,                        -- who writes it now: both random
    last_sent INTEGER NOT NULL DEFAULT 0,   -- the highest chunk id that it was sent
    size INTEGER NOT NULL DEFAULT 0         -- how many chunks it holds
) WITHOUT ROWID;
