"""Checks that a query is a single SELECT, at every level, over known tables and safe functions.

The check reads DuckDB's own syntax tree (``json_serialize_sql``), so it sees exactly what DuckDB
will run, whatever the comments and quotes. The child process does the parsing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mdvec.sql.core import vocabulary
from mdvec.sql.core.refusals import QueryRefused, unknown_table
from mdvec.text import cited, literal, shortened

MAX_SQL_CHARACTERS = 20_000
_RULE = "only one SELECT is allowed (WITH, DESCRIBE, SUMMARIZE and UNPIVOT are fine)"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)
_WORD = re.compile(r"[^\s();,]+|\"(?:[^\"]|\"\")+\"")
# A name like this is no path, so it opens no file even if the check misjudges its scope.
_CTE_NAME = re.compile(r"[\w $#-]+")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_SYSTEM_SCHEMAS = {"information_schema", "pg_catalog"}
_CATALOG, _SCHEMA = "memory", "main"
_RECURRING = "recurring"
"""The schema through which a recursive CTE reads all of its rows up to now."""
SELECT_ALL = "SELECT * FROM {source}"
"""The statement that selects a source unchanged."""
# A placeholder inside quotes is text, for example the name of a column.
_PLACEHOLDER = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'|\{source\}""")

# Matches a statement that is one PIVOT on one column, without a list of values.
_PIVOT = re.compile(
    r"PIVOT\s+(?P<of>.+?)\s+ON\s+(?P<column>\"(?:[^\"]|\"\")+\"|\w+)"
    r"(?P<rest>\s+(?:USING|GROUP\s+BY|ORDER\s+BY|LIMIT)\b.*|\s*;?\s*)",
    re.IGNORECASE | re.DOTALL,
)
_MAX_PIVOTED = 200
_PIVOT_GROUPED = re.compile(rb"\bPIVOT\b.*\bGROUP\s+BY\s[^()]*", re.IGNORECASE | re.DOTALL)

Node = dict[str, Any]


def nodes_in(value: object) -> Iterator[Node]:
    """Every node of a part of the tree; outer nodes come before the nodes in them."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += reversed(part.values())
        elif isinstance(part, list):
            waiting += reversed(part)


def fold(name: str) -> str:
    """A name with its ASCII letters in lower case, as DuckDB compares names."""
    return "".join(chr(ord(sign) + 32) if "A" <= sign <= "Z" else sign for sign in name)


def has_name(sql: str, name: str) -> bool:
    """Whether SQL has a name as a word, ignoring the case of ASCII letters."""
    return re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", fold(sql)) is not None


def with_source(statement: str, source: str) -> str:
    """A statement with a quoted table name or SQL in parentheses in place of ``{source}``."""
    return _PLACEHOLDER.sub(lambda part: source if part[0] == "{source}" else part[0], statement)


def clean(source: str) -> str:
    """A source without surrounding white space, or without the Markdown fence around it.

    Raises:
        QueryRefused: it is empty, too long, or contains control characters.
    """
    text = source.removeprefix("\ufeff").strip()
    fenced = _FENCE.fullmatch(text)
    if fenced is not None and "```" not in fenced[1]:
        text = fenced[1].strip()
    if not text:
        raise QueryRefused("there is no SQL; give a table's name or one SELECT")
    if len(text) > MAX_SQL_CHARACTERS:
        raise QueryRefused(
            f"the SQL has {len(text):,} characters, more than {MAX_SQL_CHARACTERS:,}; "
            "ask about its parts in shorter queries"
        )
    if _CONTROL.search(text) or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise QueryRefused("the SQL contains a control character; write chr(n) or leave it out")
    return text


@dataclass(frozen=True, slots=True)
class Pivot:
    """A PIVOT without a list of values, which DuckDB would query with a separate statement."""

    of: str
    column: str
    rest: str

    @classmethod
    def of_query(cls, text: str) -> Pivot | None:
        """Parse a query as such a PIVOT; None if it is something else."""
        parts = _PIVOT.fullmatch(text)
        return None if parts is None else cls(parts["of"], parts["column"], parts["rest"])

    @property
    def values_sql(self) -> str:
        """The SELECT of the column's values; it is checked and run like any other."""
        return (
            f"SELECT DISTINCT CAST({self.column} AS VARCHAR) FROM {self.of} "
            f"WHERE {self.column} IS NOT NULL ORDER BY ALL LIMIT {_MAX_PIVOTED + 1}"
        )

    def with_values(self, values: Sequence[str]) -> str:
        """The PIVOT with these values.

        Raises:
            QueryRefused: there are too many values to become columns.
        """
        if len(values) > _MAX_PIVOTED:
            raise QueryRefused(
                f"{shortened(self.column)} has more than {_MAX_PIVOTED} values, too many columns; "
                "list those you need: PIVOT t ON c IN ('a', 'b') USING sum(x)"
            )
        listed = ", ".join(map(literal, values)) or "NULL"
        return f"PIVOT {self.of} ON {self.column} IN ({listed}){self.rest}"


