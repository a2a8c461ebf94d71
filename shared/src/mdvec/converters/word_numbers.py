"""Writes the automatic numbers of a Word file into its paragraphs: 第2条, (1), 3.

mammoth only recognises lists, not their numbers. So its Markdown would restart at 1 in each list,
and the numbers of headings would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from xml.etree import ElementTree as ET

from mdvec.converters.archive import Archive
from mdvec.converters.counting import counted_as
from mdvec.converters.word_parts import W, is_on, run_of

_NUMBERING = "word/numbering.xml"
_STYLES = "word/styles.xml"
_MAX_STEPS = 20
"""The longest chain of styles that are based on each other."""
_HEADINGS = ("heading", "title", "subtitle")
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
_GONE = frozenset((f"{W}del", f"{W}moveFrom", _COMPATIBLE))
_TABLE = frozenset(f"{W}{name}" for name in ("tbl", "tr", "tc"))
_SHOWN = frozenset(
    f"{W}{name}" for name in ("drawing", "pict", "object", "sym", "footnoteReference")
)
_PLACE = re.compile(r"%([1-9])")
_OPENING = "（「『【〔［《〈"
_MOST_LEVELS = 5
"""mammoth does not recognise deeper lists."""


@dataclass(frozen=True, slots=True)
class _Level:
    """How a level of a list is numbered.

    Attributes:
        start: its first number.
        way: Word's name for the number format; "bullet" for bullets.
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
class _NumberedList:
    """A numbered list; lists with the same ``counter`` continue each other."""

    counter: str
    levels: Mapping[int, _Level]
    starts: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Style:
    """A style of paragraphs: its list and level, if it has any, and the style it is based on."""

    is_heading: bool = False
    number: str | None = None
    level: int | None = None
    based_on: str = ""


class _Numbering:
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
    ) -> _NumberedList | None:
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
        return _NumberedList(counter, levels, starts)

    def _style(self, name: str) -> _Style:
        return self._styles.get(name, _Style())

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


def _styles(root: ET.Element) -> dict[str, _Style]:
    return {
        style.get(f"{W}styleId", ""): _Style(
            _value(style, "name").lower().startswith(_HEADINGS)
            or style.get(f"{W}styleId", "").startswith("Heading"),
            *_numbers_of(style.find(f"{W}pPr")),
            based_on=_value(style, "basedOn"),
        )
        for style in root.iter(f"{W}style")
    }


def _numbers_of(properties: ET.Element | None) -> tuple[str | None, int | None]:
    """The list's id and the level, each None if these properties do not state it."""
    numbering = None if properties is None else properties.find(f"{W}numPr")
    if numbering is None:
        return None, None
    level = _value(numbering, "ilvl")
    return _value(numbering, "numId") or None, _integer(level, 0) if level else None


