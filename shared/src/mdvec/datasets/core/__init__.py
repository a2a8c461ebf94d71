"""Table names, columns and value types of data files; no I/O."""
