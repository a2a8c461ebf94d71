"""Caches a household's recurring payments and forecast until its ledger changes.

Over 100,000 transactions they take a second to compute: every forecast is also tried on the past.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from threading import Lock

from cachetools import LRUCache
from mdvec.database.connection import Connection
from mdvec.household.core.forecast import HABIT
from mdvec.household.core.subjects import Total
from mdvec.household.habits import (
    ForecastAnswer,
    RecurringAnswer,
    forecast_spending,
    list_recurring_payments,
)
from mdvec.household.interfaces.rows import data_version

from mdvec_mcp.household.context import HouseholdContext, today
from mdvec_mcp.web.page.outlook import OutlookChart, outlook_chart

_YEAR = 12
_MAX_KEPT = 8


@dataclass(frozen=True, slots=True)
class ShownHabits:
    """The recurring payments, and the forecast with its chart, which is None without one."""

    recurring: RecurringAnswer
    forecast: ForecastAnswer
    outlook: OutlookChart | None

    @property
    def yearly(self) -> int:
        """What the payments that go on cost in a year."""
        return sum(
            one.per_year
            for one in self.recurring.payments
            if one.next_day is not None and not one.is_income
        )

    @property
    def usual_months(self) -> str:
        """The months, as a period, whose median is the forecast of what does not recur."""
        first = self.forecast.months[0].month
        return f"{first.plus(-HABIT)}〜{first.plus(-1)}"


@dataclass(frozen=True, slots=True)
class HabitsCache:
    """The habits of the households that were looked at last. Thread-safe."""

    household: HouseholdContext
    _kept: LRUCache[Hashable, ShownHabits] = field(default_factory=lambda: LRUCache(_MAX_KEPT))
    _lock: Lock = field(default_factory=Lock)

    def of(self, ledger: Connection, tool_id: int, *, if_known: bool = False) -> ShownHabits | None:
        """The habits of a ledger; with ``if_known`` None if they would have to be computed."""
        now, starts_on = today(), self.household.month_starts_on
        key = (ledger.filename, tool_id, data_version(ledger, tool_id), now)
        with self._lock:
            known = self._kept.get(key)
        if known is None and not if_known:
            forecast = forecast_spending(ledger, tool_id, month_starts_on=starts_on, today=now)
            known = ShownHabits(
                list_recurring_payments(ledger, tool_id, month_starts_on=starts_on, today=now),
                forecast,
                self._outlook(ledger, tool_id, forecast),
            )
            with self._lock:
                self._kept[key] = known
        return known

    def _outlook(
        self, ledger: Connection, tool_id: int, forecast: ForecastAnswer
    ) -> OutlookChart | None:
        """The chart of the forecast after a year of spending."""
        if not forecast.months:
            return None
        first = forecast.months[0].month
        spending = self.household.trend(
            ledger, tool_id, category=str(Total.SPENDING), period=None,
            start_month=str(first.plus(-_YEAR)), end_month=str(first.plus(-1)),
        )  # fmt: skip
        return outlook_chart(spending, forecast)
