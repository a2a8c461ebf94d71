"""Finds recurring payments: contracts, bills, pay.

A series is a shop whose rows recur at one interval. If a shop's rows as a whole do not recur, the
rows of each account may (two people's contracts), or the rows of one exact amount (two contracts
with one company), or the rows of one time of the year (a tax in four parts). A row soon after
another of the same amount counts as charged twice, and an interval without a row as missed. A
series continues under another name if a new shop takes over its payments: the same amount, from the
same account, at the same interval.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby, pairwise
from statistics import median

from mdvec.dates import Month
from mdvec.household.core.transaction import CountedRow

_REGULAR = 0.8
"""The share of gaps that have to fit the interval."""
_STEADY = 0.6
"""The share of consecutive payments that have to be equal in a series with a fixed amount."""
MAX_SPREAD = 0.5
"""The largest median deviation from the median amount of a bill, as a share of it."""
_YEARLY_CHANGE = 1.1
"""The largest factor between the amounts of a yearly payment in two successive years."""
_YEARLY_PARTS = 4
"""The most parts in which a yearly bill is paid."""
_ENDED_AFTER = 2
"""A series that missed more payments than this has ended."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The time between two payments, in months or days, and how many days it may deviate."""

    name: str
    months: int
    days: int
    slack: int
    needed: int

    @property
    def per_year(self) -> int:
        """How many payments there are in a year."""
        return 12 // self.months if self.months else 365 // self.days

    def after(self, day: date, times: int, day_of_month: int) -> date:
        """The day ``times`` payments later, on the usual day of the month."""
        if not self.months:
            return day + timedelta(days=self.days * times)
        about = day + timedelta(days=round(self.months * times * 30.44))
        months = [Month.of(about).plus(shift) for shift in (-1, 0, 1)]
        days = [
            month.last_day.replace(day=min(day_of_month, month.last_day.day)) for month in months
        ]
        return min(days, key=lambda month: abs((month - about).days))


INTERVALS = (
    Interval("毎週", 0, 7, 1, 6),
    Interval("2週間ごと", 0, 14, 1, 6),
    Interval("4週間ごと", 0, 28, 1, 5),
    Interval("毎月", 1, 30, 5, 3),
    Interval("2か月ごと", 2, 61, 7, 3),
    Interval("3か月ごと", 3, 91, 9, 3),
    Interval("半年ごと", 6, 182, 15, 3),
    Interval("毎年", 12, 365, 20, 2),
)

_YEARLY = INTERVALS[-1]
_OF_A_PART = tuple(replace(each, needed=each.needed + 2) for each in INTERVALS[2:-1])
"""For some of a shop's rows, with more payments needed: a few of many rows often look regular."""
_MIN_PAYMENTS = min(each.needed for each in INTERVALS)
_MIN_PAYMENTS_OF_A_PART = min(each.needed for each in _OF_A_PART)
_CLOSE = 1.3


@dataclass(frozen=True, slots=True)
class PriceChange:
    """A series' amount before and from a day on, in yen."""

    day: date
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Renaming:
    """A series whose payments have another name from a day on."""

    day: date
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class RecurringPayment:
    """A payment that recurs; amounts are positive yen.

    If the amount is fixed, ``amount`` is the last that was paid twice in a row, else the median of
    the last year's amounts. ``changes`` are those of a fixed amount; ``singles`` are the payments
    of another amount, paid once, which may be a purchase or the first of a new price. ``missed``
    are the days on which a payment was expected and none came; ``twice`` are the rows that repeat
    another within a third of the interval. ``next_day`` is None if the series has ended. ``rows``
    are its payments, the last on ``last_day``. ``renamings`` are the days on which a new shop took
    over. ``account`` tells the payments of one shop from different accounts apart, and is else
    empty. An answer has no rows, and only the changes, singles, missed and double payments of the
    last year.
    """

    name: str
    category: str
    is_income: bool
    interval: Interval
    is_fixed: bool
    amount: int
    per_year: int
    rows: tuple[CountedRow, ...]
    last_day: date
    changes: tuple[PriceChange, ...]
    singles: tuple[CountedRow, ...]
    missed: tuple[date, ...]
    twice: tuple[CountedRow, ...]
    next_day: date | None
    renamings: tuple[Renaming, ...] = ()
    account: str = ""

    def expected(self, until: date) -> list[date]:
        """The days up to ``until`` when payments are expected; the first may be overdue."""
        days: list[date] = []
        day = self.next_day
        while day is not None and day <= until:
            days.append(day)
            day = self.interval.after(day, 1, _usual_day(self.rows))
        return days

    def amount_on(self, day: date) -> int:
        """The amount expected on a day: for a bill, that of a year earlier, if known."""
        if not self.is_fixed:
            for row in self.rows:
                if abs((day - row.day).days - 365) <= self.interval.slack:
                    return row.yen
        return self.amount


