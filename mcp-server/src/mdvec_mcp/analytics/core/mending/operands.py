"""Repairs operands whose types do not fit their operator or function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import COLUMN, TEXT, Masked, mask
from mdvec_mcp.analytics.core.statement import fold

_MAX_JOINED = 10
_BEHIND_DATE = re.compile(
    r"([-+])\s*'(\d+)\s*(days?|weeks?|months?|years?|hours?|minutes?)'", re.IGNORECASE
)
_SHIFTED = re.compile(
    r"\b(?:date)\s*\(\s*('[^']*'|[^\W\d][\w.]*)\s*,\s*"
    r"'(?:([-+])?\s*(\d+)\s+(day|month|year)s?|start of (month|year))'\s*\)",
    re.IGNORECASE,
)
"""SQLite's date(x, '-7 days')."""
_DAY_IN_FIGURES = re.compile(r"(?<![\w.])((?:19|20)\d\d)(0[1-9]|1[0-2])([0-3]\d)(?![\w.])")
_DIFFERENCE = re.compile(
    rf"((?<![\w.])({COLUMN})\s*-\s*({COLUMN})\s*\)?\s*(?:[<>]=?|=)\s*)(\d+)(?![\w.])"
)
_MONTH_NAME = re.compile(r"(?:^|[_.])(?:month|year_?month|ym)$|年月$|(?:^|\.)月$", re.IGNORECASE)
_OF_NUMBERS = {"sum", "avg", "median", "stddev", "stddev_pop", "stddev_samp", "var_samp", "abs"}
_OF_DATES = {
    "year", "month", "day", "quarter", "week", "weekday", "dayofweek", "isodow", "dayname",
    "monthname", "last_day", "dayofmonth", "dayofyear",
}  # fmt: skip
_LIKE_DAY = re.compile(
    r"(\bLIKE\s+)'(?P<y>\d{4})[年/.-](?:(?P<m>\d{1,2})(?P<end>[月/.-])?(?:(?P<d>\d{1,2})日?)?)?%'",
    re.IGNORECASE,
)


def mend_operands(draft: Draft) -> Iterator[Mended]:
    """Intervals beside dates, texts that are joined or compared, truth values that are counted."""
    message = draft.message
    if re.search(r"[-+]\((?:TIMESTAMP|DATE)[^)]*, (?:INTEGER|STRING)_LITERAL", message):
        yield from _spans(draft.sql)
    masked = mask(draft.sql)
    yield from _dates_and_numbers(draft, masked)
    if re.search(r"'\+\([^)]*(?:VARCHAR|STRING)", message):
        yield Mended(masked.shown(_joined(masked.code)), "texts are joined by ||, not +")
    if "'&(VARCHAR" in message:
        yield Mended(masked.shown(masked.code.replace("&", "||")), "texts are joined by ||, not &")
    if re.search(r"'(?:!?~~\*?|like_escape|i?like)\w*\(", message):
        pattern = rf"({COLUMN})\s+(NOT\s+)?(I?LIKE)\s+({TEXT})"
        form = r"CAST(\1 AS VARCHAR) \2\3 \4"
        cast = masked.shown(re.sub(pattern, form, masked.code, flags=re.IGNORECASE))
        yield Mended(_LIKE_DAY.sub(_like_iso, cast), "LIKE compares texts; cast the column")
    if "in COALESCE operator" in message:
        pattern = r"(\bCOALESCE\s*\([^()']*,\s*)(\d+)(\s*\))"
        texts = re.sub(pattern, r"\1'\2'\3", draft.sql, flags=re.IGNORECASE)
        yield Mended(texts, "all values of COALESCE have one type")
    if re.search(r"'(?:avg|median|stddev\w*|var\w*)\(BOOLEAN", message):
        pattern = rf"\b(AVG|MEDIAN|STDDEV|VARIANCE)\s*\(\s*({COLUMN})\s*\)"
        form = r"\1(CAST(\2 AS INTEGER))"
        counted = re.sub(pattern, form, masked.code, flags=re.IGNORECASE)
        yield Mended(masked.shown(counted), "true counts as 1 after CAST(x AS INTEGER)")


