"""Data files as tables: CSV, Parquet and DuckDB files as a kind of source."""
