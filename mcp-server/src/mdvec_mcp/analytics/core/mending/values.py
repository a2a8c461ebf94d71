"""Repairs texts that are no dates or numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import COLUMN

_NUMBER = re.compile(r"'[¥￥$]?(-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<=[¥￥$])\d+(?:\.\d+)?)'")
_DAYS = (
    re.compile(r"'(?P<y>\d{4})[年/.-](?P<m>\d{1,2})[月/.-](?P<d>\d{1,2})日?'"),
    re.compile(r"'(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})'"),
    re.compile(r"'(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})'"),
    re.compile(r"'(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})'"),
)
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_ERA_DAY = re.compile(r"'(令和|平成|昭和)(元|[1-9]\d|0?[1-9])年(\d{1,2})月(\d{1,2})日'")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF0D, 0xFF1A)}
_NOW = re.compile(
    r"\b(date|datetime)\s*\(\s*'now'\s*(?:,\s*'localtime'\s*)?"
    r"(?:,\s*'([+-]?)\s*(\d+) (second|minute|hour|day|month|year)s?'\s*)?\)",
    re.IGNORECASE,
)
_START = re.compile(r"\bdate\s*\(\s*(\w+)\s*,\s*'start of (\w+)'\s*\)", re.IGNORECASE)
_FIGURE = re.compile(r"'([0-9０-９]+|[一二三四五六七八九十]{1,2})(?:月|日|年|時|円|個|件|人|回)?'")
_KANJI = dict(zip("一二三四五六七八九", range(1, 10), strict=True))
_MONTH = r"'(\d{4})[-/年](\d{1,2})月?'"


def mend_values(draft: Draft) -> Iterator[Mended]:
    """Dates and numbers as DuckDB reads them."""
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


def _converted(sql: str) -> Iterator[Mended]:
    why = "a date is written 'YYYY-MM-DD'"
    every = sql
    for pattern in _DAYS:
        every = pattern.sub(_iso, every)
    month = "a month is a range of days"
    spans = re.sub(rf"({COLUMN})\s+BETWEEN\s+{_MONTH}\s+AND\s+{_MONTH}", between_months, sql)
    forms = (
        (every, why),
        *((pattern.sub(_iso, sql), why) for pattern in _DAYS),
        (_ERA_DAY.sub(_of_era, sql), why),
        (re.sub(r"'[０-９0-9－/-]+'", lambda text: text[0].translate(_NARROW), sql), why),
        (spans, month),
        (re.sub(rf"({COLUMN})\s*=\s*{_MONTH}", within_month, sql), month),
        (re.sub(_MONTH, lambda m: f"'{m[1]}-{int(m[2]):02d}-01'", sql), why),
        (_NUMBER.sub(lambda number: number[1].replace(",", ""), sql),
         "a number has no thousands separators"),
        (_FIGURE.sub(_figure, sql), "a number is written in figures, without its unit"),
    )  # fmt: skip
    yield from (Mended(form, said) for form, said in forms if form != sql)


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


def within_month(found: re.Match[str]) -> str:
    """``d = 2025-01`` as days; unchanged if it is no month."""
    year, month = int(found[2]), int(found[3])
    if not 1 <= month <= 12:
        return found[0]
    after = f"{year + month // 12:04d}-{month % 12 + 1:02d}-01"
    return f"{found[1]} >= '{year:04d}-{month:02d}-01' AND {found[1]} < '{after}'"


def between_months(found: re.Match[str]) -> str:
    """``d BETWEEN 2025-01 AND 2025-02`` as days; unchanged if these are no months."""
    first, last = (int(found[2]), int(found[3])), (int(found[4]), int(found[5]))
    if not (1 <= first[1] <= 12 and 1 <= last[1] <= 12):
        return found[0]
    after = f"{last[0] + last[1] // 12:04d}-{last[1] % 12 + 1:02d}-01"
    return f"{found[1]} >= '{first[0]:04d}-{first[1]:02d}-01' AND {found[1]} < '{after}'"


def _figure(text: re.Match[str]) -> str:
    """A number in full width or in kanji up to 99."""
    return kanji_number(text[1])


def kanji_number(text: str) -> str:
    """A number in any figures, or in kanji up to 99, as SQL writes it."""
    if text[0] not in "一二三四五六七八九十":
        return str(int(text))
    tens, ten, ones = text.rpartition("十")
    return str((_KANJI.get(tens, 1) * 10 if ten else 0) + _KANJI.get(ones, 0))
