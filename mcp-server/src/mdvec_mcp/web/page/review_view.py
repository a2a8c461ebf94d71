"""The views for reviewing possible duplicates and suggested categories, by key or button."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from mcp.server.mcpserver.exceptions import ToolError
from mdvec.database import Connection
from mdvec.household import (
    MAX_DATE_TOLERANCE,
    CandidateRow,
    Category,
    DuplicateCandidate,
    ReviewDecision,
    RuleList,
    deciding,
    review,
    rules,
    rules_of,
    shop_of,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.web.page.access import is_led_here
from mdvec_mcp.web.page.households import Household, asked_household, categories_of, household_view
from mdvec_mcp.web.page.views import (
    Query,
    Views,
    address_fields,
    form_of,
    language_of,
    number,
    words,
)

_FIELDS = (
    "date", "amount", "description", "category_major", "category_minor", "account", "memo",
    "source_file",
)  # fmt: skip
_MAX_ID = 10**12
_MOVED = {"transfer": "transfer", "card_bill": "card_bill"}
"""The form's decisions for candidates whose rows are not purchases, by kind."""


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate with its rows, and the fields in which they differ."""

    pair: DuplicateCandidate
    rows: tuple[CandidateRow, ...]
    different: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Whether it is undecided."""
        return self.pair.user_decision in (None, "skip")


def routes(views: Views) -> list[Route]:
    """The routes of the view and its forms."""
    pairs, suggestions = _Review(views), _Suggestions(views)
    return [
        views.route("/review", household_view(views, pairs.show)),
        views.route("/review/decide", pairs.decide, changes=True),
        views.route("/review/detect", pairs.detect, changes=True),
        views.route("/review/categories", household_view(views, suggestions.show)),
        views.route("/review/categories/decide", suggestions.decide, changes=True),
    ]


@dataclass(frozen=True, slots=True)
class _Review:
    views: Views

    async def show(self, request: Request, household: Household, query: Query) -> Response:
        """A page of open candidates, likely ones first; with ``decided`` also the decided ones."""
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
            undo=0 if is_led_here(request) else query.number("undo", 0, 0, _MAX_ID),
        )  # fmt: skip

    async def decide(self, request: Request) -> Response:
        """Decide on a candidate, or on all similar ones; the page's script gets the new count."""
        form = form_of(request)
        household = await asked_household(self.views, request)
        check = form.number("check", 0, 0, _MAX_ID)  # 0 is not a candidate and is refused
        keep = form.number("keep", 0, 0, _MAX_ID) or None
        choice = ReviewDecision(form.text("decision"), keep=keep, alike="alike" in form)
        await household.run(partial(deciding.confirm, check_id=check, choice=choice), "write")
        if "part" not in form:
            undo = "" if choice.decision == "skip" else f"&undo={check}"
            return RedirectResponse(f"/review?household={household.name}{undo}", 303)
        left = await household.run(partial(review.list_candidates, limit=1))
        kind = form.text("transfer") if choice.decision == "duplicate" else ""
        key = f"is_{_MOVED.get(kind, choice.decision)}"
        text = words(language_of(request), key)
        return JSONResponse({"open": left.total_count, "text": text})

    async def detect(self, request: Request) -> Response:
        """Search the ledger for candidates within the tolerance of days in the form."""
        household = await asked_household(self.views, request)
        options = self.views.wiring.settings.duplicates.options()
        usual = options.date_tolerance_days
        days = form_of(request).number("days", usual, 0, MAX_DATE_TOLERANCE)
        options = replace(options, date_tolerance_days=days)
        await household.run(partial(review.detect, options=options), "write")
        return RedirectResponse(f"/review?household={household.name}", 303)


def shown_candidates(candidates: Iterable[DuplicateCandidate]) -> list[ShownCandidate]:
    """Candidates with their rows and differences."""
    shown = []
    for candidate in candidates:
        rows = (candidate.transaction_1, candidate.transaction_2, *candidate.others)
        different = {name for name in _FIELDS if len({getattr(row, name) for row in rows}) > 1}
        shown.append(ShownCandidate(candidate, rows, frozenset(different)))
    return shown