def find_table(text: str, known: Collection[str]) -> str | None:
    """The known table that the text names, quoted or not; None if the text is a query.

    Raises:
        UnknownTable: the text is a single word, and no table has that name.
    """
    if _WORD.fullmatch(text) is None:
        return None
    quoted = text.startswith('"') and text.endswith('"') and len(text) > 1
    name = text[1:-1].replace('""', '"') if quoted else text
    table = {fold(table): table for table in known}.get(fold(name))
    if table is None:
        raise unknown_table(name, known)
    return table


def check(
    serialized: str, known: Collection[str], sql: str = "", *, takes_parameters: bool = False
) -> frozenset[str]:
    """Check a query and return the known tables that it reads.

    Args:
        serialized: the query's syntax tree from ``json_serialize_sql``.
        known: the names of the tables that may be read.
        sql: the query itself, for the message of a refusal.
        takes_parameters: whether it may have parameters, which can only be values.

    Raises:
        QueryRefused: the query is not allowed; UnknownTable if it reads an unknown table.
    """
    try:
        answer = json.loads(serialized)
        if answer["error"]:
            raise QueryRefused(_parse_error(answer, sql))
        if len(answer["statements"]) != 1:
            count = len(answer["statements"])
            raise QueryRefused(f"there are {count} statements; {_RULE}; send them separately")
        checker = _Checker({fold(table): table for table in known}, takes_parameters)
        checker.walk(answer["statements"][0], _Scope())
    except (KeyError, TypeError) as error:
        raise QueryRefused(f"the SQL contains an unsupported element ({error}); {_RULE}") from error
    except RecursionError:
        raise QueryRefused("the SQL is nested too deeply; name its parts in a WITH") from None
    return frozenset(checker.tables)


def syntax_error_at(answer: Node) -> int | None:
    """The byte position of a syntax error; None if the query was parsed or has another error."""
    position = str(answer.get("position"))
    return int(position) if answer["error"] and position.isdigit() else None


def _parse_error(answer: Node, sql: str) -> str:
    message = shortened(str(answer.get("error_message", "")), 200)
    if "Only SELECT" in message:
        if re.search(r"\bpivot\b", sql, re.IGNORECASE):
            return (
                "PIVOT inside a query must list its values, as in PIVOT t ON c IN ('a', 'b') USING "
                "sum(x); or write sum(x) FILTER (WHERE c = 'a') AS a for each value"
            )
        return f"this is not a SELECT; {_RULE}"
    if "CTE body" in message:
        return f"inside WITH too, {_RULE}"
    if "depth limit" in message:
        return "the SQL is nested too deeply; name its parts in a WITH"
    if (position := syntax_error_at(answer)) is None:
        return f"the SQL cannot be read: {message}"
    refusal = f"the SQL cannot be read: {message} (at byte {position + 1})"
    before = sql.encode()[:position]
    if message.endswith('"("') and _PIVOT_GROUPED.fullmatch(before):
        refusal += (
            "; GROUP BY of a PIVOT takes only names of columns; make the column in a subquery: "
            "PIVOT (SELECT *, year(d) AS y FROM t) ON c USING sum(x) GROUP BY y"
        )
    return refusal


@dataclass(frozen=True, slots=True)
class _Scope:
    """The names of the WITH clauses that are visible at a node of the tree."""

    names: frozenset[str] = frozenset()
    recursive: frozenset[str] = frozenset()

    def plus(self, name: str) -> _Scope:
        return _Scope(self.names | {fold(name)}, self.recursive)

    def within(self, name: str) -> _Scope:
        return _Scope(self.names | {fold(name)}, self.recursive | {fold(name)})


