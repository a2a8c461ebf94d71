"""Advice on a query that DuckDB cannot plan: what to write instead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from mdvec.datasets import Column
from mdvec.sql.core.refusals import Hint, named, names_that_fit, nearest_names, shortened_name
from mdvec.sql.core.statement import fold, has_name
from mdvec.text import identifier, on_one_line, shortened

_MAX_BYTES = 900
_MAX_MESSAGE_BYTES = 340
_UNKNOWN_COLUMN = re.compile(r'column (?:named )?"((?:[^"]|"")*)"(?: not found|$| Candidate)')
_QUALIFIED = re.compile(r'Binder Error: [\w ]+ "((?:[^"]|"")*)" does not have a column named ')
_AMBIGUOUS = re.compile(r'Ambiguous reference to column name "((?:[^"]|"")*)"')
_JAPANESE_SIGNS = {
    "、": ",", "。": ";", "‘": "'", "’": "'", "“": '"', "”": '"', "≧": ">=", "≥": ">=",
    "≦": "<=", "≤": "<=", "≠": "<>", "×": "*", "÷": "/", "−": "-",
}  # fmt: skip
_CALLED = re.compile(r"(?:argument types '|the function call \")([^'\"(]+)\(")
_CANDIDATES = re.compile(r" (?:Candidate |Did you mean ).*")
_LONGER = re.compile(rf"; only one SELECT.*|{_CANDIDATES.pattern}")
_INSTEAD = {
    r"\bTOP\s*\(?\s*(\d+)\b(?![\s)]*(?:PERCENT|WITH)\b)": r"(SELECT … LIMIT \1)",
    r"\bLIMIT\s+\d+\s*,": "LIMIT 10 OFFSET 5 for LIMIT 5, 10",
    r"\bNVL\s*\(": "coalesce(x, y)",
    r"\bISNULL\s*\([^(),]*\)": "x IS NULL",
    r"\bISNULL\s*\([^(),]*,\s*(\d+|'[^']*')\s*\)": r"coalesce(x, \1)",
    r"\bGETDATE\s*\(": "now(), current_date",
    r"\b(?:DATE_?ADD|DATE_SUB|TIMESTAMPADD)\s*\(": "d + INTERVAL 1 MONTH, d - INTERVAL 7 DAY",
    r"\b(?:STR_TO_DATE|TO_DATE)\s*\(": "strptime('2025-06-01', '%Y-%m-%d')",
    r"\b(?:GROUP_CONCAT|STRING_AGG|LISTAGG)\s*\(": "string_agg(x, ',' ORDER BY y)",
    r"\b(?:DATE_FORMAT|TO_CHAR|FORMAT)\s*\(": "strftime(d, '%Y-%m') for a date's year and month, "
    "format('{:,}', x) for an integer with commas",
    r"\bCONVERT\s*\(\s*N?(?:VAR)?CHAR\b": "CAST(x AS VARCHAR), strftime(d, '%Y%m%d') for a date "
    "in a form of your own, left(text, 7) for the first 7 letters",
    r"\bSUBSTRING_INDEX\s*\(": "array_to_string(split(text, ',')[:2], ',') for the first 2 "
    "parts, [-2:] for the last 2",
    r"\b(?:REGEXP|RLIKE)\s": "regexp_matches(text, pattern, 'i') whatever the case",
    r"\bDIV\s": "a // b for integers, trunc(a / b) for DOUBLE",
    r"\bEOMONTH\s*\(": "last_day(d), last_day(d + INTERVAL 1 MONTH) for EOMONTH(d, 1)",
    r"\bJULIANDAY\s*\(": "(epoch(b) - epoch(a)) / 86400 for the days from a to b",
    r'"(\d{4})年(\d\d?)月(\d\d?)日"': r"DATE '\1-\2-\3', strptime(text, '%Y年%m月%d日')",
    r"\bIIF\s*\(": "CASE WHEN x > 1 THEN 'a' ELSE 'b' END",
    r"\bMINUS\s+\(?\s*SELECT\b": "EXCEPT",
    r"\bDATEPART\s*\(\s*(YEAR|QUARTER|MONTH|DAY|HOUR|MINUTE|SECOND)\s*,": r"extract(\1 FROM d)",
    r"\bDATETRUNC\s*\(\s*(YEAR|QUARTER|MONTH|DAY|HOUR|MINUTE|SECOND)\s*,": r"date_trunc('\1', d)",
    r"\bDATEDIFF\s*\(": "date_diff('day', a, b) for the midnights from a to b",
    r"'avg\(BOOLEAN": "avg(x::INTEGER) for the share of true values",
    r"'(?:sum|avg)\(VARCHAR": "CAST(x AS DOUBLE), which refuses a text that is no number",
    r"'&&\(BOOLEAN": "a AND b",
    r"'\+\((?:VARCHAR|STRING)": "a || b to join texts",
    r"'!?~~\*?\((?:DATE|TIMESTAMP)": "d::VARCHAR LIKE '2025-06%'",
}
"""By pattern of a mistake, in the query or in DuckDB's message: what DuckDB has instead.

