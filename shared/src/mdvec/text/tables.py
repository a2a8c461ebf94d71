"""Finds the tables of a Markdown document; their heads are added to passages of rows below."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.text.markdown import Outline, line_starts

_DELIMITER_ROW = re.compile(
    r"(?<![^\r\n])[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+"
    r"(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+(?![^\r\n])"
)
_CELL_END = re.compile(r"(?<!\\)\|")
_HEAD = re.compile(r"(?:^| > )\| .* \|$")
_MAX_HEAD = 200
"""The maximum length of a table's head in a path of headings; further cells are left out."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows below a table's head, from ``start`` (its delimiter row) to ``end``."""

    start: int
    end: int
    head: str


def tables_of(content: str, outline: Outline) -> list[TableRows]:
    """The tables of a Markdown document that have a head, in order, without those in code."""
    tables: list[TableRows] = []
    if not outline.is_markdown or "|" not in content:
        return tables
    lines = [*line_starts(content), len(content) + 1]
    fences = [fence.start for fence in outline.fences]
    for delimiter in _DELIMITER_ROW.finditer(content, outline.body):
        if "|" not in delimiter[0] or (tables and delimiter.start() < tables[-1].end):
            continue
        at = bisect_right(lines, delimiter.start()) - 1
        fence = bisect_right(fences, delimiter.start()) - 1
        if not at or (fence >= 0 and delimiter.start() < outline.fences[fence].end):
            continue
        cells = _cells(content[lines[at - 1] : lines[at]])
        if not any(cells) or len(cells) != len(_cells(delimiter[0])):
            continue
        last = at
        while last + 2 < len(lines) and "|" in content[lines[last + 1] : lines[last + 2]]:
            last += 1
        tables.append(TableRows(lines[at], lines[last + 1], _in_short(cells)))
    return tables


def _cells(row: str) -> list[str]:
    inside = row.strip(" \t>\r\n").removeprefix("|")
    cells = [" ".join(cell.split()) for cell in _CELL_END.split(inside)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _in_short(cells: Sequence[str]) -> str:
    head = "|"
    for cell in cells:
        if len(head) + len(cell) > _MAX_HEAD:
            return f"{head} … |"
        head += f" {cell} |"
    return head


def with_head(heading: str, tables: Sequence[TableRows], start: int) -> str:
    """The path of headings, with the head of the table in which a passage begins, if any."""
    at = bisect_right(tables, start, key=lambda table: table.start) - 1
    if at < 0 or start >= tables[at].end:
        return heading
    return f"{heading} > {tables[at].head}" if heading else tables[at].head


def without_head(heading: str) -> str:
    """The path of headings without the head of a table."""
    return _HEAD.sub("", heading)
