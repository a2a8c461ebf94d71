"""Saves, lists and deletes questions; each name is unique in the database."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from mdvec.database import Connection, open_database
from mdvec.errors import MdvecError
from mdvec.queries.parameters import Parameter

SaveMode = Literal["create", "replace", "delete"]
MAX_QUESTION_DESCRIPTION = 500
MAX_QUERIES = 200
_NAME = re.compile(r"[^\W_][\w-]{0,59}")
_MAX_LISTED = 20


class SavedQueryError(MdvecError):
    """A saved question does not exist, or cannot be saved."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A SELECT with a name; values for its ``$parameters`` are given each time it is run."""

    name: str
    sql: str
    description: str
    parameters: tuple[Parameter, ...] = ()


def plain_name(name: str) -> str:
    """The name as questions have it: full-width signs become plain."""
    return unicodedata.normalize("NFKC", name).strip()


def is_name(plain: str) -> bool:
    """Whether a question may be called so; no SELECT may."""
    return _NAME.fullmatch(plain) is not None


def checked_name(name: str, reserved: Collection[str]) -> str:
    """The name as it is stored: full-width signs become plain.

    Raises:
        SavedQueryError: no saved question can have it.
    """
    plain = plain_name(name)
    if plain in reserved:
        raise SavedQueryError(f"{plain} is a ready-made question; take another name")
    if not is_name(plain):
        raise SavedQueryError(
            f"no question can be called {name[:60]!r}; use up to 60 letters, digits, _ and -, and "
            "begin with a letter or digit, as in monthly_sales"
        )
    return plain


def saved_queries(database: Path) -> list[SavedQuery]:
    """Every saved question, by name.

    Raises:
        DatabaseError: the database cannot be read.
    """
    with open_database(database, "read") as connection:
        return _all(connection)


def find_saved(database: Path, name: str, more: Collection[str] = ()) -> SavedQuery:
    """The saved question of that name.

    Args:
        database: the database file.
        name: in any width.
        more: other names that can be run, for the error's message.

    Raises:
        SavedQueryError: there is none.
        DatabaseError: the database cannot be read.
    """
    plain = plain_name(name)
    found = {query.name: query for query in saved_queries(database)}
    if plain not in found:
        raise _unknown(name, [*found, *more])
    return found[plain]


def save(database: Path, query: SavedQuery, *, replace: bool) -> None:
    """Store a question, whose name was checked.

    Raises:
        SavedQueryError: there is one of its name and ``replace`` is not set, or there are too many.
        DatabaseError: the database cannot be written.
    """
    parameters = json.dumps([[one.name, one.type] for one in query.parameters], ensure_ascii=False)
    with open_database(database, "write") as connection, connection:
        names = [known.name for known in _all(connection)]
        if query.name in names and not replace:
            raise SavedQueryError(
                f"there is a saved question {query.name} already; take another name, or replace it "
                "with mode=replace (mdvec query --replace)"
            )
        if query.name not in names and len(names) >= MAX_QUERIES:
            raise SavedQueryError(
                f"{MAX_QUERIES} questions are saved, and no more can be; delete one first"
            )
        connection.execute(
            "INSERT OR REPLACE INTO saved_queries (name, sql, description, parameters, saved_at) "
            "VALUES (?, ?, ?, ?, ?)",
            (query.name, query.sql, query.description, parameters, _now()),
        )


def delete(database: Path, name: str) -> str:
    """Delete the question of that name; return its name as it was stored.

    Raises:
        SavedQueryError: there is none.
        DatabaseError: the database cannot be written.
    """
    stored = find_saved(database, name).name
    with open_database(database, "write") as connection, connection:
        connection.execute("DELETE FROM saved_queries WHERE name = ?", (stored,))
    return stored


def _all(connection: Connection) -> list[SavedQuery]:
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT name, sql, description, parameters FROM saved_queries ORDER BY name"
    ).fetchall()
    return [
        SavedQuery(name, sql, description, tuple(Parameter(*one) for one in json.loads(parameters)))
        for name, sql, description, parameters in rows
    ]


def _unknown(name: str, known: list[str]) -> SavedQueryError:
    shown = ", ".join(known[:_MAX_LISTED]) + (", …" if len(known) > _MAX_LISTED else "")
    there = f"there are: {shown}" if known else "none is saved yet"
    return SavedQueryError(f"there is no saved question {name[:60]!r}; {there}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
