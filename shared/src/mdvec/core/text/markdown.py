"""A document's outline: its front matter, its title and its headings, with their positions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from markdown_it import MarkdownIt

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_YAML_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\r|\n)(.*?)^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL | re.MULTILINE
)
_TOML_MATTER = re.compile(
    r"\+\+\+[ \t]*(?:\r\n|\r|\n)(.*?)^\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL | re.MULTILINE
)
_MATTER_LINE = re.compile(r"(?:[\w.-]+[ \t]*:(?:[ \t].*)?|[ \t].*|-[ \t].*|#.*|[\]}],?)?")
_TITLE_LINE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_MAX_MATTER = 65_536
_ANCHOR = re.compile(r"\s*(?:\{/\*.*?\*/\}|\{#[^}]*\})\s*$")
_MARKDOWN_SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level (1-6), its words, and where its line begins."""

    level: int
    words: str
    start: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's structure.

    ``body`` is the position behind the front matter; headings are those of the document itself,
    not those quoted in a list, a block quote or a code fence.
    """

    title: str
    body: int
    headings: tuple[Heading, ...]
    is_markdown: bool


def outline(content: str, file_name: str) -> Outline:
    """Read the structure of a document; a file that is not Markdown has no headings.

    The title is the front matter's, else the first level-1 heading's, else the file's name.
    """
    stem = re.sub(r"\.[^.]+$", "", file_name) or file_name
    if not file_name.lower().endswith(_MARKDOWN_SUFFIXES):
        return Outline(title=stem, body=0, headings=(), is_markdown=False)
    body, matter_title = _front_matter(content)
    headings = _headings(content, body)
    first = next((heading.words for heading in headings if heading.level == 1), "")
    title = matter_title or first or stem
    return Outline(title=title, body=body, headings=headings, is_markdown=True)


def line_starts(content: str, start: int = 0) -> list[int]:
    """Where each line from ``start`` on begins; CRLF, CR and LF all end a line."""
    return [start, *(found.end() for found in LINE_BREAK.finditer(content, start))]


def _headings(content: str, body: int) -> tuple[Heading, ...]:
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
    return " ".join(_ANCHOR.sub("", words).split())


def _front_matter(content: str) -> tuple[int, str]:
    """Where the body begins, and the front matter's title."""
    head = content[:_MAX_MATTER]
    if (found := _YAML_MATTER.match(head)) and (title := _yaml_title(found[1])) is not None:
        return found.end(), title
    if (found := _TOML_MATTER.match(head)) and (title := _toml_title(found[1])) is not None:
        return found.end(), title
    return 0, ""


def _yaml_title(block: str) -> str | None:
    """The title, "" where there is none, None when the block is no front matter at all."""
    try:
        return _title_of(yaml.safe_load(block))
    except (yaml.YAMLError, ValueError, RecursionError):
        # People write "title: A: B", which is no YAML. Lines that look like keys still are matter.
        if not all(_MATTER_LINE.fullmatch(line) for line in block.splitlines()):
            return None
        found = _TITLE_LINE.search(block)
        return found[1].strip("\"'") if found else ""


def _toml_title(block: str) -> str | None:
    try:
        return _title_of(tomllib.loads(block))
    except tomllib.TOMLDecodeError:
        return None


def _title_of(matter: object) -> str | None:
    if matter is None:
        return ""
    if not isinstance(matter, Mapping):
        return None
    title: Any = matter.get("title")
    return "" if title is None else " ".join(str(title).split())
