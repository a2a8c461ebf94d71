"""Passages: a chunk, its section or its document, cut to fit the answer's budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mdvec.text import Outline

_MIN_PASSAGE = 1_000


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A range of a document's characters."""

    start: int
    end: int


def section_at(content: str, outline: Outline, levels: Sequence[int], position: int) -> TextSpan:
    """The section around a position: its heading and everything under it.

    It ends at the next heading in ``levels`` of the same or a higher rank. Under the document's
    title (level 1) and before the first heading, it ends at the next heading of any rank;
    otherwise it would be the whole document.
    """
    cuts = [heading for heading in outline.headings if heading.level in levels]
    above = [heading for heading in cuts if heading.start <= position]
    after = [heading for heading in cuts if heading.start > position]
    start = above[-1].start if above else outline.body
    level = above[-1].level if above else 1
    ends = [heading.start for heading in after if level == 1 or heading.level <= level]
    return TextSpan(start, ends[0] if ends else len(content))


def within_budget(spans: Sequence[TextSpan], budget: int) -> list[TextSpan]:
    """The first spans that fit ``budget`` characters, with long ones cut to the same length.

    Spans are kept while their lengths, each counted as at most 1,000, fit the budget; the first
    is always kept.
    """
    kept: list[TextSpan] = []
    needed = 0
    for span in spans:
        needed += min(span.end - span.start, _MIN_PASSAGE)
        if kept and needed > budget:
            break
        kept.append(span)
    share = _share([span.end - span.start for span in kept], budget)
    return [TextSpan(span.start, min(span.end, span.start + share)) for span in kept]


def _share(lengths: Sequence[int], budget: int) -> int:
    """The length to cut at so that the total is within the budget."""
    room, share = budget, budget
    for place, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - place)
        if length > share:
            return max(share, 1)
        room -= length
    return max(lengths, default=budget)


def good_cut(content: str, start: int, end: int) -> int:
    """Where to cut a passage: after the last line end in its second half, else at ``end``.

    A CRLF is never split.
    """
    line_end = content.rfind("\n", start + (end - start) // 2, end)
    if line_end >= 0:
        return line_end + 1
    return end - 1 if content[end - 1 : end + 1] == "\r\n" and end - start > 1 else end
