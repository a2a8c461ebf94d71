"""Groups of sums by shop, category, account, person or part of time, and means of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal, TypeVar

from mdvec.dates import Days, Month, MonthRange
from mdvec.household.core.shop_names import as_written, shops_of
from mdvec.household.core.shown import shown_name
from mdvec.household.core.sums import KeySum, RowSum, Totals, rounded, totals_of
from mdvec.household.core.wording import sums_in_words, totals_in_words
from mdvec.text import quoted

GroupBy = Literal[
    "shop", "category", "account", "person", "day", "week", "month", "year", "weekday", "weekend"
]
TIMES: tuple[GroupBy, ...] = ("day", "week", "month", "year", "weekday", "weekend")
"""The groups by a row's day."""
DATED: dict[GroupBy | None, str] = {"day": "日", "week": "週", "month": "月", "year": "年"}
"""The groups by consecutive parts of time, as answers call them."""
MAX_TIMES = 120
"""The most days or weeks that an answer lists."""
MAX_GROUPS = 20
"""The most groups, other than parts of time, on a page with fewer rows."""
NAMED_BY: dict[GroupBy | None, str] = {
    "shop": "店", "category": "カテゴリ", "account": "口座", "person": "人"
}  # fmt: skip
"""The groups that are not by time, as answers call them."""
_WEEKDAYS = "月火水木金土日"
_WORKDAY, _WEEKEND = "平日", "土日"
_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean spending and income in whole yen per day or month, ``over`` this many of them.

    ``is_whole`` is false if some of the months are only partly in the period or have no rows; the
    mean of the others, if there are any, is then given beside it.
    """

    unit: Literal["day", "month"]
    over: int
    spending: int
    income: int
    is_whole: bool = True

    def told(self, *, moved: bool) -> str:
        """The means in Japanese, with the number of days or months."""
        unit, units = ("1日", "日") if self.unit == "day" else ("1か月", "か月")
        amounts = sums_in_words(self.spending, self.income, moved=moved)
        whole = "まる" if self.unit == "month" and self.is_whole else ""
        part = "" if self.is_whole else "、揃っていない月を含む"
        return f"{unit}平均 {amounts or '0円'}（{whole}{self.over:,}{units}{part}）"


@dataclass(frozen=True, slots=True)
class FoundGroup(Totals):
    """The matches that share a shop, category, account, person or period.

    ``mean`` is per day for weekdays, and per month for years; if some of its months are only partly
    in the period or have no rows, ``mean_of_whole_months`` is that of the others, if there are any.
    """

    name: str
    mean: Mean | None = None
    mean_of_whole_months: Mean | None = None

    def told(self, *, moved: bool) -> str:
        """The sums in Japanese, and the means if there are any."""
        means = (mean.told(moved=moved) for mean in (self.mean, self.mean_of_whole_months) if mean)
        return "、".join([totals_in_words(self, moved=moved), *means])

    @classmethod
    def of(cls, name: str, sums: Iterable[KeySum | RowSum]) -> FoundGroup:
        """The group of some sums."""
        totals = totals_of(sums)
        return cls(totals.rows, totals.spending, totals.income, name)


def group_lines(
    groups: Iterable[FoundGroup], *, by_time: bool = False, moved: bool = False
) -> list[str]:
    """A line for each group; ``by_time``: their names are ours, not from the data.

    A name from the data that looks like a part of time is quoted, so that an English answer leaves
    it as it is.
    """
    ours = () if by_time else (*(f"{day}曜日" for day in _WEEKDAYS), _WORKDAY, _WEEKEND)
    lines = []
    for group in groups:
        name = quoted(group.name) if group.name in ours else shown_name(group.name)
        lines.append(f"- {name}: {group.told(moved=moved)}")
    return lines


SomeSum = TypeVar("SomeSum", RowSum, KeySum)
ShopOf = Callable[[str], str]
"""Gives the name of a description's shop in answers."""


