"""Finds the running heads and page numbers in the margins of a document's pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from statistics import median

from mdvec.converters.pdf_lines import APART, Line, in_rows

_MARGIN = 0.1
"""The share of a page, at its top and bottom, where running heads may be."""
_HEAD_APART = 1.5
"""The minimum distance of a running head from the text, as a multiple of the text's leading."""
_MAX_PAGE_NUMBER = 999
_MIN_REPEATS = 3
_NEAR_PAGES = 6
_COUNTING = re.compile(
    r"(?P<of_pages>(?i:\bpage |\bp\.|頁|ページ) *\d+|\d+ *(?:頁|ページ)|(?<!\S)- *\d+ *-(?!\S))"
    r"|^\d+(?![\w.,/:%-])|(?<![\w.,/:%-])\d+$"
)
"""The position of a page number in a running head."""
_AMOUNT = re.compile(r"\d\s*[百千万億兆]*円|[¥￥$€£]\s*\d|\d[,，]\d{3}(?!\d)")
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"[\s\-–—|・第頁ページp.P]*(\d{1,9})(?:[\s\-–—/|・頁ページ]+(\d{1,9}))?[\s\-–—/|・頁ページ]*"
)


def without_running_heads(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """The pages without repeated rows in the margins of several pages near each other.

    Words stay on the first of these pages; page numbers are removed from all of them.
    """
    seen: dict[tuple[str, int], list[int]] = defaultdict(list)
    margins = [_margins(in_rows(page)) for page in pages]
    for number, groups in enumerate(margins):
        for row in chain.from_iterable(groups):
            for key in _head_keys(row, number, len(pages)):
                seen[key].append(number)
    bodies = []
    for number, (page, groups) in enumerate(zip(pages, margins, strict=True)):
        dropped: set[int] = set()
        for rows in groups:
            places = [_repeats(seen, row, number, len(pages)) for row in rows]
            if all(places):  # rows close to text are text, too
                dropped |= {
                    id(line)
                    for row, at in zip(rows, places, strict=True)
                    for line in row
                    if at[0] < number or _page_number(row, len(pages))
                }
        bodies.append([line for line in page if id(line) not in dropped])
    return bodies


def _margins(rows: list[list[Line]]) -> list[list[list[Line]]]:
    """The groups of rows at the top and bottom of a page that are separate from its text.

    A row that is as close to the next one as the lines of the page belongs to the text.
    """
    inside = [row for row in rows if not _is_at_edge(row)]
    gaps = [_gap(*pair) for pair in pairwise(inside)]
    leading = median(gaps) if gaps else 0.0
    groups = []
    for ordered in (rows, rows[::-1]):
        group: list[list[Line]] = []
        for row, after in pairwise([*ordered, []]):
            if not _is_at_edge(row):
                break
            group.append(row)
            if not after or _gap(row, after) > max(APART * row[0].size, _HEAD_APART * leading):
                groups.append(group)
                group = []
    return groups


def _is_at_edge(row: list[Line]) -> bool:
    return not _MARGIN < row[0].middle / max(row[0].page_height, 1) < 1 - _MARGIN


def _gap(row: list[Line], other: list[Line]) -> float:
    return abs(row[0].middle - other[0].middle)


def _words(row: list[Line]) -> str:
    return " ".join(line.text for line in row).strip()


def _head_keys(row: list[Line], page: int, pages: int) -> set[tuple[str, int]]:
    """Keys of a row by its text and height: unchanged, and with a placeholder for a page number.

    Among other words, a number other than the page's is an amount or a year, which belongs to the
    text, unless a word says that it counts pages. A row with an amount is text, too.
    """

    def counted(digits: re.Match[str]) -> str:
        number = int(digits[0])
        return digits[0] if number > max(_MAX_PAGE_NUMBER, pages) else f"#{number - page}"

    words, height = _words(row), round(row[0].middle / 6)
    if _AMOUNT.search(words):
        return set()
    if _page_number(row, pages):
        return {(_DIGITS.sub(counted, words, count=1), height)}
    texts = {words}
    for match in _COUNTING.finditer(words):
        if match["of_pages"] or int(match[0]) == page + 1:
            number = _DIGITS.sub(counted, match[0])
            texts.add(words[: match.start()] + number + words[match.end() :])
    return {(text, height) for text in texts}


def _page_number(row: list[Line], pages: int) -> int:
    """The page number in a row with nothing else, such as "- 12 -" or "12 / 30"; 0 if none."""
    match = _PAGE_NUMBER.fullmatch(_words(row))
    if match is None or (match[2] and int(match[2]) != pages):
        return 0
    return int(match[1]) if int(match[1]) <= max(_MAX_PAGE_NUMBER, pages) else 0


def _repeats(
    seen: Mapping[tuple[str, int], list[int]], row: list[Line], page: int, pages: int
) -> list[int]:
    """The pages with a row of the margin as their running head; empty if it is text."""
    needed = 2 if 0 < _page_number(row, pages) <= pages else _MIN_REPEATS
    return sorted(
        number
        for key in _head_keys(row, page, pages)
        if sum(abs(number - page) <= _NEAR_PAGES for number in seen[key]) >= needed
        for number in seen[key]
    )
