"""Names of tools: they become names of MCP tools and parts of table names."""

import re

from mdvec.errors import MdvecError

_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

RESERVED = frozenset(
    {
        # the server's own tools, now or planned
        "search", "get_document", "reindex", "list_sources",
        # the household family
        "get_monthly_household", "get_category_trend", "detect_duplicates",
        "list_duplicate_candidates", "get_duplicate_candidate_detail", "confirm_duplicate",
        "restore_duplicate", "get_duplicate_stats",
        # the analytics family
        "export", "profile", "histogram", "materialize", "list_handles",
    }
)  # fmt: skip


class InvalidToolName(MdvecError):
    """No tool can have that name."""


def checked_tool_name(name: str) -> str:
    """Return ``name`` if a tool can have it.

    Raises:
        InvalidToolName: it has other characters, is too long, or belongs to the server.
    """
    if _PATTERN.fullmatch(name) is None:
        raise InvalidToolName(
            f"{_shown(name)} cannot be a tool's name: use 1 to 63 lower-case letters a-z, digits, "
            "'_' and '-', beginning with a letter or a digit"
        )
    if name in RESERVED:
        raise InvalidToolName(
            f"the name {name!r} belongs to the server itself; choose another, such as 'my-{name}'"
        )
    return name


def _shown(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:40] + "…")
