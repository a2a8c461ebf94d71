"""Puts the lines of a document's pages in reading order, as paragraphs, headings and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise, zip_longest
from statistics import median

from mdvec.converters.pdf_lines import APART, Line, in_rows, is_wide, joined, with_words_whole
from mdvec.converters.pdf_margins import without_running_heads

Bookmarks = dict[int, dict[str, int]]
"""By page, from 0: the levels of titles by their text without spaces."""

_MIN_COLUMN_LINES, _MIN_DRAWN_LINES = 4, 2
"""The minimum lines of a column, and the minimum if the file draws the columns one by one."""
_MIN_FILLED = 0.55
"""The minimum share of a column's width that its lines fill; cells of a table fill less."""
_HEADING_SIZE = 1.15
_MAX_HEADING = 120
_MAX_HEADING_LINES = 3
_MAX_LEVELS = 3
_RUBY_SIZE = 0.6
_FIGURE = re.compile(r"\d")
_KANA = re.compile(r"[\u3041-\u30ff\s]+")
_ITEM = re.compile(r"(?:[•・●○◆■□▪‣*-]|\(?\d{1,3}[.)．）]|[①-⑳])\s*\S")
_MARKUP = re.compile(r"^(#{1,6}\s|`{3}|~{3}|>|\|)")
_ENDS = tuple("。．.!?！？」』）)：:")


def page_texts(pages: Sequence[list[Line]], bookmarks: Bookmarks) -> list[str]:
    """Each page's text as Markdown."""
    bodies = [_parts(page) for page in without_running_heads(pages)]
    sizes: Counter[float] = Counter()
    for line in chain.from_iterable(chain.from_iterable(bodies)):
        sizes[_rounded(line.size)] += len(line.text)
    body_size = sizes.most_common(1)[0][0] if sizes else 0.0
    levels = {} if bookmarks else _levels(bodies, body_size)
    return with_words_whole(
        [
            _Page(body_size, levels, bookmarks.get(number, {})).text(body)
            for number, body in enumerate(bodies)
        ]
    )


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _parts(lines: list[Line]) -> list[list[Line]]:
    """A page's lines; on a mostly vertical page, horizontal lines above and below are separate."""
    upright = [line for line in lines if not line.is_vertical]
    vertical = [line for line in lines if line.is_vertical]
    if sum(len(line.text) for line in upright) >= sum(len(line.text) for line in vertical):
        return [lines]
    top = max(line.top for line in vertical)
    return [
        [line for line in upright if line.middle > top],
        [line.turned() for line in vertical],
        [line for line in upright if line.middle <= top],
    ]


def _levels(bodies: Sequence[list[list[Line]]], body_size: float) -> dict[float, int]:
    """The heading level of each font size."""
    larger = {
        _rounded(line.size)
        for line in chain.from_iterable(chain.from_iterable(bodies))
        if _rounded(line.size) >= body_size * _HEADING_SIZE and len(line.text) <= _MAX_HEADING
    }
    ordered = sorted(larger, reverse=True)
    return {size: min(level, _MAX_LEVELS) for level, size in enumerate(ordered, 1)}


def _in_columns(lines: list[Line]) -> list[list[Line]]:
    """The lines as blocks in reading order; lines that span the columns divide them into bands."""
    columns = _columns(lines)
    if columns is None:
        return [lines] if lines else []
    above = [line for line in lines if line.middle > columns.top]
    below = [line for line in lines if line.middle < columns.bottom]
    # The longer column continues alone; a table above or below belongs to neither.
    above = above if columns.has_both_sides(above) else []
    below = below if columns.has_both_sides(below) else []
    outside = {id(line) for line in (*above, *below)}
    return [
        *_in_columns(above),
        *_bands([line for line in lines if id(line) not in outside], columns.gutter),
        *_in_columns(below),
    ]


