"""Cuts a document into chunks with exact positions, each under its heading."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from mdvec.text.markdown import Outline, line_starts
from mdvec.text.options import ChunkingOptions
from mdvec.text.sections import Section, heading_sections, join_short, paragraphs
from mdvec.text.tokens import Tokenizer, is_blank
from mdvec.text.windows import fitting_pieces, sentence_windows, token_windows


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``content[start:end] == text``.

    Lines count from 1; ``heading`` is the path of headings above the chunk, joined by " > ".
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

    Every character of the body other than white space is in at least one chunk. No chunk is
    blank, and none is larger than the model takes at once.
    """
    cut = _by_heading if options.strategy == "heading" else _by_token
    pieces = [
        (start, end, heading)
        for first, last, heading in cut(content, outline, options, tokenizer)
        for start, end in fitting_pieces(content, first, last, tokenizer)
    ]
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
    pieces: list[_Piece] = []
    for section in join_short(content, sections, options.min_chars):
        start, end = _trimmed(content, section)
        pieces += [
            (first, last, section.heading)
            for first, last in sentence_windows(content, start, end, options, tokenizer)
        ]
    return pieces


def _by_token(
    content: str, outline: Outline, options: ChunkingOptions, tokenizer: Tokenizer
) -> list[_Piece]:
    sections = heading_sections(content, outline, options.heading_levels)
    starts = [section.start for section in sections]
    pieces: list[_Piece] = []
    for start, end in token_windows(content, outline.body, len(content), options, tokenizer):
        under = sections[max(bisect_right(starts, start) - 1, 0)] if sections else None
        pieces.append((start, end, under.heading if under else ""))
    return pieces


def _trimmed(content: str, section: Section) -> tuple[int, int]:
    text = content[section.start : section.end]
    start = section.start + len(text) - len(text.lstrip())
    return min(start, section.end), section.start + len(text.rstrip())
