"""Reads Org: its first keywords as front matter, its headings, blocks, links and tasks.

The syntax is that of https://orgmode.org/worg/org-syntax.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mdvec.text.matter import MAX_FRONT_MATTER, FrontMatter

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ENTRY = re.compile(r"(?:#\+|[ \t]*:)([^\s:]+):(?:[ \t]+(.*?))?\s*")
"""A keyword (#+DATE: 2025-06-01), or a line of a drawer (:ID: 1)."""
_BLANK = re.compile(r"[ \t]*(?:#[ \t].*|#)?\s*")
_OF_AN_ELEMENT = re.compile(
    r"(?:attr_.*|caption|data|headers?|label|name|plot|res(?:name|ults?)|source|srcname|tblname"
    r"|begin|call|include|toc)(?:\[.*)?",
    re.IGNORECASE,
)
"""Keywords that belong to what follows them, or stand for a text."""
_TAG_KEYS = ("filetags", "hugo_tags")
_HIDDEN = re.compile(
    r"^[ \t]*#\+begin_(?P<kind>src|example|export|comment)\b"
    r"[ \t]*(?P<language>[^\s:+-]\S*)?[^\r\n]*\r?\n"
    r"(?:(?![ \t]*#\+begin_(?P=kind)\b)[^\n]*\n)*?"
    r"(?P<close>[ \t]*#\+end_(?P=kind)(?=[ \t]*\r?$))"
    r"|^[ \t]*#(?=[ \t\r]|$)[^\r\n]*",
    re.MULTILINE | re.IGNORECASE,
)
"""A block whose text is no Org, or a comment."""
_NOT_A_BREAK = re.compile(r"[^\r\n]")
_HEADLINE = re.compile(r"^(\*+)[ \t]+(\S[^\r\n]*)", re.MULTILINE)
_TAGS = re.compile(r"(?:^|[ \t]+):((?:[\w@#%]+:)+)[ \t]*$")
_PRIORITY = re.compile(r"\[#\w+\][ \t]*")
_STATES = re.compile(r"^#\+(?:(?:seq|typ)_)?todo:([^\r\n]*)", re.MULTILINE | re.IGNORECASE)
_KEY_OF_STATE = re.compile(r"\([^()]*\)")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,400})\](?:\[[^\[\]\n]*\])?\]")
_ID = re.compile(r"^[ \t]*:id:[ \t]+(\S+)", re.MULTILINE | re.IGNORECASE)


def is_org(file_name: str) -> bool:
    """Whether a file, by its name, is Org."""
    return file_name.lower().endswith(".org")


def org_matter(content: str) -> FrontMatter:
    """The keywords and properties that begin a document, by key in lower case.

    A key that comes again adds to its value. The tags of the file are ``tags``; Org's own TAGS,
    which says what tags there may be, is no value.
    """
    values: dict[str, str] = {}
    tags: list[str] = []
    end = 0
    for line in _LINE.finditer(content[:MAX_FRONT_MATTER]):
        if _BLANK.fullmatch(line[0]):
            continue
        entry = _ENTRY.fullmatch(line[0])
        if entry is None or _OF_AN_ELEMENT.fullmatch(entry[1]):
            break
        end = line.end()
        key, value = entry[1].lower(), entry[2]
        if key in _TAG_KEYS:
            tags += (value or "").replace(":", " ").split()
        elif value and key != "tags":
            values[key] = f"{values[key]} {value}" if key in values else value
    return FrontMatter(end, {**values, **({"tags": tags} if tags else {})})


def org_blocks(content: str) -> Iterator[tuple[int, int, int, str]]:
    """The start of each block of code or examples, of its last line, its end and language."""
    for block in _HIDDEN.finditer(content):
        if block["kind"]:
            yield block.start(), block.start("close"), block.end(), block["language"] or ""


def org_text(content: str) -> str:
    """A document with spaces in place of its code, examples and comments."""
    return _HIDDEN.sub(lambda hidden: _NOT_A_BREAK.sub(" ", hidden[0]), content)


@dataclass(frozen=True, slots=True)
class Headline:
    """A heading: level, words without its state and tags, tags, start, whether it is to do."""

    level: int
    words: str
    tags: tuple[str, ...]
    start: int
    is_open: bool


def org_headlines(content: str) -> Iterator[Headline]:
    """The headings of a document, outside its blocks."""
    text = org_text(content)
    to_do, done = _states(text)
    for match in _HEADLINE.finditer(text):
        tags = _TAGS.search(match[2])
        words = match[2][: tags.start()] if tags else match[2]
        state, _, rest = words.partition(" ")
        if state in to_do or state in done:
            words = rest.strip()
        yield Headline(
            level=min(len(match[1]), 6),
            words=_PRIORITY.sub("", words, count=1),
            tags=tuple(tags[1].strip(":").split(":")) if tags else (),
            start=match.start(),
            is_open=state in to_do,
        )


def _states(text: str) -> tuple[set[str], set[str]]:
    """The states of what is to do, and of what is done; without a "|" the last means done."""
    to_do, done = set[str](), set[str]()
    for line in _STATES.findall(text) or ["TODO | DONE"]:
        before, bar, after = _KEY_OF_STATE.sub("", line).partition("|")
        states = before.split()
        to_do.update(states if bar else states[:-1])
        done.update(after.split() if bar else states[-1:])
    return to_do, done


def org_links(content: str) -> Iterator[tuple[str, str]]:
    """The path, or "id:…", and the heading of each link that leads to a file or an ID."""
    for match in _LINK.finditer(org_text(content)):
        target, _, place = match[1].partition("::")
        path = target.removeprefix("file:")
        if path != target or path.startswith(("id:", "./", "../")):
            yield path, place.lstrip("*#")


def org_ids(content: str) -> list[str]:
    """What links name the document and its headings by: "id:…"."""
    return [f"id:{name}" for name in _ID.findall(org_text(content))]
