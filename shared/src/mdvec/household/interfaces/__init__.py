"""The household's tables, in SQLite and as DuckDB sees them."""
