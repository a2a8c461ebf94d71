"""Finds a household's rows by shop, words, amount, days, account and category, and sums them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal, get_args

import apsw

from mdvec.household.core.found import (
    FoundAnswer,
    InvalidRowFilter,
    found_text,
    no_rows_note,
)
from mdvec.household.core.periods import resolve_period
from mdvec.household.core.row_wording import Paging
from mdvec.household.core.transaction import listed_row
from mdvec.household.core.wording import (
    MAX_PAGE_SIZE,
    InvalidPage,
    InvalidPageSize,
    clipped_note,
)
from mdvec.household.found_sums import GroupBy, found_groups, totals_of
from mdvec.household.interfaces.columns import ColumnsCache, LedgerColumns, rows_with_ids
from mdvec.household.interfaces.plans import notes_on
from mdvec.household.interfaces.transactions import TRANSACTION_COLUMNS, read_transaction
from mdvec.household.nearness import Embed, beside_notes, near_rows
from mdvec.household.overview import coverage, named_subject, one_state
from mdvec.household.row_search import RowChoice, RowSearch
from mdvec.text import shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

FOUND_PAGE_SIZE = 5
"""The rows on a page by default: a sum was asked for, or these are enough to see what it is of."""
Order = Literal["newest", "oldest", "largest", "smallest"]


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The rows to find; None and "" restrict nothing.

    Attributes:
        query: words of shops, memos, notes and tags; those between spaces must all be there, and
            of alternatives, which a | separates, one.
        min_amount: the least amount in yen, without its sign.
        max_amount: the greatest amount in yen, without its sign.
        period: days or months in words, instead of ``since`` and ``until``.
        account: an account's name, or a part of it.
        category: a category's name, or 支出 or 収入.
        rows: ``counted`` are those in the sums; ``left_out`` the others; ``not_duplicate`` all but
            duplicates; the other values select those left out for one reason.
        since: the first ISO day or month.
        until: the last.
    """

    query: str | None = None
    min_amount: int | None = None
    max_amount: int | None = None
    period: str | None = None
    account: str | None = None
    category: str | None = None
    rows: RowChoice = "counted"
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class ListingOptions:
    """How to list the rows found; ``largest`` and ``smallest`` go by the amount without sign.

    A page has at most 200 rows. By default it has 5; none if the rows are grouped, because groups
    answer what was asked. Months, of periods and groups, start on the day ``month_starts_on``.
    """

    sort: Order = "newest"
    group_by: GroupBy | None = None
    page: int = 1
    page_size: int | None = None
    month_starts_on: int = 1

    @property
    def rows_on_page(self) -> int:
        """The rows on a page."""
        if self.page_size is not None:
            return self.page_size
        return 0 if self.group_by else FOUND_PAGE_SIZE


