"""A Word file's definitions of automatic numbers: the levels of its lists and their styles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from mdvec.converters.archive import Archive
from mdvec.converters.word_parts import W, is_on

_NUMBERING = "word/numbering.xml"
_STYLES = "word/styles.xml"
_MAX_STEPS = 20
"""The longest chain of styles that are based on each other."""
_HEADINGS = ("heading", "title", "subtitle")


@dataclass(frozen=True, slots=True)
class Level:
    """How one level of a list is numbered.

    Attributes:
        start: its first number.
        way: Word's name for the number format; "bullet" for signs.
        text: the text before a paragraph, with ``%2`` for the number of the second level.
        follows: "tab", "space" or "nothing".
        restarts_after: the level, from 1, after which it restarts; 0 for none, None for any.
        is_legal: whether the numbers of all levels are shown as digits.
        style: the style whose paragraphs have this level.
    """

    start: int = 1
    way: str = "decimal"
    text: str = ""
    follows: str = "tab"
    restarts_after: int | None = None
    is_legal: bool = False
    style: str = ""


@dataclass(frozen=True, slots=True)
class NumberedList:
    """A numbered list; lists with the same ``counter`` continue each other."""

    counter: str
    levels: Mapping[int, Level]
    starts: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Style:
    """A style of paragraphs: its list and level, if it has any, and the style it is based on."""

    is_heading: bool = False
    number: str | None = None
    level: int | None = None
    based_on: str = ""


class Numbering:
    """The lists and styles of a file; empty if it has none."""

    def __init__(self, archive: Archive) -> None:
        names = archive.names
        self._styles = _styles(archive.xml(_STYLES)) if _STYLES in names else {}
        root = archive.xml(_NUMBERING) if _NUMBERING in names else ET.Element("none")
        abstract = {a.get(f"{W}abstractNumId", ""): a for a in root.iter(f"{W}abstractNum")}
        self._nums = {num.get(f"{W}numId", ""): num for num in root.iter(f"{W}num")}
        self.lists = {
            number: found
            for number in self._nums
            if (found := self._list(number, abstract, 0)) is not None
        }

    def _list(
        self, number: str, abstract: Mapping[str, ET.Element], steps: int
    ) -> NumberedList | None:
        num = self._nums.get(number)
        counter = "" if num is None else _value(num, "abstractNumId")
        definition = abstract.get(counter)
        if num is None or definition is None or steps > _MAX_STEPS:
            return None
        if link := _value(definition, "numStyleLink"):
            return self._list(self._style(link).number or "", abstract, steps + 1)
        levels = dict(_level(level) for level in definition.iterfind(f"{W}lvl"))
        starts = {}
        for change in num.iterfind(f"{W}lvlOverride"):
            at = _integer(change.get(f"{W}ilvl"), 0)
            if (own := change.find(f"{W}lvl")) is not None:
                levels[at] = _level(own)[1]
            if start := _value(change, "startOverride"):
                starts[at] = _integer(start, 1)
        return NumberedList(counter, levels, starts)

    def _style(self, name: str) -> Style:
        return self._styles.get(name, Style())

    def is_heading(self, paragraph: ET.Element) -> bool:
        """Whether a paragraph has the style of a heading."""
        return self._style(_value(paragraph, "pPr", "pStyle")).is_heading

    def place_of(self, paragraph: ET.Element) -> tuple[str, int] | None:
        """The list and the level of a paragraph; None if it has no number."""
        own, level = _numbers_of(paragraph.find(f"{W}pPr"))
        inherited = self._inherited_number(_value(paragraph, "pPr", "pStyle"))
        number = own or (inherited[0] if inherited else None)
        if number is None or number not in self.lists:
            return None
        if level is None and inherited and own in (None, inherited[0]):
            level = inherited[1]
        return number, level or 0

    def _inherited_number(self, name: str) -> tuple[str, int] | None:
        for _ in range(_MAX_STEPS):
            style = self._style(name)
            if style.number is not None:
                known = self.lists.get(style.number)
                levels = {} if known is None else known.levels
                linked = (at for at, level in levels.items() if level.style == name)
                return style.number, next(linked, style.level or 0)
            if not style.based_on:
                return None
            name = style.based_on
        return None


def _styles(root: ET.Element) -> dict[str, Style]:
    return {
        style.get(f"{W}styleId", ""): Style(
            _value(style, "name").lower().startswith(_HEADINGS)
            or style.get(f"{W}styleId", "").startswith("Heading"),
            *_numbers_of(style.find(f"{W}pPr")),
            based_on=_value(style, "basedOn"),
        )
        for style in root.iter(f"{W}style")
    }


def _numbers_of(properties: ET.Element | None) -> tuple[str | None, int | None]:
    """The list and the level in the properties themselves."""
    numbering = None if properties is None else properties.find(f"{W}numPr")
    if numbering is None:
        return None, None
    level = _value(numbering, "ilvl")
    return _value(numbering, "numId") or None, _integer(level, 0) if level else None


def _level(level: ET.Element) -> tuple[int, Level]:
    # A format that only new versions of Word know has a second one as fallback.
    ways = [way.get(f"{W}val", "") for way in level.iter(f"{W}numFmt")]
    is_picture = level.find(f"{W}lvlPicBulletId") is not None
    restart = _value(level, "lvlRestart")
    return _integer(level.get(f"{W}ilvl"), 0), Level(
        start=_integer(_value(level, "start"), 1),
        way="bullet" if is_picture else (ways[-1] if ways else "decimal"),
        text=_value(level, "lvlText"),
        follows=_value(level, "suff") or "tab",
        restarts_after=_integer(restart, 0) if restart else None,
        is_legal=is_on(level.find(f"{W}isLgl")),
        style=_value(level, "pStyle"),
    )


def _value(element: ET.Element, *names: str) -> str:
    """The value of an element inside another; "" if it is missing."""
    part = element.find("/".join(f"{W}{name}" for name in names))
    return "" if part is None else part.get(f"{W}val", "")


def _integer(text: str | None, default: int) -> int:
    try:
        return int(text or default)
    except ValueError:
        return default
