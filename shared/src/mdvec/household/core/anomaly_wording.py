"""The Japanese text about what is unusual."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from mdvec.dates.months import Month
from mdvec.household.core.anomalies import Anomaly
from mdvec.household.core.wording import format_currency
from mdvec.text.one_line import shown_name


def anomaly_lines(found: Sequence[Anomaly], as_of: date, starts_on: int = 1) -> list[str]:
    """Each anomaly with its reason; months start on the day ``starts_on``."""
    month = Month.of(as_of, starts_on)
    until = "" if as_of == month.last_day else f"（{as_of} まで）"
    if not found:
        return [f"{month.in_words}{until}に、いつもと大きく違うものはありません。"]
    lines = [f"{month.in_words}{until}の、いつもと違うもの（差の大きい順）:"]
    return [*lines, *(_line(one, whole=not until) for one in found)]


def _line(one: Anomaly, *, whole: bool) -> str:
    name = shown_name(one.name)
    if one.kind == "new_shop":
        return (
            f"- {name}: {one.rows[0].day} に {format_currency(one.yen)} [{one.rows[0].id}]。"
            f"初めての店で、これまでの明細の 99 % は {format_currency(one.usual)} 以下です"
        )
    span = f"{format_currency(one.low)}〜{format_currency(one.high)}"
    distance = "半分以上が同じ額で、z なし" if one.z is None else f"z={one.z}"
    if one.kind == "shop":
        return (
            f"- {name}: {one.rows[0].day} に {format_currency(one.yen)} [{one.rows[0].id}]。"
            f"この店の {one.compared}件の中央値は {format_currency(one.usual)}"
            f"（{span}、{distance}）です"
        )
    days = "過去" if whole else "同じ日までの過去"
    known = f"（毎年の支払い {format_currency(one.known)} を除く）" if one.known else ""
    rows = "、".join(
        f"{row.day} {shown_name(row.name)} {format_currency(row.yen)} [{row.id}]"
        for row in one.rows
    )
    more = f"。大きい明細: {rows}" if rows else ""
    return (
        f"- {name}カテゴリ: {format_currency(one.yen)}{known}。"
        f"{days} {one.compared}か月の中央値は {format_currency(one.usual)}"
        f"（{span}、{distance}）です{more}"
    )
