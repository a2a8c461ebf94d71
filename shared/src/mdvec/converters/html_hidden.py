"""Tells which parts of a page a browser does not show: by attributes, styles and style sheets."""

from __future__ import annotations

import re
from collections.abc import Iterator

import soupsieve
from bs4 import BeautifulSoup, Tag
from soupsieve import SelectorSyntaxError

_MAX_RULES = 2_000
_RULE = re.compile(r"([^{}@;]+)\{([^{}]*)\}")
_COMMENTS = re.compile(r"/\*.*?\*/", re.DOTALL)
_DECLARED = re.compile(
    r"(?:^|;)\s*(display|visibility|opacity|font-size)\s*:\s*([^;!]*)(!\s*important)?",
    re.IGNORECASE,
)
_HIDING = re.compile(r"none|hidden|collapse|0(?![.\d])", re.IGNORECASE)
_WHITE = re.compile(
    r"(?:^|;)\s*color\s*:\s*(?:white|#fff(?:fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))\s*(?:;|$|!)",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(r"background", re.IGNORECASE)
_SIMPLE = (re.compile(r"#[\w-]"), re.compile(r"[.\[][\w-]"), re.compile(r"(?:^|[\s>+~])[a-zA-Z]"))
"""What counts in a selector: ids, classes and attributes, names of elements."""

_Rank = tuple[bool, int, int, int, int]
"""Which of two declarations holds, the greater: importance, ids, classes, names, place."""


def hidden_parts(page: BeautifulSoup) -> list[Tag]:
    """The elements of a page that a browser does not show, each with all that is in it."""
    by_themselves = [tag for tag in page.descendants if isinstance(tag, Tag) and _is_hidden(tag)]
    return by_themselves + _hidden_by_rules(page)


def _is_hidden(tag: Tag) -> bool:
    style = str(tag.get("style", ""))
    return (
        tag.has_attr("hidden")
        or any(hides for _, hides, _ in _declared(style))
        or (_WHITE.search(style) is not None and not _has_background(tag))
    )


def _has_background(tag: Tag) -> bool:
    return any(_BACKGROUND.search(str(around.get("style", ""))) for around in (tag, *tag.parents))


def _declared(style: str) -> Iterator[tuple[str, bool, bool]]:
    """What a style says of showing: the property, whether it hides, whether it is important."""
    for name, value, important in _DECLARED.findall(style):
        yield name.lower(), _HIDING.match(value) is not None, bool(important)


def _hidden_by_rules(page: BeautifulSoup) -> list[Tag]:
    """What the page's own style sheets hide from everybody, and no stronger rule shows again."""
    sheets = " ".join(style.get_text() for style in page.find_all("style"))
    rules = _RULE.findall(_COMMENTS.sub("", _without_media(sheets)))
    declared = [
        (name, hides, (important, *_weight(selector), place), selector)
        for place, (selectors, style) in enumerate(rules[:_MAX_RULES])
        for name, hides, important in _declared(style)
        for selector in selectors.split(",")
        if ":" not in selector and _is_read(selector)
    ]
    hidden: dict[tuple[int, str], tuple[_Rank, Tag]] = {}
    for name, hides, rank, selector in declared:
        for tag in page.select(selector) if hides else ():
            key = (id(tag), name)
            if key not in hidden or hidden[key][0] < rank:
                hidden[key] = (rank, tag)
    for name, hides, rank, selector in declared:
        shows = () if hides else [key for key in hidden if key[1] == name and hidden[key][0] < rank]
        for key in shows:
            if soupsieve.match(selector, hidden[key][1]):
                del hidden[key]
    return [
        tag
        for (_, name), (rank, tag) in hidden.items()
        if rank[0] or name not in {own for own, _, _ in _declared(str(tag.get("style", "")))}
    ]


def _weight(selector: str) -> tuple[int, int, int]:
    """How strong a selector is (its specificity; Selectors Level 4, section 15)."""
    ids, classes, names = (len(simple.findall(selector.strip())) for simple in _SIMPLE)
    return ids, classes, names


def _is_read(selector: str) -> bool:
    try:
        soupsieve.compile(selector.strip())
    except (SelectorSyntaxError, NotImplementedError, ValueError):
        return False
    return True


def _without_media(sheet: str) -> str:
    """The sheet without blocks such as ``@media print``, which hide nothing on a screen."""
    kept, depth, at = [], 0, 0
    is_skipped = False
    for match in re.finditer(r"@media|[{}]", sheet):
        mark = match[0]
        if mark == "@media" and not depth:
            kept.append(sheet[at : match.start()])
            is_skipped = True
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if mark == "}" and not depth and is_skipped:
            at, is_skipped = match.end(), False
    return "".join(kept) + ("" if is_skipped else sheet[at:])
