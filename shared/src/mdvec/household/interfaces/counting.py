"""SQL conditions for the rows that go into sums; all statements use these."""

from __future__ import annotations

from collections.abc import Iterable

_NOT_IN_LEDGER = "{0}removal IS 'removed'"
_REASONS = {
    "not_target": "NOT {0}is_target",
    "transfer": "({0}is_transfer OR {0}is_moved)",
    "duplicate": "{0}is_duplicate",
    "no_amount": "{0}amount IS NULL",
    "no_category": "{0}category_major = ''",
    "removed": _NOT_IN_LEDGER,
}
"""The condition of each reason to leave a row out, in the order of ``Transaction.left_out``."""


def left_out() -> str:
    """The first reason that keeps a row out of the sums; NULL for rows that count."""
    cases = (f"WHEN {holds.format('')} THEN '{reason}'" for reason, holds in _REASONS.items())
    return f"CASE {' '.join(cases)} END"


def counts(table: str = "") -> str:
    """Whether a row of ``table`` (its name or alias) goes into sums."""
    return _none_of(_REASONS.values(), table)


def counts_unless_decided(table: str = "") -> str:
    """Whether a row of ``table`` would go into sums without the user's decisions about pairs."""
    file_says = {**_REASONS, "transfer": "{0}is_transfer"}
    del file_says["duplicate"]
    return _none_of(file_says.values(), table)


def in_ledger(table: str = "") -> str:
    """Whether a row of ``table`` is still in its statements, or its removal is undecided."""
    return f"NOT ({_NOT_IN_LEDGER.format(_prefix(table))})"


def _none_of(conditions: Iterable[str], table: str) -> str:
    prefix = _prefix(table)
    return " AND ".join(f"NOT ({holds.format(prefix)})" for holds in conditions)


def _prefix(table: str) -> str:
    return f"{table}." if table else ""
