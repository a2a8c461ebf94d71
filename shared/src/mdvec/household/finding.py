"""Finds a household's rows by shop, words, amount, days, account and category, and sums them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from typing import Literal, get_args

import apsw

from mdvec.dates import Days
from mdvec.household.core.categories import (
    Hierarchy,
    ResolvedSubject,
    Subject,
    Total,
    hierarchy_of,
)
from mdvec.household.core.found import (
    FoundAnswer,
    InvalidRowFilter,
    Paging,
    RowWords,
    UnknownAccount,
    found_text,
    left_out_note,
)
from mdvec.household.core.periods import UnderstoodPeriod
from mdvec.household.core.row_sums import (
    NAMED_BY,
    TIMES,
    FoundGroup,
    GroupBy,
    Mean,
    ShopOf,
    groups_by,
    groups_by_time,
    means_over,
    shop_names,
    sums_within,
    with_others,
)
from mdvec.household.core.sums import REASONS, KeySum, RowSum, Totals, totals_of
from mdvec.household.core.transaction import listed_row
from mdvec.household.core.wording import (
    MAX_PAGE_SIZE,
    PLANNED_LEFT_OUT,
    InvalidPageSize,
    astray_note,
    clipped_note,
    renamed_notes,
    totals_in_words,
)
from mdvec.household.interfaces import ledger_sums, row_sums
from mdvec.household.interfaces.plans import all_notes, notes_on, renamed_rows
from mdvec.household.interfaces.subjects import Embed, category_named, near_rows, related_notes
from mdvec.household.ledger_view import (
    MAX_NAMED_ROWS,
    LedgerView,
    doubt_notes_on,
    ledger_view,
)
from mdvec.household.overview import resolved_name
from mdvec.household.shops import aliases_of
from mdvec.text import bracketed_name, shortened

FOUND_PAGE_SIZE = 5
"""The rows on a page by default: enough to see what a sum consists of."""
RowChoice = Literal[
    "counted", "all", "not_duplicate", "left_out", "duplicate", "transfer", "not_target"
]
Names = str | Sequence[str] | None
"""A name, or several."""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The rows to find; None, "" and an empty list restrict nothing.

    Attributes:
        query: words of shops, memos, notes and tags. A row must have all words between spaces, or
            those of one alternative, which a | separates, and none after a minus.
        min_amount: the least amount in yen, without its sign.
        max_amount: the greatest amount in yen, without its sign.
        period: days or months in words, instead of ``since`` and ``until``.
        account: an account's name, or a part of it.
        category: names of categories, 支出 or 収入: a row is of one of them.
        exclude_category: names of categories: a row is of none of them.
        shop: names of shops: a row is of one of them.
        exclude_shop: names of shops: a row is of none of them.
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
    category: Names = None
    rows: RowChoice = "counted"
    since: str | None = None
    until: str | None = None
    exclude_category: Names = None
    shop: Names = None
    exclude_shop: Names = None


@dataclass(frozen=True, slots=True)
class ListingOptions:
    """How to list the rows found; ``largest`` and ``smallest`` go by the amount without sign.

    A page has at most 200 rows, by default 5, or none if the rows are grouped: groups answer the
    question. Months, of periods and groups, start on the day ``month_starts_on``.
    """

    sort: row_sums.RowOrder = "newest"
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
    today: date,
    embed: Embed | None = None,
) -> FoundAnswer:
    """The rows that match all filters: totals over all of them, groups, and one page.

    Words match a shop, memo, note or tag only where its words are the same, in any width, kana or
    spelling; shops that have the letters inside another word are named in a note, but not summed.
    On the first page, notes also name the category of that name and, with ``embed``, shops that
    are near in meaning. Other spellings that count are those of ``aliases.toml`` and of
    the user; a note names them.
    Sums are exact yen, as in the month's sums: 支出 is spending less refunds, 収入 the category of
    income. A person's rows are those of the files in a folder.

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
    with ledger_view(connection, tool_id, today, listing.month_starts_on) as ledger:
        hierarchy = cache(lambda: hierarchy_of(ledger_sums.category_names(connection, tool_id)))
        condition, period, parts, notes = _condition(ledger, wanted, hierarchy)
        words = RowWords(
            wanted.query, _names(wanted.shop), _names(wanted.exclude_shop),
            aliases_of(connection, tool_id),
        )  # fmt: skip
        parts += [*words.in_words, *filter(None, [_ROWS.get(wanted.rows)])]
        reasons = _REASONS_OF.get(wanted.rows, frozenset({wanted.rows}))
        matching = row_sums.RowsChosen(condition, reasons)
        shop: ShopOf = str
        if words.restrict or listing.group_by == "shop":
            shop = shop_names(row_sums.descriptions(connection, tool_id))
        chosen: list[RowSum] = []
        by_key: list[KeySum] = []
        if words.restrict or listing.group_by in _BY_TEXT:
            marked = all_notes(connection, tool_id) if words.restrict else {}
            sums = row_sums.sums_by_text(connection, condition, marked)
            words.choose(sums)
            chosen = [row_sum for row_sum in words.named if row_sum.left_out in reasons]
            totals = totals_of(chosen)
            left_out = _left_out(((each.left_out, each.rows) for each in words.named), reasons)
        else:
            by_key = _key_sums(connection, matching, listing)
            totals = totals_of(by_key)
            left_out = _left_out(row_sums.rows_left_out(connection, condition), reasons)
        notes += [left_out_note(left_out)] * bool(left_out)
        if period and not totals.rows:
            notes += ledger.filling_notes(period.months, period.days)
        if words.restrict:
            matching = _with_texts(matching, sums, chosen)
            alone = words.each_alone(reasons)
            notes += [*alone, *words.notes(reasons, shop)]
            embed = None if alone else embed  # shops near to some of the words would mislead
            if listing.page == 1:
                names = {(row_sum.category_major, row_sum.category_minor) for row_sum in sums}
                notes += _related_notes(connection, tool_id, words, reasons, shop, embed, names)
        known = ledger.known_days(condition.days)
        if listing.group_by not in (None, *_BY_TEXT):
            by_key = by_key or _key_sums(connection, matching, listing)
        groups = _groups(chosen, by_key, shop, listing, notes, known, condition.days)
        grouped = NAMED_BY.get(listing.group_by, "")
        usual = replace(listing, page_size=None).rows_on_page
        on_pages = len(groups) if grouped else 0
        paging = Paging(listing.page, listing.rows_on_page, totals.rows, on_pages, usual)
        if grouped:
            groups = with_others(groups, paging.of_groups, grouped)
        rows = row_sums.page_of(
            connection, matching, listing.sort, offset=paging.offset, limit=paging.size
        )
        noted = notes_on(connection, tool_id, [row.id for row in rows])
        notes += _far_notes(ledger, matching)
        matching_among = partial(row_sums.ids_of, connection, matching)
        renamed = renamed_rows(connection, tool_id, lambda: row_sums.with_ids(matching_among()))
        notes += renamed_notes(renamed)
        notes += doubt_notes_on(
            connection, tool_id, condition.days or condition.ledger, matching_among
        )
    means: tuple[Mean, ...] = ()
    if listing.group_by in TIMES and known and sums_within(by_key, known):
        means = means_over(by_key, known, listing.month_starts_on)
        notes.append(f"平均は {known.in_words} のもの")
    understood = "・".join(parts or ["全期間のすべての明細"])
    age = ledger.age(period)
    return FoundAnswer(
        understood=understood,
        total_rows=totals.rows,
        spending=totals.spending,
        income=totals.income,
        balance=totals.balance,
        left_out=left_out,
        groups=groups,
        means=means,
        rows=tuple(listed_row(row, noted.get(row.id)) for row in rows),
        page=paging.number,
        pages=paging.pages,
        next_page=paging.next,
        notes=tuple(notes),
        age=age,
        text=found_text(
            understood, totals, groups, means, notes, rows, noted, paging, age, grouped
        ),
    )


