"""The SQLite file: connections and migrations."""
