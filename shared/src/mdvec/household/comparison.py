"""Compares two periods of a household: what changed, the rows behind it, and the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal, TypeVar

from mdvec.dates import Days, MonthRange, PeriodContext
from mdvec.errors import MdvecError
from mdvec.household.core import wording
from mdvec.household.core.answers import DayEnds, LedgerAnswer, answer_words
from mdvec.household.core.categories import Subject, Total
from mdvec.household.core.periods import (
    UnderstoodPeriod,
    base_period,
    long_before,
    resolve_period,
    span_in_words,
    understood_as,
)
from mdvec.household.core.shown import shown_name
from mdvec.household.core.sums import RowCounts, Totals, change, counts_of, totals_of_rows
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import format_currency, format_percentage
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import counted_totals, where_rows
from mdvec.household.interfaces.plans import renamed_notes
from mdvec.household.ledger_view import LedgerView, doubt_notes, ledger_view
from mdvec.household.overview import named_subject

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many shops or rows an answer leaves out, and their sum in yen."""

    count: int
    yen: int


@dataclass(frozen=True, slots=True)
class ShopMove:
    """The sums of a shop's rows in two periods, in yen, both positive for spending."""

    name: str
    before: int
    after: int

    @property
    def difference(self) -> int:
        """By how many yen it rose; negative if it fell."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Movement(ShopMove):
    """The sums of a category or shop.

    ``added`` are the rows of the later period without a row of equal shop and amount in the earlier
    one, and ``gone`` the other way round; both begin with the largest. Their difference is exactly
    ``difference``. A concise answer has no rows, but the ``shops`` that changed most, unless it
    compares shops; the fields ``more_…`` sum up what is left out.
    """

    is_income: bool
    added: tuple[CountedRow, ...]
    gone: tuple[CountedRow, ...]
    shops: tuple[ShopMove, ...] = ()
    more_shops: LeftOut | None = None
    more_added: LeftOut | None = None
    more_gone: LeftOut | None = None


def _movements(was: _Side, now: _Side, subject: Subject | None, by: str) -> list[Movement]:
    """The shops or categories that changed, income apart from spending, the largest first.

    If ``subject`` is a category, its 中項目 are compared.
    """

    def key(row: CountedRow) -> tuple[bool, str]:
        if by == "shop":
            return row.is_income, row.shop
        is_whole = subject in (None, Total.SPENDING)
        name = row.category_major if is_whole else row.category_minor or "（中項目なし）"
        return row.is_income, name

    every = [
        Movement(
            name=name,
            is_income=is_income,
            before=sum(row.yen for row in before),
            after=sum(row.yen for row in after),
            added=_without_equals(after, before),
            gone=_without_equals(before, after),
            shops=_shop_moves(before, after),
        )
        for (is_income, name), (before, after) in _both_periods(was.rows, now.rows, key).items()
    ]
    moved = [movement for movement in every if movement.difference]
    return sorted(moved, key=lambda each: (-abs(each.difference), each.is_income, each.name))


def _both_periods(
    before: Iterable[CountedRow], after: Iterable[CountedRow], key: Callable[[CountedRow], Key]
) -> dict[Key, tuple[list[CountedRow], list[CountedRow]]]:
    """The rows of both periods (before, after) by a key."""
    groups: dict[Key, tuple[list[CountedRow], list[CountedRow]]] = {}
    for at, rows in enumerate((before, after)):
        for row in rows:
            groups.setdefault(key(row), ([], []))[at].append(row)
    return groups


def _without_equals(
    rows: Iterable[CountedRow], others: Iterable[CountedRow]
) -> tuple[CountedRow, ...]:
    """The rows that have no partner of equal shop and amount, the largest first."""
    partners = Counter((row.shop, row.amount) for row in others)
    left = []
    for row in rows:
        if partners[row.shop, row.amount] > 0:
            partners[row.shop, row.amount] -= 1
        else:
            left.append(row)
    return tuple(sorted(left, key=lambda row: (-abs(row.amount), row.day, row.id)))


def _shop_moves(before: Iterable[CountedRow], after: Iterable[CountedRow]) -> tuple[ShopMove, ...]:
    """The shops behind a movement, each with both periods, the largest difference first."""
    moves = (
        ShopMove(shop, sum(row.yen for row in was), sum(row.yen for row in now))
        for shop, (was, now) in _both_periods(before, after, lambda row: row.shop).items()
    )
    moved = [move for move in moves if move.difference]
    return tuple(sorted(moved, key=lambda move: (-abs(move.difference), move.name)))


def as_shown(movement: Movement, *, rows: int, shops: int) -> Movement:
    """The movement with only its ``rows`` largest rows in each direction, and ``shops`` shops."""
    moved = movement.shops if shops else ()
    return replace(
        movement,
        added=movement.added[:rows],
        gone=movement.gone[:rows],
        shops=moved[:shops],
        more_shops=_left_out([move.difference for move in moved[shops:]]),
        more_added=_left_out([row.yen for row in movement.added[rows:]] if rows else []),
        more_gone=_left_out([row.yen for row in movement.gone[rows:]] if rows else []),
    )


def _left_out(amounts: Sequence[int]) -> LeftOut | None:
    return LeftOut(len(amounts), sum(amounts)) if amounts else None


@dataclass(frozen=True, slots=True)
class SameDays:
    """Spending in the first ``days`` days of two periods (before, after), in yen."""

    days: int
    spending: tuple[int, int]


MAX_ROWS = 50
"""How many rows a full text names for each movement, in each direction."""
MAX_SHOPS = 2
"""How many shops a concise text names for each movement."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two periods: its days that the ledger covers, their counting rows, and notes."""

    period: UnderstoodPeriod
    days: Days
    rows: list[CountedRow]
    notes: list[str]

    @classmethod
    def of(cls, view: LedgerView, period: UnderstoodPeriod, subject: Subject | None) -> _Side:
        days, notes = view.covered_days(period, begun=True)
        return cls(period, days, view.rows(days.first, days.last, subject), notes)

    @property
    def totals(self) -> Totals:
        return totals_of_rows((row.category_major, row.amount) for row in self.rows)


