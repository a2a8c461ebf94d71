"""Parses a document's outline: title, headings, code fences, and the start of the body."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from mdvec.text.front_matter_block import LINE_BREAK, NO_FRONT_MATTER, FrontMatter, front_matter
from mdvec.text.landmarks import landmarks
from mdvec.text.pages import is_converted

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_ANCHOR = re.compile(r"(?:\{/\*(?:(?!\{/\*).)*?\*/\}|\{#[^{}]*\})$")
_MAX_HEADING = 200
"""Maximum characters of a heading or title. A rule directly under a paragraph turns the whole
paragraph into a heading, which every chunk of the section would repeat."""
_MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdx")
_CLOSING_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})")
_LANGUAGE = re.compile(r"[^\s{}]{1,40}")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level (1-6), words, and the position of its line."""

    level: int
    words: str
    start: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block.

    ``start`` is where its opening line begins, ``end`` where its closing line ends (without the
    line break), ``close`` where its closing line begins, or ``end`` if the fence is not closed.
    """

    start: int
    close: int
    end: int
    language: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's structure.

    ``body`` is the position after the front matter. ``headings`` excludes those inside a list,
    a block quote or a code fence; ``fences`` includes all.
    """

    title: str
    body: int
    headings: tuple[Heading, ...]
    is_markdown: bool
    fences: tuple[Fence, ...] = ()
    matter: FrontMatter = field(default=NO_FRONT_MATTER, compare=False)


def outline(content: str, file_name: str) -> Outline:
    """The outline of a document; other text than Markdown has the headings of its own format.

    The title comes from the front matter, else from the first level-1 heading, else from the
    file name without its suffix.
    """
    stem = re.sub(r"\.[^.]+$", "", file_name) or file_name
    if not is_markdown(file_name):
        headings = tuple(
            Heading(level, _plain(words), start)
            for level, words, start in landmarks(content, file_name)
        )
        return Outline(title=stem, body=0, headings=headings, is_markdown=False)
    matter = front_matter(content)
    headings, fences = _blocks(content, matter.end)
    first = next((heading.words for heading in headings if heading.level == 1), "")
    title = _shortened(_title_of(matter.values) or first or stem)
    return Outline(title, matter.end, headings, is_markdown=True, fences=fences, matter=matter)


def is_markdown(file_name: str) -> bool:
    """Whether a file is Markdown, or stored as such, by its name."""
    return file_name.lower().endswith(_MARKDOWN_SUFFIXES) or is_converted(file_name)


def line_starts(content: str, start: int = 0, end: int | None = None) -> list[int]:
    """The start of each line in ``content[start:end]``; CRLF, CR and LF all end a line."""
    part = content[start:end]
    if "\r" in part.replace("\r\n", ""):
        return [start, *(start + match.end() for match in LINE_BREAK.finditer(part))]
    lengths = [len(line) + 1 for line in part.split("\n")]
    return list(accumulate(lengths[:-1], initial=start))


@cache
def block_parser() -> MarkdownIt:
    """A parser that finds blocks, such as headings and fences, and leaves their text as it is."""
    from markdown_it import MarkdownIt  # takes 0.1 s, which most commands need not pay

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(content: str, body: int) -> tuple[tuple[Heading, ...], tuple[Fence, ...]]:
    """The headings and fences according to CommonMark."""
    tokens = block_parser().parse(content[body:])
    starts = line_starts(content, body)
    headings, fences = [], []
    for number, token in enumerate(tokens):
        if token.type == "fence" and token.map:
            fences.append(_fence(content, starts, token.map, token.info))
        elif token.type == "heading_open" and token.level == 0 and token.map:
            words = _plain(tokens[number + 1].content)
            headings.append(Heading(int(token.tag[1]), words, starts[token.map[0]]))
    return tuple(headings), tuple(fences)


def _fence(content: str, starts: list[int], lines: Sequence[int], info: str) -> Fence:
    """The fence on lines ``lines[0]`` to ``lines[1]`` (exclusive)."""
    first, behind = lines
    last = starts[behind - 1]
    end = starts[behind] if behind < len(starts) else len(content)
    closing = content[last:end]
    is_closed = behind - 1 > first and _CLOSING_FENCE.fullmatch(closing.rstrip()) is not None
    language = _LANGUAGE.match(info.strip())
    end = last + len(closing.rstrip("\r\n"))
    return Fence(starts[first], last if is_closed else end, end, language[0] if language else "")


def _plain(words: str) -> str:
    return _shortened(_ANCHOR.sub("", " ".join(words.split())).rstrip())


def _shortened(words: str) -> str:
    return words if len(words) <= _MAX_HEADING else words[: _MAX_HEADING - 1] + "…"


def _title_of(matter: Mapping[str, Any]) -> str:
    """The title in a front matter, or ""."""
    title: Any = matter.get("title", "")
    # Nested YAML aliases can expand to enormous text.
    if isinstance(title, list | dict) or title in ("~", "null"):
        return ""
    # JSON writes an emoji as "\ud83d\ude00"; an unpaired half is replaced.
    words = str(title).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(words.split())
