"""Finds the parts of a page that a browser does not show, by attributes and styles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import soupsieve
from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement
from soupsieve import SelectorSyntaxError

_MAX_RULES = 2_000
_RULE = re.compile(r"([^{}@;]+)\{([^{}]*)\}")
_COMMENTS = re.compile(r"/\*.*?\*/", re.DOTALL)
_DECLARED = re.compile(
    r"(?:^|;)\s*(display|visibility|opacity|font-size)\s*:\s*([^;!]*)(!\s*important)?",
    re.IGNORECASE,
)
_HIDING = re.compile(r"none|hidden|collapse|0(?![.\d])", re.IGNORECASE)
_WHITE_VALUE = r"(?:white|#fff(?:fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))\s*(?:;|$|!)"
_WHITE = re.compile(rf"(?:^|;)\s*color\s*:\s*{_WHITE_VALUE}", re.IGNORECASE)
_ON_SCREEN = re.compile(r"\b(?:all|screen)\b", re.IGNORECASE)
_BACKGROUND = re.compile(
    r"(?:^|;)\s*background(?:-color|-image)?\s*:"
    rf"(?!\s*(?:{_WHITE_VALUE}|(?:none|transparent|inherit|initial|unset)\s*(?:;|$|!)))",
    re.IGNORECASE,
)
"""A background that white text stands out from; of white ones only these spellings are known."""
_WHITE_BACKGROUND = re.compile(
    rf"(?:^|;)\s*background(?:-color)?\s*:\s*{_WHITE_VALUE}", re.IGNORECASE
)
_IN_BRACKETS = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_COMBINED = re.compile(r"[\s>+~]+")
_CLASS = re.compile(r"\.([\w-]+)")
_SIMPLE = (
    re.compile(r"#[\w-]"),
    re.compile(r"(?:[.\[]|(?<!:):)[\w-]"),
    re.compile(r"(?:^|[\s>+~])[a-zA-Z]"),
)
"""Patterns for a selector's specificity: ids, classes and attributes, names of elements."""

_Sheet = Sequence[tuple[str, str]]
_INHERITED = ("visibility", "font-size")
"""Properties that also hide an element's children, unless these have values of their own."""


class _Rule(NamedTuple):
    """A style sheet's declaration about hiding, for the elements of a selector.

    Of two rules, the one with the greater ``rank`` applies: importance, then the ids, classes and
    names of the selector, then the position.
    """

    name: str
    hides: bool
    rank: tuple[bool, int, int, int, int]
    selector: str


def hidden_parts(page: BeautifulSoup) -> list[PageElement]:
    """The elements and texts of a page that a browser does not show, with all their children."""
    sheet = _sheet_of(page)
    rules = _rules_of(sheet)
    hidden = [*_hidden_by_themselves(page, sheet), *_hidden_by_rules(page, rules)]
    parts: list[PageElement] = [tag for tag, name in hidden if name not in _INHERITED]
    for inherited in _INHERITED:
        if tags := [tag for tag, name in hidden if name == inherited]:
            again = {id(tag) for tag in _shown_again(page, rules, inherited)}
            parts += [part for tag in tags for part in _without_shown(tag, again)]
    return parts


def _hidden_by_themselves(page: BeautifulSoup, sheet: _Sheet) -> Iterator[tuple[Tag, str]]:
    """Elements hidden by their own attributes or style, and by which property."""
    for tag in _white_on_white(page, sheet):
        yield tag, "display"
    for tag in page.find_all():
        style = str(tag.get("style", ""))
        if tag.has_attr("hidden"):
            yield tag, "display"
        for name, hides, _ in _declarations(style):
            if hides:
                yield tag, name


def _shown_again(page: BeautifulSoup, rules: Iterable[_Rule], name: str) -> Iterator[Tag]:
    """Elements that are visible by a value of their own for an inherited property."""
    for rule in rules:
        if rule.name == name and not rule.hides:
            yield from page.select(rule.selector)
    for tag in page.find_all(style=True):
        if any(each == name and not hides for each, hides, _ in _declarations(str(tag["style"]))):
            yield tag


def _without_shown(tag: Tag, shown: set[int]) -> Iterator[PageElement]:
    """An element, or its children without the elements that are shown."""
    if not any(id(inside) in shown for inside in tag.descendants):
        yield tag
        return
    for child in tag.children:
        if isinstance(child, Tag) and id(child) not in shown:
            yield from _without_shown(child, shown)
        elif not isinstance(child, Tag):
            yield child


class _Background(NamedTuple):
    """A style sheet's background, and whether white text stands out from it."""

    selector: str
    classes: set[str]
    is_dark: bool