@lru_cache(maxsize=4)
def shop_names(descriptions: tuple[str, ...]) -> ShopOf:
    """The name in answers of each description's shop: as written, if only one description has it.

    Of several, it is what they share, with the capitals of the first of them in the order of their
    letters. With all of a ledger's descriptions, every answer about it has the same name. The
    names of a few ledgers are kept, as finding them takes longer than most answers.
    """
    shops = shops_of(descriptions)
    written: dict[str, set[str]] = {}
    for description, shop in shops.items():
        written.setdefault(shop, set()).add(" ".join(description.split()))
    shown = {
        shop: next(iter(names)) if len(names) == 1 else as_written(shop, min(names))
        for shop, names in written.items()
    }
    return {description: shown[shop] for description, shop in shops.items()}.__getitem__


def groups_by(
    sums: Iterable[SomeSum],
    name: Callable[[SomeSum], str],
    *,
    is_smallest: bool = False,
    moved: bool = False,
) -> list[FoundGroup]:
    """The sums grouped by name, the largest or the smallest first.

    Transfers (``moved``) go by money out and in together: most come back and leave no balance.
    """
    groups = [FoundGroup.of(group, of_name) for group, of_name in _by_name(sums, name).items()]
    sign = 1 if is_smallest else -1

    def place(group: FoundGroup) -> tuple[int, str]:
        size = group.spending + group.income if moved else abs(group.balance)
        return sign * size, group.name

    return sorted(groups, key=place)


def _by_name(sums: Iterable[SomeSum], name: Callable[[SomeSum], str]) -> dict[str, list[SomeSum]]:
    by_name: dict[str, list[SomeSum]] = {}
    for each in sums:
        by_name.setdefault(name(each), []).append(each)
    return by_name


def with_others(groups: Sequence[FoundGroup], page: slice, grouped: str) -> tuple[FoundGroup, ...]:
    """The groups of a page, and one that sums all others and says how many they are."""
    shown = groups[page]
    left = [*groups[: page.start], *groups[page.stop :]] if shown else []
    others = f"ほか{len(left):,}件の{grouped}"
    return (*shown, *([_together(others, left)] if left else []))


def _together(name: str, groups: Iterable[FoundGroup]) -> FoundGroup:
    return FoundGroup.of(
        name, (KeySum(group.name, group.rows, group.balance, group.income) for group in groups)
    )


def sums_within(sums: Iterable[KeySum], days: Days) -> list[KeySum]:
    """The sums of those days."""
    first, last = days.first.isoformat(), days.last.isoformat()
    return [of_day for of_day in sums if first <= of_day.key <= last]


def groups_by_time(
    sums: Sequence[KeySum],
    group_by: GroupBy,
    days: Days | None,
    requested: Days | None,
    month_starts_on: int,
    present: Collection[Month],
    sort: str | None = None,
    *,
    moved: bool = False,
) -> tuple[FoundGroup, ...]:
    """The sums of days by a part of time, in order of time, with means over those within ``days``.

    ``sort`` is another order: newest, largest or smallest; ``moved``: the rows are transfers.
    ``present`` are the ledger's months with rows. A week, month or year is named by its
    ``requested`` days if these are only some of it. The last, or first in the other order,
    ``MAX_TIMES`` days or weeks are listed, and all others are one group.
    """

    def name(of_day: KeySum) -> str:
        return _time_of(date.fromisoformat(of_day.key), group_by, month_starts_on)

    by_amount = groups_by(sums, name, is_smallest=sort == "smallest", moved=moved)
    groups = _in_order(by_amount, group_by, sort)
    ends = (requested.first, requested.last) if requested else ()
    parts = {
        _time_of(day, group_by, month_starts_on): f"{part.first}〜{part.last}"
        for day in ends
        if (part := _asked_part(day, group_by, Days(*ends), month_starts_on))
    }
    averaged = _by_name(sums_within(sums, days), name) if days else {}
    over: Counter[str] = Counter()
    if days is not None and group_by in ("weekday", "weekend"):
        length = (days.last - days.first).days + 1
        every = (days.first + timedelta(number) for number in range(length))
        over.update(_time_of(day, group_by, month_starts_on) for day in every)

    def with_means(group: FoundGroup) -> FoundGroup:
        own = averaged.get(group.name, ())
        if own and over[group.name]:
            return replace(group, mean=_mean_of(own, "day", over[group.name]))
        if own and days and group_by == "year":
            first = Month(int(group.name), 1, month_starts_on)
            if year := MonthRange(first, first.plus(11)).days.within(days):
                mean, *whole = _means_per_month(own, year, month_starts_on, present)
                return replace(group, mean=mean, mean_of_whole_months=whole[0] if whole else None)
        return group

    return tuple(
        replace(with_means(group), name=parts.get(group.name, group.name)) for group in groups
    )


