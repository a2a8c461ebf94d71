"""Names and texts as DuckDB's SQL writes them, whatever characters they have."""

from __future__ import annotations


def identifier(name: str) -> str:
    """A table's or column's name, quoted."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text, quoted."""
    return "'" + text.replace("'", "''") + "'"
