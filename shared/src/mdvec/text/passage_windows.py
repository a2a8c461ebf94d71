"""Token windows cut at natural breaks: blank lines, sentences, list items, table rows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mdvec.text.breaks import Breaks, breaks_between
from mdvec.text.characters import safe_cut
from mdvec.text.markdown import Fence
from mdvec.text.tokens import Tokenizer
from mdvec.text.windows import Range, fitting_pieces, token_edges

_PAUSE = re.compile(r"[、，,;；)）」\]|][ \t]*|[ \t\u3000]+|[\r\n]+")
_MIN_SIZE = 8


def passage_windows(
    content: str,
    within: Range,
    fences: Sequence[Fence],
    size: int,
    overlap: int,
    tokenizer: Tokenizer,
) -> list[Range]:
    """The whole range if it fits in ``size`` tokens, otherwise windows of at most ``size``.

    A window ends in its second half if possible, after a blank line or else a sentence; otherwise
    earlier. The next window begins there, or at a sentence up to ``overlap`` tokens before. A
    window that exceeds the model's limit when tokenized by itself is cut again.
    """
    if within[0] >= within[1]:
        return []
    edges = token_edges(content, *within, tokenizer)
    windows = [within]
    if len(edges) - 1 > size:
        windows = _Tokens(content, within, fences, edges, size, overlap).windows()
    return [
        piece for window in windows for piece in _taken(content, window, fences, size, tokenizer)
    ]


def _taken(
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
        begin, reached = self.within[0], self.within[0]
        windows: list[Range] = []
        while (high := self._after(begin, self.size)) < self.within[1]:
            middle = max(self._after(begin, self.size // 2), reached)
            cut = self.breaks.end(max(begin, reached), middle, high)
            if cut is None and begin < reached:
                begin = reached  # what follows leaves no room for the overlap
                continue
            reached = self._forced(begin, middle, high) if cut is None else cut
            windows.append((begin, reached))
            begin = self._next_start(begin, reached)
        return [*windows, (begin, self.within[1])]

    def _is_too_large(self, fence: Fence) -> bool:
        first, last = (
            bisect_right(self.edges, fence.start) - 1,
            bisect_left(self.edges, fence.end),
        )
        return last - max(first, 0) > self.size

    def _after(self, position: int, count: int) -> int:
        """The end of the ``count`` tokens that follow ``position``."""
        first = bisect_right(self.edges, position) - 1
        return self.edges[min(first + count, len(self.edges) - 1)]

    def _next_start(self, begin: int, cut: int) -> int:
        # If the cut splits a token, that token counts towards the overlap too.
        last = bisect_left(self.edges, cut)
        low = self.edges[max(last - self.overlap + 1, 0)]
        return self.breaks.start(max(low, begin + 1), cut)

    def _forced(self, begin: int, middle: int, high: int) -> int:
        """Where to cut a sentence, line of code or table row that does not fit in a window."""
        pause = max(
            (
                found.end()
                for found in _PAUSE.finditer(self.content, middle, high)
                if self.breaks.unbreakable_around(found.end()) is None
            ),
            default=None,
        )
        unbreakable = self.breaks.unbreakable_around(high)
        if pause is None and unbreakable is not None and unbreakable[0] > begin:
            pause = unbreakable[0]
        cut = safe_cut(self.content, high if pause is None else pause, begin)
        return cut if cut > begin else high
