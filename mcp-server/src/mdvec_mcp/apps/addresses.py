"""Finds the view of the page that shows what a tool answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

Arguments = Mapping[str, Any]


def _money(arguments: Arguments) -> str:
    year, month = arguments.get("year"), arguments.get("month")
    is_month = isinstance(year, int) and isinstance(month, int)
    period = arguments.get("period") or (f"{year}-{month:02}" if is_month else None)
    return _address("/money", arguments, ("category", "page"), period=period)


def _trend(arguments: Arguments) -> str:
    return _address("/money/trend", arguments, ("category", "period", "start_month", "end_month"))


def _report(arguments: Arguments) -> str:
    """The plans, which show most reports; of a comparison, the later period."""
    path = "/money" if arguments.get("report") == "compare" else "/money/plan"
    return _address(path, arguments, ("period", "category"))


def _found(arguments: Arguments) -> str:
    return _address("/review", arguments)


def _review(arguments: Arguments) -> str:
    decided = "1" if arguments.get("skip_checked") is False else None
    return _address("/review", arguments, decided=decided)


def _profile(arguments: Arguments) -> str:
    columns = arguments.get("columns")
    days = arguments.get("date_range")
    first, last = days if isinstance(days, list) and len(days) == 2 else (None, None)
    return _with_query(
        "/data/table",
        {
            "name": arguments.get("table_or_query"),
            "date_column": arguments.get("date_column"),
            "since": first,
            "until": last,
            "column": columns if isinstance(columns, list) else None,
        },
    )


def _query(arguments: Arguments) -> str | None:
    """The view of a SELECT that was drawn; rows, and what a name stands for, are in the text."""
    sql, chart, values = (arguments.get(name) for name in ("query", "chart", "parameters"))
    return None if chart is None or values is not None else _with_query("/data", {"sql": sql})


VIEWS: dict[str, Callable[[Arguments], str | None]] = {
    "get_monthly_household": _money,
    "get_category_trend": _trend,
    "household_report": _report,
    "detect_duplicates": _found,
    "list_duplicate_candidates": _review,
    "profile": _profile,
    "query": _query,
}
"""By tool: the address of the view of what a call with these arguments answered, if it has one."""


def _address(path: str, arguments: Arguments, same: tuple[str, ...] = (), **fields: object) -> str:
    """A view of a household; the fields that are the ``same`` keep the arguments' names."""
    kept = {name: arguments.get(name) for name in same}
    return _with_query(path, {"household": arguments.get("tool"), **fields, **kept})


def _with_query(path: str, fields: Mapping[str, object]) -> str:
    given = {name: value for name, value in fields.items() if value is not None}
    return f"{path}?{urlencode(given, doseq=True, errors='replace')}"
