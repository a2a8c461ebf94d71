"""A ledger's categories and months, and the category or total that a question names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib import resources
from typing import Any

import apsw

from mdvec.database import snapshot
from mdvec.dates import ONE_DAY, Days, Month, MonthRange, runs_of
from mdvec.household.core.categories import (
    AmbiguousCategory,
    Hierarchy,
    Subject,
    UnknownCategory,
    exact_subject,
    folded_category,
    hierarchy_of,
    resolve_subject,
)
from mdvec.household.core.shown import bracketed_name
from mdvec.household.core.sums import MonthMarks
from mdvec.household.core.wording import EmptyLedger, left_out_text
from mdvec.household.interfaces import ledger_statements, ledger_sums
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.plans import rules_of
from mdvec.text import shortened
from mdvec.tools import offered_name


@cache
def english_names() -> dict[str, list[str]]:
    """The category names that each English word (in lower case) may mean."""
    table = data_of("category_words.toml")["english"]
    return {word: names.split("、") for names, words in table.items() for word in words}


def data_of(name: str) -> dict[str, Any]:
    """The contents of a TOML file of the household."""
    return tomllib.loads((resources.files("mdvec.household") / name).read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class AvailableMonth:
    """A month of the ledger.

    ``is_gap``: it has no rows. ``may_be_filling``: it is probably incomplete, as it is the current
    or a later month, the last month with rows if these end before the month does, or the first
    month if its beginning is missing. ``is_planned``: it has not begun. ``is_astray``: it has a few
    rows dated years away from all others, and is not in any default period. ``first_day`` and
    ``last_day`` are YYYY-MM-DD.
    """

    year: int
    month: int
    first_day: str
    last_day: str
    rows: int
    is_gap: bool
    may_be_filling: bool
    is_planned: bool = False
    is_astray: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """The months in which a ledger has rows (``present``), as of a day in the month ``now``.

    ``body`` excludes stray months. ``known`` are the days from its first row to its last row up to
    today (or to the very last row if all are planned), and ``latest`` is the month of that row.
    ``begins`` is the day from which the ledger is complete: the first day of the period in file
    names (``is_stated``), or else the day of the first row.
    """

    now: Month
    present: tuple[Month, ...]
    body: MonthRange
    latest: Month
    known: Days
    begins: date
    is_stated: bool

    @property
    def last_day(self) -> date:
        """The day of the last row up to today."""
        return self.known.last

    @property
    def default_range(self) -> MonthRange:
        """The months for default periods: up to the latest, without planned ones."""
        return MonthRange(self.body.first, self.latest)

    def shown(self, requested: MonthRange) -> MonthRange | None:
        """The months of a period that a sum covers; None if none of them has rows.

        Future months are only covered up to the last month with rows.
        """
        present = [month for month in self.present if month in requested]
        present = [month for month in present if month in self.body] or present
        if not present:
            return None
        common = requested.within(self.default_range)
        if common is None:
            return MonthRange(present[0], present[-1])
        return MonthRange(common.first, max(common.last, present[-1]))

    def begun(self, requested: MonthRange) -> MonthRange | None:
        """The months of a period to compare: as ``shown``, without future ones if possible.

        A month that has not begun has at most a few planned rows, and would look cheap.
        """
        shown = self.shown(requested)
        return shown and (shown.within(self.default_range) or shown)

    def axis(self, shown: MonthRange) -> MonthRange:
        """The range in which a month without rows counts as 0 yen, for an answer on ``shown``."""
        if shown.within(self.body) is None:
            return shown
        return MonthRange(self.body.first, max(self.latest, shown.last))

    def begins_late(self, month: Month, days: Days | None = None) -> bool:
        """Whether the first days of a month (or of ``days``) are missing: the ledger begins later.

        If only the first row tells the begin, a week has to be missing: some days may have no rows.
        """
        if month != self.body.first or (days and days.first >= self.begins):
            return False
        return self.begins - month.first_day >= (ONE_DAY if self.is_stated else _WEEK)

    def ends_early(self, month: Month, days: Days | None = None) -> bool:
        """Whether the last days of a month (or of ``days``) are probably missing."""
        if month == self.latest and days and days.last < self.last_day:
            return False
        is_cut = month == self.latest and self.last_day < month.last_day
        return is_cut or month >= self.now

    def marks(self, months: Iterable[Month], days: Days | None = None) -> MonthMarks:
        """Which of these months are probably incomplete, and which have no rows.

        If only ``days`` were requested, just those days have to be complete, not the whole months.
        """
        months, with_rows = tuple(months), set(self.present)
        running = tuple(
            month
            for month in months
            if self.ends_early(month, days) or self.begins_late(month, days)
        )
        empty = tuple(month for month in months if month not in with_rows)
        return MonthMarks(running=running, empty=empty)

    def astray_matters(self, requested: MonthRange, shown: MonthRange) -> bool:
        """Whether stray months that are not shown matter: the period covers them, or everything."""
        astray = [month for month in self.present if month not in self.body]
        everything = self.default_range.within(requested) == self.default_range
        return any(everything or month in requested for month in astray if month not in shown)


def category_hierarchy(ledger: Ledger) -> dict[str, list[str]]:
    """Each 大項目 of the ledger with its 中項目, sorted by name.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with read_snapshot(ledger.connection):
        names = ledger_sums.category_names(ledger)
        if not names:
            raise _empty(ledger)
        return hierarchy_of(names)