def _dates_and_numbers(draft: Draft, masked: Masked) -> Iterator[Mended]:
    if "of type INTERVAL and type INTEGER_LITERAL" in draft.message:
        yield from _days_compared(draft, masked)
    if re.search(r"(?:DATE|TIMESTAMP) and INTEGER_LITERAL", draft.message):
        figures = _DAY_IN_FIGURES.sub(r"'\1-\2-\3'", masked.code)
        if figures != masked.code:
            yield Mended(masked.shown(figures), "a date is written 'YYYY-MM-DD'")
    if (call := draft.named_by(r"types '(\w+)\(VARCHAR\)'")) is not None:
        yield from _cast_argument(call.lower(), masked)
    if "DATE function" in draft.message:
        yield Mended(_SHIFTED.sub(_shifted, draft.sql), "a span of time is added by +")


def _days_compared(draft: Draft, masked: Masked) -> Iterator[Mended]:
    """A difference with a DATE in it, compared with a number of days."""
    dates = {
        fold(one.name) for columns in draft.tables.values() for one in columns if one.type == "DATE"
    }

    def in_days(part: re.Match[str]) -> str:
        sides = {fold(side.rpartition(".")[2].strip('"')) for side in (part[2], part[3])}
        return f"{part[1]}INTERVAL {part[4]} DAY" if sides & dates else part[0]

    changed = _DIFFERENCE.sub(in_days, masked.code)
    if changed != masked.code:
        yield Mended(masked.shown(changed), "a span of time is INTERVAL 1 DAY")


def _cast_argument(call: str, masked: Masked) -> Iterator[Mended]:
    """A text as the number or the date that the function takes; YYYY-MM as the month's first."""
    argument = rf"\b({call})\s*\(\s*({COLUMN})\s*\)"

    def first_day(part: re.Match[str]) -> str:
        is_month = _MONTH_NAME.search(part[2]) is not None
        value = f"{part[2]} || '-01'" if is_month else part[2]
        return f"{part[1]}(CAST({value} AS DATE))"

    if call in _OF_NUMBERS:
        form: str | Callable[[re.Match[str]], str] = r"\1(CAST(\2 AS DOUBLE))"
    elif call in _OF_DATES:
        form = first_day
    else:
        return
    changed = re.sub(argument, form, masked.code, flags=re.IGNORECASE)
    if changed != masked.code:
        yield Mended(masked.shown(changed), f"{call}() takes no text; cast it")


def _shifted(call: re.Match[str]) -> str:
    day = (
        "current_date" if call[1].strip().lower() == "'now'" else f"CAST({call[1].strip()} AS DATE)"
    )
    if call[4] is None:
        return f"CAST(date_trunc('{call[5].lower()}', {day}) AS DATE)"
    sign = "-" if call[2] == "-" else "+"
    return f"CAST({day} {sign} INTERVAL {call[3]} {call[4].upper()} AS DATE)"


def _spans(sql: str) -> Iterator[Mended]:
    spans = _BEHIND_DATE.sub(r"\1 INTERVAL '\2 \3'", sql)
    days = re.sub(r"(\)\s*[-+])\s*(\d+)(?!\s*\w)", r"\1 INTERVAL \2 DAY", sql)
    for form in (spans, days):
        if form != sql:
            yield Mended(form, "a span of time is INTERVAL 1 DAY")


def _joined(code: str) -> str:
    """The ``+`` beside texts and beside other ``||`` as ``||``; all of them if there is none."""
    joined = re.sub(rf"({TEXT})\s*\+", r"\1 ||", re.sub(rf"\+(?=\s*{TEXT})", "||", code))
    for _ in range(_MAX_JOINED):
        further = re.sub(rf"(\|\|\s*{COLUMN}\s*)\+", r"\1||", joined)
        further = re.sub(rf"\+(?=\s*{COLUMN}\s*\|\|)", "||", further)
        if further == joined:
            break
        joined = further
    return joined if joined != code else code.replace("+", "||")


def _like_iso(like: re.Match[str]) -> str:
    """A pattern of a day, such as ``'2025/6%'``, as a date is written."""
    day = f"-{int(like['d']):02d}" if like["d"] else "-" if like["end"] else ""
    month = f"-{int(like['m']):02d}" if like["m"] else ""
    return f"{like[1]}'{like['y']}{month}{day}%'"