class Payees:
    """The rows of each shop, indexed to find series as of any day."""

    def __init__(self, rows: Iterable[CountedRow]) -> None:
        groups: dict[tuple[bool, str], list[CountedRow]] = defaultdict(list)
        for row in rows:
            if row.yen > 0:
                groups[row.is_income, row.shop].append(row)
        for group in groups.values():
            group.sort(key=lambda row: (row.day, row.id))
        self._groups = [(group, [row.day for row in group]) for group in groups.values()]
        self._begun: dict[tuple[str, int], list[int]] = defaultdict(list)
        for at, (group, _) in enumerate(self._groups):
            self._begun[group[0].account, group[0].amount].append(at)

    def series(self, as_of: date, since: date = date.min) -> list[RecurringPayment]:
        """The series among the rows of these days, the largest yearly cost first, income last."""
        payments: list[RecurringPayment] = []
        for group, days in self._groups:
            begin, end = bisect_left(days, since), bisect_right(days, as_of)
            if end - begin >= _MIN_PAYMENTS:
                payments += _series_of(group[begin:end], as_of)
        payments = self._with_takeovers(payments, as_of)
        return sorted(
            payments, key=lambda each: (each.is_income, -each.per_year, each.name, each.rows[-1].id)
        )

    def _with_takeovers(
        self, payments: list[RecurringPayment], as_of: date
    ) -> list[RecurringPayment]:
        """The series, each joined with the payments of the new shop that took it over."""
        heirs: dict[int, list[RecurringPayment]] = defaultdict(list)
        for payment in payments:
            shops = self._heirs(payment, as_of) if payment.is_fixed else []
            if len(shops) == 1:
                heirs[shops[0]].append(payment)
        for shop, before in heirs.items():
            group, days = self._groups[shop]
            rows = (*before[0].rows, *before[0].twice, *group[: bisect_right(days, as_of)])
            ordered = sorted(rows, key=lambda row: (row.day, row.id))
            whole = _series(ordered, as_of, (before[0].interval,)) if len(before) == 1 else None
            if whole is not None and whole.is_fixed:
                own = {row.id for row in rows}
                payments = [each for each in payments if each.rows[-1].id not in own]
                return self._with_takeovers([*payments, whole], as_of)
        return payments

    def _heirs(self, payment: RecurringPayment, as_of: date) -> list[int]:
        """The new shops whose rows continue a series after its last payment."""
        last = payment.rows[-1]
        due = payment.interval.after(last.day, 1, _usual_day(payment.rows))
        return [
            shop
            for shop in self._begun.get((last.account, last.amount), ())
            for group in [self._groups[shop][0][: bisect_right(self._groups[shop][1], as_of)]]
            if len(group) > 1
            and group[0].is_income is payment.is_income
            and group[0].day > last.day
            and abs((group[0].day - due).days) <= payment.interval.slack
            and all(row.account == last.account for row in group)
        ]


def recurring_payments(rows: Iterable[CountedRow], as_of: date) -> list[RecurringPayment]:
    """The series among rows up to ``as_of``, the largest yearly cost first, income last."""
    return Payees(rows).series(as_of)


def _series_of(rows: Sequence[CountedRow], as_of: date) -> list[RecurringPayment]:
    whole = _series(rows, as_of)
    if whole is None or not whole.interval.months:
        # Two people's contracts with one company may look like payments every other week.
        each = _of_accounts(rows, as_of, INTERVALS)
        if each and (whole is None or all(payment.interval.months for payment in each)):
            return each
    if whole is not None:
        return [whole]
    if parts := _yearly_parts(rows, as_of):
        yearly = (_series(part, as_of, (_YEARLY,)) for part in parts)
        return [payment for payment in yearly if payment is not None]
    if len(rows) < _MIN_PAYMENTS_OF_A_PART:
        return []
    payments: list[RecurringPayment] = []
    for cluster in _clusters(rows):
        series = _series(cluster, as_of, _OF_A_PART) if len(cluster) < len(rows) else None
        if series is not None:
            payments.append(series)
            continue
        for run in _runs_of_equal(cluster):
            series = _series(run, as_of, _OF_A_PART)
            payments += [series] if series else _of_accounts(run, as_of, _OF_A_PART)
    return payments


