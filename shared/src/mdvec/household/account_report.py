"""A household's accounts, with their balances and missing rows, and its net worth."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from mdvec.dates import Days, MonthRange
from mdvec.errors import MdvecError
from mdvec.household.comparison import Detail
from mdvec.household.core.answers import LedgerAnswer, MonthText, age_line, answer_words
from mdvec.household.core.balances import Gap, balance_gaps, ends_of_days
from mdvec.household.core.moneyforward import TOTAL
from mdvec.household.core.periods import resolve_period
from mdvec.household.core.shown import shown_name
from mdvec.household.core.sums import change, mean
from mdvec.household.core.wording import format_currency, format_percentage
from mdvec.household.interfaces import accounts, plans
from mdvec.household.interfaces.ledger import Ledger
from mdvec.household.ledger_view import statement_notes
from mdvec.household.overview import read_snapshot, refuse_empty

_MANY = 5
"""How many gaps are listed for each account."""


@dataclass(frozen=True, slots=True)
class AccountState:
    """An account: its rows, its first and last day (YYYY-MM-DD), and its newest balance in yen.

    ``balance`` is None if no file states it; ``gaps`` are days between which rows are missing.
    """

    name: str
    rows: int
    first: str
    last: str
    balance: int | None
    balance_day: str | None
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class AccountsAnswer(LedgerAnswer):
    """All accounts, by name."""

    accounts: tuple[AccountState, ...]


def accounts_report(ledger: Ledger) -> AccountsAnswer:
    """Every account with its balance, and the gaps between its statements.

    Raises:
        EmptyLedger: there are no rows yet.
    """
    with read_snapshot(ledger.connection):
        refuse_empty(ledger)
        spans = accounts.spans_of(ledger)
        balances = accounts.balances_of(ledger)
        notes = statement_notes(ledger, Days(date.min, date.max))
    states = []
    for name, rows, first, last in spans:
        gaps, newest = balance_gaps(balances.get(name, ()))
        balance, day = (None, None) if newest is None else (newest.balance, newest.day)
        states.append(AccountState(name, rows, first, last, balance, day, tuple(gaps)))
    lines = [f"口座は {len(states):,}件です。"]
    for state in states:
        lines += _lines(state)
    newest_day = max((date.fromisoformat(state.last) for state in states), default=None)
    age = "" if newest_day is None else age_line(newest_day, ledger.today, None, "明細")
    return AccountsAnswer(tuple(states), **answer_words(lines, notes, age))


def daily_balances(ledger: Ledger) -> dict[str, dict[str, int]]:
    """The balance of each account, by name, at the end of each day with rows (YYYY-MM-DD)."""
    balances = accounts.balances_of(ledger)
    return {
        name: {day: row.balance for day, row in ends_of_days(statements).items()}
        for name, statements in balances.items()
    }


def _lines(state: AccountState) -> list[str]:
    name = shown_name(state.name) if state.name else "（口座名なし）"
    balance = (
        "残高は明細にありません"
        if state.balance is None
        else f"残高 {format_currency(state.balance)}（{state.balance_day}）"
    )
    lines = [f"- {name}: {balance}、明細 {state.rows:,}件（{state.first} から {state.last}）"]
    lines += [
        f"  - {gap.after} から {gap.before} の間に {format_currency(gap.yen, signed=True)}"
        "分の明細がありません"
        for gap in state.gaps[:_MANY]
    ]
    if len(state.gaps) > _MANY:
        lines.append(f"  - ほかに {len(state.gaps) - _MANY:,}か所")
    return lines


_YEAR = 12


class NoAssets(MdvecError):
    """There is no asset history, or none for the requested months."""

    def __init__(self, available: MonthRange | None) -> None:
        super().__init__(
            "資産推移がまだありません。マネーフォワードの「資産推移月次.csv」を家計簿のフォルダーに"
            "置いて取り込んでください。"
            if available is None
            else f"その期間の資産推移はありません。{available.in_words} にあります。"
        )


@dataclass(frozen=True, slots=True)
class NetWorthMonth:
    """A month's net worth in yen, also by kind; ``difference`` is from the month before."""

    month: MonthText
    total: int
    kinds: dict[str, int]
    difference: int | None


