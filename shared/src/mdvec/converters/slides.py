"""Reads PowerPoint files by python-pptx: each slide's title, text, tables and notes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.exc import PackageNotFoundError

from mdvec.converters.archive import Archive
from mdvec.converters.formats import Converted, NotConverted, joined_pages
from mdvec.text import on_one_line

_MAX_DEPTH = 20


def convert(data: bytes, file_name: str) -> Converted:  # noqa: ARG001 - as every converter's
    """The text of a presentation, slide by slide."""
    Archive(data)  # refuses bombs and passwords
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
    return Converted(joined_pages(pages), note)


def _slide(slide: Any, number: int) -> str:  # noqa: ANN401 - python-pptx has no types
    title = slide.shapes.title
    heading = on_one_line(title.text_frame.text) if title is not None else ""
    parts = [f"{'#' if number == 1 else '##'} {heading}"] if heading.strip() else []
    own = None if title is None else title.shape_id
    parts += [
        text
        for shape in _ordered(slide.shapes)
        if shape.shape_id != own
        for text in _texts(shape, 0)
    ]
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        notes = frame.text.strip()
        parts += [f"Notes: {notes}"] if notes else []
    return "\n\n".join(parts)


def _ordered(shapes: Iterable[Any]) -> list[Any]:
    """Shapes from top to bottom, then from left to right; those of the layout keep their place."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _texts(shape: Any, depth: int) -> Iterator[str]:  # noqa: ANN401
    if hasattr(shape, "shapes") and depth < _MAX_DEPTH:
        for inner in _ordered(shape.shapes):
            yield from _texts(inner, depth + 1)
    elif getattr(shape, "has_table", False):
        yield _table([[cell.text for cell in row.cells] for row in shape.table.rows])
    elif getattr(shape, "has_text_frame", False):
        lines = [
            f"{'  ' * paragraph.level}- {paragraph.text.strip()}"
            for paragraph in shape.text_frame.paragraphs
            if paragraph.text.strip()
        ]
        if lines:
            yield lines[0][2:] if len(lines) == 1 else "\n".join(lines)


def _table(rows: list[list[str]]) -> str:
    cells = [[on_one_line(text).replace("|", "\\|") for text in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]]) if lines else ""
