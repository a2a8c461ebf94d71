"""The view that reviews possible duplicates, two rows at a time, by key or by button."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from mdvec.database.connection import Connection
from mdvec.household import review
from mdvec.household.core.pairs import MAX_DATE_TOLERANCE
from mdvec.household.core.review_wording import Candidate, CandidateRow
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.web.page.households import Household, shown_household
from mdvec_mcp.web.page.query import Query
from mdvec_mcp.web.page.views import Views
from mdvec_mcp.web.page.words import language_of, words

_FIELDS = (
    "date", "amount", "description", "category_major", "category_minor", "account", "memo",
    "source_file",
)  # fmt: skip
_OPEN_AGAIN = "skip"
"""The decision that leaves a pair open, which undoes one that was made."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair, the fields in which its rows differ, and other open pairs of the same kind.

    ``alike`` are the ids of all pairs shown whose rows have the same shops and accounts.
    """

    pair: Candidate
    different: frozenset[str]
    alike: tuple[int, ...]

    @property
    def rows(self) -> tuple[CandidateRow, CandidateRow]:
        """Its rows; a duplicate is the second."""
        return self.pair.transaction_1, self.pair.transaction_2


def routes(views: Views) -> list[Route]:
    """The routes of the view and of what it changes."""
    pairs = _Review(views)
    return [
        views.route("/review", pairs.show),
        views.route("/review/decide", pairs.decide, changes=True),
        views.route("/review/detect", pairs.detect, changes=True),
    ]


@dataclass(frozen=True, slots=True)
class _Review:
    views: Views

    async def show(self, request: Request) -> Response:
        """The open pairs, the most similar first; with ``decided`` also those decided."""
        household = await shown_household(self.views, request)
        if household is None:
            return self.views.page(request, "no_household.html")
        query = Query(request)
        work = partial(
            review.list_candidates, limit=review.MAX_LIMIT, skip_checked="decided" not in query
        )
        listed = await household.run(work)
        # The open pairs are counted already; the other numbers take as long again.
        numbers = await household.run(review.stats) if "decided" in query else None
        return self.views.page(
            request, "review.html",
            household=household, query=query, pairs=shown_pairs(listed.candidates),
            numbers=numbers, total=listed.total_count, fields=_FIELDS, max_days=MAX_DATE_TOLERANCE,
            days=self.views.wiring.settings.duplicates.options().date_tolerance_days,
        )  # fmt: skip

    async def decide(self, request: Request) -> Response:
        """Decide on one pair or on several alike; the script of the page gets the new numbers."""
        form = request.state.form
        household = await self._household(request)
        ids = [int(id_) for id_ in form.get("check", []) if id_.isdecimal() and len(id_) < 16]
        decision = form.get("decision", [""])[0]

        def work(connection: Connection, tool_id: int) -> None:
            with connection:  # all or none
                for id_ in ids[: review.MAX_LIMIT] or [0]:  # 0 is refused, as no pair's
                    review.confirm(connection, tool_id, id_, decision)

        await household.run(work, "write")
        if form.get("part", [""])[0]:
            numbers = await household.run(review.stats)
            language = language_of(request)
            return JSONResponse(
                {"open": numbers.pending_checks, "text": words(language, f"is_{decision}")}
            )
        return RedirectResponse(f"/review?household={household.name}", 303)

    async def detect(self, request: Request) -> Response:
        """Search the ledger for pairs, at most so many days apart as the form says."""
        household = await self._household(request)
        options = self.views.wiring.settings.duplicates.options()
        days = request.state.form.get("days", [""])[0]
        if days.isdecimal() and int(days[:9]) <= MAX_DATE_TOLERANCE:
            options = replace(options, date_tolerance_days=int(days))
        await household.run(partial(review.detect, options=options), "write")
        return RedirectResponse(f"/review?household={household.name}", 303)

    async def _household(self, request: Request) -> Household:
        household = await shown_household(self.views, request)
        if household is not None:
            return household
        (tool, *_) = self.views.wiring.household.households()  # says that there is none
        return Household(self.views, tool.name, (tool,))


def shown_pairs(pairs: Iterable[Candidate]) -> list[ShownPair]:
    """Pairs with their differences, and with the others of their kind."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for pair in pairs:
        if pair.user_decision in (None, _OPEN_AGAIN):
            alike.setdefault(_kind(pair), []).append(pair.check_id)
    return [ShownPair(pair, _different(pair), tuple(alike.get(_kind(pair), ()))) for pair in pairs]


def _kind(pair: Candidate) -> tuple[str, ...]:
    rows = (pair.transaction_1, pair.transaction_2)
    return tuple(text for row in rows for text in (row.description, row.account))


def _different(pair: Candidate) -> frozenset[str]:
    first, second = pair.transaction_1, pair.transaction_2
    return frozenset(name for name in _FIELDS if getattr(first, name) != getattr(second, name))