A hint must be true for all arguments; functions without such a hint are not listed.
"""


def advised(
    message: str,
    sql: str,
    tables: Mapping[str, Sequence[Column]],
    can_run: Callable[[str], bool],
) -> tuple[str, Hint | None]:
    """Why a query cannot be planned and what to write instead; and a hint for programs.

    The hint has a form of the query for which ``can_run`` is true, or names for an unknown one.
    """
    names = {
        name: [column.name for column in columns]
        for name, columns in tables.items()
        if has_name(sql, name)
    }
    halved = _in_half_width(sql)
    columns = set().union(*names.values())
    fails = not can_run(sql)
    if fails and halved != sql and can_run(halved):
        advice = f"signs of full width are no SQL; write: {halved}"
        if len(advice.encode()) <= _MAX_BYTES - _MAX_MESSAGE_BYTES:
            return f"{_cut(_LONGER.sub('', message))}; {advice}", Hint(form=halved)
    parts, hint = _quoted(sql, halved, columns, can_run) if fails else [], None
    if not parts:
        parts, hint = _advice(message, sql, names, can_run)
    parts.insert(0, _cut(_CANDIDATES.sub("", message) if parts else message))
    while len("; ".join(parts).encode()) > _MAX_BYTES:
        parts.pop()
    return "; ".join(parts), hint


def _quoted(sql: str, halved: str, columns: set[str], can_run: Callable[[str], bool]) -> list[str]:
    """How to write columns whose names need quotation marks, if the query then runs."""
    for name in filter(str.isidentifier, columns):
        quoted = _outside_quotes(halved, rf"\b{re.escape(name)}\b", '"{}"'.format)
        if can_run(quoted):
            return [f'{name} is a word of SQL; write "{name}"']
    odd = sorted((name for name in columns if not name.isidentifier()), key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in filter(None, odd))
    identifiers: dict[str, str] = {}

    def runs(quoted: Collection[str]) -> bool:
        return can_run(
            _outside_quotes(
                sql, pattern, lambda part: identifiers[part] if part in quoted else part
            )
        )

    if pattern:
        _outside_quotes(sql, pattern, lambda part: identifiers.setdefault(part, identifier(part)))
    if not identifiers or not runs(identifiers):
        return []
    for part in list(identifiers):  # a - b stays a difference where it can be one
        if runs(identifiers.keys() - {part}):
            del identifiers[part]
    return [f"a name with signs stands in double quotes: {', '.join(identifiers.values())}"]


def _in_half_width(sql: str) -> str:
    """A query with half-width signs and digits, except within quotes."""
    return _outside_quotes(
        sql, r"[‘’][^’]*’|[“”][^”]*”|＇[^＇]*＇|＂[^＂]*＂|[^\x00-\x7f]", _half_width
    )


def _half_width(part: str) -> str:
    sign, rest = part[0], part[1:-1]
    is_letter = unicodedata.category(sign)[0] in "LM"
    half = _JAPANESE_SIGNS.get(sign, sign if is_letter else unicodedata.normalize("NFKC", sign))
    return half + rest + half if len(part) > 1 else half


def _outside_quotes(sql: str, pattern: str, instead: Callable[[str], str]) -> str:
    return re.sub(
        rf"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|{pattern}",
        lambda part: part[0] if part[0][0] in "'\"" else instead(part[0]),
        sql,
        flags=re.IGNORECASE,
    )


def _advice(
    message: str,
    sql: str,
    names: Mapping[str, Sequence[str]],
    can_run: Callable[[str], bool],
) -> tuple[list[str], Hint | None]:
    """The nearest names, what DuckDB has instead, and the columns of the query's tables.

    The hint has names for an unknown column, unless another table of the query has the column.
    """
    code = re.sub(r"'(?:[^']|'')*'", "''", sql) + message
    slips = ((re.search(slip, code, re.IGNORECASE), hint) for slip, hint in _INSTEAD.items())
    called = _CALLED.search(message)  # then other functions of the query may be right
    failed = fold(called[1]) if called else ""
    hints = [match.expand(hint) for match, hint in slips if match and failed in fold(match[0])]
    instead = [f"DuckDB has {'; '.join(hints)}"] if hints else []
    ambiguous, unknown = _AMBIGUOUS.search(message), _UNKNOWN_COLUMN.search(message)
    if (wrong := ambiguous or unknown) is None:
        return instead, None
    having = [name for name, columns in names.items() if fold(wrong[1]) in map(fold, columns)]
    where = f"{shortened_name(wrong[1])} is a column of {named(having)}"
    if unknown is None:  # DuckDB only names two of the tables
        return [*instead, where], None
    lists = [
        f"columns of {shortened_name(name)}: {named(columns)}" for name, columns in names.items()
    ]
    if having:
        return [f"{where}, but not of what is read where it is named", *instead, *lists], None
    in_turn = zip_longest(*names.values())  # alternating, so that no table crowds out the others
    known = [column for each in in_turn for column in each if column is not None]
    candidates = re.findall(r'"([^"]+)"', message[unknown.end() :])
    shown = {*known, *map(on_one_line, known)}  # DuckDB's message is on one line
    known += [name for name in candidates if name.rpartition(".")[2] not in shown]
    if near := nearest_names(unknown[1], known):
        instead.insert(0, f"nearest: {_with_tables(near, names)}")
    elif f'"{unknown[1]}"' in sql:
        instead.insert(0, f"a text stands in single quotes: '{shortened(unknown[1], 40)}'")
    hint = Hint(unknown[1], names_that_fit(near or list(dict.fromkeys(known))))
    if qualified := _QUALIFIED.match(message):
        return [*instead, *lists], _of_one_table(hint, qualified[1], candidates, sql, can_run)
    return [*instead, *lists], hint


def _of_one_table(
    hint: Hint,
    table: str,
    candidates: Collection[str],
    sql: str,
    can_run: Callable[[str], bool],
) -> Hint | None:
    """The hint with only names that are columns of ``table``, the qualifier of the wrong name.

    If there are none, the hint with names that replace both ``table`` and the wrong name, and with
    which the query runs.
    """
    its = [name for name in hint.names if name in candidates or can_run(hint.put_in(sql, name))]
    if its:
        return replace(hint, names=its)
    whole = replace(hint, wrong=f"{table}.{hint.wrong}")
    others = [name for name in hint.names if can_run(whole.put_in(sql, name))]
    return replace(whole, names=others) if others else None


def _with_tables(columns: Iterable[str], names: Mapping[str, Sequence[str]]) -> str:
    """Column names, each with the tables that have it unless all tables of the query have it."""
    of_tables: dict[tuple[str, ...], list[str]] = {}
    for column in columns:
        having = tuple(table for table, theirs in names.items() if column in theirs)
        of_tables.setdefault(having, []).append(column)
    return ", ".join(
        f"{named(some)} ({named(having)})" if 0 < len(having) < len(names) else named(some)
        for having, some in of_tables.items()
    )


def _cut(message: str) -> str:
    return message.encode()[:_MAX_MESSAGE_BYTES].decode(errors="ignore")
