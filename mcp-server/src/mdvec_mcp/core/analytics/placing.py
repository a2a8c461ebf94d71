"""SQL put together from parts: names and texts quoted, a model's source put into our statement."""

from __future__ import annotations

import re

WHOLE = "SELECT * FROM {source}"
"""The statement that asks for a source as it is."""

# Nothing within quotes is a placeholder, whatever a column is called.
_PART = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'|\{source\}""")


def identifier(name: str) -> str:
    """A table's or column's name, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text, quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"


def placed(statement: str, source: str) -> str:
    """Our statement with ``source`` (a quoted name, or SQL in parentheses) for ``{source}``."""
    return _PART.sub(lambda part: source if part[0] == "{source}" else part[0], statement)
