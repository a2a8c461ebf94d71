"""The limits of what Python hands to a model, unless a caller names others."""

MAX_JSON_BYTES = 1_024
"""The most bytes of JSON."""
MAX_TABLE_ROWS = 10
"""The most rows of a table."""
MAX_LOAD_ROWS = 10_000
"""The most rows that are loaded from an export."""
MAX_PRINTED_BYTES = 100_000
"""The most bytes that a cell prints."""
