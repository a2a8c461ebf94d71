"""The view of a household's plans: budgets, recurring payments, the forecast, and net worth."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

from cachetools import LRUCache
from mdvec import household
from mdvec.charts import Plot, Series, colors_of, month_plot
from mdvec.dates import MonthRange
from mdvec.household import ForecastAnswer, Ledger, Total, TrendAnswer
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.household import budget_chart, net_worth_chart
from mdvec_mcp.web.page import data_view
from mdvec_mcp.web.page.bars import MonthChart, Point, chart_of_months
from mdvec_mcp.web.page.households import Household, categories_of, household_view
from mdvec_mcp.web.page.views import (
    ChangedMeanwhile,
    Periods,
    Views,
    address_fields,
    or_again,
    periods_around,
    yen_of,
)

_YEAR = 12
_MAX_KEPT = 8
_KEPT: LRUCache[Hashable, ShownHabits] = LRUCache(_MAX_KEPT)
_KEPT_LOCK = Lock()
_ALL = "全期間"


@dataclass(frozen=True, slots=True)
class OutlookChart:
    """Bars of months; those of the style ``ahead`` are forecast.

    ``bands`` are the lower and upper ends of forecasts that have them.
    """

    chart: MonthChart
    bands: tuple[tuple[Point, Point], ...]


def outlook_chart(spending: TrendAnswer, forecast: ForecastAnswer) -> OutlookChart:
    """The chart of past spending and of the forecast."""
    past = [(str(figure.month), figure.amount) for figure in spending.categories[0].months]
    open_ = {
        str(figure.month): figure
        for figure in forecast.months
        if figure.month.last_day > forecast.as_of
    }
    ahead = [(str(figure.month), figure.amount) for figure in forecast.months]
    months, amounts = zip(*past, *ahead, strict=True)
    chart = chart_of_months(
        months,
        {"out": amounts},
        {
            "low": [open_[month].low if month in open_ else None for month in months],
            "high": [open_[month].high if month in open_ else None for month in months],
        },
    )
    bars = tuple(replace(bar, style="ahead") if bar.month in open_ else bar for bar in chart.bars)
    lows, highs = (filter(None, chart.lines[style]) for style in ("low", "high"))
    return OutlookChart(replace(chart, bars=bars, lines={}), tuple(zip(lows, highs, strict=True)))


def forecast_picture(forecast: ForecastAnswer) -> Plot:
    """The forecast as a chart to download: bars of the expected spending, and their bands."""
    bands = tuple((figure.low, figure.high) for figure in forecast.months)
    name = "支出の見通し" + "（縦の線は8割の幅）" * any(low is not None for low, _ in bands)
    amounts = tuple(figure.amount for figure in forecast.months)
    return month_plot(
        "bar",
        f"支出の見通し（{forecast.as_of} までの明細から）",
        tuple(figure.month for figure in forecast.months),
        (Series(name, amounts, colors_of(("支出",))[0], band=bands),),
    )


@dataclass(frozen=True, slots=True)
class ShownHabits:
    """The recurring payments, the forecast, and its chart, if there is one."""

    recurring: household.RecurringAnswer
    forecast: ForecastAnswer
    outlook: OutlookChart | None

    @property
    def yearly(self) -> int:
        """The yearly cost of the payments that continue."""
        return sum(
            payment.per_year
            for payment in self.recurring.payments
            if payment.next_day is not None and not payment.is_income
        )

    @property
    def usual_months(self) -> str:
        """The period whose median is the forecast of spending that does not recur."""
        first = self.forecast.months[0].month
        return f"{first.plus(-household.HABIT)}〜{first.plus(-1)}"


def habits_of(visit: Household, ledger: Ledger, *, if_known: bool = False) -> ShownHabits | None:
    """The cached habits of a household; with ``if_known``, None unless they are cached."""
    key = (ledger.key, household.data_version(ledger))
    with _KEPT_LOCK:
        known = _KEPT.get(key)
    if known is None and not if_known:
        forecast = household.forecast_spending(ledger)
        known = ShownHabits(
            household.list_recurring_payments(ledger),
            forecast,
            _outlook(visit, ledger, forecast),
        )
        with _KEPT_LOCK:
            _KEPT[key] = known
    return known


def _outlook(visit: Household, ledger: Ledger, forecast: ForecastAnswer) -> OutlookChart | None:
    """The chart of the forecast after a year of spending."""
    if not forecast.months:
        return None
    first = forecast.months[0].month
    spending = visit.wiring.household.trend(
        household.category_trend, ledger, category=str(Total.SPENDING), period=None,
        start_month=str(first.plus(-_YEAR)), end_month=str(first.plus(-1)),
    )  # fmt: skip
    return outlook_chart(spending, forecast)


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """The contents of the view.

    ``habits`` is None until they are computed. If the household has no asset
    history, ``worth`` is None and ``no_worth`` says why.
    """

    budgets: household.BudgetAnswer
    periods: Periods
    habits: ShownHabits | None
    worth: household.NetWorthAnswer | None
    no_worth: str
    worth_chart: MonthChart | None
    subjects: tuple[str, ...]

    @property
    def kinds(self) -> list[str]:
        """The kinds of assets in the months shown, those of the last month first."""
        months = () if self.worth is None else self.worth.months
        return list(dict.fromkeys(kind for month in reversed(months) for kind in month.kinds))


def routes(views: Views) -> list[Route]:
    """The routes of the view, its downloads and its forms."""
    set_one = household_view(or_again(budget, show), is_needed=True)
    return [
        views.route("/money/plan", household_view(show), has_form=True),
        views.route("/money/plan/table", household_view(table, is_needed=True)),
        views.route("/money/plan/chart", household_view(chart, is_needed=True)),
        views.route("/money/plan/budget", set_one, changes=True),
    ]


async def show(visit: Household) -> Response:
    """Show the budgets of a month or period, and the forecast from the household's habits.

    The habits are omitted unless they are cached, or the address asks for ``all`` or for them
    alone, as the page's script does.
    """
    query = visit.query
    if query.text("part") == "habits":
        habits = await visit.read(partial(habits_of, visit))
        return visit.page("plan_habits.html", habits=habits)
    plan = await visit.read(partial(_plan, visit, later="all" not in query))
    changed = "" if visit.refused else visit.undo.text("subject")
    return visit.page("plan.html", plan=plan, habits=plan.habits, changed=changed)


async def budget(visit: Household) -> Response:
    """Set a budget, or remove it with the amount 0; the view then offers an undo."""
    form = visit.query

    def work(ledger: Ledger) -> household.BudgetSet:
        with ledger.connection:  # an error takes the new budget back
            done = household.set_budget(
                ledger,
                category=form.text("subject").strip(),
                amount=yen_of(visit.language, form.text("amount").strip()),
                per=form.text("per") or "month",
            )
            if "seen" in form and form.text("seen") != str(done.before or 0):
                raise ChangedMeanwhile
        return done

    done = await visit.write(work)
    query = {
        "household": visit.name, "period": form.text("period").strip() or None,
        "subject": done.subject, "per": done.per, "amount": done.amount,
        "before": done.before or 0,
    }  # fmt: skip
    return RedirectResponse(f"/money/plan?{address_fields(query)}#budgets", 303)


async def table(visit: Household) -> Response:
    """One of the view's tables as CSV."""
    plan = await visit.read(partial(_plan, visit))
    return data_view.table_file(TABLES, plan, visit.query.text("of"))