@dataclass(frozen=True, slots=True)
class NetWorthAnswer(LedgerAnswer):
    """Net worth by month, in yen.

    ``per_month`` is the mean difference over the last year shown, ``year_ago`` the net worth a
    year before the last month; None where there is none.
    """

    months: tuple[NetWorthMonth, ...]
    per_month: int | None
    year_ago: int | None


def net_worth(
    ledger: Ledger,
    *,
    since: str | None = None,
    until: str | None = None,
    period: str | None = None,
    detail: Detail = "concise",
) -> NetWorthAnswer:
    """The months of the asset histories in a period, by default the latest twelve.

    With ``detail="full"``, the text has the kinds of assets of every month, else of the last month.

    Raises:
        NoAssets: there is no asset history, or none for these months.
        InvalidPeriod: the period was not understood.
    """
    with read_snapshot(ledger.connection):
        known = plans.months_with_assets(ledger)
    if not known:
        raise NoAssets(None)
    available = MonthRange(known[0].month, known[-1].month)
    requested = resolve_period(ledger.today, available, since=since, until=until, period=period)
    totals = {assets.month: assets.amounts[TOTAL] for assets in known}
    months = [
        NetWorthMonth(
            month=assets.month,
            total=assets.amounts[TOTAL],
            kinds={kind: yen for kind, yen in assets.amounts.items() if kind != TOTAL},
            difference=None if before is None else assets.amounts[TOTAL] - before,
        )
        for assets in known
        if assets.month in requested.months
        for before in [totals.get(assets.month.plus(-1))]
    ]
    if not months:
        raise NoAssets(available)
    differences = [worth.difference for worth in months[-_YEAR:] if worth.difference is not None]
    per_month = mean(differences) if differences else None
    notes = [requested.understood]
    missing = [month for month in MonthRange(months[0].month, months[-1].month)
               if month not in totals]  # fmt: skip
    if missing:
        notes.append(f"資産推移にない月: {'、'.join(month.in_words for month in missing[:6])}")
    year_ago = totals.get(months[-1].month.plus(-_YEAR))
    last = None if requested.follows_data else requested.days.last
    age = age_line(available.last.last_day, ledger.today, last, "資産推移")
    lines = _month_lines(months, per_month, year_ago, is_full=detail == "full")
    return NetWorthAnswer(tuple(months), per_month, year_ago, **answer_words(lines, notes, age))


def _month_lines(
    months: list[NetWorthMonth], per_month: int | None, year_ago: int | None, *, is_full: bool
) -> list[str]:
    last = months[-1]
    lines = [f"{last.month.in_words}の純資産は {format_currency(last.total)} です。"]
    if year_ago is not None:
        difference = format_currency(last.total - year_ago, signed=True)
        percent = format_percentage(change(last.total, year_ago))
        lines.append(f"- 1年前から: {difference}（{percent}）")
    if per_month is not None:
        lines.append(f"- 直近の増減の平均: 毎月 {format_currency(per_month, signed=True)}")
    lines += [f"- {shown_name(kind)}: {format_currency(yen)}" for kind, yen in last.kinds.items()]
    lines.append("月ごと:")
    for worth in months:
        moved = "" if worth.difference is None else (
            f"（{format_currency(worth.difference, signed=True)}）"
        )  # fmt: skip
        kinds = "、".join(
            f"{shown_name(kind)} {format_currency(yen)}" for kind, yen in worth.kinds.items()
        )
        parts = f": {kinds}" if is_full and kinds else ""
        lines.append(f"- {worth.month.in_words}: {format_currency(worth.total)}{moved}{parts}")
    if not is_full and len(months) > 1 and last.kinds:
        lines.append("detail=full なら、各月の内訳も示します。")
    return lines
