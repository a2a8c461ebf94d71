"""What a filter of rows means in a ledger: the condition, the words, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, get_args

from mdvec.dates import Days
from mdvec.household.core.categories import Subject, Total, hierarchy_of
from mdvec.household.core.found import InvalidRowFilter, RowWords, UnknownAccount
from mdvec.household.core.periods import UnderstoodPeriod
from mdvec.household.core.shown import bracketed_name
from mdvec.household.core.sums import REASONS
from mdvec.household.core.wording import check_choice, clipped_note
from mdvec.household.interfaces import ledger_sums, row_sums
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.ledger_view import LedgerView
from mdvec.household.overview import resolved_name
from mdvec.household.shops import aliases_of

RowChoice = Literal[
    "counted", "all", "not_duplicate", "left_out", "duplicate", "transfer", "not_target"
]
Names = str | Sequence[str] | None
"""A name, or several."""
_MAX_NAMES = 100
_ROWS: dict[str, str] = {
    "all": "集計外も含む", "not_duplicate": "重複を除く", "left_out": "集計外だけ",
    "duplicate": "重複だけ", "transfer": "振替だけ", "not_target": "計算対象外だけ",
}  # fmt: skip


_EVERY: frozenset[str | None] = frozenset({None, *REASONS})
_REASONS_OF = {
    "counted": frozenset({None}), "all": _EVERY, "not_duplicate": _EVERY - {"duplicate"},
    "left_out": _EVERY - {None},
}  # fmt: skip
"""The reasons (``left_out``) that choices of several reasons include; None: rows that count."""


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
        category: names of categories, 支出 or 収入, of which a row must have one.
        exclude_category: names of categories of which a row must have none.
        shop: names of shops, of which a row must be of one.
        exclude_shop: names of shops of which a row must not be.
        rows: ``counted`` are those in the sums; ``left_out`` the others; ``not_duplicate`` all but
            duplicates; the other values select those left out for one reason.
        since: the first ISO day or month.
        until: the last ISO day or month.
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
class UnderstoodFilter:
    """A filter in a ledger: ``rows`` match everything but its ``words``; and its text."""

    rows: row_sums.RowsChosen
    words: RowWords
    period: UnderstoodPeriod | None
    in_words: str
    notes: tuple[str, ...]


def understood_filter(view: LedgerView, wanted: RowFilter) -> UnderstoodFilter:
    """Read a filter's names and days.

    Raises:
        InvalidPeriod: the period was not understood.
        UnknownCategory: no category, or several, have that name.
        UnknownAccount: no account has that name.
        InvalidRowFilter: a total that selects no rows is named as a category.
    """
    parts: list[str] = []
    notes: list[str] = []
    ledger = view.ledger
    extent = row_sums.extent_of(ledger)
    period = None
    if any(map(str.strip, filter(None, (wanted.since, wanted.until, wanted.period)))):
        period = view.period(wanted.since, wanted.until, wanted.period)
        period = None if period.is_all else period
    if period is not None:
        parts.append(period.days.in_words)
        notes += _period_notes(view, period, extent)
    hierarchy = cache(lambda: hierarchy_of(ledger_sums.category_names(ledger)))
    resolve = partial(resolved_name, ledger)
    within, without = (
        _subjects([resolve(name, hierarchy()) for name in _names(names)], notes)
        for names in (wanted.category, wanted.exclude_category)
    )
    if within:
        parts.append("、".join(map(_in_words, within)))
    if without:
        parts.append(f"{'、'.join(map(_in_words, without))}を除く")
    accounts = _accounts(ledger, wanted.account)
    if accounts is not None:
        parts.append("、".join(map(bracketed_name, accounts)))
    bounds = (wanted.min_amount, wanted.max_amount)
    if bounds != (None, None):
        parts.append("〜".join("" if bound is None else f"{bound:,}円" for bound in bounds))
    condition = row_sums.RowCondition(
        ledger, extent, period.days if period else None, accounts, *bounds, within, without
    )
    words = RowWords(
        wanted.query, _names(wanted.shop), _names(wanted.exclude_shop), aliases_of(ledger)
    )
    parts += words.in_words
    if wanted.rows in _ROWS:
        parts.append(_ROWS[wanted.rows])
    reasons = _REASONS_OF.get(wanted.rows, frozenset({wanted.rows}))
    rows = row_sums.RowsChosen(condition, reasons, are_transfers=wanted.rows == "transfer")
    understood = "・".join(parts or ["全期間のすべての明細"])
    return UnderstoodFilter(rows, words, period, understood, tuple(notes))


def _period_notes(view: LedgerView, period: UnderstoodPeriod, extent: Days) -> list[str]:
    """Notes on how a period was understood, and which part of it has no data."""
    notes = [period.understood] if period.understood else []
    shown_months = view.covered.shown(period.months)
    if shown_months not in (None, period.months) and not view.stray_days(period.days)[0]:
        notes.append(clipped_note(shown_months.in_words))
    if not ledger_sums.rows_at_most(view.ledger, period.days, 1):
        notes.append(
            f"この期間の明細は 1件もありません（明細があるのは {extent.first}〜{extent.last}）"
        )
    return notes


def _names(names: Names) -> tuple[str, ...]:
    """The names, without empty ones."""
    several = (names,) if isinstance(names, str) else names or ()
    return tuple(name for name in several if name.strip())


def _subjects(named: Iterable[tuple[Subject, str | None]], notes: list[str]) -> tuple[Subject, ...]:
    """The named categories or totals; appends remarks on how they were understood to ``notes``."""
    subjects: dict[Subject, None] = {}
    for subject, remark in named:
        notes += [remark] if remark else []
        if isinstance(subject, Total) and subject is not Total.SPENDING:
            raise InvalidRowFilter(
                f"category「{subject}」は明細を選べません。支出、収入、またはカテゴリ名にしてください。"
            )
        subjects[subject] = None
    return tuple(subjects)


def _in_words(subject: Subject) -> str:
    return str(subject) if isinstance(subject, Total) else bracketed_name(subject)


def _accounts(ledger: Ledger, name: str | None) -> tuple[str, ...] | None:
    """The account with this name, or all accounts whose names contain it; None without a name."""
    if name is None or not name.strip():
        return None
    accounts = row_sums.accounts_named(ledger, name)
    if not accounts:
        raise UnknownAccount(name, sorted(row_sums.account_names(ledger)))
    return tuple(accounts)


def check_filter(wanted: RowFilter) -> None:
    """Refuse values that fit no ledger.

    Raises:
        InvalidChoice: the choice of rows is unknown.
        InvalidRowFilter: a list is too long, or an amount is not usable.
    """
    check_choice("rows", wanted.rows, get_args(RowChoice))
    for argument in ("category", "exclude_category", "shop", "exclude_shop"):
        names: Names = getattr(wanted, argument)
        if not isinstance(names, str) and len(names or ()) > _MAX_NAMES:
            raise InvalidRowFilter(f"{argument} は {_MAX_NAMES}件までで指定してください。")
    least, most = wanted.min_amount, wanted.max_amount
    for name, amount in (("min_amount", least), ("max_amount", most)):
        if amount is not None and amount < 0:
            raise InvalidRowFilter(f"{name} は 0 以上の円で指定してください（支出も正の数で）。")
    if least is not None and most is not None and least > most:
        raise InvalidRowFilter("min_amount が max_amount より大きくなっています。")
