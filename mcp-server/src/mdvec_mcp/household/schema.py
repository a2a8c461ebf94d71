"""Output schemas of the household tools, and the functions that fill them.

Every conversation pays for the schemas, so parts that only a chart or one category has are short.
"""

from __future__ import annotations

from typing import Any, Literal

from mdvec.household.core.savings import SavingsTrend
from mdvec.household.core.sums import CategoryShare, CategoryTrend, RowCounts
from mdvec.household.month import HouseholdAnswer
from mdvec.household.trend import TrendAnswer
from pydantic import BaseModel, Field

_COUNTS = "集計した件数（used）と理由別の除いた件数（removed: 新しい明細から消えた行）"
_CHART = "type（描けないときは text）、url（このパソコンでだけ開ける）"


class ShareModel(BaseModel):
    """A category's sum and its share of the total."""

    category: str
    amount: int
    share: float | None = Field(description="%")
    rows: int


class ChartModel(BaseModel):
    """The chart of an answer."""

    type: Literal["image", "text"] = Field(description="描けないときは text")
    url: str | None = Field(description="このパソコンでだけ開ける")
    alt_text: str
    message: str


class MonthlyHouseholdModel(BaseModel):
    """A household's months: sums by category, and a page of rows."""

    understood: str = Field(description="解釈した期間")
    first_day: str
    last_day: str
    first_month: str
    last_month: str
    category: str | None
    spending: int | None = Field(description="支出（円）、返金を引いた額")
    income: int | None
    balance: int | None
    savings_rate: float | None = Field(description="%。category が貯蓄率のときだけ")
    spending_by_category: list[ShareModel]
    income_by_category: list[ShareModel]
    counts: dict[str, int] = Field(description=_COUNTS)
    rows: list[dict[str, Any]] = Field(description="明細、1ページ20件")
    total_rows: int
    page: int
    pages: int
    next_page: int | None
    notes: list[str]
    chart: dict[str, Any] | None = Field(description=_CHART)


def monthly(answer: HouseholdAnswer, chart: ChartModel | None) -> dict[str, Any]:
    """A month's answer in the form of MonthlyHouseholdModel."""
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
        "rows": [{name: _plain(value) for name, value in row.items()} for row in answer.rows],
        "total_rows": answer.total_rows,
        "page": answer.page,
        "pages": answer.pages,
        "next_page": answer.next_page,
        "notes": list(answer.notes),
        "chart": None if chart is None else chart.model_dump(),
    }


def trend(answer: TrendAnswer, chart: ChartModel | None = None) -> dict[str, Any]:
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
        "chart": None if chart is None else chart.model_dump(),
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


def _plain(value: object) -> object:
    """A date as text: JSON has none."""
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