def _in_order(
    by_amount: Sequence[FoundGroup], group_by: GroupBy, sort: str | None
) -> Sequence[FoundGroup]:
    """Parts of time by amount if ``sort`` says so, else in order of time, limited in number."""
    if sort in ("largest", "smallest"):
        return with_others(by_amount, slice(0, MAX_TIMES), DATED.get(group_by, ""))
    groups = sorted(by_amount, key=lambda group: _order(group.name))
    if group_by in ("day", "week") and len(groups) > MAX_TIMES:
        earlier = _together(f"{groups[-MAX_TIMES].name[:10]}より前", groups[:-MAX_TIMES])
        groups = [earlier, *groups[-MAX_TIMES:]]
    return groups[::-1] if sort == "newest" and group_by in DATED else groups


def _asked_part(day: date, group_by: GroupBy, requested: Days, month_starts_on: int) -> Days | None:
    """The requested days of the week, month or year around a day; None if that is all of it."""
    month = Month.of(day, month_starts_on)
    whole = requested
    match group_by:
        case "week":
            whole = Days.week_of(day)
        case "month":
            whole = MonthRange(month, month).days
        case "year":
            first = month.plus(1 - month.month)
            whole = MonthRange(first, first.plus(11)).days
    part = whole.within(requested)
    return None if part == whole else part


def means_over(
    sums: Sequence[KeySum], days: Days, month_starts_on: int, present: Collection[Month]
) -> tuple[Mean, ...]:
    """The means of days' sums per day and, for two months or more, per month."""
    per_day = _mean_of(sums, "day", (days.last - days.first).days + 1)
    per_month = _means_per_month(sums, days, month_starts_on, present)
    return (per_day, *(per_month if per_month[0].over > 1 else ()))


def _means_per_month(
    sums: Sequence[KeySum], days: Days, month_starts_on: int, present: Collection[Month]
) -> tuple[Mean, ...]:
    """The mean of days' sums per month; if some months are not whole, also that of the whole ones.

    A month is not whole if only a few of its days are in the period, or if it is not ``present``.
    """
    months = MonthRange.around(days, month_starts_on)
    whole = [each for each in months if each in present and each.days.within(days) == each.days]
    is_whole = len(whole) == len(months)
    mean = _mean_of(sums, "month", len(months), is_whole=is_whole)
    if is_whole or not whole:
        return (mean,)
    of_whole = sums_within(sums, MonthRange(whole[0], whole[-1]).days)
    return mean, _mean_of(of_whole, "month", len(whole))


def _mean_of(
    sums: Iterable[KeySum], unit: Literal["day", "month"], over: int, *, is_whole: bool = True
) -> Mean:
    totals = totals_of(sums)
    return Mean(unit, over, rounded(totals.spending, over), rounded(totals.income, over), is_whole)


def _time_of(day: date, group_by: GroupBy, month_starts_on: int) -> str:
    """The part of time that a day is in, by its name."""
    if month_starts_on == 1 and group_by in ("month", "year"):
        return day.isoformat()[: 7 if group_by == "month" else 4]
    match group_by:
        case "week":
            week = Days.week_of(day)
            return f"{week.first}〜{week.last}"
        case "month":
            return str(Month.of(day, month_starts_on))
        case "year":
            return f"{Month.of(day, month_starts_on).year:04d}"
        case "weekday":
            return f"{_WEEKDAYS[day.weekday()]}曜日"
        case "weekend":
            return _WEEKEND if day.weekday() >= _SATURDAY else _WORKDAY
    return day.isoformat()


def _order(name: str) -> tuple[int, str]:
    return (_WEEKDAYS.index(name[0]) if name.endswith("曜日") else 0, name)