def find_transactions(
    connection: apsw.Connection,
    tool_id: int,
    wanted: RowFilter,
    listing: ListingOptions,
    cache: ColumnsCache,
    today: date,
    embed: Embed | None = None,
) -> FoundAnswer:
    """The rows that match all filters: totals over all of them, groups, and one page.

    Words match a shop, memo, note or tag only where its words are the same, in any width, kana or
    spelling; shops that have the letters inside another word are named in a note, but not summed.
    So are, on the first page, rows of the category with that name and, if there is ``embed``,
    shops that are near in meaning.
    Sums are exact yen, as in the month's sums: 支出 is spending less refunds, 収入 the category of
    income.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: the period was not understood.
        UnknownCategory: no category, or several, have that name.
        UnknownAccount: no account has that name.
        InvalidRowFilter: another filter's value is not usable.
        InvalidPage: the page does not exist.
        InvalidPageSize: the page size is out of range.
    """
    _check(wanted, listing)
    with one_state(connection):
        columns = cache.get(connection, tool_id)
        covered = coverage(connection, tool_id, today, listing.month_starts_on)
        search = RowSearch(columns)
        period = None
        if any(map(str.strip, filter(None, (wanted.since, wanted.until, wanted.period)))):
            period = resolve_period(
                today, covered.default_range,
                since=wanted.since, until=wanted.until, period=wanted.period,
            )  # fmt: skip
            has_rows = search.within_days(period.days)
            search.notes.append(period.understood)
            shown_months = covered.shown(period.months)
            if shown_months is not None and shown_months != period.months:
                search.notes.append(clipped_note(shown_months.in_words))
            search.notes += [] if has_rows else [no_rows_note(columns.span)]
        named, notes = named_subject(connection, tool_id, wanted.category)
        search.notes += notes
        search.of_subject(named)
        search.of_account(wanted.account)
        search.between(wanted.min_amount, wanted.max_amount)
        search.named(wanted.query)
        chosen = search.selected(wanted.rows)
        if wanted.query and listing.page == 1:
            any_named = bool(chosen.any())
            near = _near(connection, tool_id, wanted.query, embed, any_named=any_named)
            unnamed = search.unnamed(wanted.rows)
            search.notes += beside_notes(columns, wanted.query, unnamed, near)
        places = _sorted(columns, chosen, listing.sort)
        paging = Paging(listing.page, listing.rows_on_page, len(places))
        if not 1 <= paging.number <= paging.pages:
            raise InvalidPage(paging.number, paging.pages)
        shown = places[paging.offset : paging.offset + paging.size]
        ids = [int(number) for number in columns.ids[shown]]
        stored = rows_with_ids(connection, TRANSACTION_COLUMNS, ids)
        noted = notes_on(connection, tool_id, ids)
    rows = [read_transaction(stored[number]) for number in ids]
    groups = found_groups(columns, chosen, listing.group_by, listing.month_starts_on)
    totals, age = totals_of(columns, chosen), covered.age(today, period)
    return FoundAnswer(
        understood=search.understood,
        total_rows=totals.rows,
        spending=totals.spending,
        income=totals.income,
        balance=totals.balance,
        left_out=search.left_out,
        groups=groups,
        rows=tuple(listed_row(row, noted.get(row.id)) for row in rows),
        page=paging.number,
        pages=paging.pages,
        next_page=paging.next,
        notes=tuple(search.notes),
        age=age,
        text=found_text(search.understood, totals, groups, search.notes, rows, noted, paging, age),
    )


def _near(
    connection: apsw.Connection, tool_id: int, query: str, embed: Embed | None, *, any_named: bool
) -> Sequence[int]:
    return near_rows(connection, tool_id, query, embed, any_named=any_named) if embed else ()


def _check(wanted: RowFilter, listing: ListingOptions) -> None:
    choices: list[tuple[str, object, tuple[object, ...]]] = [
        ("rows", wanted.rows, get_args(RowChoice)),
        ("sort", listing.sort, get_args(Order)),
        ("group_by", listing.group_by, (None, *get_args(GroupBy))),
    ]
    for name, value, known in choices:
        if value not in known:
            fitting = "、".join(str(choice) for choice in known if choice is not None)
            raise InvalidRowFilter(
                f"{name}「{shortened(str(value))}」は使えません。{fitting} から選んでください。"
            )
    for name, amount in (("min_amount", wanted.min_amount), ("max_amount", wanted.max_amount)):
        if amount is not None and amount < 0:
            raise InvalidRowFilter(f"{name} は 0 以上の円で指定してください（支出も正の数で）。")
    if (
        wanted.min_amount is not None
        and wanted.max_amount is not None
        and wanted.min_amount > wanted.max_amount
    ):
        raise InvalidRowFilter("min_amount が max_amount より大きくなっています。")
    if not 0 <= listing.rows_on_page <= MAX_PAGE_SIZE:
        raise InvalidPageSize(listing.rows_on_page)


def _sorted(columns: LedgerColumns, chosen: Mask, order: Order) -> NDArray[np.intp]:
    """The places of the rows in the order asked for; of equal amounts the newest comes first."""
    import numpy as np

    places = np.flatnonzero(chosen)
    if order == "oldest":
        return places
    newest: NDArray[np.intp] = places[::-1]
    if order == "newest":
        return newest
    known = newest[columns.has_amount[newest]]
    size = np.abs(columns.amounts[known])
    ordered = np.argsort(size if order == "smallest" else -size, kind="stable")
    return np.concatenate([known[ordered], newest[~columns.has_amount[newest]]])
