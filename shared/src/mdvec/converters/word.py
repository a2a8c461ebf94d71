"""Reads Word files by mammoth: headings, tables, lists, footnotes; changes as accepted."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree as ET

import mammoth

from mdvec.converters.archive import Archive
from mdvec.converters.formats import Converted, NotConverted
from mdvec.converters.html import markdown_of_page

_DOCUMENT = "word/document.xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_WAY_BACK = re.compile(r' <a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
_OFF = ("0", "false", "off", "none")


def convert(data: bytes, file_name: str) -> Converted:  # noqa: ARG001 - as every converter's
    """The text of a Word file."""
    archive = Archive(data)
    tree = archive.xml(_DOCUMENT)
    hidden = _without_hidden(tree)
    if hidden:
        data = archive.with_part(_DOCUMENT, ET.tostring(tree, "utf-8"))
    result = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map=_STYLES,
        convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        external_file_access=False,
    )
    text = markdown_of_page(_WAY_BACK.sub("", result.value))
    if not text:
        raise NotConverted("it has no text, as a document of pictures has")
    return Converted(text + "\n", ("hidden or white text was left out",) if hidden else ())


def _without_hidden(tree: ET.Element) -> bool:
    """Remove the runs that Word does not show, and white ones without shading."""
    any_hidden = False
    for parent in list(tree.iter()):
        for run in parent.findall(f"{_W}r"):
            properties = run.find(f"{_W}rPr")
            if properties is not None and _is_hidden(properties) and run.find(f"{_W}t") is not None:
                parent.remove(run)
                any_hidden = True
    return any_hidden


def _is_hidden(properties: ET.Element) -> bool:
    vanish = properties.find(f"{_W}vanish")
    if vanish is not None and vanish.get(f"{_W}val", "1") not in _OFF:
        return True
    colour = properties.find(f"{_W}color")
    is_white = colour is not None and colour.get(f"{_W}val", "").upper() == "FFFFFF"
    shading = (properties.find(f"{_W}shd"), properties.find(f"{_W}highlight"))
    return is_white and all(shade is None for shade in shading)
