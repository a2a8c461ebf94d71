"""Turns the library's answers into JSON for structured results, which repeat what the text says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from datetime import date
from decimal import Decimal
from types import NoneType
from typing import Any

from mdvec.dates.days import Days
from mdvec.dates.months import Month, MonthRange
from mdvec.household.comparison import ComparisonAnswer
from mdvec.household.core.categories import Category
from mdvec.household.core.found import FoundAnswer, FoundGroup
from mdvec.household.core.habit_wording import as_shown
from mdvec.household.core.movement_wording import MAX_ROWS
from mdvec.household.core.savings import SavingsTrend
from mdvec.household.core.sums import CategoryShare, CategoryTrend, RowCounts
from mdvec.household.habits import RecurringAnswer
from mdvec.household.month import HouseholdAnswer, row_fields
from mdvec.household.trend import TrendAnswer


@dataclass(frozen=True, slots=True)
class ChartEntry:
    """The chart of an answer: ``type`` is "image", or "text" where it could not be drawn.

    The ``url`` opens on this machine only.
    """

    type: str
    url: str | None
    alt_text: str
    message: str


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


def monthly(answer: HouseholdAnswer, chart: ChartEntry | None) -> dict[str, Any]:
    """A month's sums by category, and a page of its rows."""
    return {
        "understood": answer.understood,
        "first_day": answer.days.first.isoformat(),
        "last_day": answer.days.last.isoformat(),
        "first_month": str(answer.months.first),
        "last_month": str(answer.months.last),
        "category": None if answer.category is None else str(answer.category),
        "spending": answer.spending,
        "income": answer.income,
        "balance": answer.balance,
        "savings_rate": _percentage(answer.savings_rate),
        "spending_by_category": [_share(share) for share in answer.spending_by_category],
        "income_by_category": [_share(share) for share in answer.income_by_category],
        "counts": _counts(answer.counts),
        "rows": json_value(answer.rows),
        "total_rows": answer.total_rows,
        "page": answer.page,
        "pages": answer.pages,
        "next_page": answer.next_page,
        "notes": list(answer.notes),
        "chart": None if chart is None else asdict(chart),
    }


def trend(answer: TrendAnswer, chart: ChartEntry | None = None) -> dict[str, Any]:
    """A trend as JSON: each category with its months, and the savings rate if that was asked."""
    return {
        "understood": answer.understood,
        "first_month": str(answer.months.first),
        "last_month": str(answer.months.last),
        "categories": [_trend(category) for category in answer.categories],
        "running": [str(month) for month in answer.marks.running],
        "empty": [str(month) for month in answer.marks.empty],
        "savings": None if answer.savings is None else _savings(answer.savings),
        "counts": _counts(answer.counts),
        "notes": list(answer.notes),
        "chart": None if chart is None else asdict(chart),
    }


def comparison(answer: ComparisonAnswer, *, is_full: bool) -> Any:  # noqa: ANN401 - JSON
    """A comparison with the rows that its text shows."""
    most = MAX_ROWS if is_full else 0
    shown = tuple(
        replace(one, added=one.added[:most], gone=one.gone[:most]) for one in answer.movements
    )
    return json_value(replace(answer, movements=shown))


def recurring(answer: RecurringAnswer) -> Any:  # noqa: ANN401 - JSON
    """The recurring payments with what their lines show."""
    shown = tuple(as_shown(one, answer.as_of) for one in answer.payments)
    return json_value(replace(answer, payments=shown))


def found(answer: FoundAnswer) -> dict[str, Any]:
    """The rows found; all sums are over every page, in yen, spending less refunds."""
    groups = [*answer.groups]
    if answer.other_groups is not None:
        groups.append(FoundGroup("そのほか", answer.other_groups))
    return {
        "understood": answer.understood,
        "total_rows": answer.totals.rows,
        "spending": answer.totals.spending,
        "income": answer.totals.income,
        "balance": answer.totals.balance,
        "left_out": answer.left_out,
        "groups": [
            {
                "name": group.name,
                "rows": group.totals.rows,
                "spending": group.totals.spending,
                "income": group.totals.income,
            }
            for group in groups
        ],
        "rows": [row_fields(row, answer.noted.get(row.id)) for row in answer.rows],
        "page": answer.paging.number,
        "pages": answer.paging.pages,
        "next_page": answer.paging.next,
        "notes": list(answer.notes),
    }


def _trend(category: CategoryTrend) -> dict[str, Any]:
    return {
        "category": str(category.category),
        "total": category.total,
        "months": [
            {
                "month": str(figure.month),
                "amount": figure.amount,
                "month_over_month": _percentage(figure.change_from_month_before),
                "year_over_year": _percentage(figure.change_from_year_before),
                "moving_average": figure.moving_average,
            }
            for figure in category.months
        ],
    }


def _savings(savings: SavingsTrend) -> dict[str, Any]:
    return {
        "rate": _percentage(savings.rate),
        "months": [
            {
                "month": str(one.month),
                "income": one.income,
                "spending": one.spending,
                "rate": _percentage(one.rate),
            }
            for one in savings.months
        ],
    }


def _share(share: CategoryShare) -> dict[str, Any]:
    return {
        "category": str(share.category),
        "amount": share.amount,
        "share": _percentage(share.share),
        "rows": share.rows,
    }


def _counts(counts: RowCounts) -> dict[str, int]:
    left = counts.left_out
    return {
        "used": counts.used,
        "not_target": left.not_target,
        "transfer": left.transfer,
        "duplicate": left.duplicate,
        "no_amount": left.no_amount,
        "no_category": left.no_category,
        "removed": left.removed,
    }


def _percentage(value: object) -> float | None:
    return None if value is None else float(str(value))
