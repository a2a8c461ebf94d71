"""Repairs names that mean a call or an aggregate of the same query: ``ORDER BY count``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import mask
from mdvec_mcp.analytics.core.refusals import quotable

_LATER = re.compile(r"\b(?:GROUP\s+BY|HAVING|QUALIFY|ORDER\s+BY)\b", re.IGNORECASE)
_AGGREGATE = re.compile(r"\b(?:COUNT|SUM|AVG|MIN|MAX|MEDIAN)\s*\(", re.IGNORECASE)
_NAMED = re.compile(r"\s*(?:AS\b|\w+\s*(?:,|\bFROM\b)|OVER\b)", re.IGNORECASE)


def mend_calls(draft: Draft) -> Iterator[Mended]:
    """A name after the SELECT list that means a call in it: of that function, or the only one."""
    name = draft.named_by(r'Referenced column "(\w+)" not found') or draft.named_by(
        r'column "(\w+)" must appear in the GROUP BY'
    )
    if name is None:
        return
    masked = mask(draft.sql)
    later = _LATER.search(masked.code)
    if later is None:
        return
    before, after = masked.code[: later.start()], masked.code[later.start() :]
    call = _called(before, name)
    if call is None:
        return
    bare = rf"(?<![\w.]){re.escape(name)}(?![\w.]|\s*\()"
    changed = re.sub(bare, lambda _: call, after, flags=re.IGNORECASE)
    if changed != after:
        yield Mended(
            masked.shown(before + changed),
            f"{quotable(name, 30)} is no column; the SELECT list computes it",
        )


def _called(code: str, name: str) -> str | None:
    """The call of the function of that name, else the only aggregate, if it has no name."""
    named = re.compile(rf"(?<![\w.]){re.escape(name)}\s*\(", re.IGNORECASE).search(code)
    if named is not None:
        return _balanced(code, named.start())
    aggregates = [_balanced(code, one.start()) for one in _AGGREGATE.finditer(code)]
    if len(aggregates) != 1 or aggregates[0] is None:
        return None
    end = code.index(aggregates[0]) + len(aggregates[0])
    return None if _NAMED.match(code, end) else aggregates[0]


def _balanced(code: str, start: int) -> str | None:
    """The call that begins there, to its last parenthesis; None if it is not closed."""
    depth = 0
    for at in range(code.index("(", start), len(code)):
        depth += (code[at] == "(") - (code[at] == ")")
        if depth == 0:
            return code[start : at + 1]
    return None
