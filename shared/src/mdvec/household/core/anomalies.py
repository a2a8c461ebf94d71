"""Finds amounts far from their history: of categories by month, and of rows by shop.

The distance is a robust z: from the median, in median absolute deviations. A running month is
compared with the same days of earlier months. Payments that recur once or twice a year at about the
previous amount are expected, so they are left out of their category's months.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import chain
from statistics import median
from typing import Literal

from mdvec.dates import Month
from mdvec.household.core.recurring import recurring_payments
from mdvec.household.core.shown import shown_name
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import format_currency

AnomalyKind = Literal["category", "shop", "new_shop"]
_MONTHS, _MIN_MONTHS = 12, 4
_MIN_VISITS = 5
_FAR = 3.5
_MAD_TO_SIGMA = 1.4826
_MIN_SCALE = 0.1
"""The deviation is taken to be at least this share of the median: it would be 0 for equal
months."""
_NO_SCALE = 1
"""The deviation, in yen, of a history that is mostly zero."""
_MIN_YEN = 3_000
"""A smaller difference, in yen, is not reported, however regular the past was."""
_MONTHS_BETWEEN, _DEARER = 6, 1.1
"""A payment that recurs at intervals of at least so many months is expected, unless it costs more
than this factor times the payment before."""
_MAX_RARE = 10
"""A shop with more rows in three years is taken to be paid more often than twice a year."""
_LARGE = 99
"""A first purchase in a shop is reported if it is above this percentile of all rows."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """An amount far from its history, in yen.

    ``usual`` is the median of the history, ``low`` and ``high`` are its ends, ``compared`` is how
    many months or rows it has, and ``z`` is the robust distance; None if most of the history is
    zero, so that there is no deviation, and for a shop without history, where ``usual`` is the
    percentile of all rows that it exceeds. ``rows`` are its largest rows. ``known`` is the sum of
    the month's expected yearly payments, which ``yen`` leaves out.
    """

    kind: AnomalyKind
    name: str
    yen: int
    usual: int
    low: int
    high: int
    compared: int
    z: float | None
    rows: tuple[CountedRow, ...]
    known: int = 0


@dataclass(frozen=True, slots=True)
class MonthAnomalies:
    """What is ``unusual`` in the month of ``as_of``, up to that day, and what could be compared.

    ``months`` is how many earlier months there are to compare categories with. ``known_shops``:
    some row of the month could be compared with earlier rows of its shop; ``new_shops``: some row
    in a new shop could be compared with all earlier rows.
    """

    month: Month
    as_of: date
    unusual: tuple[Anomaly, ...]
    months: int
    known_shops: bool
    new_shops: bool

    @property
    def compares_categories(self) -> bool:
        """Whether there are enough earlier months to call a category's sum usual."""
        return self.months >= _MIN_MONTHS


def month_anomalies(rows: Iterable[CountedRow], as_of: date, starts_on: int = 1) -> MonthAnomalies:
    """The unusual amounts in the month of ``as_of``, the largest difference first.

    Months start on the day ``starts_on``.
    """
    spending = [row for row in rows if not row.is_income and row.day <= as_of]
    now = Month.of(as_of, starts_on)
    months = _months_before(spending, now)
    unusual, has_known, has_new = _of_shops(spending, now)
    if len(months) >= _MIN_MONTHS:
        unusual += _of_categories(spending, as_of, months, now)
    unusual.sort(
        key=lambda anomaly: (-abs(anomaly.yen - anomaly.usual), anomaly.kind, anomaly.name)
    )
    return MonthAnomalies(
        month=now,
        as_of=as_of,
        unusual=tuple(unusual),
        months=len(months),
        known_shops=has_known,
        new_shops=has_new,
    )


def _expected_rows(rows: Sequence[CountedRow], as_of: date) -> Set[int]:
    """The ids of rows that recur once or twice a year and cost hardly more than the time before."""
    visits = Counter(row.shop for row in rows)
    rare = [row for row in rows if visits[row.shop] <= _MAX_RARE]
    return {
        row.id
        for payment in recurring_payments(rare, as_of)
        if payment.interval.months >= _MONTHS_BETWEEN
        for before, row in zip(payment.rows[:1] + payment.rows, payment.rows, strict=False)
        if row.yen <= before.yen * _DEARER
    }


def _of_categories(
    rows: Sequence[CountedRow], as_of: date, months: Sequence[Month], now: Month
) -> list[Anomaly]:
    known, whole = _expected_rows(rows, as_of), as_of == now.last_day
    sums: dict[str, dict[Month, int]] = defaultdict(dict)
    behind: dict[str, list[CountedRow]] = defaultdict(list)
    month_of = cache(lambda day: Month.of(day, now.starts_on))
    over = as_of - now.first_day
    left_out: dict[str, int] = defaultdict(int)
    for row in rows:
        month = month_of(row.day)
        if row.id in known:
            left_out[row.category_major] += row.yen if month == now else 0
            continue
        if whole or row.day - month.first_day <= over:
            by_month = sums[row.category_major]
            by_month[month] = by_month.get(month, 0) + row.yen
        if month == now:
            behind[row.category_major].append(row)
    unusual = []
    for name, by_month in sums.items():
        yen, history = by_month.get(now, 0), [by_month.get(earlier, 0) for earlier in months]
        z = robust_z(yen, history)
        if abs(z) >= _FAR and abs(yen - median(history)) >= _MIN_YEN:
            far = _anomaly("category", name, yen, history, z, behind[name])
            unusual.append(replace(far, known=left_out[name]))
    return unusual


