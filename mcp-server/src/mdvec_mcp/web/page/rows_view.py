"""The view that finds, sorts and corrects a household's rows, and undoes corrections."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args
from urllib.parse import parse_qsl, quote, urlencode

from mdvec import household
from mdvec.errors import MdvecError
from mdvec.household import (
    MAX_PAGE_SIZE,
    FoundAnswer,
    Ledger,
    NotedRow,
    RowChoice,
    note_row,
    noted_row,
    rules,
)
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from mdvec_mcp.web.page import data_view
from mdvec_mcp.web.page.households import Household, categories_of, household_view
from mdvec_mcp.web.page.views import (
    MAX_FIELD_CHARS,
    ChangedMeanwhile,
    Query,
    Views,
    or_again,
    page_or_last,
    yen_of,
)

_ROWS = 50
_MAX_FILE = 10_000
_MAX_ADDRESS = 30_000
"""The maximum length of the old values in an address, which an undo restores; servers accept 64
KiB."""
_OF_A_CHANGE = ("was", "then", "long", "ruled", "before", "made", "edit", "rule")
_MAX_ID = 19
"""The number of digits of SQLite's largest integer."""


class NothingToChange(MdvecError):
    """A form without a row, or without anything to change or undo."""

    def __init__(self) -> None:
        super().__init__("nothing was changed, since no row is chosen; go back and choose one")


class TooManyAtOnce(MdvecError):
    """More rows than a download may have."""

    def __init__(self, rows: int) -> None:
        super().__init__(
            f"there are {rows:,} rows, and a CSV file here has at most {_MAX_FILE:,}; name a "
            "period, or run: mdvec household export --format csv"
        )


@dataclass(frozen=True, slots=True)
class ShownRows:
    """The contents of the view.

    Attributes:
        counted: the sums of the rows that count, if others are shown too.
        own: the categories that the user gave to single rows, by row id.
        edited: the row that is being corrected.
        trial: what a rule for that row's shop would change.
    """

    answer: FoundAnswer
    counted: FoundAnswer
    own: dict[int, household.Category]
    categories: list[household.Category]
    accounts: list[str]
    corrected: household.NotesAnswer
    edited: NotedRow | None
    trial: household.RuleTrial | None


def routes(views: Views) -> list[Route]:
    """The routes of the view, its download and its forms."""
    changed = household_view(or_again(change, _show_again), is_needed=True)
    return [
        views.route("/money/rows", household_view(show), has_form=True),
        views.route("/money/rows.csv", household_view(table, is_needed=True)),
        views.route("/money/rows/change", changed, changes=True),
    ]


async def show(visit: Household, typed: Query | None = None) -> Response:
    """Show a page of the requested rows; after a refused form also its ``typed`` values."""
    shown = await visit.read(partial(_read, visit))
    return visit.page(
        "rows.html", typed=typed, shown=shown, sort=_sort(visit.query),
        choices=get_args(RowChoice),
        was=visit.undo.text("was"), ruled=visit.undo.text("ruled"),
    )  # fmt: skip


async def _show_again(visit: Household) -> Response:
    """The rows that a refused form was sent from."""
    form = visit.query
    edited = [("edit", form.text("id"))] if "one" in form else []
    query = Query(visit.request, [*_Change(form).shown, *edited])
    return await show(replace(visit, query=query), form)


async def table(visit: Household) -> Response:
    """All requested rows as CSV."""

    def read(ledger: Ledger) -> list[FoundAnswer]:
        answers = [_find_rows(visit, ledger, MAX_PAGE_SIZE)]
        if answers[0].total_rows > _MAX_FILE:
            raise TooManyAtOnce(answers[0].total_rows)
        while (page := answers[-1].next_page) is not None:
            answers.append(_find_rows(visit, ledger, MAX_PAGE_SIZE, page))
        return answers

    columns = (
        "id", "date", "amount", "description", "category_major", "category_minor", "account",
        "memo", "left_out", "note",
    )  # fmt: skip
    rows = [
        (*(getattr(row, column) for column in columns), " ".join(row.tags))
        for answer in await visit.read(read)
        for row in answer.rows
    ]
    return data_view.csv_file("rows", (*columns, "tags"), rows)


