"""A ledger as answers read it: periods, rows and sums, and the notes that answers need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial

from mdvec.dates import ONE_DAY, Days, Month, MonthRange
from mdvec.household.core import wording
from mdvec.household.core.answers import age_line
from mdvec.household.core.categories import Category, Subject
from mdvec.household.core.pair import LIKELY, PairKind, arrange
from mdvec.household.core.periods import UnderstoodPeriod, resolve_period, span_in_words
from mdvec.household.core.shown import bracketed_name, shown_name, shown_path
from mdvec.household.core.sums import MonthlySum, Totals
from mdvec.household.core.transaction import CountedRow
from mdvec.household.core.wording import InsufficientData, format_currency
from mdvec.household.interfaces import accounts, duplicate_checks, ledger_statements, ledger_sums
from mdvec.household.interfaces.accounts import AccountDoubt, RepeatedRows, RowsBeside
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.interfaces.ledger_sums import where_rows
from mdvec.household.interfaces.plans import renamed_notes
from mdvec.household.overview import Coverage, coverage, read_snapshot
from mdvec.tools import offered_name

MAX_NAMED_ROWS = 3
"""How many rows with a stray date a note lists; the others are only counted."""


@contextmanager
def ledger_view(ledger: Ledger) -> Iterator[LedgerView]:
    """One state of a ledger, whatever is written meanwhile.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with read_snapshot(ledger.connection):
        covered = coverage(ledger)
        yield LedgerView(ledger, covered)


