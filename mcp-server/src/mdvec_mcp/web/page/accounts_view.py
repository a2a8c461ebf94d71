"""The view of a household's accounts, fixed and variable costs, and lists for the tax return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from mdvec import household
from mdvec.dates import Month, MonthRange
from mdvec.household import Ledger, review
from starlette.responses import Response
from starlette.routing import Route

from mdvec_mcp.web.page import data_view
from mdvec_mcp.web.page.bars import MonthChart, chart_of_months
from mdvec_mcp.web.page.households import Household, household_view
from mdvec_mcp.web.page.views import BadValue, Periods, Views, periods_around

_LISTS: tuple[household.ListName, ...] = ("medical", "furusato")
_MAX_MONTHS, _MAX_DAYS, _MAX_BILLS = 24, 31, 50


@dataclass(frozen=True, slots=True)
class ShownAccounts:
    """The contents of the view; ``balances`` has each account's balance at the end of each day.

    ``bills`` are payments to cards that may be counted in addition to the purchases.
    """

    answer: household.AccountsAnswer
    balances: dict[str, dict[str, int]]
    charts: dict[str, MonthChart]
    bills: tuple[household.DuplicateCandidate, ...]
    costs: household.CostsAnswer
    periods: Periods
    lists: dict[str, household.ExpenseList]

    def fixed_shops(self, category: str) -> list[str]:
        """The shops whose rows of a category are fixed costs."""
        lines = (line for line in self.costs.lines if line.is_fixed)
        return list(dict.fromkeys(line.shop for line in lines if line.category == category))

    def latest(self, name: str) -> list[tuple[str, int]]:
        """The last days of an account with their balances, the newest first."""
        return list(self.balances.get(name, {}).items())[: -_MAX_DAYS - 1 : -1]


def routes(views: Views) -> list[Route]:
    """The routes of the view and of its downloads."""
    return [
        views.route("/money/accounts", household_view(show), has_form=True),
        views.route("/money/accounts/table", household_view(table, is_needed=True)),
    ]


async def show(visit: Household) -> Response:
    """The accounts, and the costs and lists of the requested period."""
    shown = await visit.read(partial(_read, visit))
    return visit.page("accounts.html", shown=shown)


async def table(visit: Household) -> Response:
    """One of the view's tables as CSV."""
    shown = await visit.read(partial(_read, visit))
    return data_view.table_file(TABLES, shown, visit.query.text("of"))


def _read(visit: Household, ledger: Ledger) -> ShownAccounts:
    query = visit.query
    period, year = query.text("period").strip() or None, query.text("year").strip() or None
    balances = household.daily_balances(ledger)
    costs = household.fixed_and_variable_costs(ledger, period=period)
    months = MonthRange.around(costs.days, ledger.month_starts_on)
    candidates = review.list_candidates(ledger, _MAX_BILLS).candidates
    lists: dict[str, household.ExpenseList]
    try:
        lists = {name: household.expense_list(ledger, name, period=year) for name in _LISTS}
    except household.InvalidPeriod as error:
        raise BadValue(visit.language, "bad_year", year or "") from error
    return ShownAccounts(
        answer=household.accounts_report(ledger),
        balances=balances,
        charts={name: _chart(days) for name, days in balances.items()},
        bills=tuple(each for each in candidates if each.kind == "card_bill"),
        costs=costs,
        periods=periods_around(months, household.coverage(ledger).default_range),
        lists=lists,
    )


def _chart(days: dict[str, int]) -> MonthChart:
    """Bars of an account's balance at the ends of months; months without rows repeat the last."""
    ends = {day[:7]: balance for day, balance in days.items()}
    last = Month.from_iso(max(ends))
    first = max(Month.from_iso(min(ends)), last.plus(1 - _MAX_MONTHS))
    months = [str(month) for month in MonthRange(first, last)]
    amounts, balance = [], next(iter(ends.values()))
    for month in sorted({*ends, *months}):
        balance = ends.get(month, balance)
        amounts += [balance] if month in months else []
    return chart_of_months(months, {"in": amounts}, {})


def _balances(shown: ShownAccounts) -> data_view.Table:
    return ("account", "day", "yen"), [
        (name, day, yen) for name, days in shown.balances.items() for day, yen in days.items()
    ]


def _gaps(shown: ShownAccounts) -> data_view.Table:
    return ("account", "after", "before", "yen"), [
        (state.name, gap.after, gap.before, gap.yen)
        for state in shown.answer.accounts
        for gap in state.gaps
    ]


def _costs(shown: ShownAccounts) -> data_view.Table:
    return ("kind", "name", "rows", "yen"), [
        ("fixed" if line.is_fixed else "variable", line.name, line.rows, line.yen)
        for line in shown.costs.lines
    ]


def _rows_of(name: str) -> Callable[[ShownAccounts], data_view.Table]:
    def listed(shown: ShownAccounts) -> data_view.Table:
        return ("person", "id", "day", "shop", "category", "account", "yen"), [
            (person, row.id, row.date, row.description, row.category, row.account,
             -(row.amount or 0))
            for person, row in shown.lists[name].rows
        ]  # fmt: skip

    return listed


TABLES: dict[str, Callable[[ShownAccounts], data_view.Table]] = {
    "balances": _balances,
    "gaps": _gaps,
    "costs": _costs,
    **{name: _rows_of(name) for name in _LISTS},
}
"""Each table's columns and rows, by its name in an address."""
