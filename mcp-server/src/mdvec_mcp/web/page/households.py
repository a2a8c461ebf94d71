"""Finds the household that a view shows: the one in its address, else the first with rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from mdvec.database import DatabaseMissing
from mdvec.household import Category, EmptyLedger, Ledger, category_hierarchy, coverage
from mdvec.tools import Tool
from starlette.responses import HTMLResponse, Response

from mdvec_mcp.web.page.views import View, Visit

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Household(Visit):
    """A request about a household; ``all`` are the active households."""

    name: str
    all: tuple[Tool, ...]

    async def read(self, work: Callable[[Ledger], T]) -> T:
        """Run work that reads its ledger; raises a ToolError if refused."""
        return await self.wiring.household.run(self.name, "read", work)

    async def write(self, work: Callable[[Ledger], T]) -> T:
        """Run work that changes its ledger; all is committed, or rolled back as a whole."""
        return await self.wiring.household.run(self.name, "write", work)

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
        """A rendered template, which gets this household."""
        # Without arguments, super() does not work in a dataclass with slots.
        return Visit.page(self, template, status=status, household=self, **values)


def household_view(
    answer: Callable[[Household], Awaitable[Response]], *, is_needed: bool = False
) -> View:
    """A view of the requested household, or of what to do if no household is active.

    With ``is_needed``, the request is refused instead if none is active.
    """

    async def answered(visit: Visit) -> Response:
        household = await _requested_household(visit)
        if household is not None:
            return await answer(household)
        if is_needed:
            visit.wiring.household.households()  # raises a refusal
        return visit.page("no_household.html")

    return answered


async def _requested_household(visit: Visit) -> Household | None:
    """The household that a request names, else the first with rows; None if none is active."""

    def active() -> list[Tool]:
        try:
            return visit.wiring.household.active_households()
        except DatabaseMissing:
            return []

    tools = tuple(await visit.run(active))
    if not tools:
        return None
    # A household that no longer exists is refused when it is used.
    name = visit.query.text("household") or await _first_with_rows(visit, tools)
    return Household(visit.views, visit.request, visit.query, name, tools)


async def _first_with_rows(visit: Visit, tools: Sequence[Tool]) -> str:
    """The first household with rows, so that an empty one does not hide it; else the first."""
    names = [tool.name for tool in tools]
    if len(names) == 1:
        return names[0]

    def first_household(ledgers: dict[str, Ledger]) -> str:
        for name in names:
            with suppress(EmptyLedger, KeyError):  # it may just have been disabled
                coverage(ledgers[name])
                return name
        return names[0]

    return await visit.wiring.household.run_over_all("read", first_household)


def categories_of(ledger: Ledger) -> list[Category]:
    """The categories of a ledger, each before its parts."""
    return [
        category
        for major, minors in category_hierarchy(ledger).items()
        for category in (Category(major), *(Category(major, minor) for minor in minors))
    ]
