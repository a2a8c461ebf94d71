"""Repairs operands whose types do not fit their operator or function."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import COLUMN, TEXT, mask

_MAX_JOINED = 10
_BEHIND_DATE = re.compile(
    r"([-+])\s*'(\d+)\s*(days?|weeks?|months?|years?|hours?|minutes?)'", re.IGNORECASE
)
_LIKE_DAY = re.compile(
    r"(\bLIKE\s+)'(?P<y>\d{4})[年/.-](?:(?P<m>\d{1,2})(?P<end>[月/.-])?(?:(?P<d>\d{1,2})日?)?)?%'",
    re.IGNORECASE,
)


def mend_operands(draft: Draft) -> Iterator[Mended]:
    """Spans beside dates, texts that are joined or compared, and truth values that are counted."""
    message = draft.message
    if re.search(r"[-+]\((?:TIMESTAMP|DATE)[^)]*, (?:INTEGER|STRING)_LITERAL", message):
        yield from _spans(draft.sql)
    masked = mask(draft.sql)
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
