"""The accounts of a household: what they have, and where rows are missing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import apsw

from mdvec.dates import Days
from mdvec.household.core.answers import AnswerText, age_line, answer_text
from mdvec.household.core.balances import Gap, balance_gaps, ends_of_days
from mdvec.household.core.wording import format_currency
from mdvec.household.interfaces import accounts
from mdvec.household.interfaces.accounts import AccountDoubt, RepeatedRows
from mdvec.household.overview import one_state
from mdvec.text import shown_name
from mdvec.tools import offered_name

_MANY = 5
"""The number of gaps that are named for each account."""


@dataclass(frozen=True, slots=True)
class AccountState:
    """An account: its rows, its first and last day (YYYY-MM-DD), and its newest balance in yen.

    ``balance`` is None if no file says it; ``gaps`` are where the balances show rows to be missing.
    """

    name: str
    rows: int
    first: str
    last: str
    balance: int | None
    balance_day: str | None
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class AccountsAnswer:
    """All accounts, by name."""

    accounts: tuple[AccountState, ...]
    notes: tuple[str, ...]
    age: str
    text: AnswerText


def accounts_report(connection: apsw.Connection, tool_id: int, *, today: date) -> AccountsAnswer:
    """Every account with its balance, and the gaps between its statements."""
    with one_state(connection):
        spans = accounts.spans_of(connection, tool_id)
        balances = accounts.balances_of(connection, tool_id)
        notes = [
            *map(_doubt_text, accounts.doubts_of(connection, tool_id)),
            *map(_repeated_text, accounts.repeated_rows(connection, tool_id)),
        ]
    states = []
    for name, rows, first, last in spans:
        gaps, newest = balance_gaps(balances.get(name, ()))
        balance, day = (None, None) if newest is None else (newest.balance, newest.day)
        state = AccountState(name, rows, first, last, balance, day, tuple(gaps))
        states.append(state)
    lines = [f"口座は {len(states):,}件です。"]
    for state in states:
        lines += _lines(state)
    newest_day = max((date.fromisoformat(state.last) for state in states), default=None)
    age = "" if newest_day is None else age_line(newest_day, today, None, "明細")
    return AccountsAnswer(tuple(states), tuple(notes), age, answer_text(lines, notes, age=age))


def daily_balances(connection: apsw.Connection, tool_id: int) -> dict[str, dict[str, int]]:
    """What each account had at the end of each day with rows (YYYY-MM-DD), by name."""
    balances = accounts.balances_of(connection, tool_id)
    return {
        name: {day: row.balance for day, row in ends_of_days(statements).items()}
        for name, statements in balances.items()
    }


def account_doubt_notes(connection: apsw.Connection, tool_id: int, days: Days) -> list[str]:
    """Notes: equal rows of files in these days that count twice, or once, and may be otherwise."""
    span = days.first.isoformat(), days.last.isoformat()
    return [
        *map(_doubt_text, accounts.doubts_of(connection, tool_id, span)),
        *map(_repeated_text, accounts.repeated_rows(connection, tool_id, span)),
    ]


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


def _doubt_text(doubt: AccountDoubt) -> str:
    if doubt.is_listed:
        return (
            f"{shown_name(doubt.first)} の明細（{shown_name(doubt.account)}）{doubt.rows:,}件は、"
            f"別の口座の {shown_name(doubt.second)} にもあり、同じ取引か不明なので両方数えます。"
            f"{offered_name('detect_duplicates')} で候補にして決められます"
        )
    return (
        f"{shown_name(doubt.first)} と {shown_name(doubt.second)} が同じ口座"
        f"（{shown_name(doubt.account)}）か分かりません。別の口座として、同じ明細 "
        f"{doubt.rows:,}件を両方数えています。口座名は mdvec household map FILE --account NAME "
        "--set 'files = \"FILE\"' --save で決められます（同じ口座なら同じ名前）"
    )


def _repeated_text(repeated: RepeatedRows) -> str:
    return (
        f"{shown_name(repeated.account)} の明細 {repeated.rows:,}件"
        f"（{format_currency(repeated.yen)}）は {shown_name(repeated.first)} にも "
        f"{shown_name(repeated.last)} にもあり、分割払いのように 1回だけ数えています。"
        "遅れて載った別の買い物なら、手書きの CSV に足してください"
    )
