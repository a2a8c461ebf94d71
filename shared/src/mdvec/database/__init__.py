"""The SQLite file: connections, its schema, and migrations."""
