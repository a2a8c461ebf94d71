"""The environment of the child processes that read users' files: as little as they need."""

from __future__ import annotations

import os

_KEPT_VARIABLES = (
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "PYTHONNOUSERSITE",
    "PYTHONPATH",
    "TZ",
)


def child_environment() -> dict[str, str]:
    """The variables that a child gets."""
    variables = {name: value for name, value in os.environ.items() if name in _KEPT_VARIABLES}
    return variables | {"HOME": "/nonexistent", "MALLOC_ARENA_MAX": "2"}