def _comparison_lines(
    was: _Side, now: _Side, same_days: SameDays | None, subject: Subject | None, starts_on: int
) -> list[str]:
    of = "" if subject is None else f"（{shown_name(str(subject))}）"
    before, after = (span_in_words(side.days, starts_on) for side in (was, now))
    lines = [f"{before}と {after}の比較{of}です。"]
    for name, yen, later in (
        ("支出", was.totals.spending, now.totals.spending),
        ("収入", was.totals.income, now.totals.income),
    ):
        if yen or later:
            lines.append(f"- {name}: {_was_and_now(yen, later)}")
    if same_days is not None:
        lines.append(
            f"- 支出（どちらも最初の {same_days.days:,}日間）: {_was_and_now(*same_days.spending)}"
        )
    return lines


def _movement_lines(
    movements: Sequence[Movement], total: int, level: str, *, is_full: bool
) -> list[str]:
    """Lines on what changed most, with both amounts, and the rows or shops shown."""
    if not movements:
        return ["動いたものはありません。"]
    lines = [f"動いた{level}（差の大きい順）:"]
    for movement in movements:
        kind = "（収入）" if movement.is_income else ""
        lines.append(
            f"- {shown_name(movement.name)}{kind}: {_was_and_now(movement.before, movement.after)}"
        )
        lines += _row_lines("増", movement.added, movement.more_added)
        lines += _row_lines("減", movement.gone, movement.more_gone)
        lines += _shop_line(movement.shops, movement.more_shops)
    if total > len(movements):
        rest, most = total - len(movements), min(total, MAX_MOVEMENTS)
        lines.append(f"ほか {rest:,}件は差がこれより小さいものです（limit={most}）。")
    if not is_full:
        lines.append("detail=full なら、明細も並べます。")
    return lines


def _was_and_now(was: int, now: int) -> str:
    """Both amounts and the difference: 1,000円 → 1,500円（+500円、+50.0%）."""
    difference = format_currency(now - was, signed=True)
    percent = change(now, was)
    more = "" if percent is None else f"、{format_percentage(percent)}"
    return f"{format_currency(was)} → {format_currency(now)}（{difference}{more}）"


def _shop_line(shops: Sequence[ShopMove], more: LeftOut | None) -> list[str]:
    shown = [
        f"{shown_name(move.name)} {move.before:,} → {format_currency(move.after)}" for move in shops
    ]
    if more:
        shown.append(f"ほか {more.count:,}店 {format_currency(more.yen, signed=True)}")
    return [f"  {'、'.join(shown)}"] if shown else []


