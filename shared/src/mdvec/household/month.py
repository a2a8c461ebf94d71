"""A household's income, spending and rows in a period, and those of several households together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from mdvec.dates import Days, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.answers import (
    DayEnds,
    LedgerAnswer,
    Percentage,
    SubjectText,
    age_line,
    answer_text,
    answer_words,
)
from mdvec.household.core.categories import Category, Subject, Total
from mdvec.household.core.found import Paging, page_lines
from mdvec.household.core.periods import UnderstoodPeriod, resolve_period, span_in_words
from mdvec.household.core.shown import shown_name
from mdvec.household.core.sums import (
    CategoryShare,
    MonthlySum,
    RowCounts,
    ShownMonths,
    Totals,
    counts_of,
    savings_rate,
    shares,
    totals_of,
)
from mdvec.household.core.transaction import ListedRow
from mdvec.household.core.wording import format_currency, format_percentage
from mdvec.household.interfaces import ledger_sums
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.plans import listed_rows
from mdvec.household.ledger_view import LedgerView, doubt_notes, ledger_view
from mdvec.household.overview import (
    Coverage,
    coverage_or_none,
    named_subject,
    read_snapshot,
    refuse_empty,
)
from mdvec.household.sharing import SharedPair, left_out_of_the_sum, pairs_across, pairs_in_words


@dataclass(frozen=True, slots=True)
class HouseholdAnswer(LedgerAnswer, ShownMonths):
    """The sums of some days and a page of their rows; the months are those around these days.

    ``spending`` and ``income`` are positive yen, ``balance`` is income minus spending. With a
    category, the balance is None, and so is spending or income, whichever it is not part of.
    ``savings_rate`` is in percent; None unless requested, or without income. Shares are by 大項目,
    but shares of income, and of a category, are by 中項目. ``rows`` includes rows that do not
    count, with the reason in ``left_out``. ``next_page`` is None on the last page.
    """

    first_day: date
    last_day: date
    category: SubjectText | None
    spending: int | None
    income: int | None
    balance: int | None
    savings_rate: Percentage | None
    spending_by_category: tuple[CategoryShare, ...]
    income_by_category: tuple[CategoryShare, ...]
    counts: RowCounts
    rows: tuple[ListedRow, ...]
    total_rows: int
    page: int
    pages: int
    next_page: int | None

    @property
    def days(self) -> Days:
        """The days summed."""
        return Days(self.first_day, self.last_day)

    @property
    def period_in_words(self) -> str:
        """The days in Japanese; as months where they are whole months."""
        return span_in_words(self.days, self.first_month.starts_on)


def monthly_household(
    ledger: Ledger,
    *,
    year: int | None = None,
    month: int | None = None,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    category: str | None = None,
    page: int = 1,
    page_size: int = wording.PAGE_SIZE,
) -> HouseholdAnswer:
    """The sums of a month, or of another period, by category, and a page of its rows.

    ``category`` is a category's name, or 支出, 収入, 収支 or 貯蓄率 for that total. A row is in the
    month of its date, whichever statement it is in. The default period is the latest twelve months
    with data, up to the current one. ``page`` counts from 1; ``page_size`` is at most 200; 0 asks
    for the sums alone. The text of a later page has only its rows.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as in ``LedgerView``.
        UnknownCategory: no category, or several, have that name.
        InsufficientData: the ledger has nothing for these months.
        InvalidPage: the page does not exist.
        InvalidChoice: the page size is out of range.
    """
    wording.check_limit(page_size, 0, wording.MAX_PAGE_SIZE)
    with ledger_view(ledger) as view:
        requested = view.period(since, until, period, year=year, month=month)
        named, notes = named_subject(ledger, category)
        days, range_notes = view.shown_days(requested, named)
        notes += range_notes
        sums = view.sums(days, named, by_minor=True)
        counts = counts_of(sums)
        paging = Paging(page, page_size, counts.total)
        on_page = ledger_sums.page_of_rows(
            ledger, days, named, offset=paging.offset, limit=page_size
        )
        rows = listed_rows(ledger, on_page)
        notes += doubt_notes(ledger, days, named)
    months = MonthRange.around(days, ledger.month_starts_on)
    marks, age = view.covered.marks(months, days), view.age(requested)
    spent = shares(sums, by_minor=isinstance(named, Category))
    earned = shares(sums, of_income=True, by_minor=True)
    paid, received = (sum(line.amount for line in lines) for lines in (spent, earned))
    is_income = named is not None and named.is_income
    has_both = named in (None, Total.BALANCE, Total.SAVINGS_RATE)
    notes += [*wording.removed_notes(sums), *wording.received_notes(spent, earned)]
    answer = HouseholdAnswer(
        first_day=days.first,
        last_day=days.last,
        first_month=months.first,
        last_month=months.last,
        understood=requested.understood,
        running=marks.running,
        empty=marks.empty,
        category=named,
        spending=None if is_income else paid,
        income=received if has_both or is_income else None,
        balance=received - paid if has_both else None,
        savings_rate=savings_rate(received, paid) if named is Total.SAVINGS_RATE else None,
        spending_by_category=spent,
        income_by_category=earned,
        counts=counts,
        rows=rows,
        total_rows=paging.total,
        page=paging.number,
        pages=paging.pages,
        next_page=paging.next,
        notes=tuple(notes),
        age=age,
        text="",
    )
    return replace(answer, text=_text(answer, named, paging))


def _text(answer: HouseholdAnswer, subject: Subject | None, paging: Paging) -> str:
    """The answer in Japanese; from the second page on, only the rows."""
    span, name = answer.period_in_words, subject and wording.subject_in_words(subject)
    if paging.number > 1:
        about = f"{span}の{name}の" if name else f"{span}の"
        return answer_text(page_lines(answer.rows, paging, about))
    lines = [f"{span}の{name or '家計簿'}です。"]
    for figure, yen in (("支出", answer.spending), ("収入", answer.income)):
        if yen is not None:
            lines.append(f"- {figure}: {format_currency(yen)}")
    if answer.balance is not None:
        lines.append(f"- 収支: {format_currency(answer.balance, signed=True)}")
    if subject is Total.SAVINGS_RATE:
        lines.append(f"- 貯蓄率: {format_percentage(answer.savings_rate, signed=False)}")
    level = "中項目別" if isinstance(subject, Category) else "カテゴリ別"
    for title, listed in (
        (f"{level}の支出", answer.spending_by_category),
        ("収入の内訳", answer.income_by_category),
    ):
        if listed:
            lines += [f"{title}:", *map(_share_line, listed)]
    notes = [*answer.notes, answer.understood, wording.counts_text(answer.counts)]
    return answer_text(lines, notes, page_lines(answer.rows, paging), age=answer.age)


def _share_line(share: CategoryShare) -> str:
    category = share.category
    name = category.major if category.minor is None else category.minor or "（中項目なし）"
    of_all = format_percentage(share.share, signed=False)
    return f"- {shown_name(name)}: {format_currency(share.amount)} （{of_all}, {share.rows:,}件）"


@dataclass(frozen=True, slots=True)
class HouseholdFigures:
    """A household's spending and income in yen, both positive."""

    name: str
    spending: int
    income: int


