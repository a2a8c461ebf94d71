"""The parameters of a saved question, and the values given for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, get_args

from mdvec.errors import MdvecError

ParameterType = Literal["text", "integer", "number", "date"]
TYPES: tuple[ParameterType, ...] = get_args(ParameterType)
EXAMPLES = {"text": "'Tokyo'", "integer": "12", "number": "1.5", "date": "2025-06-30"}
_MAX_TEXT = 2_000
_MAX_SHOWN = 60
_MAX_INTEGER = 2**63
ParameterValue = str | int | float
Bound = dict[str, tuple[ParameterType, ParameterValue]]
"""Each parameter's type and value, by its name; a date is ISO text."""


class WrongParameters(MdvecError):
    """The values do not fit the parameters; the message has the right form."""

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


def bound(question: str, parameters: Sequence[Parameter], given: Mapping[str, object]) -> Bound:
    """The values of all parameters; an optional one without a value is left out.

    Args:
        question: the question's name, for the errors.
        parameters: of the question.
        given: their values, by names in any case.

    Raises:
        WrongParameters: one is missing, unknown, or of another type.
    """
    by_name = {parameter.name.casefold(): parameter for parameter in parameters}
    values = {name.removeprefix("$").casefold(): value for name, value in given.items()}
    unknown = [name for name in given if name.removeprefix("$").casefold() not in by_name]
    if unknown:
        raise WrongParameters(
            f"{question} has no parameter {unknown[0][:_MAX_SHOWN]!r}; it takes: "
            f"{listed_parameters(parameters)}"
        )
    found: Bound = {}
    for key, parameter in by_name.items():
        value = values.get(key, parameter.default)
        if value is not None:
            found[parameter.name] = parameter.type, _checked(question, parameter, value)
        elif not parameter.is_optional:
            raise WrongParameters(
                f"{question} needs {parameter.name} ({parameter.type}, such as "
                f"{EXAMPLES[parameter.type]}); it takes: {listed_parameters(parameters)}"
            )
    return found


def listed_parameters(parameters: Sequence[Parameter]) -> str:
    """Parameters with their types, for a message."""
    return ", ".join(map(str, parameters)) or "none"


def _checked(question: str, parameter: Parameter, value: object) -> ParameterValue:
    read = {"text": _text, "integer": _integer, "number": _number, "date": _date}[parameter.type]
    found = read(value)
    if found is None:
        shown = str(value)
        shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"
        kind = {"integer": "an integer"}.get(parameter.type, f"a {parameter.type}")
        raise WrongParameters(
            f"{parameter.name} of {question} must be {kind}, such as {EXAMPLES[parameter.type]}, "
            f"not {shown!r}"
        )
    return found


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    broken = "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text)
    return None if broken or len(text) > _MAX_TEXT else text


def _integer(value: object) -> int | None:
    found = _number(value)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    return found if isinstance(found, int) and abs(found) < _MAX_INTEGER else None


def _number(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        if isinstance(value, int) or (
            isinstance(value, str) and value.strip().lstrip("+-").isdecimal()
        ):
            whole = int(value)
            return whole if abs(whole) < _MAX_INTEGER else None
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) and "_" not in str(value) else None


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
