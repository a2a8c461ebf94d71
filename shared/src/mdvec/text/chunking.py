"""Cuts a document into sections and chunks with exact positions, each under its heading."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mdvec.text.breaks import passage_windows
from mdvec.text.markdown import PAGE_BREAK, Fence, Heading, Outline, line_starts, page_starts
from mdvec.text.tables import tables_of, with_head
from mdvec.text.tokens import (
    ChunkingOptions,
    Range,
    Tokenizer,
    fitting_pieces,
    is_blank,
    token_windows,
)

_MIN_BLOB = 256
_MIN_MINIFIED = 1_000
_DATA_URI = re.compile(
    r"(?:!\[\]\(|\[[^\[\]\r\n]{1,80}\]:[ \t]*)?<?data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*,"
    r"[^\s\"'<>)]{128,}[>)]{0,2}"
)
_LONG_TARGET = re.compile(r"(?<=\])\(<?[^\s()<>]{200,}>?(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)")
"""A link's target that is too long for people to read."""
_BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{256,}")
_BASE64_LINES = re.compile(
    r"(?<![^\r\n])(?:[A-Za-z0-9+/]{60,76}\r?\n){3,}[A-Za-z0-9+/=]{1,76}(?![^\r\n])"
)
_LOCK_FILES = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
        "deno.lock", "poetry.lock", "pdm.lock", "uv.lock", "pipfile.lock", "cargo.lock",
        "gemfile.lock", "composer.lock", "flake.lock", "mix.lock", "pubspec.lock", "podfile.lock",
        "packages.lock.json", "go.sum",
    }
)  # fmt: skip
_MINIFIED_NAME = re.compile(r"\.min\.(?:js|mjs|css)$|\.(?:js|mjs|css)\.map$")
_BLANK_LINES = re.compile(r"(?:\r\n|\r|\n)(?:[^\S\r\n]*(?:\r\n|\r|\n))+")
_Piece = tuple[int, int, str]


def is_machine_file(file_name: str) -> bool:
    """Whether a file's name is that of a lock file, minified code or a source map."""
    name = file_name.lower()
    return name in _LOCK_FILES or _MINIFIED_NAME.search(name) is not None


def machine_text(content: str, lines: Sequence[int], body: int) -> list[Range]:
    """The ranges of machine text after ``body``, in order and disjoint.

    ``lines`` are the starts of the lines.
    """
    ranges = [uri.span() for uri in _DATA_URI.finditer(content, body)] if "data:" in content else []
    if "](" in content:
        ranges += (target.span() for target in _LONG_TARGET.finditer(content, body))
    for start, after in pairwise([*lines, len(content)]):
        if after - start >= _MIN_BLOB and start >= body:
            ranges += _in_line(content, start, after)
    if _has_equal_lines(lines):
        ranges += (base64.span() for base64 in _BASE64_LINES.finditer(content, body))
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if not merged or end > merged[-1][1]:
            merged.append((max(start, merged[-1][1]) if merged else start, end))
    return merged


def _has_equal_lines(lines: Sequence[int]) -> bool:
    """Whether three consecutive lines have equal lengths typical of base64."""
    starts = zip(lines, lines[1:], lines[2:], lines[3:], strict=False)
    return any(60 < b - a < 79 and b - a == c - b == d - c for a, b, c, d in starts)


def without(machine: Sequence[Range], start: int, end: int) -> Iterator[Range]:
    """The parts of ``start`` to ``end`` that are not machine text."""
    for first, last in machine:
        if start < last and first < end:
            if start < first:
                yield start, first
            start = last
    if start < end:
        yield start, end


def _in_line(content: str, start: int, end: int) -> list[Range]:
    if end - start >= _MIN_MINIFIED and _is_minified(content[start:end]):
        return [(start, end)]
    blobs = _BLOB.finditer(content, start, end)
    return [blob.span() for blob in blobs if _is_random(blob[0])]


def _is_random(run: str) -> bool:
    """Whether a long run of letters and digits is encoded data, not words, a path or dashes."""
    digits = sum(map(str.isdigit, run))
    letters = sum(map(str.isalpha, run))
    return digits * 40 >= len(run) and letters * 8 >= len(run) and len(set(run)) >= 12


def _is_minified(line: str) -> bool:
    """Whether a long line is minified code or numbers, not prose, links or a table row."""
    if sum(map(str.isascii, line)) < len(line) * 0.95 or line.count(" ") * 12 > len(line):
        return False
    code = sum(map(line.count, "{};=<>$&\"'"))
    digits = sum(map(line.count, "0123456789"))
    return code * 12 >= len(line) or digits * 3 >= len(line)


