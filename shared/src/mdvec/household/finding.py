"""Finds a household's rows by shop, words, amount, days, account and category, and sums them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from mdvec.dates import Days, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.categories import hierarchy_of
from mdvec.household.core.found import (
    FoundAnswer,
    Paging,
    RowWords,
    found_text,
    left_out_note,
)
from mdvec.household.core.row_sums import (
    DATED,
    NAMED_BY,
    TIMES,
    FoundGroup,
    GroupBy,
    Mean,
    ShopOf,
    groups_by,
    groups_by_time,
    means_over,
    sums_within,
    with_others,
)
from mdvec.household.core.shown import bracketed_name
from mdvec.household.core.sums import REASONS, KeySum, RowSum, Totals, totals_of
from mdvec.household.interfaces import ledger_sums, row_sums
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.plans import all_notes, listed_rows, renamed_notes
from mdvec.household.interfaces.subjects import (
    Embed,
    categories_asked,
    category_named,
    near_rows,
    related_notes,
)
from mdvec.household.ledger_view import MAX_NAMED_ROWS, LedgerView, doubt_notes_on, ledger_view
from mdvec.household.row_filters import (
    RowFilter,
    UnderstoodFilter,
    check_filter,
    understood_filter,
)

FOUND_PAGE_SIZE = 5
"""The rows on a page by default: enough to see what a sum consists of."""
_BY_TEXT = ("shop", "category", "account")
"""The groupings by the rows' own texts, rather than by day or file."""


@dataclass(frozen=True, slots=True)
class ListingOptions:
    """How to list the rows found; ``largest`` and ``smallest`` go by the amount without sign.

    ``sort`` is the order of rows, by default the newest first, and of groups: by default parts of
    time are in order of time, and other groups begin with the largest.
    A page has at most 200 rows, by default 5, or none if the rows are grouped: groups answer the
    question.
    """

    sort: row_sums.RowOrder | None = None
    group_by: GroupBy | None = None
    page: int = 1
    page_size: int | None = None

    @property
    def orders_groups(self) -> bool:
        """Whether groups, if there are any, are in the order asked for."""
        orders = ("largest", "smallest", *(("newest", "oldest") if self.group_by in DATED else ()))
        return self.group_by is None or self.sort in (None, *orders)

    @property
    def rows_on_page(self) -> int:
        """The rows on a page."""
        if self.page_size is not None:
            return self.page_size
        return 0 if self.group_by else FOUND_PAGE_SIZE