def _bands(lines: list[Line], gutter: float) -> list[list[Line]]:
    blocks: list[list[Line]] = []
    spanning = sorted((line for line in lines if _spans(line, gutter)), key=lambda x: -x.middle)
    rest = [line for line in lines if not _spans(line, gutter)]
    for edge in (*spanning, None):
        bottom = float("-inf") if edge is None else edge.middle
        band = [line for line in rest if line.middle > bottom]
        rest = [line for line in rest if line.middle <= bottom]
        if band:
            blocks += chain.from_iterable(map(_in_columns, _sides(band, gutter)))
        if edge is not None and not band and blocks:
            blocks[-1].append(edge)
        elif edge is not None:
            blocks.append([edge])
    return blocks


def _spans(line: Line, gutter: float) -> bool:
    return line.left < gutter < line.right


@dataclass(frozen=True, slots=True)
class _Columns:
    """Two columns of prose side by side, from ``top`` to ``bottom``."""

    gutter: float
    top: float
    bottom: float
    score: int

    def has_both_sides(self, lines: list[Line]) -> bool:
        """Whether there are lines on both sides of the gutter, or across it."""
        left, right = _sides(lines, self.gutter)
        return bool(left and right) or len(left) + len(right) < len(lines)


def _columns(lines: list[Line]) -> _Columns | None:
    """Two columns with the gap between them; None if the lines are in one column."""
    starts = Counter(round(line.left) for line in lines)
    gutters = (start - 1.5 for start, count in starts.items() if count >= _MIN_DRAWN_LINES)
    candidates = [columns for gutter in gutters if (columns := _columns_at(gutter, lines))]
    return max(candidates, key=lambda columns: columns.score, default=None)


def _columns_at(gutter: float, lines: list[Line]) -> _Columns | None:
    left, right = _sides(lines, gutter)
    if not left or not right:
        return None
    top = min(max(line.top for line in left), max(line.top for line in right))
    bottom = max(min(line.bottom for line in left), min(line.bottom for line in right))
    whole = _reach(lines, gutter, top, bottom)
    if _is_table(_lines_between(lines, *whole), gutter):
        return None
    for reach in ((top, bottom), whole):
        inside = _lines_between(lines, *reach)
        left, right = _sides(inside, gutter)
        is_in_turn = [line for line in inside if not _spans(line, gutter)] == left + right
        least = _MIN_DRAWN_LINES if is_in_turn else _MIN_COLUMN_LINES
        score = min(len(left), len(right)) - 2 * (len(inside) - len(left) - len(right))
        if score > 0 and _is_prose(left, least) and _is_prose(right, least):
            ends = _without_tables(_lines_between(lines, *whole), gutter, *whole)
            return _Columns(gutter, *ends, score)
    return None


def _lines_between(lines: list[Line], top: float, bottom: float) -> list[Line]:
    return [line for line in lines if bottom < line.middle < top]


def _reach(lines: list[Line], gutter: float, top: float, bottom: float) -> tuple[float, float]:
    """The range of lines in columns, extended where one column continues above or below."""
    ordered = sorted(lines, key=lambda line: line.middle)
    for line in (line for line in ordered if line.middle > top):
        if _spans(line, gutter) or line.bottom - top > line.size:
            break
        top = line.top
    for line in (line for line in reversed(ordered) if line.middle < bottom):
        if _spans(line, gutter) or bottom - line.top > line.size:
            break
        bottom = line.bottom
    return top, bottom


def _sides(lines: list[Line], gutter: float) -> tuple[list[Line], list[Line]]:
    left = [line for line in lines if line.right <= gutter]
    return left, [line for line in lines if line.left >= gutter]


def _is_table(lines: list[Line], gutter: float) -> bool:
    """Whether the lines are rows of two cells, with a number on one side of each except heads.

    There may be a title above and a note below, each on one side only.
    """
    rows = in_rows(lines)
    pairs = [(row[0], row[-1]) for row in rows if row[0].right <= gutter <= row[-1].left]
    return len(rows) <= len(pairs) + 2 and any(
        sum(figures) > 1 and all(figures[1:])
        for side in (0, 1)
        if (figures := [_FIGURE.search(pair[side].text) is not None for pair in pairs])
    )


