"""DuckDB: data files looked into, and made into Parquet."""
