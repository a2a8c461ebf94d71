"""Data files (CSV, Parquet, workbooks, databases and others) as a kind of source."""
