"""Saved questions, and checks of the values for their parameters."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

from mdvec.database import Connection, open_database
from mdvec.errors import MdvecError

ParameterType = Literal["text", "integer", "number", "date", "boolean", "any"]
"""``any`` takes a number or a text."""
EXAMPLES = {
    "text": "'Tokyo'", "integer": "12", "number": "1.5", "date": "2025-06-30", "boolean": "true",
    "any": "1.5 or 'Tokyo'",
}  # fmt: skip
_MAX_TEXT = 2_000
_MAX_SHOWN = 60
_INTEGERS = range(-(2**127), 2**128)
"""The integers of SQL, from HUGEINT to UHUGEINT."""
MAX_DIGITS = 38
"""The most digits that a DECIMAL stores exactly."""
ParameterValue = str | int | float
Bound = dict[str, tuple[ParameterType, ParameterValue]]
"""Each parameter's type and value, by its name; a date is ISO text, a fraction its digits.

As in SQL, only a number with an exponent is a float.
"""
SaveMode = Literal["create", "replace", "delete"]
MAX_QUESTION_DESCRIPTION = 500
MAX_QUERIES = 200
_NAME = re.compile(r"[^\W_][\w-]{0,59}")
_MAX_LISTED = 20


class WrongParameters(MdvecError):
    """The values do not fit the parameters; the message shows the right form."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, written ``$name`` in SQL; one with a ``default`` may be left out."""

    name: str
    type: ParameterType
    default: ParameterValue | None = None
    is_optional: bool = False

    def __str__(self) -> str:
        """Its name with its type, or with its default."""
        if self.default is not None:
            return f"{self.name}={self.default}"
        return f"{self.name} ({self.type}{', optional' if self.is_optional else ''})"


def bound(question: str, parameters: Sequence[Parameter], arguments: Mapping[str, object]) -> Bound:
    """The values of all parameters; an optional one without a value is left out.

    ``question`` is its name, for the errors; the names in ``arguments`` may be in any case.

    Raises:
        WrongParameters: a value is missing, unknown, or of another type.
    """
    by_name = {parameter.name.casefold(): parameter for parameter in parameters}
    values = {name.removeprefix("$").casefold(): value for name, value in arguments.items()}
    unknown = [name for name in arguments if name.removeprefix("$").casefold() not in by_name]
    if unknown:
        raise WrongParameters(
            f"{question} has no parameter {unknown[0][:_MAX_SHOWN]!r}; it takes: "
            f"{listed_parameters(parameters)}"
        )
    bound_values: Bound = {}
    for key, parameter in by_name.items():
        value = values.get(key, parameter.default)
        if value is not None:
            if parameter.type == "any":
                parameter = replace(parameter, type=_type_of(question, parameter.name, value))
            read = _check_value(question, parameter, value)
            bound_values[parameter.name] = parameter.type, read
        elif not parameter.is_optional:
            such = "" if parameter.type == "text" else f", such as {EXAMPLES[parameter.type]}"
            raise WrongParameters(
                f"{question} needs {parameter.name} ({parameter.type}{such}); it takes: "
                f"{listed_parameters(parameters)}"
            )
    return bound_values


def _type_of(question: str, name: str, value: object) -> ParameterType:
    """The type of a value for ``any``; a text that looks like a number is ambiguous and refused."""
    if isinstance(value, bool):
        return "boolean"
    number = _number(value)
    if not isinstance(value, str) or number is None:
        return "text" if number is None else "number"
    kind = "DOUBLE"
    if isinstance(number, int):
        kind = "BIGINT" if abs(number) < 2**63 else "HUGEINT" if number < 2**127 else "UHUGEINT"
    elif isinstance(number, Decimal):
        kind = f"DECIMAL({MAX_DIGITS}, {max(10, -int(number.as_tuple().exponent))})"
    raise WrongParameters(
        f"{name} of {question} may be a number or a text; write ${name}::{kind} or "
        f"${name}::VARCHAR in the SQL"
    )


def check_single(arguments: Mapping[str, object]) -> None:
    """Refuse lists and objects, which no parameter takes.

    Raises:
        WrongParameters: there is a list or an object.
    """
    for name, value in arguments.items():
        if isinstance(value, list | tuple | dict):
            plain = name.removeprefix("$")[:_MAX_SHOWN]
            raise WrongParameters(
                f"{plain} is several values, and a parameter is one; write IN (${plain}1, "
                f"${plain}2), with a value for each"
            )


def listed_parameters(parameters: Sequence[Parameter]) -> str:
    """Parameters with their types, for a message."""
    return ", ".join(map(str, parameters)) or "none"