@dataclass(frozen=True, slots=True)
class LedgerView:
    """A ledger and the months that it covers (``covered``), in one state of the database."""

    ledger: Ledger
    covered: Coverage

    def period(
        self,
        since: str | None,
        until: str | None,
        period: str | None,
        *,
        start_month: str | None = None,
        end_month: str | None = None,
        year: int | None = None,
        month: int | None = None,
        default: Month | None = None,
    ) -> UnderstoodPeriod:
        """The period that a call states; else the month ``default`` or the latest twelve months.

        Raises:
            InvalidPeriod: it was not understood.
            AmbiguousPeriod: it was given in two ways.
        """
        return resolve_period(
            self.ledger.today, self.covered.default_range, since=since, until=until, period=period,
            start_month=start_month, end_month=end_month, year=year, month=month, default=default,
            earliest=self.covered.present[0],
        )  # fmt: skip

    def rows(self, first: date, last: date, subject: Subject | None = None) -> list[CountedRow]:
        """The rows that count from ``first`` to ``last``, both included."""
        return ledger_sums.counted_rows(self.ledger, first, last, subject)

    def sums(
        self, days: Days, subject: Subject | None, *, by_minor: bool = False
    ) -> list[MonthlySum]:
        """The sums of these days by month, category, and reason why rows do not count."""
        return ledger_sums.monthly_sums(self.ledger, days, subject, by_minor=by_minor)

    def age(self, period: UnderstoodPeriod | None = None) -> str:
        """A line if the rows end long before today; "" if not, or if the period ends earlier."""
        until = None if period is None or period.follows_data else period.days.last
        return age_line(self.covered.last_day, self.ledger.today, until)

    def covered_days(
        self, period: UnderstoodPeriod, *, begun: bool = False
    ) -> tuple[Days, list[str]]:
        """The days of a period in months that the ledger covers, and the notes on its months.

        With ``begun``, months that have not begun are left out if there are others.

        Raises:
            InsufficientData: none of its months has rows.
        """
        covered = self.covered
        months = self._known_months(period, begun=begun)
        days = months.days.within(period.days) or period.days
        missing = None if days == months.days else self._missing(days)
        notes = []
        if days != period.days and missing != days:
            known = Days(covered.begins, days.last) if missing else days
            notes = [wording.clipped_note(span_in_words(known, self.ledger.month_starts_on))]
        return days, notes + self._month_notes(period, days, months)

    def known_days(self, requested: Days | None) -> Days | None:
        """The ``requested`` days (None for all) between the first and last row, to average over.

        Rows after today do not extend them.
        """
        known = self.covered.known.within(Days(date.min, self.ledger.today))
        return known and known.within(requested or known)

    def stray_days(self, requested: Days | None) -> tuple[list[Days], list[Days]]:
        """The ``requested`` days in stray months, and further days in stray months.

        The further days are before the requested days if these begin where the ledger does, and
        after them if these end where the ledger does: the user may not know of such rows.
        """
        body, known = self.covered.body, self.covered.known
        requested = requested or Days(date.min, date.max)
        if requested.within(body.days) is None:
            return [], []
        months = [month.days for month in self.covered.present if month not in body]
        within = [days for month in months if (days := month.within(requested))]
        beyond = [
            month
            for month in months
            if month.last < requested.first
            or (requested.last < month.first and requested.last >= known.last)
        ]
        return within, beyond if requested.first <= known.first else []

    def shown_days(
        self, period: UnderstoodPeriod, subject: Subject | None
    ) -> tuple[Days, list[str]]:
        """As ``covered_days``, with notes on a subject's rows as well.

        Raises:
            InsufficientData: none of the months has rows.
        """
        days, notes = self.covered_days(period)
        return days, notes + self._row_notes(subject, days, days)

    def shown_months(
        self,
        period: UnderstoodPeriod,
        subject: Subject | None,
        max_months: int | None = None,
        *,
        until_today: bool = False,
        begun: bool = True,
    ) -> tuple[MonthRange, list[str]]:
        """The whole months of a period that the ledger covers, and the notes on their rows.

        With ``begun``, months that have not begun are left out if there are others. If there are
        more than ``max_months``, only the last are shown. With ``until_today`` the notes say that
        rows after today are not in the figures.

        Raises:
            InsufficientData: none of the months has rows.
        """
        months = self._known_months(period, begun=begun)
        notes = [wording.clipped_note(months.in_words)] if months != period.months else []
        if max_months is not None and len(months) > max_months:
            months = MonthRange(months.last.plus(1 - max_months), months.last)
            notes = [
                f"期間が長いため、最後の {len(months)}か月（{months.in_words}）だけを示しました"
            ]
        whole, today = period.months.days, self.ledger.today
        if whole.first < period.days.first or min(whole.last, today) > period.days.last:
            notes.append(f"推移は月ごとのため、{months.in_words}を月の初めから終わりまで示しました")
        days = summed = months.days
        left_out = wording.PLANNED_LEFT_OUT
        if until_today:
            summed = Days(min(days.first, today), min(days.last, today))
            left_out = wording.PLANNED_DUE
        notes += self._month_notes(period, days, months)
        return months, notes + self._row_notes(subject, days, summed, left_out)

    def filling_notes(self, months: MonthRange, days: Days) -> list[str]:
        """The notes on which of these months, around ``days``, may be incomplete."""
        return self.begin_notes(days) + [
            wording.filling_note(month)
            for month in months
            if month <= self.covered.now and self.covered.ends_early(month, days)
        ]

    def begin_notes(self, days: Days) -> list[str]:
        """A note if the ledger begins within a month, of which these days include earlier days."""
        if self._missing(days) is None:
            return []
        month, begins = self.covered.body.first.in_words, self.covered.begins
        of_file = "ファイル" if begins < self.covered.known.first else ""
        return [f"{month}の明細{of_file}は {begins} からです"]

    def averaged_notes(self, months: Iterable[Month]) -> list[str]:
        """A note on those of these months that have no rows, but count as 0 in means."""
        empty = self.covered.marks(month for month in months if month in self.covered.body).empty
        if not empty:
            return []
        named = wording.months_in_words(empty)
        zero = f"平均では、明細が 1 件もない月（{named}）を 0円として計算しました"
        return [f"{zero}（まるの月の平均を除く）"]

    def _missing(self, days: Days) -> Days | None:
        """Those of these days in the ledger's first month but before it begins; else None."""
        begins, month = self.covered.begins, self.covered.body.first
        if begins <= month.first_day:
            return None
        return days.within(Days(month.first_day, begins - ONE_DAY))

    def _known_months(self, period: UnderstoodPeriod, *, begun: bool) -> MonthRange:
        covered = self.covered
        months = (covered.begun if begun else covered.shown)(period.months)
        if months is None:
            left_out = wording.left_out_text(ledger_statements.files_left_out(self.ledger))
            raise InsufficientData(period.in_words, covered.default_range, left_out)
        return months

    def _month_notes(self, period: UnderstoodPeriod, days: Days, months: MonthRange) -> list[str]:
        """The notes on months without rows, months that may be incomplete, and stray rows."""
        covered = self.covered
        marks = covered.marks(months, days)
        notes = []
        if marks.empty:
            empty = wording.months_in_words(marks.empty)
            sums = "合計と、揃っていない月を含む平均では"
            notes.append(f"明細が 1 件もない月（{empty}）は、{sums} 0円として計算しました")
        notes += self.filling_notes(months, days)
        if covered.astray_matters(period.months, months):
            astray = ledger_sums.rows_outside(self.ledger, covered.body.days, MAX_NAMED_ROWS)
            notes.append(wording.astray_note(*astray))
        return notes

    def _row_notes(
        self,
        subject: Subject | None,
        days: Days,
        summed: Days,
        left_out: str = wording.PLANNED_LEFT_OUT,
    ) -> list[str]:
        """The notes on a subject's rows on ``days``; its figures are over the days ``summed``."""
        ledger = self.ledger
        notes = self.planned_notes(
            summed, left_out, lambda span: ledger_sums.counted_totals(ledger, span, subject)
        )
        where = where_rows(ledger.tool_id, days, subject)
        return self.absent_notes(days, subject) + notes + renamed_notes(ledger, lambda: where)

    def absent_notes(self, days: Days, subject: Subject | None) -> list[str]:
        """A note on where a category has rows, if it has others than on these days alone."""
        if not isinstance(subject, Category):
            return []
        if ledger_sums.counted_totals(self.ledger, days, subject).rows:
            return []
        before, after = ledger_sums.days_around(self.ledger, days, subject)
        if before is None and after is None:
            return []
        where = f"最後は {before}" if before else f"最初は {after}"
        name = bracketed_name(subject)
        return [f"カテゴリ{name}には、この期間に集計に入る明細がありません（{where}）"]

    def planned_notes(
        self, shown: Days, left_out: str, totals: Callable[[Days], Totals], *, moved: bool = False
    ) -> list[str]:
        """Notes on rows dated after today: those in the sums, and those outside.

        ``totals`` gives the sums of the answer's rows on some days.
        """
        today, covered = self.ledger.today, self.covered
        tomorrow = min(today, date.max - ONE_DAY) + ONE_DAY
        spans = []
        if shown.last >= tomorrow:
            spans.append((Days(max(shown.first, tomorrow), shown.last), wording.PLANNED_INCLUDED))
        end, later = covered.body.days.last, max(shown.last, today)
        if end > later and shown.last >= min(covered.latest.last_day, today):
            spans.append((Days(later + ONE_DAY, end), left_out))
        return [
            note
            for days, where in spans
            for note in wording.planned_notes(totals(days), where, moved=moved)
        ]