def _without_tables(
    lines: list[Line], gutter: float, top: float, bottom: float
) -> tuple[float, float]:
    """The range of columns without a separate table at its top or bottom."""
    groups: list[list[Line]] = []
    for row in in_rows(lines):
        is_apart = groups and groups[-1][-1].middle - row[0].middle > APART * row[0].size
        if is_apart or not groups:
            groups.append([])
        groups[-1] += row
    for group, is_last in ((groups[0], False), (groups[-1], True)):
        widest = max(line.width for line in group)
        is_narrow = widest < _MIN_FILLED * (gutter - min(line.left for line in lines))
        if len(groups) > 1 and all(_sides(group, gutter)) and is_narrow:
            top = top if is_last else min(line.bottom for line in group)
            bottom = max(line.top for line in group) if is_last else bottom
    return top, bottom


def _is_prose(lines: list[Line], least: int) -> bool:
    if len(lines) < least:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    size = median(line.size for line in lines)
    return width > 8 * size and median(line.width for line in lines) > _MIN_FILLED * width


class _Page:
    """Writes one page's lines as Markdown."""

    def __init__(
        self, body_size: float, levels: Mapping[float, int], titles: Mapping[str, int]
    ) -> None:
        self._body_size, self._levels, self._titles = body_size, levels, titles

    def text(self, parts: list[list[Line]]) -> str:
        """The page's text."""
        blocks = [
            text for lines in parts for block in _in_columns(lines) for text in self._block(block)
        ]
        return "\n\n".join(blocks)

    def _block(self, lines: list[Line]) -> list[str]:
        rows = _without_ruby(in_rows(lines))
        headings = self._headings(rows)
        ends = _paragraph_ends(rows, headings)
        texts: list[str] = []
        table: list[list[Line]] = []
        before: Line | None = None
        for row in rows:
            if len(row) > 1:
                table.append(row)
                before = None
                continue
            if table and (wrapped := _with_continuation(table[-1], row[0])):
                table[-1] = wrapped
                continue
            texts += _table(table)
            table = []
            line = row[0]
            level = headings.get(id(line), 0)
            if (
                before is not None
                and headings.get(id(before), 0) == level
                and (
                    before.middle - line.middle < 2 * line.size if level else id(before) not in ends
                )
            ):
                texts[-1] = joined(texts[-1], line.text)
            elif level:
                texts.append(f"{'#' * level} {line.text}")
            else:
                texts.append(_MARKUP.sub(r"\\\1", line.text))
            before = line
        return [*texts, *_table(table)]

    def _headings(self, rows: list[list[Line]]) -> dict[int, int]:
        """The levels of headings by their line's id: a few larger lines that are no sentences."""
        levels: dict[int, int] = {}
        for level, group in groupby(rows, lambda row: self._level(row[0]) if len(row) == 1 else 0):
            run = [row[0] for row in group]
            is_prose = len(run) > _MAX_HEADING_LINES or run[-1].text.endswith("。")
            if level and not is_prose:
                levels |= {id(line): level for line in run}
        return levels

    def _level(self, line: Line) -> int:
        if level := self._titles.get("".join(line.text.split())):
            return min(level, 6)
        if len(line.text) > _MAX_HEADING or _rounded(line.size) < self._body_size * _HEADING_SIZE:
            return 0
        return self._levels.get(_rounded(line.size), 0)


def _paragraph_ends(rows: list[list[Line]], headings: Mapping[int, int]) -> set[int]:
    """The indexes of lines that end a paragraph."""
    right = max((row[-1].right for row in rows), default=0.0)
    left = min((row[0].left for row in rows), default=0.0)
    gaps = [above[0].middle - row[0].middle for above, row in pairwise(rows)]
    leading = median(gaps) if gaps else 0.0
    ends: set[int] = set()
    run: list[Line] = []
    for row in [*rows, []]:
        is_text = len(row) == 1 and id(row[0]) not in headings
        if run and not (is_text and _may_continue(run[-1], row[0], leading)):
            ends |= {id(run[-1]), *_early_ends(run, left, right)}
            run = []
        if is_text:
            run.append(row[0])
    return ends