def _months_before(rows: Iterable[CountedRow], now: Month) -> list[Month]:
    """The months with which a month's categories are compared, the latest first.

    A month without a row of spending is unknown rather than cheap.
    """
    known = {Month.of(day, now.starts_on) for day in {row.day for row in rows}}
    return [earlier for back in range(1, _MONTHS + 1) if (earlier := now.plus(-back)) in known]


def history_notes(found: MonthAnomalies) -> list[str]:
    """A note if there are too few earlier months to call a category's sum usual; else empty."""
    if found.compares_categories:
        return []
    return [
        f"カテゴリをいつもと比べるには、その月より前に {_MIN_MONTHS}か月以上の明細が必要です"
        f"（あるのは {found.months}か月）"
    ]


def _of_shops(rows: Iterable[CountedRow], now: Month) -> tuple[list[Anomaly], bool, bool]:
    """The unusual rows; whether any could be compared with its shop, and any of a new shop."""
    before: dict[str, list[int]] = defaultdict(list)
    current: list[CountedRow] = []
    for row in rows:
        if row.yen > 0 and row.day >= now.first_day:
            current.append(row)
        elif row.yen > 0:
            before[row.shop].append(row.yen)
    every = sorted(chain.from_iterable(before.values()))
    large = every[len(every) * _LARGE // 100] if len(every) >= 100 else None
    new = [row for row in current if large is not None and row.shop not in before]
    known = [row for row in current if len(before.get(row.shop, ())) >= _MIN_VISITS]
    unusual = [
        Anomaly("new_shop", row.shop, row.yen, large, 0, 0, 0, None, (row,))
        for row in new
        if large is not None and row.yen > max(large, _MIN_YEN)
    ]
    spread_of = cache(lambda shop: _spread(before[shop]))
    for row in known:
        middle, scale = spread_of(row.shop)
        z = (row.yen - middle) / scale
        if z >= _FAR and row.yen - middle >= _MIN_YEN:
            unusual.append(_anomaly("shop", row.shop, row.yen, before[row.shop], z, [row]))
    return unusual, bool(known), bool(new)


def _anomaly(
    kind: AnomalyKind,
    name: str,
    yen: int,
    history: Sequence[int],
    z: float,
    rows: Sequence[CountedRow],
) -> Anomaly:
    largest = sorted(rows, key=lambda row: (-row.yen, row.day, row.id))[:3]
    return Anomaly(
        kind=kind,
        name=name,
        yen=yen,
        usual=int(median(history)),
        low=min(history),
        high=max(history),
        compared=len(history),
        z=round(z, 1) if _spread(history)[1] > _NO_SCALE else None,
        rows=tuple(largest),
    )


def robust_z(yen: int, history: Sequence[int]) -> float:
    """The distance from the median in units of a deviation that single months hardly change."""
    middle, scale = _spread(history)
    return (yen - middle) / scale


def _spread(history: Sequence[int]) -> tuple[float, float]:
    """The median, and the deviation from it (never 0): the median distance, scaled to a sigma."""
    middle = median(history)
    deviation = median(abs(amount - middle) for amount in history) * _MAD_TO_SIGMA
    return middle, max(deviation, abs(middle) * _MIN_SCALE, _NO_SCALE)


def anomaly_lines(found: MonthAnomalies) -> list[str]:
    """A line for each anomaly with its reason; without anomalies, a line on what was compared."""
    until = "" if found.as_of == found.month.last_day else f"（{found.as_of} まで）"
    span = f"{found.month.in_words}{until}"
    if found.unusual:
        lines = [f"{span}の、いつもと違うもの（差の大きい順）:"]
        return [*lines, *(_line(anomaly, whole=not until) for anomaly in found.unusual)]
    if found.compares_categories:
        return [f"{span}に、いつもと大きく違うものはありません。"]
    shops = [f"前から明細が {_MIN_VISITS}件以上ある店"] * found.known_shops
    shops += ["初めての店"] * found.new_shops
    if not shops:
        return [f"{span}は、まだいつもと比べられません。"]
    return [
        f"{span}に、{'と'.join(shops)}では、いつもと大きく違う明細はありません"
        "（ほかの店とカテゴリは、まだ比べられません）。"
    ]


def _line(anomaly: Anomaly, *, whole: bool) -> str:
    name, usual = shown_name(anomaly.name), format_currency(anomaly.usual)
    paid = "".join(
        f"- {name}: {row.day} に {format_currency(anomaly.yen)} [{row.id}]。"
        for row in anomaly.rows[:1]
    )
    if anomaly.kind == "new_shop":
        return f"{paid}初めての店で、これまでの明細の 99 % は {usual} 以下です"
    span = f"{format_currency(anomaly.low)}〜{format_currency(anomaly.high)}"
    distance = "半分以上が同じ額で、z なし" if anomaly.z is None else f"z={anomaly.z}"
    if anomaly.kind == "shop":
        return f"{paid}この店の {anomaly.compared}件の中央値は {usual}（{span}、{distance}）です"
    days = "過去" if whole else "同じ日までの過去"
    known = f"（毎年の支払い {format_currency(anomaly.known)} を除く）" if anomaly.known else ""
    rows = "、".join(
        f"{row.day} {shown_name(row.description)} {format_currency(row.yen)} [{row.id}]"
        for row in anomaly.rows
    )
    more = f"。大きい明細: {rows}" if rows else ""
    return (
        f"- {name}カテゴリ: {format_currency(anomaly.yen)}{known}。"
        f"{days} {anomaly.compared}か月の中央値は {usual}（{span}、{distance}）です{more}"
    )