def find_transactions(
    ledger: Ledger, wanted: RowFilter, listing: ListingOptions, embed: Embed | None = None
) -> FoundAnswer:
    """The rows that match all filters: totals over all of them, groups, and one page.

    Words match a shop, memo, note or tag only where its words are the same, in any width, kana or
    spelling; shops that have the letters inside another word are named in a note, but not summed.
    On the first page, notes also name a category with the words in its name and, with ``embed``,
    shops that are near in meaning. Sums are exact yen: 支出 is spending less refunds, 収入 the
    category of income; for transfers alone, what moved out and in. A person's rows are those of the
    files in a folder.

    Raises:
        EmptyLedger: there are no rows yet.
        InvalidPeriod: the period was not understood.
        UnknownCategory: no category, or several, have that name.
        UnknownAccount: no account has that name.
        InvalidRowFilter, InvalidChoice: another filter's value, or the listing, is not usable.
        InvalidPage: the page does not exist.
    """
    check_filter(wanted)
    wording.check_choice("sort", listing.sort, (None, *get_args(row_sums.RowOrder)))
    wording.check_choice("group_by", listing.group_by, (None, *get_args(GroupBy)))
    wording.check_limit(listing.rows_on_page, 0, wording.MAX_PAGE_SIZE)
    with ledger_view(ledger) as view:
        understood = understood_filter(view, wanted)
        shop: ShopOf = str
        if understood.words.restrict or listing.group_by == "shop":
            shop = ledger_sums.shops_of_ledger(ledger)
        found = _select(ledger, understood, listing)
        totals = found.totals
        notes = _notes(view, understood, found, listing, shop, embed)
        requested = understood.rows.condition.days
        known = view.known_days(requested)
        groups = _groups(view, found, shop, listing, requested)
        grouped = NAMED_BY.get(listing.group_by, "")
        paging = Paging(
            listing.page, listing.rows_on_page, totals.rows, len(groups) if grouped else 0,
            replace(listing, page_size=None).rows_on_page,
        )  # fmt: skip
        if grouped:
            groups = with_others(groups, paging.of_groups, grouped)
        rows = listed_rows(
            ledger,
            row_sums.page_of(
                found.matching, listing.sort or "newest", offset=paging.offset, limit=paging.size
            ),
        )
        notes += _doubts(view, found.matching)
    means: tuple[Mean, ...] = ()
    averaged = sums_within(found.by_key, known) if known else ()
    if listing.group_by in TIMES and known and averaged:
        means = means_over(averaged, known, ledger.month_starts_on, view.covered.present)
        notes.append(f"平均は {known.in_words} のもの")
        notes += view.averaged_notes(MonthRange.around(known, ledger.month_starts_on))
    answer = FoundAnswer(
        understood=understood.in_words,
        total_rows=totals.rows,
        spending=totals.spending,
        income=totals.income,
        balance=totals.balance,
        left_out=found.left_out,
        groups=groups,
        means=means,
        rows=rows,
        page=paging.number,
        pages=paging.pages,
        next_page=paging.next,
        notes=tuple(notes),
        age=view.age(understood.period),
        text="",
    )
    moved = found.matching.are_transfers
    return replace(answer, text=found_text(answer, totals, paging, grouped, moved=moved))


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows that match a filter and its words, with sums of them.

    ``transfers`` is how many of them are transfers. ``by_text`` sums the rows by their texts,
    ``by_key`` by day or file, each if the listing needs it; ``seen`` are the sums by text of what
    matches without the words.
    """

    matching: row_sums.RowsChosen
    totals: Totals
    left_out: dict[str, int]
    transfers: int
    by_text: Sequence[RowSum] = ()
    by_key: Sequence[KeySum] = ()
    seen: Sequence[RowSum] = ()


def _select(ledger: Ledger, wanted: UnderstoodFilter, listing: ListingOptions) -> _Found:
    """The rows that match; if all of them are transfers, summed as such."""
    found = _summed(ledger, wanted, listing)
    if wanted.rows.are_transfers or not found.transfers or found.transfers < found.totals.rows:
        return found
    return _summed(ledger, replace(wanted, rows=replace(wanted.rows, are_transfers=True)), listing)


def _summed(ledger: Ledger, wanted: UnderstoodFilter, listing: ListingOptions) -> _Found:
    """Sum the rows by day or file in SQL; if words choose among them, or group them, by texts."""
    rows, words = wanted.rows, wanted.words
    key: Literal["source_file", "date"] = "source_file" if listing.group_by == "person" else "date"
    if not words.restrict and listing.group_by not in _BY_TEXT:
        by_key = row_sums.sums_by(rows, key)
        others = row_sums.rows_left_out(rows.condition)
        left_out = _left_out(others, rows.reasons)
        transfers = dict(others).get("transfer", 0) if "transfer" in rows.reasons else 0
        return _Found(rows, totals_of(by_key), left_out, transfers, by_key=by_key)
    marked = all_notes(ledger) if words.restrict else {}
    seen = row_sums.sums_by_text(rows.condition, marked, of_transfers=rows.are_transfers)
    words.choose(seen)
    by_text = [row_sum for row_sum in words.named if row_sum.left_out in rows.reasons]
    left_out = _left_out(((each.left_out, each.rows) for each in words.named), rows.reasons)
    if words.restrict:
        rows = _with_texts(rows, seen, by_text)
    is_by_key = listing.group_by not in (None, *_BY_TEXT)
    by_key = row_sums.sums_by(rows, key) if is_by_key else []
    transfers = sum(each.rows for each in by_text if each.left_out == "transfer")
    return _Found(rows, totals_of(by_text), left_out, transfers, by_text, by_key, seen)


def _notes(
    view: LedgerView,
    wanted: UnderstoodFilter,
    found: _Found,
    listing: ListingOptions,
    shop: ShopOf,
    embed: Embed | None,
) -> list[str]:
    """How the filters were understood, and what they left out.

    The first page's also say what else the words could mean.
    """
    notes, words, reasons = list(wanted.notes), wanted.words, found.matching.reasons
    moved = found.matching.are_transfers
    if found.left_out:
        notes.append(left_out_note(found.left_out))
    if found.transfers and not moved:
        notes.append(f"振替 {found.transfers:,}件を含みます")
    if wanted.period and not found.totals.rows:
        notes += view.filling_notes(wanted.period.months, wanted.period.days)
    if words.restrict:
        alone = words.each_alone(reasons, moved=moved)
        notes += [*alone, *words.as_amount(reasons), *words.notes(reasons, shop, moved=moved)]
        if listing.page == 1:
            names = {(row_sum.category_major, row_sum.category_minor) for row_sum in found.seen}
            embed = None if alone else embed  # shops near to some of the words would mislead
            notes += _related_notes(view.ledger, words, found.matching, shop, embed, names)
    if listing.group_by == "person":
        is_apart = any("/" in file_sum.key for file_sum in found.by_key)
        none = "" if is_apart else "が、どのファイルもフォルダの中にありません"
        notes.append(f"person は明細のファイルがあるフォルダ（夫/、妻/ など）です{none}")
    if not (listing.orders_groups or listing.rows_on_page):
        notes.append(
            f"group_by={listing.group_by} は sort={listing.sort} で並べられないので、いつもの順です"
        )
    return notes


def _doubts(view: LedgerView, matching: row_sums.RowsChosen) -> list[str]:
    """Notes on planned and stray rows, renamed categories, and rows that may count twice."""
    matching_among = partial(row_sums.ids_of, matching)

    days = matching.condition.days or matching.condition.extent
    return [
        *_far_notes(view, matching),
        *renamed_notes(view.ledger, lambda: row_sums.with_ids(matching_among())),
        *doubt_notes_on(view.ledger, days, matching_among),
    ]


def _far_notes(view: LedgerView, matching: row_sums.RowsChosen) -> list[str]:
    """Notes on rows dated after today, and on stray ones."""
    days, body = matching.condition.days, view.covered.body

    def on(some: Days) -> row_sums.RowsChosen:
        return replace(matching, condition=replace(matching.condition, days=some))

    def totals(some: Days) -> Totals:
        return totals_of(row_sums.sums_by(on(some), "date"))

    notes = view.planned_notes(
        days or body.days, wording.PLANNED_LEFT_OUT, totals, moved=matching.are_transfers
    )
    for stray, included in zip(view.stray_days(days), (True, False), strict=True):
        if total := sum(totals(some).rows for some in stray):
            rows = [
                row
                for some in stray
                for row in row_sums.page_of(on(some), "oldest", offset=0, limit=MAX_NAMED_ROWS)
            ]
            notes.append(wording.astray_note(total, rows[:MAX_NAMED_ROWS], included=included))
    return notes


def _with_texts(
    rows: row_sums.RowsChosen, sums: Sequence[RowSum], chosen: Sequence[RowSum]
) -> row_sums.RowsChosen:
    """The rows with the texts of the chosen sums; rows with notes are selected by their ids."""
    texts = dict.fromkeys((each.description, each.memo) for each in chosen if each.row_id is None)
    noted, of_them = (
        tuple(each.row_id for each in part if each.row_id is not None) for part in (sums, chosen)
    )
    return replace(rows, texts=tuple(texts), noted=noted, chosen=of_them)


def _related_notes(
    ledger: Ledger,
    words: RowWords,
    matching: row_sums.RowsChosen,
    shop: ShopOf,
    embed: Embed | None,
    names: Iterable[tuple[str, str]],
) -> list[str]:
    """Notes on rows that the words could also mean, and on categories that they do not exclude.

    ``names`` are the categories of the selected rows: those of the whole ledger would take a third
    of the answer's time.
    """
    if not (words.query or words.excluded_words):
        return []
    hierarchy, moved, reasons = hierarchy_of(names), matching.are_transfers, matching.reasons
    chosen = [row_sum for row_sum in words.named if row_sum.left_out in reasons]
    notes = [
        f"カテゴリ{bracketed_name(category)}の明細は除いていません"
        f"（{wording.totals_in_words(totals, moved=moved)}）。"
        "カテゴリを除くには exclude_category を使います"
        for word in words.excluded_words
        if (category := category_named(word, hierarchy))
        and (totals := totals_of(row_sum for row_sum in chosen if row_sum.is_of(category))).rows
    ]
    if not words.query:
        return notes
    accounts = [] if chosen else row_sums.accounts_named(ledger, words.query)
    if accounts:
        named = "、".join(map(bracketed_name, accounts))
        return [*notes, f"口座{named}の明細は account で選べます"]
    categories = categories_asked(words, hierarchy)
    ids = near_rows(ledger, words.query, embed, any_named=bool(chosen))
    unnamed = [row_sum for row_sum in words.unnamed if row_sum.left_out in reasons]
    near = row_sums.texts_of(ledger.connection, ids)
    for category in categories or (None,):
        related = related_notes(unnamed, shop, category, near, moved=moved)
        if category is not None and not related:
            others = sum(each.rows for each in words.unnamed if each.is_of(category))
            related = [
                f"カテゴリ{bracketed_name(category)}の明細は、"
                f"rows で選ばれていない {others:,}件です。category と rows=all で選べます"
            ][: bool(others)]
        notes += related
    return notes


def _groups(
    view: LedgerView, found: _Found, shop: ShopOf, listing: ListingOptions, requested: Days | None
) -> tuple[FoundGroup, ...]:
    moved = found.matching.are_transfers
    grouped = partial(groups_by, is_smallest=listing.sort == "smallest", moved=moved)
    of_text = partial(grouped, found.by_text)
    match listing.group_by:
        case None:
            return ()
        case "shop":
            return tuple(of_text(lambda row_sum: shop(row_sum.description)))
        case "account":
            return tuple(of_text(lambda row_sum: row_sum.account or "（口座なし）"))
        case "category":
            return tuple(of_text(lambda row_sum: row_sum.category))
        case "person":
            return tuple(grouped(found.by_key, _person))
        case time:
            known, starts_on = view.known_days(requested), view.ledger.month_starts_on
            present = view.covered.present
            return groups_by_time(
                found.by_key, time, known, requested, starts_on, present, listing.sort, moved=moved
            )


def _person(file_sum: KeySum) -> str:
    folder, slash, _ = file_sum.key.partition("/")
    return folder if slash else "（フォルダなし）"


def _left_out(
    rows: Iterable[tuple[str | None, int]], reasons: Collection[str | None]
) -> dict[str, int]:
    """The number of rows that match but do not count, by reason, if sums were requested.

    ``rows`` are numbers of rows with their reasons, None for those that count.
    """
    counts = dict.fromkeys(REASONS, 0)
    for reason, number in rows if None in reasons else ():
        if reason is not None and reason not in reasons:
            counts[reason] += number
    return {reason: number for reason, number in counts.items() if number}