def doubt_notes(ledger: Ledger, days: Days, subject: Subject | None, of: str = "") -> list[str]:
    """The notes of ``doubt_notes_on`` on the rows of these days and of a subject."""
    where = where_rows(ledger.tool_id, days, subject)
    matching_among = partial(ledger_sums.ids_matching, ledger.connection, where)
    return doubt_notes_on(ledger, days, matching_among, of)


def doubt_notes_on(
    ledger: Ledger,
    days: Days,
    matching_among: Callable[[Collection[int]], Iterable[int]],
    of: str = "",
) -> list[str]:
    """The notes for an answer with sums on these days; ``matching_among`` selects its rows' ids.

    They are on rows that vanished from their file but count until the user confirms, on files and
    rows that could not be read, and on what may count twice: rows of two files, and likely
    candidates. The figures for candidates are of the rows that a decision would take out, each row
    once: all but one row of a purchase, both rows of a transfer, or a card's bill. ``of`` says
    which total the candidates are in, such as 6月の.
    """
    open_ids = ledger_statements.ids_of_gone_rows(ledger, "asked")
    pending = ledger_sums.totals_of_ids(
        ledger.connection, matching_among(open_ids) if open_ids else ()
    )
    doubtful = _leaving(ledger)
    rows: dict[PairKind, list[int]] = {kind: [] for kind in reversed(PairKind)}
    for row_id in matching_among(doubtful.keys()) if doubtful else ():
        rows[doubtful[row_id]].append(row_id)
    parts = [
        f"{kind.in_words}かもしれない {totals.rows:,}件"
        f"（{wording.sums_in_words(totals.spending, totals.income) or '0円'}）"
        for kind, ids in rows.items()
        if (totals := ledger_sums.totals_of_ids(ledger.connection, ids)).rows
    ]
    return [
        *wording.pending_removal_notes(pending, ledger_sums.tool_name(ledger)),
        *statement_notes(ledger, days),
        *([f"{of}合計のうち{'、'.join(parts)}は未判定の候補です"] if parts else []),
    ]


def _leaving(ledger: Ledger) -> dict[int, PairKind]:
    """The ids of rows that would leave the sums if likely candidates were confirmed, by kind.

    A row in several candidates has the kind with the highest number: a card's bill before a
    transfer, a transfer before a purchase.
    """
    kinds: dict[int, PairKind] = {}
    candidates = arrange(duplicate_checks.open_pairs(ledger, LIKELY))
    for candidate in sorted(candidates, key=lambda each: each.kind):
        kinds |= dict.fromkeys(candidate.leaving(), candidate.kind)
    return kinds


