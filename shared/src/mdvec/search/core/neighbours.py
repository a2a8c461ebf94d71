"""Passages of hits: joins neighbours, and cuts long passages to fit a budget."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from mdvec.text import Outline

_MIN_PASSAGE = 1_000
_MAX_GAP = 100
"""The most blank characters between neighbours; a longer gap is machine text."""


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
    fitting: list[TextSpan] = []
    needed = 0
    for span in spans:
        needed += min(span.end - span.start, _MIN_PASSAGE)
        if fitting and needed > budget:
            break
        fitting.append(span)
    share = _share([span.end - span.start for span in fitting], budget)
    return [TextSpan(span.start, min(span.end, span.start + share)) for span in fitting]


def _share(lengths: Sequence[int], budget: int) -> int:
    """The length to cut at so that the total is within the budget."""
    room, share = budget, budget
    for position, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - position)
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


@dataclass(frozen=True, slots=True)
class Window:
    """A chunk's range in its document, and whether the chunk begins its section.

    ``heading`` is the path of headings above it. Windows without a heading are joined if they
    overlap, other windows also if only blanks separate them.
    """

    document: Hashable
    heading: str
    number: int
    span: TextSpan
    begins_section: bool


@dataclass(frozen=True, slots=True)
class WindowRun:
    """Neighbouring windows, numbered ``first`` to ``last``, and their ranks, the best first."""

    ranks: tuple[int, ...]
    window: Window
    first: int
    last: int
    first_begins_section: bool

    @property
    def best(self) -> int:
        """The rank of its best window."""
        return self.ranks[0]

    @property
    def span(self) -> TextSpan:
        """The text of all its windows."""
        return self.window.span


def joined_windows(windows: Iterable[Window], k: int) -> list[WindowRun]:
    """The first ``k`` runs of ranked windows, each at the rank of its best window.

    A window that adjoins or overlaps a higher-ranked one is not a separate hit: it extends that hit
    if it is itself among the first ``k``, and is left out otherwise.
    """
    runs: list[WindowRun] = []
    for rank, window in enumerate(windows):
        touching = [run for run in runs if _touch(run, window)]
        if touching and rank < k:
            widened = touching[0]
            for other in (_single_run(rank, window), *touching[1:]):
                widened = _widen(widened, other)
            runs = [
                widened if run is touching[0] else run for run in runs if run not in touching[1:]
            ]
        elif not touching and len(runs) < k:
            runs.append(_single_run(rank, window))
        if rank >= k and len(runs) == k:
            break
    return runs


def _single_run(rank: int, window: Window) -> WindowRun:
    return WindowRun((rank,), window, window.number, window.number, window.begins_section)


def _touch(run: WindowRun, window: Window) -> bool:
    if run.window.document != window.document:
        return False
    if run.span.start < window.span.end and window.span.start < run.span.end:
        return True
    if not window.heading or run.window.heading != window.heading:
        return False
    gap = max(window.span.start - run.span.end, run.span.start - window.span.end)
    if gap > _MAX_GAP:
        return False
    if window.number == run.last + 1:
        return not window.begins_section
    return window.number == run.first - 1 and not run.first_begins_section


def _widen(run: WindowRun, other: WindowRun) -> WindowRun:
    span = TextSpan(min(run.span.start, other.span.start), max(run.span.end, other.span.end))
    first = min(run, other, key=lambda candidate: candidate.first)
    return WindowRun(
        (*run.ranks, *other.ranks),
        replace(run.window, span=span),
        first.first,
        max(run.last, other.last),
        first.first_begins_section,
    )