async def change(visit: Household) -> Response:
    """Correct rows, set a shop's rule, or undo that; then redirect to the rows shown before."""
    change = _Change(visit.query)
    done = {"household": visit.name} | await visit.write(change.carry_out)
    fields = [(name, value) for name, value in change.shown if name not in done]
    return RedirectResponse(f"/money/rows?{urlencode([*fields, *done.items()])}", 303)


def _find_rows(
    visit: Household, ledger: Ledger, size: int, page: int = 1, rows: RowChoice | None = None
) -> FoundAnswer:
    query = visit.query
    amounts = {
        name: yen_of(visit.language, query.text(name).strip()) if name in query else None
        for name in ("min", "max")
    }
    wanted = household.RowFilter(
        query=query.text("q").strip() or None,
        min_amount=amounts["min"] or None,
        max_amount=amounts["max"],
        period=query.text("period").strip() or None,
        account=query.text("account").strip() or None,
        category=query.text("category").strip() or None,
        shop=query.all("shop"),
        exclude_shop=query.all("without"),
        rows=rows or _choice(query),
        since=query.text("since") or None,
        until=query.text("until") or None,
    )
    listing = household.ListingOptions(_sort(query), None, page, size)
    return household.find_transactions(ledger, wanted, listing)


def _read(visit: Household, ledger: Ledger) -> ShownRows:
    query = visit.query
    answer = page_or_last(query, partial(_find_rows, visit, ledger, _ROWS))
    counted = answer
    if _choice(query) == "all":
        counted = _find_rows(visit, ledger, 0, rows="counted")
    edit = query.number("edit", 0, 1, 2**63 - 1)
    edited = noted_row(ledger, edit) if edit else None
    trial = None
    if edited is not None and "rule" in query:
        category = query.text("rule")
        trial = rules.try_rule(ledger, shop=edited.row.description, category=category)
    return ShownRows(
        answer=answer,
        counted=counted,
        own=household.own_categories(ledger),
        categories=categories_of(ledger),
        accounts=sorted(household.account_names(ledger)),
        corrected=household.list_notes(ledger),
        edited=edited,
        trial=trial,
    )


def _choice(query: Query) -> RowChoice:
    value = query.text("rows")
    return next((name for name in get_args(RowChoice) if name == value), "all")


def _sort(query: Query) -> household.RowOrder:
    value = query.text("sort")
    return next((order for order in get_args(household.RowOrder) if order == value), "newest")