def _of_accounts(
    rows: Sequence[CountedRow], as_of: date, intervals: Sequence[Interval]
) -> list[RecurringPayment]:
    """A series of a fixed amount for each account; empty if there is one account, or one has none.

    Two people may have the same contract.
    """
    accounts: dict[str, list[CountedRow]] = defaultdict(list)
    for row in rows:
        accounts[row.account].append(row)
    payments: list[RecurringPayment] = []
    # Most shops end here: a fixed amount occurs twice.
    if len(accounts) < 2 or any(
        len({row.amount for row in part}) == len(part) for part in accounts.values()
    ):
        return payments
    for account, part in accounts.items():
        series = _series(part, as_of, intervals)
        if series is None or not series.is_fixed:
            return []
        payments.append(replace(series, account=account))
    return payments


def _yearly_parts(rows: Sequence[CountedRow], as_of: date) -> list[list[CountedRow]]:
    """The rows by their time of the year, if each recurs a year later with a similar amount.

    Empty if one does not, or if fewer than two do.
    """
    parts: list[list[CountedRow]] = []
    a_year = timedelta(days=_YEARLY.days - _YEARLY.slack)
    for row in rows:
        part = next((part for part in parts if _is_a_year_after(part[-1], row)), None)
        if part is not None:
            part.append(row)
        elif len(parts) < _YEARLY_PARTS and row.day - rows[0].day < a_year:
            parts.append([row])
        else:
            return []
    again = [part for part in parts if len(part) > 1]
    late = as_of - timedelta(days=_YEARLY.days + _YEARLY.slack)
    is_broken = any(part[0].day < late for part in parts if len(part) == 1)
    return [] if len(again) < 2 or is_broken else again


def _is_a_year_after(before: CountedRow, row: CountedRow) -> bool:
    is_near = abs((row.day - before.day).days - _YEARLY.days) <= _YEARLY.slack
    return is_near and _is_close([before.yen, row.yen])


def _is_close(amounts: Sequence[int]) -> bool:
    """Whether each amount differs little from the previous one."""
    return all(
        max(before, after) <= _YEARLY_CHANGE * min(before, after)
        for before, after in pairwise(amounts)
    )


def _clusters(rows: Sequence[CountedRow]) -> list[list[CountedRow]]:
    """The rows by amounts that are close to each other, each in order of days.

    Clusters too small to recur are left out.
    """
    clusters: list[list[CountedRow]] = []
    highest = 0.0
    # All rows of a group have the same sign; ``yen`` would be recomputed for each comparison.
    for row in sorted(rows, key=lambda row: abs(row.amount)):
        if abs(row.amount) <= highest:
            clusters[-1].append(row)
        else:
            clusters.append([row])
        highest = abs(row.amount) * _CLOSE
    return [
        sorted(cluster, key=lambda row: (row.day, row.id))
        for cluster in clusters
        if len(cluster) >= _MIN_PAYMENTS_OF_A_PART
    ]


def _runs_of_equal(rows: Sequence[CountedRow]) -> list[list[CountedRow]]:
    by_amount: dict[int, list[CountedRow]] = defaultdict(list)
    for row in rows:
        by_amount[row.amount].append(row)
    return [part for part in by_amount.values() if len(part) >= _MIN_PAYMENTS_OF_A_PART]


def _series(
    rows: Sequence[CountedRow], as_of: date, intervals: Sequence[Interval] = INTERVALS
) -> RecurringPayment | None:
    if len(rows) < min(interval.needed for interval in intervals):
        return None
    regular, interval = _regular(rows, intervals)
    if interval is None:
        return None
    amounts = [row.yen for row in regular]
    is_fixed = _is_fixed(amounts, interval)
    if not is_fixed and not _is_bill(amounts, interval, is_only=len(intervals) == 1):
        return None
    # Last year's payment may have been a few days late.
    within = 365 - interval.slack
    year = [row.yen for row in regular if (regular[-1].day - row.day).days < within]
    prices, singles = _prices(regular) if is_fixed else ([], ())
    amount = prices[-1].yen if is_fixed else int(median(year))
    day_of_month = _usual_day(regular)
    missed, next_day = _missed_days(regular, interval, day_of_month, as_of)
    enough = (regular[-1].day - regular[0].day).days >= 365 - interval.days - interval.slack
    per_year = amount * interval.per_year if is_fixed or not enough else sum(year)
    used = {row.id for row in regular}
    return RecurringPayment(
        name=regular[-1].shop,
        category=regular[-1].category_major,
        is_income=regular[-1].is_income,
        interval=interval,
        is_fixed=is_fixed,
        amount=amount,
        per_year=per_year,
        rows=tuple(regular),
        last_day=regular[-1].day,
        changes=tuple(
            PriceChange(after.day, before.yen, after.yen) for before, after in pairwise(prices)
        ),
        singles=singles,
        missed=missed,
        twice=tuple(row for row in rows if row.id not in used),
        next_day=next_day,
        renamings=tuple(
            Renaming(after.day, before.shop, after.shop)
            for before, after in pairwise(regular)
            if before.shop != after.shop
        ),
    )