@dataclass(frozen=True, slots=True)
class CombinedAnswer(LedgerAnswer):
    """Each household's figures, and the figures of all together, also by 大項目.

    ``counts`` are over the rows of all households.
    """

    days: DayEnds
    households: tuple[HouseholdFigures, ...]
    spending: int
    income: int
    spending_by_category: tuple[CategoryShare, ...]
    shared: tuple[SharedPair, ...]
    counts: RowCounts


def combined_households(
    ledgers: Mapping[str, Ledger],
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
) -> CombinedAnswer:
    """The households of a database, by name, in a period, by default the latest month.

    All ledgers must have the same ``today`` and the same start of months.

    A purchase in two of them counts twice in the sum over all until the user decides. ``shared``
    has the pairs that are likely one purchase, or a transfer between households, with a row in the
    period.

    Raises:
        EmptyLedger: no household has rows yet.
        InvalidPeriod: the period was not understood.
        InsufficientData: no household has rows in these months.
    """
    first, is_several = next(iter(ledgers.values())), len(ledgers) > 1
    with read_snapshot(first.connection):
        covered = {
            name: span for name, ledger in ledgers.items() if (span := coverage_or_none(ledger))
        }
        if not covered:
            refuse_empty(first)
        latest = max(span.latest for span in covered.values())
        available = MonthRange(min(span.body.first for span in covered.values()), latest)
        requested = resolve_period(
            first.today, available, since=since, until=until, period=period, default=latest,
            earliest=min(span.present[0] for span in covered.values()),
        )  # fmt: skip
        cells, unexplained = _sums_of_each(ledgers, covered, requested)
        left_out, about_it = left_out_of_the_sum(ledgers, requested.days)
        across = pairs_across(ledgers, requested.days) if is_several else []
    if not any(cells.values()):
        raise wording.InsufficientData(requested.in_words, available)
    notes = [f"{name} にはこの期間の明細がありません" for name, sums in cells.items() if not sums]
    if across is None:
        notes.append("両方の家計簿にある同じ買い物は二度数えています（行が多く、探せませんでした）")
    elif is_several and not across and not about_it:
        notes.append(
            "両方の家計簿にある同じ買い物は二度数えますが、それらしい組は見つかりませんでした"
        )
    notes += filter(None, (about_it, *unexplained, requested.understood))
    last = None if requested.follows_data else requested.days.last
    age = "".join(
        age_line(span.last_day, first.today, last, f"{name} の明細")
        for name, span in covered.items()
    )
    return _combined_answer(requested, cells, left_out, across or [], notes, age)


