"""Words a proposal: what is wrong, where, and the form that runs, bounded in size."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from mdvec.datasets.core.columns import Column

from mdvec_mcp.analytics.core.mending.search import QueryProposal
from mdvec_mcp.analytics.core.naming import named, shortened_name
from mdvec_mcp.analytics.core.refusals import quotable
from mdvec_mcp.analytics.core.statement import fold

_MAX_FORM_BYTES = 480
_MAX_SENTENCE_BYTES = 330
_SHORTER = re.compile(
    r"; only one SELECT is allowed.*|; send them separately| Candidate (?:bindings|functions).*"
    r"| Did you mean .*| You might need to add .*|; the tables are: .*| Either add it .*",
    re.DOTALL,
)
"""What an error says in place of the corrected form."""
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\w+|\s+|.", re.DOTALL)


def worded(said: str, sql: str, proposal: QueryProposal) -> str:
    """The error's sentence, with the place of the mistake and the corrected form."""
    why = "; ".join(dict.fromkeys(why for why in proposal.whys if why))
    head = _cut(why, _MAX_SENTENCE_BYTES // 2)
    said = _SHORTER.sub("", said)
    if said and not why.startswith(said):
        head = f"{_cut(said, _MAX_SENTENCE_BYTES - len(head.encode()))}; {head}"
    return f"{head} ({place(sql, proposal.sql)}); write: {form(sql, proposal.sql)}"


def _cut(text: str, max_bytes: int) -> str:
    short = text.encode()[:max_bytes].decode(errors="ignore")
    return text if short == text else f"{short}…"


def with_columns(said: str, sql: str, tables: Mapping[str, Sequence[Column]]) -> str:
    """The error about an unknown column, with the columns of the tables that the query names."""
    if "not found in FROM clause" not in said and "have a column named" not in said:
        return said
    words = set(re.findall(r"\w+", fold(sql)))
    lists = [
        f"{shortened_name(name)} has the columns {named([column.name for column in columns])}"
        for name, columns in tables.items()
        if fold(name) in words
    ]
    return "; ".join([_cut(_SHORTER.sub("", said), _MAX_SENTENCE_BYTES), *lists[:2]])


def form(sql: str, right: str) -> str:
    """The corrected query in whole if it is short, else what to write instead of what."""
    whole = " ".join(right.split()) if "'" not in right and "--" not in right else right.strip()
    if len(whole.encode()) <= _MAX_FORM_BYTES:
        return whole
    before, after = _tokens(sql), _tokens(right)
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [
        f"{quotable(''.join(after[to:until]) or '(nothing)', 120)} "
        f"instead of {quotable(''.join(before[start:end]) or '(nothing)', 80)}"
        for kind, start, end, to, until in steps
        if kind != "equal"
    ]
    return "; ".join(changes[:3])


def place(sql: str, right: str) -> str:
    """The line and the column at which the two begin to differ, with the text there."""
    at = 0
    for one, other in zip(_tokens(sql), _tokens(right), strict=False):
        if one.casefold() != other.casefold() and not (one.isspace() and other.isspace()):
            break
        at += len(one)
    at = min(at, max(len(sql) - 1, 0))
    line = sql.count("\n", 0, at) + 1
    column = at - (sql.rfind("\n", 0, at) + 1) + 1
    return f"line {line}, column {column}, at {quotable(sql[at : at + 20], 20)!r}"


def _tokens(sql: str) -> list[str]:
    return _TOKEN.findall(sql)