def statement_notes(ledger: Ledger, days: Days) -> list[str]:
    """Notes on the files of these days: rows that are in no sum, or may count twice."""
    span, name = (str(days.first), str(days.last)), ledger_sums.tool_name(ledger)
    notes = []
    left_out = ledger_statements.files_left_out(ledger)
    listed = ledger_statements.unread_rows(ledger, span)
    unread = [(path, count) for path, count in listed if path not in left_out]
    if unread:
        files = wording.files_in_words([path for path, _ in unread])
        notes.append(
            f"{files}に読めないか円でない行が {sum(count for _, count in unread):,}件あり、"
            "別のファイルになければ合計に入っていません。行と理由（外貨は合計も）は "
            f"mdvec import -n {name} --mode update で出ます"
        )
    if overruled := ledger_statements.overruled_files(ledger, span):
        notes.append(
            f"{wording.files_in_words(overruled)}より、後の日まで明細のあるファイルを優先しています。"
            f"理由は {offered_name('list_sources')} で確かめられます"
        )
    return [
        *notes,
        *([wording.left_out_text(left_out)] if left_out else []),
        *(_doubt_text(doubt, name) for doubt in accounts.doubts_of(ledger, span)),
        *map(_repeated_text, accounts.repeated_rows(ledger, span)),
        *_beside_texts(accounts.rows_beside(ledger, span)),
        *(
            f"{shown_path(each.path)} には、前の見出しの下と同じ明細が {each.rows:,}件"
            f"（{format_currency(each.yen)}）あり、すべて数えています。"
            "同じ口座を重ねて保存したものなら、重なる部分をファイルから消してください"
            for each in accounts.listed_again(ledger, span)
        ),
    ]


def _doubt_text(doubt: AccountDoubt, name: str) -> str:
    """A note that rows of two files count twice, and how to decide it."""
    if doubt.has_new_ids:
        yen = wording.sums_in_words(doubt.spending, doubt.income) or "0円"
        return (
            f"{shown_path(doubt.first)} の明細（{shown_name(doubt.account)}）{doubt.rows:,}件"
            f"（{yen}）は、同じ日と金額の明細が {shown_path(doubt.second)} にも別の ID であり、"
            f"両方数えています。連携し直した同じ口座なら、{offered_name('detect_duplicates')} で"
            "候補にして決めるか、前のファイルを除いて --mode replace で取り込んでください"
        )
    if doubt.is_listed:
        return (
            f"{shown_path(doubt.first)} の明細（{shown_name(doubt.account)}）{doubt.rows:,}件は、"
            f"別の口座の {shown_path(doubt.second)} にもあり、同じ取引か不明なので両方数えます。"
            f"{offered_name('detect_duplicates')} で候補にして決められます"
        )
    return (
        f"{shown_path(doubt.first)} と {shown_path(doubt.second)} が同じ口座"
        f"（{shown_name(doubt.account)}）か分かりません。別の口座として、同じ明細 "
        f"{doubt.rows:,}件を両方数えています。口座名は mdvec household map FILE -n {name} "
        "--account NAME --set 'files = \"FILE\"' --save で決められます（同じ口座なら同じ名前）"
    )


def _repeated_text(repeated: RepeatedRows) -> str:
    """A note that rows in several files count once, and what to do if that is wrong."""
    first, last = shown_path(repeated.first), shown_path(repeated.last)
    where = f" {first} にも {last} にもあり"
    if repeated.rows > 1:
        where = f"、いくつかのファイルにあり（金額が最も大きいものは {first} と {last}）"
    return (
        f"{shown_name(repeated.account)} の明細 {repeated.rows:,}件"
        f"（{format_currency(repeated.yen)}）は{where}、分割払いのように 1回だけ数えています。"
        "遅れて載った別の買い物なら、手書きの CSV に足してください"
    )


def _beside_texts(found: Sequence[RowsBeside]) -> Iterator[str]:
    """A note on the rows that only the older files of the same days have, if there are any."""
    if found:
        older = wording.files_in_words([each.older for each in found])
        yield (
            f"{older}の明細 {sum(each.rows for each in found):,}件"
            f"（{format_currency(sum(each.yen for each in found))}）は、"
            f"同じ日々の新しいファイル（{shown_path(found[0].newer)}）になく、両方の明細を数えています。"
            "速報など前の版なら、フォルダーから出して --mode replace で取り込んでください"
        )