def _check_value(question: str, parameter: Parameter, value: object) -> ParameterValue:
    read = {
        "text": _text, "integer": _integer, "number": _number, "date": _date, "boolean": _boolean,
    }[parameter.type]  # fmt: skip
    converted = read(value)
    shown = str(value)
    shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"
    if isinstance(converted, int | Decimal) and not _is_exact(converted):
        raise WrongParameters(
            f"{parameter.name} of {question} has more than the {MAX_DIGITS} digits that SQL "
            f"keeps; round it, or write it as in 1.5e40, not {shown!r}"
        )
    if converted is None:
        kind = {"integer": "an integer"}.get(parameter.type, f"a {parameter.type}")
        raise WrongParameters(
            f"{parameter.name} of {question} must be {kind}, such as {EXAMPLES[parameter.type]}, "
            f"not {shown!r}"
        )
    return str(converted) if isinstance(converted, Decimal) else converted


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    broken = "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text)
    return None if broken or len(text) > _MAX_TEXT else text


def _integer(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


def _number(value: object) -> int | float | Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or "_" in text:
        return None
    if "e" in text.casefold():
        return float(text) if math.isfinite(float(text)) else None
    return int(number) if text.lstrip("+-").isdecimal() else number


def _is_exact(number: int | Decimal) -> bool:
    """Whether SQL has an exact type that holds the number."""
    if isinstance(number, int):
        return number in _INTEGERS
    _, digits, exponent = number.as_tuple()
    return max(len(digits), -int(exponent)) <= MAX_DIGITS


def _boolean(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(str(value).strip().casefold())


def _date(value: object) -> str | None:
    """A day, or a time, as ISO text."""
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        if len(text) <= len("2025-06-30"):
            return date.fromisoformat(text).isoformat()
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return None


class SavedQueryError(MdvecError):
    """A saved question does not exist, or cannot be saved."""

    is_wrong_usage = True


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A SELECT with a name; each run takes values for its ``$parameters``."""

    name: str
    sql: str
    description: str
    parameters: tuple[Parameter, ...] = ()


def plain_name(name: str) -> str:
    """The name with full-width characters converted to plain ones."""
    return unicodedata.normalize("NFKC", name).strip()


def is_name(plain: str) -> bool:
    """Whether this is a valid name for a question; SQL, such as a SELECT, is not."""
    return _NAME.fullmatch(plain) is not None


def checked_name(name: str, reserved: Collection[str]) -> str:
    """The name as it is stored, with full-width characters converted.

    Raises:
        SavedQueryError: no saved question can have this name.
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
        return _all_saved(connection)


def find_saved(database: Path, name: str, more: Collection[str] = ()) -> SavedQuery:
    """The saved question of that name, in any width; the error also lists ``more`` names to run.

    Raises:
        SavedQueryError: there is none.
        DatabaseError: the database cannot be read.
    """
    plain = plain_name(name)
    by_name = {query.name: query for query in saved_queries(database)}
    if plain not in by_name:
        known = [*by_name, *more]
        shown = ", ".join(known[:_MAX_LISTED]) + (", …" if len(known) > _MAX_LISTED else "")
        there = f"there are: {shown}" if known else "none is saved yet"
        raise SavedQueryError(f"there is no saved question {name[:60]!r}; {there}")
    return by_name[plain]


def save(database: Path, query: SavedQuery, *, replace: bool, how: str = "mode=replace") -> None:
    """Store a question with a checked name; ``how`` is the option that replaces an existing one.

    Raises:
        SavedQueryError: the name is taken and ``replace`` is not set, or there are too many
            questions.
        DatabaseError: the database cannot be written.
    """
    saved_at = datetime.now(UTC).isoformat(timespec="seconds")
    parameters = json.dumps(
        [[parameter.name, parameter.type] for parameter in query.parameters], ensure_ascii=False
    )
    with open_database(database, "write") as connection, connection:
        names = [known.name for known in _all_saved(connection)]
        if query.name in names and not replace:
            raise SavedQueryError(
                f"there is a saved question {query.name} already; take another name, or replace it "
                f"with {how}"
            )
        if query.name not in names and len(names) >= MAX_QUERIES:
            raise SavedQueryError(
                f"{MAX_QUERIES} questions are saved, and no more can be; delete one first"
            )
        connection.execute(
            "INSERT OR REPLACE INTO saved_queries (name, sql, description, parameters, saved_at) "
            "VALUES (?, ?, ?, ?, ?)",
            (query.name, query.sql, query.description, parameters, saved_at),
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


def _all_saved(connection: Connection) -> list[SavedQuery]:
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT name, sql, description, parameters FROM saved_queries ORDER BY name"
    ).fetchall()
    return [
        SavedQuery(
            name,
            sql,
            description,
            tuple(Parameter(*parameter) for parameter in json.loads(parameters)),
        )
        for name, sql, description, parameters in rows
    ]
