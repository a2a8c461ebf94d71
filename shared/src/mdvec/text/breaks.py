"""Cuts a long passage into windows at visible breaks: blank lines, sentences, lines."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from mdvec.text.markdown import Fence, line_starts
from mdvec.text.tokens import (
    Range,
    Tokenizer,
    fitting_pieces,
    safe_cut,
    splits_a_character,
    token_edges,
)

Mark = tuple[Literal["line", "sentence", "unbreakable"], int, int]
"""For a line or a sentence, its end and the start of the next one; for an unbreakable range such
as a link, its start and end."""

_BRACKETED = r"\[(?:[^\[\]\r\n]|\r?\n(?![ \t]*[\r\n])|\[[^\[\]\r\n]*\]){0,500}\]"
_TARGET = r"\([^()\r\n]*(?:\([^()\r\n]*\)[^()\r\n]*)*\)|\[[^\[\]\r\n]*\]"
_SCANNED = re.compile(
    rf"""
    (?=[\r\n!\[`<{{h「『（(*。｡！？?．.])(?:
    (?P<line>(?:\r\n|\r|\n)(?:[^\S\r\n]*(?:\r\n|\r|\n))*)
    | (?P<unbreakable>
        !?{_BRACKETED}(?:{_TARGET})?            # a link, an image or [[a wikilink]]
        | `+[^`\r\n]*`+
        | <!--(?:[^<]|<(?!!--)){{0,4000}}?-->
        | \{{/\*(?:[^{{]|\{{(?!/\*)){{0,4000}}?\*/\}}
        | <[A-Za-z/][^<>\r\n]*>
        | https?://[^\s<>、。「」（）()]+ )
    | (?P<quoted>
        「(?:[^「」\r\n]|「[^「」\r\n]*」){{0,160}}」
        | 『[^『』\r\n]{{0,160}}』
        | （[^（）\r\n]{{0,160}}）
        | \([^()\r\n]{{0,160}}\)
        | \*\*[^*\r\n]{{1,160}}\*\* )
    | (?P<sentence>[。｡！？!?．.][。｡！？!?．.」』）】)\]"'”’]*))
    """,
    re.VERBOSE,
)
_QUOTED_END = re.compile(r"[。｡！？!?][」』）)*]+$")
_GOES_ON = re.compile(r"[、，,とがはをにでもの]|って|という")
"""Text after a quotation that continues the sentence: 「はい。」と答えた."""
_ABBREVIATION = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]|\d{1,3}|etc|vs|cf|al|ex|Mrs?|Ms|Dr|Prof|St|Fig|No|Vol|pp|eds?"
    r"|approx|Inc|Ltd|Corp|Co|Jr|Sr|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$"
)
_MAX_ABBREVIATION = 8
_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff「『（【々]")
_BLANK = re.compile(r"[^\S\r\n]*")
_STRONG = "。｡！？"
MAX_LINE_READ = 4_000
"""How many characters of a line are read in each direction; bounds the time for long lines."""
_LINE = re.compile(r"[^\r\n]*")
_MARKS = tuple("<:#|=-*+>・●■◆※`~[")
"""The beginnings of lines that are not plain prose: headings, list items, tables, code."""
_NUMBERED = re.compile(r"\d{1,9}[.)][ \t]")
_OPENS = re.compile(r"<[A-Za-z][^<>]*(?<!/)>|:::+[ \t]*\S.*|#{1,6}[ \t].*|#\+(?i:begin_)\S.*")
_CLOSES = re.compile(r"</[A-Za-z][^<>]*>|:::+|#\+(?i:end_)\S+|[|:=-][|:=\- \t]*")
"""A closing tag, the end of a block of Org, a table's delimiter row, a heading's underline."""
_RULE = re.compile(r"\|[|:\- \t]+")
_HEADINGS = re.compile(r"(?:#{1,6}[ \t][^\r\n]*\s+)+")
_CLOSED = tuple("。｡！？!?．.…:：」』）)】]>|`*~_")
_DELIMITER_ROW = re.compile(r"(?<![^\r\n])[ \t>]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+(?![^\r\n])")
_PAUSE = re.compile(r"[、，,;；)）」\]|][ \t]*|[ \t\u3000]+|[\r\n]+")
_WORD_STARTS = (
    re.compile(r"(?<=[\s、，；）」』])\w"),
    re.compile("(?<=[ぁ-ゖ])[一-鿿ァ-ヺA-Za-z0-9]"),
    re.compile("(?<=[ぁ-ゖ一-鿿])[ぁ-ゖ一-鿿]"),
)
"""Where words begin: behind a pause, else behind hiragana, else at any kanji or hiragana."""
_MIN_SIZE = 8


def marks(text: str, start: int, end: int) -> Iterator[Mark]:
    """The line ends, sentence ends within lines and unbreakable ranges, in order."""
    for match in _SCANNED.finditer(text, start, end):
        first, last = match.span()
        kind = match.lastgroup
        if kind == "sentence" and _opens_a_quotation(text, first, last):
            last -= 1
        if kind == "line":
            yield "line", first, last
        elif kind == "unbreakable":
            yield "unbreakable", first, last
        elif _is_sentence(text, first, last, end, is_quoted=kind == "quoted"):
            blank = _BLANK.match(text, last, end)
            yield "sentence", last, blank.end() if blank else last


def _is_sentence(text: str, first: int, last: int, end: int, *, is_quoted: bool) -> bool:
    """Whether ``text[first:last]`` ends a sentence and another follows on the same line."""
    if last >= end or text[last] in "\r\n":
        return False
    if is_quoted:
        return bool(_QUOTED_END.search(text, first, last)) and not _GOES_ON.match(text, last)
    if text[first] in _STRONG:
        closed = text[last - 1] not in _STRONG
        return not (closed and _GOES_ON.match(text, last)) and not text.startswith("と", last)
    if text[first] in "!?":
        return _ends_in_ascii(text, first, last)
    if text[first] == "．":
        return not (text[last].isalnum() and text[last].isascii()) and not text[last].isdigit()
    return _is_full_stop(text, first, last)


def _opens_a_quotation(text: str, first: int, last: int) -> bool:
    """Whether a straight mark after a full stop opens a quotation: 。"Dark mode" を選ぶ."""
    if last >= len(text) or text[last].isspace() or text[last - 1] != '"':
        return False
    line = max(text.rfind("\n", 0, first) + 1, first - MAX_LINE_READ)
    return text.count('"', line, last - 1) % 2 == 0


def _ends_in_ascii(text: str, first: int, last: int) -> bool:
    """Whether ``!`` or ``?`` ends a sentence: not in Yahoo!ニュース, ``a != b`` or ``?q=1``."""
    if text[last].isspace():
        return True
    return bool(_JAPANESE.match(text, last)) and bool(_JAPANESE.match(text, first - 1))


def _is_full_stop(text: str, first: int, last: int) -> bool:
    """Whether ``.`` ends a sentence: not after an abbreviation, nor before a lower-case letter."""
    if not text[last].isspace():
        return False
    if _ABBREVIATION.search(text, max(first - _MAX_ABBREVIATION, 0), first):
        return False
    following = text[last : last + 3].lstrip()[:1]
    return not (following.islower() and following.isascii())


@dataclass(frozen=True, slots=True)
class Breaks:
    """Positions where a passage may end and the next one begin, in ascending order.

    Attributes:
        blocks: the positions after blank lines.
        sentences: the start of a sentence, a list item, a table row, or a line after the end of a
            sentence.
        code: the start of a line of code in a fence that is too large to keep whole. Passages may
            end there, as at sentences, but an overlap never begins there.
        lines: the start of a line that continues a sentence, follows a heading or an opening
            tag, or closes an element.
        unbreakable: ranges such as links and table rows, which are only cut as a last resort.
    """

    blocks: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    code: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    unbreakable: list[tuple[int, int]] = field(default_factory=list)

    def end(self, low: int, middle: int, high: int) -> int | None:
        """Where to end a passage in ``(low, high]``, if possible after ``middle``; else None.

        Prefers a block, then a sentence or a line of code, then another line.
        """
        preferred = ((self.blocks,), (self.sentences, self.code))
        for lists in preferred:
            if (position := _last(lists, middle, high)) is not None:
                return position
        clean = [_last(lists, low, high) or low for lists in preferred]
        return max(clean) if max(clean) > low else _last((self.lines,), low, high)

    def start(self, low: int, high: int) -> int:
        """The first block or sentence that begins in ``[low, high)``; ``high`` if none does."""
        return min(_first_between(places, low, high) for places in (self.blocks, self.sentences))

    def unbreakable_around(self, position: int) -> tuple[int, int] | None:
        """The unbreakable range that a cut at ``position`` would split, if any."""
        at = bisect_left(self.unbreakable, (position, 0)) - 1
        if at >= 0 and position < self.unbreakable[at][1]:
            return self.unbreakable[at]
        return None


def breaks_between(
    content: str,
    start: int,
    end: int,
    fences: Sequence[Fence],
    is_too_large: Callable[[Fence], bool],
) -> Breaks:
    """The breaks in ``content[start:end]``, given the fences of the whole document.

    A fence is kept whole unless ``is_too_large`` says otherwise.
    """
    breaks = Breaks()
    at = start
    for fence in fences:
        if fence.end <= at or fence.start >= end:
            continue
        _add_prose(breaks, content, at, max(fence.start, at))
        if is_too_large(fence):
            starts = line_starts(content, fence.start, fence.close)
            breaks.code.extend(
                starts[bisect_right(starts, at) + 1 : bisect_left(starts, fence.close)]
            )
        at = min(fence.end, end)
    _add_prose(breaks, content, at, end)
    return breaks


def _add_prose(breaks: Breaks, content: str, start: int, end: int) -> None:
    delimiter = _DELIMITER_ROW.search(content, start, end)
    if delimiter is None:
        _add_lines(breaks, content, start, end)
        return
    # The rows of this kind of table do not begin with "|", so its delimiter row identifies it.
    starts = line_starts(content, start, delimiter.end())
    first = last = starts[: bisect_left(starts, end)][-2:][0]
    _add_lines(breaks, content, start, first)
    while last < end and "|" in (row := _line_at(content, last)):
        breaks.unbreakable.append((last, last + len(row)))
        last = min(line_starts(content, last, last + len(row) + 2)[1:2] or [end])
        if delimiter.end() < last < end:
            breaks.sentences.append(last)
    _add_prose(breaks, content, max(last, delimiter.end()), end)


def _add_lines(breaks: Breaks, content: str, start: int, end: int) -> None:
    line_start = start
    row_end = _add_row(breaks, start, _line_at(content, start))
    for kind, first, last in marks(content, start, end):
        if first < row_end:
            continue
        if kind == "unbreakable":
            breaks.unbreakable.append((first, last))
        elif kind == "sentence":
            in_heading = content.startswith("#", line_start)
            if not in_heading and not splits_a_character(content, last):
                breaks.sentences.append(last)
        elif last < end or end < len(content):
            before = content[max(line_start, first - MAX_LINE_READ) : first]
            after = _line_at(content, last)
            is_blank = last - first > 2 or content[first:last] in ("\n\n", "\r\r")
            _places(breaks, before, after, is_blank=is_blank).append(last)
            line_start = last
            row_end = _add_row(breaks, last, after)


def _add_row(breaks: Breaks, start: int, line: str) -> int:
    """Mark the line as unbreakable if it is a table row, and return its end; else ``start``."""
    if not line.lstrip(" \t>").startswith("|"):
        return start
    breaks.unbreakable.append((start, start + len(line)))
    return start + len(line)


def _places(breaks: Breaks, before: str, after: str, *, is_blank: bool) -> list[int]:
    """The list that a break between these two lines belongs to."""
    left, right = (line.lstrip(" \t>").rstrip(" \t") for line in (before, after))
    if left[:1] in _MARKS and (_OPENS.fullmatch(left) or _RULE.fullmatch(left)):
        return breaks.lines
    if right[:1] in _MARKS and _CLOSES.fullmatch(right):
        return breaks.lines
    if is_blank:
        return breaks.sentences if left.rstrip("*").endswith((":", "：")) else breaks.blocks
    is_item = right[:1] in _MARKS or left.endswith(_CLOSED) or before.endswith(("  ", "\\"))
    return breaks.sentences if is_item or _NUMBERED.match(right) else breaks.lines


def _line_at(content: str, start: int) -> str:
    match = _LINE.match(content, start, start + MAX_LINE_READ)
    return match[0] if match else ""


def _last(lists: Iterable[list[int]], low: int, high: int) -> int | None:
    nearest = [places[at] for places in lists if (at := bisect_right(places, high) - 1) >= 0]
    return max((position for position in nearest if position > low), default=None)


def _first_between(places: list[int], low: int, high: int) -> int:
    at = bisect_left(places, low)
    return min(places[at], high) if at < len(places) else high


def passage_windows(
    content: str,
    within: Range,
    fences: Sequence[Fence],
    size: int,
    overlap: int,
    tokenizer: Tokenizer,
) -> list[Range]:
    """The whole range if it fits in ``size`` tokens, otherwise windows of at most ``size``.

    If possible, a window ends in its second half, after a blank line or else a sentence; otherwise
    it ends earlier. The next window begins there, or at a sentence up to ``overlap`` tokens before;
    after a cut within a line of prose, at a word up to ``overlap`` tokens before.
    A window that exceeds the model's limit when tokenized by itself is cut again.
    """
    if within[0] >= within[1]:
        return []
    edges = token_edges(content, *within, tokenizer)
    windows = [within]
    if len(edges) - 1 > size:
        windows = _Tokens(content, within, fences, edges, size, overlap).windows()
    return [
        piece
        for window in windows
        for piece in _windows_with_fences(content, window, fences, size, tokenizer)
    ]


def _windows_with_fences(
    content: str, window: Range, fences: Sequence[Fence], size: int, tokenizer: Tokenizer
) -> list[Range]:
    if not tokenizer.oversized(content[slice(*window)]):
        return [window]
    if size < _MIN_SIZE:
        return fitting_pieces(content, *window, tokenizer)
    return passage_windows(content, window, fences, size // 2, 0, tokenizer)


@dataclass(frozen=True)
class _Tokens:
    """A range of text; ``edges`` are the starts of its tokens, then its end."""

    content: str
    within: Range
    fences: Sequence[Fence]
    edges: list[int]
    size: int
    overlap: int

    @cached_property
    def breaks(self) -> Breaks:
        return breaks_between(self.content, *self.within, self.fences, self._is_too_large)

    def windows(self) -> list[Range]:
        begin = reached = self.within[0]
        was_forced = False
        windows: list[Range] = []
        while (high := self._end_of_tokens(begin, self.size)) < self.within[1]:
            middle = max(self._end_of_tokens(begin, self.size // 2), reached)
            cut = self.breaks.end(max(begin, reached), middle, high)
            if cut is None and begin < reached and not was_forced:
                begin = reached  # there is no room for an overlap
                continue
            was_forced = cut is None
            reached = self._forced_break(max(begin, reached), middle, high) if cut is None else cut
            windows.append((begin, reached))
            begin = self._next_start(begin, reached, was_forced=was_forced)
        return [*windows, (begin, self.within[1])]

    def _is_too_large(self, fence: Fence) -> bool:
        start, end = fence.start, fence.end
        if _HEADINGS.fullmatch(self.content, self.within[0], fence.start):
            # A heading stays with its code: both must fit, and the blank line after them.
            start, end = self.within[0], min(fence.end + 2, self.within[1])
        first, last = bisect_right(self.edges, start) - 1, bisect_left(self.edges, end)
        return last - max(first, 0) > self.size

    def _end_of_tokens(self, position: int, count: int) -> int:
        """The end of the ``count`` tokens that follow ``position``."""
        first = bisect_right(self.edges, position) - 1
        return self.edges[min(first + count, len(self.edges) - 1)]

    def _next_start(self, begin: int, cut: int, *, was_forced: bool) -> int:
        # If the cut splits a token, that token counts towards the overlap too.
        last = bisect_left(self.edges, cut)
        low = max(self.edges[max(last - self.overlap + 1, 0)], begin + 1)
        start = self.breaks.start(low, cut)
        if start < cut or not was_forced or self._is_code(cut):
            return start
        words = (
            match.start()
            for start in _WORD_STARTS
            for match in start.finditer(self.content, low, cut)
            if not splits_a_character(self.content, match.start())
            and self.breaks.unbreakable_around(match.start()) is None
        )
        return next(words, cut)

    def _is_code(self, position: int) -> bool:
        at = bisect_left(self.fences, position, key=lambda fence: fence.start) - 1
        return at >= 0 and position < self.fences[at].end

    def _forced_break(self, begin: int, middle: int, high: int) -> int:
        """Where to cut a sentence, line of code or table row that does not fit in a window."""
        pause = max(
            (
                match.end()
                for match in _PAUSE.finditer(self.content, middle, high)
                if self.breaks.unbreakable_around(match.end()) is None
            ),
            default=None,
        )
        unbreakable = self.breaks.unbreakable_around(high)
        if pause is None and unbreakable is not None and unbreakable[0] > begin:
            pause = unbreakable[0]
        cut = safe_cut(self.content, high if pause is None else pause, begin)
        return cut if cut > begin else high
