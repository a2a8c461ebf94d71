"""The views for reviewing possible duplicates and suggested categories, by key or button."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from mdvec import household
from mdvec.household import Category, Ledger, deciding, review, rules
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.web.page.households import Household, categories_of, household_view
from mdvec_mcp.web.page.views import (
    ChangedMeanwhile,
    Query,
    Views,
    address_fields,
    number,
    or_again,
    page_or_last,
    words,
)

_FIELDS = (
    "date", "amount", "description", "category_major", "category_minor", "account", "memo",
    "source_file",
)  # fmt: skip
_MAX_ID = 10**12
_MOVED = {"transfer": "transfer", "card_bill": "card_bill"}
"""The form's decisions for candidates whose rows are not purchases, by kind."""
MAX_TOGETHER = 40
"""The most shops decided at once: their names are in the address that offers the undo."""


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate with its rows, and the fields in which they differ."""

    pair: household.DuplicateCandidate
    rows: tuple[household.CandidateRow, ...]
    different: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Whether it is undecided."""
        return self.pair.user_decision in (None, "skip")


def routes(views: Views) -> list[Route]:
    """The routes of the view and its forms."""
    forms = {"decide": decide, "detect": detect, "categories/decide": decide_categories}
    return [
        views.route("/review", household_view(show)),
        views.route("/review/categories", household_view(show_suggestions)),
        *(
            views.route(f"/review/{path}", household_view(answer, is_needed=True), changes=True)
            for path, answer in forms.items()
        ),
    ]


async def show(visit: Household) -> Response:
    """A page of open candidates, likely ones first; with ``decided`` also the decided ones."""
    query = visit.query

    def read(ledger: Ledger) -> household.CandidateList:
        work = partial(
            review.list_candidates, ledger, review.MAX_LIMIT, skip_checked="decided" not in query
        )
        return page_or_last(query, work)

    listed = await visit.read(read)
    return visit.page(
        "review.html", listed=listed, fields=_FIELDS,
        candidates=shown_candidates(listed.candidates), max_days=household.MAX_DATE_TOLERANCE,
        days=visit.wiring.settings.duplicates.options().date_tolerance_days,
        undo=visit.undo.number("undo", 0, 0, _MAX_ID),
    )  # fmt: skip


async def decide(visit: Household) -> Response:
    """Decide on a candidate, or on all similar ones; the page's script gets the new count."""
    form = visit.query
    check = form.number("check", 0, 0, _MAX_ID)  # 0 is not a candidate and is refused
    keep = form.number("keep", 0, 0, _MAX_ID) or None
    choice = household.ReviewDecision(form.text("decision"), keep=keep, alike="alike" in form)
    await visit.write(partial(deciding.confirm, check_id=check, choice=choice))
    if "part" not in form:
        undo = "" if choice.decision == "skip" else f"&undo={check}"
        return RedirectResponse(f"/review?household={visit.name}{undo}", 303)
    left = await visit.read(partial(review.list_candidates, limit=1))
    kind = form.text("transfer") if choice.decision == "duplicate" else ""
    key = f"is_{_MOVED.get(kind, choice.decision)}"
    text = words(visit.language, key)
    return JSONResponse({"open": left.total_count, "text": text})


async def detect(visit: Household) -> Response:
    """Search the ledger for candidates within the tolerance of days in the form."""
    options = visit.wiring.settings.duplicates.options()
    usual = options.date_tolerance_days
    days = visit.query.number("days", usual, 0, household.MAX_DATE_TOLERANCE)
    options = replace(options, date_tolerance_days=days)
    await visit.write(partial(review.detect, options=options))
    return RedirectResponse(f"/review?household={visit.name}", 303)


def shown_candidates(candidates: Iterable[household.DuplicateCandidate]) -> list[ShownCandidate]:
    """Candidates with their rows and differences."""
    shown = []
    for candidate in candidates:
        rows = (candidate.transaction_1, candidate.transaction_2, *candidate.others)
        different = {name for name in _FIELDS if len({getattr(row, name) for row in rows}) > 1}
        shown.append(ShownCandidate(candidate, rows, frozenset(different)))
    return shown


@dataclass(frozen=True, slots=True)
class _Decided:
    """The shops that got or lost a category, and how many rows changed and suggestions are left."""

    shops: list[str]
    category: str
    changed: int
    left: int


async def show_suggestions(visit: Household) -> Response:
    """The suggestions, largest sums first, and the existing rules."""
    undo = visit.undo

    def read(ledger: Ledger) -> tuple[household.RuleList, list[Category]]:
        return rules.list_rules(ledger, None), categories_of(ledger)

    listed, known = await visit.read(read)
    return visit.page(
        "suggestions.html", listed=listed, known=known, renaming=rules.quoted,
        same=Counter(suggestion.category for suggestion in listed.suggestions),
        undo=undo.all("set")[:MAX_TOGETHER],
        again=undo.text("again") if "category" in undo else "",
    )  # fmt: skip


async def decide_categories(visit: Household) -> Response:
    """Give a category to a shop or to all shops with the same suggestion, or undo that."""
    is_set = visit.query.text("decision") == "set"
    answer = or_again(_change_rules, show_suggestions) if is_set else _change_rules
    return await answer(visit)


async def _change_rules(visit: Household) -> Response:
    form = visit.query
    is_set = form.text("decision") == "set"
    done = await visit.write(partial(_decided, form))
    if "part" in form:
        key = "is_ruled" if is_set else "is_skip"
        text = words(visit.language, key, category=done.category, n=number(done.changed))
        return JSONResponse({"open": done.left, "text": text})
    fields = {
        "household": visit.name, "category": done.category or None,
        "set" if is_set else "again": done.shops,
    }  # fmt: skip
    return RedirectResponse(f"/review/categories?{address_fields(fields)}", 303)


def _decided(form: Query, ledger: Ledger) -> _Decided:
    """Set or remove the rules of a form's shops; leaving a suggestion open changes nothing.

    With ``alike``, the shops are all shops for which the form's category is suggested.
    """
    shops, category, changed = form.all("shop")[:MAX_TOGETHER], form.text("category").strip(), 0
    made = form.text("made")
    if form.text("decision") == "set":
        if "alike" in form:
            suggestions = rules.list_rules(ledger, None).suggestions
            alike = (each.shop for each in suggestions if str(each.category) == category)
            shops = list(alike)[:MAX_TOGETHER]
        for shop in shops:
            changed += rules.set_rule(ledger, shop=shop, category=category).changed
        category = _known_rules(ledger).get(household.shop_of(shops[0]), "") if shops else category
    elif "undo" not in form:
        shops = []
    elif shops:
        known = _known_rules(ledger)
        if made and any(known.get(household.shop_of(shop), made) != made for shop in shops):
            raise ChangedMeanwhile
        shops = [shop for shop in shops if household.shop_of(shop) in known]
        category = known[household.shop_of(shops[0])] if len(shops) == 1 else ""
        for shop in shops:
            changed += rules.remove_rule(ledger, shop=shop).changed
    else:
        changed = rules.remove_rule(ledger, category=category).changed
        category = ""
    left = len(rules.list_rules(ledger, None).suggestions)
    return _Decided(shops, category, changed, left)


def _known_rules(ledger: Ledger) -> dict[str, str]:
    return {rule.shop: str(rule.category) for rule in household.rules_of(ledger)}