def _level(level: ET.Element) -> tuple[int, _Level]:
    # A format that only new versions of Word support is followed by a fallback.
    ways = [way.get(f"{W}val", "") for way in level.iter(f"{W}numFmt")]
    is_picture = level.find(f"{W}lvlPicBulletId") is not None
    restart = _value(level, "lvlRestart")
    return _integer(level.get(f"{W}ilvl"), 0), _Level(
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


@dataclass(frozen=True, slots=True)
class _Item:
    """A numbered paragraph; ``label`` is Word's text before it, including the space."""

    paragraph: ET.Element
    number: str
    level: int
    label: str
    is_bullet: bool
    is_heading: bool
    text: str


def write_numbers(tree: ET.Element, archive: Archive) -> tuple[bool, frozenset[str]]:
    """Write the numbers; returns whether there were any, and the unknown number formats."""
    counter = _Counter(_Numbering(archive))
    is_changed = False
    for run in _runs(counter.items(tree)):
        is_plain = _are_plain(run)
        for item in run:
            if any(not entry.is_bullet for entry in run):
                _write(item, is_plain=is_plain)
                is_changed = True
    return is_changed, frozenset(counter.unknown)


class _Counter:
    """Counts the numbered paragraphs of a document in its order."""

    def __init__(self, numbering: _Numbering) -> None:
        self._numbering = numbering
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()
        self.unknown: set[str] = set()

    def items(self, tree: ET.Element) -> Iterator[_Item | None]:
        """The numbered paragraphs, and None at the end of each list."""
        for paragraph in _paragraphs(tree):
            if paragraph is None:
                yield None
            elif not _is_gone(paragraph):
                text = _text(paragraph)
                if place := self._numbering.place_of(paragraph):
                    yield self._item(paragraph, *place, text)
                elif text:
                    yield None

    def _item(self, paragraph: ET.Element, number: str, at: int, text: str) -> _Item:
        numbered = self._numbering.lists[number]
        is_bullet = numbered.levels.get(at, _Level()).way == "bullet"
        label = "- "
        if not is_bullet:
            self._count(number, numbered, at)
            label = self._label(numbered, at, text)
        is_heading = self._numbering.is_heading(paragraph)
        return _Item(paragraph, number, at, label, is_bullet, is_heading, text)

    def _count(self, number: str, numbered: _NumberedList, at: int) -> None:
        counts = self._counts.setdefault(numbered.counter, {})
        begins_anew = at in numbered.starts and (number, at) not in self._begun
        if at in counts and not begins_anew:
            counts[at] += 1
        else:
            counts[at] = _start(numbered, at)
        self._begun.add((number, at))
        for deeper in [known for known in counts if known > at]:
            after = numbered.levels.get(deeper, _Level()).restarts_after
            if after is None or at < after:
                del counts[deeper]

    def _label(self, numbered: _NumberedList, at: int, text: str) -> str:
        level, counts = numbered.levels.get(at, _Level()), self._counts[numbered.counter]

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            count = counts.get(place, _start(numbered, place))
            way = "decimal" if level.is_legal else numbered.levels.get(place, _Level()).way
            written = counted_as(count, way)
            if written is None:
                self.unknown.add(way)
            return str(count) if written is None else written

        label = _PLACE.sub(shown, level.text).strip()
        is_close = level.follows == "nothing" or not label or text[:1] in _OPENING
        return label if is_close else f"{label} "


def _start(numbered: _NumberedList, at: int) -> int:
    return numbered.starts.get(at, numbered.levels.get(at, _Level()).start)


def _paragraphs(element: ET.Element) -> Iterator[ET.Element | None]:
    """The paragraphs in order, without deleted ones, and None at the edges of cells and boxes."""
    for child in element:
        is_row = child.tag == f"{W}tr"
        if child.tag in _GONE or (is_row and child.find(f"{W}trPr/{W}del") is not None):
            continue
        if child.tag == f"{W}p":
            yield child
            boxed = list(_paragraphs(child))
            if any(paragraph is not None for paragraph in boxed):
                yield from (None, *boxed, None)
        elif child.tag in _TABLE:
            yield None
            yield from _paragraphs(child)
            yield None
        else:
            yield from _paragraphs(child)


def _is_gone(paragraph: ET.Element) -> bool:
    """Whether a paragraph's end is deleted, moved away or hidden, so that it has no number."""
    mark = paragraph.find(f"{W}pPr/{W}rPr")
    return mark is not None and (
        mark.find(f"{W}del") is not None
        or mark.find(f"{W}moveFrom") is not None
        or is_on(mark.find(f"{W}vanish"))
    )


def _text(element: ET.Element) -> str:
    """The text of a paragraph, with a sign for a picture; "" if nothing is visible."""
    if element.tag == f"{W}t":
        return element.text or ""
    if element.tag in _SHOWN:
        return "\ufffc"
    return "".join(_text(child) for child in element if child.tag not in _GONE)


def _runs(items: Iterable[_Item | None]) -> Iterator[list[_Item]]:
    """The items grouped into lists; each heading is a separate group."""
    for is_in_list, run in groupby(items, lambda item: item is not None and not item.is_heading):
        shown = [item for item in run if item is not None]
        yield from [shown] if is_in_list else ([heading] for heading in shown)


def _are_plain(run: list[_Item]) -> bool:
    """Whether Markdown's own numbers equal those of Word: 1., 2. and so on."""
    lists: list[tuple[bool, int]] = []
    for item in run:
        if not item.text:
            continue
        del lists[item.level + 1 :]
        if item.is_heading or len(lists) < item.level or item.level >= _MOST_LEVELS:
            return False
        is_next = len(lists) > item.level and lists[item.level][0] == item.is_bullet
        count = lists[item.level][1] + 1 if is_next else 1
        lists[item.level :] = [(item.is_bullet, count)]
        if not item.is_bullet and item.label != f"{count}. ":
            return False
    return True


def _write(item: _Item, *, is_plain: bool) -> None:
    """Write a number as text, or as the list and level for mammoth."""
    paragraph = item.paragraph
    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        return
    known = properties.find(f"{W}numPr")
    if known is not None:
        properties.remove(known)
    numbers = ET.SubElement(properties, f"{W}numPr")
    level, number = (str(item.level), item.number) if is_plain else ("0", "0")
    ET.SubElement(numbers, f"{W}ilvl").set(f"{W}val", level)
    ET.SubElement(numbers, f"{W}numId").set(f"{W}val", number)
    if not is_plain and item.label and item.text:
        paragraph.insert(list(paragraph).index(properties) + 1, run_of(item.label))
