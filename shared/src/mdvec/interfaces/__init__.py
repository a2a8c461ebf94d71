"""The outside world: files, SQLite, embedding models."""
