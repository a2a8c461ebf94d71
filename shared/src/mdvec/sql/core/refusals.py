"""The errors of queries, whose messages say what to do instead; and lists of names in messages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher  # only used when a name is unknown
from typing import Any

from mdvec.errors import MdvecError
from mdvec.text import cited, identifier, shortened, shown_name
from mdvec.tools import offered_name

_MAX_NAME = 80
"""The maximum characters of a name in a message; handles are shorter."""
_MAX_LIST = 240
"""The maximum characters of a list of names in a message."""
_MIN_NEARNESS = 0.6


def named(names: Sequence[str], most: int = _MAX_LIST) -> str:
    """As many of the first names as fit into ``most`` characters, and the number of the others."""
    fitting = names_that_fit(names, most)
    others = len(names) - len(fitting)
    shown = ", ".join(map(_as_listed, fitting))
    return f"{shown} and {others} more" if others else shown


def names_that_fit(names: Sequence[str], most: int = _MAX_LIST) -> Sequence[str]:
    """The first names, at least one, that fit into ``most`` characters as a list shows them."""
    for count, name in enumerate(names):
        length = len(_as_listed(name))
        if count and length > most:
            return names[:count]
        most -= length + len(", ")
    return names


def _as_listed(name: str) -> str:
    return shown_name(shortened_name(name))


def shortened_name(name: str) -> str:
    """The beginning of a name."""
    return name[:_MAX_NAME]


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """All known names that are equally near to an unknown one; empty if none is near."""
    nearness = {other: _nearness(_key(name), _key(other)) for other in known}
    nearest = max(nearness.values(), default=0)
    return [other for other, near in nearness.items() if near == nearest >= _MIN_NEARNESS]


def _nearness(name: str, other: str) -> float:
    """2 for equal keys, 1 if one contains the other, else the share of common characters."""
    if min(len(name.encode()), len(other.encode())) > 2 and (name in other or other in name):
        return 2 if name == other else 1
    return SequenceMatcher(None, name, other).ratio()


def _key(name: str) -> str:
    """A key that is equal for names that only differ in width, case and separators."""
    flat = unicodedata.normalize("NFKC", shortened_name(name)).casefold()
    return re.sub(r"[\s_\-.]", "", flat)


_MAX_LISTED = 20
_PLAIN = re.compile(r"[^\W\d]\w*")
_TEXT_OR_COMMENT = r"'(?:[^']|'')*'|--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/"


@dataclass(frozen=True, slots=True)
class Hint:
    """What a query may mean: one of ``names`` in place of ``wrong``, or ``form`` for all of it."""

    wrong: str = ""
    names: Sequence[str] = ()
    form: str = ""

    def put_in(self, sql: str, name: str) -> str:
        """The query with ``name`` in place of the wrong name, except in texts and comments."""
        wrong = re.escape(self.wrong)
        written = name if _PLAIN.fullmatch(name) else identifier(name)
        pattern = rf'({_TEXT_OR_COMMENT})|"{wrong}"|(?<!\w){wrong}(?!\w)'
        return re.sub(pattern, lambda part: part[1] or written, sql, flags=re.IGNORECASE)


class QueryError(MdvecError):
    """A query got no answer; its subclasses say why."""

    def __init__(self, message: str, hint: Hint | None = None) -> None:
        self.hint = hint
        super().__init__(message)


class QueryRefused(QueryError):
    """The text is not one SELECT over the known tables; nothing was run."""


class RowsDiffer(MdvecError):
    """The query returned other rows when it was run again."""

    def __init__(self) -> None:
        super().__init__(
            "the query gives other rows each time it runs; "
            f"{offered_name('materialize')} it, and ask about that table"
        )


class UnknownTable(QueryRefused):
    """No table has that name."""


class QueryFailed(QueryError):
    """DuckDB could not run the query: an unknown column, or text that is not a number."""


class QueryStopped(QueryError):
    """The query exceeded the limit of time or memory, or crashed the process that ran it."""


class TooManyRowsToExport(QueryError):
    """The export has more rows than ``max_rows``; there is no file."""

    def __init__(self, count: int, max_rows: int) -> None:
        self.count = count
        self.max_rows = max_rows
        super().__init__(
            f"the query has {count:,} rows, more than max_rows={max_rows:,}, and nothing was "
            "exported; aggregate or filter in SQL, or raise max_rows"
        )


class ResultTooLarge(QueryError):
    """The export exceeded its size limit or filled the disk; there is no file."""


class QueriesUnavailable(QueryError):
    """The process that runs queries could not be started, or is busy with other queries."""


def unknown_table(name: str, known: Iterable[str], note: str = "") -> UnknownTable:
    """The refusal of an unknown table, which lists the known ones."""
    there = sorted(known)
    more = f" and {len(there) - _MAX_LISTED} more ({offered_name('list_handles')})"
    shown = ", ".join(there[:_MAX_LISTED]) + (more if len(there) > _MAX_LISTED else "")
    tables = f"the tables are: {shown}" if there else "there are no tables yet"
    file = "" if note or not re.search(r"[/\\.]", name) else " (a query opens no files)"
    near = [table for table in there if table.startswith(f"{name.lower()}__")]
    near = near or nearest_names(name, there)
    nearest = f"; nearest: {named(near)}" if near else ""
    return UnknownTable(
        f"there is no table {cited(shortened(name))}{note}{file}{nearest}; {tables}",
        Hint(name, names_that_fit(near) or there[:_MAX_LISTED]),
    )


def out_of_time(seconds: float) -> QueryStopped:
    """The refusal of a query that reached its time limit."""
    return QueryStopped(
        f"the query was stopped after {seconds:g} s, the limit; filter or aggregate "
        f"earlier, ask about a part, or {offered_name('materialize')} an intermediate result first"
    )


def out_of_memory(memory_mb: int) -> QueryStopped:
    """The refusal of a query that reached the memory limit."""
    return QueryStopped(
        f"the query was stopped because it needs more memory than the limit of {memory_mb:,} MB; "
        "filter or aggregate earlier, select fewer columns, or ask about a part"
    )


def no_room_to_start() -> QueriesUnavailable:
    """The refusal of every query while the disk has no room for the process's files."""
    return QueriesUnavailable(
        "the disk with the exports is full, and SQL needs a little room there; the user must free "
        "space, or name a folder on another disk as [analytics] folder"
    )


_BY_NAME = {
    error.__name__: error
    for error in (
        QueryError, QueryRefused, UnknownTable, QueryFailed, QueryStopped,
        ResultTooLarge, QueriesUnavailable,
    )
}  # fmt: skip
"""The errors that the child process can send: they have only a message and a hint."""


def as_message(error: MdvecError) -> dict[str, Any]:
    """The JSON message in which the child process sends an error."""
    message = {"error": type(error).__name__, "message": str(error)}
    hint = error.hint if isinstance(error, QueryError) else None
    return message if hint is None else message | {"hint": asdict(hint)}


def error_of(message: Mapping[str, Any]) -> QueryError:
    """The error in a message of the child process."""
    hint = Hint(**message["hint"]) if "hint" in message else None
    return _BY_NAME.get(message["error"], QueryError)(message["message"], hint)