async def chart(visit: Household) -> Response:
    """The chart of the budgets, the forecast or the net worth as PNG or SVG."""
    plan = await visit.read(partial(_plan, visit))
    name, make = _drawable(plan, visit.query.text("of"))
    return await data_view.drawing(visit, name, make)


def _plan(visit: Household, ledger: Ledger, *, later: bool = False) -> ShownPlan:
    query = visit.query
    budgets = household.budget_status(ledger, period=query.text("period").strip() or None)
    known = categories_of(ledger)
    worth, no_worth = None, ""
    try:
        period = _ALL if query.text("worth") == "all" else None
        worth = household.net_worth(ledger, period=period)
    except household.NoAssets as error:
        no_worth = str(error)
    return ShownPlan(
        budgets=budgets,
        periods=periods_around(budgets.months, household.coverage(ledger).default_range),
        habits=habits_of(visit, ledger, if_known=later),
        worth=worth,
        no_worth=no_worth,
        worth_chart=None if worth is None else _worth_chart(worth),
        subjects=(str(Total.SPENDING), *(str(each) for each in known if not each.is_income)),
    )


def _drawable(plan: ShownPlan, of: str) -> tuple[str, Callable[[], Plot]]:
    """A chart of the view to download, and its name."""
    if of == "worth":
        if plan.worth is None:
            raise household.NoAssets(None)
        return "net-worth", partial(net_worth_chart, plan.worth)
    if of == "forecast" and plan.habits is not None:
        return "forecast", partial(forecast_picture, plan.habits.forecast)
    return "budgets", partial(budget_chart, plan.budgets)


def _worth_chart(worth: household.NetWorthAnswer) -> MonthChart:
    """Bars of net worth by month, with gaps for months without one."""
    totals = {figure.month: figure.total for figure in worth.months}
    months = MonthRange(worth.months[0].month, worth.months[-1].month)
    return chart_of_months(
        [str(month) for month in months], {"in": [totals.get(month) for month in months]}, {}
    )


def _budgets(plan: ShownPlan) -> data_view.Table:
    columns = ("budget", "per", "yen", "spent", "left", "used_percent", "elapsed_percent",
               "expected")  # fmt: skip
    return columns, [
        (str(row.budget.subject), row.budget.per, row.amount, row.spent, row.left, row.used,
         row.elapsed, row.expected)
        for row in plan.budgets.statuses
    ]  # fmt: skip


def _recurring(plan: ShownPlan) -> data_view.Table:
    columns = ("name", "category", "every", "yen", "yen_per_year", "last", "next", "ended")
    return columns, [
        (row.name, row.category, row.interval.name, row.amount, row.per_year, row.last_day,
         row.next_day, row.next_day is None)
        for row in ([] if plan.habits is None else plan.habits.recurring.payments)
    ]  # fmt: skip


def _forecast(plan: ShownPlan) -> data_view.Table:
    columns = ("month", "yen", "spent", "recurring", "other", "low", "high", "typical_error",
               "trials")  # fmt: skip
    return columns, [
        (str(row.month), row.amount, row.spent, row.recurring, row.other, row.low, row.high,
         row.typical_error, row.trials)
        for row in ([] if plan.habits is None else plan.habits.forecast.months)
    ]  # fmt: skip


def _worth(plan: ShownPlan) -> data_view.Table:
    kinds = plan.kinds
    months = () if plan.worth is None else plan.worth.months
    return ("month", "yen", "difference", *kinds), [
        (str(row.month), row.total, row.difference, *(row.kinds.get(kind) for kind in kinds))
        for row in months
    ]


TABLES: dict[str, Callable[[ShownPlan], data_view.Table]] = {
    "budgets": _budgets,
    "recurring": _recurring,
    "forecast": _forecast,
    "worth": _worth,
}
"""Each table's columns and rows, by its name in an address."""
