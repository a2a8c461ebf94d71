"""Turns the library's answers into JSON for structured results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from types import NoneType
from typing import Any

from mdvec.dates.days import Days
from mdvec.dates.months import Month, MonthRange
from mdvec.household.core.categories import Category

_SCALARS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((bool, int, float, str, NoneType), lambda value: value),
    (date, date.isoformat),
    (Decimal, float),
    (MonthRange, lambda months: [str(months.first), str(months.last)]),
    (Month, str),
    (Days, lambda days: [days.first.isoformat(), days.last.isoformat()]),
)


def json_value(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A value of an answer as JSON has it: dates and months as text, percentages as numbers.

    The text of an answer is left out: it is beside the structured result.
    """
    for kinds, as_json in _SCALARS:
        if isinstance(value, kinds):
            return as_json(value)
    if hasattr(value, "_asdict"):
        return json_value(value._asdict())
    if isinstance(value, dict):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    if is_dataclass(value) and not isinstance(value, Category):
        names = (field.name for field in fields(value) if field.name != "text")
        return {name: json_value(getattr(value, name)) for name in names}
    return str(value)