def _is_fixed(amounts: Sequence[int], interval: Interval) -> bool:
    """Whether most payments equal the one before; for yearly payments, two of the last three."""
    if interval is _YEARLY and any(before == after for before, after in pairwise(amounts[-3:])):
        return True
    others = sum(before != after for before, after in pairwise(amounts))
    return 1 - others / (len(amounts) - 1) >= _STEADY


def _is_bill(amounts: Sequence[int], interval: Interval, *, is_only: bool) -> bool:
    """Whether the amounts vary as those of a bill; ``is_only`` if no other interval is tried."""
    if interval is _YEARLY:
        # Two amounts may be close by chance.
        return _is_close(amounts) and (len(amounts) > _YEARLY.needed or is_only)
    middle = median(amounts)
    return median(abs(amount - middle) for amount in amounts) <= MAX_SPREAD * middle


def _regular(
    rows: Sequence[CountedRow], intervals: Sequence[Interval]
) -> tuple[list[CountedRow], Interval | None]:
    """The rows without those charged twice, and the interval that fits their gaps."""
    days = [row.day.toordinal() for row in rows]
    usual = median(after - before for before, after in pairwise(days))
    for interval in intervals:
        # Double charges shorten the median gap by a third at most, so most shops are skipped here.
        if not interval.days * 2 / 3 - interval.slack <= usual <= interval.days + interval.slack:
            continue
        regular = _without_repeats(rows, interval)
        if len(regular) < max(interval.needed, 2) or (len(rows) - len(regular)) * 4 > len(rows):
            continue
        gaps = [(b.day - a.day).days for a, b in pairwise(regular)]
        if abs(median(gaps) - interval.days) > interval.slack:
            continue
        fitting = sum(1 for gap in gaps if _fits(gap, interval))
        if fitting >= _REGULAR * len(gaps):
            return regular, interval
    return [], None


def _fits(gap: int, interval: Interval) -> bool:
    """Whether a gap is one interval, or a few if payments were missed."""
    times = max(round(gap / interval.days), 1)
    return times <= _ENDED_AFTER + 1 and abs(gap - times * interval.days) <= interval.slack


def _without_repeats(rows: Sequence[CountedRow], interval: Interval) -> list[CountedRow]:
    distinct: list[CountedRow] = []
    for row in rows:
        repeats = (
            distinct
            and distinct[-1].amount == row.amount
            and (row.day - distinct[-1].day).days <= interval.days // 3
        )
        if not repeats:
            distinct.append(row)
    return distinct


def _prices(rows: Sequence[CountedRow]) -> tuple[list[CountedRow], tuple[CountedRow, ...]]:
    """The first row of each price, and the rows of amounts that were paid once in between.

    A price is an amount that was paid twice in a row.
    """
    prices: list[CountedRow] = []
    singles: list[CountedRow] = []
    for yen, run in groupby(rows, key=lambda row: row.yen):
        first, *more = run
        if not more and not (prices and prices[-1].yen == yen):
            singles.append(first)
        elif not prices or prices[-1].yen != yen:
            prices.append(first)
    return prices, tuple(singles)


def _usual_day(rows: Sequence[CountedRow]) -> int:
    """The day of the month on which the last payments came."""
    days = [row.day.day for row in rows[-6:]]
    if max(days) - min(days) > 15:  # around the end of the month: the 31st, then the 2nd
        days = [day + 30 if day < 16 else day for day in days]
    return (int(median(days)) - 1) % 31 + 1


def _missed_days(
    rows: Sequence[CountedRow], interval: Interval, day_of_month: int, as_of: date
) -> tuple[tuple[date, ...], date | None]:
    """The expected days without a payment, and the next day; None if the series has ended."""
    missed = [
        interval.after(before.day, times, day_of_month)
        for before, after in pairwise(rows)
        for times in range(1, round((after.day - before.day).days / interval.days))
    ]
    last, times = rows[-1].day, 1
    while interval.after(last, times, day_of_month) + timedelta(days=interval.slack) < as_of:
        missed.append(interval.after(last, times, day_of_month))
        times += 1
    if times > _ENDED_AFTER + 1:
        return tuple(missed[: len(missed) - times + 1]), None
    return tuple(missed), interval.after(last, times, day_of_month)