@dataclass(frozen=True, slots=True)
class _Change:
    """A change requested by a form; the next address contains the values for its undo."""

    form: Query

    def _text(self, name: str) -> str:
        return self.form.text(name).strip()

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The fields of the address that the form was sent from, without those of a change."""
        fields = parse_qsl(self._text("shown"))
        return [(name, value) for name, value in fields if name not in _OF_A_CHANGE]

    @property
    def ids(self) -> list[int]:
        """The rows that the form names; raises NothingToChange if it names none."""
        named = self.form.all("id")[:_ROWS]
        ids = [int(row_id) for row_id in named if row_id.isdecimal() and len(row_id) <= _MAX_ID]
        if not ids:
            raise NothingToChange
        return ids

    def carry_out(self, ledger: Ledger) -> dict[str, str]:
        """Carry out the change; returns new fields of the address."""
        match self._text("do"):
            case "save":
                return self._save(ledger)
            case "restore":
                return self._restore(ledger)
            case "always":
                return {"edit": str(self.ids[0]), "rule": self._text("category")}
            case "rule":
                return self._set_rule(ledger)
            case "unrule":
                return self._unset_rule(ledger)
        raise NothingToChange

    def _save(self, ledger: Ledger) -> dict[str, str]:
        """Set the changed values of one row, or the category and additional tags of several."""
        ids, before = self.ids, _state(ledger, self.ids)
        rows = [noted_row(ledger, row_id) for row_id in ids]
        if "one" in self.form:
            self._save_one(ledger, rows[0])
        else:
            self._save_several(ledger, rows)
        fits = len(quote(before)) <= _MAX_ADDRESS and len(before) <= MAX_FIELD_CHARS
        then = _digest(_state(ledger, ids))
        return {"was": before, "then": then} if fits else {"long": "1"}

    def _save_one(self, ledger: Ledger, noted: NotedRow) -> None:
        category = self._changed("category", str(_category(noted)))
        note = self._changed("note", noted.note)
        tags = self._changed("tags", " ".join(noted.tags))
        note_row(
            ledger, transaction_id=noted.row.id, note=note,
            tags=None if tags is None else _tags(tags), category=category,
        )  # fmt: skip

    def _save_several(self, ledger: Ledger, rows: list[NotedRow]) -> None:
        category, tags = self._text("category"), _tags(self._text("tags"))
        changed = [noted.row.id for noted in rows if category != str(_category(noted))]
        if changed and category:
            household.categorize_rows(ledger, transaction_ids=changed, category=category)
        for noted in rows if tags else ():
            all_tags = [*noted.tags, *tags]
            note_row(ledger, transaction_id=noted.row.id, note=None, tags=all_tags)

    def _changed(self, name: str, now: str) -> str | None:
        """The form's new value for a value that is ``now``; None if the form does not change it.

        Raises ChangedMeanwhile if the value is not the one that the form was shown with.
        """
        typed, now = self._text(name), now.strip()
        seen = self._text(f"seen_{name}") if self.form.all(f"seen_{name}") else now
        if typed in (seen, now):
            return None
        if now != seen:
            raise ChangedMeanwhile
        return typed

    def _restore(self, ledger: Ledger) -> dict[str, str]:
        """Restore the values that rows had before a change; without them, NothingToChange."""
        try:
            was = [
                (int(row_id), str(note), [str(tag) for tag in tags], str(category))
                for row_id, note, tags, category in json.loads(self._text("was"))[:_ROWS]
            ]
        except (ValueError, TypeError, RecursionError):
            raise NothingToChange from None
        if "then" in self.form and self._text("then") != _digest(
            _state(ledger, [row_id for row_id, *_ in was])
        ):
            raise ChangedMeanwhile
        for row_id, note, tags, category in was:
            note_row(ledger, transaction_id=row_id, note=note, tags=tags, category=category)
        return {}

    def _set_rule(self, ledger: Ledger) -> dict[str, str]:
        shop = noted_row(ledger, self.ids[0]).row.description
        before = _rule_of(ledger, shop)
        rules.set_rule(ledger, shop=shop, category=self._text("category"))
        return {"ruled": shop, "before": before, "made": _rule_of(ledger, shop)}

    def _unset_rule(self, ledger: Ledger) -> dict[str, str]:
        shop, before = self._text("shop"), self._text("before")
        if "made" in self.form and self._text("made") != _rule_of(ledger, shop):
            raise ChangedMeanwhile
        if before:
            rules.set_rule(ledger, shop=shop, category=before)
        else:
            rules.remove_rule(ledger, shop=shop)
        return {}


def _category(noted: NotedRow) -> household.Category:
    return household.Category(noted.row.category_major, noted.row.category_minor or None)


def _tags(typed: str) -> list[str]:
    return typed.replace("、", " ").replace(",", " ").split()


def _state(ledger: Ledger, ids: Sequence[int]) -> str:
    """The user's values of rows, as JSON: the id, note, tags and own category of each row."""
    own = household.own_categories(ledger)
    rows = [noted_row(ledger, row_id) for row_id in ids]
    values = [[row.row.id, row.note, list(row.tags), str(own.get(row.row.id, ""))] for row in rows]
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()[:16]


def _rule_of(ledger: Ledger, shop: str) -> str:
    """The category that a rule gives a shop; "" without one."""
    known = {rule.shop: str(rule.category) for rule in household.rules_of(ledger)}
    return known.get(household.shop_of(shop), "")
