"""Quoting of names and text in SQL, the same in SQLite and DuckDB."""

from __future__ import annotations


def identifier(name: str) -> str:
    """The name of a table, column or index as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """``text`` as a string literal."""
    return "'" + text.replace("'", "''") + "'"
