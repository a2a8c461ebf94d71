"""Repairs full-width signs and quotes, and signs of other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mdvec_mcp.analytics.core.mending.draft import Draft, Mended
from mdvec_mcp.analytics.core.mending.masking import mask

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(wide): narrow
    for wide, narrow in {
        "　": " ", "、": ", ", "。": ".", "≧": ">=", "≦": "<=", "≠": "<>", "≥": ">=", "≤": "<=",
        "×": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "‐": "-", "￥": "", "\u00a0": " ",
        "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "", "\u2028": "\n",
    }.items()
}  # fmt: skip
_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/"""
    r"|「([^「」]*)」|｢([^｢｣]*)｣|『([^『』]*)』|“([^“”]*)”|”([^“”]*)”|【([^【】]*)】|[‘’]([^‘’']*)[’']|＇([^＇]*)＇|＂([^＂]*)＂|«([^«»]*)»",
    re.DOTALL,
)
_WIDE_SELECT = re.compile("ＳＥＬＥＣＴ|ｓｅｌｅｃｔ")
"""Someone who types this in full width types the texts in full width, too."""


def mend_signs(draft: Draft) -> Iterator[Mended]:
    """Signs and quotes in the forms that SQL knows; texts in quotes stay as they are."""
    quoted = _QUOTED.sub(lambda part: _in_quotes(part, draft), draft.sql)
    if quoted != draft.sql:
        yield Mended(_narrow(quoted), "a text stands in straight single quotes: 'text'")
    elif (narrow := _narrow(draft.sql)) != draft.sql:
        yield Mended(narrow, "signs of SQL are half-width")


def _in_quotes(part: re.Match[str], draft: Draft) -> str:
    inside = next((group for group in part.groups() if group is not None), None)
    if inside is None:
        return part[0]
    before = draft.sql[: part.start()].rstrip().lower()
    if inside in draft.tables and before.endswith(("from", "join")):
        return f'"{inside}"'
    if _WIDE_SELECT.search(draft.sql):
        inside = inside.translate(_WIDE)
    return "'" + inside.replace("'", "''") + "'"


def _narrow(sql: str) -> str:
    masked = mask(sql)
    return masked.shown(masked.code.translate(_WIDE))