MAX_TOGETHER = 40
"""The most shops decided at once: their names are in the address that offers the undo."""


@dataclass(frozen=True, slots=True)
class _Decided:
    """The shops that got or lost a category; numbers of changed rows and of open suggestions."""

    shops: list[str]
    category: str
    changed: int
    left: int


@dataclass(frozen=True, slots=True)
class _Suggestions:
    views: Views

    async def show(
        self, request: Request, household: Household, query: Query, refused: str = ""
    ) -> Response:
        """The suggestions, largest sums first, and the existing rules.

        ``refused`` says why the shop in the form did not get the category in the form.
        """

        def read(ledger: Connection, tool_id: int) -> tuple[RuleList, list[Category]]:
            return rules.list_rules(ledger, tool_id, None), categories_of(ledger, tool_id)

        listed, known = await household.run(read)
        return self.views.page(
            request, "suggestions.html", status=400 if refused else 200, refused=refused,
            household=household, query=query, listed=listed, known=known,
            same=Counter(suggestion.category for suggestion in listed.suggestions),
            renaming=rules.quoted,
            undo=[] if is_led_here(request) else query.all("set")[:MAX_TOGETHER],
            again="" if is_led_here(request) or "category" not in query else query.text("again"),
        )  # fmt: skip

    async def decide(self, request: Request) -> Response:
        """Give a category to a shop or to all shops with the same suggestion, or undo that."""
        form = form_of(request)
        household = await asked_household(self.views, request)
        decision = form.text("decision")
        choice = _Choice(
            decision, tuple(form.all("shop")[:MAX_TOGETHER]), form.text("category").strip(),
            is_undo="undo" in form, alike="alike" in form,
        )  # fmt: skip
        try:
            done = await household.run(choice.carry_out, "write")
        except ToolError as error:
            if decision != "set":
                raise
            return await self.show(request, household, form, str(error))
        if "part" in form:
            key = "is_ruled" if decision == "set" else "is_skip"
            values = {"category": done.category, "n": number(done.changed)}
            text = words(language_of(request), key, **values)
            return JSONResponse({"open": done.left, "text": text})
        field = "set" if decision == "set" else "again"
        fields = {"household": household.name, "category": done.category or None}
        address = address_fields(fields, **{field: done.shops})
        return RedirectResponse(f"/review/categories?{address}", 303)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A decision about shops; with ``alike``, about all for which this category is suggested."""

    decision: str
    shops: tuple[str, ...]
    category: str
    is_undo: bool
    alike: bool

    def carry_out(self, ledger: Connection, tool_id: int) -> _Decided:
        """Set or remove the shops' rules; leaving a suggestion open changes nothing."""
        shops, category, changed = [], self.category, 0
        if self.decision == "set":
            shops = self._affected_rows(ledger, tool_id)
            for shop in shops:
                changed += rules.set_rule(ledger, tool_id, shop=shop, category=category).changed
        elif self.is_undo and not self.shops:
            changed = rules.remove_rule(ledger, tool_id, category=category).changed
            category = ""
        elif self.is_undo:
            known = {rule.shop: str(rule.category) for rule in rules_of(ledger, tool_id)}
            shops = [shop for shop in self.shops if shop_of(shop) in known]
            category = known[shop_of(shops[0])] if len(shops) == 1 else ""
            for shop in shops:
                changed += rules.remove_rule(ledger, tool_id, shop=shop).changed
        left = len(rules.list_rules(ledger, tool_id, None).suggestions)
        return _Decided(shops, category, changed, left)

    def _affected_rows(self, ledger: Connection, tool_id: int) -> list[str]:
        if not self.alike:
            return list(self.shops)
        suggestions = rules.list_rules(ledger, tool_id, None).suggestions
        return [
            suggestion.shop
            for suggestion in suggestions
            if str(suggestion.category) == self.category
        ][:MAX_TOGETHER]
