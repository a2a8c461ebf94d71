"""Data files read with DuckDB, their Parquet snapshots, and the tables that list them."""
