"""Which column of a file has the day that counts, and how its days are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Pairs
from dataclasses import replace
from datetime import date

from mdvec.household.core.cells import is_date, number_in
from mdvec.household.core.column_questions import Undecided
from mdvec.household.core.column_roles import dates_named, is_day_of_bill, is_day_of_use
from mdvec.household.core.mapped_rows import MappedRows, read_mapped
from mdvec.household.core.mapping import DATE_FORMATS, MappedColumn, Mapping
from mdvec.household.core.open_columns import OpenColumn, Records

OtherDays = Pairs[tuple[MappedColumn, ...], tuple[date, date] | None]
"""Columns by which all rows have days as well, with the first pair of days that differ.

A pair is the row's day by the mapping, and by those columns.
"""
_WRITTEN_IN_DIGITS = len("20250701")


def ways_to_read_days(mapping: Mapping, records: Records, until: date) -> list[str]:
    """Each way to read the most days, none after ``until``: its first day, and the date format."""
    ways: dict[tuple[date, ...], str] = {}
    for date_format in DATE_FORMATS:
        read = read_mapped(replace(mapping, date_format=date_format), records)
        days = tuple(row.date for row in read.rows)
        if days and max(days) <= until:
            ways.setdefault(days, f"{days[0]} {date_format}")
    most = max(map(len, ways), default=0)
    return [way for days, way in ways.items() if len(days) == most]


def about_days(mapping: Mapping, ways: Sequence[str]) -> Undecided:
    """Ask which of these ways to read the days is right."""
    return Undecided("days", ", ".join(map(str, mapping.date)), ", ".join(ways))


def other_days(
    mapping: Mapping, columns: Sequence[OpenColumn], records: Records, read: MappedRows
) -> OtherDays:
    """The columns of days that the mapping does not take; what is in them tells them, or a name."""
    texts = {*mapping.description, *mapping.memo, mapping.amount}
    left = [column for column in columns if column.key not in texts]
    keys: list[tuple[MappedColumn, ...]] = [*dates_named([column.name for column in left])]
    named = {name for key in keys for name in key}
    keys += [
        (column.key,)
        for column in left
        if column.name not in named and not is_day_of_bill(column.name)
        if all(is_date(cell, mapping.date_format) for cell in column.cells)
        if all(len(cell) == _WRITTEN_IN_DIGITS or number_in(cell) is None for cell in column.cells)
    ]
    found: dict[tuple[MappedColumn, ...], tuple[date, date] | None] = {}
    for key in keys:
        other = read_mapped(replace(mapping, date=key), records)
        if [row.line for row in other.rows] == [row.line for row in read.rows]:
            days = [(row.date, its.date) for row, its in zip(read.rows, other.rows, strict=True)]
            found[key] = next((pair for pair in days if pair[0] != pair[1]), None)
    return found


def about_other_days(mapping: Mapping, days: OtherDays) -> Iterator[Undecided]:
    """Ask which column has the day that counts, if a further one has other days.

    A day of use counts before one of which the name says nothing, and a column that is named as
    the day (日付) before one that is not (登録日).
    """
    is_named, is_of_use = _is_named(mapping.date), is_day_of_use(mapping.date)
    for columns, differing in days.items():
        is_second = is_named and not _is_named(columns)
        is_second |= is_of_use and not is_day_of_use(columns)
        if differing is not None and not is_second:
            choices = zip((mapping.date, columns), differing, strict=True)
            shown = " / ".join(
                f"date = {json.dumps(names if names[1:] else names[0], ensure_ascii=False)} ({day})"
                for names, day in choices
            )
            yield Undecided("other-days", ", ".join(map(str, columns)), shown)


def _is_named(columns: Sequence[MappedColumn]) -> bool:
    return bool(dates_named([*map(str, columns)]))
