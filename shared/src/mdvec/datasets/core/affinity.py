"""The types of columns without values, by what a SQLite table declares."""

from __future__ import annotations

BOOLEAN = "BOOLEAN"
_BY_PART = (
    ("BOOL", BOOLEAN), ("TIMESTAMP", "TIMESTAMP"), ("DATETIME", "TIMESTAMP"), ("DATE", "DATE"),
    ("INT", "BIGINT"), ("CHAR", "VARCHAR"), ("CLOB", "VARCHAR"), ("TEXT", "VARCHAR"),
    ("BLOB", "BLOB"), ("REAL", "DOUBLE"), ("FLOA", "DOUBLE"), ("DOUB", "DOUBLE"),
    ("DEC", "DOUBLE"), ("NUM", "DOUBLE"),
)  # fmt: skip


def declared_type(declared: str) -> str:
    """The type that a declaration promises; SQLite enforces none."""
    upper = declared.upper()
    return next((type_ for part, type_ in _BY_PART if part in upper), "VARCHAR")