def _may_continue(above: Line, line: Line, leading: float) -> bool:
    """Whether a line's position fits one that continues the line above."""
    is_indented = line.left > above.left + 0.8 * line.size
    return (
        above.middle - line.middle <= 1.4 * max(min(leading, 2 * line.size), line.size)
        and abs(above.size - line.size) <= 0.1 * above.size + 0.5
        and _ITEM.match(line.text) is None
        and not (is_indented and above.text.endswith(_ENDS))
    )


def _early_ends(run: list[Line], left: float, right: float) -> set[int]:
    """The indexes of lines that end early, except within a sentence of small letters.

    Before kanji and kana, a line ends early if two more characters would fit; otherwise the next
    word may be too long for the room. If half of the lines have room and no full stop, as in an
    address, every line ends a paragraph.
    """
    ends, starts, breaks = set(), set(), 0
    edge = max(line.right for line in run)
    for at, (line, after) in enumerate(pairwise(run)):
        ended, is_small = line.text.endswith(_ENDS), after.text[0].islower()
        if line.text.endswith("-") or (is_small and not ended):
            continue
        is_short = right - line.right > 0.2 * (right - left)
        if is_wide(after.text[0]):
            neighbours_end = max(near.right for near in run[max(at - 2, 0) : at + 4])
            is_early = neighbours_end - line.right > 2 * line.size or (is_short and ended)
            breaks += not ended and edge - line.right > line.size
        else:
            is_early = is_short
            breaks += not ended and is_short
        if is_early:
            ends.add(id(line))
        if not is_small:
            starts.add(id(line))
    return ends | starts if 2 * breaks >= len(run) - 1 else ends


def _without_ruby(rows: list[list[Line]]) -> list[list[Line]]:
    """The rows without ruby: small kana closely above a row of larger letters."""
    return [
        row
        for row, below in zip_longest(rows, rows[1:])
        if below is None
        or any(
            line.size > _RUBY_SIZE * below[0].size or not _KANA.fullmatch(line.text) for line in row
        )
    ]


def _with_continuation(row: list[Line], line: Line) -> list[Line] | None:
    """A table's row joined with a line that continues one of its cells; None if it continues none.

    A line under the first cell may be text after the table.
    """
    for at, cell in enumerate(row[1:], 1):
        is_under = abs(cell.left - line.left) < line.size / 2
        if is_under and cell.bottom - line.top < line.size and _rounded(cell.size - line.size) == 0:
            longer = replace(cell, text=joined(cell.text, line.text), bottom=line.bottom)
            return [*row[:at], longer, *row[at + 1 :]]
    return None


def _table(rows: list[list[Line]]) -> list[str]:
    """Rows of cells as a Markdown table, each cell in its nearest column."""
    if not rows:
        return []
    if len(rows) == 1:
        return [" | ".join(cell.text for cell in rows[0])]
    widest = max(rows, key=len)
    columns = [(cell.left, cell.right) for cell in widest]
    lines = []
    for row in rows:
        cells = [""] * len(columns)
        for cell in row:
            at = min(range(len(columns)), key=lambda number: _distance(columns[number], cell))
            cells[at] = f"{cells[at]} {cell.text.replace('|', chr(92) + '|')}".strip()
        lines.append(f"| {' | '.join(cells)} |")
    rule = f"|{' --- |' * len(columns)}"
    return ["\n".join([lines[0], rule, *lines[1:]])]


def _distance(column: tuple[float, float], cell: Line) -> float:
    return min(
        abs(column[0] - cell.left),
        abs(column[1] - cell.right),
        abs(sum(column) - cell.left - cell.right) / 2,
    )
