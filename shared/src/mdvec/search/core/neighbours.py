"""Joins neighbouring windows of one section into one hit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from mdvec.search.core.passages import TextSpan


@dataclass(frozen=True, slots=True)
class Window:
    """A chunk's place in its document, and whether it begins its section.

    ``heading`` is the path of headings above it; windows without one join only if they overlap.
    """

    document: Hashable
    heading: str
    number: int
    span: TextSpan
    begins_section: bool


@dataclass(frozen=True, slots=True)
class WindowRun:
    """Neighbouring windows, numbered ``first`` to ``last``; ``best`` is the best one's rank."""

    best: int
    window: Window
    first: int
    last: int
    first_begins_section: bool

    @property
    def span(self) -> TextSpan:
        """The text of all its windows."""
        return self.window.span


def joined_windows(windows: Sequence[Window], k: int) -> list[WindowRun]:
    """The first ``k`` runs of ranked windows, each at the rank of its best window.

    A window that adjoins or overlaps a higher-ranked one is not a hit of its own: it extends that
    hit if it is itself among the first ``k``, and is left out otherwise.
    """
    runs: list[WindowRun] = []
    for place, window in enumerate(windows):
        touching = [run for run in runs if _touch(run, window)]
        if touching and place < k:
            widened = touching[0]
            for other in (_alone(place, window), *touching[1:]):
                widened = _widened(widened, other)
            runs = [
                widened if run is touching[0] else run for run in runs if run not in touching[1:]
            ]
        elif not touching and len(runs) < k:
            runs.append(_alone(place, window))
        if place >= k and len(runs) == k:
            break
    return runs


def _alone(place: int, window: Window) -> WindowRun:
    return WindowRun(place, window, window.number, window.number, window.begins_section)


def _touch(run: WindowRun, window: Window) -> bool:
    if run.window.document != window.document:
        return False
    if run.span.start < window.span.end and window.span.start < run.span.end:
        return True
    if not window.heading or run.window.heading != window.heading:
        return False
    if window.number == run.last + 1:
        return not window.begins_section
    return window.number == run.first - 1 and not run.first_begins_section


def _widened(run: WindowRun, other: WindowRun) -> WindowRun:
    span = TextSpan(min(run.span.start, other.span.start), max(run.span.end, other.span.end))
    first = min(run, other, key=lambda one: one.first)
    return WindowRun(
        run.best,
        replace(run.window, span=span),
        first.first,
        max(run.last, other.last),
        first.first_begins_section,
    )