def _condition(
    view: LedgerView, wanted: RowFilter, hierarchy: Callable[[], Hierarchy]
) -> tuple[row_sums.RowCondition, UnderstoodPeriod | None, list[str], list[str]]:
    """The condition of all filters except words and ``rows``; the period, descriptions, notes."""
    parts: list[str] = []
    notes: list[str] = []
    connection, tool_id = view.connection, view.tool_id
    ledger = row_sums.extent_of(connection, tool_id)
    period = None
    if any(map(str.strip, filter(None, (wanted.since, wanted.until, wanted.period)))):
        period = view.period(wanted.since, wanted.until, wanted.period)
        period = None if period.is_all else period
    if period is not None:
        parts.append(period.days.in_words)
        notes.append(period.understood)
        shown_months = view.covered.shown(period.months)
        if shown_months not in (None, period.months) and not view.stray_days(period.days)[0]:
            notes.append(clipped_note(shown_months.in_words))
        if not ledger_sums.rows_at_most(connection, tool_id, period.days, 1):
            notes.append(
                f"この期間の明細は 1件もありません（明細があるのは {ledger.first}〜{ledger.last}）"
            )
    resolve = partial(resolved_name, connection, tool_id)
    within, without = (
        _subjects([resolve(name, hierarchy()) for name in _names(names)], notes)
        for names in (wanted.category, wanted.exclude_category)
    )
    parts += ["、".join(map(_in_words, within))] * bool(within)
    parts += [f"{'、'.join(map(_in_words, without))}を除く"] * bool(without)
    accounts = _accounts(connection, tool_id, wanted.account)
    parts += ["、".join(map(bracketed_name, accounts or ()))] * (accounts is not None)
    bounds = (wanted.min_amount, wanted.max_amount)
    if bounds != (None, None):
        parts.append("〜".join("" if bound is None else f"{bound:,}円" for bound in bounds))
    condition = row_sums.RowCondition(
        tool_id, ledger, period.days if period else None, accounts, *bounds, within, without
    )
    return condition, period, parts, notes


