"""What every ready-made question is: its parameters, and its plan for a table's columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mdvec.datasets import Column, has_dates, is_measured
from mdvec.queries import Bound, Parameter, WrongParameters
from mdvec.sql.core.period import found_column, period_column

_MAX_LISTED = 8
PERIODS = ("day", "week", "month", "quarter", "year")

TABLE = Parameter("table", "text")
MEASURE = Parameter("measure", "text")
DATE_COLUMN = Parameter("date_column", "text", is_optional=True)


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """Our statements over a table, in which ``{source}`` stands for it.

    Attributes:
        sql: returns the rows of the answer.
        facts: returns one row about the table.
        notes: says what matters of the row of ``facts``.
        bound: the values of the parameters of both.
        read: makes the rows of the answer from those of ``sql``; None leaves them.
    """

    sql: str
    facts: str
    notes: Callable[[Sequence[Any]], list[str]]
    bound: Bound
    read: Callable[[list[list[Any]]], tuple[list[str], list[list[Any]]]] | None = None

    def bound_of(self, statement: str) -> Bound:
        """The values of the parameters that a statement has; DuckDB refuses others."""
        return {name: value for name, value in self.bound.items() if f"${name}" in statement}


@dataclass(frozen=True, slots=True)
class ReadyQuestion:
    """A question that needs a table and some of its columns."""

    description: str
    parameters: tuple[Parameter, ...]
    plan: Callable[[Sequence[Column], Bound], QuestionPlan]


def text_value(bound: Bound, name: str) -> str | None:
    """The value of a parameter that is a text; None if it was left out."""
    return str(bound[name][1]) if name in bound else None


def measure_of(columns: Sequence[Column], bound: Bound) -> Column:
    """The column to compute with.

    Raises:
        UnknownColumn, WrongParameters: it does not exist, or holds no numbers.
    """
    column = found_column(columns, str(bound["measure"][1]))
    if not is_measured(column):
        raise WrongParameters(
            f"measure {column.name[:60]!r} is {column.type[:40]}; choose a column of numbers: "
            f"{names_of(columns, is_measured)}"
        )
    return column


def date_column_of(columns: Sequence[Column], bound: Bound, question: str) -> Column:
    """The column of dates: the named one, or the only one.

    Raises:
        UnknownColumn, PeriodRefused, WrongParameters: it does not exist, holds no dates, or there
            are several.
    """
    column = period_column(columns, text_value(bound, "date_column"))
    if column is None:
        raise WrongParameters(
            f"{question} needs date_column, one of: {names_of(columns, has_dates)}"
        )
    return column


def period_of(bound: Bound) -> str:
    """The length of a period.

    Raises:
        WrongParameters: it is none.
    """
    given = str(bound["period"][1]).lower()
    if given not in PERIODS:
        raise WrongParameters(f"period must be one of {', '.join(PERIODS)}, not {given[:40]!r}")
    return given


def names_of(columns: Sequence[Column], fits: Callable[[Column], bool]) -> str:
    """The names of the columns that fit, for a message."""
    names = [column.name[:40] for column in columns if fits(column)]
    more = ", …" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more or "this table has none"
