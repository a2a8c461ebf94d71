"""Finds the household that a view shows: the one in its address, else the first with rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from mdvec.database import Connection, DatabaseMissing, OpenMode
from mdvec.household import Category, EmptyLedger, category_hierarchy, coverage
from mdvec.tools import Tool
from starlette.requests import Request
from starlette.responses import Response

from mdvec_mcp.household import today
from mdvec_mcp.web.page.views import Query, View, Views

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Household:
    """The household shown, among all active ones."""

    views: Views
    name: str
    all: tuple[Tool, ...]

    async def run(self, work: Callable[[Connection, int], T], mode: OpenMode = "read") -> T:
        """Run work on its ledger; a write is committed or rolled back as a whole.

        Raises:
            ToolError: the work raised an MdvecError, or the household is gone.
        """
        return await self.views.wiring.household.run(self.name, mode, work)


def household_view(
    views: Views, show: Callable[[Request, Household, Query], Awaitable[Response]]
) -> View:
    """A view of the requested household, or of what to do if none is active."""

    async def shown(request: Request) -> Response:
        household = await _shown_household(views, request)
        if household is None:
            return views.page(request, "no_household.html")
        return await show(request, household, Query(request))

    return shown


async def _shown_household(views: Views, request: Request) -> Household | None:
    """The household that a request shows; None if no household is active."""

    def active() -> list[Tool]:
        try:
            return views.wiring.household.active_households()
        except DatabaseMissing:
            return []

    tools = tuple(await views.run(request, active))
    form = getattr(request.state, "form", {})
    named = form.get("household", [Query(request).text("household")])[0]
    names = [tool.name for tool in tools]
    if not names:
        return None
    # A household that no longer exists is refused when it is used.
    return Household(views, named or await _first_with_rows(views, names), tools)


async def _first_with_rows(views: Views, names: Sequence[str]) -> str:
    """The first household with rows, so that a new one does not hide another; else the first."""
    if len(names) == 1:
        return names[0]

    def first_household(ledger: Connection, ids: dict[str, int]) -> str:
        for name in names:
            with suppress(EmptyLedger, KeyError):  # it may just have been disabled
                coverage(ledger, ids[name], today())
                return name
        return names[0]

    return await views.wiring.household.run_over_all("read", first_household)


def categories_of(ledger: Connection, tool_id: int) -> list[Category]:
    """The categories of a ledger, each before its parts."""
    return [
        category
        for major, minors in category_hierarchy(ledger, tool_id).items()
        for category in (Category(major), *(Category(major, minor) for minor in minors))
    ]


async def asked_household(views: Views, request: Request) -> Household:
    """The household that a request shows or changes.

    Raises:
        ToolError: no household is active.
    """
    household = await _shown_household(views, request)
    if household is not None:
        return household
    (tool, *_) = views.wiring.household.households()  # raises if there is none
    return Household(views, tool.name, (tool,))
