"""The views of a household's money: the sums, categories and shops of a period, and trends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from mdvec import household
from mdvec.charts import colors_of
from mdvec.dates import MonthRange, PeriodContext, parse_period
from mdvec.errors import MdvecError
from mdvec.household import (
    Category,
    CategoryTrend,
    Hierarchy,
    HouseholdAnswer,
    Ledger,
    Subject,
    Total,
    TrendAnswer,
)
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.household import month_chart, names_among, trend_chart
from mdvec_mcp.web.page import data_view
from mdvec_mcp.web.page.bars import MonthChart, Point, chart_of_months
from mdvec_mcp.web.page.households import Household, household_view
from mdvec_mcp.web.page.views import Periods, Views, page_or_last, periods_around

_YEAR = 12
_MAX_SIDE_BY_SIDE = 24
_SHOPS = 20


@dataclass(frozen=True, slots=True)
class Money:
    """The contents of the view: a period and, if chosen, a category and a shop; a page of rows.

    ``trend`` is the trend of the category, or of income and spending; ``year_before`` has the
    category's amounts a year earlier, by month. ``colors`` are by name, chosen among all ``known``
    categories. ``matrix`` has the months of each category, if all categories and several months are
    shown.
    """

    page: int
    answer: HouseholdAnswer
    rate: object
    known: Hierarchy
    colors: dict[str, str]
    shares: tuple[household.CategoryShare, ...]
    trend: TrendAnswer
    year_before: dict[str, int | None]
    chart: MonthChart
    matrix: tuple[CategoryTrend, ...]
    dearest: Dearest | None
    periods: Periods
    shops: household.ShopSums
    shop: str | None
    rows: tuple[household.Transaction, ...]
    total_rows: int

    @property
    def sign(self) -> int:
        """The factor that makes a shop's sum positive."""
        subject = self.answer.category
        return 1 if isinstance(subject, Category) and subject.is_income else -1

    @property
    def counts(self) -> str:
        """The number of rows in the sums, and of those left out with reasons."""
        return household.counts_text(self.answer.counts)

    @property
    def pages(self) -> int:
        """The number of pages of the rows."""
        return max(1, -(-self.total_rows // household.PAGE_SIZE))


def routes(views: Views) -> list[Route]:
    """The routes of the view and of its downloads."""
    files = {
        "categories.csv": categories_csv, "months.csv": months_csv, "matrix.csv": matrix_csv,
        "chart": chart,
    }  # fmt: skip
    return [
        views.route("/money", household_view(show), has_form=True),
        views.route("/money/trend", household_view(show_trend), has_form=True),
        *(
            views.route(f"/money/{name}", household_view(answer, is_needed=True))
            for name, answer in files.items()
        ),
    ]


async def show(visit: Household) -> Response:
    """Show a period; dates from the calendar redirect to the address of their period."""
    query = visit.query
    since, until = query.text("since"), query.text("until")
    if since or until:
        ends = f"{since}..{until}" if since and until else f"{since}から" * bool(since)
        span = ends or f"{until}まで"
        same = query.with_(since=None, until=None, page=None, period=span)
        return RedirectResponse(f"/money?{same}", 303)
    money = await _read(visit)
    return visit.page(
        "money.html", money=money, page=money.page,
        words=("今月", "先月", "直近3か月", "直近12か月", "今年", "去年", "今年度", "去年の夏"),
    )  # fmt: skip


async def categories_csv(visit: Household) -> Response:
    """The categories of a period as CSV."""
    money = await _read(visit)
    rows = [(str(part.category), part.amount, part.share, part.rows) for part in money.shares]
    return data_view.csv_file("categories", ("category", "yen", "percent", "rows"), rows)


async def months_csv(visit: Household) -> Response:
    """The months of a period as CSV."""
    money = await _read(visit)
    columns = [trend.category for trend in money.trend.series]
    rows = [
        (str(months[0].month), *(figure.amount for figure in months))
        for months in zip(*(trend.months for trend in money.trend.series), strict=True)
    ]
    return data_view.csv_file("months", ("month", *map(str, columns)), rows)


async def matrix_csv(visit: Household) -> Response:
    """The months of each category as CSV."""
    money = await _read(visit)
    months = [str(figure.month) for figure in money.matrix[0].months] if money.matrix else []
    rows = [
        (str(trend.category), *(each.amount for each in trend.months)) for trend in money.matrix
    ]
    return data_view.csv_file("categories-by-month", ("category", *months), rows)


async def chart(visit: Household) -> Response:
    """The chart of the months, or of the categories, as PNG or SVG."""
    money = await _read(visit)
    if visit.query.text("of") == "categories":
        pie = partial(month_chart, money.answer, None, money.known)
        return await data_view.drawing(visit, "categories", pie)
    trend = money.trend
    if trend.savings is not None:  # income and spending, as in the view
        trend = replace(trend, savings=None, categories=trend.behind_savings[:2])
    line = partial(trend_chart, trend, None, money.known)
    return await data_view.drawing(visit, "months", line)


async def _read(visit: Household) -> Money:
    return await visit.read(partial(_money, visit))


def _money(visit: Household, ledger: Ledger) -> Money:
    return page_or_last(visit.query, partial(_money_at, visit, ledger))


def _money_at(visit: Household, ledger: Ledger, page: int) -> Money:
    query = visit.query
    period, named = query.text("period").strip() or None, query.text("category") or None
    shop = query.text("shop") if "shop" in query else None
    answer = household.monthly_household(
        ledger, period=period, category=named, page=1 if shop is not None else page
    )
    subject = answer.category
    # Shops of the category, else of all spending.
    shops_of = subject if isinstance(subject, Category) else Total.SPENDING
    known = household.category_hierarchy(ledger)
    trend = _trend(visit, ledger, answer.months, subject)
    year_before = _year_before(visit, ledger, answer.months, subject)
    rows: tuple[household.Transaction, ...] = ()
    total_rows, size = answer.total_rows, household.PAGE_SIZE
    if shop is not None:
        rows, total_rows = household.rows_of_shop(
            ledger, answer.days, shops_of, shop, offset=(page - 1) * size, limit=size
        )
        if page > (pages := max(1, -(-total_rows // size))):
            raise household.InvalidPage(page, pages)
    is_whole = not isinstance(subject, Category)
    matrix = _matrix(visit, ledger, answer.months) if is_whole else ()
    return Money(
        page=page,
        answer=answer,
        known=known,
        colors=_colors(answer, trend, known),
        rate=household.savings_rate(answer.income or 0, answer.spending or 0) if is_whole else None,
        shares=answer.spending_by_category or answer.income_by_category,
        trend=trend,
        year_before=year_before,
        chart=_chart(trend, year_before, is_whole=is_whole),
        matrix=matrix,
        dearest=dearest_month(trend.series[1], matrix) if matrix else None,
        periods=_periods(ledger, answer.months, period or ""),
        shops=household.shop_sums(
            ledger, answer.days, shops_of, query.number("shops", _SHOPS, 1, household.MAX_SHOPS)
        ),
        shop=shop,
        rows=rows,
        total_rows=total_rows,
    )


def _trend(
    visit: Household, ledger: Ledger, months: MonthRange, subject: Subject | None
) -> TrendAnswer:
    named = subject if isinstance(subject, Category) else Total.SAVINGS_RATE
    return visit.wiring.household.trend(
        household.category_trend, ledger, category=str(named),
        start_month=str(months.first), end_month=str(months.last), begun=False,
    )  # fmt: skip


def _periods(ledger: Ledger, shown: MonthRange, phrase: str) -> Periods:
    known = household.coverage(ledger).default_range
    parsed = parse_period(phrase, PeriodContext(ledger.today, known))
    months = MonthRange.around(parsed.days, ledger.month_starts_on) if parsed else shown
    return periods_around(shown, known, months)


def _matrix(visit: Household, ledger: Ledger, months: MonthRange) -> tuple[CategoryTrend, ...]:
    if not 1 < len(months) <= _MAX_SIDE_BY_SIDE:
        return ()
    return visit.wiring.household.trend(
        household.category_trend_summary, ledger, months=months
    ).categories


def _year_before(
    visit: Household, ledger: Ledger, months: MonthRange, subject: Subject | None
) -> dict[str, int | None]:
    """The amounts a year earlier, by the months shown; {} if the ledger has none."""
    if not isinstance(subject, Category):
        return {}
    with suppress(MdvecError):
        first, last = months.first.plus(-_YEAR), months.last.plus(-_YEAR)
        trend = _trend(visit, ledger, MonthRange(first, last), subject)
        (series,) = trend.series
        return {str(figure.month.plus(_YEAR)): figure.amount for figure in series.months}
    return {}


def _chart(trend: TrendAnswer, year_before: dict[str, int | None], *, is_whole: bool) -> MonthChart:
    months = [str(figure.month) for figure in trend.series[0].months]
    amounts = [[figure.amount for figure in series.months] for series in trend.series]
    running, empty = set(map(str, trend.marks.running)), set(map(str, trend.marks.empty))
    if is_whole:
        return chart_of_months(months, {"in": amounts[0], "out": amounts[1]}, {}, running, empty)
    style = "in" if str(trend.series[0].category) == household.INCOME else "out"
    means = [figure.moving_average for figure in trend.series[0].months]
    lines: dict[str, Sequence[int | None]] = {
        "old": [year_before.get(month) for month in months],
        "mean": means,
    }
    return chart_of_months(months, {style: amounts[0]}, lines, running, empty)


def _colors(answer: HouseholdAnswer, trend: TrendAnswer, known: Hierarchy) -> dict[str, str]:
    """The colours by name, as in the pictures."""
    shares = [
        share.category for share in (*answer.spending_by_category, *answer.income_by_category)
    ]
    colors: dict[str, str] = {}
    for shown in ([series.category for series in trend.series], shares):
        names = [str(category) for category in shown]
        colors |= zip(names, colors_of(names, names_among(shown, known)), strict=True)
    return colors


@dataclass(frozen=True, slots=True)
class Dearest:
    """The month with the most spending, and the category that is furthest above its own mean."""

    month: str
    amount: int
    category: str
    above: int


def dearest_month(spending: CategoryTrend, categories: Sequence[CategoryTrend]) -> Dearest | None:
    """The month with the most spending; None if nothing was spent or no category stands out.

    The categories cover the months of ``spending``.
    """
    known = [figure for figure in spending.months if figure.amount]
    if len(known) < 2:
        return None
    month = max(known, key=lambda figure: figure.amount or 0)
    position = spending.months.index(month)
    above = {
        str(trend.category): (trend.months[position].amount or 0) - usual
        for trend in categories
        if not trend.category.is_income
        for usual in [household.mean([figure.amount or 0 for figure in trend.months])]
    }
    most = max(above, key=lambda name: above[name], default="")
    if not most or above[most] <= 0 or month.amount is None or month.amount <= 0:
        return None
    return Dearest(str(month.month), month.amount, most, above[most])


@dataclass(frozen=True, slots=True)
class TrendLine:
    """A category's line, in parts that are separated by months without data.

    ``dotted`` are the parts to or from an incomplete month; ``alone`` are points without a line.
    """

    name: str
    color: str
    points: tuple[Point, ...]
    parts: tuple[tuple[Point, ...], ...]
    dotted: tuple[tuple[Point, ...], ...]
    alone: frozenset[Point]


async def show_trend(visit: Household) -> Response:
    """Show a trend, by default of the three largest categories."""

    def work(ledger: Ledger) -> tuple[TrendAnswer, Hierarchy]:
        fields = ("category", "start_month", "end_month", "since", "until", "period")
        request_fields: dict[str, Any] = {
            name: visit.query.text(name).strip() or None for name in fields
        }
        answer = visit.wiring.household.trend(household.category_trend, ledger, **request_fields)
        return answer, household.category_hierarchy(ledger)

    answer, known = await visit.read(work)
    lines, chart = lines_of(answer.series, known, answer.marks)
    return visit.page(
        "trend.html", answer=answer, lines=lines, chart=chart,
    )  # fmt: skip


def lines_of(
    categories: Sequence[CategoryTrend], known: Hierarchy, marks: household.MonthMarks
) -> tuple[tuple[TrendLine, ...], MonthChart]:
    """The categories as lines, and the axes of their chart; ``known`` are all in the ledger."""
    months = [str(figure.month) for figure in categories[0].months]
    amounts = {
        str(trend.category): [figure.amount for figure in trend.months] for trend in categories
    }
    running = set(map(str, marks.running))
    chart = chart_of_months(months, {}, amounts, running, set(map(str, marks.empty)))
    among = names_among([trend.category for trend in categories], known)
    colors = dict(zip(amounts, colors_of(list(amounts), among), strict=True))
    lines = (_line(name, colors[name], line, running) for name, line in chart.lines.items())
    return tuple(lines), chart


def _line(
    name: str, color: str, points: Sequence[Point | None], running: Collection[str]
) -> TrendLine:
    parts: list[list[Point]] = [[]]
    dotted: list[tuple[Point, ...]] = []
    for before, after in pairwise([None, *points]):
        if after is None or before is None:
            parts.append([])
        elif {before.month, after.month} & set(running):
            dotted.append((before, after))
            parts.append([])
        if after is not None:
            parts[-1].append(after)
    solid = [tuple(part) for part in parts if len(part) > 1]
    shown = tuple(filter(None, points))
    alone = frozenset(shown).difference(*solid, *dotted)
    return TrendLine(name, color, shown, tuple(solid), tuple(dotted), alone)
