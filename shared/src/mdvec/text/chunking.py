"""Cuts a document into sections and chunks with exact positions, each under its heading."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mdvec.text.breaks import passage_windows
from mdvec.text.machine_text import machine_text, without
from mdvec.text.markdown import Fence, Outline, line_starts
from mdvec.text.options import ChunkingOptions
from mdvec.text.tokens import Tokenizer, is_blank
from mdvec.text.windows import fitting_pieces, token_windows

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


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``content[start:end] == text``.

    Lines count from 1. ``heading`` is the path of headings above the chunk, joined by " > "; if
    the chunk begins inside a code fence, the path ends with the code's language.
    """

    index: int
    start: int
    end: int
    start_line: int
    end_line: int
    heading: str
    text: str


def chunk_document(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[Chunk]:
    """Cut a document into chunks, in order.

    Every non-blank character of the body is in at least one chunk, except that the strategy
    ``heading`` leaves out machine text. No chunk is blank or exceeds the model's input limit.
    """
    cut = _by_heading if options.strategy == "heading" else _by_token
    pieces = cut(content, outline, options, tokenizer)
    lines = line_starts(content)
    chunks: list[Chunk] = []
    for start, end, heading in pieces:
        text = content[start:end]
        if is_blank(text):
            continue
        chunks.append(
            Chunk(
                index=len(chunks),
                start=start,
                end=end,
                start_line=bisect_right(lines, start),
                end_line=bisect_right(lines, end - 1),
                heading=heading,
                text=text,
            )
        )
    return chunks


_Piece = tuple[int, int, str]


def _by_heading(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[_Piece]:
    if outline.is_markdown:
        sections = heading_sections(content, outline, options.heading_levels)
    else:
        sections = paragraphs(content, outline.body)
    sections = join_short(content, sections, options.min_chars)
    size, overlap, fences = options.size, options.overlap, outline.fences
    machine = machine_text(content, line_starts(content), outline.body)
    return [
        (first, last, _with_language(section.heading, fences, first))
        for section in sections
        for start, end in without(machine, section.start, section.end)
        for first, last in passage_windows(
            content, _trimmed(content, start, end), fences, size, overlap, tokenizer
        )
    ]


def _with_language(heading: str, fences: Sequence[Fence], start: int) -> str:
    """The path of headings, with the language of the code that the chunk begins in, if any."""
    at = bisect_left(fences, start, key=lambda fence: fence.start) - 1
    if at < 0 or start >= fences[at].end or not fences[at].language:
        return heading
    return f"{heading} > {fences[at].language}" if heading else fences[at].language


def _by_token(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[_Piece]:
    sections = heading_sections(content, outline, options.heading_levels)
    starts = [section.start for section in sections]
    pieces: list[_Piece] = []
    for start, end in token_windows(content, outline.body, len(content), options, tokenizer):
        under = sections[max(bisect_right(starts, start) - 1, 0)] if sections else None
        pieces.append((start, end, under.heading if under else ""))
    return _fitting(content, pieces, tokenizer)


def _fitting(content: str, pieces: list[_Piece], tokenizer: Tokenizer) -> list[_Piece]:
    return [
        (start, end, heading)
        for first, last, heading in pieces
        for start, end in fitting_pieces(content, first, last, tokenizer)
    ]


def _trimmed(content: str, start: int, end: int) -> tuple[int, int]:
    text = content[start:end]
    first = start + len(text) - len(text.lstrip())
    return min(first, end), start + len(text.rstrip())
