"""The edges of a histogram's bins, for SQL and for the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from mdvec.datasets.core.columns import Column
from mdvec.datasets.core.families import decimals, family, may_be_infinite
from mdvec.text.quoting import identifier, literal

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - DuckDB's timestamps without a zone
_MILLISECOND, _SECOND, _MINUTE, _HOUR = 1_000, 1_000_000, 60_000_000, 3_600_000_000
_ROUND_TIMES = (24 * _HOUR, _HOUR, _MINUTE, _SECOND, _MILLISECOND)
_TOLD_TO = {_MINUTE: "minutes", _SECOND: "seconds", _MILLISECOND: "milliseconds"}
_ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
_MIN_DIGITS, _MAX_DIGITS = 6, 17
_EXACTLY = Context(prec=60)


@dataclass(frozen=True, slots=True)
class Scale:
    """The SQL with which a column's values are compared with edges.

    ``value`` is the SQL for a value, ``finite`` for whether a bin can hold it, and ``type`` the
    common type of values and edges, so that no comparison rounds.
    """

    value: str
    finite: str
    type: str

    def bound(self, edge: str) -> str:
        """An edge in SQL."""
        return f"CAST({literal(edge)} AS {self.type})"


def scale_of(column: Column) -> Scale:
    """The scale of a column whose family is integer, number, date or timestamp."""
    name = identifier(column.name)
    if column.type in _ZONED:  # as the clocks show it, so that bins begin at local days
        name = f"CAST(CAST({name} AS TIMESTAMP WITH TIME ZONE) AS TIMESTAMP)"
    finite = f"isfinite({name})"
    match family(column):
        case "date":
            return Scale(f"({name} - DATE '1970-01-01')", finite, "BIGINT")
        case "timestamp":
            return Scale(f"epoch_us({name})", finite, "BIGINT")
    if may_be_infinite(column):
        return Scale(f"CAST({name} AS DOUBLE)", finite, "DOUBLE")
    return Scale(name, "true", column.type)


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges in order, each as text for SQL and as JSON for the answer."""

    exact: tuple[str, ...]
    told: tuple[Any, ...]


def edges_between(column: Column, low: Decimal, high: Decimal, bins: int) -> Edges:
    """The edges of at most ``bins`` bins of equal width over all values from ``low`` to ``high``.

    The first edge is at most ``low``, the last at least ``high``. Days, integers and decimals get
    bins of a whole number of steps, so that every bin can hold equally many values. Floats get
    edges with enough digits to differ; times get round edges where that loses no bin.
    """
    if may_be_infinite(column):
        numbers = _number_edges(float(low), float(high), bins)
        return Edges(tuple(map(repr, numbers)), tuple(map(_whole, numbers)))
    places = decimals(column)
    first, last = (int(end.scaleb(places, _EXACTLY)) for end in (low, high))
    if family(column) == "timestamp":
        steps = _steps(first, last, bins, _unit(first, last, bins))
        return Edges(tuple(map(str, steps)), _moments(steps))
    steps = _steps(first, last, bins, 1)
    exact = tuple(f"{Decimal(step).scaleb(-places, _EXACTLY):f}" for step in steps)
    told = (_told(column, step, text) for step, text in zip(steps, exact, strict=True))
    return Edges(exact, tuple(told))


def _steps(first: int, last: int, bins: int, unit: int) -> range:
    """Edges at multiples of a unit, equally far apart."""
    first -= first % unit
    width = (last - first + bins) // bins
    width += -width % unit
    return range(first, last + width + 1, width)


def _unit(first: int, last: int, bins: int) -> int:
    """The unit of edges of times: the largest that loses no bin, or else seconds."""
    width = (last - first) // bins
    fine = next((unit for unit in _ROUND_TIMES if unit * bins <= width), 1)
    return max(fine, _SECOND) if width >= _SECOND else fine


def _told(column: Column, step: int, text: str) -> Any:  # noqa: ANN401 - JSON
    match family(column):
        case "integer":
            return step
        case "date":
            return _day(step)
    # Where a number of JSON would lose digits, the text keeps them.
    return _whole(float(text)) if Decimal(repr(float(text))) == Decimal(text) else text


def _number_edges(low: float, high: float, bins: int) -> list[float]:
    """Edges with enough digits to differ from each other, the outer ones rounded outwards."""
    if low == high:
        return [low, high]
    span = Fraction(high) - Fraction(low)
    ratio = max(abs(Fraction(low)), abs(Fraction(high))) * bins / span
    digits = min(max(3 + len(str(math.ceil(ratio))), _MIN_DIGITS), _MAX_DIGITS)
    inner = (float(Fraction(low) + span * at / bins) for at in range(1, bins))
    short = (float(f"{edge:.{digits}g}") for edge in inner)
    begin = _outwards(low, digits, ROUND_FLOOR)
    end = _outwards(high, digits, ROUND_CEILING)
    # Between neighbouring floats there is no room for an edge.
    between = {edge for edge in short if begin < edge < end}
    return [begin, *sorted(between), end]


def _outwards(value: float, digits: int, rounding: str) -> float:
    """The value rounded outwards to some digits; itself where that is not a finite number."""
    short = float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(value)))
    outside = short <= value if rounding == ROUND_FLOOR else short >= value
    return short if outside and math.isfinite(short) else value


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _day(number: int) -> str:
    try:
        return (date(1970, 1, 1) + timedelta(days=number)).isoformat()
    except OverflowError:
        return f"{number} days after 1970-01-01"


def _moments(steps: range) -> tuple[str, ...]:
    """Times in the shortest form in which all are exact."""
    units = (unit for unit in _TOLD_TO if not (steps.start % unit or steps.step % unit))
    told_to = _TOLD_TO.get(next(units, 1), "microseconds")
    return tuple(_moment(step, told_to) for step in steps)


def _moment(microseconds: int, told_to: str) -> str:
    try:
        moment = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs after 1970-01-01"
    return moment.isoformat(timespec=told_to)