def available_months(ledger: Ledger) -> tuple[AvailableMonth, ...]:
    """Every month from the first row's to the latest, and which of them are gaps.

    Future and stray months are only included if they have rows. A row belongs to the month of
    its date, whichever statement it is in.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with read_snapshot(ledger.connection):
        covered = coverage(ledger)
        others = (month for month in covered.present if month not in covered.default_range)
        months = sorted([*covered.default_range, *others])
        days = MonthRange(months[0], months[-1]).days
        rows = ledger_sums.rows_by_month(ledger, days)
    return tuple(
        AvailableMonth(
            year=month.year,
            month=month.month,
            first_day=month.first_day.isoformat(),
            last_day=month.last_day.isoformat(),
            rows=rows.get(month, 0),
            is_gap=month not in rows,
            may_be_filling=covered.ends_early(month) or covered.begins_late(month),
            is_planned=month > covered.now,
            is_astray=month not in covered.body,
        )
        for month in months
    )


def coverage(ledger: Ledger) -> Coverage:
    """The months that a ledger covers as of today; they start on its ``month_starts_on``.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    present = ledger_sums.months_with_rows(ledger)
    if not present:
        raise _empty(ledger)
    now, separate = Month.of(ledger.today, ledger.month_starts_on), runs_of(present, MAX_GAP_MONTHS)
    runs = [
        (months, ledger_sums.rows_at_most(ledger, months.days, MAX_ASTRAY_ROWS + 1))
        for months in (separate if len(separate) > 1 else ())
    ]
    body = body_of(runs, now) if runs else separate[0]
    begun = body.days.within(Days(date.min, ledger.today))
    known = begun and ledger_sums.days_with_rows(ledger, begun)
    known = known or ledger_sums.days_with_rows(ledger, body.days) or body.days
    stated = ledger_statements.stated_begin(ledger, known.first)
    return Coverage(
        now, tuple(present), body, Month.of(known.last, ledger.month_starts_on), known,
        begins=stated or known.first, is_stated=stated is not None,
    )  # fmt: skip


def _empty(ledger: Ledger) -> EmptyLedger:
    left_out = left_out_text(ledger_statements.files_left_out(ledger))
    return EmptyLedger(ledger_sums.tool_name(ledger), left_out)


