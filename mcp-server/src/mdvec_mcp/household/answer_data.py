"""Answers as data: the library's dataclasses as JSON, where one was asked for with the chart.

Their texts are left out: they are beside the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from mdvec.household import (
    AccountsAnswer,
    AnomaliesAnswer,
    BudgetAnswer,
    BudgetSet,
    CombinedAnswer,
    ComparisonAnswer,
    CostsAnswer,
    ExpenseList,
    ForecastAnswer,
    HouseholdAnswer,
    MappingAnswer,
    NetWorthAnswer,
    NotesAnswer,
    RecurringAnswer,
    RuleChange,
    RuleList,
    RuleTrial,
    TrendAnswer,
    aliases,
)
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class ChartEntry:
    """The chart of an answer: ``type`` is "image", or "text" where it could not be drawn.

    The ``url`` opens on this machine only.
    """

    type: str
    url: str | None
    alt_text: str
    message: str


@dataclass(frozen=True, slots=True)
class DrawnMonth(HouseholdAnswer):
    """A period's sums with their chart, which is null where none was asked for."""

    chart: ChartEntry | None = None


@dataclass(frozen=True, slots=True)
class DrawnTrend(TrendAnswer):
    """A trend with its chart, which is null where none was asked for."""

    chart: ChartEntry | None = None


@dataclass(frozen=True, slots=True)
class DrawnBudgets(BudgetAnswer):
    """Budgets with their chart, which is null where none was asked for."""

    chart: ChartEntry | None = None


@dataclass(frozen=True, slots=True)
class DrawnComparison(ComparisonAnswer):
    """A comparison with its chart, which is null where none was asked for."""

    chart: ChartEntry | None = None


@dataclass(frozen=True, slots=True)
class DrawnNetWorth(NetWorthAnswer):
    """Net worth with its chart, which is null where none was asked for."""

    chart: ChartEntry | None = None


ReportAnswer = (
    DrawnComparison
    | DrawnBudgets
    | CostsAnswer
    | ExpenseList
    | RecurringAnswer
    | ForecastAnswer
    | AnomaliesAnswer
    | CombinedAnswer
    | DrawnNetWorth
    | RuleList
    | NotesAnswer
    | MappingAnswer
    | AccountsAnswer
)
"""What ``household_report`` answers with."""
EditAnswer = (
    BudgetSet | RuleTrial | RuleChange | RuleList | NotesAnswer | MappingAnswer
    | aliases.AliasTrial | aliases.AliasList
)  # fmt: skip
"""What ``edit_household`` answers with."""


def drawn(kind: Callable[..., D], answer: DataclassInstance, chart: ChartEntry | None = None) -> D:
    """The answer as a dataclass of its fields and a chart."""
    own = {field.name: getattr(answer, field.name) for field in fields(answer)}
    return kind(**own, chart=chart)


def json_of(answer: DataclassInstance, newer: str = "") -> dict[str, Any]:
    """An answer as JSON; ``newer`` are lines after its text, which join its notes."""
    data: dict[str, Any] = _adapter(type(answer)).dump_python(answer, mode="json")
    if newer:
        data["notes"] += newer.split("\n")[1:]
    return data


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
