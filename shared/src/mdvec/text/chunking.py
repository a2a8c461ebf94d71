"""A document becomes chunks: pieces with exact positions, each under its heading."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

from mdvec.errors import MdvecError
from mdvec.text.markdown import Outline, line_starts
from mdvec.text.sections import Section, heading_sections, join_short, paragraphs
from mdvec.text.tokens import Ruler, is_blank
from mdvec.text.windows import fitting_pieces, sentence_windows, token_windows

Strategy = Literal["heading", "token"]
MIN_SIZE, MAX_SIZE = 64, 4096


class InvalidChunking(MdvecError):
    """Chunking options that cannot work."""


@dataclass(frozen=True, slots=True)
class ChunkingOptions:
    """How to cut: sizes are in the model's tokens, ``min_chars`` in characters.

    ``context`` is whether title and headings are embedded with the text; tools that were imported
    before that was done stay without it until they are built again.
    """

    strategy: Strategy
    size: int
    overlap: int
    heading_levels: tuple[int, ...]
    min_chars: int
    context: bool = True

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise InvalidChunking(
                f"a chunk size of {self.size} is not possible: "
                f"choose {MIN_SIZE} to {MAX_SIZE} tokens"
            )
        if not 0 <= self.overlap < self.size:
            raise InvalidChunking(
                f"an overlap of {self.overlap} is not possible with chunks of {self.size} tokens: "
                f"choose 0 to {self.size - 1}"
            )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``content[start:end]`` is ``text`` to the letter.

    Lines count from 1; ``heading`` is the path of headings it stands under, joined by " > ".
    """

    index: int
    start: int
    end: int
    start_line: int
    end_line: int
    heading: str
    text: str


def chunk_document(
    content: str, outline: Outline, options: ChunkingOptions, ruler: Ruler
) -> list[Chunk]:
    """Cut a document into chunks, in order.

    Every character of the body that is not white space is in at least one chunk; a chunk that
    is white space alone does not exist, and none is larger than the model takes at once.
    """
    cut = _by_heading if options.strategy == "heading" else _by_token
    pieces = [
        (start, end, heading)
        for first, last, heading in cut(content, outline, options, ruler)
        for start, end in fitting_pieces(content, first, last, ruler)
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
    content: str, outline: Outline, options: ChunkingOptions, ruler: Ruler
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
            for first, last in sentence_windows(content, start, end, options, ruler)
        ]
    return pieces


def _by_token(
    content: str, outline: Outline, options: ChunkingOptions, ruler: Ruler
) -> list[_Piece]:
    sections = heading_sections(content, outline, options.heading_levels)
    starts = [section.start for section in sections]
    pieces: list[_Piece] = []
    for start, end in token_windows(content, outline.body, len(content), options, ruler):
        under = sections[max(bisect_right(starts, start) - 1, 0)] if sections else None
        pieces.append((start, end, under.heading if under else ""))
    return pieces


def _trimmed(content: str, section: Section) -> tuple[int, int]:
    text = content[section.start : section.end]
    start = section.start + len(text) - len(text.lstrip())
    return min(start, section.end), section.start + len(text.rstrip())