def _white_on_white(page: BeautifulSoup, sheet: _Sheet) -> Iterator[Tag]:
    """The elements of white text whose nearest background is white, as a page's is."""
    white = page.find_all(style=_WHITE)
    backgrounds = _backgrounds(sheet) if white else ()
    known: dict[int, bool | None] = {}
    for tag in white:
        for element in (tag, *tag.parents):
            if id(element) not in known:
                known[id(element)] = _is_dark(element, backgrounds)
            if (is_dark := known[id(element)]) is not None:
                break
        if not is_dark:
            yield tag


def _backgrounds(sheet: _Sheet) -> Sequence[_Background]:
    return [
        _Background(selector, _last_classes(selector), _BACKGROUND.search(style) is not None)
        for selectors, style in sheet
        if _BACKGROUND.search(style) or _WHITE_BACKGROUND.search(style)
        for selector in selectors.split(",")
        if _is_read(selector)
    ]


def _is_dark(tag: Tag, backgrounds: Iterable[_Background]) -> bool | None:
    """Whether white text stands out from an element's own background; None without one."""
    own = str(tag.get("style", ""))
    if _BACKGROUND.search(own):
        return True
    if _WHITE_BACKGROUND.search(own) or tag.parent is None:  # a page is white
        return False
    classes = set(tag.get_attribute_list("class"))
    of_sheet = {
        background.is_dark
        for background in backgrounds
        if background.classes <= classes and soupsieve.match(background.selector, tag)
    }
    return any(of_sheet) if of_sheet else None


def _declarations(style: str) -> Iterator[tuple[str, bool, bool]]:
    """A style's declarations about hiding: the property, whether it hides, if it is important."""
    for name, value, important in _DECLARED.findall(style):
        yield name.lower(), _HIDING.match(value) is not None, bool(important)


def _sheet_of(page: BeautifulSoup) -> _Sheet:
    """The selectors and styles of the page's embedded style sheets for a screen."""
    sheets = " ".join(
        style.get_text()
        for style in page.find_all("style")
        if _ON_SCREEN.search(str(style.get("media") or "all"))
    )
    return _RULE.findall(_COMMENTS.sub("", _without_media(sheets)))[:_MAX_RULES]


def _rules_of(sheet: _Sheet) -> list[_Rule]:
    """The rules of a style sheet that hide or show elements."""
    return [
        _Rule(name, hides, (important, *_weight(selector), order), selector)
        for order, (selectors, style) in enumerate(sheet)
        for name, hides, important in _declarations(style)
        for selector in selectors.split(",")
        if _is_read(selector)
    ]


def _hidden_by_rules(page: BeautifulSoup, rules: Iterable[_Rule]) -> Iterator[tuple[Tag, str]]:
    """Elements that a rule hides and no stronger rule shows, and by which property."""
    hidden: dict[tuple[int, str], tuple[_Rule, Tag]] = {}
    for rule in rules:
        for tag in page.select(rule.selector) if rule.hides else ():
            key = (id(tag), rule.name)
            if key not in hidden or hidden[key][0].rank < rule.rank:
                hidden[key] = (rule, tag)
    for rule in (rule for rule in rules if not rule.hides):
        classes = _last_classes(rule.selector)
        weaker = [
            key for key, (hiding, tag) in hidden.items()
            if rule.name == hiding.name and hiding.rank < rule.rank
            and classes.issubset(tag.get_attribute_list("class"))
        ]  # fmt: skip
        for key in weaker:
            if soupsieve.match(rule.selector, hidden[key][1]):
                del hidden[key]
    for rule, tag in hidden.values():
        own = {name for name, _, _ in _declarations(str(tag.get("style", "")))}
        if rule.rank[0] or rule.name not in own:
            yield tag, rule.name


def _last_classes(selector: str) -> set[str]:
    """The classes that a selector requires of its elements."""
    last = _COMBINED.split(_IN_BRACKETS.sub("", selector).strip())[-1]
    return set(_CLASS.findall(last))


def _weight(selector: str) -> tuple[int, int, int]:
    """A selector's specificity (Selectors Level 4, section 15)."""
    ids, classes, names = (len(simple.findall(selector.strip())) for simple in _SIMPLE)
    return ids, classes, names


def _is_read(selector: str) -> bool:
    try:
        soupsieve.compile(selector.strip())
    except (SelectorSyntaxError, NotImplementedError, ValueError):
        return False
    return True


def _without_media(sheet: str) -> str:
    """The sheet without blocks such as ``@media print``, which do not apply to a screen."""
    parts, depth, at = [], 0, 0
    is_skipped = False
    for match in re.finditer(r"@media|[{}]", sheet):
        mark = match[0]
        if mark == "@media" and not depth:
            parts.append(sheet[at : match.start()])
            is_skipped = True
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if mark == "}" and not depth and is_skipped:
            at, is_skipped = match.end(), False
    return "".join(parts) + ("" if is_skipped else sheet[at:])
