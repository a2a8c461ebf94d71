"""The view of a trend: a line for each category, that can be hidden, and its months as a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mdvec.charts import colors_of
from mdvec.database import Connection
from mdvec.household import CategoryTrend, Hierarchy, MonthMarks, TrendAnswer, category_hierarchy
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mdvec_mcp.household import names_among
from mdvec_mcp.web.page.bars import MonthChart, chart_of_months
from mdvec_mcp.web.page.households import Household, household_view
from mdvec_mcp.web.page.query import Query
from mdvec_mcp.web.page.views import Views


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A month of a line, in the units of the chart's SVG; no line leads to one that is alone."""

    x: float
    y: float
    month: str
    amount: int
    is_alone: bool


@dataclass(frozen=True, slots=True)
class TrendLine:
    """A category's line, in parts where months between have no data.

    ``dotted`` are the parts that lead to or from a month that is not complete yet.
    """

    name: str
    color: str
    points: tuple[TrendPoint, ...]
    parts: tuple[str, ...]
    dotted: tuple[str, ...]


def routes(views: Views) -> list[Route]:
    """The route of the view."""
    return [views.route("/money/trend", household_view(views, _Trend(views).show))]


@dataclass(frozen=True, slots=True)
class _Trend:
    views: Views

    async def show(self, request: Request, household: Household, query: Query) -> Response:
        """A trend, of the three largest categories if none is named."""

        def work(ledger: Connection, tool_id: int) -> tuple[TrendAnswer, Hierarchy]:
            fields = ("category", "start_month", "end_month", "since", "until", "period")
            given = {name: query.text(name).strip() or None for name in fields}
            answer = self.views.wiring.household.trend(ledger, tool_id, **given)
            return answer, category_hierarchy(ledger, tool_id)

        answer, known = await household.run(work)
        lines, chart = lines_of(answer.series, known, answer.marks)
        return self.views.page(
            request, "trend.html",
            household=household, query=query, answer=answer, lines=lines, chart=chart,
        )  # fmt: skip


def lines_of(
    categories: Sequence[CategoryTrend], known: Hierarchy, marks: MonthMarks
) -> tuple[tuple[TrendLine, ...], MonthChart]:
    """The categories as lines, and the axes of their chart; ``known`` are all of the ledger."""
    months = [str(figure.month) for figure in categories[0].months]
    amounts = {
        str(trend.category): [figure.amount for figure in trend.months] for trend in categories
    }
    running, empty = {str(month) for month in marks.running}, {str(month) for month in marks.empty}
    chart = chart_of_months(months, {}, amounts, running, empty)
    among = names_among([trend.category for trend in categories], known)
    colors = dict(zip(amounts, colors_of(list(amounts), among), strict=True))
    return tuple(
        _line(name, colors[name], _places(months, amounts[name], points), running)
        for name, points in chart.lines
    ), chart


_Place = tuple[str, int, str]
"""A month, its amount, and its point in the chart."""


def _places(
    months: Sequence[str], amounts: Sequence[int | None], drawn: str
) -> list[_Place | None]:
    points = iter(drawn.split())
    return [
        None if amount is None else (month, amount, next(points))
        for month, amount in zip(months, amounts, strict=True)
    ]


def _line(
    name: str, color: str, places: Sequence[_Place | None], running: Collection[str]
) -> TrendLine:
    parts: list[list[str]] = [[]]
    dotted: list[str] = []
    for before, after in pairwise([None, *places]):
        if after is None or before is None:
            parts.append([])
        elif {before[0], after[0]} & set(running):
            dotted.append(f"{before[2]} {after[2]}")
            parts.append([])
        if after is not None:
            parts[-1].append(after[2])
    solid = [" ".join(part) for part in parts if len(part) > 1]
    led_to = {point for part in (*solid, *dotted) for point in part.split()}
    points = []
    for month, amount, point in filter(None, places):
        x, y = map(float, point.split(","))
        points.append(TrendPoint(x, y, month, amount, point not in led_to))
    return TrendLine(name, color, tuple(points), tuple(solid), tuple(dotted))
