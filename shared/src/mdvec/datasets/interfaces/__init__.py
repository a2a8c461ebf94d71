"""Data files through DuckDB, their Parquet snapshots, and the SQL tables that record them."""
