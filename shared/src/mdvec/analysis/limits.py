"""Default limits of what analysing code loads and prints for a model."""

MAX_JSON_BYTES = 1_024
"""Bytes of one JSON output."""
MAX_TABLE_ROWS = 10
"""Rows of one printed table."""
MAX_LOAD_ROWS = 10_000
"""Rows loaded from one export."""
MAX_PRINTED_BYTES = 100_000
"""Bytes that one notebook cell prints."""
