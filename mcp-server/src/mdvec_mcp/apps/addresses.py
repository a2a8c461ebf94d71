"""Which view of the page shows what a tool answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

Arguments = Mapping[str, Any]


def _money(arguments: Arguments) -> str:
    year, month = arguments.get("year"), arguments.get("month")
    period = arguments.get("period") or (f"{year}-{month:02}" if year and month else None)
    return _address("/money", arguments, period=period, category=arguments.get("category"))


def _trend(arguments: Arguments) -> str:
    named = {name: arguments.get(name) for name in ("category", "period", "start_month")}
    return _address("/money/trend", arguments, **named, end_month=arguments.get("end_month"))


def _plan(arguments: Arguments) -> str:
    return _address("/money/plan", arguments)


def _review(arguments: Arguments) -> str:
    return _address("/review", arguments)


def _profile(arguments: Arguments) -> str:
    return f"/data/table?{urlencode({'name': arguments.get('source', '')})}"


def _query(arguments: Arguments) -> str:
    return f"/data?{urlencode({'sql': arguments.get('query', '')})}"


VIEWS: dict[str, Callable[[Arguments], str]] = {
    "get_monthly_household": _money,
    "get_category_trend": _trend,
    "get_budget_status": _plan,
    "detect_duplicates": _review,
    "list_duplicate_candidates": _review,
    "profile": _profile,
    "plot": _query,
}
"""By tool: the address of the view that shows what a call with these arguments answered."""


def _address(path: str, arguments: Arguments, **fields: object) -> str:
    given = {"household": arguments.get("tool"), **fields}
    query = urlencode({name: value for name, value in given.items() if value is not None})
    return f"{path}?{query}"
