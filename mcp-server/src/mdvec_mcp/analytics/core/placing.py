"""A model's source, put into a statement of ours."""

from __future__ import annotations

import re

WHOLE = "SELECT * FROM {source}"
"""The statement that asks for a source as it is."""

# Nothing within quotes is a placeholder, whatever a column is called.
_PART = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'|\{source\}""")


def placed(statement: str, source: str) -> str:
    """Our statement with ``source`` (a quoted name, or SQL in parentheses) for ``{source}``."""
    return _PART.sub(lambda part: source if part[0] == "{source}" else part[0], statement)
