"""Repairs texts that are no dates or numbers, and operators that do not fit their values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import COLUMN, TEXT, mask

_NUMBER = re.compile(r"'[¥$]?(-?\d{1,3}(?:,\d{3})+(?:\.\d+)?)'")
_DAYS = (
    re.compile(r"'(?P<y>\d{4})[年/.-](?P<m>\d{1,2})[月/.-](?P<d>\d{1,2})日?'"),
    re.compile(r"'(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})'"),
    re.compile(r"'(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})'"),
    re.compile(r"'(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})'"),
)
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_ERA_DAY = re.compile(r"'(令和|平成|昭和)(元|\d{1,2})年(\d{1,2})月(\d{1,2})日'")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF0D, 0xFF1A)}
_NOW = re.compile(
    r"\b(date|datetime)\s*\(\s*'now'\s*(?:,\s*'localtime'\s*)?"
    r"(?:,\s*'([+-]?)\s*(\d+) (second|minute|hour|day|month|year)s?'\s*)?\)",
    re.IGNORECASE,
)
_START = re.compile(r"\bdate\s*\(\s*(\w+)\s*,\s*'start of (\w+)'\s*\)", re.IGNORECASE)
_MAX_JOINED = 10
_MONTH = r"'(\d{4})[-/年](\d{1,2})月?'"


def mend_values(draft: Draft) -> Iterator[Mended]:
    """Dates and numbers as DuckDB reads them, and text operators where they are meant."""
    sql = draft.sql
    now = _NOW.sub(_from_now, sql)
    if now != sql:
        yield Mended(now, "'now' with a modifier is SQLite's")
    first = _START.sub(r"CAST(date_trunc('\2', \1) AS DATE)", sql)
    if first != sql:
        yield Mended(first, "date_trunc('month', d) begins a month")
    if "-> INTERVAL)" in draft.message:
        whole = re.sub(r"\bINTERVAL\s+(\d+)(?!\s*\w)", r"INTERVAL \1 DAY", sql, flags=re.IGNORECASE)
        yield Mended(whole, "an interval needs a unit")
    if "onversion" in draft.message or "onvert" in draft.message:
        yield from _converted(sql)
    if re.search(r"'\+\([^)]*(?:VARCHAR|STRING)", draft.message):
        masked = mask(sql)
        yield Mended(masked.shown(_joined(masked.code)), "texts are joined by ||, not +")
    if re.search(r"'(?:!?~~\*?|like_escape|i?like)\w*\(", draft.message):
        masked = mask(sql)
        cast = re.sub(
            rf"({COLUMN})\s+(NOT\s+)?(I?LIKE)\s+({TEXT})", r"CAST(\1 AS VARCHAR) \2\3 \4",
            masked.code, flags=re.IGNORECASE,
        )  # fmt: skip
        yield Mended(masked.shown(cast), "LIKE compares texts; cast the column")


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


def _converted(sql: str) -> Iterator[Mended]:
    why = "a date is written 'YYYY-MM-DD'"
    for pattern in _DAYS:
        changed = pattern.sub(_iso, sql)
        if changed != sql:
            yield Mended(changed, why)
    eras = _ERA_DAY.sub(_of_era, sql)
    if eras != sql:
        yield Mended(eras, why)
    wide = re.sub(r"'[０-９0-9－/-]+'", lambda text: text[0].translate(_NARROW), sql)
    if wide != sql:
        yield Mended(wide, why)
    months = re.sub(rf"({COLUMN})\s*=\s*{_MONTH}", _within_month, sql)
    if months != sql:
        yield Mended(months, "a month is a range of days")
    first = re.sub(_MONTH, lambda m: f"'{m[1]}-{int(m[2]):02d}-01'", sql)
    if first != sql:
        yield Mended(first, why)
    plain = _NUMBER.sub(lambda number: number[1].replace(",", ""), sql)
    if plain != sql:
        yield Mended(plain, "a number has no thousands separators")


def _from_now(found: re.Match[str]) -> str:
    now = "current_date" if found[1].lower() == "date" else "current_timestamp"
    if found[3] is None:
        return now
    return f"{now} {found[2] or '+'} INTERVAL {found[3]} {found[4].upper()}"


def _iso(found: re.Match[str]) -> str:
    try:
        return f"'{date(int(found['y']), int(found['m']), int(found['d'])).isoformat()}'"
    except ValueError:
        return found[0]


def _of_era(found: re.Match[str]) -> str:
    number = 1 if found[2] == "元" else int(found[2])
    year, month, day = _ERAS[found[1]] + number, int(found[3]), int(found[4])
    try:
        return f"'{date(year, month, day).isoformat()}'"
    except ValueError:
        return found[0]


def _within_month(found: re.Match[str]) -> str:
    year, month = int(found[2]), int(found[3])
    if not 1 <= month <= 12:
        return found[0]
    after = f"{year + month // 12:04d}-{month % 12 + 1:02d}-01"
    return f"{found[1]} >= '{year:04d}-{month:02d}-01' AND {found[1]} < '{after}'"