def coverage_or_none(ledger: Ledger) -> Coverage | None:
    """As ``coverage``; None for a ledger without rows."""
    try:
        return coverage(ledger)
    except EmptyLedger:
        return None


def refuse_empty(ledger: Ledger) -> None:
    """Refuse a ledger without rows.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    if not ledger_sums.rows_at_most(ledger, Days(date.min, date.max), 1):
        raise _empty(ledger)


def last_day(ledger: Ledger) -> date | None:
    """The day of the last row up to the running month; None for a ledger without rows."""
    covered = coverage_or_none(ledger.in_calendar_months)
    return None if covered is None else covered.last_day


def named_subject(
    ledger: Ledger, name: str | None, *, is_exact: bool = False
) -> tuple[Subject | None, list[str]]:
    """The category or total of a name (None without one), and notes on how it was understood.

    Raises:
        UnknownCategory: no category, or several, have that name.
    """
    if name is None or not name.strip():
        return None, []
    hierarchy = hierarchy_of(ledger_sums.category_names(ledger))
    subject, remark = resolved_name(ledger, name, hierarchy, is_exact=is_exact)
    return subject, [] if remark is None else [remark]


def resolved_name(
    ledger: Ledger, name: str, hierarchy: Hierarchy, *, is_exact: bool = False
) -> tuple[Subject, str | None]:
    """The category or total that a name means; the name may be English, or one that a rule renamed.

    With ``is_exact``, a part of a name is not enough.

    Raises:
        UnknownCategory: no category, or several, have that name.
    """
    try:
        return resolve_subject(name, hierarchy, is_exact=is_exact)
    except AmbiguousCategory:
        raise
    except UnknownCategory as unknown:
        wanted = folded_category(name)
        former = [
            str(rule.category)
            for rule in rules_of(ledger)
            if rule.renamed is not None and folded_category(str(rule.renamed)) == wanted
        ]
        names = former or english_names().get(" ".join(name.split()).casefold(), [])
        known = {subject for each in names if (subject := exact_subject(each, hierarchy))}
        if len(known) > 1:
            raise AmbiguousCategory(name, sorted(map(str, known))) from None
        if not known:
            texts = ledger_sums.descriptions(ledger)
            if not any(wanted and wanted in folded_category(text) for text in texts):
                raise
            finding = f"{offered_name('find_transactions')} の query で探せます"
            hint = f"。店の名前にある「{shortened(name)}」は {finding}"
            raise UnknownCategory(name, unknown.nearest, unknown.choices, hint) from None
        (subject,) = known
        return subject, f"「{shortened(name)}」は{bracketed_name(subject)}として集計しました"


@contextmanager
def read_snapshot(connection: apsw.Connection) -> Iterator[None]:
    """All reads in the block see one snapshot of the database; can be nested."""
    if connection.in_transaction:
        yield
    else:
        with snapshot(connection):
            yield


_WEEK = timedelta(7)
MAX_GAP_MONTHS = 36
"""Rows with more than this many months between them are in two separate runs of months."""
MAX_ASTRAY_ROWS = 10
"""A run with more rows than this belongs to the ledger, however distant."""


def body_of(runs: Sequence[tuple[MonthRange, int]], now: Month) -> MonthRange:
    """The months of the ledger without stray runs at either end.

    Each run has months with rows at most ``MAX_GAP_MONTHS`` apart, and its number of rows. The
    dates of a few rows far from today are probably wrong, so their run is stray. If all runs are
    stray, the last run that has begun by ``now``, or else the first run, is taken for the ledger.
    """
    body = [
        months
        for months, rows in runs
        if rows > MAX_ASTRAY_ROWS
        or months.first.plus(-MAX_GAP_MONTHS) <= now <= months.last.plus(MAX_GAP_MONTHS)
    ]
    if not body:
        begun = [months for months, _ in runs if months.first <= now]
        body = begun[-1:] or [runs[0][0]]
    return MonthRange(body[0].first, body[-1].last)
