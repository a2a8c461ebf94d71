"""The view that reviews categories suggested for shops without one, by key or by button."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mdvec.database import Connection
from mdvec.household import RuleList, Suggestion, category_hierarchy, rules, rules_of, shop_of
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.web.page.access import is_led_here
from mdvec_mcp.web.page.households import Household, asked_household, household_view
from mdvec_mcp.web.page.query import Query, address_fields
from mdvec_mcp.web.page.views import Views
from mdvec_mcp.web.page.words import language_of, number, words

MAX_TOGETHER = 40
"""Shops that are decided at once: their names are in the address that offers to undo it."""


@dataclass(frozen=True, slots=True)
class ShownSuggestion:
    """A suggestion, and how many shops have the same category suggested."""

    suggestion: Suggestion
    same: int


@dataclass(frozen=True, slots=True)
class _Decided:
    """The shops that got a category, or lost theirs; the rows changed, the suggestions left."""

    shops: list[str]
    category: str
    changed: int
    left: int


def routes(views: Views) -> list[Route]:
    """The routes of the view and of what it changes."""
    suggestions = _Suggestions(views)
    return [
        views.route("/review/categories", household_view(views, suggestions.show)),
        views.route("/review/categories/decide", suggestions.decide, changes=True),
    ]


@dataclass(frozen=True, slots=True)
class _Suggestions:
    views: Views

    async def show(self, request: Request, household: Household, query: Query) -> Response:
        """The suggestions, the largest sums first, and the rules that hold."""

        def read(ledger: Connection, tool_id: int) -> tuple[RuleList, list[str]]:
            names = category_hierarchy(ledger, tool_id)
            known = [
                name for major, minors in names.items()
                for name in (major, *(f"{major} > {minor}" for minor in minors))
            ]  # fmt: skip
            return rules.list_rules(ledger, tool_id, None), known

        listed, known = await household.run(read)
        return self.views.page(
            request, "suggestions.html",
            household=household, query=query, listed=listed, known=known,
            suggestions=shown_suggestions(listed.suggestions), renaming=rules.quoted,
            undo=[] if is_led_here(request) else query.all("set")[:MAX_TOGETHER],
            again="" if is_led_here(request) or "category" not in query else query.text("again"),
        )  # fmt: skip

    async def decide(self, request: Request) -> Response:
        """Give a shop a category, or all shops with the same suggestion; or take that back."""
        form = request.state.form
        household = await asked_household(self.views, request)
        (decision, *_), (category, *_) = form.get("decision", [""]), form.get("category", [""])
        choice = _Choice(
            decision, tuple(form.get("shop", ())[:MAX_TOGETHER]), category.strip(),
            is_undo="undo" in form, alike="alike" in form,
        )  # fmt: skip
        done = await household.run(choice.carry_out, "write")
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
    """A decision about shops; ``alike``: about all for which this category is suggested."""

    decision: str
    shops: tuple[str, ...]
    category: str
    is_undo: bool
    alike: bool

    def carry_out(self, ledger: Connection, tool_id: int) -> _Decided:
        """Set or remove the shops' rules; leaving a suggestion open changes nothing."""
        shops, category, changed = [], self.category, 0
        if self.decision == "set":
            shops = self._meant(ledger, tool_id)
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

    def _meant(self, ledger: Connection, tool_id: int) -> list[str]:
        if not self.alike:
            return list(self.shops)
        suggestions = rules.list_rules(ledger, tool_id, None).suggestions
        return [
            suggestion.shop
            for suggestion in suggestions
            if str(suggestion.category) == self.category
        ][:MAX_TOGETHER]


def shown_suggestions(suggestions: tuple[Suggestion, ...]) -> list[ShownSuggestion]:
    """Suggestions with the number of those that are alike."""
    same = Counter(suggestion.category for suggestion in suggestions)
    return [ShownSuggestion(suggestion, same[suggestion.category]) for suggestion in suggestions]
