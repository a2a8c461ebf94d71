"""Reads PowerPoint files by python-pptx: each slide's title, text, tables and notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree as ET

from pptx import Presentation
from pptx.exc import PackageNotFoundError

from mdvec.converters.archive import Archive
from mdvec.converters.charts import chart_tables, table_of
from mdvec.converters.formats import Converted, NotConverted, joined_pages, with_own_title
from mdvec.converters.raised import lowered, raised, with_marks_written
from mdvec.text import on_one_line

_MAX_DEPTH = 20
_STRUCK = ("sngStrike", "dblStrike")
_PROPERTIES = "{http://schemas.openxmlformats.org/drawingml/2006/main}rPr"


def convert(data: bytes, file_name: str) -> Converted:  # noqa: ARG001 - as every converter's
    """The text of a presentation, slide by slide."""
    archive = Archive(data)  # refuses bombs and passwords
    try:
        slides = Presentation(io.BytesIO(data)).slides
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise NotConverted("it is damaged, or not what its ending says") from error
    pages = [_slide(slide, number) for number, slide in enumerate(slides, 1)]
    if not any(pages):
        raise NotConverted("no slide of it has text, as with pictures of text")
    hidden = [
        str(number)
        for number, slide in enumerate(slides, 1)
        if slide.element.get("show") in ("0", "false")
    ]
    note = (f"slide {', '.join(hidden)} is hidden in the show, and was read",) if hidden else ()
    unread = [str(number) for number, slide in enumerate(slides, 1) if _has_unread(slide.shapes)]
    unsaid = f"diagrams, charts or objects of slide {', '.join(unread)} cannot be read"
    titled = with_own_title(joined_pages(pages), archive.title())
    has_comments = any(name.startswith("ppt/comments/") for name in archive.names)
    unsaid_too = ("comments were left out",) if has_comments else ()
    return Converted(titled, (*note, *((unsaid,) if unread else ()), *unsaid_too))


def _has_unread(shapes: Iterable[Any]) -> bool:
    """Whether a slide has a frame, such as a diagram, whose text is not read."""
    return any(
        _has_unread(shape.shapes)
        if hasattr(shape, "shapes")
        else shape.element.tag.endswith("}graphicFrame")
        and not shape.has_table
        and not _chart(shape)
        for shape in shapes
    )


def _chart(shape: Any) -> str:  # noqa: ANN401
    """The values of a chart as a table; "" if there are none."""
    if not getattr(shape, "has_chart", False):
        return ""
    try:
        return chart_tables(ET.fromstring(shape.chart.part.blob))  # noqa: S314 - as in Archive
    except (KeyError, ValueError, ET.ParseError):
        return ""


def _slide(slide: Any, number: int) -> str:  # noqa: ANN401 - python-pptx has no types
    title = slide.shapes.title
    heading = on_one_line(_text(title.text_frame)) if title is not None else ""
    parts = [f"{'#' if number == 1 else '##'} {heading}"] if heading.strip() else []
    own = None if title is None else title.shape_id
    parts += [
        text
        for shape in _in_reading_order(slide.shapes)
        if shape.shape_id != own
        for text in _texts(shape, 0)
    ]
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        notes = _text(frame).strip()
        parts += [f"Notes: {notes}"] if notes else []
    return "\n\n".join(parts)


def _in_reading_order(shapes: Iterable[Any]) -> list[Any]:
    """Shapes from top to bottom, then from left to right; placeholders keep their position."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _texts(shape: Any, depth: int) -> Iterator[str]:  # noqa: ANN401
    if hasattr(shape, "shapes") and depth < _MAX_DEPTH:
        for inner in _in_reading_order(shape.shapes):
            yield from _texts(inner, depth + 1)
    elif getattr(shape, "has_table", False):
        yield table_of([[_text(cell.text_frame) for cell in row.cells] for row in shape.table.rows])
    elif chart := _chart(shape):
        yield chart
    elif getattr(shape, "has_text_frame", False):
        lines = [
            f"{'  ' * paragraph.level}- {text}"
            for paragraph in shape.text_frame.paragraphs
            if (text := _line(paragraph).strip())
        ]
        if lines:
            yield lines[0][2:] if len(lines) == 1 else "\n".join(lines)


def _text(frame: Any) -> str:  # noqa: ANN401
    return "\n".join(_line(paragraph) for paragraph in frame.paragraphs)


def _line(paragraph: Any) -> str:  # noqa: ANN401
    """The text of a paragraph, with superscripts separated from numbers."""
    pieces = paragraph._p.content_children  # noqa: SLF001 - breaks are no runs
    return with_marks_written("".join(map(_piece, pieces)))


def _piece(piece: Any) -> str:  # noqa: ANN401
    text, properties = str(piece.text), piece.find(_PROPERTIES)
    if properties is None:
        return text
    if text.strip() and properties.get("strike") in _STRUCK:
        text = f"~~{text}~~"
    shift = properties.get("baseline", "0")
    if shift.strip("0%") == "" or not text.strip():
        return text
    return lowered(text) if shift.startswith("-") else raised(text)
