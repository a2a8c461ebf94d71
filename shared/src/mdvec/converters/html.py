"""Converts the main part of web pages, saved or made from other formats, to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from bs4 import BeautifulSoup, NavigableString, Tag
from bs4.element import PageElement, PreformattedString
from markdownify import ATX, MarkdownConverter

from mdvec.converters.counting import counted_as
from mdvec.converters.formats import Converted, NotConverted, with_matter
from mdvec.converters.formulas import of_mathml
from mdvec.converters.html_hidden import hidden_parts
from mdvec.converters.html_tables import make_regular
from mdvec.converters.raised import lowered, raised, set_apart, with_marks_written
from mdvec.text import HAS_NUL, PAGE_BREAK, UnknownEncoding, decoded

_NO_TEXT = (
    "head", "title", "script", "style", "noscript", "template", "svg", "iframe", "object", "embed",
    "canvas", "input", "button", "select", "textarea", "dialog", "rp", "link", "meta",
)  # fmt: skip
_BESIDE_TEXT = frozenset({"input", "button", "select", "textarea"})
"""Elements that are left out of a line, but separate the words around them."""
_XHTML = re.compile(r"\s*<\?xml\s|(?:[^<]|<(?!html\b)){0,500}<html\b[^>]*\sxmlns", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_BOX = re.compile("^(?:checkbox|radio)$", re.IGNORECASE)
_AROUND = ("nav", "footer", "aside", "header")
_MIN_MAIN = 200
"""A main part with fewer characters is doubtful, so the whole body is used."""
_WIDE = "[\u2e80-\u303f\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]"
_BROKEN_LINE = re.compile(rf"(?<={_WIDE})[ \t]*\r?\n\s*(?={_WIDE})")
_CELL_END = re.compile(r"(?<!\\)\|")
_FORMULA = re.compile(r"^(?:\w+:)?math$")
_STYLED = tuple(
    (name, re.compile(style, re.IGNORECASE))
    for name, style in (
        ("sup", r"vertical-align\s*:\s*super\b"),
        ("sub", r"vertical-align\s*:\s*sub\b"),
        ("s", r"text-decoration(?:-line)?\s*:[^;]*\bline-through\b"),
    )
)
_ITEM_NUMBER = re.compile(r"[0-9]+\.")
_NUMBER = "data-mdvec-number"
_WAYS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_BLANK_LINES = re.compile(r"\n\s*\n(?:\s*\n)+")


def convert(data: bytes, file_name: str) -> Converted:  # noqa: ARG001 - as every converter's
    """The main part of a web page."""
    soup = _parse(data)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    hidden = _without_hidden(soup)
    main = _main_part(soup)
    text = markdown_of(main)
    if not text:
        raise NotConverted("it has no text that a browser would show without running scripts")
    has_title = main.find("h1") is not None
    return Converted(
        with_matter(text, {} if has_title else {"title": title}),
        ("text that a browser does not show was left out",) if hidden else (),
    )


def markdown_of_page(data: bytes | str) -> str:
    """A page that is only content, such as a chapter of a book, as Markdown."""
    soup = _parse(data)
    _without_hidden(soup)
    return markdown_of(soup)


def _parse(data: bytes | str) -> BeautifulSoup:
    if isinstance(data, str):
        return _soup(data)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _soup(data.decode("utf-16", "replace"))
    if b"\0" in data:
        raise NotConverted(HAS_NUL)
    try:
        return _soup(decoded(data))
    except UnknownEncoding as error:
        soup = BeautifulSoup(data, "lxml")
        if soup.declared_html_encoding is None:
            raise NotConverted("its encoding is not certain; save it as UTF-8") from error
        return soup


def _soup(page: str) -> BeautifulSoup:
    """Parse a page like a browser: CDATA is only text in XHTML."""
    if _XHTML.match(page):
        page = _CDATA.sub(lambda text: escape(text[1]), page)
    return BeautifulSoup(page, "lxml")


def _without_hidden(soup: BeautifulSoup) -> bool:
    """Remove elements that have no text or are hidden; returns whether hidden text was removed."""
    unseen = hidden_parts(soup)
    has_text = any(
        part.get_text(strip=True)
        for part in unseen
        if not (isinstance(part, Tag) and part.name in _NO_TEXT)
    )
    _remove(unseen)
    for box in soup.find_all("input", type=_BOX):
        box.replace_with("☑ " if box.has_attr("checked") else "☐ ")
    for reading in soup.select("rp rt"):  # inside a bracket without an end tag
        reading.find_parent("rp").insert_before(reading.extract())
    _remove(soup.find_all(_NO_TEXT))
    for unsaid in soup.find_all(string=lambda text: isinstance(text, PreformattedString)):
        unsaid.extract()
    return has_text


def _remove(parts: Iterable[PageElement]) -> None:
    for part in parts:
        if not part.decomposed:
            if isinstance(part, Tag) and part.name in _BESIDE_TEXT:
                part.insert_before(" ")
            part.decompose()


def _main_part(soup: BeautifulSoup) -> Tag:
    named = [soup.find("main"), soup.find(attrs={"role": "main"})]
    if len(articles := soup.find_all("article")) == 1:
        named += articles
    parts = [part for part in named if part and len(part.get_text(strip=True)) >= _MIN_MAIN]
    body = parts[0] if parts else soup  # a page joined from several has several bodies
    for tag in body.find_all(_AROUND):
        is_title = tag.name == "header" and tag.find("h1") is not None
        if not is_title and not tag.decomposed:
            tag.decompose()
    return body


def markdown_of(part: Tag) -> str:
    """A part of a page as Markdown."""
    make_regular(part)
    _number_items(part)
    for formula in part.find_all(_FORMULA):
        if formula.find_parent(_FORMULA) is None:
            formula.replace_with(NavigableString(set_apart(of_mathml(formula))))
    for name, style in _STYLED:
        for tag in part.find_all("span", style=style):
            tag.name = name
    for text in part.find_all(string=_BROKEN_LINE):
        if text.find_parent("pre") is None:
            text.replace_with(NavigableString(_BROKEN_LINE.sub("", str(text))))
    text = _Writer(
        heading_style=ATX, bullets="-", escape_asterisks=False, escape_underscores=False,
        escape_misc=False, table_infer_header=True, code_language_callback=_language,
    ).convert_soup(part)  # fmt: skip
    text = with_marks_written(text.replace(PAGE_BREAK, " "))
    return _BLANK_LINES.sub("\n\n", text).strip()


def _number_items(part: Tag) -> None:
    """Store the numbers of list items that do not count up by one."""
    for numbered in part.find_all("ol"):
        items = numbered.find_all("li", recursive=False)
        way = _WAYS.get(str(numbered.get("type")), "decimal")
        step = -1 if numbered.has_attr("reversed") else 1
        if way == "decimal" and step == 1 and not any(item.has_attr("value") for item in items):
            continue
        number = _integer(numbered.get("start"), len(items) if step < 0 else 1)
        for item in items:
            number = _integer(item.get("value"), number)
            item[_NUMBER] = counted_as(number, way) or str(number)
            number += step


def _integer(text: object, default: int) -> int:
    return int(str(text)) if re.fullmatch(r"-?[0-9]{1,9}", str(text)) else default


def _language(code: Tag) -> str:
    tags = (code, *code.find_all("code", limit=1))
    names = [name for tag in tags for name in tag.get_attribute_list("class")]
    return next((n.removeprefix("language-") for n in names if n and n[:9] == "language-"), "")


class _Writer(MarkdownConverter):
    """Writes Markdown: pictures as descriptions, readings after words, only links to the web."""

    def convert_img(self, el: Tag, text: str, parent_tags: Any) -> str:  # noqa: ARG002, ANN401
        """A picture's description."""
        return str(el.get("alt") or "").strip()

    def convert_sup(self, el: Tag, text: str, parent_tags: Any) -> str:  # noqa: ARG002, ANN401
        """A superscript: an exponent, or the mark of a note."""
        return raised(text) if text.strip() else text

    def convert_sub(self, el: Tag, text: str, parent_tags: Any) -> str:  # noqa: ARG002, ANN401
        """A subscript: an index, or a base."""
        return lowered(text) if text.strip() else text

    def convert_li(self, el: Tag, text: str, parent_tags: Any) -> str:  # noqa: ANN401
        """An item of a list, with its number on the page."""
        item = str(super().convert_li(el, text, parent_tags))  # type: ignore[misc] # untyped
        number = el.get(_NUMBER)
        return item if number is None else _ITEM_NUMBER.sub(f"{number}.", item, count=1)

    def convert_rt(self, el: Tag, text: str, parent_tags: Any) -> str:  # noqa: ARG002, ANN401
        """A reading, in brackets after its word."""
        return f"（{text.strip()}）" if text.strip() else ""

    # Blocks, on lines of their own.
    convert_details = MarkdownConverter.convert_div  # type: ignore[attr-defined] # untyped
    convert_summary = convert_figure = convert_figcaption = convert_details
    convert_fieldset = convert_legend = convert_address = convert_hgroup = convert_details

    def convert_td(self, el: Tag, text: str, parent_tags: Any) -> str:  # noqa: ANN401
        """A table cell, with ``|`` escaped."""
        return str(super().convert_td(el, _CELL_END.sub(r"\\|", text), parent_tags))  # type: ignore[misc] # untyped

    convert_th = convert_td

    def convert_a(self, el: Tag, text: str, parent_tags: Any) -> str:  # noqa: ANN401
        """A link to a web or mail address as Markdown; of any other link only its text."""
        if not str(el.get("href") or "").startswith(("http://", "https://", "mailto:")):
            return text
        return str(super().convert_a(el, text, parent_tags))  # type: ignore[misc] # untyped
