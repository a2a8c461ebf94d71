"""Monthly sums, and the exact shares, changes, moving averages and savings rates from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from mdvec.dates import Month, MonthRange
from mdvec.household.core.answers import CategoryText, MonthText, Percentage, SubjectText
from mdvec.household.core.categories import INCOME, UNCATEGORISED, Category, Subject, Total

WINDOW = 12
"""The months in a moving average, the current one included."""


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The number of rows that an answer used, and of those that it left out.

    The latter are counted by the first reason that applies to each.
    """

    used: int
    transfer: int = 0
    not_target: int = 0
    duplicate: int = 0
    no_amount: int = 0
    no_category: int = 0
    removed: int = 0

    @property
    def left_out(self) -> int:
        """The number of all rows left out."""
        return sum(getattr(self, reason) for reason in REASONS)

    @property
    def total(self) -> int:
        """The number of all rows, used or left out."""
        return self.used + self.left_out


REASONS = tuple(field.name for field in fields(RowCounts) if field.name != "used")


@dataclass(frozen=True, slots=True)
class MonthlySum:
    """The number of rows of one month and category, and their sum in yen, signed as in the ledger.

    ``left_out`` is the reason, one of ``REASONS``, why these rows do not count; None if they do.
    """

    month: Month
    category_major: str
    category_minor: str
    left_out: str | None
    rows: int
    amount: int

    @property
    def income(self) -> int:
        """The sum if the category is income, else 0."""
        return self.amount if self.category_major == INCOME else 0


class RowSum(NamedTuple):
    """How many rows are alike, and their sum in yen; rows without an amount in their file add 0.

    ``left_out`` is why the rows do not count, or None. ``income`` is the part of the sum that is
    income or, for transfers, that moved in. A row with the user's note or tags (``words``) has a
    sum of its own, with its id.
    """

    description: str
    memo: str
    category_major: str
    category_minor: str
    account: str
    left_out: str | None
    rows: int
    amount: int
    income: int
    words: tuple[str, ...] = ()
    row_id: int | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that are searched for words, the description first."""
        return (self.description, self.memo, *self.words)

    @property
    def category(self) -> str:
        """The category's name."""
        names = filter(None, (self.category_major, self.category_minor))
        return " > ".join(names) or UNCATEGORISED

    def is_of(self, category: Category) -> bool:
        """Whether the rows are in a category; without a minor part it includes all its minors."""
        same = (self.category_major or UNCATEGORISED) == category.major
        return same and category.minor in (None, self.category_minor)


class KeySum(NamedTuple):
    """The number of rows with a key, their sum in yen, and the part of it that is income.

    For transfers, ``income`` is the part that moved in.
    """

    key: str
    rows: int
    amount: int
    income: int


@dataclass(frozen=True, slots=True)
class Totals:
    """The number of some rows, their spending less refunds, and their income, in yen.

    For transfers, ``spending`` is what moved out, and ``income`` what moved in.
    """

    rows: int
    spending: int
    income: int

    @property
    def balance(self) -> int:
        """Income minus spending."""
        return self.income - self.spending


def totals_of(sums: Iterable[KeySum | RowSum | MonthlySum]) -> Totals:
    """The exact sums of some rows."""
    rows, balance, income = 0, 0, 0
    for each in sums:
        rows += each.rows
        balance += each.amount
        income += each.income
    return Totals(rows, income - balance, income)


def totals_of_rows(rows: Iterable[tuple[str, int]]) -> Totals:
    """The exact sums of rows by their 大項目 and amounts."""
    return totals_of(
        KeySum(major, 1, amount, amount if major == INCOME else 0) for major, amount in rows
    )


@dataclass(frozen=True, slots=True)
class MonthFigure:
    """The figures of one month of a category.

    ``amount`` is spending (income for 収入) in yen, and positive; None for a month without rows
    or outside the ledger. ``month_over_month`` and ``year_over_year`` are
    percentages with one decimal, rounded half away from zero, or with one significant digit if
    they are too small for that; None if the month they compare with is outside the ledger, or its
    amount is not positive. ``moving_average`` is in yen, over
    ``averaged_months``: the twelve months up to this one, or as many of them as the ledger has.
    """

    month: MonthText
    amount: int | None
    month_over_month: Percentage | None
    year_over_year: Percentage | None
    moving_average: int | None
    averaged_months: int


