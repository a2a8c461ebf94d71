"""Finds columns by name, and turns ranges of dates into SQL conditions on them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from mdvec.datasets import Column, has_dates
from mdvec.dates import parse_dated
from mdvec.errors import MdvecError
from mdvec.sql.core.statement import fold
from mdvec.text import cited, identifier, some_of

Cell = Any
"""A value in a result row; its type depends on the SQL."""


class UnknownColumn(MdvecError):
    """The table or query has no column of that name."""

    def __init__(self, name: str, columns: Sequence[Column]) -> None:
        names = some_of([cited(column.name[:40]) for column in columns], 15)
        super().__init__(f"there is no column {cited(name[:60])}; there are: {names}")


def found_column(columns: Sequence[Column], name: str) -> Column:
    """The column of that name; as in DuckDB, the case of ASCII letters is ignored.

    Raises:
        UnknownColumn: it does not exist.
    """
    for same in (str, fold):
        for column in columns:
            if same(column.name) == same(name):
                return column
    raise UnknownColumn(name, columns)


class PeriodRefused(MdvecError):
    """The range of dates cannot be applied."""


def within(column: Column, first: str, last: str) -> str:
    """SQL: whether a row is in a range of dates, including both ends.

    An end without a time is a whole day, month or year.

    Raises:
        PeriodRefused: an end is not a date, or the last is before the first.
    """
    begin, end = _moment(first)[0], _moment(last)[1]
    if begin >= end:
        raise PeriodRefused(f"date_range ends ({last[:40]}) before it begins ({first[:40]})")
    name, bounds = identifier(column.name), (_literal(begin), _literal(end))
    if column.type == "TIMESTAMP WITH TIME ZONE":
        bounds = (_with_zone(begin, first), _with_zone(end, last))
    return f"{name} >= {bounds[0]} AND {name} < {bounds[1]}"


def period_column(columns: Sequence[Column], name: str | None) -> Column | None:
    """The column of dates: the named one, or else the only one with dates.

    None if there is none, or several.

    Raises:
        UnknownColumn: no column has that name.
        PeriodRefused: it holds no dates.
    """
    candidates = [column for column in columns if has_dates(column)]
    if name is None:
        return candidates[0] if len(candidates) == 1 else None
    dated = found_column(columns, name)
    if not has_dates(dated):
        raise PeriodRefused(
            f"date_column {cited(name[:60])} is {dated.type[:40]}, neither a date nor a timestamp; "
            f"{_choice(candidates)}"
        )
    return dated


def required_column(columns: Sequence[Column], name: str | None) -> Column:
    """The column that ``date_range`` applies to.

    Raises:
        UnknownColumn, PeriodRefused: it does not exist, holds no dates, or is ambiguous.
    """
    dated = period_column(columns, name)
    if dated is None:
        candidates = [column for column in columns if has_dates(column)]
        raise PeriodRefused(f"date_range needs a date column: {_choice(candidates)}")
    return dated


def _choice(candidates: Sequence[Column]) -> str:
    if not candidates:
        return "no column holds dates or timestamps; leave date_range out, or cast one in a query"
    names = ", ".join(cited(column.name) for column in candidates[:8])
    return f"say date_column, one of: {names}"


def _moment(text: str) -> tuple[datetime, datetime]:
    """The start and the exclusive end of the time that ``text`` names; in UTC if it has a zone."""
    if days := parse_dated(text):
        step = timedelta(days=1)
        begin, last = (datetime.combine(day, time()) for day in (days.first, days.last))
    else:
        begin = last = _time_of(text)
        step = timedelta(microseconds=1)
    try:
        return begin, last + step
    except OverflowError:
        return begin, datetime.max  # noqa: DTZ901 - in the zone of the column


def _time_of(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError) as error:
        raise PeriodRefused(
            "date_range takes two dates like '2025-01-31' or '2025-01', or times like "
            f"'2025-01-31T12:00:00', not {text[:40]!r}"
        ) from error


def _with_zone(moment: datetime, text: str) -> str:
    """SQL for an instant: in UTC if ``text`` has a zone, else in the session's time zone."""
    has_zone = not parse_dated(text) and datetime.fromisoformat(text.strip()).tzinfo is not None
    return f"TIMESTAMPTZ '{moment.isoformat(sep=' ')}{'+00' if has_zone else ''}'"


def _literal(moment: datetime) -> str:
    return f"TIMESTAMP '{moment.isoformat(sep=' ')}'"
