"""File endings that several capabilities use."""

DATA_ENDINGS = (".parquet", ".csv", ".tsv", ".duckdb")
"""The endings of files with tables."""