@dataclass(frozen=True, slots=True)
class CategoryTrend:
    """A category or total, month by month; ``total`` is the sum of the months shown.

    ``whole_months`` is how many months of the last moving average are complete and have rows. If
    some are not, ``mean_of_whole_months`` is the mean over those that are; otherwise, and if there
    are none, it is None.
    """

    category: SubjectText
    total: int
    months: tuple[MonthFigure, ...]
    whole_months: int
    mean_of_whole_months: int | None


@dataclass(frozen=True, slots=True)
class CategoryShare:
    """A category's amount in yen, percentage of the total, and number of rows.

    ``share`` is None if the total is not positive.
    """

    category: CategoryText
    amount: int
    share: Percentage | None
    rows: int


def counts_of(sums: Iterable[MonthlySum]) -> RowCounts:
    """Adds up how many rows were used, and left out by reason."""
    rows: dict[str | None, int] = {}
    for cell in sums:
        rows[cell.left_out] = rows.get(cell.left_out, 0) + cell.rows
    used = rows.pop(None, 0)
    return RowCounts(used, **{str(reason): n for reason, n in rows.items()})


def amounts_by_category(sums: Iterable[MonthlySum]) -> dict[Category, dict[Month, int]]:
    """The spending or income of each 大項目 in yen, for the months with rows that count.

    Spending is the negated sum of all rows, so refunds reduce it.
    """
    by_category: dict[Category, dict[Month, int]] = {}
    for cell in sums:
        if cell.left_out is None:
            category = Category(cell.category_major)
            amounts = by_category.setdefault(category, {})
            sign = 1 if category.is_income else -1
            amounts[cell.month] = amounts.get(cell.month, 0) + sign * cell.amount
    return by_category


def amounts_of(subject: Subject, sums: Iterable[MonthlySum]) -> dict[Month, int]:
    """The amounts of a category or total, for the months with rows that count.

    For a 中項目, ``sums`` must be of its rows alone.
    """
    by_category = amounts_by_category(sums)
    if isinstance(subject, Category):
        return by_category.get(Category(subject.major), {})
    amounts: dict[Month, int] = {}
    for category, by_month in by_category.items():
        if subject is Total.SPENDING and category.is_income:
            continue
        sign = 1 if subject is Total.SPENDING or category.is_income else -1
        for month, amount in by_month.items():
            amounts[month] = amounts.get(month, 0) + sign * amount
    return amounts


def trend_of(
    category: Subject,
    amounts: Mapping[Month, int],
    ledger: MonthRange,
    shown: MonthRange,
    empty: Collection[Month] = (),
    running: Collection[Month] = (),
) -> CategoryTrend:
    """The months ``shown``, on an axis without holes; ``running`` ones are not complete.

    Inside the ledger a month without amounts is zero; outside of it, and in months without any rows
    (``empty``), it is None. Means count an empty month as zero.
    """
    figures = tuple(_figure(month, amounts, ledger, is_empty=month in empty) for month in shown)
    total = sum(figure.amount or 0 for figure in figures)
    window = _window(shown.last, ledger)
    whole = [amounts.get(month, 0) for month in window if month not in {*running, *empty}]
    of_whole = mean(whole) if 0 < len(whole) < len(window) else None
    return CategoryTrend(category, total, figures, len(whole), of_whole)


def _window(month: Month, ledger: MonthRange) -> Sequence[Month]:
    """The months over which a moving average up to ``month`` is taken."""
    window = MonthRange(month.plus(1 - WINDOW), month).within(ledger) if month in ledger else None
    return [*window] if window else []


def _figure(
    month: Month, amounts: Mapping[Month, int], ledger: MonthRange, *, is_empty: bool
) -> MonthFigure:
    amount = None if is_empty else _amount(month, amounts, ledger)
    window = _window(month, ledger)
    return MonthFigure(
        month=month,
        amount=amount,
        month_over_month=change(amount, _amount(month.plus(-1), amounts, ledger)),
        year_over_year=change(amount, _amount(month.plus(-12), amounts, ledger)),
        moving_average=mean([amounts.get(m, 0) for m in window]) if window else None,
        averaged_months=len(window),
    )