def _row_lines(mark: str, rows: Sequence[CountedRow], more: LeftOut | None) -> list[str]:
    lines = [
        f"  {mark}: {row.day} {shown_name(row.description)} {format_currency(row.yen)} [{row.id}]"
        for row in rows
    ]
    if more:
        rest = f"{more.count:,}件 {format_currency(more.yen)}"
        lines.append(f"  {mark}: ほか {rest}（find_transactions で探せます）")
    return lines


ComparisonLevel = Literal["category", "shop"]
Detail = Literal["concise", "full"]
LEVELS: tuple[ComparisonLevel, ...] = ("category", "shop")
SHOWN: dict[Detail, int] = {"concise": 8, "full": 20}
"""How many movements are shown by default."""
MAX_MOVEMENTS = 200


class InvalidComparison(MdvecError):
    """A comparison that cannot be made; the message says which comparisons can."""


@dataclass(frozen=True, slots=True)
class ComparisonAnswer(LedgerAnswer):
    """Two periods compared, in yen.

    ``spending`` and ``income`` are (before, after). ``movements`` are the largest of
    ``total_movements``, each with the details that the text shows. ``same_days`` compares the first
    days of both periods, as many as the later period has data for; it is None if that would be all
    rows. ``counts`` are over the rows of both periods.
    """

    before: DayEnds
    after: DayEnds
    spending: tuple[int, int]
    income: tuple[int, int]
    same_days: SameDays | None
    movements: tuple[Movement, ...]
    total_movements: int
    counts: RowCounts


def compare_periods(
    ledger: Ledger,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    base: str | None = None,
    category: str | None = None,
    by: str = "category",
    detail: Detail = "concise",
    limit: int | None = None,
) -> ComparisonAnswer:
    """Compares a period with an earlier one: by 大項目 (中項目 within a category) or by shop.

    With ``detail="full"``, the text has the rows behind each movement; else the shops. At most
    ``limit`` movements are shown. The period defaults to the latest month with data; ``base`` is
    read from it, as ``base_period`` does.

    Raises:
        EmptyLedger, InvalidPeriod, AmbiguousPeriod: as in ``LedgerView``.
        InvalidDates: ``base`` may mean two different periods.
        UnknownCategory: no category, or several, have that name.
        InsufficientData: the ledger has nothing for one of the periods.
        InvalidChoice: ``by`` is neither category nor shop, or the limit is out of range.
        InvalidComparison: the category is 収支 or 貯蓄率.
    """
    most = SHOWN[detail] if limit is None else limit
    wording.check_choice("by", by, LEVELS)
    wording.check_limit(most, 1, MAX_MOVEMENTS)
    with ledger_view(ledger) as view:
        after, is_relative = _later_period(view, since, until, period)
        named, notes = named_subject(ledger, category)
        if named in (Total.BALANCE, Total.SAVINGS_RATE):
            raise InvalidComparison(
                f"{named}は比べられません。カテゴリか、支出・収入を指定してください。"
            )
        now = _Side.of(view, after, named)
        before = base_period(
            base, after, now.days, PeriodContext(ledger.today, view.covered.default_range),
            is_relative=is_relative,
        )  # fmt: skip
        earlier = understood_as((base or "").strip(), before, ledger.month_starts_on)
        was = _Side.of(view, earlier, named)
        spans = [was.days, now.days]
        if was.days.within(now.days):  # join overlapping periods, so that no row counts twice
            first, last = min(was.days.first, now.days.first), max(was.days.last, now.days.last)
            spans = [Days(first, last)]
        about_rows = _row_notes(view, spans, named)
        sums = [cell for span in spans for cell in view.sums(span, named)]
        doubts: list[str] = []
        for span in spans:
            of = f"{span_in_words(span, ledger.month_starts_on)}の"
            doubts += doubt_notes(ledger, span, named, of=of)
    moved = _movements(was, now, named, by)
    same_days = _same_days(was, now, view)
    notes = list(dict.fromkeys([*notes, *now.notes, *was.notes, *about_rows]))
    notes += dict.fromkeys((after.understood, earlier.understood))
    notes += [*wording.removed_notes(sums), *dict.fromkeys(doubts)]
    is_full = detail == "full"
    shops = 0 if is_full or by == "shop" else MAX_SHOPS
    shown = [
        as_shown(movement, rows=MAX_ROWS if is_full else 0, shops=shops)
        for movement in moved[:most]
    ]
    lengths = _length_notes(was.days, now.days, ledger.month_starts_on)
    lines = _comparison_lines(was, now, same_days, named, ledger.month_starts_on)
    lines += [f"※ {note}。" for note in lengths]
    lines += _movement_lines(
        shown, len(moved), "店" if by == "shop" else "カテゴリ", is_full=is_full
    )
    counts = counts_of(sums)
    words = answer_words(lines, notes, view.age(after), only_told=[wording.counts_text(counts)])
    words["notes"] += tuple(lengths)
    return ComparisonAnswer(
        before=was.days,
        after=now.days,
        spending=(was.totals.spending, now.totals.spending),
        income=(was.totals.income, now.totals.income),
        same_days=same_days,
        movements=tuple(shown),
        total_movements=len(moved),
        counts=counts,
        **words,
    )