def _far_notes(view: LedgerView, matching: row_sums.RowsChosen) -> list[str]:
    """Notes on rows dated after today, and on stray ones."""
    connection, days, body = view.connection, matching.condition.days, view.covered.body

    def on(some: Days) -> row_sums.RowsChosen:
        return replace(matching, condition=replace(matching.condition, days=some))

    def totals(some: Days) -> Totals:
        return totals_of(row_sums.sums_by(connection, on(some), "date"))

    notes = view.planned_notes(days or body.days, PLANNED_LEFT_OUT, totals)
    for stray, included in zip(view.stray_days(days), (True, False), strict=True):
        if total := sum(totals(some).rows for some in stray):
            rows = [
                row
                for some in stray
                for row in row_sums.page_of(
                    connection, on(some), "oldest", offset=0, limit=MAX_NAMED_ROWS
                )
            ]
            notes.append(astray_note(total, rows[:MAX_NAMED_ROWS], included=included))
    return notes


def _with_texts(
    rows: row_sums.RowsChosen, sums: Sequence[RowSum], chosen: Sequence[RowSum]
) -> row_sums.RowsChosen:
    """The rows with the texts of the chosen sums; rows with notes are selected by their ids."""
    texts = dict.fromkeys((each.description, each.memo) for each in chosen if each.row_id is None)
    noted, of_them = (
        tuple(each.row_id for each in part if each.row_id is not None) for part in (sums, chosen)
    )
    return row_sums.RowsChosen(rows.condition, rows.reasons, tuple(texts), noted, of_them)