def _amount(month: Month, amounts: Mapping[Month, int], ledger: MonthRange) -> int | None:
    return amounts.get(month, 0) if month in ledger else None


def change(amount: int | None, base: int | None) -> Decimal | None:
    """The change from a base in percent, 0 only if nothing changed; None if the base is not > 0."""
    if amount is None or base is None or base <= 0:
        return None
    difference = amount - base
    rounded = percent(difference, base)
    if rounded or not difference:
        return rounded
    return Decimal(f"{Decimal(100 * difference) / base:.0e}")


def percent(part: int, whole: int) -> Decimal:
    """A part as a percentage of the whole, with one decimal, rounded half away from zero."""
    return Decimal(rounded(1000 * part, whole)) / 10


def mean(amounts: list[int]) -> int:
    """The mean in whole yen, rounded half away from zero."""
    return rounded(sum(amounts), len(amounts))


def rounded(part: int, whole: int) -> int:
    """A quotient, rounded half away from zero."""
    size = int(abs(Fraction(part, whole)) + Fraction(1, 2))
    return size if part >= 0 else -size


def shares(
    sums: Iterable[MonthlySum], *, of_income: bool = False, by_minor: bool
) -> tuple[CategoryShare, ...]:
    """Each category's share of the spending (or income) that counts, the largest amount first."""
    by_category: dict[Category, tuple[int, int]] = {}
    for cell in sums:
        if cell.left_out is None and (cell.category_major == INCOME) is of_income:
            minor = cell.category_minor if by_minor else None
            category = Category(cell.category_major, minor)
            amount, rows = by_category.get(category, (0, 0))
            yen = cell.amount if of_income else -cell.amount
            by_category[category] = (amount + yen, rows + cell.rows)
    whole = sum(amount for amount, _ in by_category.values())
    lines = [
        CategoryShare(category, amount, percent(amount, whole) if whole > 0 else None, rows)
        for category, (amount, rows) in by_category.items()
    ]
    return tuple(sorted(lines, key=lambda line: (-line.amount, str(line.category))))


@dataclass(frozen=True, slots=True)
class MonthlySavings:
    """A month's income, spending and savings rate in percent."""

    month: MonthText
    income: int
    spending: int
    rate: Percentage | None


@dataclass(frozen=True, slots=True)
class SavingsTrend:
    """The savings rate month by month, and over all months."""

    months: tuple[MonthlySavings, ...]
    rate: Percentage | None


def savings_rate(income: int, spending: int) -> Decimal | None:
    """Income minus spending, in percent of the income; None without income."""
    return percent(income - spending, income) if income > 0 else None


def savings_of(
    income: Mapping[Month, int], spending: Mapping[Month, int], shown: MonthRange
) -> SavingsTrend:
    """Computes the savings rate of each month shown, and over all of them."""
    months = tuple(
        MonthlySavings(month, earned, spent, savings_rate(earned, spent))
        for month in shown
        for earned, spent in [(income.get(month, 0), spending.get(month, 0))]
    )
    whole = savings_rate(sum(m.income for m in months), sum(m.spending for m in months))
    return SavingsTrend(months, whole)


@dataclass(frozen=True, slots=True)
class MonthMarks:
    """Months that are ``running``, so probably incomplete, and months without rows (``empty``)."""

    running: tuple[Month, ...] = ()
    empty: tuple[Month, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ShownMonths:
    """The months of an answer, and how its period was understood.

    ``running`` months are probably incomplete, ``empty`` ones have no rows.
    """

    first_month: MonthText
    last_month: MonthText
    understood: str
    running: tuple[MonthText, ...] = ()
    empty: tuple[MonthText, ...] = ()

    @property
    def months(self) -> MonthRange:
        """From the first to the last."""
        return MonthRange(self.first_month, self.last_month)

    @property
    def marks(self) -> MonthMarks:
        """Which of these months are probably incomplete, or without rows."""
        return MonthMarks(self.running, self.empty)
