"""Names of tools: they become names of MCP tools and parts of table names."""

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection
from contextvars import ContextVar

from mdvec.errors import MdvecError

_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

OFFERED = frozenset(
    {
        "search", "get_document", "reindex", "list_sources",
        # household tools
        "get_monthly_household", "get_category_trend", "household_report", "find_transactions",
        "detect_duplicates", "list_duplicate_candidates", "get_duplicate_candidate_detail",
        "confirm_duplicate", "restore_duplicate", "get_duplicate_stats", "edit_household",
        # analytics tools
        "query", "export", "profile", "histogram", "materialize", "list_handles",
    }
)  # fmt: skip
"""The names of the server's own tools."""
FOLDED = {
    "reindex_status": ("list_sources", "()"),
    "compare_periods": ("household_report", '(report="compare")'),
    "get_budget_status": ("household_report", '(report="budget")'),
    "list_recurring_payments": ("household_report", '(report="recurring")'),
    "get_household_outlook": (
        "household_report", '(report="forecast"), or "anomalies", "households", "net_worth"',
    ),
    "set_budget": ("edit_household", '(what="budget")'),
    "set_category_rule": ("edit_household", '(what="rule")'),
    "note_transaction": ("edit_household", '(what="note")'),
    "run_query": ("query", "(query=NAME, parameters={…})"),
    "save_query": ("query", "(query=SQL, save_as=NAME)"),
    "plot": ("query", "(query=SQL, chart=KIND)"),
}  # fmt: skip
"""Former names of the server's tools, each with the tool to call instead and its arguments."""
OWN = OFFERED | FOLDED.keys()
"""The names that tools of users cannot have."""
naming: ContextVar[Callable[[str], str]] = ContextVar("naming", default=lambda tool: tool)
"""How texts name a tool of the server; the server sets it per answer, `mdvec` once for all."""
_OWN_PREFIX = "mdvec_"
_MAX_FROM_TITLE = 50
_DEFAULT = "docs"
"""The name for a title without letters a-z and digits."""


def own_name(name: str, taken: Collection[str]) -> str:
    """The name of one of the server's own tools if users' tools have the names ``taken``.

    A tool that had a name before it was reserved keeps it.
    """
    while name in taken:
        name = _OWN_PREFIX + name
    return name


def offered_name(tool: str) -> str:
    """The name of one of the server's tools, for texts that refer to it.

    If the answering server does not offer the tool, the text adds the setting that enables it.
    """
    return naming.get()(tool)


def reserved_names_taken(names: Collection[str]) -> list[str]:
    """A sentence for each tool whose name was reserved later."""
    return [_name_taken(name, names) for name in sorted(OWN & set(names))]


def _name_taken(name: str, names: Collection[str]) -> str:
    of_server = (
        f"whose own tool is called {own_name(name, names)!r} while this one exists"
        if name in OFFERED
        else f"which had a tool of that name; clients that call it now ask {''.join(FOLDED[name])}"
    )
    return (
        f"the tool name {name!r} is reserved for the server, {of_server}; to free the name, add "
        f"the folder under another name, then: mdvec tool delete -n {name}"
    )


class InvalidToolName(MdvecError):
    """No tool can have that name."""

    is_wrong_usage = True


def checked_tool_name(name: str) -> str:
    """Return ``name`` if a tool can have it.

    Raises:
        InvalidToolName: it has other characters, is too long, or belongs to the server.
    """
    if _PATTERN.fullmatch(name) is None:
        raise InvalidToolName(
            f"{_quote(name)} cannot be a tool's name: use 1 to 63 lower-case letters a-z, digits, "
            "'_' and '-', beginning with a letter or a digit"
        )
    if name.removeprefix(_OWN_PREFIX) in OWN:
        raise InvalidToolName(
            f"the name {name!r} belongs to the server itself; choose another, such as "
            f"'my-{name.removeprefix(_OWN_PREFIX)}'"
        )
    return name


def name_for(title: str, taken: Collection[str]) -> str:
    """A valid tool name made from a title in any script, and not in ``taken``."""
    plain = unicodedata.normalize("NFKC", title).lower()
    name = re.sub(r"[^a-z0-9_]+", "-", plain).strip("-_")[:_MAX_FROM_TITLE] or _DEFAULT
    if name.removeprefix(_OWN_PREFIX) in OWN:
        name = f"my-{name}"
    numbered = (f"{name}-{number}" for number in itertools.count(2))
    return next(
        candidate for candidate in itertools.chain([name], numbered) if candidate not in taken
    )


def _quote(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:40] + "…")
