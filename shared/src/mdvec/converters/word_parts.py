"""Moves texts of a Word file to where mammoth reads them, and removes texts that Word hides.

mammoth skips elements that it does not know, with all their content.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from mdvec.converters.formulas import of_word
from mdvec.converters.raised import set_apart

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_AROUND = frozenset((f"{W}fldSimple", f"{W}dir", f"{W}bdo", f"{_M}oMathPara"))
"""Elements that only wrap other elements."""
_ABOUT_ROWS = (f"{W}tblPrEx", f"{W}trPr")
_LIKE = {f"{W}cr": f"{W}br", f"{W}ptab": f"{W}tab", f"{W}dstrike": f"{W}strike"}
_TEXTS = (f"{W}t", f"{W}ruby", f"{_M}t")
_OFF = ("0", "false", "off", "none")


def without_hidden(tree: ET.Element) -> bool:
    """Remove hidden runs, and white ones without shading; returns whether there were any."""
    any_hidden = False
    for parent in list(tree.iter()):
        for run in (child for child in list(parent) if child.tag in (f"{W}r", f"{_M}r")):
            properties = run.find(f"{W}rPr")
            if properties is None or not _is_hidden(properties):
                continue
            if any(run.find(name) is not None for name in _TEXTS):
                parent.remove(run)
                any_hidden = True
    return any_hidden


def _is_hidden(properties: ET.Element) -> bool:
    if is_on(properties.find(f"{W}vanish")):
        return True
    colour = properties.find(f"{W}color")
    is_white = colour is not None and colour.get(f"{W}val", "").upper() == "FFFFFF"
    shading = (properties.find(f"{W}shd"), properties.find(f"{W}highlight"))
    return is_white and all(shade is None for shade in shading)


def is_on(switch: ET.Element | None) -> bool:
    """Whether a switch exists and is on."""
    return switch is not None and switch.get(f"{W}val", "1") not in _OFF


def make_readable(tree: ET.Element) -> bool:
    """Unfold fields, readings and formulas into runs of text; returns whether there were any."""
    is_changed = False
    for row in tree.iter(f"{W}tr"):
        before = row.find(f"{W}trPr/{W}gridBefore")
        if before is not None:
            at = next((n for n, child in enumerate(row) if child.tag not in _ABOUT_ROWS), len(row))
            row.insert(at, _empty_cell(before.get(f"{W}val", "1")))
            is_changed = True
    # From the innermost on, so that unfolded content is already readable.
    for parent in reversed(list(tree.iter())):
        if parent.tag in _LIKE:
            parent.tag = _LIKE[parent.tag]
            is_changed = True
        for at, child in reversed(list(enumerate(parent))):
            unfolded = _replacement(child)
            if unfolded is not None:
                parent[at : at + 1] = unfolded
                is_changed = True
    return is_changed


def _empty_cell(width: str) -> ET.Element:
    """An empty cell over the columns by which a row is indented."""
    cell = ET.Element(f"{W}tc")
    properties = ET.SubElement(cell, f"{W}tcPr")
    ET.SubElement(properties, f"{W}gridSpan", {f"{W}val": width})
    ET.SubElement(cell, f"{W}p")
    return cell


def _replacement(element: ET.Element) -> list[ET.Element] | None:
    """The replacement of an element; None if it stays."""
    if element.tag in _AROUND:
        return [child for child in element if child.tag != f"{W}fldData"]
    if element.tag == f"{_M}oMath":
        return [run_of(set_apart(of_word(element)))]
    if element.tag == f"{W}r" and element.find(f"{W}ruby") is not None:
        return list(_with_readings(element))
    return None


def _with_readings(run: ET.Element) -> Iterator[ET.Element]:
    """The parts of a run with readings: each word, and its reading in brackets after it."""
    properties = run.find(f"{W}rPr")
    for child in run:
        if child.tag == f"{W}ruby":
            yield from child.iterfind(f"{W}rubyBase/*")
            reading = "".join(text.text or "" for text in child.iterfind(f"{W}rt//{W}t")).strip()
            if reading:
                yield run_of(f"（{reading}）")
        elif child is not properties:
            part = ET.Element(f"{W}r")
            part.extend([child] if properties is None else [properties, child])
            yield part


def run_of(text: str) -> ET.Element:
    """A run of text."""
    run = ET.Element(f"{W}r")
    written = ET.SubElement(
        run, f"{W}t", {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}
    )
    written.text = text
    return run
