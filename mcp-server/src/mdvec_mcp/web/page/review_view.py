"""The view that reviews possible duplicates, side by side, by key or by button."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from mdvec.database import Connection
from mdvec.household import (
    MAX_DATE_TOLERANCE,
    CandidateRow,
    DuplicateCandidate,
    ReviewDecision,
    deciding,
    review,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.web.page.access import is_led_here
from mdvec_mcp.web.page.households import Household, asked_household, household_view
from mdvec_mcp.web.page.query import Query
from mdvec_mcp.web.page.views import Views
from mdvec_mcp.web.page.words import language_of, words

_FIELDS = (
    "date", "amount", "description", "category_major", "category_minor", "account", "memo",
    "source_file",
)  # fmt: skip
_MAX_DIGITS = 15
_MOVED = {"transfer": "transfer", "card_bill": "card_bill"}
"""What the form calls the kinds of candidates whose rows leave the sums as no purchases."""


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate with its rows, and the fields in which they differ."""

    pair: DuplicateCandidate
    rows: tuple[CandidateRow, ...]
    different: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Whether it waits for a decision."""
        return self.pair.user_decision in (None, "skip")


def routes(views: Views) -> list[Route]:
    """The routes of the view and of what it changes."""
    pairs = _Review(views)
    return [
        views.route("/review", household_view(views, pairs.show)),
        views.route("/review/decide", pairs.decide, changes=True),
        views.route("/review/detect", pairs.detect, changes=True),
    ]


@dataclass(frozen=True, slots=True)
class _Review:
    views: Views

    async def show(self, request: Request, household: Household, query: Query) -> Response:
        """A page of the open candidates, likely ones first; with ``decided`` also those decided."""
        page = query.number("page", 1, 1, 10**6)
        work = partial(
            review.list_candidates, limit=review.MAX_LIMIT, page=page,
            skip_checked="decided" not in query,
        )  # fmt: skip
        listed = await household.run(work)
        return self.views.page(
            request, "review.html",
            household=household, query=query, listed=listed, fields=_FIELDS,
            candidates=shown_candidates(listed.candidates), max_days=MAX_DATE_TOLERANCE,
            days=self.views.wiring.settings.duplicates.options().date_tolerance_days,
            undo=0 if is_led_here(request) else query.number("undo", 0, 0, 10**12),
        )  # fmt: skip

    async def decide(self, request: Request) -> Response:
        """Decide on a candidate, or on all alike; the script of the page gets the new number."""
        form = request.state.form
        household = await asked_household(self.views, request)
        check = _number(form, "check") or 0  # 0 is no candidate, which is refused
        choice = ReviewDecision(
            form.get("decision", [""])[0], keep=_number(form, "keep"), alike="alike" in form
        )
        await household.run(partial(deciding.confirm, check_id=check, choice=choice), "write")
        if "part" not in form:
            undo = "" if choice.decision == "skip" else f"&undo={check}"
            return RedirectResponse(f"/review?household={household.name}{undo}", 303)
        left = await household.run(partial(review.list_candidates, limit=1))
        kind = form.get("transfer", [""])[0] if choice.decision == "duplicate" else ""
        key = f"is_{_MOVED.get(kind, choice.decision)}"
        text = words(language_of(request), key)
        return JSONResponse({"open": left.total_count, "text": text})

    async def detect(self, request: Request) -> Response:
        """Search the ledger for candidates, at most so many days apart as the form says."""
        household = await asked_household(self.views, request)
        options = self.views.wiring.settings.duplicates.options()
        days = _number(request.state.form, "days")
        if days is not None and days <= MAX_DATE_TOLERANCE:
            options = replace(options, date_tolerance_days=days)

        def work(connection: Connection, tool_id: int) -> None:
            review.detect(connection, tool_id, options)

        await household.run(work, "write")
        return RedirectResponse(f"/review?household={household.name}", 303)


def shown_candidates(candidates: Iterable[DuplicateCandidate]) -> list[ShownCandidate]:
    """Candidates with their rows and differences."""
    shown = []
    for candidate in candidates:
        rows = (candidate.transaction_1, candidate.transaction_2, *candidate.others)
        different = {name for name in _FIELDS if len({getattr(row, name) for row in rows}) > 1}
        shown.append(ShownCandidate(candidate, rows, frozenset(different)))
    return shown


def _number(form: dict[str, list[str]], name: str) -> int | None:
    text = form.get(name, [""])[0]
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else None
