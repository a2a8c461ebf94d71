"""Cuts a document into sections: one per heading, or one per paragraph of plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from mdvec.text.markdown import Outline

_BLANK_LINES = re.compile(r"(?:\r\n|\r|\n)(?:[^\S\r\n]*(?:\r\n|\r|\n))+")


@dataclass(frozen=True, slots=True)
class Section:
    """A range of the content under one heading.

    ``lineage`` has the numbers of the headings above it and its own, outermost first, so that
    headings with the same words differ.
    """

    start: int
    end: int
    lineage: tuple[int, ...]
    heading: str


def heading_sections(content: str, outline: Outline, levels: tuple[int, ...]) -> list[Section]:
    """Cut the body at headings of ``levels``; text before the first heading is a section too."""
    cuts = [heading for heading in outline.headings if heading.level in levels]
    edges = [outline.body, *(heading.start for heading in cuts), len(content)]
    sections = [Section(edges[0], edges[1], (), "")]
    path: list[tuple[int, int, str]] = []  # level, number, words
    for number, heading in enumerate(cuts):
        while path and path[-1][0] >= heading.level:
            path.pop()
        path.append((heading.level, number, heading.words))
        sections.append(
            Section(
                start=heading.start,
                end=edges[number + 2],
                lineage=tuple(step[1] for step in path),
                heading=" > ".join(step[2] for step in path if step[2]),
            )
        )
    return [section for section in sections if section.end > section.start]


def paragraphs(content: str, body: int) -> list[Section]:
    """Cut text without headings at blank lines."""
    edges = [body, *(found.end() for found in _BLANK_LINES.finditer(content, body)), len(content)]
    return [
        Section(start, end, (), "")
        for start, end in zip(edges[:-1], edges[1:], strict=True)
        if end > start
    ]


def join_short(content: str, sections: list[Section], min_chars: int) -> list[Section]:
    """Join each section under ``min_chars`` to its first child or its next sibling.

    A short section with neither stays alone.
    """
    joined: list[Section] = []
    short: Section | None = None
    for following in sections:
        section = following
        if short is not None and _follows(short, following):
            section = _joined(short, following)
        elif short is not None:
            joined.append(short)
        short = None
        if len(content[section.start : section.end].strip()) < min_chars:
            short = section
        else:
            joined.append(section)
    if short is not None:
        joined.append(short)
    return joined


def _follows(short: Section, section: Section) -> bool:
    """Whether ``section`` is a child or a sibling of ``short``."""
    child = section.lineage[: len(short.lineage)] == short.lineage
    return child or section.lineage[:-1] == short.lineage[:-1]


def _joined(short: Section, section: Section) -> Section:
    """Both sections as one, under the child's or the first sibling's heading."""
    child = len(section.lineage) > len(short.lineage)
    return replace(section if child else short, start=short.start, end=section.end)
