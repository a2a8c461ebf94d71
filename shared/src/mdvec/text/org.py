"""Reads Org: its keywords as front matter, its headings, blocks, links and tasks.

The syntax is that of https://orgmode.org/worg/org-syntax.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mdvec.text.matter import FrontMatter

_ENTRY = re.compile(
    r"(?<![^\r\n])[ \t]*(?:#\+(?P<keyword>[^\s:]+):|:(?P<property>[^\s:]+):(?=\s|\Z))"
    r"(?P<value>[^\r\n]*)(?:\r\n|\r|\n|\Z)"
)
"""A keyword (#+DATE: 2025-06-01), or a property in a drawer (:ID: 1)."""
_BLANK = re.compile(r"(?:[ \t]*(?:#(?:[ \t][^\r\n]*)?)?(?:\r\n|\r|\n))*")
"""Blank lines and comments."""
_OF_AN_ELEMENT = re.compile(
    r"(?:attr_.*|caption|data|downloaded|headers?|label|name|plot|res(?:name|ults?)|source|srcname"
    r"|tbl(?:name|fm)|begin|call|include|toc|[cfkptv]?index|ascii|beamer|html|latex|md|odt|texinfo)"
    r"(?:\[.*)?"
)
"""Keywords that belong to an element beside them, or stand for a text."""
_TAG_KEYS = ("filetags", "hugo_tags")
_TAG = re.compile(r'"([^"]*)"|([^\s:]+)')
_HIDDEN = re.compile(
    r"^[ \t]*#\+begin_(?P<kind>src|example|export|comment)\b"
    r"[ \t]*(?P<language>[^\s:+-]\S*)?[^\r\n]*\r?\n"
    r"(?:(?![ \t]*#\+begin_(?P=kind)\b)[^\n]*\n)*?"
    r"(?P<close>[ \t]*#\+end_(?P=kind)(?=[ \t]*\r?$))"
    r"|^[ \t]*#(?=[ \t\r]|$)[^\r\n]*",
    re.MULTILINE | re.IGNORECASE,
)
"""A block whose text is not Org markup, or a comment."""
_NOT_A_BREAK = re.compile(r"[^\r\n]")
_HEADLINE = re.compile(r"^(\*+)[ \t]+(\S[^\r\n]*)", re.MULTILINE)
_TAGS = re.compile(r"(?:^|[ \t]+):((?:[\w@#%]+:)+)[ \t]*$")
_PRIORITY = re.compile(r"\[#\w+\]\s*")
_STATES = re.compile(r"^#\+(?:(?:seq|typ)_)?todo:([^\r\n]*)", re.MULTILINE | re.IGNORECASE)
_KEY_OF_STATE = re.compile(r"\([^()]*\)")
_LINK = re.compile(r"\[\[((?:[^\[\]\\\n]|\\.){1,400})\][\[\]]")
"""A link up to the end of its target; its description may follow, over several lines."""
_ESCAPED = re.compile(r"\\([\[\]\\])")
_ID = re.compile(r"^[ \t]*:id:[ \t]+(\S+)", re.MULTILINE | re.IGNORECASE)


def is_org(file_name: str) -> bool:
    """Whether a file, by its name, is Org."""
    return file_name.lower().endswith(".org")


def org_matter(content: str) -> FrontMatter:
    """The keywords of a document, and the properties that begin it, by key in lower case.

    It ends before the first text, but keywords below that count as well, outside blocks. A repeated
    key adds to the value. The file's tags are under ``tags``; Org's own TAGS, which lists the tags
    that may be used, is ignored.
    """
    values: dict[str, str] = {}
    tags: list[str] = []
    end, is_above = 0, True
    for entry in _ENTRY.finditer(org_text(content)):
        key, value = (entry["keyword"] or entry["property"]).lower(), entry["value"].strip()
        is_of_file = not _OF_AN_ELEMENT.fullmatch(key)
        is_above &= is_of_file and _BLANK.fullmatch(content, end, entry.start()) is not None
        if is_above:
            end = entry.end()
        elif entry["property"] or not is_of_file:
            continue
        if key in _TAG_KEYS:
            tags += [quoted or plain for quoted, plain in _TAG.findall(value)]
        elif value and key != "tags":
            values[key] = f"{values[key]} {value}" if key in values else value
    return FrontMatter(end, [*values.items(), *([("tags", tags)] if tags else [])])


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
    """A heading: level, words without state and tags, tags, start, and whether it is to do."""

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
        state, rest = (*words.split(maxsplit=1), "", "")[:2]
        if state in to_do or state in done:
            words = rest.rstrip()
        yield Headline(
            level=len(match[1]),
            words=_PRIORITY.sub("", words, count=1),
            tags=tuple(tags[1].strip(":").split(":")) if tags else (),
            start=match.start(),
            is_open=state in to_do,
        )


def _states(text: str) -> tuple[set[str], set[str]]:
    """The states of open tasks and of done tasks; without a "|", the last state means done."""
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
        target, _, anchor = _ESCAPED.sub(r"\1", match[1]).partition("::")
        path = target.removeprefix("file:")
        if path.removeprefix("id:") and (path != target or path.startswith(("id:", "./", "../"))):
            yield path, anchor.lstrip("*#")


def org_ids(content: str) -> list[str]:
    """The names under which links find the document and its headings by ID: "id:…"."""
    return [f"id:{name}" for name in _ID.findall(org_text(content))]