def _row_notes(view: LedgerView, spans: Sequence[Days], subject: Subject | None) -> list[str]:
    """The notes on planned rows and renamed categories in both periods together."""
    ledger = view.ledger
    both = Days(min(span.first for span in spans), max(span.last for span in spans))

    def totals(days: Days) -> Totals:
        own = [part for span in spans if (part := days.within(span))] or [days]
        sums = [counted_totals(ledger, part, subject) for part in own]
        return Totals(
            sum(each.rows for each in sums),
            sum(each.spending for each in sums),
            sum(each.income for each in sums),
        )

    def where() -> tuple[str, tuple[Any, ...]]:
        conditions, values = zip(
            *(where_rows(ledger.tool_id, span, subject) for span in spans), strict=True
        )
        return f"({' OR '.join(f'({each})' for each in conditions)})", sum(values, ())

    absent = [view.absent_notes(span, subject) for span in spans]
    notes = absent[-1] if all(absent) else []
    notes += view.planned_notes(both, wording.PLANNED_LEFT_OUT, totals)
    return notes + renamed_notes(ledger, where)


def _later_period(
    view: LedgerView, since: str | None, until: str | None, period: str | None
) -> tuple[UnderstoodPeriod, bool]:
    """The period that a call states, and whether it depends on today, as 今月 does."""
    today, covered = view.ledger.today, view.covered
    asked, long_ago = (
        resolve_period(
            day, covered.default_range, since=since, until=until, period=period,
            default=covered.latest, earliest=covered.present[0],
        )
        for day in (today, long_before(today))
    )  # fmt: skip
    is_stated = bool(since or until) or asked.days == long_ago.days
    return asked, asked.follows_data or not is_stated


def _length_notes(before: Days, after: Days, starts_on: int) -> list[str]:
    """A note on periods of different lengths, in months if both are whole months."""
    spans = [before, after]
    months = [MonthRange.around(days, starts_on) for days in spans]
    are_months = [each.days for each in months] == spans
    unit = "か月" if are_months else "日"
    first, second = (
        map(len, months) if are_months else ((days.last - days.first).days + 1 for days in spans)
    )
    if first == second:
        return []
    return [
        f"期間の長さが違います（{first}{unit}と {second}{unit}）。金額は期間の合計どうしの比較です"
    ]


def _same_days(was: _Side, now: _Side, view: LedgerView) -> SameDays | None:
    """The spending in the first days of both periods, as many as the later period has data for.

    None if the later period is complete, if the periods have different lengths, if the ledger lacks
    the first day of either, or if all rows of both are in these days.
    """
    covered, earlier = view.covered, was.period
    known = min(covered.last_day, view.ledger.today)
    # A base derived from the later period is as long as that period's months with data. Periods of
    # days, such as weeks, are compared by days, as one may touch a month more than the other.
    are_equal = any(
        len(MonthRange.around(span, view.ledger.month_starts_on)) == len(earlier.months)
        or span.last - span.first == earlier.days.last - earlier.days.first
        for span in (now.period.days, now.days)
    )
    has_begin = not covered.begins_late(earlier.months.first, earlier.days)
    has_first_days = all(side.days.first == side.period.days.first for side in (was, now))
    if not (are_equal and has_begin and has_first_days):
        return None
    passed = min(known, now.days.last) - now.days.first
    if known >= now.period.days.last or not timedelta() <= passed <= was.days.last - was.days.first:
        return None
    spent = [[row for row in side.rows if not row.is_income] for side in (was, now)]
    before, after = (
        [row.yen for row in rows if row.day <= side.days.first + passed]
        for rows, side in zip(spent, (was, now), strict=True)
    )
    if [len(before), len(after)] == list(map(len, spent)):
        return None
    return SameDays(passed.days + 1, (sum(before), sum(after)))