@dataclass
class _Checker:
    """A walk through the tree that raises QueryRefused at the first forbidden node."""

    known: dict[str, str]
    takes_parameters: bool
    tables: set[str] = field(default_factory=set)

    def walk(self, value: object, scope: _Scope) -> None:
        """Check a value of the tree and everything in it."""
        if isinstance(value, list):
            for part in value:
                self.walk(part, scope)
        elif isinstance(value, dict):
            self._node(value, scope)

    def _node(self, node: Node, scope: _Scope) -> None:
        kind = node.get("type")
        if "class" in node:
            self._expression(node)
        elif "cte_map" in node or str(kind).endswith("_NODE"):
            return self._query(node, scope)
        elif kind == "BASE_TABLE":
            return self._base_table(node, scope)
        elif isinstance(kind, str) and kind in vocabulary.TABLES:
            self._table(node)
        elif isinstance(kind, str) and kind not in vocabulary.PARTS:
            raise QueryRefused(f"{shortened(kind)} is not allowed in a query; {_RULE}")
        if kind == "TABLE_FUNCTION" and "class" not in node:
            # The function was checked as a table function; its arguments are ordinary expressions.
            return self.walk(node["function"]["arguments"], scope)
        return self._parts(node, scope)

    def _parts(self, node: Node, scope: _Scope, leave_out: tuple[str, ...] = ()) -> None:
        for key, part in node.items():
            if key not in leave_out:
                self.walk(part, scope)

    def _query(self, node: Node, scope: _Scope) -> None:
        kind = str(node.get("type"))
        if kind not in vocabulary.QUERY_NODES:
            verb = kind.removesuffix("_NODE").removesuffix("_QUERY")
            raise QueryRefused(f"{verb} changes or writes data; inside WITH too, {_RULE}")
        for entry in node.get("cte_map", {}).get("map", ()):
            name = entry["key"]
            if _CTE_NAME.fullmatch(name) is None:
                raise QueryRefused(
                    f"a WITH clause cannot be named {cited(shortened(name))}; use letters, digits "
                    "and underscores"
                )
            self.walk(entry["value"], scope)
            scope = scope.plus(name)
        if kind == "RECURSIVE_CTE_NODE":
            self._parts(node, scope, ("cte_map", "right"))
            self.walk(node["right"], scope.within(node["cte_name"]))
        elif kind == "CTE_NODE":
            self.walk(node["query"], scope)
            self.walk(node["child"], scope.plus(node["cte_name"]))
        else:
            self._parts(node, scope, ("cte_map",))

    def _base_table(self, node: Node, scope: _Scope) -> None:
        if node["at_clause"] is not None:
            raise QueryRefused("AT (VERSION …) is not allowed: tables have no earlier versions")
        path = [fold(part) for part in node["qualified_name"]["path"]]
        alone = len(path) == 1
        if alone and path[0] in scope.names:
            return
        if path[:-1] == [_RECURRING] and path[-1] in scope.recursive:
            return
        qualified = path[:-1] in ([_SCHEMA], [_CATALOG, _SCHEMA])
        if (alone or qualified) and path[-1] in self.known:
            self.tables.add(self.known[path[-1]])
            return
        name = ".".join(node["qualified_name"]["path"])
        note = ""
        if _SYSTEM_SCHEMAS.intersection(path[:-1]):
            note = " for queries; DESCRIBE a table to see its columns"
        raise unknown_table(name, self.known.values(), note)

    def _table(self, node: Node) -> None:
        kind = node["type"]
        if kind == "TABLE_FUNCTION":
            name = _function_name(node["function"])
            if name not in vocabulary.TABLE_FUNCTIONS:
                raise QueryRefused(
                    f"the table function {shortened(name)}() is not allowed: queries read only "
                    f"the known tables ({', '.join(sorted(self.known.values())) or 'none yet'})"
                )
        elif kind == "SHOW_REF" and (
            node["show_type"] not in vocabulary.DESCRIPTIONS or node["query"] is None
        ):
            tables = ", ".join(sorted(self.known.values())) or "none yet"
            raise QueryRefused(
                f"SHOW is not allowed; the tables are: {tables}; DESCRIBE one to see its columns"
            )

    def _expression(self, node: Node) -> None:
        kind = node["class"]
        if kind == "PARAMETER":
            if self.takes_parameters:
                return
            raise QueryRefused(
                "the SQL holds a parameter without a value; write the value itself, or give query "
                "parameters={name: value} (mdvec query -p name=value) for $name; ? and $1 are not "
                "taken"
            )
        if kind not in vocabulary.EXPRESSIONS:
            raise QueryRefused(f"{shortened(str(kind))} is not allowed in a query; {_RULE}")
        if "function_name" in node:
            name = _function_name(node)
            _check_function(name)
            if name in vocabulary.NAMING_FUNCTIONS:
                _check_function(_function_named_in(name, node["arguments"]))


def _check_function(name: str) -> None:
    why = vocabulary.why_denied(name)
    if why is not None:
        raise QueryRefused(f"the function {shortened(name)}() is not allowed: {why}")


def _function_named_in(function: str, arguments: list[Node]) -> str:
    """The name of the function that is the second argument of another.

    Raises:
        QueryRefused: the argument is not a literal, so it is unknown before the query runs.
    """
    by_name = any(argument.get("name") for argument in arguments)
    second = {} if by_name or len(arguments) < 2 else arguments[1]["expression"]
    written = second.get("literal") or {}
    name = str(written.get("text"))
    if written.get("kind") != "STRING" or _FUNCTION_NAME.fullmatch(name) is None:
        raise QueryRefused(
            f"{function}() needs the plain name of an aggregate, written out, as its second "
            f"argument: {function}(x, 'sum')"
        )
    return fold(name)


def _function_name(node: Node) -> str:
    """The function's own name, without the schema or the column before its dot."""
    return fold(str(node["qualified_name"]["path"][-1]))