def _related_notes(
    connection: apsw.Connection,
    tool_id: int,
    words: RowWords,
    reasons: Collection[str | None],
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
    hierarchy = hierarchy_of(names)
    chosen = [row_sum for row_sum in words.named if row_sum.left_out in reasons]
    notes = [
        f"カテゴリ{bracketed_name(category)}の明細は除いていません（{totals_in_words(totals)}）。"
        "カテゴリを除くには exclude_category を使います"
        for word in words.excluded_words
        if (category := category_named(word, hierarchy))
        and (totals := totals_of(row_sum for row_sum in chosen if row_sum.is_of(category))).rows
    ]
    if not words.query:
        return notes
    accounts = [] if chosen else row_sums.accounts_named(connection, tool_id, words.query)
    if accounts:
        named = "、".join(map(bracketed_name, accounts))
        return [*notes, f"口座{named}の明細は account で選べます"]
    category = category_named(words.query, hierarchy)
    ids = near_rows(connection, tool_id, words.query, embed, any_named=bool(chosen))
    unnamed = [row_sum for row_sum in words.unnamed if row_sum.left_out in reasons]
    near = row_sums.texts_of(connection, ids)
    return notes + related_notes(unnamed, shop, category, near)


def _groups(
    chosen: Sequence[RowSum],
    by_key: Sequence[KeySum],
    shop: ShopOf,
    listing: ListingOptions,
    notes: list[str],
    known: Days | None,
    requested: Days | None,
) -> tuple[FoundGroup, ...]:
    match listing.group_by:
        case None:
            return ()
        case "shop":
            return tuple(groups_by(chosen, lambda row_sum: shop(row_sum.description)))
        case "account":
            return tuple(groups_by(chosen, lambda row_sum: row_sum.account or "（口座なし）"))
        case "category":
            return tuple(groups_by(chosen, lambda row_sum: row_sum.category))
        case "person":
            return tuple(_by_person(by_key, notes))
        case time:
            return groups_by_time(by_key, time, known, requested, listing.month_starts_on)


def _key_sums(
    connection: apsw.Connection, matching: row_sums.RowsChosen, listing: ListingOptions
) -> list[KeySum]:
    """The sums by file, which identifies the person, or by day."""
    return row_sums.sums_by(
        connection, matching, "source_file" if listing.group_by == "person" else "date"
    )


def _by_person(sums: Sequence[KeySum], notes: list[str]) -> list[FoundGroup]:
    """The sums by the folder of the file."""
    is_apart = any("/" in file_sum.key for file_sum in sums)
    alone = "" if is_apart else "が、どのファイルもフォルダの中にありません"
    notes.append(f"person は明細のファイルがあるフォルダ（夫/、妻/ など）です{alone}")
    return groups_by(
        sums,
        lambda row_sum: row_sum.key.split("/")[0] if "/" in row_sum.key else "（フォルダなし）",
    )


def _names(names: Names) -> tuple[str, ...]:
    """The names, without empty ones."""
    several = (names,) if isinstance(names, str) else names or ()
    return tuple(name for name in several if name.strip())


def _subjects(named: Iterable[ResolvedSubject], notes: list[str]) -> tuple[Subject, ...]:
    """The named categories or totals; ``notes`` gets how they were understood."""
    subjects: dict[Subject, None] = {}
    for resolved in named:
        subject = resolved.subject
        notes += [resolved.remark] if resolved.remark else []
        if isinstance(subject, Total) and subject is not Total.SPENDING:
            raise InvalidRowFilter(
                f"category「{subject}」は明細を選べません。支出、収入、またはカテゴリ名にしてください。"
            )
        subjects[subject] = None
    return tuple(subjects)


def _in_words(subject: Subject) -> str:
    return str(subject) if isinstance(subject, Total) else bracketed_name(subject)


def _accounts(
    connection: apsw.Connection, tool_id: int, name: str | None
) -> tuple[str, ...] | None:
    """The account with this name, or all whose name contains it; None without a name."""
    if name is None or not name.strip():
        return None
    accounts = row_sums.accounts_named(connection, tool_id, name)
    if not accounts:
        raise UnknownAccount(name, sorted(row_sums.account_names(connection, tool_id)))
    return tuple(accounts)


_BY_TEXT = ("shop", "category", "account")
"""The groups by the rows' own texts, not by day or file."""
_ROWS: dict[str, str] = {
    "all": "集計外も含む", "not_duplicate": "重複を除く", "left_out": "集計外だけ",
    "duplicate": "重複だけ", "transfer": "振替だけ", "not_target": "計算対象外だけ",
}  # fmt: skip


_EVERY: frozenset[str | None] = frozenset({None, *REASONS})
_REASONS_OF = {
    "counted": frozenset({None}), "all": _EVERY, "not_duplicate": _EVERY - {"duplicate"},
    "left_out": _EVERY - {None},
}  # fmt: skip
"""The reasons that each choice of several includes; None stands for rows that count."""


def _left_out(
    rows: Iterable[tuple[str | None, int]], reasons: frozenset[str | None]
) -> dict[str, int]:
    """The number of rows that match but do not count, by reason, if sums were requested.

    ``rows`` are numbers of rows with their reasons, None for those that count.
    """
    counts = dict.fromkeys(REASONS, 0)
    for reason, number in rows if None in reasons else ():
        if reason is not None and reason not in reasons:
            counts[reason] += number
    return {reason: number for reason, number in counts.items() if number}


def _check(wanted: RowFilter, listing: ListingOptions) -> None:
    choices: list[tuple[str, object, tuple[object, ...]]] = [
        ("rows", wanted.rows, get_args(RowChoice)),
        ("sort", listing.sort, get_args(row_sums.RowOrder)),
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
