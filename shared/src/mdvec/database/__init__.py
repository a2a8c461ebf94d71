"""The one SQLite file: connections and migrations."""