@dataclass(frozen=True, slots=True)
class Section:
    """A range of the content under one heading.

    ``lineage`` has the numbers of the headings above it and its own, outermost first, which
    distinguish headings with the same words.
    """

    start: int
    end: int
    lineage: tuple[int, ...]
    heading: str


def heading_sections(content: str, outline: Outline, levels: tuple[int, ...]) -> list[Section]:
    """Cut the body at headings of ``levels``; text before the first heading is a section too.

    A page of a converted document begins a section under the same heading.
    """
    edges: list[tuple[int, Heading | None]] = [
        (heading.start, heading) for heading in outline.headings if heading.level in levels
    ]
    edges += [(start, None) for start in page_starts(content)[1:] if start > outline.body]
    edges.sort(key=lambda edge: edge[0])
    ends = [*(start for start, _ in edges), len(content)]
    sections = [Section(outline.body, ends[0], (), "")]
    path: list[tuple[int, int, str]] = []  # level, number, words
    for number, (start, heading) in enumerate(edges):
        if heading is not None:
            while path and path[-1][0] >= heading.level:
                path.pop()
            path.append((heading.level, number, heading.words))
        elif is_blank(content[start : ends[number + 1]]):
            continue  # a heading at the top of its page begins the section
        sections.append(
            Section(
                start=start,
                end=ends[number + 1],
                lineage=tuple(step[1] for step in path),
                heading=" > ".join(step[2] for step in path if step[2]),
            )
        )
    return [section for section in sections if section.end > section.start]


def paragraphs(content: str, body: int) -> list[Section]:
    """Cut text without headings at blank lines."""
    edges = [body, *(match.end() for match in _BLANK_LINES.finditer(content, body)), len(content)]
    return [Section(start, end, (), "") for start, end in pairwise(edges) if end > start]


def join_short(content: str, sections: list[Section], min_chars: int) -> list[Section]:
    """Join each section under ``min_chars`` to its first child or its next sibling.

    A short section that has neither stays alone, and so does a section at the end of a page.
    """
    joined: list[Section] = []
    for section in sections:
        before = joined[-1] if joined else None
        if (
            before is not None
            and len(content[before.start : before.end].strip()) < min_chars
            and PAGE_BREAK not in content[before.start : section.start]
            and _follows(before, section)
        ):
            joined[-1] = _join_sections(before, section)
        else:
            joined.append(section)
    return joined


def _follows(short: Section, section: Section) -> bool:
    """Whether ``section`` is a child or a sibling of ``short``."""
    child = section.lineage[: len(short.lineage)] == short.lineage
    return child or section.lineage[:-1] == short.lineage[:-1]


def _join_sections(short: Section, section: Section) -> Section:
    """Both sections as one, under the child's or the first sibling's heading."""
    child = len(section.lineage) > len(short.lineage)
    return replace(section if child else short, start=short.start, end=section.end)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``content[start:end] == text``.

    Lines count from 1. ``heading`` is the path of headings above the chunk, joined by " > "; if
    the chunk begins inside a code fence, the path ends with the code's language; if it begins among
    the rows of a table, with the table's head (| 品名 | 単価 |).
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
    lines, tables = line_starts(content), tables_of(content, outline)
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
                heading=with_head(heading, tables, start),
                text=text,
            )
        )
    return chunks


def _by_heading(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[_Piece]:
    if outline.is_markdown or outline.headings:
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
            content, _trim(content, start, end), fences, size, overlap, tokenizer
        )
    ]


def _with_language(heading: str, fences: Sequence[Fence], start: int) -> str:
    """The path of headings, with the language of the code that the chunk begins in, if any."""
    fence = fence_around(fences, start)
    if fence is None or not fence.language:
        return heading
    return f"{heading} > {fence.language}" if heading else fence.language


def fence_around(fences: Sequence[Fence], position: int) -> Fence | None:
    """The block of code that a position is in, behind the start of its opening line."""
    at = bisect_left(fences, position, key=lambda fence: fence.start) - 1
    return fences[at] if at >= 0 and position < fences[at].end else None


def _by_token(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[_Piece]:
    sections = heading_sections(content, outline, options.heading_levels)
    starts = [section.start for section in sections]
    pieces: list[_Piece] = []
    for start, end in token_windows(content, outline.body, len(content), options, tokenizer):
        under = sections[max(bisect_right(starts, start) - 1, 0)] if sections else None
        pieces.append((start, end, under.heading if under else ""))
    return [
        (start, end, heading)
        for first, last, heading in pieces
        for start, end in fitting_pieces(content, first, last, tokenizer)
    ]


def _trim(content: str, start: int, end: int) -> tuple[int, int]:
    text = content[start:end]
    first = start + len(text) - len(text.lstrip())
    return min(first, end), start + len(text.rstrip())