def _sums_of_each(
    ledgers: Mapping[str, Ledger], covered: Mapping[str, Coverage], requested: UnderstoodPeriod
) -> tuple[dict[str, list[MonthlySum]], list[str]]:
    """The sums of each household (empty without rows in the period), and notes on their rows."""
    cells: dict[str, list[MonthlySum]] = {}
    unexplained: list[str] = []
    for name, ledger in ledgers.items():
        notes: list[str] = []
        cells[name] = []
        if name in covered and covered[name].shown(requested.months):
            view = LedgerView(ledger, covered[name])
            shown, notes = view.shown_days(requested, None)
            cells[name] = view.sums(shown, None)
        notes += doubt_notes(ledger, requested.days, None)
        unexplained += [f"{name}: {note}" if len(ledgers) > 1 else note for note in notes]
    return cells, unexplained


def _combined_answer(
    period: UnderstoodPeriod,
    cells: Mapping[str, list[MonthlySum]],
    left_out: Sequence[MonthlySum],
    across: list[SharedPair],
    notes: list[str],
    age: str,
) -> CombinedAnswer:
    totals = {name: _totals(sums) for name, sums in cells.items()}
    every = [*left_out, *(cell for sums in cells.values() for cell in sums)]
    by_category = tuple(
        category_share for category_share in shares(every, by_minor=False) if category_share.rows
    )
    together = _totals(every)
    lines = [f"{period.in_words}の {len(totals)}つの家計簿です。"]
    lines += [
        f"- {name}: 支出 {format_currency(figures.spending)}、"
        f"収入 {format_currency(figures.income)}、"
        f"収支 {format_currency(figures.balance, signed=True)}"
        for name, figures in (*totals.items(), ("合計", together))
    ]
    if by_category:
        lines.append("合わせたカテゴリ別の支出:")
        lines += [
            f"- {shown_name(share.category)}: {format_currency(share.amount)}"
            f"（{format_percentage(share.share, signed=False)}, {share.rows:,}件）"
            for share in by_category
        ]
    lines += pairs_in_words(across)
    counts = counts_of(every)
    notes = [*notes, *wording.removed_notes(every), *wording.received_notes(by_category)]
    return CombinedAnswer(
        period.days,
        tuple(HouseholdFigures(name, both.spending, both.income) for name, both in totals.items()),
        together.spending, together.income, by_category, tuple(across), counts,
        **answer_words(lines, notes, age, only_told=[wording.counts_text(counts)]),
    )  # fmt: skip


def _totals(sums: Sequence[MonthlySum]) -> Totals:
    return totals_of(cell for cell in sums if cell.left_out is None)
