"""File endings that more than one capability knows."""

DATA_ENDINGS = (".parquet", ".csv", ".tsv", ".duckdb")
"""Of the files that hold tables."""
