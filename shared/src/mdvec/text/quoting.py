"""Quotes names and text in SQL, for SQLite and DuckDB alike."""

from __future__ import annotations


def identifier(name: str) -> str:
    """``name`` of a table, column or index as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """``text`` as a string literal."""
    return "'" + text.replace("'", "''") + "'"
