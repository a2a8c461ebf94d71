"""A document's outline: title, headings with their positions, and where the body begins."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_YAML_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?<![^\r\n])(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_TOML_MATTER = re.compile(
    r"\+\+\+[ \t]*(?:\r\n|\r|\n)(.*?)(?<![^\r\n])\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_MATTER_LINE = re.compile(r"(?:[\w.-]+[ \t]*:(?:[ \t].*)?|[ \t].*|-[ \t].*|#.*|[\]}],?)?")
_TITLE_LINE = re.compile(r"title[ \t]*:(.*)")
_MAX_FRONT_MATTER = 65_536
_ANCHOR = re.compile(r"(?:\{/\*(?:(?!\{/\*).)*?\*/\}|\{#[^{}]*\})$")
_MAX_HEADING = 200
"""In characters, titles included. A rule under a paragraph makes a heading of the whole paragraph,
and every chunk of the section would carry it."""
_MARKDOWN_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level (1-6), words, and the position of its line."""

    level: int
    words: str
    start: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's structure.

    ``body`` is the position after the front matter. Headings inside a list, a block quote or a
    code fence do not count.
    """

    title: str
    body: int
    headings: tuple[Heading, ...]
    is_markdown: bool


def outline(content: str, file_name: str) -> Outline:
    """The outline of a document; a file that is not Markdown has no headings.

    The title is that of the front matter, or else the first level-1 heading, or else the file's
    name without its suffix.
    """
    stem = re.sub(r"\.[^.]+$", "", file_name) or file_name
    if not file_name.lower().endswith(_MARKDOWN_SUFFIXES):
        return Outline(title=stem, body=0, headings=(), is_markdown=False)
    body, matter_title = _front_matter(content)
    headings = _headings(content, body)
    first = next((heading.words for heading in headings if heading.level == 1), "")
    title = matter_title or first or stem
    return Outline(title=_shortened(title), body=body, headings=headings, is_markdown=True)


def line_starts(content: str, start: int = 0) -> list[int]:
    """The start of each line, from ``start`` on; CRLF, CR and LF all end a line."""
    return [start, *(found.end() for found in LINE_BREAK.finditer(content, start))]


def _headings(content: str, body: int) -> tuple[Heading, ...]:
    from markdown_it import MarkdownIt  # takes 0.1 s, which most commands need not pay

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    tokens = parser.parse(content[body:])
    starts = line_starts(content, body)
    found = []
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open" and token.level == 0 and token.map:
            start = starts[token.map[0]]
            found.append(Heading(int(token.tag[1]), _plain(inline.content), start))
    return tuple(found)


def _plain(words: str) -> str:
    return _shortened(_ANCHOR.sub("", " ".join(words.split())).rstrip())


def _shortened(words: str) -> str:
    return words if len(words) <= _MAX_HEADING else words[: _MAX_HEADING - 1] + "…"


def _front_matter(content: str) -> tuple[int, str]:
    """The position of the body, and the front matter's title."""
    head = content[:_MAX_FRONT_MATTER]
    if (found := _YAML_MATTER.match(head)) and (title := _yaml_title(found[1])) is not None:
        return found.end(), title
    if (found := _TOML_MATTER.match(head)) and (title := _toml_title(found[1])) is not None:
        return found.end(), title
    return 0, ""


def _yaml_title(block: str) -> str | None:
    """The title; "" if it has none, None if the block is not front matter at all."""
    import yaml

    try:
        # The base loader keeps every value as text: a title of 1.10 or 2024-01-01 is not converted.
        matter = yaml.load(block, Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        # People write "title: A: B", which is not YAML; lines that look like keys still count.
        lines = LINE_BREAK.split(block)
        if not all(_MATTER_LINE.fullmatch(line) for line in lines):
            return None
        found = next(filter(None, map(_TITLE_LINE.fullmatch, lines)), None)
        return _title_of({"title": found[1].strip().strip("\"'")}) if found else ""
    if matter is None and block.strip():
        return None  # a "# heading" between two rules is a comment to YAML
    return "" if matter is None else _title_of(matter)


def _toml_title(block: str) -> str | None:
    try:
        return _title_of(tomllib.loads(LINE_BREAK.sub("\n", block)))
    except (ValueError, RecursionError):  # also numbers too long for Python
        return None


def _title_of(matter: object) -> str | None:
    if not isinstance(matter, Mapping):
        return None
    title: Any = matter.get("title", "")
    # Nested YAML aliases may be endless when written out as text.
    if isinstance(title, list | dict) or title in ("~", "null"):
        return ""
    # JSON writes an emoji as "\ud83d\ude00"; an unpaired half is replaced.
    words = str(title).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(words.split())
